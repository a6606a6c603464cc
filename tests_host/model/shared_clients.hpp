/* SPDX-License-Identifier: MIT */
/*
 * shared_clients - the clients that find what is wrong with a lock that readers
 * share
 */
#pragma once

#include "shared_worlds.hpp"

#include <algorithm>

namespace worlds {

/*
 * Those of whole words, small ones first. Two writers and a reader, a writer
 * and two readers, and {2, 1, 1} each show what no smaller one does.
 */
inline const std::vector<client> &shared_clients()
{
	static const std::vector<client> all = {
		{"wr", {1, 1}},		{"wr", {2, 2}},	    {"wwr", {1, 1, 1}},
		{"wrr", {1, 1, 1}},	{"wrr", {2, 1, 1}}, {"wwr", {2, 1, 1}},
		{"wwrr", {1, 1, 1, 1}},
	};
	return all;
}

/* Those with tries. */
inline const std::vector<client> &shared_tries()
{
	static const std::vector<client> all = {
		{"wW", {2, 2}},	    {"wR", {2, 2}},	{"rW", {2, 2}},
		{"wRr", {1, 1, 1}}, {"rRW", {1, 1, 1}}, {"RRW", {1, 1, 1}},
		{"wWr", {1, 1, 1}}, {"wrW", {2, 1, 1}},
	};
	return all;
}

/* Those in which counters of few bits wrap. */
inline const std::vector<client> &shared_wraps()
{
	static const std::vector<client> all = {
		{"wr", {4, 1}, 2}, {"wr", {1, 4}, 2},	  {"wrr", {2, 2, 1}, 2},
		{"ww", {8, 1}, 3}, {"wr", {3, 1}, 3},	  {"wR", {1, 3}, 3},
		{"wr", {2, 5}, 4}, {"wwr", {1, 1, 5}, 4}, {"rW", {1, 4}, 2},
		{"wR", {1, 4}, 2},
	};
	return all;
}

/* How many readers counters of so few bits count: bits that a lock keeps for
 * itself leave fewer. */
template <typename L>
unsigned room_for_readers(unsigned few)
{
	if (!few || L::max_readers == L::max_contenders ||
	    klock::cpu_shared_lock<L>)
		return most_cpus;
	const u64 kept = L::max_contenders / (L::max_readers + 1);
	return static_cast<unsigned>((u64{1} << few) / kept) - 1;
}

/* Whether the lock has the tries, and the room, that a client asks for. */
template <typename Subject>
bool can(const client &c, bool split = false)
{
	using lock = typename Subject::lock;
	const std::string roles = c.roles;

	if (split && !try_can_split<lock> &&
	    roles.find('W') != std::string::npos)
		return false;
	const auto readers = std::count(roles.begin(), roles.end(), 'r') +
			     std::count(roles.begin(), roles.end(), 'R');

	if (readers > room_for_readers<lock>(c.few))
		return false;
	if (klock::cpu_shared_lock<lock> && roles.size() > lock::max_readers)
		return false;
	return (klock::try_lockable<lock> ||
		roles.find('W') == std::string::npos) &&
	       (klock::try_shared_lockable<lock> ||
		roles.find('R') == std::string::npos);
}

/* All of them, and what else is special, until enough(r). */
template <typename Subject, typename Visit>
bool each_shared_client(const options &how, Visit enough)
{
	for (const client &c : shared_clients())
		if (can<Subject>(c) && enough(shared<Subject>(c, how)))
			return true;
	for (const client &c : shared_tries())
		if (can<Subject>(c, how.split_pairs) &&
		    enough(shared<Subject>(c, how)))
			return true;
	for (const client &c : shared_wraps())
		if (can<Subject>(c, how.split_pairs) &&
		    enough(shared<Subject>(c, how)))
			return true;
	return enough(readers_meet<Subject>(0, how)) ||
	       enough(ended_by_reader_or_writer<Subject>({"wr", {1, 1}},
							 how)) ||
	       enough(ended_by_reader_or_writer<Subject>({"wwr", {1, 1, 1}},
							 how));
}

} // namespace worlds
