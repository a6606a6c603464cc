/* SPDX-License-Identifier: MIT */
/*
 * exit - how the kernel ends
 */
#include <boot/console.hpp>
#include <boot/exit.hpp>
#include <boot/interrupts.hpp>
#include <boot/report.hpp>
#include <boot/serial.hpp>
#include <boot/x86.hpp>

namespace boot {

void exit(exit_code code)
{
	disable_interrupts();
	serial_drain();
	out8(EXIT_PORT, static_cast<u8>(code));

	/* Still here: a real machine, or QEMU without the device. */
	start_line_unlocked();
	print_report("# boot: %s; the machine can be switched off\n",
		     code == exit_code::pass   ? "passed"
		     : code == exit_code::fail ? "failed"
					       : "stopped by a panic");
	for (;;)
		asm volatile("cli\n\thlt");
}

} // namespace boot
