/* SPDX-License-Identifier: MIT */
/*
 * The engine against cases worked by hand. Figures are round_figures': hit 1,
 * memory 200, owned 60, shared 40, invalidate 3.
 */
#include <sim/measure.hpp>

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/plain.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include <string>
#include <vector>

/* Two counters on one line, and on a line each. */
struct alignas(klock::cache_line) packed {
	klock::atomic<klock::u32> a;
	klock::atomic<klock::u32> b;
};

struct padded {
	alignas(klock::cache_line) klock::atomic<klock::u32> a;
	alignas(klock::cache_line) klock::atomic<klock::u32> b;
};

/* The cycles that it takes the CPU that runs this. */
template <typename What>
klock::u64 cost(What what)
{
	const klock::u64 before = sim::now();

	what();
	return sim::now() - before;
}

inline bool contains(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

namespace of_coherence {

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

} // namespace of_coherence

namespace of_waits {

/*
 * Waits against cases worked by hand, and runs that cannot end. Figures are
 * round_figures': hit 1, PAUSE 10, memory 200, owned 60, invalidate 3.
 */

using namespace klock;
using namespace sim;

TEST_CASE("waits: a parked CPU looks again when it would have looked")
{
	/* First look: 0 to 200. Then at 210, 221, 232, ... 496, 507 ... */
	const u64 written = GENERATE(497u, 500u, 507u);
	world<padded> x;
	simulator s(round_figures, 2);
	u64 freed = 0;

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			x->a.await_eq_relaxed(1);
			freed = now();
			return;
		}
		sleep_until(written);
		x->a.store_relaxed(1);
	});
	/* It asks at 507, behind the store, which takes 63. */
	CHECK(freed == written + 63 + 60);
	CHECK(s.of(0).misses == 2);
	CHECK(s.of(0).loads == 1 + 27 + 1);
	CHECK(s.of(0).received == 1);
}

TEST_CASE("waits: a neighbour's write wakes a waiter, in vain")
{
	world<packed> x;
	simulator s(round_figures, 2);

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			x->a.await_eq_relaxed(1);
			return;
		}
		for (unsigned i = 1; i <= 5; i++) {
			sleep_until(1000 * i);
			x->b.store_relaxed(i);
		}
		sleep_until(9000);
		x->a.store_relaxed(1);
	});
	CHECK(s.of(0).misses == 1 + 5 + 1);
}

TEST_CASE("waits: await_exchange owns the line between two tries")
{
	world<padded> x;
	simulator s(round_figures, 2);

	x->a.store_relaxed(1);
	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			x->a.await_exchange_acquire(
				1, [](u32 found) { return found == 0; });
			return;
		}
		sleep_until(10'000);
		(void)x->a.load_relaxed(); /* takes the right to write */
		sleep_until(20'000);
		x->a.store_relaxed(0);
	});
	/* Misses: from memory, after the read, after the store. */
	CHECK(s.of(0).misses == 3);
	CHECK(s.of(0).upgrades == 1);
	/* A try takes 16 cycles: hit, read-modify-write, PAUSE. */
	CHECK(s.of(0).rmws > 20'000 / 16 - 30);
	CHECK(s.of(0).rmws < 20'000 / 16);
}

TEST_CASE("waits: await_either ends by either of two lines")
{
	const bool second = GENERATE(false, true);
	world<padded> x;
	simulator s(round_figures, 2);
	u64 freed = 0;

	const outcome out = s.run([&](unsigned cpu) {
		const auto is_1 = [](u32 v) { return v == 1; };

		if (cpu == 0) {
			x->a.await_either_acquire(is_1, x->b, is_1);
			freed = now();
			return;
		}
		sleep_until(5000);
		(second ? x->b : x->a).store_relaxed(1);
	});
	CHECK(out.finished);
	CHECK(freed >= 5000 + 63 + 60);
	CHECK(freed < 5000 + 63 + 60 + 13); /* a turn: two hits, a PAUSE */
	CHECK(s.of(0).misses == 3);
}

TEST_CASE("waits: a pace is kept, whatever happens to the line")
{
	world<padded> x;
	simulator s(round_figures, 2);
	u64 freed = 0;
	u32 asked = 0;

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			x->a.await_paced_relaxed([](u32 v) { return v == 1; },
						 [&](u32) {
							 asked++;
							 return 100u;
						 });
			freed = now();
			return;
		}
		sleep_until(1000);
		x->a.store_relaxed(1);
	});
	/* Looks at 0 (200), at 1200: the pause of 1000 is slept to its end. */
	CHECK(asked == 1);
	CHECK(freed == 200 + 1000 + 60);
}

