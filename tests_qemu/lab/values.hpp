/* SPDX-License-Identifier: MIT */
/*
 * values - what may stand behind the '=' of an option
 *
 * Each reads the whole text and says what is wrong with it, if anything is.
 */
#pragma once

#include "nearest.hpp"
#include "options.hpp"

#include <boot/kernel.hpp>

namespace lab {

/* Why a word is wrong, for people; empty: it is right. */
struct wrong {
	char why[128] = "";

	explicit operator bool() const { return why[0] != 0; }
};

template <typename... Arguments>
[[nodiscard]] wrong because(boot::format_for<Arguments...> format,
			    Arguments... arguments)
{
	wrong w;

	boot::format_to(w.why, sizeof(w.why), format, arguments...);
	return w;
}

/* A name that is not known, and the one that was probably meant. */
[[nodiscard]] wrong unknown(const nearest &names);

/* A value's name and what it stands for; a null name ends a list. */
struct choice {
	const char *name;
	u32 value;
};

[[nodiscard]] wrong read_number(const char *text, u32 most, u32 &into);

/* "300" or "100..900" */
[[nodiscard]] wrong read_range(const char *text, range &into);

[[nodiscard]] wrong read_choice(const choice *among, const char *text,
				u32 &into);

/*
 * Calls use(item) for each item of a list with commas, until one is wrong. An
 * item is cut after 39 characters: no name is as long.
 */
template <typename Use>
[[nodiscard]] wrong for_each_item(const char *list, Use use)
{
	constexpr unsigned longest = 40;

	for (;;) {
		char item[longest];
		unsigned length = 0;

		for (; *list && *list != ','; list++)
			if (length < longest - 1)
				item[length++] = *list;
		item[length] = 0;
		if (!length)
			return because("an empty item in the list");
		if (const wrong w = use(item))
			return w;
		if (!*list++)
			return {};
	}
}

} // namespace lab
