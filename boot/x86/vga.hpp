/* SPDX-License-Identifier: MIT */
/*
 * vga - the text screen of a PC, 80 x 25 (private to boot)
 */
#pragma once

#include <boot/x86/text_screen.hpp>

namespace boot {

/* No columns: there is none. */
screen_painter find_vga();

} // namespace boot
