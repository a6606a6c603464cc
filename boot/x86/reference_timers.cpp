/* SPDX-License-Identifier: MIT */
/*
 * reference_timers - the 8254, the HPET, ACPI's power management timer
 *
 * Source: Intel 8254 data sheet, Modes 0 and 2, Counter Latch Command; port 61H
 * (IBM PC AT Technical Reference): bit 0 is channel 2's gate, bit 1 the
 * speaker, bit 5 channel 2's output: in mode 0 low until it has run out. IA-PC
 * HPET Specification 1.0a, 2.3; ACPI Specification 6.5, 4.8.2.1.
 *
 * A PC has one of them at least; what it does not have reads as a constant,
 * which the measurement sees.
 */
#include <boot/x86/reference_timers.hpp>
#include <boot/x86/x86.hpp>
#include <boot/divide.hpp>
#include <boot/x86/acpi.hpp>

namespace boot {

/* -- The 8254: channel 2 for measurements, channel 0 for interrupts -- */

namespace {

constexpr u16 channel_0 = 0x40;
constexpr u16 channel_2 = 0x42;
constexpr u16 control = 0x43;
constexpr u16 system_control = 0x61;

u32 read_count(u16 channel, u8 latch)
{
	out8(control, latch);
	const u32 low = in8(channel);

	return low | static_cast<u32>(in8(channel)) << 8;
}

/* Counts down from 65535, once: for 54 ms. No sound, no interrupt. */
void pit_start()
{
	out8(system_control,
	     static_cast<u8>((in8(system_control) & ~0x03) | 0x01));
	out8(control, 0xb0); /* channel 2, low byte then high byte, mode 0 */
	out8(channel_2, 0xff);
	out8(channel_2, 0xff);
}

/* What is left. After it has run out it counts on from 65535. */
u32 pit_count() { return read_count(channel_2, 0x80); }

/* Whether it has run out since pit_start(). */
bool pit_has_run_out() { return in8(system_control) & 0x20; }

} // namespace

bool pit_start_periodic(u32 ticks)
{
	out8(control, 0x34); /* channel 0, low byte then high byte, mode 2 */
	out8(channel_0, static_cast<u8>(ticks));
	out8(channel_0, static_cast<u8>(ticks >> 8));

	const u32 before = read_count(channel_0, 0x00);

	for (int i = 0; i < 10'000; i++)
		if (read_count(channel_0, 0x00) != before)
			return true;
	return false;
}

namespace {

constinit acpi_timers named = {};

/* It counts downwards. */
u32 pit_up() { return 0xffff - pit_count(); }

constexpr reference_timer pit = {"the 8254", pit_hz, 0xffff,
				 pit_start,  pit_up, pit_has_run_out};

/* -- The HPET: upwards, 32 bits of its 64 -- */

constexpr usize hpet_period = 0x004; /* in femtoseconds */
constexpr usize hpet_configuration = 0x010;
constexpr usize hpet_counter = 0x0f0;
constexpr u32 hpet_counts = 1 << 0;

volatile u32 &hpet_register(usize at)
{
	return *physical<volatile u32>(named.hpet + at);
}

/* 0: nothing that the specification allows. */
u64 hpet_hz()
{
	constexpr u64 femtoseconds = 1'000'000'000'000'000;
	constexpr u32 longest = 100'000'000;
	const u32 period = hpet_register(hpet_period);

	return period && period <= longest ? div_u64(femtoseconds, period) : 0;
}

void hpet_start()
{
	hpet_register(hpet_configuration) =
		hpet_register(hpet_configuration) | hpet_counts;
}

u32 hpet_count() { return hpet_register(hpet_counter); }

/* -- ACPI's: upwards, 24 bits or 32 -- */

constexpr u64 pm_timer_hz = 3'579'545;

void pm_timer_start() {}

u32 pm_timer_count()
{
	const u32 count = in32(named.pm_port);

	return named.pm_has_32_bits ? count : count & 0xffffff;
}

} // namespace

void find_reference_timers(const loader_info &loader)
{
	named = read_acpi_timers(mapped_memory(), loader.rsdp);
	if (named.hpet && !hpet_hz())
		named.hpet = 0;
}

bool get_reference_timer(unsigned number, reference_timer &timer)
{
	if (number-- == 0) {
		timer = pit;
		return true;
	}
	if (named.hpet && number-- == 0) {
		timer = {"the HPET", hpet_hz(),	 ~u32{0},
			 hpet_start, hpet_count, nullptr};
		return true;
	}
	if (named.pm_port && number-- == 0) {
		timer = {"ACPI's timer",
			 pm_timer_hz,
			 named.pm_has_32_bits ? ~u32{0} : 0xffffff,
			 pm_timer_start,
			 pm_timer_count,
			 nullptr};
		return true;
	}
	return false;
}

} // namespace boot
