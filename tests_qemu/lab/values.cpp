/* SPDX-License-Identifier: MIT */
/*
 * values - what may stand behind the '=' of an option
 */
#include "values.hpp"

namespace lab {

namespace {

bool has_only_digits(const char *text)
{
	const char *at = text;

	while (*at >= '0' && *at <= '9')
		at++;
	return at != text && !*at;
}

} // namespace

wrong unknown(const nearest &names)
{
	if (names.name())
		return because("%s is unknown, did you mean %s?", names.given(),
			       names.name());
	return because("%s is unknown", names.given());
}

wrong read_number(const char *text, u32 most, u32 &into)
{
	u64 value = ~u64{0};

	if (!*text)
		return because("a number is missing");
	/* 2^64 and more are numbers, too. */
	if (!boot::parse_u64(text, value) && !has_only_digits(text))
		return because("\"%s\" is not a whole number", text);
	if (value > most)
		return because("out of range: at most %u", most);
	into = static_cast<u32>(value);
	return {};
}

wrong read_range(const char *text, range &into)
{
	constexpr u32 any = ~0u;
	constexpr unsigned longest = 24;
	char first[longest];
	unsigned length = 0;

	while (text[length] && text[length] != '.' && length < longest - 1) {
		first[length] = text[length];
		length++;
	}
	first[length] = 0;
	text += length;
	if (const wrong w = read_number(first, any, into.least))
		return w;
	into.most = into.least;
	if (!*text)
		return {};
	if (text[0] != '.' || text[1] != '.')
		return because("neither a number nor a range, as 100..900");
	if (const wrong w = read_number(text + 2, any, into.most))
		return w;
	if (into.least > into.most)
		return because("reversed: the smaller one is first, %u..%u",
			       into.most, into.least);
	return {};
}

wrong read_choice(const choice *among, const char *text, u32 &into)
{
	nearest meant(text);

	for (; among->name; among++) {
		if (boot::same_text(among->name, text)) {
			into = among->value;
			return {};
		}
		meant.offer(among->name);
	}
	return unknown(meant);
}

} // namespace lab
