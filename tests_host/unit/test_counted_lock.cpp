/* SPDX-License-Identifier: MIT */
/*
 * counted_lock: what is counted of any lock, and print_counts: the table.
 */
#include <klock/checked_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/print_counts.hpp>
#include <klock/queued_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/selftest/locks.hpp>

#include "counted.hpp"
#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

#include <cstring>
#include <thread>
#include <vector>

using namespace klock;
using unit::all_counts;
using unit::all_of_table;
using unit::listed;
using unit::table;

namespace {

using ticket = ticket_lock<u8>;
using counted = counted_lock<ticket, "queue">;

/* Another waits for it, once: as long as it takes. */
template <typename L>
void contend(L &lock)
{
	lock.lock();
	std::thread other([&] {
		lock.lock();
		lock.unlock();
	});
	while (!lock.is_contended())
		std::this_thread::yield();
	lock.unlock();
	other.join();
}

/* Figures as they are wished for. */
struct figures {
	figures(const char *name, u32 element, unsigned taken,
		std::vector<u64> cycles)
	{
		counts.set_name(name, element);
		counts.list(waits, nullptr);
		for (unsigned i = 0; i < taken; i++)
			counts.count();
		for (u64 wait : cycles) {
			counts.prepare(waits, nullptr);
			waits.count(wait);
		}
	}
	~figures() { counted_locks.remove(counts); }
	figures(const figures &) = delete;
	figures &operator=(const figures &) = delete;

	lock_counts counts;
	wait_counts waits;
};

} // namespace

TEST_CASE("counted_lock: sizes; nothing where nothing is counted")
{
	static_assert(sizeof(counted) == 2 * cache_line);
	static_assert(sizeof(counted_lock<mcs_lock>) == 2 * cache_line);
	static_assert(same_as<counted_if<false, ticket, "queue">, ticket>);
	static_assert(same_as<counted_if<true, ticket, "queue">, counted>);
	static_assert(counted::max_contenders == ticket::max_contenders);
	/* Readers share these; the last has a line for each of 8 CPUs. */
	static_assert(sizeof(counted_lock<rw_ticket_lock<u8>>) <=
		      6 * cache_line);
	static_assert(sizeof(counted_lock<reader_lock<8>>) <=
		      sizeof(reader_lock<8>) + (8 + 5) * cache_line);
}

TEST_CASE("counted_lock: zero bytes are free and never counted")
{
	static constinit counted lock;

	CHECK(unit::all_zero(lock));
	CHECK_FALSE(lock.is_locked());
	CHECK(all_counts().empty());
}

TEST_CASE("counted_lock: who finds it free is counted, and is not in the table")
{
	counted lock;

	for (int i = 0; i < 3; i++)
		guard held(lock);
	REQUIRE(lock.try_lock());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
	CHECK(all_counts().empty());
	lock.list_counts();
	lock.list_counts();
	REQUIRE(all_counts().size() == 1);
	const count_view one = all_counts()[0];

	CHECK(one.acquired == 4);
	CHECK(one.contended == 0);
	CHECK(one.longest_wait == 0);
	CHECK(one.label.name == std::string("queue"));
	lock.forget_counts();
}

TEST_CASE("counted_lock: who waits is counted, by itself")
{
	counted lock;
	const u64 begin = cycles();

	contend(lock);
	REQUIRE(all_counts().size() == 1);
	contend(lock);
	const count_view one = all_counts()[0];

	CHECK(one.acquired == 4);
	CHECK(one.contended == 2);
	CHECK(one.waited > one.longest_wait);
	CHECK(one.waited <= cycles() - begin);
	CHECK(one.longest_wait > 0);
	CHECK(one.held == 0);
	forget_counts(lock);
	CHECK(all_counts().empty());
}

