/* SPDX-License-Identifier: MIT */
/*
 * cpu - each hart's own: machine mode
 *
 * Source: RISC-V ISA manual, volume II, Machine Trap Delegation Registers,
 * Physical Memory Protection.
 */
#include <boot/percpu.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/mode.hpp>
#include <boot/machine.hpp>

namespace boot {

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

usize address_of(const u8 *at) { return reinterpret_cast<usize>(at) >> 2; }

/* 4 KiB from there: as many low bits set as say so */
usize page_at(usize address) { return address >> 2 | 0x1ff; }

/* What no entry is about may be used for anything. */
void protect(const cpu_stacks &own)
{
	constexpr usize missing = locked | power_of_two;
	constexpr usize code = locked | up_to_here | may_read | may_execute;
	constexpr usize constants = locked | up_to_here | may_read;

	write_csr<CSR_PMPADDR0>(page_at(0));
	write_csr<CSR_PMPADDR0 + 1>(
		page_at(reinterpret_cast<usize>(own.guard)));
	write_csr<CSR_PMPADDR0 + 2>(address_of(image_start));
	write_csr<CSR_PMPADDR0 + 3>(address_of(image_rodata));
	write_csr<CSR_PMPADDR0 + 4>(address_of(image_data));
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

void protect_memory()
{
	is_protected.store_release(1);
	protect(stacks[0]);
}

} // namespace boot
