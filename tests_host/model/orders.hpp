/* SPDX-License-Identifier: MIT */
/*
 * orders - is each memory order of a header needed?
 *
 * Every use stronger than relaxed is weakened by one step, one at a time, and
 * some client must fail. A client list is a callable(options, enough) that runs
 * its clients with these options, the quick ones first, until enough(result)
 * says so: true if it did.
 */
#pragma once

#include "../checker/verdict.hpp"

#include <model/model.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <catch.hpp>

namespace orders {

using model::options;
using model::result;
using model::use;
using model::weakening;

/*
 * In the library's headers: neither the clients' operations nor the tests'. By
 * the file's own folder: the clone's may be called klock, too.
 */
inline bool in_library(const use &u)
{
	const std::string folder = u.file.substr(0, u.file.rfind('/'));

	return folder.ends_with("lib/klock") ||
	       folder.ends_with("lib/klock/detail") ||
	       folder.ends_with("lib/klock/order");
}

/* The "O1" that stands beside or just after the operation. */
inline std::string tag(const use &u)
{
	std::ifstream header(u.file);
	std::string line;

	for (int number = 1; std::getline(header, line); number++) {
		if (number < u.line || number > u.line + 4)
			continue;
		const auto at = line.find("/* O");
		if (at != std::string::npos)
			return line.substr(at + 3,
					   line.find(" */", at) - at - 3);
	}
	return "line " + std::to_string(u.line);
}

/* "ticket_lock.hpp O4 -> relaxed" */
inline std::string spelt(const weakening &w)
{
	const std::string &file = w.where.file;

	return file.substr(file.rfind('/') + 1) + " " + tag(w.where) + " -> " +
	       model::text(w.to);
}

/* All "O1" of a header's code; its comment block above the code is skipped. */
inline std::set<std::string> tags(const std::string &file)
{
	std::ifstream header(file);
	std::set<std::string> all;
	std::string line;

	while (std::getline(header, line)) {
		const auto at = line.find("/* O");
		const auto end = line.find(" */", at);
		if (at != std::string::npos && end - at < 8)
			all.insert(line.substr(at + 3, end - at - 3));
	}
	return all;
}

/* Every stronger use in the library by these clients. */
template <typename Clients>
std::vector<use> uses(Clients clients)
{
	std::vector<use> all;

	clients(options{.max_executions = 2000, .record_uses = true},
		[&all](const result &r) {
			for (const use &u : r.uses)
				if (in_library(u) &&
				    std::find(all.begin(), all.end(), u) ==
					    all.end())
					all.push_back(u);
			return false;
		});
	return all;
}

/* Whether some client finds it. */
template <typename Clients>
bool found(Clients clients, const weakening &w)
{
	return clients(options{.weaken = w},
		       [](const result &r) { return !r.ok(); });
}

} // namespace orders

/*
 * proof - what is asked of every algorithm that is no lock of the list
 */

namespace proof {

using model::options;
using model::result;

/* Passes, exhaustively, under both rules of release sequences. */
template <typename Explore>
inline void passes(klock::u64 complete, options how, Explore explore,
		   int line = __builtin_LINE())
{
	for (auto rule :
	     {model::release_sequence::rc11, model::release_sequence::cxx20}) {
		how.sequence = rule;
		verdict::right_by(complete, explore(how), line);
	}
}

/*
 * Each stronger use of lib/klock/<header> by these clients, made weaker, is
 * found, and no tag of the header was left out.
 */
template <typename Clients>
inline void each_order_is_needed(Clients clients, const char *header,
				 unsigned at_least)
{
	unsigned tried = 0;
	std::set<std::string> tags;

	for (const orders::use &u : orders::uses(clients)) {
		if (!u.file.ends_with(header))
			continue;
		if (!model::weakenings(u).empty())
			tags.insert(orders::tag(u));
		for (const orders::weakening &w : model::weakenings(u)) {
			INFO("nothing finds " << orders::spelt(w));
			CHECK(orders::found(clients, w));
			tried++;
		}
	}
	CHECK(tried >= at_least);
	/* Appends by +=, as GCC 12 warns about a sum (bug 105651). */
	std::string path = KLOCK_LIB "/klock/";
	path += header;
	CHECK(tags == orders::tags(path));
}

} // namespace proof
