/* SPDX-License-Identifier: MIT */
/*
 * clock - how often klock::cycles() counts in a second: RISC-V
 *
 * It reads the time register, whose rate the device tree says (Devicetree
 * Specification 0.4, 3.7, timebase-frequency).
 */
#include <boot/console.hpp>
#include <boot/divide.hpp>
#include <boot/riscv64/board.hpp>
#include <boot/machine.hpp>

namespace boot {

clock_found find_clock()
{
	const u64 hz = timer_hz();

	if (hz)
		print("# boot: clock %u kHz, by the device tree\n",
		      div_u64(hz, 1000));
	else
		print("# boot: the clock is not known: time is taken from a "
		      "guess of 10 MHz\n");
	return {hz ? hz : 10'000'000, hz != 0};
}

/* The same clock. */
void measure_timer() {}

} // namespace boot
