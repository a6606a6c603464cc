/* SPDX-License-Identifier: MIT */
/*
 * command_line - the words that the kernel was started with
 *
 * Words are separated by blanks; `name=value` or `name` alone. The kernel's own
 * file name, which some loaders put first, is not among them. Boot gives no
 * word a meaning but pin= (cpus.hpp) and x2apic (x86/apic.cpp). Any context,
 * always the same answers.
 *
 *	for (const boot::word &w : boot::command_line())
 *		...
 *	const char *lock = boot::command_line().find("lock");
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

struct word {
	const char *name = nullptr;
	const char *value =
		nullptr; /* what follows the first '='; null without one */
};

struct words {
	const word *first;
	const word *last;

	const word *begin() const { return first; }
	const word *end() const { return last; }

	/* Whether there is such a word, with a value or without. */
	bool has(const char *name) const;

	/* Its value: of several such words the last one's; "" for a word
	 * without '='; null if there is no such word. */
	const char *find(const char *name) const;
};

words command_line();

/* -- Where the words come from (private to boot) -- */

struct boot_info;

/* Copies and splits them. Once, before anybody asks for a word. */
void command_line_init(const boot_info &info);

} // namespace boot
