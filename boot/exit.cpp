/* SPDX-License-Identifier: MIT */
/*
 * exit - how the kernel ends
 */
#include <boot/exit.hpp>
#include <boot/interrupts.hpp>
#include <boot/report.hpp>
#include <boot/machine.hpp>

namespace boot {

void exit(exit_code code)
{
	disable_interrupts();
	output_drain();
	machine_exit(code);

	/* Still here: a real machine, or QEMU without the device. */
	start_line_anyway();
	print_report("# boot: %s; the machine can be switched off%s\n",
		     code == exit_code::pass   ? "passed"
		     : code == exit_code::fail ? "failed"
					       : "stopped by a panic",
		     after_exit_hint());
	after_exit();
}

} // namespace boot
