/* SPDX-License-Identifier: MIT */
/*
 * shared_worlds - rows of lock_worlds.hpp for locks that readers share: which
 * clients find what is wrong with one
 */
#pragma once

#include "lock_worlds.hpp"

namespace worlds {

/* A role for each CPU, its sections; the bits of counters, if they are few. */
struct client {
	const char *roles;
	std::vector<unsigned> sections;
	unsigned few = 0;
};

/* Nobody writes beside another, nobody reads beside a writer. */
inline outcome shared(const kind &k, const client &c, options how = {},
		      void (world::*scene)(unsigned) = &world::sections)
{
	how.sections = c.sections;
	how.counter_bits = bits(k, c.few);
	return play({k, c.roles, scene}, how);
}

/* As long as readers cannot be inside together; else the last to give up its
 * reference is not the last to leave. */
inline outcome ended_by_reader_or_writer(const kind &k, const client &c,
					 const options &how = {})
{
	return shared(k, c, how, &world::freed);
}

/*
 * Clients with whole words, small ones first. Two writers and a reader, a
 * writer and two readers, and {2, 1, 1} each show what no smaller one does.
 */
inline const std::vector<client> &shared_clients()
{
	static const std::vector<client> all = {
		{"lr", {1, 1}},		{"lr", {2, 2}},	    {"llr", {1, 1, 1}},
		{"lrr", {1, 1, 1}},	{"lrr", {2, 1, 1}}, {"llr", {2, 1, 1}},
		{"llrr", {1, 1, 1, 1}},
	};
	return all;
}

/* Clients that try. */
inline const std::vector<client> &shared_tries()
{
	static const std::vector<client> all = {
		{"lt", {2, 2}},	    {"ls", {2, 2}},	{"rt", {2, 2}},
		{"lsr", {1, 1, 1}}, {"rst", {1, 1, 1}}, {"sst", {1, 1, 1}},
		{"ltr", {1, 1, 1}}, {"lrt", {2, 1, 1}},
	};
	return all;
}

/* Clients in which counters of few bits wrap. */
inline const std::vector<client> &shared_wraps()
{
	static const std::vector<client> all = {
		{"lr", {4, 1}, 2}, {"lr", {1, 4}, 2},	  {"lrr", {2, 2, 1}, 2},
		{"ll", {8, 1}, 3}, {"lr", {3, 1}, 3},	  {"ls", {1, 3}, 3},
		{"lr", {2, 5}, 4}, {"llr", {1, 1, 5}, 4}, {"rt", {1, 4}, 2},
		{"ls", {1, 4}, 2},
	};
	return all;
}

/* Clients that upgrade or downgrade; some with counters of few bits. */
inline const std::vector<client> &shared_changes()
{
	static const std::vector<client> all = {
		{"lv", {2, 2}},	    {"rx", {2, 2}},	{"xx", {2, 2}},
		{"rd", {2, 2}},	    {"ld", {2, 2}},	{"lrx", {1, 1, 1}},
		{"lrv", {2, 1, 1}}, {"lxv", {1, 1, 1}}, {"xrv", {2, 1, 1}},
		{"lrd", {1, 1, 1}}, {"lrd", {2, 1, 1}}, {"rrd", {1, 1, 1}},
		{"dxd", {1, 1, 1}}, {"ry", {2, 2}},	{"ly", {2, 2}},
		{"lry", {1, 1, 1}}, {"xy", {2, 2}},	{"lx", {2, 4}, 3},
		{"lv", {2, 4}, 3},  {"rx", {1, 4}, 3},	{"dr", {4, 1}, 2},
		{"dl", {4, 1}, 2},  {"dr", {1, 4}, 2},	{"dr", {4, 1}, 4},
		{"rv", {5, 2}, 4},
	};
	return all;
}

/* How many readers counters of so few bits count: bits that a lock keeps for
 * itself leave fewer. */
inline unsigned room_for_readers(const kind &k, unsigned few)
{
	if (!few || k.reader_capacity == k.capacity || k.reads_by_number)
		return most_cpus;
	const u64 kept = k.capacity / (k.reader_capacity + 1);
	return static_cast<unsigned>((u64{1} << few) / kept) - 1;
}

/* Whether the lock has all ways to take it that a role needs. */
inline bool can(const kind &k, const role &is, bool split)
{
	if (is.what == as::upgradable && !k.upgrades)
		return false;
	if (is.next == then::downgrades && !k.downgrades)
		return false;
	if (is.how != way::tries)
		return true;
	if (split && is.changes() && !k.splits_tries)
		return false;
	if (is.what == as::upgradable)
		return k.tries_to_upgrade;
	return (is.what == as::writer ? k.by : k.read_by).try_lock;
}

/* Whether it has what a client asks for, and room for its readers. */
inline bool can(const kind &k, const client &c, bool split = false)
{
	unsigned cpus = 0, readers = 0;

	for (const char *letter = c.roles; *letter; letter++, cpus++) {
		const role &is = role_of(*letter);

		if (!can(k, is, split))
			return false;
		readers += is.what == as::reader || is.next == then::downgrades;
	}
	return readers <= room_for_readers(k, c.few) &&
	       !(k.reads_by_number && cpus > k.reader_capacity);
}

/* All of them, and what else is special, until enough(r). */
inline bool each_shared_client(const kind &k, const options &how,
			       const visit &enough)
{
	const auto ends = [&](const client &c) {
		return can(k, c) &&
		       enough(ended_by_reader_or_writer(k, c, how));
	};

	for (const char *roles : {"lv", "vx", "ld", "dd"})
		if (ends({roles, {1, 1}}))
			return true;
	for (const client &c : shared_changes()) {
		options o = how;

		o.split_pairs &= can(k, c, true);
		if (can(k, c) && enough(shared(k, c, o)))
			return true;
	}
	for (const client &c : shared_clients())
		if (can(k, c) && enough(shared(k, c, how)))
			return true;
	for (const auto *some : {&shared_tries(), &shared_wraps()})
		for (const client &c : *some)
			if (can(k, c, how.split_pairs) &&
			    enough(shared(k, c, how)))
				return true;
	return enough(play({k, "rr", &world::meet}, how)) ||
	       ends({"lr", {1, 1}}) || ends({"llr", {1, 1, 1}});
}

} // namespace worlds
