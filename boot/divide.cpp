/* SPDX-License-Identifier: MIT */
/*
 * divide - 64-bit division that needs no library
 */
#include <boot/divide.hpp>

namespace boot {

namespace {

struct division {
	u64 quotient;
	u64 remainder;
};

/* Bit by bit. */
[[maybe_unused]] division divide_long(u64 dividend, u64 divisor)
{
	u64 rest = 0;
	u64 quotient = 0;

	for (int bit = 63; bit >= 0; bit--) {
		const bool carry = rest >> 63;

		rest = rest << 1 | (dividend >> bit & 1);
		quotient <<= 1;
		if (carry || rest >= divisor) {
			rest -= divisor;
			quotient |= 1;
		}
	}
	return {quotient, rest};
}

division divide(u64 dividend, u64 divisor)
{
	if constexpr (sizeof(usize) == 8) {
		return {dividend / divisor, dividend % divisor};
	} else if ((dividend | divisor) >> 32 || !divisor) {
		return divide_long(dividend, divisor);
	} else {
		const u32 small = static_cast<u32>(dividend);
		const u32 by = static_cast<u32>(divisor);

		return {small / by, small % by};
	}
}

} // namespace

u64 div_u64(u64 dividend, u64 divisor)
{
	return divide(dividend, divisor).quotient;
}

u64 mod_u64(u64 dividend, u64 divisor)
{
	return divide(dividend, divisor).remainder;
}

} // namespace boot
