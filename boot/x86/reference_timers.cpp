/* SPDX-License-Identifier: MIT */
/*
 * reference_timers - the 8254, the HPET, ACPI's power management timer
 *
 * Source: Intel 8254 data sheet (pit.cpp); IA-PC HPET Specification 1.0a, 2.3;
 * ACPI Specification 6.5, 4.8.2.1. A PC has one of them at least; what it does
 * not have reads as a constant, which the measurement sees.
 */
#include <boot/divide.hpp>
#include <boot/x86/acpi_timers.hpp>
#include <boot/x86/pit.hpp>
#include <boot/x86/reference_timers.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constinit acpi_timers named = {};

/* -- The 8254: downwards -- */

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
