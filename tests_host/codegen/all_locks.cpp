/* SPDX-License-Identifier: MIT */
/*
 * all_locks - the object code of every lock of the list
 */
#include "probe.hpp"

using locks = klock::selftest::all_locks<8>;

extern "C" [[gnu::used,
	     gnu::section(".klock_names")]] constexpr auto klock_codegen_names =
	klock::codegen::names_of(locks{});

extern "C" void klock_codegen_all() { klock::codegen::keep_all<0>(locks{}); }
