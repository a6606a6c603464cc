/* SPDX-License-Identifier: MIT */
/*
 * framebuffer - text on a screen made of pixels (private to boot)
 */
#pragma once

#include <boot/x86/loader_info.hpp>
#include <boot/x86/text_screen.hpp>

namespace boot {

/* Null, or why there can be no text on it. */
const char *check_framebuffer(const framebuffer &screen);

/*
 * Clears it. No columns: boot cannot reach it. `trouble`: null, or what will
 * be seen instead of letters, and why.
 */
screen_painter find_framebuffer(const framebuffer &screen,
				const char *&trouble);

} // namespace boot
