/* SPDX-License-Identifier: MIT */
/*
 * output - serial line and screen at once: x86
 */
#include <boot/room.hpp>
#include <boot/x86/serial.hpp>
#include <boot/x86/vga.hpp>

namespace boot {

void output_init(const boot_info &info)
{
	serial_init();
	if (info.text_screen)
		vga_init();
}

void output_put(char c)
{
	serial_put(c);
	vga_put(c);
}

void output_shown() { vga_show_cursor(); }

void output_drain() { serial_drain(); }

} // namespace boot
