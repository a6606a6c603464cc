/* SPDX-License-Identifier: MIT */
/*
 * The cost of a read and a write of a seq_lock, alone and beside a thousand
 * other readers; and of a seq_latch.
 */
#include <sim/measure.hpp>

#include <klock/guard.hpp>
#include <klock/plain.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

namespace of_sequences {

using namespace klock;
using namespace sim;

namespace {

struct two {
	u64 a, b;
};
constexpr u64 a_value = 2; /* its words */

struct locked {
	alignas(klock::cache_line) seq_lock<two> lock;
};

/* One CPU's part, with the line in its cache already. */
template <typename What>
counts alone(What what)
{
	world<locked> w;
	simulator s(round_figures, 1);
	counts before;

	s.run([&](unsigned) {
		w->lock.write({1, 1});
		before = s.total();
		what(w->lock);
	});
	return s.total().since(before);
}

/* Cycles of the slowest of so many who read at once, again and again. */
template <typename World, typename Read>
u64 slowest_read(unsigned cpus, Read read)
{
	world<World> w;
	simulator s(round_figures, cpus);
	u64 slowest = 0;

	const outcome out = s.run([&](unsigned) {
		(void)read(*w);
		sleep_until(1'000'000);
		for (int i = 0; i < 10; i++) {
			const u64 before = now();

			(void)read(*w);
			const u64 taken = now() - before;
			slowest = taken > slowest ? taken : slowest;
		}
	});
	INFO(out.stuck);
	CHECK(out.finished);
	return slowest;
}

} // namespace

TEST_CASE("seq_lock: costs: a read writes nothing, a write is one RMW")
{
	const counts read = alone([](auto &lock) { (void)lock.read(); });
	const counts try_read = alone([](auto &lock) {
		two t;
		(void)lock.try_read(t);
	});
	const counts write = alone([](auto &lock) { lock.write({2, 2}); });
	const counts update =
		alone([](auto &lock) { lock.update([](two &t) { t.a++; }); });

	for (const counts &it : {read, try_read}) {
		CHECK(it.loads == 2 + a_value);
		CHECK(it.stores == 0);
		CHECK(it.rmws == 0);
		CHECK(it.fences == 0);
		CHECK(it.misses == 0);
	}
	CHECK(write.loads == 1);
	CHECK(update.loads == 1 + a_value);
	for (const counts &it : {write, update}) {
		CHECK(it.stores == 1 + a_value);
		CHECK(it.rmws == 1);
		CHECK(it.fences == 0);
		CHECK(it.misses == 0);
	}
}

TEST_CASE("seq_lock: costs: a thousand readers take no longer than one")
{
	const auto read = [](locked &w) { return w.lock.read(); };
	struct guarded {
		alignas(klock::cache_line) ticket_lock<u16> lock;
		plain<u64> a;
	};
	const auto by_lock = [](guarded &w) {
		guard held(w.lock);
		return w.a.get();
	};

	CHECK(slowest_read<locked>(1, read) == 2 + a_value);
	CHECK(slowest_read<locked>(1024, read) == 2 + a_value);
	/* The saving. */
	CHECK(slowest_read<guarded>(64, by_lock) >
	      64 * slowest_read<guarded>(1, by_lock));
}

TEST_CASE("seq_lock: costs: after a write each reader misses once")
{
	constexpr unsigned cpus = 256;
	world<locked> w;
	simulator s(round_figures, cpus);

	const outcome out = s.run([&](unsigned cpu) {
		if (cpu == 0) {
			sleep_until(1'000'000);
			w->lock.write({1, 1});
			return;
		}
		(void)w->lock.read();
		sleep_until(2'000'000);
		for (int i = 0; i < 3; i++)
			(void)w->lock.read();
	});
	CHECK(out.finished);
	for (unsigned cpu = 1; cpu < cpus; cpu++)
		CHECK(s.of(cpu).misses == 2);
	CHECK(s.of(0).misses <= 2);
	CHECK(s.of(0).sent == cpus - 1);
}

TEST_CASE("seq_latch: costs: a read is a seq_lock's, a write has no RMW")
{
	struct latched {
		alignas(klock::cache_line) seq_latch<two> latch;
	};
	world<latched> w;
	simulator s(round_figures, 1);
	counts before, read, write;

	s.run([&](unsigned) {
		w->latch.write({1, 1});
		before = s.total();
		(void)w->latch.read();
		read = s.total().since(before);
		before = s.total();
		w->latch.write({2, 2});
		write = s.total().since(before);
	});
	CHECK(read.loads == 2 + a_value);
	CHECK(read.stores == 0);
	CHECK(write.loads == 1);
	CHECK(write.stores == 2 + 2 * a_value);
	CHECK(write.rmws == 0);
	CHECK(read.fences + write.fences == 0);
}

} // namespace of_sequences
