/* SPDX-License-Identifier: MIT */
/*
 * proof - what is asked of every algorithm that is no lock of the list
 */
#pragma once

#include "orders.hpp"

#include <catch.hpp>

namespace proof {

using model::options;
using model::result;

/* Passes, exhaustively, under both rules of release sequences. */
template <typename Explore>
inline void passes(klock::u64 complete, options how, Explore explore)
{
	for (auto rule :
	     {model::release_sequence::rc11, model::release_sequence::cxx20}) {
		how.sequence = rule;
		const result r = explore(how);

		INFO(r.message << "\n" << r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		CHECK(r.complete == complete);
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
	/* By +=: of a sum GCC 12 says that it is out of bounds (105651). */
	std::string path = KLOCK_LIB "/klock/";
	path += header;
	CHECK(tags == orders::tags(path));
}

} // namespace proof
