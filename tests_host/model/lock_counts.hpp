/* SPDX-License-Identifier: MIT */
/*
 * lock_counts - how many executions each lock has: a row per lock
 */
#pragma once

#include "lock_worlds.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace worlds {

/*
 * Complete executions: what RC11 allows each algorithm, and so what any checker
 * that leaves nothing out and counts nothing twice must find.
 *
 * Where the order of entry decides an execution there are 4! / 2!^2 = 6, then
 * 6! / 2!^3 = 90 and 4! = 24: padded tickets, Anderson's, flags, CLH,
 * test-and-set.
 * The compact tickets have many more, as their two counters are one location,
 * whose modification order also says how arrivals lie between unlocks; apart,
 * they have the padded one's (test_locks.cpp). MCS: a leaver that finds its
 * successor late. Test, test-and-set: how often each looked in vain.
 *
 * queued_lock: how late a leaver finds its successor, as MCS; and how often a
 * CPU that has looked at the queue comes too late to take it.
 *
 * preemptable_ticket_lock: nobody's patience ends here (test_preemptable.cpp
 * has the others). By tickets alone it would have the padded one's; each of the
 * two looks that come before the draw may read what its counter was before, and
 * the holder's look at next multiplies them again. {2,2,2} is counted by hand
 * (two minutes): model_locks '[.largest]'.
 */
struct pinned {
	const char *name;
	u64 two;   /* {2,2} */
	u64 three; /* {2,2,2}; {3,3} for a lock of two */
	u64 four;  /* {1,1,1,1}; none for a lock of two */
};

/* A lock with more executions takes ten seconds or longer. */
inline constexpr u64 many = 500'000;
/* A lock with more takes minutes: counted by hand, model_locks '[.largest]'. */
inline constexpr u64 too_many = 1'000'000;

inline constexpr pinned counts[] = {
	{"ticket_lock<u8>", 168, 102204, 3360},
	{"ticket_lock<u16>", 168, 102204, 3360},
	{"ticket_lock<u32>", 168, 102204, 3360},
	{"preemptable_ticket_lock<u8>", 656, 31409898, 81408},
	{"preemptable_ticket_lock<u16>", 656, 31409898, 81408},
	{"narrow_ticket_lock<2>", 168, 102204, 3360},
	{"narrow_ticket_lock<3>", 168, 102204, 3360},
	{"narrow_ticket_lock<4>", 168, 102204, 3360},
	{"padded_ticket_lock<u8>", 6, 90, 24},
	{"padded_ticket_lock<u32>", 6, 90, 24},
	{"proportional_ticket_lock<u8>", 168, 102204, 3360},
	{"proportional_ticket_lock<u32>", 168, 102204, 3360},
	{"tas_lock", 6, 90, 24},
	{"ttas_lock", 118, 897000, 20760},
	{"backoff_ttas_lock", 248, 5753550, 76032},
	{"anderson_lock", 6, 90, 24},
	{"graunke_thakkar_lock", 6, 90, 24},
	{"timeout_lock", 78, 10746, 648},
	{"mcs_lock", 78, 17670, 1080},
	{"clh_lock", 6, 90, 24},
	{"queued_lock", 110, 547506, 5232},
	{"peterson_lock", 48, 588, 0},
	{"tournament_lock", 48, 11904, 768},
	{"bakery_lock", 226, 2391496, 263664},
	{"rw_ticket_lock<u8>", 168, 102204, 3360},
	{"rw_ticket_lock<u16>", 168, 102204, 3360},
	{"phase_fair_lock<u8>", 516, 813150, 12144},
	{"phase_fair_lock<u16>", 516, 813150, 12144},
	{"reader_lock", 168, 102204, 3360},
};

inline const pinned *pinned_of(const char *name)
{
	for (const pinned &p : counts)
		if (std::strcmp(p.name, name) == 0)
			return &p;
	return nullptr;
}

/* The place that a failure names. */
inline constexpr const char *the_table =
	"counts[] in tests_host/model/lock_counts.hpp";

/* A row as it stands there. */
inline std::string row(const pinned &p)
{
	return std::string("{\"") + p.name + "\", " + std::to_string(p.two) +
	       ", " + std::to_string(p.three) + ", " + std::to_string(p.four) +
	       "},";
}

/* Returns the fault of a row, or ""; said is null if the row is missing. */
inline std::string difference(const pinned *said, const pinned &found)
{
	const std::string right = "\n\tfound: " + row(found);

	if (!said)
		return std::string(the_table) + " has no row for " +
		       found.name + right;
	if (row(*said) == row(found))
		return "";
	return std::string(the_table) + " is wrong about " + found.name +
	       "\n\tsays:  " + row(*said) + right;
}

/* The three sizes of a row, for a lock of so many contenders. */
inline std::vector<unsigned> two_by_two() { return {2, 2}; }
inline std::vector<unsigned> three_by_two(u64 capacity)
{
	if (capacity == 2)
		return {3, 3};
	return {2, 2, 2};
}
inline std::vector<unsigned> four_by_one() { return {1, 1, 1, 1}; }

/* Counts the executions of exclusion in which nobody's patience ends. */
inline result counted_as(const kind &k, std::vector<unsigned> sections)
{
	return exclusion(k, {.sections = sections,
			     .max_executions = 100'000'000,
			     .patient = everybody});
}

/*
 * Counts a lock's executions and compares them with its row; empty if they are
 * the same. Where the type asks for the number of CPUs: for 2, for 3, for 4.
 */
template <typename Two, typename Three = Two, typename Four = Three>
std::string wrong_counts(const pinned *said = pinned_of(Two::name))
{
	pinned found{Two::name, 0, 0, 0};
	std::string wrong;
	const auto count = [&wrong](const result &r) {
		if (!r.ok() || !r.exhaustive)
			wrong += std::string(Two::name) + ": " + r.message +
				 "\n" + r.timeline;
		return r.complete;
	};

	found.two = count(counted_as(kind_of<Two>, two_by_two()));
	found.three = count(
		counted_as(kind_of<Three>, three_by_two(Three::capacity)));
	if (Four::capacity >= 4)
		found.four = count(counted_as(kind_of<Four>, four_by_one()));
	return wrong.empty() ? difference(said, found) : wrong;
}

} // namespace worlds
