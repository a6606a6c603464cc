/* SPDX-License-Identifier: MIT */
/*
 * timer - the local APIC's timer
 *
 * Source: Intel SDM volume 3A, chapter APIC, section APIC Timer.
 */
#include <boot/ipi.hpp>
#include <boot/x86/apic_driver.hpp>
#include <boot/x86/apic_registers.hpp>
#include <boot/divide.hpp>
#include <boot/interrupts.hpp>
#include <boot/panic.hpp>
#include <boot/machine.hpp>

namespace boot {

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
