/* SPDX-License-Identifier: MIT */
/*
 * counted_lock: locks that say where they wait, and readers that share one.
 */
#include <klock/checked_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/irq_shared_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/padded_ticket_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/wide_phase_fair_lock.hpp>

#include "counted.hpp"

#include <catch.hpp>

#include <atomic>
#include <thread>

using namespace klock;
using unit::all_counts;
using unit::all_of_table;
using unit::listed;
using unit::table;

namespace {

/* Says when somebody begins to wait. */
template <typename L>
struct watched : L {
	static inline std::atomic<unsigned> waiting{0};

      protected:
	template <typename Waits, typename... With>
	bool lock_telling(Waits waits, With &&...with)
	{
		return L::lock_telling(counting(waits), with...);
	}
	template <typename Waits, typename... With>
	bool lock_shared_telling(Waits waits, With &&...with)
	{
		return L::lock_shared_telling(counting(waits), with...);
	}

      private:
	template <typename Waits>
	static auto counting(Waits waits)
	{
		return [=](auto take) { waits([=] { waiting++, take(); }); };
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
	count_readers<wide_phase_fair_lock>();
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

/* One that has to wait, and what is counted of both. */
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
	count_a_wait<wide_phase_fair_lock>();
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
