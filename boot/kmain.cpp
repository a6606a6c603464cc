/* SPDX-License-Identifier: MIT */
/*
 * kmain - boot's table of contents
 */
#include <boot/clock_init.hpp>
#include <boot/command_line_init.hpp>
#include <boot/kernel.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>
#include <boot/smp.hpp>

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

} // namespace boot
