/* SPDX-License-Identifier: MIT */
/*
 * recursive_lock: its holder takes it again, alone, checked, by guards.
 */
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/print_held.hpp>
#include <klock/queued_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/try_lock_until.hpp>

#include "order_kernel.hpp"

#include <catch.hpp>

#include <cstring>

using namespace klock;

namespace recursive_tests {

namespace {

using ticket = ticket_lock<u8>;
using tree = recursive_lock<ticket>;
using checked_tree = checked_lock<tree, "tree">;

template <typename L>
concept tries = requires(L &lock) { lock.try_lock(); };
template <typename L>
concept tells_waiters = requires(const L &lock) { lock.is_contended(); };
template <typename L>
concept can_wrap = requires { typename recursive_lock<L>; };

} // namespace

TEST_CASE("recursive_lock: sizes")
{
	static constinit tree zero;
	static const unsigned char none[sizeof(tree)] = {};

	CHECK(sizeof(tree) == 16);
	CHECK(sizeof(recursive_lock<preemptable_ticket_lock<u16>>) == 16);
	CHECK(std::memcmp(&zero, none, sizeof(zero)) == 0);
	CHECK(can_wrap<queued_lock<64>>);
	CHECK_FALSE(can_wrap<mcs_lock>);
	CHECK(tells_waiters<tree>);
	CHECK_FALSE(zero.is_contended());
	CHECK_FALSE(tells_waiters<recursive_lock<tas_lock>>);
	CHECK(tree::max_contenders == ticket::max_contenders);
}

template <typename L>
static void take_deeper()
{
	L lock;

	on_cpu(1, [&] {
		for (u32 depth = 1; depth < 100; depth++) {
			if (depth % 3)
				lock.lock();
			else
				CHECK(lock.try_lock());
			CHECK(lock.depth() == depth);
		}
		CHECK(lock.is_locked());
	});
	on_cpu(2, [&] {
		CHECK(lock.depth() == 0);
		CHECK_FALSE(lock.try_lock());
		CHECK_FALSE(try_lock_until(lock, cycles()));
	});
	on_cpu(1, [&] {
		for (u32 depth = 99; depth; depth--) {
			CHECK(lock.is_locked());
			CHECK(lock.depth() == depth);
			lock.unlock();
		}
		CHECK(lock.depth() == 0);
	});
	CHECK_FALSE(lock.is_locked());
	on_cpu(2, [&] {
		CHECK(lock.try_lock());
		lock.unlock();
	});
}

TEST_CASE("recursive_lock: depth")
{
	take_deeper<tree>();
	take_deeper<recursive_lock<preemptable_ticket_lock<u16>>>();
	take_deeper<recursive_lock<tas_lock>>();
}

TEST_CASE("recursive_lock: CPU 0 is not nobody")
{
	tree lock;

	on_cpu(0, [&] {
		CHECK(lock.depth() == 0);
		lock.lock();
		CHECK(lock.depth() == 1);
		CHECK(lock.is_locked());
		lock.unlock();
		CHECK(lock.depth() == 0);
	});
}

TEST_CASE("recursive_lock: a wait that serves, and a deadline")
{
	tree lock;
	unsigned served = 0;
	const auto serve = [&] { served++; };

	on_cpu(1, [&] {
		lock.lock(serve);
		lock.lock(serve);
		CHECK(try_lock_until(lock, 0));
		CHECK(lock.depth() == 3);
		CHECK(served == 0);
	});
}

template <typename L>
static void take_by_guards()
{
	L lock;

	as(1, context::thread, [&] {
		const irqs on(true);
		irq_guard held(lock);
		{
			irq_guard again(lock);

			irq_try_guard tried(lock);

			CHECK(tried);
			CHECK(lock.is_locked());
		}
		CHECK(lock.is_locked());
		CHECK_FALSE(irqs_enabled());
		held.unlock();
		CHECK_FALSE(lock.is_locked());
		CHECK(irqs_enabled());
	});
}

TEST_CASE("recursive_lock: guards")
{
	take_by_guards<tree>();
	take_by_guards<checked_tree>();
	take_by_guards<irq_lock<tree>>();
	take_by_guards<irq_lock<checked_tree>>();
}

TEST_CASE("recursive_lock: checked: no false alarm, held and ordered once")
{
	new_order<> fresh;
	checked_tree lock;
	checked_lock<ticket, "leaf"> leaf;
	std::string lines;

	on_cpu(1, [&] {
		lock.lock();
		leaf.lock();
		/* Not "leaf then tree": the caller waits for nobody. */
		lock.lock();
		CHECK(lock.try_lock());
		CHECK(try_lock_until(lock, 0));
		CHECK(lock.is_held_by_me());
		lock.assert_held();
		print_held([&](const char *line) { lines += line; });
		for (int i = 0; i < 3; i++)
			lock.unlock();
		CHECK(lock.is_held_by_me());
		leaf.unlock();
		lock.unlock();
		CHECK_FALSE(lock.is_locked());
	});
	CHECK(has(lines, "tree"));
	CHECK(lines.find("tree") == lines.rfind("tree"));
}

TEST_CASE("recursive_lock: checked: what is wrong is named")
{
	checked_tree lock;
	const auto says = [&](auto code) { return panic_of(code); };

	on_cpu(1, [&] {
		has(says([&] { lock.unlock(); }),
		    "unlock() of a lock that nobody holds");
	});
	on_cpu(1, [&] { lock.lock(), lock.lock(); });
	on_cpu(2, [&] {
		has(says([&] { lock.unlock(); }),
		    "unlock() by a caller that does not hold it");
		has(says([&] { lock.assert_held(); }),
		    "the caller does not hold it");
	});
}

TEST_CASE("recursive_lock: handler")
{
	checked_tree lock;
	tree plain;
	const auto wrong =
		"taken again in another context than its holder took it in";

	on_cpu(1, [&] { lock.lock(), plain.lock(); });
	/* The header says so: it is in the middle of the owner's section. */
	as(1, context::interrupt, [&] {
		CHECK(plain.try_lock());
		has(panic_of([&] { lock.lock(); }), wrong);
	});
	as(1, context::nmi,
	   [&] { has(panic_of([&] { (void)lock.try_lock(); }), wrong); });
}

TEST_CASE("recursive_lock: counted inside")
{
	static recursive_lock<counted_lock<ticket, "counted tree">> lock;

	on_cpu(1, [&] {
		lock.lock();
		lock.lock();
		lock.unlock();
		lock.unlock();
	});
	CHECK_FALSE(lock.is_locked());
}

} // namespace recursive_tests
