/* SPDX-License-Identifier: MIT */
/*
 * option_names - the names that values of the words run=, mode=, what= and
 * without= have
 */
#pragma once

#include "options.hpp"
#include "storm_plan.hpp"
#include "values.hpp"

namespace lab {

inline constexpr choice modes[] = {{"table", static_cast<u32>(mode::table)},
				   {"csv", static_cast<u32>(mode::csv)},
				   {"tap", static_cast<u32>(mode::tap)},
				   {}};

inline constexpr choice jobs[] = {
	{"measure", static_cast<u32>(job::measure)},
	{"locks", static_cast<u32>(job::locks)},
	{"storm", static_cast<u32>(job::storm)},
	{"folder", static_cast<u32>(job::folder)},
	{"deadline", static_cast<u32>(job::deadline)},
	{"busted", static_cast<u32>(job::busted)},
	{"busted_storm", static_cast<u32>(job::busted_storm)},
	{"shared", static_cast<u32>(job::shared)},
	{"shared_storm", static_cast<u32>(job::shared_storm)},
	{"busted_shared", static_cast<u32>(job::busted_shared)},
	{"backoff", static_cast<u32>(job::backoff)},
	{"instructions", static_cast<u32>(job::instructions)},
	{"pairs", static_cast<u32>(job::pairs)},
	{"topology", static_cast<u32>(job::topology)},
	{"misuse", static_cast<u32>(job::misuse)},
	{"deadlock", static_cast<u32>(job::deadlock)},
	{"counts", static_cast<u32>(job::counts)},
	{"stuck", static_cast<u32>(job::stuck)},
	{"panic", static_cast<u32>(job::panic)},
	{"fault", static_cast<u32>(job::fault)},
	{"print_fault", static_cast<u32>(job::print_fault)},
	{"fail", static_cast<u32>(job::fail)},
	{"hang", static_cast<u32>(job::hang)},
	{"reset", static_cast<u32>(job::reset)},
	{}};

inline constexpr choice misuses[] = {
	{"recursion", static_cast<u32>(misuse::recursion)},
	{"free_unlock", static_cast<u32>(misuse::free_unlock)},
	{"foreign_unlock", static_cast<u32>(misuse::foreign_unlock)},
	{"crowd", static_cast<u32>(misuse::crowd)},
	{"nmi_crowd", static_cast<u32>(misuse::nmi_crowd)},
	{"interrupts_on", static_cast<u32>(misuse::interrupts_on)},
	{"nmi_lock", static_cast<u32>(misuse::nmi_lock)},
	{"number", static_cast<u32>(misuse::number)},
	{"interrupted_waiter", static_cast<u32>(misuse::interrupted_waiter)},
	{"read_recursion", static_cast<u32>(misuse::read_recursion)},
	{"upgrade", static_cast<u32>(misuse::upgrade)},
	{"reading_handler", static_cast<u32>(misuse::reading_handler)},
	{"two_orders", static_cast<u32>(misuse::two_orders)},
	{"three_cpus", static_cast<u32>(misuse::three_cpus)},
	{"two_queues", static_cast<u32>(misuse::two_queues)},
	{"handler_order", static_cast<u32>(misuse::handler_order)},
	{"console_in_panic", static_cast<u32>(misuse::console_in_panic)},
	{"sleeps", static_cast<u32>(misuse::sleeps)},
	{}};

inline constexpr choice parts[] = {{"nothing", 0},
				   {"handlers", part_handler},
				   {"nmis", part_nmi},
				   {"halts", part_halt},
				   {"leaves", part_leave},
				   {"updates", part_update},
				   {}};

} // namespace lab
