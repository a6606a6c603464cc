/* SPDX-License-Identifier: MIT */
/*
 * imports - the program and its own libraries: what tells the checker
 */
#pragma once

#include <klock/arch/engine.hpp>

#include <string>
#include <vector>

/* The section that lib/targets.cmake puts the engine's code in: the linker
 * defines both names, or neither. */
extern "C" {
[[gnu::weak]] extern const unsigned char __start_klock_engine[];
[[gnu::weak]] extern const unsigned char __stop_klock_engine[];
}

namespace model::detail {

struct told {
	std::string file;	       /* empty: the program */
	klock::usize base;	       /* where it was loaded */
	klock::usize data, data_bytes; /* what can be written */
};
std::vector<told> told_parts();

/* A world is made: files are where they were, no exception is known. */
void forget_calls();

/* Forgets the exception that was at this address. */
void exception_is_made(const void *);

/* How often any was loaded, or unloaded. */
unsigned long long changes_of_parts();

} // namespace model::detail
