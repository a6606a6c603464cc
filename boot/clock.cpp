/* SPDX-License-Identifier: MIT */
/*
 * clock - how fast the time-stamp counter runs, and waiting by it
 *
 * A counter of known frequency is read together with the time-stamp counter,
 * twice, 10 ms apart. A host that takes the CPU away in the middle of a reading
 * spoils it: of some readings the one that took the shortest time is used.
 *
 * While time passes, plain instructions run between the readings: under QEMU
 * -icount virtual time is counted in instructions, and a wait made of port
 * accesses and PAUSEs would take seconds of the host's.
 */
#include <boot/apic.hpp>
#include <boot/apic_driver.hpp>
#include <boot/clock.hpp>
#include <boot/console.hpp>
#include <boot/divide.hpp>
#include <boot/pit.hpp>
#include <boot/x86.hpp>
#include <klock/cpu.hpp>

namespace boot {

namespace {

constinit u64 frequency = 0;

/* Some 2,000 instructions without an effect. */
void burn()
{
	for (int i = 0; i < 1000; i++)
		asm volatile("");
}

struct reading {
	u64 tsc;
	u32 count;
};

reading read_with_tsc(u32 (*counter)())
{
	reading best = {};
	u64 shortest = ~u64{0};

	for (int i = 0; i < 8; i++) {
		const u64 before = klock::cycles();
		const u32 count = counter();
		const u64 took = klock::cycles() - before;

		if (took < shortest) {
			shortest = took;
			best = {before + took / 2, count};
		}
	}
	return best;
}

/* 0: the timer does not count. */
u64 measure_tsc()
{
	constexpr u32 ticks = pit_hz / 100;

	pit_start();
	const reading first = read_with_tsc(pit_count);

	/* Without a timer its count never changes: give up some time. */
	for (u32 i = 0; first.count - pit_count() < ticks; i++) {
		if (i == 100'000)
			return 0;
		burn();
	}
	const reading last = read_with_tsc(pit_count);

	return div_u64((last.tsc - first.tsc) * pit_hz,
		       first.count - last.count);
}

/* Intel SDM volume 2A, CPUID, leaf 16H: base frequency in MHz */
u64 tsc_hz_of_cpuid()
{
	return cpuid(0).eax >= 0x16 ? u64{cpuid(0x16).eax & 0xffff} * 1'000'000
				    : 0;
}

void measure_timer()
{
	timer_start_silent();
	const reading first = read_with_tsc(timer_count);

	delay_us(10'000);
	const reading last = read_with_tsc(timer_count);

	timer_stop();
	set_timer_hz(div_u64((first.count - last.count) * frequency,
			     last.tsc - first.tsc));
}

} // namespace

u64 tsc_hz() { return frequency; }

u64 cycles_to_ns(u64 cycles)
{
	const u64 seconds = div_u64(cycles, frequency);
	const u64 rest = mod_u64(cycles, frequency);

	return seconds * 1'000'000'000 +
	       div_u64(rest * 1'000'000'000, frequency);
}

u64 ns_to_cycles(u64 ns) { return div_u64(ns * frequency, 1'000'000'000); }

void delay_us(u64 us)
{
	const u64 start = klock::cycles();
	const u64 length = div_u64(us * frequency, 1'000'000);

	while (klock::cycles() - start < length) {
		burn();
		klock::cpu_relax();
	}
}

void clock_init()
{
	frequency = measure_tsc();
	if (!frequency) {
		frequency = tsc_hz_of_cpuid();
		print("# boot: no 8254 timer: time is taken from %s\n",
		      frequency ? "CPUID" : "a guess of 1 GHz");
	}
	if (!frequency)
		frequency = 1'000'000'000;
	if (has_apic())
		measure_timer();
}

} // namespace boot
