/* SPDX-License-Identifier: MIT */
/*
 * summary - what is worth a photograph: a screen's last page
 */
#include <boot/room.hpp>
#include <boot/summary.hpp>

namespace boot {

void print_summary_list(const char *format, const format_argument *arguments)
{
	format_list({[](void *, char c) { summary_put(c); }, nullptr}, format,
		    arguments);
}

} // namespace boot
