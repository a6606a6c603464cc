/* SPDX-License-Identifier: MIT */
/*
 * mode - timers, interrupts, harts and memory in machine mode
 */
#include <boot/cpus.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/board.hpp>
#include <mode/registers.h>
#include <boot/machine.hpp>
#include <boot/interrupts.hpp>

namespace boot {

/*
 * -- Timers and software interrupts of all harts --
 *
 * Source: SiFive FU540-C000 manual, chapter Core-Local Interruptor; RISC-V
 * ISA manual, volume II, Machine Timer Registers, Machine Interrupt Registers.
 */

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

/* -- The others go on from where they sleep -- */

/* The block that a hart which sleeps in entry.S gets. */
struct called_hart {
	u64 hart;
	percpu *block;
};

static_assert(offsetof(called_hart, hart) == CALLED_HART);
static_assert(offsetof(called_hart, block) == CALLED_BLOCK);
static_assert(sizeof(called_hart) == CALLED_SIZE);

extern "C" {
called_hart called_harts[max_cpus];
klock::atomic<u32> harts_called; /* so many of them are valid */
}

void call_cpus(unsigned slots)
{
	for (unsigned slot = 1; slot < slots; slot++)
		called_harts[slot - 1] = {cpu_blocks[slot].hardware_id,
					  &cpu_blocks[slot]};
	harts_called.store_release(slots - 1);
	for (unsigned slot = 1; slot < slots; slot++)
		raise_software_interrupt(cpu_blocks[slot]);
}

/*
 * -- Each hart's own --
 *
 * Source: RISC-V ISA manual, volume II, Machine Trap Delegation Registers,
 * Physical Memory Protection.
 */

/* riscv64.ld */
extern "C" u8 image_start[], image_rodata[], image_data[];

namespace {

/* Whether each hart is to protect memory when it comes. */
constinit klock::atomic<u32> is_protected;

/* One entry's byte in pmpcfg0 */
constexpr usize may_read = 0x01;
constexpr usize may_execute = 0x04;
constexpr usize up_to_here = 0x08; /* TOR: from the entry before */
constexpr usize power_of_two = 0x18;
constexpr usize locked = 0x80; /* holds for machine mode, too; until reset */

usize pmp_address(const u8 *at) { return reinterpret_cast<usize>(at) >> 2; }

/* 4 KiB from there: as many low bits set as say so */
usize page_at(usize address) { return address >> 2 | 0x1ff; }

/* Protects memory by PMP entries; memory without an entry stays usable. */
void protect(const cpu_stacks &own)
{
	constexpr usize missing = locked | power_of_two;
	constexpr usize code = locked | up_to_here | may_read | may_execute;
	constexpr usize constants = locked | up_to_here | may_read;

	write_csr<CSR_PMPADDR0>(page_at(0));
	write_csr<CSR_PMPADDR0 + 1>(
		page_at(reinterpret_cast<usize>(own.guard)));
	write_csr<CSR_PMPADDR0 + 2>(pmp_address(image_start));
	write_csr<CSR_PMPADDR0 + 3>(pmp_address(image_rodata));
	write_csr<CSR_PMPADDR0 + 4>(pmp_address(image_data));
	write_csr<CSR_PMPCFG0>(missing | missing << 8 | code << 24 |
			       constants << 32);
}

} // namespace

void mode_cpu_init(percpu &cpu)
{
	constexpr usize always = usize{1} << INTERRUPT_SUPERVISOR_SOFTWARE;

	/* For the lab's cpu_relax(): relax/klock/arch/relax.hpp */
	write_csr<CSR_MIDELEG>(always);
	set_csr_bits<CSR_PENDING>(always);
	set_csr_bits<CSR_ENABLE>(always);

	if (is_protected.load_acquire())
		protect(stacks[&cpu - cpu_blocks]);
}

/*
 * The supervisor's software interrupt is always pending, for the lab's
 * cpu_relax(): it must not count here.
 */
void sleep_until_pending()
{
	constexpr usize always = usize{1} << INTERRUPT_SUPERVISOR_SOFTWARE;

	clear_csr_bits<CSR_ENABLE>(always);
	asm volatile("wfi" ::: "memory");
	set_csr_bits<CSR_ENABLE>(always);
}

void protect_memory()
{
	is_protected.store_release(1);
	protect(stacks[0]);
}

} // namespace boot

/*
 * -- Gives the host core to the next vCPU --
 *
 * The supervisor's software interrupt is always pending and enabled
 * (mode_cpu_init()), and never taken: it is delegated to a mode that nobody is
 * in. So WFI returns at once, and no other interrupt is missed by it.
 */

extern "C" void boot_relax()
{
	if (boot::pauses_yield())
		asm volatile("wfi" ::: "memory");
	boot::visit_pause(
		reinterpret_cast<boot::usize>(__builtin_return_address(0)));
}
