/* SPDX-License-Identifier: MIT */
/*
 * output - serial line and screen at once: x86
 */
#include <boot/machine.hpp>
#include <boot/x86/screen.hpp>
#include <boot/x86/serial.hpp>

namespace boot {

void output_init(const boot_info &info)
{
	const auto &loader = *static_cast<const loader_info *>(info.machine);

	serial_init();
	screen_init(loader);
	screen_describe(loader);
}

void output_put(char c)
{
	serial_put(c);
	screen_put(c);
}

void output_shown() { screen_show(); }

void output_drain() { serial_drain(); }

} // namespace boot
