/* SPDX-License-Identifier: MIT */
/*
 * crowd - what was found where more threads than cores contend
 */
#pragma once

#include "experiments.hpp"
#include "overtakings.hpp"

namespace bench {

/* Threads a core: rates, and beside them trials of a second. */
inline constexpr unsigned crowds[] = {2, 4, most_threads_a_core};
inline constexpr unsigned long_crowd = 4;

/* In the order of the tables; peers that are not there are left out. */
extern const std::vector<std::string> crowd_locks;
/* Of these: what is judged, and by what. */
extern const std::vector<std::string> preemptable_locks;
inline constexpr const char *plain_ticket = "ticket_lock<u8>";
inline constexpr const char *backoff_lock = "backoff_ttas_lock";

using by_lock = std::map<std::string, contended>;

/* With critical sections of one length, in cycles. */
struct crowd {
	unsigned section;
	by_lock cores;			    /* a thread a core */
	std::map<unsigned, by_lock> shared; /* by threads a core */
	by_lock second;			    /* long_crowd, for a second */
	std::map<std::string, overtakings> passed;
};

/* All figures. */
void write_crowds(context &, const std::vector<crowd> &);
/* Tables that a README can take as they are, and what was asked. */
void print_crowds(context &, const std::vector<crowd> &);

} // namespace bench
