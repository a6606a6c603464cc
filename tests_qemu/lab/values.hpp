/* SPDX-License-Identifier: MIT */
/*
 * values - what may stand behind the '=' of an option
 *
 * Each reads the whole text and returns false where it is anything else.
 */
#pragma once

#include "options.hpp"

namespace lab {

/* A value's name and what it stands for; a null name ends a list. */
struct choice {
	const char *name;
	u32 value;
};

[[nodiscard]] bool read_number(const char *text, u32 &into);

/* "300" or "100..900" */
[[nodiscard]] bool read_range(const char *text, range &into);

[[nodiscard]] bool read_choice(const choice *among, const char *text,
			       u32 &into);

/*
 * Calls use(item) for each item of a list with commas, as long as it returns
 * true; false if it did not, or an item is empty or longer than 39 characters.
 */
template <typename Use>
[[nodiscard]] bool for_each_item(const char *list, Use use)
{
	constexpr unsigned longest = 40;

	for (;;) {
		char item[longest];
		unsigned length = 0;

		while (*list && *list != ',' && length < longest - 1)
			item[length++] = *list++;
		item[length] = 0;
		if (!length || (*list && *list != ',') || !use(item))
			return false;
		if (!*list++)
			return true;
	}
}

} // namespace lab