TEST_CASE("counted_lock: how long it is held")
{
	counted_lock<hold_times<ticket>, "queue"> lock;
	const u64 begin = cycles();

	for (int i = 0; i < 2; i++) {
		guard held(lock);
		const u64 from = cycles();

		while (cycles() - from < 1000)
			;
	}
	/* In the table, though nobody waited; and no longer than it was. */
	REQUIRE(all_counts().size() == 1);
	CHECK(all_counts()[0].held >= 2000);
	CHECK(all_counts()[0].held <= cycles() - begin);
	contend(lock);
	const count_view one = all_counts()[0];
	const u64 all = cycles() - begin;

	CHECK(one.acquired == 4);
	CHECK(one.longest_hold >= 1000);
	CHECK(one.held >= one.longest_hold + 1000);
	CHECK(one.held <= all);

	const u64 reset = cycles();
	reset_counts();
	lock.lock();
	lock.unlock();
	CHECK(all_counts()[0].held > 0);
	CHECK(all_counts()[0].held <= cycles() - reset);
	CHECK(all_counts()[0].longest_hold == all_counts()[0].held);
	lock.forget_counts();
}

TEST_CASE("counted_lock: any lock with a try_lock, in any other around it")
{
	unsigned locks = 0;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using lock = typename Subject::lock;

		if constexpr (try_lockable<lock>) {
			static counted_lock<lock, "inside"> it;
			static irq_lock<counted_lock<lock>> in_irqs;
			static irq_lock<checked_if<true, counted_lock<lock>>>
				both;

			INFO(Subject::name);
			static_assert(counted_lock<lock>::max_contenders ==
				      lock::max_contenders);
			for (int i = 0; i < 2; i++) {
				guard held(it);
				irq_guard first(in_irqs);
				irq_guard second(both);
				CHECK(it.is_locked());
			}
			both.set_name("outside", 3);
			it.list_counts();
			in_irqs.list_counts();
			both.list_counts();
			for (const count_view &one : all_counts())
				CHECK(one.acquired == (one.shared ? 0 : 2));
			CHECK(all_counts().size() ==
			      (shared_lockable<lock> ? 6 : 3));
			CHECK(all_of_table().find("outside[3]\n") !=
			      std::string::npos);
			forget_counts(it);
			in_irqs.forget_counts();
			both.forget_counts();
			CHECK(all_counts().empty());
			locks++;
		}
	});
	CHECK(locks > 10);
}

TEST_CASE("counted_lock: what waits until a deadline, or at a pace")
{
	listed<counted_lock<timeout_lock<2>, "timed">> timed;
	listed<counted_lock<proportional_ticket_lock<u8>, "paced">> paced;

	listed<counted_lock<ticket, "at a pace">> at_a_pace;
	listed<counted_lock<queued_lock<2>, "queued">> queued;
	u64 acquired = 0;

	timed.lock(0);
	CHECK_FALSE(timed.try_lock_for(1, 1000));
	timed.unlock(0);
	CHECK(timed.try_lock_for(1, 1000));
	timed.unlock(1);
	paced.lock();
	paced.unlock();
	at_a_pace.lock_paced([](u8) { return 1u; });
	at_a_pace.unlock();
	queued.lock_from(0);
	queued.unlock();
	/* All were free, but where it gave up. */
	for (const count_view &one : all_counts()) {
		CHECK(one.contended == 0);
		acquired += one.acquired;
	}
	CHECK(acquired == 5);
}

TEST_CASE("print_counts: the worst first, each once, and names in all")
{
	figures log("log", 0, 2, {9000, 21});
	figures third("runqueue", 4, 3, {40, 60});
	figures first("runqueue", 2, 0, {88121774});
	figures idle("idle", 0, 7, {});

	CHECK(table() ==
	      std::vector<std::string>{
		      "    acquired    contended of 1000          waited"
		      "     longest lock",
		      "           1            1    1000        88121774"
		      "    88121774 runqueue[1]",
		      "           4            2     500            9021"
		      "        9000 log",
		      "           5            2     400             100"
		      "          60 runqueue[3]",
		      "           7            0       0               0"
		      "           0 idle",
		      "    all of one name:",
		      "           6            3     500        88121874"
		      "    88121774 2 runqueue"});
}

TEST_CASE("print_counts: large figures, and how long a lock was held")
{
	figures big("big", 0, 0, {1, 12345678901234567890u});

	for (int i = 0; i < 1000; i++)
		big.waits.begin_hold(), big.waits.end_hold();
	const std::string line = table()[1];

	INFO(line);
	CHECK(line.find(" 12345678901234567891 12345678901234567890 big; "
			"held ") != std::string::npos);
	CHECK(line.find(", longest ") != std::string::npos);
	/* A third of what is beyond 32 bits. */
	CHECK(detail::per_mille(u64{1} << 40, u64{3} << 40) == 333);
	CHECK(detail::per_mille(~u64{0}, ~u64{0}) == 1000);
	CHECK(detail::per_mille(0, 0) == 0);
}

