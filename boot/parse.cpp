/* SPDX-License-Identifier: MIT */
/*
 * parse - numbers and texts of the command line
 */
#include <boot/command_line.hpp>

namespace boot {

namespace {

/* 16 and more: no digit of any base. */
unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return static_cast<unsigned>(c - '0');
	if (c >= 'a' && c <= 'f')
		return static_cast<unsigned>(c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return static_cast<unsigned>(c - 'A' + 10);
	return 16;
}

} // namespace

bool parse_u64(const char *at, u64 &value)
{
	const bool hexadecimal = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	const unsigned base = hexadecimal ? 16 : 10;
	u64 sum = 0;

	if (hexadecimal)
		at += 2;
	if (!*at)
		return false;
	for (; *at; at++) {
		const unsigned d = digit(*at);

		if (d >= base || __builtin_mul_overflow(sum, base, &sum) ||
		    __builtin_add_overflow(sum, d, &sum))
			return false;
	}
	value = sum;
	return true;
}

bool same_text(const char *left, const char *right)
{
	while (*left && *left == *right) {
		left++;
		right++;
	}
	return *left == *right;
}

} // namespace boot
