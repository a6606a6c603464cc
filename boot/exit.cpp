/* SPDX-License-Identifier: MIT */
/*
 * exit - how the kernel ends
 */
#include <boot/console.hpp>
#include <boot/exit.hpp>
#include <boot/interrupts.hpp>
#include <boot/keyboard.hpp>
#include <boot/report.hpp>
#include <boot/serial.hpp>
#include <boot/vga.hpp>
#include <boot/x86.hpp>
#include <klock/cpu.hpp>

namespace boot {

namespace {

[[noreturn]] void turn_pages()
{
	for (;;) {
		const int pages = keyboard_pages();

		if (pages)
			vga_turn(pages);
		klock::cpu_relax();
	}
}

} // namespace

void exit(exit_code code)
{
	disable_interrupts();
	serial_drain();
	out8(EXIT_PORT, static_cast<u8>(code));

	/* Still here: a real machine, or QEMU without the device. */
	start_line_anyway();
	print_report("# boot: %s; the machine can be switched off%s\n",
		     code == exit_code::pass   ? "passed"
		     : code == exit_code::fail ? "failed"
					       : "stopped by a panic",
		     vga_has_more() ? "; Page Up shows the rest" : "");
	if (vga_is_present())
		turn_pages();
	for (;;)
		asm volatile("cli\n\thlt");
}

} // namespace boot
