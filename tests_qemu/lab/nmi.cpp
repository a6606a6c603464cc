/* SPDX-License-Identifier: MIT */
/*
 * nmi - what the lab does with non-maskable interrupts
 *
 * The clock: counter 0 of the 8254 (Intel 8254 data sheet, mode 2) raises
 * interrupt 0; the I/O APIC (Intel 82093AA data sheet, 3.2) gets it at its
 * input 2, as the ISA's interrupt 0 is wired on PCs, and sends it as an NMI.
 */
#include "nmi.hpp"

#include "context.hpp"

#include <boot/kernel.hpp>
#include <boot/x86.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

namespace lab {

namespace {

using klock::u32;
using klock::u64;
using klock::usize;

using looker = void (*)();

struct alignas(klock::cache_line) nmi_state {
	klock::atomic<u32> taken;
	klock::atomic<usize> ip;
};

constinit nmi_state states[boot::max_cpus];
constinit klock::atomic<void (*)(unsigned)> visitor;
constinit looker look_now = nullptr;
constinit u64 cycles_a_look = 0;
constinit u64 last_look = 0;

/* CPU 0 cannot tell the clock's NMI from others: it looks when it is time. */
void look_if_due()
{
	const u64 now = klock::cycles();

	if (!look_now || now - last_look < cycles_a_look)
		return;
	last_look = now;
	look_now();
}

void on_nmi(boot::interrupt_frame &frame)
{
	const unsigned cpu = boot::this_cpu();
	const in_handler here(cpu, klock::context::nmi);
	nmi_state &mine = states[cpu];

	mine.ip.store_relaxed(frame.ip);
	mine.taken.store_release(mine.taken.load_relaxed() + 1);
	if (const auto visit = visitor.load_acquire())
		visit(cpu);
	if (cpu == 0)
		look_if_due();
}

/* -- The I/O APIC -- */

constexpr usize io_apic_address = 0xfec00000;
constexpr u32 io_apic_version = 1;
constexpr u32 io_apic_timer_entry = 0x10 + 2 * 2;
constexpr u32 delivery_nmi = 4 << 8;

u32 io_apic_read(u32 index)
{
	*boot::physical<volatile u32>(io_apic_address) = index;
	return *boot::physical<volatile u32>(io_apic_address + 0x10);
}

void io_apic_write(u32 index, u32 value)
{
	*boot::physical<volatile u32>(io_apic_address) = index;
	*boot::physical<volatile u32>(io_apic_address + 0x10) = value;
}

/* Its last entry's number, where there is one: else all ones or zeros. */
bool has_io_apic()
{
	const u32 last = io_apic_read(io_apic_version) >> 16 & 0xff;

	return last >= 2 && last < 240;
}

/* The longest period there is, 65536 ticks: 54.9 ms. */
void start_pit()
{
	boot::out8(0x43, 0x34); /* counter 0, both bytes, mode 2 */
	boot::out8(0x40, 0);
	boot::out8(0x40, 0);
}

} // namespace

void take_nmis() { boot::set_interrupt_handler(boot::vector_nmi, on_nmi); }

void set_nmi_visitor(void (*visit)(unsigned cpu))
{
	visitor.store_release(visit);
}

bool start_nmi_clock(void (*look)())
{
	if (!boot::has_apic() || !has_io_apic())
		return false;
	look_now = look;
	cycles_a_look = boot::ns_to_cycles(u64{nmi_clock_ms} * 900000);
	last_look = klock::cycles();
	io_apic_write(io_apic_timer_entry + 1, boot::apic_id_of(0) << 24);
	io_apic_write(io_apic_timer_entry, delivery_nmi);
	start_pit();
	return true;
}

void ask_where_all_are()
{
	u32 before[boot::max_cpus];

	visitor.store_release(nullptr);
	for (unsigned cpu = 1; cpu < boot::cpu_count(); cpu++) {
		before[cpu] = states[cpu].taken.load_relaxed();
		boot::send_nmi(cpu);
	}
	for (unsigned cpu = 1; cpu < boot::cpu_count(); cpu++) {
		/* Not for ever: it may be stuck in an NMI handler itself. */
		for (u32 turns = 0; turns < 1000000; turns++) {
			if (states[cpu].taken.load_acquire() != before[cpu])
				break;
			klock::cpu_relax();
		}
	}
}

usize where_is(unsigned cpu) { return states[cpu].ip.load_relaxed(); }

u64 nmis_taken()
{
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < boot::cpu_count(); cpu++)
		sum += states[cpu].taken.load_relaxed();
	return sum;
}

} // namespace lab
