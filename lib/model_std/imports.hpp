/* SPDX-License-Identifier: MIT */
/*
 * imports - the program and its own libraries: what tells the checker
 */
#pragma once

#include <klock/arch/engine.hpp>

#include <string>
#include <vector>

namespace model::detail {

struct told {
	std::string file;  /* empty: the program */
	klock::usize base; /* where it was loaded */
};
std::vector<told> told_parts();

/* A world is made: files are where they were, no exception is known. */
void forget_calls();

/* Forgets the exception that was at this address. */
void exception_is_made(const void *);

/* How often any was loaded, or unloaded. */
unsigned long long changes_of_parts();

} // namespace model::detail
