/* SPDX-License-Identifier: MIT */
/*
 * crowded - locks whose waiters do not all run: more threads than cores
 */
#include "crowd.hpp"

#include <algorithm>

namespace bench {

const std::vector<std::string> preemptable_locks = {
	"preemptable_ticket_lock<u8>", "preemptable_ticket_lock<u16>"};
const std::vector<std::string> crowd_locks = {
	plain_ticket,	preemptable_locks[0], preemptable_locks[1],
	"queued_lock",	"timeout_lock",	      backoff_lock,
	"ck fas",	"tbb spin_mutex",     "absl SpinLock",
	"pthread_mutex"};

namespace {

/* Cycles between two critical sections of a thread, on average. */
constexpr unsigned think = 50;

/* A smoke run has one length of sections. */
std::vector<unsigned> sections_of(const context &c)
{
	return c.opts.smoke ? std::vector{50u} : std::vector{0u, 50u, 500u};
}

/* A trial that is not made again: what disturbs is what this is about. */
template <typename Counter>
void count_round(context &c, const load &l, overtakings &to)
{
	const auto bed = std::make_unique<passing_bed<Counter>>();
	u64 acquisitions[2] = {};
	const bool quiet =
		c.threads.run(2, c.opts.trial, [&](unsigned i, whistle &end) {
			tally seen;
			bed->contend(i, l, end, seen);
			acquisitions[i] = seen.acquisitions;
		});

	to.add(bed->found, acquisitions[0] + acquisitions[1], quiet);
}

template <typename Counter>
overtakings count_overtakings(context &c, unsigned section)
{
	const load l = {.section = steps_for(c.here, section),
			.think = steps_for(c.here, think)};
	overtakings found;

	for (unsigned round = 0; round < c.opts.rounds; round++)
		count_round<Counter>(c, l, found);
	return found;
}

crowd measure(context &c, unsigned section)
{
	const std::string of =
		" a core, sections of " + std::to_string(section);
	const unsigned few = std::min(c.opts.few_rounds(), 5u);
	const unsigned watched = std::min(few, 2u);
	const unsigned usual = c.stretch;
	const auto rounds = [&](unsigned a_core, unsigned bare, unsigned seen) {
		return run_rounds(c, {a_core * c.cores(), section, think}, bare,
				  seen, std::to_string(a_core) + of,
				  crowd_locks);
	};
	crowd found{.section = section,
		    .cores = rounds(1, c.opts.rounds, watched),
		    .shared = {},
		    .second = {},
		    .passed = {}};

	for (unsigned a_core : crowds)
		found.shared[a_core] = rounds(a_core, few, watched);
	if (!c.opts.smoke)
		c.stretch = 10 * usual;
	found.second = rounds(long_crowd, std::min(few, 3u), watched);
	c.stretch = usual;
	found.passed[preemptable_locks[0]] =
		count_overtakings<klock::u8>(c, section);
	found.passed[preemptable_locks[1]] =
		count_overtakings<klock::u16>(c, section);
	return found;
}

} // namespace

void measure_crowded(context &c)
{
	std::vector<crowd> found;

	read_other_programs(c);
	measure_uncontended(c);
	for (unsigned section : sections_of(c))
		found.push_back(measure(c, section));
	write_crowds(c, found);
	print_crowds(c, found);
}

} // namespace bench