TEST_CASE("print_counts: of one name: all holds, and the longest; or no name")
{
	figures a("held", 0, 0, {1}), b("held", 0, 0, {2}),
		c("held", 0, 0, {3});
	figures none(nullptr, 0, 1, {}), other(nullptr, 0, 1, {});
	unsigned names = 0;

	a.waits.held.add(100), a.waits.longest_hold.store_relaxed(70);
	b.waits.held.add(200), b.waits.longest_hold.store_relaxed(90);
	c.waits.held.add(300), c.waits.longest_hold.store_relaxed(80);
	CHECK(for_each_total([&](const count_view &one) {
		names++;
		CHECK(one.locks == (one.label.name ? 3 : 2));
		CHECK(one.held == (one.label.name ? 600 : 0));
		CHECK(one.longest_hold == (one.label.name ? 90 : 0));
	}));
	CHECK(names == 2);
}

TEST_CASE("print_counts: one at a time")
{
	figures one("one", 0, 1, {5});
	std::vector<std::string> inner;

	print_counts([&](const char *) {
		if (inner.empty())
			inner = table();
	});
	CHECK(inner.size() > 1);
	inner.clear();
	unsigned lines = 0;
	print_counts([&](const char *) {
		if (++lines == 2)
			inner = table();
	});
	CHECK(lines == 2);
	REQUIRE(inner.size() == 2);
	CHECK(inner[1] == "another prints them just now");
	CHECK(table().size() == 2);
}

TEST_CASE("print_counts: a reset, and what is counted after it")
{
	/* The last before the number of resets wraps. */
	counted_locks.epoch.store_relaxed(~u32{0});
	figures one("one", 0, 5, {70, 30});
	figures two("two", 0, 1, {10});

	one.counts.count();
	reset_counts();
	for (const count_view &of : all_counts()) {
		CHECK(of.acquired == 0);
		CHECK(of.contended == 0);
		CHECK(of.longest_wait == 0);
	}
	one.counts.count();
	one.counts.prepare(one.waits, nullptr);
	one.waits.count(20);
	const count_view now = all_counts()[0];

	CHECK(now.lock == &one.counts);
	CHECK(now.acquired == 2);
	CHECK(now.contended == 1);
	CHECK(now.waited == 20);
	CHECK(now.longest_wait == 20);
}

TEST_CASE("counted_lock: gone from the table, wherever it stood")
{
	for (int gone = 0; gone < 3; gone++) {
		figures a("a", 0, 1, {3}), b("b", 0, 1, {2}), c("c", 0, 1, {1});
		figures *all[] = {&a, &b, &c};

		counted_locks.remove(all[gone]->counts);
		counted_locks.remove(all[gone]->counts);
		CHECK(all_counts().size() == 2);
		for (const count_view &one : all_counts())
			CHECK(one.lock != &all[gone]->counts);
		all[gone]->counts.list(all[gone]->waits, nullptr);
		CHECK(all_counts().size() == 3);
	}
	CHECK(all_counts().empty());
}

TEST_CASE("counted_lock: what says that it is in the table, and is not")
{
	lock_counts lone;

	lone.listed.store_relaxed(1);
	counted_locks.remove(lone);
	CHECK(lone.listed.load_relaxed() == 0);
	/* The first print's mark is none of zero bytes'. */
	static constinit counts_list fresh;
	CHECK(fresh.number_of_print() != lone.printed.load_relaxed());
}

TEST_CASE("print_counts: memory that was used again does not hold it up")
{
	figures a("a", 0, 1, {3}), b("b", 0, 1, {2});

	/* Zeroed, and in the list once more: it follows itself. */
	a.counts.listed.store_relaxed(0);
	a.counts.list(a.waits, nullptr);
	CHECK(table().size() >= 2);
	b.counts.next.store_relaxed(nullptr);
	a.counts.next.store_relaxed(&b.counts);
}
