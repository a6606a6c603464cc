/* SPDX-License-Identifier: MIT */
/*
 * counted_lock: what it counts, and prints.
 */
#include <klock/checked_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/padded_ticket_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/print_counts.hpp>
#include <klock/queued_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>

#include "../widths.hpp"
#include "counted.hpp"
#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

#include <atomic>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>
using unit::all_counts;
using unit::all_of_table;
using unit::listed;
using unit::table;
using namespace klock;

namespace {

/* Says when somebody begins to wait. */
template <typename L>
struct watched : L {
	static inline std::atomic<unsigned> waiting{0};

      protected:
	template <typename Watch, typename... With>
	void lock_watched(Watch &watch, With &&...with)
	{
		L::lock_watched(counting(watch), with...);
	}
	template <typename Watch, typename... With>
	void lock_shared_watched(Watch &watch, With &&...with)
	{
		L::lock_shared_watched(counting(watch), with...);
	}

      private:
	template <typename Watch>
	static auto counting(Watch &watch)
	{
		return [&](auto has_to, auto take, auto... otherwise) {
			watch(
				has_to,
				[take] {
					waiting++;
					take();
				},
				otherwise...);
		};
	}
};

/* first(), and when it holds the lock, one other waits, by second(). */
template <typename L, typename Second, typename Unlock>
void let_wait(Second second, Unlock unlock)
{
	L::waiting = 0;
	std::thread other(second);
	while (L::waiting == 0)
		std::this_thread::yield();
	unlock();
	other.join();
}

} // namespace

/*
 * counted_lock: what is counted of any lock, and print_counts: the table.
 */
