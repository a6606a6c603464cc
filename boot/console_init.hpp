/* SPDX-License-Identifier: MIT */
/*
 * console_init - the console's start (private to boot)
 */
#pragma once

namespace boot {

/* text_screen: the loader left a VGA text screen, or did not say. */
void console_init(bool text_screen);

} // namespace boot
