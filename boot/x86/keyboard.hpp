/* SPDX-License-Identifier: MIT */
/*
 * keyboard - the keys that turn pages, polled (private to boot)
 */
#pragma once

namespace boot {

/* Page Up: -1, Page Down: 1; 0: neither was pressed. Takes what has come. */
int keyboard_pages();

} // namespace boot
