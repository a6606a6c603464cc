/* SPDX-License-Identifier: MIT */
/*
 * values - what may stand behind the '=' of an option
 */
#include "values.hpp"

#include <boot/kernel.hpp>

namespace lab {

bool read_number(const char *text, u32 &into)
{
	u64 value;

	if (!boot::parse_u64(text, value) || value > 0xffffffffu)
		return false;
	into = static_cast<u32>(value);
	return true;
}

bool read_range(const char *text, range &into)
{
	constexpr unsigned longest = 20;
	char first[longest];
	unsigned length = 0;

	while (text[length] && text[length] != '.' && length < longest - 1) {
		first[length] = text[length];
		length++;
	}
	first[length] = 0;
	text += length;
	if (!read_number(first, into.least))
		return false;
	into.most = into.least;
	if (!*text)
		return true;
	return text[0] == '.' && text[1] == '.' &&
	       read_number(text + 2, into.most) && into.least <= into.most;
}

bool read_choice(const choice *among, const char *text, u32 &into)
{
	for (; among->name; among++) {
		if (!boot::same_text(among->name, text))
			continue;
		into = among->value;
		return true;
	}
	return false;
}

} // namespace lab
