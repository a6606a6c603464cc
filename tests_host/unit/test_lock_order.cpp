/* SPDX-License-Identifier: MIT */
/*
 * lock_order: two orders are named when both were seen, whoever took the locks,
 * however far apart; what is right is left alone.
 */
#include <klock/order_calls.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/timeout_lock.hpp>

#include "hooked_lock.hpp"
#include "order_kernel.hpp"

using namespace klock;

namespace {

using byte_lock = ticket_lock<u8>;

std::string line(int number) { return site_text(__FILE__, number); }

struct five_locks {
	checked_lock<byte_lock, "a"> a;
	checked_lock<byte_lock, "b"> b;
	checked_lock<byte_lock, "c"> c;
	checked_lock<byte_lock, "d"> d;
	checked_lock<byte_lock, "e"> e;
};

} // namespace

TEST_CASE("lock_order: two orders of two locks, all four lines named")
{
	new_order<> fresh;
	five_locks of;
	std::string said;
	int first = 0, second = 0;

	on_cpu(3, [&] {
		first = __LINE__ + 1;
		of.a.lock();
		of.b.lock();
		of.b.unlock();
		of.a.unlock();
	});
	on_cpu(5, [&] {
		second = __LINE__ + 1;
		of.b.lock();
		said = panic_of([&] { of.a.lock(); });
	});
	CHECK(said == "a, CPU 5: lock order: b (" + line(second) +
			      ") then a (" + line(second + 1) +
			      ") on CPU 5; known: a (" + line(first) +
			      ") then b (" + line(first + 1) + ") on CPU 3");
}

TEST_CASE("lock_order: one order, again and again, by all, is right")
{
	new_order<> fresh;
	five_locks of;

	for (unsigned round = 0; round < 3; round++)
		for (unsigned cpu = 0; cpu < 8; cpu++) {
			CHECK(taking(cpu, of.a, of.b, of.c, of.d, of.e) == "");
			CHECK(taking(cpu, of.b, of.e) == "");
			CHECK(taking(cpu, of.a, of.d) == "");
		}
	CHECK(notes.empty());
}

TEST_CASE("lock_order: a cycle of three over three CPUs")
{
	new_order<> fresh;
	five_locks of;

	CHECK(taking(0, of.a, of.b) == "");
	CHECK(taking(1, of.b, of.c) == "");
	const std::string said = taking(2, of.c, of.a);

	has(said, "a, CPU 2: lock order: c (");
	has(said, ") then a (");
	has(said, "on CPU 2; known: a (");
	has(said, ") then b (");
	has(said, "on CPU 0, b (");
	has(said, ") then c (");
	has(said, "on CPU 1");
}

TEST_CASE("lock_order: a cycle of five")
{
	new_order<> fresh;
	five_locks of;

	CHECK(taking(0, of.a, of.b) == "");
	CHECK(taking(1, of.b, of.c) == "");
	CHECK(taking(2, of.c, of.d) == "");
	CHECK(taking(3, of.d, of.e) == "");
	const std::string said = taking(4, of.e, of.a);

	has(said, "on CPU 0, b (");
	has(said, "on CPU 1, c (");
	has(said, "on CPU 2, d (");
	has(said, "on CPU 3");
}

TEST_CASE("lock_order: of two ways the shorter is named")
{
	new_order<> fresh;
	five_locks of;

	CHECK(taking(0, of.a, of.b) == "");
	CHECK(taking(1, of.b, of.e) == "");
	CHECK(taking(5, of.a, of.e) == "");
	const std::string said = taking(4, of.e, of.a);

	has(said, "known: a (");
	has(said, "on CPU 5");
	CHECK(said.find(" b (") == std::string::npos);
}

TEST_CASE("lock_order: what is held, not only what was taken last, comes first")
{
	new_order<> fresh;
	five_locks of;

	/* No way over b: a try adds no edge from a to it. */
	on_cpu(0, [&] {
		of.a.lock();
		CHECK(of.b.try_lock());
		of.c.lock();
		of.c.unlock();
		of.b.unlock();
		of.a.unlock();
	});
	has(taking(1, of.c, of.a), "known: a (");
}

TEST_CASE(
	"lock_order: what is held, not only what was taken first, comes first")
{
	new_order<> fresh;
	five_locks of;

	CHECK(taking(0, of.a, of.b, of.c) == "");
	has(taking(1, of.c, of.b), "known: b (");
}

TEST_CASE("lock_order: a report comes before the lock is touched, and once")
{
	new_order<> fresh;
	checked_lock<byte_lock, "first"> first;
	checked_lock<hooked_lock, "second"> second;
	bool touched = false;

	on_cpu(0, [&] {
		second.lock();
		first.lock();
		first.unlock();
		second.unlock();
		first.lock();
		next_hook = {place::before_ticket, [&] { touched = true; }};
		has(panic_of([&] { second.lock(); }), "lock order");
		CHECK_FALSE(touched);
		next_hook.run = nullptr;
	});
	/* Others of the same names: these are still held. */
	checked_lock<byte_lock, "first"> another_first;
	checked_lock<byte_lock, "second"> another_second;

	CHECK(taking(1, another_first, another_second) == "");
	CHECK(taking(1, another_second, another_first) == "");
}

