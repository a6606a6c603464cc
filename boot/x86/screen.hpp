/* SPDX-License-Identifier: MIT */
/*
 * screen - the machine's screen, of text or of pixels (private to boot)
 */
#pragma once

#include <boot/x86/loader_info.hpp>

namespace boot {

/* Clears it; where there is none, the others do nothing. */
void screen_init(const loader_info &loader);

/* In one line, whether there is text on a screen of pixels, and why not. */
void screen_describe(const loader_info &loader);

/* As text_screen's. The console's lock is held. */
void screen_put(char c);
void screen_show();

/* Once the console is not used any more. */
bool screen_is_present();
bool screen_has_more();
void screen_turn(int pages);

} // namespace boot
