/* SPDX-License-Identifier: MIT */
/*
 * clint - timers and software interrupts of all harts: machine mode
 *
 * Source: SiFive FU540-C000 manual, chapter Core-Local Interruptor; RISC-V
 * ISA manual, volume II, Machine Timer Registers, Machine Interrupt Registers.
 */
#include <boot/cpus.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/mode.hpp>

namespace boot {

namespace {

constexpr usize mtimecmp = 0x4000;
constexpr usize mtime = 0xbff8;

constinit usize base = 0;

} // namespace

const char *mode_name() { return "machine mode"; }

const char *mode_init(const device_tree &tree)
{
	tree_walk node(tree);
	tree_region registers;

	if (!find_compatible(tree, "riscv,clint0", node) ||
	    !node.region(0, registers))
		return "the device tree has no CLINT";
	base = registers.address;
	return nullptr;
}

void raise_software_interrupt(percpu &cpu)
{
	write_device<u32>(base + 4 * cpu.hardware_id, 1);
}

void clear_software_interrupt()
{
	const u64 hart = hardware_id_of(this_cpu());

	write_device<u32>(base + 4 * hart, 0);
	/* Reads it back: it is clear before anything else is looked at. */
	(void)read_device<u32>(base + 4 * hart);
}

u64 timer_now() { return read_device<u64>(base + mtime); }

void set_timer(u64 when)
{
	write_device<u64>(base + mtimecmp + 8 * hardware_id_of(this_cpu()),
			  when);
}

} // namespace boot