TEST_CASE("lock_order: try_lock() adds no edge to what it tries")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] {
		of.a.lock();
		CHECK(of.b.try_lock());
		of.b.unlock();
		of.a.unlock();
	});
	CHECK(taking(1, of.b, of.a) == "");
}

TEST_CASE("lock_order: what a try_lock() has taken is held")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] {
		CHECK(of.a.try_lock());
		of.b.lock();
		of.b.unlock();
		of.a.unlock();
	});
	has(taking(1, of.b, of.a), "lock order: b (");
}

TEST_CASE("lock_order: what a try_lock() has not taken is not held")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] { of.a.lock(); });
	on_cpu(1, [&] {
		CHECK_FALSE(of.a.try_lock());
		of.b.lock();
		of.b.unlock();
	});
	on_cpu(0, [&] { of.a.unlock(); });
	CHECK(taking(1, of.b, of.a) == "");
}

TEST_CASE("lock_order: locks may be released in any order")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] {
		of.a.lock();
		CHECK(of.b.try_lock());
		of.a.unlock();
		of.c.lock(); /* b is held, a is not */
		of.b.unlock();
		of.c.unlock();
	});
	CHECK(fresh.order.mine() == nullptr);
	CHECK(taking(1, of.c, of.a) == "");
	has(taking(1, of.c, of.b), "lock order: c (");
}

TEST_CASE("lock_order: hand over hand, through more locks than are ever held")
{
	new_order<> fresh;
	checked_lock<byte_lock> chain[3 * held_locks::most];

	for (auto &one : chain)
		set_name(one, "node");
	on_cpu(0, [&] {
		chain[0].lock();
		for (usize i = 1; i < 3 * held_locks::most; i++) {
			chain[i].lock();
			chain[i - 1].unlock();
		}
		has(panic_of([&] { chain[0].lock(); }), "same class");
	});
	CHECK(notes.empty());
}

TEST_CASE("lock_order: who waits until a deadline waits")
{
	new_order<> fresh;
	checked_lock<timeout_lock<4>, "patient"> patient;
	five_locks of;

	on_cpu(0, [&] {
		of.a.lock();
		CHECK(patient.try_lock_for(0, 1000000));
		patient.unlock(0);
		of.a.unlock();
	});
	on_cpu(1, [&] {
		CHECK(patient.try_lock_for(1, 1000000));
		has(panic_of([&] { of.a.lock(); }), "known: a (");
	});
}

TEST_CASE("lock_order: who has given up waiting holds nothing")
{
	new_order<> fresh;
	checked_lock<timeout_lock<4>, "patient"> patient;
	five_locks of;

	on_cpu(0, [&] { CHECK(patient.try_lock_for(0, 1000000)); });
	on_cpu(1, [&] {
		CHECK_FALSE(patient.try_lock_until(1, 0));
		CHECK(fresh.order.mine() == nullptr);
		of.a.lock();
		of.a.unlock();
	});
	on_cpu(0, [&] { patient.unlock(0); });
	on_cpu(2, [&] {
		of.a.lock();
		CHECK(panic_of([&] {
			      CHECK(patient.try_lock_for(2, 1000000));
		      }) == "");
	});
}

TEST_CASE("lock_order: might_wait() with nothing held, and with a lock")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] {
		CHECK(panic_of([] { might_wait(); }) == "");
		const int taken = __LINE__ + 1;
		of.a.lock();
		const std::string said = panic_of([] { might_wait(); });

		has(said, "a, CPU 0: might_wait() with a lock held; at " +
				  line(taken + 1));
		has(said, "taken at " + line(taken));
		of.a.unlock();
		CHECK(panic_of([] { might_wait(); }) == "");
	});
}

TEST_CASE("lock_order: a kernel without one checks what it checked before")
{
	five_locks of;

	CHECK(taking(0, of.a, of.b) == "");
	CHECK(taking(1, of.b, of.a) == "");
	on_cpu(0, [&] {
		nested no_matter(of.a, 1);

		of.a.lock();
		might_wait();
		has(panic_of([&] { of.a.lock(); }), "recursion");
	});
}

TEST_CASE("lock_order: of a lock that is not checked nothing is kept")
{
	new_order<> fresh;
	checked_if<false, byte_lock, "a"> a;
	checked_if<false, byte_lock, "b"> b;

	CHECK(taking(0, a, b) == "");
	CHECK(taking(0, b, a) == "");
	on_cpu(0, [&] {
		nested nothing(a, 1);

		STATIC_REQUIRE(sizeof(nothing) == 1);
		a.lock();
		might_wait<false>();
		a.unlock();
	});
	STATIC_REQUIRE(sizeof(a) == 2);
	CHECK(lock_order_if<false, 64, 8>() == nullptr);
	CHECK(lock_order_if<true, 64, 8>() == lock_order_of<64, 8>());
}
