/* SPDX-License-Identifier: MIT */
/*
 * one_preemption - guards that turn preemption off, and no others
 *
 * lib's own file of this name says how a linker then refuses a file of the
 * program that lacks this folder.
 */
#pragma once

#include <klock/types.hpp>

extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_guards_with_preempted() noexcept
{
	if constexpr (klock::arch::linker_refuses_twice)
		asm(".globl "
		    "klock_guards_with_and_without_preempted_in_one_program\n\t"
		    ".hidden "
		    "klock_guards_with_and_without_preempted_in_one_program\n"
		    "klock_guards_with_and_without_preempted_in_one_program:");
}
}