TEST_CASE("waits: patience is counted in looks, and held up by nothing else")
{
	world<packed> x;
	simulator s(round_figures, 2);
	u64 ended = 0;
	u32 found = 9;
	/* 1 may be looked at five times in vain; 0 ends by its change alone. */
	const auto patience = [](u32 v) { return v == 1 ? 5u : endless; };

	SECTION("parked while it is endless, then five looks")
	{
		s.run([&](unsigned cpu) {
			if (cpu == 0) {
				found = x->a.await_patient_relaxed(patience);
				ended = now();
				return;
			}
			sleep_until(5000);
			x->a.store_relaxed(1);
		});
		CHECK(found == 1);
		/* The look that finds it, and five turns of 10 and a hit. */
		CHECK(ended >= 5000 + 63 + 60 + 5 * 11);
		CHECK(ended < 5000 + 63 + 60 + 6 * 11);
		CHECK(s.of(0).misses == 2);
	}
	SECTION("a neighbour's write is no change of the value")
	{
		x->a.store_relaxed(1);
		s.run([&](unsigned cpu) {
			if (cpu == 0) {
				found = x->a.await_patient_relaxed(patience);
				ended = now();
				return;
			}
			sleep_until(220);
			x->b.store_relaxed(1);
		});
		CHECK(found == 1);
		CHECK(s.of(0).loads == 1 + 5);
		CHECK(s.of(0).misses == 2);
	}
}

TEST_CASE("waits: a deadline is one of the CPU's own clock")
{
	world<packed> x;
	simulator s(round_figures, 2);
	u64 ended = 0, began = 0;
	u32 found = 9;
	const u64 written = GENERATE(u64{300}, u64{9000});

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			began = now();
			found = x->a.await_until_acquire(
				[](u32 v) { return v == 1; }, 1000);
			ended = now();
			return;
		}
		sleep_until(written);
		x->a.store_relaxed(1);
	});
	CHECK(began < 1000);
	CHECK(found == (written < 1000));
	CHECK((ended >= 1000) == (written > 1000));
	/* The look that finds it out ends within a turn of 11. */
	CHECK(ended < 1000 + 11);
}

TEST_CASE("waits: everybody parked is a report of who waits for what")
{
	world<padded> x;
	simulator s(round_figures, 3);

	const outcome out = s.run([&](unsigned cpu) {
		if (cpu == 0)
			x->a.await_eq_relaxed(7);
		if (cpu == 1)
			x->b.await_exchange_acquire(1,
						    [](u32) { return false; });
	});
	INFO(out.stuck);
	CHECK_FALSE(out.finished);
	CHECK(contains(out.stuck, "nobody is left to end it"));
	CHECK(contains(out.stuck, "cpu 0 reads line 1 (E in its cache"));
	CHECK(contains(out.stuck, "cpu 1 exchanges line 2 (M"));
	CHECK(contains(out.stuck, "test_coherence.cpp:"));
	CHECK_FALSE(contains(out.stuck, "cpu 2"));
}

namespace {

/* Two that never let go: one waits by reading, one by exchanging. */
struct reader {
	void lock()
	{
		taken.await_eq_relaxed(0);
		taken.store_relaxed(1);
	}
	void unlock() {}

	atomic<u8> taken;
};

struct exchanger : tas_lock {
	void unlock() {}
};

} // namespace

TEST_CASE("waits: one CPU alone has a time at its end, too")
{
	const figures f = measure<ticket_lock<u8>>(
		"", round_figures,
		{.cpus = 1, .inside = 100, .think = 1, .acquisitions = 16});

	/* 1 + 100, an RMW's 5 and a handful of hits. */
	CAPTURE(f.cycles);
	CHECK(f.cycles > 101);
	CHECK(f.cycles < 120);
}

TEST_CASE("waits: a lock that nobody lets go is found, parked or trying")
{
	const workload w = {.cpus = 8, .patience = 1'000'000};

	SECTION("by reading")
	{
		const figures f = measure<reader>("", round_figures, w);

		CHECK(contains(f.stuck, "nobody is left to end it"));
	}
	SECTION("by exchanging, each from each other, for ever")
	{
		const figures f = measure<exchanger>("", round_figures, w);

		CHECK(contains(f.stuck, "no progress"));
		CHECK(contains(f.stuck, "exchanges line"));
	}
}

} // namespace of_waits
