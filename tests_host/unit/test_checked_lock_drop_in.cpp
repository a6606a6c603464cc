/* SPDX-License-Identifier: MIT */
/*
 * checked_lock: what compiles with a lock compiles with the checked one, for
 * every lock of the list.
 *
 * A lint (tests_host/lint/repeated.py) sees that no member of any lock is
 * missing from this list or from the wrapper.
 */
#include <klock/checked_lock.hpp>
#include <klock/selftest/locks.hpp>

#include "pretended_kernel.hpp"

#include <set>
#include <vector>

using namespace klock;

namespace {

struct use {
	const char *what;
	bool compiles;
};

template <typename T>
std::vector<use> uses()
{
	return {{"lock()", requires(T & l){l.lock();
}
} // namespace
, {"lock(node)", requires(T &l, typename T::node &n){l.lock(n);
}
}
, {"lock(number)", requires(T &l){l.lock(1u);
}
}
, {"lock_from(number)", requires(T &l){l.lock_from(1u);
}
}
, {"has_node(number)", requires {T::has_node(1u);
}
}
, {"is_clean(number)", requires {T::is_clean(1u);
}
}
, {"forget_waits(number)", requires {T::forget_waits(1u);
}
}
, {"unlock()", requires(T &l){l.unlock();
}
}
, {"unlock(node)", requires(T &l, typename T::node &n){l.unlock(n);
}
}
, {"unlock(number)", requires(T &l){l.unlock(1u);
}
}
, {"try_lock()", requires(T &l){l.try_lock();
}
}
, {"try_lock(node)", requires(T &l, typename T::node &n){l.try_lock(n);
}
}
, {"try_lock(number)", requires(T &l){l.try_lock(1u);
}
}
, {"lock_paced(of u8)", requires(T &l, u32 (&pace)(u8)){l.lock_paced(pace);
}
}
, {"lock_paced(of u32)", requires(T &l, u32 (&pace)(u32)){l.lock_paced(pace);
}
}
, {"lock_paced(of nothing)", requires(T &l, u32 (&pace)()){l.lock_paced(pace);
}
}
, {"try_lock_until(number, deadline)",
   requires(T &l, u64 deadline){l.try_lock_until(1u, deadline);
}
}
, {"try_lock_for(number, cycles)",
   requires(T &l, u64 cycles){l.try_lock_for(1u, cycles);
}
}
, {"is_locked()", requires(const T &l){l.is_locked();
}
}
, {"is_contended()", requires(const T &l){l.is_contended();
}
}
, {"is_contended(node)",
   requires(const T &l, const typename T::node &n){l.is_contended(n);
}
}
, {"is_contended(number)", requires(const T &l){l.is_contended(1u);
}
}
, {"is_queued(number)", requires(const T &l){l.is_queued(1u);
}
}
, {"await_left(number)", requires(const T &l){l.await_left(1u);
}
}
, {"set_base(turns)", requires(T &l){l.set_base(3u);
}
}
, {"turns_for(u8, base)", requires {T::turns_for(u8{3}, 5u);
}
}
, {"lock_shared()", requires(T &l){l.lock_shared();
}
}
, {"lock_shared(number)", requires(T &l){l.lock_shared(1u);
}
}
, {"unlock_shared()", requires(T &l){l.unlock_shared();
}
}
, {"unlock_shared(number)", requires(T &l){l.unlock_shared(1u);
}
}
, {"try_lock_shared()", requires(T &l){l.try_lock_shared();
}
}
, {"try_lock_shared(number)", requires(T &l){l.try_lock_shared(1u);
}
}
, {"max_readers", requires {T::max_readers;
}
}
, {"readers_contend", requires {T::readers_contend;
}
}
, {"default_base", requires {T::default_base;
}
}
, {"node", requires(typename T::node &n){n;
}
}
, {"node_may_live_on_stack", requires {T::node_may_live_on_stack;
}
}
, {"max_contenders", requires {T::max_contenders;
}
}
, {"made of nothing", requires {T();
}
}
, {"made of a counter", requires {T(u8{3});
}
}
, {"made of base and counter", requires {T(7u, u8{3});
}
}
,
}
;
}

template <typename Unchecked, typename Checked>
void compare()
{
	const auto without = uses<Unchecked>(), with = uses<Checked>();

	for (usize i = 0; i < with.size(); i++) {
		INFO(with[i].what);
		CHECK(with[i].compiles == without[i].compiles);
	}
}

} // namespace

TEST_CASE("checked_lock: a drop-in: what compiles with a lock does with it")
{
	std::set<std::string> seen;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		INFO(Subject::name);
		compare<L, checked_if<true, L>>();
		compare<L, checked_if<true, L, "named">>();
		for (const use &u : uses<L>())
			if (u.compiles)
				seen.insert(u.what);
	});
	/* An expression that fits no lock compares nothing. */
	for (const use &u : uses<ticket_lock<u8>>()) {
		INFO(u.what);
		CHECK((seen.count(u.what) ||
		       u.what == std::string("try_lock(number)")));
	}
}

TEST_CASE("checked_lock: what is forwarded does what it does inside")
{
	checked_if<true, proportional_ticket_lock<u8>> paced(7u);
	checked_if<true, bakery_lock<4>> bakery;
	checked_if<true, ticket_lock<u8>> ticket;
	checked_if<true, mcs_lock> mcs;
	mcs_node node;

	paced.set_base(9);
	CHECK(paced.turns_for(2, 5) == 10);
	CHECK(paced.default_base == proportional_ticket_lock<u8>::default_base);

	bakery.lock(2);
	CHECK(bakery.is_queued(2));
	CHECK_FALSE(bakery.is_queued(1));
	CHECK_FALSE(bakery.is_contended());
	has(panic_of([&] { (void)bakery.is_queued(4); }),
	    "a CPU number beyond capacity");
	bakery.unlock(2);
	CHECK_FALSE(bakery.is_queued(2));

	ticket.lock_paced([](u8) { return 1u; });
	CHECK(ticket.is_held_by_me());
	CHECK_FALSE(ticket.is_contended());
	has(panic_of([&] { ticket.lock_paced([](u8) { return 1u; }); }),
	    "recursion");
	ticket.unlock();

	mcs.lock(node);
	CHECK_FALSE(mcs.is_contended(node));
	mcs.unlock(node);
}
