/* SPDX-License-Identifier: MIT */
/*
 * kmain - boot's table of contents
 */
#include <boot/clock.hpp>
#include <boot/command_line.hpp>
#include <boot/kernel.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>
#include <boot/cpus.hpp>
#include <boot/panic.hpp>
#include <boot/interrupts.hpp>

namespace boot {

/* Called by the machine's entry on the first CPU, with what the loader left. */
extern "C" [[noreturn]] void kmain(usize first, usize second)
{
	adopt_first_cpu();
	clock_begin();
	interrupts_init();
	const boot_info info = read_boot_info(first, second);

	output_init(info);
	if (info.trouble)
		panic("%s", info.trouble);
	command_line_init(info);
	controller_init(info);
	clock_init();
	list_cpus(info);
	protect_memory();
	start_cpus();
	enable_interrupts();
	exit(payload_main() == 0 ? exit_code::pass : exit_code::fail);
}

/* -- How the kernel ends -- */

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
