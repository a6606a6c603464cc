/* SPDX-License-Identifier: MIT */
/*
 * apic - the local APIC: enabling, end of interrupt, IPIs
 *
 * Source: Intel SDM volume 3A, chapter Advanced Programmable Interrupt
 * Controller (APIC). xAPIC mode: registers in memory, ids of 8 bits. x2APIC
 * mode, where the firmware has left it on, or ids are larger, or the command
 * line has the word x2apic: registers are MSRs, ids have 32 bits.
 */
#include <boot/interrupts.hpp>
#include <boot/x86/apic.hpp>
#include <boot/x86/firmware.hpp>
#include <boot/x86/reference_timers.hpp>
#include <boot/command_line.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/panic.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>
#include <boot/x86/x86.hpp>
#include <klock/cpu.hpp>
#include <boot/format.hpp>

namespace boot {

namespace {

/* -- Registers (Intel SDM volume 3A, Local APIC Register Address Map) -- */

constexpr u32 apic_id_register = 0x020;
constexpr u32 apic_task_priority = 0x080;
constexpr u32 apic_eoi = 0x0b0;
constexpr u32 apic_spurious = 0x0f0;
constexpr u32 apic_in_service = 0x100; /* 8 of them, 16 bytes apart */
constexpr u32 apic_icr_low = 0x300;
constexpr u32 apic_icr_high = 0x310;
constexpr u32 apic_lvt_timer = 0x320;
constexpr u32 apic_lvt_lint0 = 0x350;
constexpr u32 apic_timer_initial = 0x380;
constexpr u32 apic_timer_current = 0x390;
constexpr u32 apic_timer_divide = 0x3e0;

constexpr u32 apic_software_enable = 1 << 8;
constexpr u32 apic_lvt_masked = 1 << 16;
constexpr u32 apic_timer_mode_periodic = 1 << 17;
constexpr u32 apic_timer_divide_by_16 = 0x3;

/* Its address, the same for all CPUs; 0: it is none that boot can use. */
constinit usize apic_base = 0;

/* x2APIC mode: the same registers as MSRs. Of all CPUs, or of none. */
constinit bool apic_is_x2apic = false;

/* Intel SDM volume 3A, x2APIC Register Address Space */
constexpr u32 x2apic_msr(u32 at) { return 0x800 + at / 16; }

u32 apic_read(u32 at)
{
	if (apic_is_x2apic)
		return static_cast<u32>(read_msr(x2apic_msr(at)));
	return *physical<volatile u32>(apic_base + at);
}

void apic_write(u32 at, u32 value)
{
	if (apic_is_x2apic)
		write_msr(x2apic_msr(at), value);
	else
		*physical<volatile u32>(apic_base + at) = value;
}

/* Intel SDM volume 4, IA32_APIC_BASE */
constexpr u32 msr_apic_base = 0x1b;
constexpr u64 apic_base_x2apic = 1 << 10;
constexpr u64 apic_base_enabled = 1 << 11;
constexpr u64 apic_base_address = 0xffffff000;

/* Interrupt command register */
constexpr u32 icr_fixed = 0x000;
constexpr u32 icr_nmi = 0x400;
constexpr u32 icr_init = 0x500;
constexpr u32 icr_startup = 0x600;
constexpr u32 icr_pending = 1 << 12;
constexpr u32 icr_assert = 1 << 14;
constexpr u32 icr_all_but_self = 3 << 18;

/* Bounded: begin_report() must get on whatever the APIC does. */
void wait_until_accepted()
{
	for (int i = 0; i < 100'000 && apic_read(apic_icr_low) & icr_pending;
	     i++)
		klock::cpu_relax();
}

/*
 * One write, that is accepted at once. It waits for no store before it, as one
 * to memory does (Intel SDM volume 3A, x2APIC and ordering): who is called must
 * see them.
 */
void send_by_msr(u32 destination, u32 command)
{
	asm volatile("mfence\n\tlfence" ::: "memory");
	write_msr(x2apic_msr(apic_icr_low),
		  u64{destination} << 32 | command | icr_assert);
}

/*
 * Interrupts off: a handler that sends an IPI between the two writes would
 * change the first one's destination.
 */
void send(u32 destination, u32 command)
{
	if (!has_ipis())
		panic("an IPI without a local APIC");
	if (apic_is_x2apic)
		return send_by_msr(destination, command);

	interrupts_off in_one_go;

	wait_until_accepted();
	apic_write(apic_icr_high, destination << 24);
	apic_write(apic_icr_low, command | icr_assert);
	wait_until_accepted();
}

u32 existing(unsigned cpu)
{
	check_ipi_target(cpu);
	return static_cast<u32>(hardware_id_of(cpu));
}

} // namespace

bool has_ipis() { return apic_base || apic_is_x2apic; }

bool has_nmi() { return has_ipis(); }

namespace {

void find_apic()
{
	if (!(cpuid(1).edx & 1 << 9)) {
		print("# boot: this CPU has no local APIC\n");
		return;
	}
	const u64 base = read_msr(msr_apic_base);

	if (base & apic_base_enabled && base & apic_base_x2apic) {
		apic_is_x2apic = true;
		print("# boot: the local APICs are x2APICs\n");
		return;
	}
	if (!(base & apic_base_enabled) || (base & apic_base_address) >> 32) {
		print("# boot: the local APIC is %s: not used\n",
		      !(base & apic_base_enabled) ? "disabled" : "above 4 GiB");
		return;
	}
	apic_base = static_cast<usize>(base & apic_base_address);
	if (command_line().has("x2apic") && !apic_use_x2apic())
		print("# boot: this CPU has no x2APIC\n");
}

void enable_apic()
{
	apic_write(apic_task_priority, 0);
	apic_write(apic_lvt_timer, apic_lvt_masked);
	apic_write(apic_lvt_lint0, apic_lvt_masked); /* the old controllers */
	apic_write(apic_spurious, apic_software_enable | vector_spurious);
}

} // namespace

void controller_init(const boot_info &info)
{
	find_reference_timers(*static_cast<const loader_info *>(info.machine));
	find_apic();
	if (has_ipis())
		enable_apic();
	cpu_blocks[0].hardware_id = apic_id(); /* alone, it still has one */
}

/* An INIT leaves the mode as it was, which need not be the first CPU's. */
void controller_init_cpu()
{
	if (apic_is_x2apic)
		write_msr(msr_apic_base,
			  read_msr(msr_apic_base) | apic_base_x2apic);
	enable_apic();
}

bool apic_use_x2apic()
{
	constexpr u32 has_x2apic = 1 << 21; /* CPUID, leaf 1, ECX */

	if (!apic_is_x2apic && has_ipis() && cpuid(1).ecx & has_x2apic) {
		write_msr(msr_apic_base,
			  read_msr(msr_apic_base) | apic_base_x2apic);
		apic_is_x2apic = true;
		print("# boot: the local APICs are made x2APICs\n");
	}
	return apic_is_x2apic;
}

/* The largest id. CPUs are called by a broadcast, and each knows its id. */
u32 apic_last_id()
{
	constexpr u32 last_xapic_id = 254;

	return apic_is_x2apic ? APIC_IDS - 1 : last_xapic_id;
}

u32 apic_id()
{
	if (!has_ipis())
		return 0;
	const u32 id = apic_read(apic_id_register);

	return apic_is_x2apic ? id : id >> 24;
}

void apic_end_of_interrupt(u8 vector)
{
	if (!has_ipis())
		return;
	if (apic_read(apic_in_service + vector / 32 * 16) >> vector % 32 & 1)
		apic_write(apic_eoi, 0);
}

void wake_cpu(unsigned cpu) { send(existing(cpu), icr_fixed | vector_wake); }

void send_ipi(unsigned cpu, u8 vector)
{
	check_free_vector(vector);
	send(existing(cpu), icr_fixed | vector);
}

void send_ipi_to_others(u8 vector)
{
	check_free_vector(vector);
	send(0, icr_all_but_self | icr_fixed | vector);
}

void send_nmi(unsigned cpu) { send(existing(cpu), icr_nmi); }

void stop_cpu(unsigned cpu) { send_nmi(cpu); }

/*
 * Saves the destination: the interrupted code may have written it, and not yet
 * the command.
 */
void send_nmi_from_nmi(unsigned cpu)
{
	if (apic_is_x2apic)
		return send_nmi(cpu);
	const u32 destination = apic_read(apic_icr_high);

	send_nmi(cpu);
	apic_write(apic_icr_high, destination);
}

void broadcast_init() { send(0, icr_all_but_self | icr_init); }

void broadcast_startup(u8 page)
{
	send(0, icr_all_but_self | icr_startup | page);
}

/*
 * -- The local APIC's timer --
 *
 * Source: Intel SDM volume 3A, chapter APIC, section APIC Timer.
 */

namespace {

constexpr u64 ns_per_second = 1'000'000'000;

/* Ticks in a second, after the division by 16; the same on all CPUs. */
constinit u64 timer_hz = 0;

u32 ticks_of(u64 ns)
{
	const u64 longest = div_u64(~u32{0} * ns_per_second, timer_hz);

	if (ns >= longest)
		return ~u32{0};
	const u64 ticks = div_u64(ns * timer_hz, ns_per_second);

	return ticks ? static_cast<u32>(ticks) : 1;
}

void start(u32 entry, u32 ticks)
{
	apic_write(apic_timer_divide, apic_timer_divide_by_16);
	apic_write(apic_lvt_timer, entry);
	apic_write(apic_timer_initial, ticks);
}

} // namespace

void timer_start_periodic(u8 vector, u64 period_ns)
{
	check_free_vector(vector);
	if (!has_ipis())
		panic("a timer without a local APIC");
	start(apic_timer_mode_periodic | vector, ticks_of(period_ns));
}

void timer_start_one_shot(u8 vector, u64 delay_ns)
{
	check_free_vector(vector);
	if (!has_ipis())
		panic("a timer without a local APIC");
	start(vector, ticks_of(delay_ns));
}

void timer_stop()
{
	if (!has_ipis())
		panic("a timer without a local APIC");
	apic_write(apic_lvt_timer, apic_lvt_masked);
	apic_write(apic_timer_initial, 0);
}

void timer_start_silent() { start(apic_lvt_masked, ~u32{0}); }

u32 timer_count() { return apic_read(apic_timer_current); }

void set_timer_hz(u64 hz) { timer_hz = hz; }

} // namespace boot
