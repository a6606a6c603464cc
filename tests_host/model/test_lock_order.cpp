/* SPDX-License-Identifier: MIT */
/*
 * lock_order: of those who close a cycle at the same time exactly one reports,
 * in every execution; each rule that this stands on is needed.
 */
#include <klock/lock_order.hpp>

#include "orders.hpp"

#include <catch.hpp>

using namespace klock;
using model::check;
using model::options;
using model::result;

namespace {

/* How an edge is learned; the second to last are how not to. */
enum class way { right, no_second_look, no_lock };

struct edge {
	u32 from, to;
	bool by_address = false;
};

/* What one CPU sees, one after another. */
using sights = std::vector<edge>;

struct learned_world {
	lock_order_memory<4, 1> memory;
	unsigned reports = 0; /* on the host */

	void see(const edge &e, way how)
	{
		const order_learning known = memory.learning();

		if (known.is_known(e.from, e.to, e.by_address))
			return;
		if (how == way::right)
			known.learn({e.from, e.to, {}, {}, 0, e.by_address},
				    [this](auto &&...) { reports++; });
		else if (how == way::no_second_look)
			set_and_search(known, e, true);
		else
			set_and_search(known, e, false);
	}

	static bool closes(const order_learning &known, const edge &e)
	{
		return known.graph.find(e.to, true,
					[&e](u32 at) { return at == e.from; });
	}

	void set_and_search(const order_learning &known, const edge &e,
			    bool locked)
	{
		if (locked)
			known.busy->lock();
		/* Each CPU's search has scratch of its own, or it would be
		 * found for its races alone. */
		plain<u8> route[8], queue[4], came_from[4];
		order_learning mine = known;
		mine.graph.route = route;
		mine.graph.queue = queue;
		mine.graph.came_from = came_from;
		(void)known.graph.seen_after(e.from).words[0].fetch_or_acq_rel(
			usize{1} << e.to);
		reports += closes(mine, e);
		if (locked)
			known.busy->unlock();
	}
};

/* Each CPU sees its edges. least .. most reports an execution. */
result all_see(options how, const std::vector<sights> &of, unsigned least,
	       unsigned most, way by = way::right)
{
	how.sections.assign(of.size(), 1);
	return model::explore<learned_world>(
		how,
		[&of, by](learned_world &w, unsigned cpu) {
			for (const edge &e : of[cpu])
				w.see(e, by);
		},
		[least, most](learned_world &w) {
			check(w.reports >= least, "missed");
			check(w.reports <= most, "said twice");
		});
}

const sights ab = {{0, 1}}, ba = {{1, 0}}, bc = {{1, 2}}, ca = {{2, 0}},
	     ac = {{0, 2}};
const sights pair_ab = {{0, 1, true}}, pair_ba = {{1, 0, true}};

void passes(const result &r)
{
	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete > 1);
}

} // namespace

TEST_CASE("lock_order: two CPUs that close a cycle: exactly one says so")
{
	passes(all_see({}, {ab, ba}, 1, 1));
	passes(all_see({}, {ab, ba, ab}, 1, 1));
	passes(all_see({}, {ab, ba, ba}, 1, 1));
}

TEST_CASE("lock_order: three CPUs that close a cycle: exactly one says so")
{
	passes(all_see({}, {ab, bc, ca}, 1, 1));
	passes(all_see({}, {ab, bc, ca, ca}, 1, 1));
}

TEST_CASE("lock_order: without a cycle nobody says anything")
{
	passes(all_see({}, {ab, ab}, 0, 0));
	passes(all_see({}, {ab, bc, ac}, 0, 0));
	passes(all_see({}, {ab, bc, ac, ab}, 0, 0));
}

TEST_CASE("lock_order: pairs by address close a cycle with another alone")
{
	passes(all_see({}, {pair_ab, pair_ba, pair_ab}, 0, 0));
	passes(all_see({}, {pair_ab, ba, pair_ab}, 1, 1));
	passes(all_see({}, {pair_ab, pair_ba, ab}, 1, 1));
}

TEST_CASE("lock_order: without a second look two say it")
{
	CHECK_FALSE(all_see({}, {ab, ba, ba}, 1, 1, way::no_second_look).ok());
	passes(all_see({}, {ab, ba, ba}, 1, 2, way::no_second_look));
}

TEST_CASE("lock_order: without the lock nobody says it")
{
	const result r = all_see({}, {ab, ba}, 1, 2, way::no_lock);

	CHECK(r.message.find("missed") != std::string::npos);
}

/* -- Interrupts ----------------------------------------------------------- */

namespace {

/* A handler of CPU 0 waits for 0, 0 comes before 1, 1 is held with them on. */
result three_parts(const options &how, bool second)
{
	return model::explore<learned_world>(
		how,
		[second](learned_world &w, unsigned cpu) {
			const order_learning known = w.memory.learning();
			const auto found = [&w](finding what, u32 length,
						auto &) {
				check(what == finding::inversion, "what");
				check(length == 2, "the way");
				w.reports++;
			};

			if (cpu == 0)
				known.learn_handler(0, false, {}, found);
			else if (cpu == 1)
				known.learn({0, 1, {}, {}, 0, false}, found);
			else if (second || cpu == 2)
				known.learn_open(1, false, {}, found);
		},
		[](learned_world &w) { check(w.reports == 1, "once"); });
}

} // namespace

TEST_CASE("lock_order: the three parts of an inversion, at the same time")
{
	passes(three_parts({.sections = {1, 1, 1}}, false));
	passes(three_parts({.sections = {1, 1, 1, 1}}, true));
}

/* -- Each order is needed ------------------------------------------------- */

TEST_CASE("lock_order: the orders of its lock are needed, and no others")
{
	const auto clients = [](const options &how, auto enough) {
		return enough(all_see(how, {ab, ba}, 1, 1)) ||
		       enough(all_see(how, {ab, bc, ca}, 1, 1));
	};
	unsigned tried = 0;

	for (const orders::use &u : orders::uses(clients)) {
		const auto weaker = model::weakenings(u);

		if (!weaker.empty()) {
			INFO(u.file);
			CHECK(u.file.ends_with("/tas_lock.hpp"));
		}
		for (const auto &w : weaker) {
			INFO("nothing finds " << orders::spelt(w));
			CHECK(orders::found(clients, w));
			tried++;
		}
	}
	CHECK(tried == 2);
}