namespace counted_tests {

namespace {

using ticket = ticket_lock<u8>;
using counted = counted_lock<ticket, "queue">;

/* Another waits for it, once: as long as it takes. */
template <typename L>
void contend(L &lock)
{
	lock.lock();
	let_wait<L>([&] { guard held(lock); }, [&] { lock.unlock(); });
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
	counted_lock<watched<ticket>, "queue"> lock;
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
	counted_lock<hold_times<watched<ticket>>, "queue"> lock;
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

TEST_CASE("counted_lock: held until it is downgraded, not since an upgrade")
{
	counted_lock<hold_times<phase_fair_lock<u8>>, "names"> lock;
	const auto held = [] {
		u64 all = 0;

		for (const count_view &one : all_counts())
			all += one.held;
		return all;
	};

	lock.lock();
	lock.downgrade();
	lock.unlock_shared();
	const u64 once = held();

	CHECK(once > 0);
	for (int i = 0; i < 2; i++) {
		upgradable_guard writes(lock);
		writes.upgrade();
	}
	CHECK(held() == once);
	lock.forget_counts();
}

TEST_CASE("counted_lock: any lock with a try_lock, in any other around it")
{
	unsigned locks = 0;

	widths_of<selftest::all_locks<4>>::for_each([&]<typename Subject>() {
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

TEST_CASE("counted_lock: serves, and counts that as a wait")
{
	listed<counted_lock<ticket, "serves">> lock;

	lock.lock([] {});
	lock.lock([&] { lock.unlock(); });
	lock.unlock();
	CHECK(all_counts()[0].acquired == 2);
	CHECK(all_counts()[0].contended == 1);
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
		      "    all of one name:",
		      "           6            3     500        88121874"
		      "    88121774 2 runqueue",
		      "    each, the worst first:",
		      "           1            1    1000        88121774"
		      "    88121774 runqueue[1]",
		      "           4            2     500            9021"
		      "        9000 log",
		      "           5            2     400             100"
		      "          60 runqueue[3]",
		      "           7            0       0               0"
		      "           0 idle",
		      "    times in the units of cycles(), the CPU's clock"});
}

TEST_CASE("print_counts: no more rows than wanted, and how many more there are")
{
	std::deque<figures> many;
	std::vector<std::string> lines;

	for (u64 i = 0; i < 100; i++)
		many.emplace_back(nullptr, 0, 0, std::vector<u64>{1000 + i});
	print_counts([&](const char *line) { lines.push_back(line); }, 7);
	/* Head, total, its two lines; the worst seven; the rest, the unit. */
	REQUIRE(lines.size() == 13);
	CHECK(lines[2].find(" 100 lock") != std::string::npos);
	CHECK(lines[4].find(" 1099 lock") != std::string::npos);
	CHECK(lines[10].find(" 1093 lock") != std::string::npos);
	CHECK(lines[11] == "    and 93 more");
	CHECK(table().size() == 46);
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
	CHECK(lines == 3);
	REQUIRE(inner.size() == 2);
	CHECK(inner[1] == "another prints them just now");
	CHECK(table().size() == 3);
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
	b.counts.sign();
	a.counts.next.store_relaxed(&b.counts);
	a.counts.sign();
}

TEST_CASE("print_counts: a lock that was freed, and its memory is another's")
{
	const u8 with = GENERATE(u8{0}, u8{1}, u8{0xff});
	const unsigned which = GENERATE(0u, 1u, 2u);
	std::deque<figures> locks;

	for (const char *name : {"a", "b", "c"})
		locks.emplace_back(name, 0, 1, std::vector<u64>{5});
	const u32 before = counted_locks.freed.load_relaxed();
	std::memset(static_cast<void *>(&locks[which]), with,
		    sizeof(locks[which]));
	/* The list is last in, first out: only locks listed later are left. */
	CHECK(all_counts().size() == 2 - which);
	CHECK(counted_locks.freed.load_relaxed() == before + 1);
	/* The others are back as soon as they are waited for. */
	for (unsigned i = 0; i < 3; i++)
		if (i != which)
			locks[i].counts.prepare(locks[i].waits, nullptr);
	CHECK(all_counts().size() == 2);
	CHECK(all_of_table().find("freed without forget_counts(): " +
				  std::to_string(before + 1) +
				  "; those listed before are back by a wait") !=
	      std::string::npos);
	/* The destructor takes it out of the list, or finds it is not in it. */
	std::memset(static_cast<void *>(&locks[which]), 0,
		    sizeof(locks[which]));
}

} // namespace counted_tests

/*
 * counted_lock: locks that say where they wait, and readers that share one.
 */
namespace counted_shared_tests {

namespace {

count_view view_of_those(bool shared)
{
	count_view found = {};

	for (const count_view &one : all_counts())
		if (one.shared == shared)
			found = one;
	return found;
}

template <typename L, typename... Cpu>
void count_readers(Cpu... cpu)
{
	using lock_type = watched<L>;
	listed<counted_lock<lock_type, "routes">> lock;

	for (int i = 0; i < 3; i++) {
		shared_guard one(lock, cpu...);
	}
	if constexpr (try_shared_lockable<L>) {
		REQUIRE(lock.try_lock_shared(cpu...));
		lock.unlock_shared(cpu...);
	} else {
		lock.lock_shared(cpu...);
		lock.unlock_shared(cpu...);
	}
	CHECK(all_counts().size() == 2);
	CHECK(view_of_those(true).acquired == 4);
	CHECK(view_of_those(true).contended == 0);
	CHECK(view_of_those(false).acquired == 0);

	lock.lock();
	if constexpr (try_shared_lockable<L>)
		CHECK_FALSE(lock.try_lock_shared(cpu...));
	u64 waits = 0;
	bool interrupts = false;
	let_wait<lock_type>(
		[&] {
			lock.lock_shared(cpu...);
			interrupts = irqs_enabled();
			lock.unlock_shared(cpu...);
		},
		[&] {
			const u64 since = cycles();

			while (cycles() - since < 1000)
				;
			waits = cycles() - since;
			lock.unlock();
		});
	CHECK(view_of_those(true).acquired == 5);
	CHECK(view_of_those(true).contended == 1);
	CHECK(view_of_those(true).waited >= waits / 2);
	CHECK(interrupts);
	CHECK(view_of_those(false).acquired == 1);
	CHECK(view_of_those(false).contended == 0);

	lock.lock_shared(cpu...);
	let_wait<lock_type>([&] { guard held(lock); },
			    [&] { lock.unlock_shared(cpu...); });
	CHECK(view_of_those(true).acquired == 6);
	CHECK(view_of_those(false).acquired == 2);
	CHECK(view_of_those(false).contended == 1);
}

} // namespace

TEST_CASE("counted_lock: readers are counted, apart from writers")
{
	count_readers<rw_ticket_lock<u8>>();
	count_readers<phase_fair_lock<u16>>();
	count_readers<reader_lock<4>>(2u);
	CHECK(all_counts().empty());
}

TEST_CASE("counted_lock: readers of each CPU together; and who never waits "
	  "is not in the table")
{
	counted_lock<reader_lock<3>> lock;

	for (unsigned cpu : {0u, 1u, 2u, 2u}) {
		shared_guard one(lock, cpu);
		shared_guard nested(lock, cpu);
	}
	CHECK(all_counts().empty());
	lock.set_name("marks", 7);
	lock.list_counts();
	CHECK(view_of_those(true).acquired == 8);
	CHECK(table()[1].find(" marks[7]") != std::string::npos);
	CHECK((table()[1] + table()[2]).find("marks[7], readers") !=
	      std::string::npos);
	reset_counts();
	CHECK(view_of_those(true).acquired == 0);
	lock.lock_shared(1);
	lock.unlock_shared(1);
	CHECK(view_of_those(true).acquired == 1);
	lock.forget_counts();
	CHECK(all_counts().empty());
}

TEST_CASE("counted_lock: a name given at run time, with an element's number")
{
	counted_lock<ticket_lock<u8>> lock;

	lock.set_name("alone");
	lock.list_counts();
	CHECK(table()[1].ends_with(" alone"));
	lock.set_name("one of many", 0);
	CHECK(table()[1].ends_with(" one of many[0]"));
	lock.forget_counts();
}

TEST_CASE("counted_lock: readers that waited are listed by the name it has")
{
	using lock_type = watched<rw_ticket_lock<u8>>;
	counted_lock<lock_type, "typed"> typed;
	counted_lock<lock_type> named;
	const auto wait_to_read = [](auto &lock) {
		lock.lock();
		let_wait<lock_type>([&] { shared_guard held(lock); },
				    [&] { lock.unlock(); });
	};

	wait_to_read(typed);
	REQUIRE(all_counts().size() == 1);
	CHECK(table()[1].ends_with(" typed, readers"));
	typed.forget_counts();

	named.set_name("named", 3);
	wait_to_read(named);
	REQUIRE(all_counts().size() == 1);
	CHECK(table()[1].ends_with(" named[3], readers"));
	named.forget_counts();

	/* As C gives it: to the lock's own counts alone. */
	counted_lock<lock_type> in_c;
	lock_counts *own = nullptr;

	in_c.list_counts();
	counted_locks.for_each([&](lock_counts &one) {
		if (!one.shared.load_relaxed())
			own = &one;
	});
	in_c.forget_counts();
	REQUIRE(own);
	own->set_name("in C", 6);
	in_c.list_counts();
	CHECK(all_of_table().find(" in C[5], readers\n") != std::string::npos);
	in_c.forget_counts();
}

TEST_CASE("counted_lock: readers in all locks around it")
{
	using L = counted_lock<rw_ticket_lock<u8>, "inside">;
	static checked_if<true, L> checked;
	static irq_lock<checked_if<true, L>> both;
	{
		shared_guard one(checked);
		irq_shared_guard two(both);
	}
	list_counts(checked);
	both.list_counts();
	CHECK(all_counts().size() == 4);
	CHECK(view_of_those(true).acquired == 1);
	checked.forget_counts();
	both.forget_counts();
	CHECK(all_counts().empty());
}

namespace {

/* Takes a lock without and with a wait, and checks both are counted. */
template <typename L>
void count_a_wait()
{
	using lock_type = watched<L>;
	listed<counted_lock<lock_type, "told">> lock;
	{
		guard first(lock);

		let_wait<lock_type>([&] { guard second(lock); },
				    [&] { first.unlock(); });
	}
	const count_view one = view_of_those(false);

	CHECK(one.acquired == 2);
	CHECK(one.contended == 1);
	CHECK(one.longest_wait > 0);
}

} // namespace

TEST_CASE("counted_lock: a lock that says itself where it waits is not asked")
{
	count_a_wait<ticket_lock<u8>>();
	count_a_wait<ticket_lock<u32>>();
	count_a_wait<padded_ticket_lock<u16>>();
	count_a_wait<mcs_lock>();
	count_a_wait<rw_ticket_lock<u8>>();
	count_a_wait<phase_fair_lock<u8>>();
	count_a_wait<reader_lock<2>>();
}

TEST_CASE("print_counts: waited for as long, the worse is the more often")
{
	count_view once = {}, twice = {};

	once.contended = 1;
	twice.contended = 2;
	CHECK(detail::is_worse(twice, once));
	CHECK_FALSE(detail::is_worse(once, twice));
	CHECK_FALSE(detail::is_worse(once, once));
}

TEST_CASE("print_counts: readers of a name are no writers of it")
{
	listed<counted_lock<rw_ticket_lock<u8>, "routes">> one, other;

	for (int i = 0; i < 3; i++) {
		shared_guard held(one);
	}
	guard held(other);
	const std::string none = "            0       0               0"
				 "           0 ";

	CHECK(all_of_table().find("all of one name:\n           3" + none +
				  "2 routes, readers\n           1" + none +
				  "2 routes\n") != std::string::npos);
}

} // namespace counted_shared_tests
