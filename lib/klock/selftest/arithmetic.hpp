/* SPDX-License-Identifier: MIT */
/*
 * arithmetic - what a test needs and a bare 32-bit machine has not
 */
#pragma once

#include <klock/types.hpp>

namespace klock::selftest {

/*
 * a / b by shift and subtract: a 64-bit division on a 32-bit CPU is a call
 * into the compiler's library, which a kernel does not link. 0 where b is 0.
 */
constexpr u64 divide(u64 a, u64 b)
{
	u64 quotient = 0;
	int shift = 0;

	if (b == 0)
		return 0;
	while (b <= a - b && a >= b && !(b >> 63)) {
		b <<= 1;
		shift++;
	}
	for (; shift >= 0; shift--, b >>= 1) {
		quotient <<= 1;
		if (a >= b) {
			a -= b;
			quotient |= 1;
		}
	}
	return quotient;
}

static_assert(divide(0, 3) == 0 && divide(7, 7) == 1 && divide(100, 7) == 14);
static_assert(divide(~u64{0}, 1) == ~u64{0} && divide(~u64{0}, ~u64{0}) == 1);
static_assert(divide(5, 9) == 0 &&
	      divide(u64{1} << 63, 3) == (u64{1} << 63) / 3);

/* Marsaglia, "Xorshift RNGs", J. Stat. Software 8(14), 2003: 13, 17, 5. */
struct xorshift {
	constexpr explicit xorshift(u32 seed) : state(seed * 2654435761u | 1) {}

	constexpr u32 next()
	{
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		return state;
	}

	/* 0 .. bound - 1 */
	constexpr u32 below(u32 bound)
	{
		return static_cast<u32>(u64{next()} * bound >> 32);
	}

      private:
	u32 state;
};

/*
 * Jain's fairness index in thousandths: (sum x)^2 / (n sum x^2). 1000: all
 * the same; 1000 / n: one has everything. Source: Jain, Chiu and Hawe, DEC
 * TR-301, 1984. Counts are scaled down so that the squares fit.
 */
template <typename Count>
constexpr u32 jain_permille(unsigned n, Count count)
{
	u64 most = 0, sum = 0, squares = 0;
	int scale = 0;

	for (unsigned i = 0; i < n; i++)
		most = count(i) > most ? count(i) : most;
	while (most >> scale > 0xffff)
		scale++;
	for (unsigned i = 0; i < n; i++) {
		const u64 x = count(i) >> scale;
		sum += x;
		squares += x * x;
	}
	/* sum < 2^24 and squares < 2^40 for 256 CPUs: all products fit. */
	return static_cast<u32>(divide(sum * sum * 1000, n * squares));
}

} // namespace klock::selftest
