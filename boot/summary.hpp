/* SPDX-License-Identifier: MIT */
/*
 * summary - what is worth a photograph: a screen's last page
 *
 * A machine that ends by itself has none. On a PC that stays on, the screen's
 * pages are turned then, and this one comes after the last of what was printed:
 * it is nowhere else, not on the serial line.
 */
#pragma once

#include <boot/format.hpp>
#include <boot/types.hpp>

namespace boot {

/* How much text the page takes: what is more is not seen. */
struct page_room {
	unsigned columns = 0; /* 0: there is no such page */
	unsigned rows = 0;
};

page_room summary_room();

void print_summary_list(const char *format, const format_argument *arguments);

/* As print(); '\n' alone moves. One CPU at a time. */
template <typename... Arguments>
void print_summary(format_for<Arguments...> format, Arguments... arguments)
{
	const format_argument list[] = {format_argument(arguments)..., {}};

	print_summary_list(format.text, list);
}

} // namespace boot
