/* SPDX-License-Identifier: MIT */
/*
 * lock_order: a class is a name; two locks of one class are taken in the order
 * of their addresses, or of sub-ranks that are declared.
 */
#include <klock/order_calls.hpp>
#include <klock/ticket_lock.hpp>

#include "order_kernel.hpp"

using namespace klock;

namespace {

using byte_lock = ticket_lock<u8>;

std::string line(int number) { return site_text(__FILE__, number); }

struct two_locks {
	checked_lock<byte_lock, "a"> a;
	checked_lock<byte_lock, "b"> b;
};

} // namespace

TEST_CASE("lock_order: two of one class, by ascending address")
{
	new_order<> fresh;
	checked_lock<byte_lock> queues[2];

	set_name(queues[0], "runqueue", 0);
	set_name(queues[1], "runqueue", 1);
	CHECK(taking(0, queues[0], queues[1]) == "");
	on_cpu(1, [&] {
		const int first = __LINE__ + 1;
		queues[1].lock();
		const std::string said = panic_of([&] { queues[0].lock(); });

		has(said, "runqueue[0], CPU 1: same class: ");
		has(said, "at " + line(first + 1));
		has(said, "runqueue[1] was taken at " + line(first));
	});
}

namespace {

/* The first at the lower address. */
struct directories {
	checked_lock<byte_lock, "directory"> at[3];
};

} // namespace

TEST_CASE("lock_order: two of one class, by a declared sub-rank")
{
	new_order<> fresh;
	directories of;

	on_cpu(0, [&] {
		of.at[1].lock();
		{
			nested one_down(of.at[0], 1);
			CHECK(panic_of([&] { of.at[0].lock(); }) == "");
		}
		of.at[0].unlock();
		of.at[1].unlock();
	});
}

TEST_CASE("lock_order: a sub-rank ends with its block")
{
	new_order<> fresh;
	directories of;

	on_cpu(0, [&] {
		of.at[1].lock();
		{
			nested one_down(of.at[0], 1);
		}
		has(panic_of([&] { of.at[0].lock(); }), "same class");
	});
}

TEST_CASE("lock_order: a sub-rank is of one lock alone")
{
	new_order<> fresh;
	directories of;

	on_cpu(0, [&] {
		of.at[2].lock();
		nested one_down(of.at[1], 1);
		has(panic_of([&] { of.at[0].lock(); }), "same class");
	});
}

TEST_CASE("lock_order: sub-ranks nest, and must go up")
{
	new_order<> fresh;
	directories of;
	two_locks others;

	on_cpu(0, [&] {
		others.a.lock();
		nested outer(of.at[0], 2);
		{
			nested inner(of.at[1], 3);
		}
		of.at[0].lock();
		nested lower(of.at[2], 1);
		has(panic_of([&] { of.at[2].lock(); }), "same class");
	});
}

TEST_CASE("lock_order: a name is a class, wherever its text stands")
{
	new_order<> fresh;
	static const char here[] = "inode", there[] = "inode";
	checked_lock<byte_lock> one, other;
	two_locks of;

	set_name(one, here);
	set_name(other, there);
	CHECK(taking(0, one, of.a) == "");
	has(taking(1, of.a, other), "known: inode (");
}

TEST_CASE("lock_order: a lock without a name has no order")
{
	new_order<> fresh;
	checked_lock<byte_lock> one, other;
	two_locks of;

	CHECK(taking(0, one, of.a, other) == "");
	CHECK(taking(1, other, of.a, one) == "");
}
