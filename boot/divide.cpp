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

/* 64 / 32 bits by DIV; the quotient must fit 32 bits: high < divisor. */
u32 divide_words(u32 high, u32 low, u32 divisor, u32 &remainder)
{
	u32 quotient;

	asm("divl %4"
	    : "=a"(quotient), "=d"(remainder)
	    : "a"(low), "d"(high), "rm"(divisor)
	    : "cc");
	return quotient;
}

/* Schoolbook division with two digits of 32 bits. */
[[maybe_unused]] division divide_short(u64 dividend, u32 divisor)
{
	u32 rest;
	const u32 high = divide_words(0, static_cast<u32>(dividend >> 32),
				      divisor, rest);
	const u32 low =
		divide_words(rest, static_cast<u32>(dividend), divisor, rest);

	return {static_cast<u64>(high) << 32 | low, rest};
}

/* Bit by bit; divisor >= 2^32, so that the quotient is below 2^32. */
[[maybe_unused]] division divide_long(u64 dividend, u64 divisor)
{
	u64 rest = dividend >> 32;
	u64 quotient = 0;

	for (int bit = 31; bit >= 0; bit--) {
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
	if constexpr (sizeof(usize) == 8)
		return {dividend / divisor, dividend % divisor};
	else if (divisor >> 32)
		return divide_long(dividend, divisor);
	else
		return divide_short(dividend, static_cast<u32>(divisor));
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
