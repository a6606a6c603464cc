/* SPDX-License-Identifier: MIT */
/*
 * kmain - boot's table of contents
 */
#include <boot/acpi.hpp>
#include <boot/apic_driver.hpp>
#include <boot/console_init.hpp>
#include <boot/kernel.hpp>
#include <boot/layout.h>
#include <boot/multiboot.hpp>
#include <boot/nmi_clock_init.hpp>
#include <boot/paging.hpp>
#include <boot/percpu.hpp>
#include <boot/smp.hpp>
#include <boot/vectors.hpp>
#include <boot/x86.hpp>

namespace boot {

bool has_text_screen(const multiboot_info &info)
{
	return !(info.flags & multiboot_has_framebuffer) ||
	       info.framebuffer_type == framebuffer_is_text;
}

namespace {

const multiboot_info &check_loader(u32 magic, u32 info)
{
	if (magic != MULTIBOOT_LOADER_MAGIC) {
		console_init(true);
		panic("not started by a Multiboot 1 loader");
	}
	return *physical<const multiboot_info>(info);
}

} // namespace

/* Called by entry.S on the first CPU, with what the loader left in EAX, EBX. */
extern "C" [[noreturn]] void kmain(u32 loader_magic, u32 info_address)
{
	adopt_first_cpu();
	interrupts_init();
	const multiboot_info &info = check_loader(loader_magic, info_address);

	console_init(has_text_screen(info));
	command_line_init(info);
	apic_init();
	clock_init();
	const cpu_list found = find_cpus();

	nmi_clock_init(found);
	protect_memory();
	start_cpus(found);
	enable_interrupts();
	exit(payload_main() == 0 ? exit_code::pass : exit_code::fail);
}

} // namespace boot
