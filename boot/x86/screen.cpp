/* SPDX-License-Identifier: MIT */
/*
 * screen - the machine's screen, of text or of pixels
 */
#include <boot/console.hpp>
#include <boot/machine.hpp>
#include <boot/x86/framebuffer.hpp>
#include <boot/x86/screen.hpp>
#include <boot/x86/text_screen.hpp>
#include <boot/x86/vga.hpp>

namespace boot {

namespace {

constinit text_screen screen;
constinit const char *trouble = nullptr;

} // namespace

void screen_init(const loader_info &loader)
{
	if (loader.pixels.address)
		screen.init(find_framebuffer(loader.pixels, trouble), true);
	else if (loader.text_screen)
		screen.init(find_vga(), false);
}

void screen_describe(const loader_info &loader)
{
	const framebuffer &pixels = loader.pixels;

	if (!pixels.address) {
		if (!loader.text_screen)
			print("# boot: no text on the screen: it has a "
			      "palette, or the loader does not say where it "
			      "is\n");
		return;
	}
	print("# boot: screen of %u x %u pixels, %u bits each", pixels.width,
	      pixels.height, pixels.bits);
	if (trouble)
		print(": %s%s", screen.is_present() ? "" : "no text on it, ",
		      trouble);
	print("\n");
}

void screen_put(char c) { screen.put(c); }

void screen_show() { screen.show(); }

bool screen_is_present() { return screen.is_present(); }

bool screen_has_more() { return screen.is_present() && screen.has_more(); }

void screen_turn(int pages) { screen.turn(pages); }

} // namespace boot
