/* SPDX-License-Identifier: MIT */
/*
 * The engine against cases worked by hand. Figures are round_figures': hit 1,
 * memory 200, owned 60, shared 40, invalidate 3.
 */
#include "hand.hpp"

#include <catch.hpp>

using namespace klock;
using namespace sim;

TEST_CASE("coherence: a line goes I, E, M, S as MESI says, at its price")
{
	world<padded> x;
	simulator s(round_figures, 2);
	u64 load = 0, store = 0, others_load = 0, upgrade = 0, others_store = 0;
	std::vector<mesi> seen;
	const auto see = [&] {
		seen.push_back(s.state(&*x, 0));
		seen.push_back(s.state(&*x, 1));
	};

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			load = cost([&] { (void)x->a.load_relaxed(); });
			see();
			store = cost([&] { x->a.store_relaxed(1); });
			see();
			sleep_until(2000);
			upgrade = cost([&] { x->a.store_relaxed(2); });
			see();
			return;
		}
		sleep_until(1000);
		others_load = cost([&] { (void)x->a.load_relaxed(); });
		see();
		sleep_until(3000);
		others_store = cost([&] { x->a.store_relaxed(3); });
		see();
	});

	CHECK(load == 200);	   /* from memory */
	CHECK(store == 1);	   /* E to M: a hit */
	CHECK(others_load == 60);  /* from the owner */
	CHECK(upgrade == 40 + 3);  /* takes the one other copy */
	CHECK(others_store == 63); /* from the owner, who loses it */
	using enum mesi;
	CHECK(seen == std::vector{exclusive, invalid, modified, invalid, shared,
				  shared, modified, invalid, invalid,
				  modified});

	CHECK(s.of(0) == counts{.loads = 1,
				.stores = 2,
				.misses = 2,
				.memory = 1,
				.upgrades = 1,
				.sent = 1,
				.received = 1});
	CHECK(s.of(1) == counts{.loads = 1,
				.stores = 1,
				.misses = 2,
				.transfers = 2,
				.sent = 1,
				.received = 1});
	CHECK(x->a.load_relaxed() == 3);
}

TEST_CASE("coherence: a broadcast to k sharers costs the writer k "
	  "invalidations, and each of them a miss")
{
	const unsigned k = GENERATE(1u, 7u, 63u, 1000u);
	world<padded> x;
	simulator s(round_figures, k + 1);
	u64 wrote = 0;

	s.run([&](unsigned cpu) {
		sleep_until(cpu == 0 ? 1'000'000 : 10'000 + cpu * 100);
		if (cpu == 0) {
			wrote = cost([&] { x->a.store_relaxed(1); });
			return;
		}
		(void)x->a.load_relaxed();
		sleep_until(2'000'000);
		(void)x->a.load_relaxed();
	});
	const u64 from = k == 1 ? 60 + 3 : 40 + 3 * k; /* E, or S */
	CHECK(wrote == from);
	CHECK(s.of(0).sent == k);
	CHECK(s.total().received == k);
	CHECK(s.total().misses == k + 1 + k);
}

TEST_CASE("coherence: a line serves one request at a time, in their order")
{
	world<padded> x;
	simulator s(round_figures, 4);
	u64 done[4];

	s.run([&](unsigned cpu) {
		sleep_until(100 + cpu); /* all before the first is served */
		x->a.fetch_add_relaxed(1);
		done[cpu] = now();
	});
	/* Memory, then owner to owner; a read-modify-write takes 5 more. */
	CHECK(done[0] == 100 + 200 + 5);
	CHECK(done[1] == 100 + 200 + 63 + 5);
	CHECK(done[2] == 100 + 200 + 2 * 63 + 5);
	CHECK(done[3] == 100 + 200 + 3 * 63 + 5);
	CHECK(x->a.load_relaxed() == 4);
}

TEST_CASE("coherence: readers of a shared line overlap by next_copy")
{
	machine overlapping = round_figures;
	overlapping.next_copy = 8;
	const machine m = GENERATE_COPY(round_figures, overlapping);
	world<padded> x;
	simulator s(m, 4);
	u64 done[4];

	s.run([&](unsigned cpu) {
		sleep_until(cpu == 0 ? 0 : 1000);
		(void)x->a.load_relaxed();
		done[cpu] = now();
	});
	CHECK(done[1] == 1000 + 60);
	CHECK(done[2] == 1000 + 60 + 40);
	CHECK(done[3] == 1000 + 60 + m.next_copy + 40);
}

TEST_CASE("coherence: false sharing: neighbours on a line take it from each "
	  "other, padded ones do not")
{
	constexpr unsigned times = 100;
	world<packed> together;
	world<padded> apart;
	simulator packed_run(round_figures, 2), padded_run(round_figures, 2);
	const auto count_in = [](auto &where) {
		return [&where](unsigned cpu) {
			auto &mine = cpu == 0 ? where->a : where->b;

			for (unsigned i = 0; i < times; i++) {
				mine.store_relaxed(i);
				work(70); /* the other's turn, each time */
			}
		};
	};

	packed_run.run(count_in(together));
	padded_run.run(count_in(apart));
	CHECK(padded_run.total().misses == 2);
	CHECK(padded_run.total().sent == 0);
	CHECK(packed_run.total().misses == 2 * times);
	CHECK(packed_run.total().sent == 2 * times - 1);
}

TEST_CASE("coherence: across the link a line costs the link's price")
{
	machine two = round_figures;
	two.sockets = 2;
	world<padded> x;
	simulator s(two, 4); /* 0 and 1, 2 and 3 */
	u64 near = 0, far = 0, near_copy = 0, taken = 0;

	s.run([&](unsigned cpu) {
		sleep_until(1000 * cpu);
		switch (cpu) {
		case 0:
			x->a.store_relaxed(1);
			sleep_until(5000);
			taken = cost([&] { x->a.store_relaxed(2); });
			break;
		case 1:
			near = cost([&] { x->a.store_relaxed(1); });
			break;
		case 2:
			far = cost([&] { (void)x->a.load_relaxed(); });
			break;
		case 3:
			near_copy = cost([&] { (void)x->a.load_relaxed(); });
			break;
		}
	});
	CHECK(near == 63);
	CHECK(far == 160);
	CHECK(near_copy == 40);	     /* its neighbour has one */
	CHECK(taken == 140 + 3 * 3); /* of 1, 2 and 3 two are far */
}

TEST_CASE("coherence: plain data costs what it costs, on every line it is on")
{
	struct wide {
		u8 bytes[200];
	};
	struct alignas(64) holder {
		plain<wide> value;
	};
	world<holder> x;
	simulator s(round_figures, 1);

	s.run([&](unsigned) { x->value.set({}); });
	CHECK(s.of(0).stores == 1);
	CHECK(s.of(0).memory == 4);
}
