/* SPDX-License-Identifier: MIT */
/*
 * Every order stronger than relaxed, in every lock, is made one step weaker,
 * one at a time: something must go wrong. What does not is stronger than the
 * locks' clients can tell, and stands in the list below with its reason.
 */
#include "lock_counts.hpp"
#include "shared_worlds.hpp"
#include "orders.hpp"

#include <catch.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

using klock::selftest::queues;
using namespace worlds;
using model::use;
using model::weakening;
using orders::spelt;
using orders::tag;
using orders::tags;

namespace {

/* Weaker, and nothing goes wrong: "file tag -> order", and why it stays. */
struct kept {
	const char *what;
	const char *why;
};

const kept kept_orders[] = {
	{"clh_lock.hpp O4 -> relaxed",
	 "the model's nodes are there before it begins; native/lifetime: clh"},
	{"ticket_lock.hpp O4 -> relaxed",
	 "O5 reads owner too; for ThreadSanitizer, which does not see that"},
	{"peterson_lock.hpp O5 -> relaxed",
	 "O1 orders it; for ThreadSanitizer, which knows no fences"},
	{"peterson_lock.hpp O6 -> relaxed", "the same"},
	{"queued_lock.hpp O7 -> relaxed",
	 "for the compiler: only handlers of this CPU look at depth"},
	{"reader_lock.hpp O1 -> relaxed",
	 "O2 orders it; for ThreadSanitizer, which knows no fences"},
};

/*
 * Every client there is, the quick ones first, until enough(r) says so: true if
 * it did.
 */
bool clients(const kind &k, const options &how, const visit &enough)
{
	const bool two = k.capacity < 3;
	const auto with = [&](std::vector<unsigned> sections,
			      unsigned few = 0) {
		options o = how;
		o.sections = sections;
		o.counter_bits = bits(k, few);
		return o;
	};
	const auto split = [](options o) {
		o.split_pairs = true;
		return o;
	};

	if (k.is_locked &&
	    enough(play({.lock = k, .roles = "lh"}, with({1, 1}))))
		return true;
	if (k.read_by.lock)
		if (each_shared_client(k, split(how), enough))
			return true;
	if (k.timed)
		if (timed_clients_of_two_and_three(k, how, enough))
			return true;
	if (enough(exclusion(k, with({1, 1}))) ||
	    enough(exclusion(k, with({2, 2}))))
		return true;
	if (k.node_on_stack)
		if (enough(exclusion_on_stack(k, with({2, 1}))))
			return true;
	if (k.by.try_lock) {
		if (enough(tries_only(k, with({1, 1}))) ||
		    enough(tries_mixed_in(k, with({2, 2}))) ||
		    enough(tries_mixed_in(k, with({1, 4}, 2))) ||
		    (k.splits_tries &&
		     enough(tries_mixed_in(k, split(with({2, 2}))))) ||
		    enough(try_after_unlock(k, with({1, 1}))))
			return true;
	}
	if (enough(exclusion(k, split(with({4, 1}, 2)))))
		return true;
	if (two)
		return enough(exclusion(k, with({3, 3})));
	if (enough(exclusion(k, with({2, 1, 1}))) ||
	    enough(exclusion(k, with({1, 1, 2}))) ||
	    enough(ended_by_the_last(k, with({1, 1, 1}))))
		return true;
	if (k.by.try_lock)
		if (enough(tries_mixed_in(k, with({2, 1, 1}))))
			return true;
	if (queues(k.order_of_service) &&
	    enough(first_come_first_served(k, how)))
		return true;
	if (k.per_cpu) {
		options few = with({2, 2, 2});
		few.max_executions = 200'000;
		if (enough(two_in_turn(k, few)))
			return true;
	}
	/* Skips a lock that takes minutes for an order that nothing finds. */
	const pinned *const p = pinned_of(k.name);
	const unsigned last = p && p->three >= many ? 1 : 2;
	return enough(exclusion(k, split(with({2, 2, last}, 2))));
}

bool is_kept(const weakening &w)
{
	const std::string name = spelt(w);

	return std::any_of(
		std::begin(kept_orders), std::end(kept_orders),
		[&name](const kept &one) { return name == one.what; });
}

} // namespace

TEST_CASE("orders_needed: each order, made weaker, is found or has a reason")
{
	unsigned tried = 0;
	std::map<std::string, std::set<std::string>> tags_tried;

	for (const kind &k : tested<3>()) {
		const auto of_this = [&k](const options &how, visit enough) {
			return clients(k, how, enough);
		};
		/* As it is, it passes: what is found is the weakening. */
		const options some{.max_executions = 20000};
		(void)clients(k, some, [&k](const result &r) {
			INFO(k.name << " " << r.message << "\n" << r.timeline);
			CHECK(r.ok());
			return !r.ok();
		});
		for (const use &u : orders::uses(of_this)) {
			if (!model::weakenings(u).empty())
				tags_tried[u.file].insert(tag(u));
			for (const weakening &w : model::weakenings(u)) {
				tried++;
				if (is_kept(w))
					continue;
				INFO(k.name << ": nothing finds " << spelt(w)
					    << "; weaken it, or list it");
				CHECK(orders::found(of_this, w));
			}
		}
	}
	CHECK(tried >= (visits_widths ? 20 : 70));
	CHECK(tags_tried.size() >= (visits_widths ? 5 : 10));
	for (const auto &[file, of_file] : tags_tried) {
		INFO("every tag of " << file);
		CHECK(of_file == tags(file));
	}
}

/* All clients look for it, in vain: half of the time of the orders above. */
TEST_CASE("orders_needed: what is kept with a reason is found by nothing",
	  "[deep]")
{
	std::set<std::string> survivors;

	if (visits_widths)
		return;
	for (const kind &k : tested<3>()) {
		const auto of_this = [&k](const options &how, visit enough) {
			return clients(k, how, enough);
		};
		for (const use &u : orders::uses(of_this))
			for (const weakening &w : model::weakenings(u))
				if (is_kept(w) && !orders::found(of_this, w))
					survivors.insert(spelt(w));
	}
	for (const kept &k : kept_orders) {
		INFO(k.what << " is listed, but found: " << k.why);
		CHECK(survivors.count(k.what) == 1);
	}
}
