/* SPDX-License-Identifier: MIT */
/*
 * one_preemption - guards that leave preemption alone, and no others
 *
 * A guard of lib/preempted has another size: two files of one program that
 * disagree have two definitions of one type. That folder has a file of this
 * name, with another function; the strong name inside is then defined twice,
 * which no linker takes. An alias, as one_version.hpp has it, is an error where
 * linkers lack such names, and lib/klock has no #if: so the name stands in the
 * function's code. Nobody calls it.
 */
#pragma once

#include <klock/types.hpp>

extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_guards_without_preempted() noexcept
{
	if constexpr (klock::arch::linker_refuses_twice)
		asm(".globl "
		    "klock_guards_with_and_without_preempted_in_one_program\n\t"
		    ".hidden "
		    "klock_guards_with_and_without_preempted_in_one_program\n"
		    "klock_guards_with_and_without_preempted_in_one_program:");
}
}
