/* SPDX-License-Identifier: MIT */
/*
 * clock - times, by a counter whose rate the machine has found
 */
#include <boot/clock.hpp>
#include <boot/console.hpp>
#include <boot/format.hpp>
#include <boot/machine.hpp>
#include <klock/cpu.hpp>

namespace boot {

namespace {

constinit u64 began = 0;
constinit u64 frequency = 0;
constinit bool is_known = false;
constinit u64 coarse_step = 0;

/* The shortest way that the clock goes between two looks, in cycles. */
u64 step_of_clock()
{
	u64 shortest = ~u64{0};

	for (int steps = 0; steps < 64; steps++) {
		const u64 before = klock::cycles();
		u64 now = before;

		for (int i = 0; now == before && i < 100'000; i++)
			now = klock::cycles();
		if (now - before < shortest)
			shortest = now - before;
	}
	return shortest;
}

/* As a hypervisor has it that traps each look: locks take less. */
void say_coarse_clock()
{
	constexpr u64 too_long = 1000;
	const u64 cycles = step_of_clock();
	const u64 step = cycles_to_ns(cycles);

	coarse_step = step > too_long ? step : 0;
	if (coarse_step)
		print("# boot: the clock goes by steps of %u ns: too long to "
		      "measure a lock by\n",
		      step);
	else if (cycles == 0)
		print("# boot: the clock stands still\n");
}

} // namespace

/*
 * While time passes, plain instructions run between the looks at the clock:
 * under QEMU -icount virtual time is counted in instructions, and a wait made
 * of pauses and accesses to devices would take seconds of the host's.
 */
void burn()
{
	for (int i = 0; i < 1000; i++)
		asm volatile("");
}

u64 clock_hz() { return frequency; }

bool clock_is_known() { return is_known; }

u64 coarse_step_ns() { return coarse_step; }

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

u64 ns_since_boot()
{
	return frequency ? cycles_to_ns(klock::cycles() - began) : 0;
}

void clock_begin() { began = klock::cycles(); }

void clock_init()
{
	const clock_found found = find_clock();

	frequency = found.hz;
	is_known = found.known;
	say_coarse_clock();
	measure_timer();
}

} // namespace boot
