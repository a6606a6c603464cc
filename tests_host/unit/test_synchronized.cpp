/* SPDX-License-Identifier: MIT */
/*
 * synchronized: data that are reached with their lock held, and not else. What
 * must not compile: tests_host/misuse/types.cpp.
 */
#include <klock/bakery_lock.hpp>
#include <klock/checked_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/order_calls.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/seq_count.hpp>
#include <klock/synchronized.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

#include <thread>
#include <vector>

using namespace klock;
using namespace unit;

namespace synchronized_tests {

namespace {

using ticket = ticket_lock<u8>;

struct table {
	u32 rows;
	u32 sum;
};

u32 rows(const table &t) { return t.rows; }

} // namespace

TEST_CASE("synchronized: sizes are the lock and the data, zero bytes are free")
{
	static_assert(sizeof(synchronized<u8, tas_lock>) == 2);
	static_assert(sizeof(synchronized<table, ticket>) == 12);
	static_assert(sizeof(synchronized<table, irq_lock<ticket>>) == 12);
	static_assert(sizeof(synchronized<u16, ticket>) == 4);
	static_assert(sizeof(synchronized<void *, mcs_lock>) ==
		      2 * sizeof(void *));
	static constinit synchronized<table, ticket> zero;
	static constinit synchronized<table, irq_lock<ticket>> made{3u, 6u};

	CHECK(all_zero(zero));
	CHECK(made.with([](table &t) { return t.sum; }) == 6);
	CHECK(made.without_lock().rows == 3);
}

TEST_CASE("synchronized: held as long as its name lives")
{
	synchronized<table, ticket> data;
	{
		auto held = data.lock();

		held->rows = 2;
		(*held).sum = 4;
		CHECK(irqs_enabled());
		auto failed = data.try_lock();
		CHECK_FALSE(static_cast<bool>(failed));
	}
	auto again = data.try_lock();
	REQUIRE(static_cast<bool>(again));
	CHECK(again->rows == 2);
	CHECK(again->sum == 4);
}

TEST_CASE("synchronized: checked, a try that nobody asked is named")
{
	synchronized<table, checked_lock<ticket, "table">> data;
	const char *const what =
		"data used without asking whether try_lock() succeeded; at ";
	{
		auto tried = data.try_lock();

		has(panic_of([&] { tried->rows = 1; }),
		    what + shown(__FILE__) + ":" +
			    std::to_string(__LINE__ - 4));
		has(panic_of([&] { (*tried).rows = 1; }), what);
		CHECK(static_cast<bool>(tried));
		tried->rows = 2;
	}
	auto held = data.lock();
	CHECK(held->rows == 2);
	current_cpu = 1;
	{
		auto failed = data.try_lock();

		CHECK_FALSE(static_cast<bool>(failed));
		has(panic_of([&] { failed->rows = 3; }),
		    "data used although try_lock() failed; at " +
			    shown(__FILE__));
	}
	current_cpu = 0;
	CHECK(held->rows == 2);
}

TEST_CASE("synchronized: with() returns what is computed inside")
{
	synchronized<table, ticket> data{2u, 4u};
	u32 seen = 0;

	CHECK(data.with([](table &t) { return t.rows + t.sum; }) == 6);
	data.with([&](table &t) {
		seen = t.sum;
		auto failed = data.try_lock();
		CHECK_FALSE(static_cast<bool>(failed));
	});
	CHECK(seen == 4);
	auto held = data.try_lock();
	CHECK(static_cast<bool>(held));
}

/* The result of with() is used after the lock is released. */
TEST_CASE("synchronized: a pointer into the data is named")
{
	static constinit table elsewhere = {};
	static constexpr auto into = [](auto &t) { return &t.rows; };
	const auto none = [](table &) { return static_cast<u32 *>(nullptr); };
	const auto other = [](table &) { return &elsewhere.sum; };
	const auto past = [](table &t) { return &t + 1; };
	synchronized<table, checked_lock<rw_ticket_lock<u8>>> data;
	synchronized<table, irq_lock<checked_lock<ticket>>> in_handlers;
	synchronized<table, ticket> unchecked;
	const std::string what = "synchronized, CPU 0: with() returns a "
				 "pointer into the data, which would be used "
				 "after the lock is released; at " +
				 shown(__FILE__);

	has(panic_of([&] { (void)data.with(into); }), what);
	has(panic_of([&] { (void)data.with_shared(into); }), what);
	has(panic_of([&] { (void)in_handlers.with(into); }), what);
	has(panic_of([&] { (void)data.with([](table &t) { return &t; }); }),
	    what);
	CHECK(panic_of([&] {
		      CHECK_FALSE(data.with(none));
		      CHECK(data.with(other) == &elsewhere.sum);
		      CHECK(data.with(past));
		      CHECK(unchecked.with(into));
	      }) == "");
}

/* Readers spin until it writes on. */
TEST_CASE("seq_count: a writer that is switched away is named by its lock")
{
	checked_lock<ticket, "writers"> writers;
	seq_count count;
	const guard held(writers);

	count.write_begin();
	has(panic_of([] { might_switch(); }),
	    "might_switch() with a spinlock held");
	count.write_end();
}

TEST_CASE("synchronized: of an irq_lock interrupts are off while it is held")
{
	synchronized<table, irq_lock<ticket>> data;

	CHECK(irqs_enabled());
	{
		auto held = data.lock();

		held->rows++;
		CHECK_FALSE(irqs_enabled());
		auto failed = data.try_lock();
		CHECK_FALSE(static_cast<bool>(failed));
		CHECK_FALSE(irqs_enabled());
	}
	CHECK(irqs_enabled());
	CHECK_FALSE(data.with([](table &) { return irqs_enabled(); }));
	CHECK(irqs_enabled());
	if (auto held = data.try_lock())
		CHECK_FALSE(irqs_enabled());
	CHECK(irqs_enabled());
}

TEST_CASE("synchronized: a lock that wants a node or a number is given it")
{
	synchronized<u32, clh_lock> by_node;
	synchronized<u32, irq_lock<mcs_lock>> by_either;
	synchronized<u32, bakery_lock<4>> by_number;
	clh_node place;
	mcs_node lent;

	{
		auto held = by_node.lock(place);
		*held = 1;
	}
	by_node.with([](u32 &v) { v++; }, place);
	by_node.with([](u32 &v) { v++; },
		     [&]() -> clh_node & { return place; });
	CHECK(by_node.without_lock() == 3);
	{
		auto own = by_either.lock();
		*own = 1;
	}
	{
		auto held = by_either.try_lock(lent);
		REQUIRE(static_cast<bool>(held));
		++*held;
	}
	CHECK(by_either.without_lock() == 2);
	as(2, context::thread, [&] { by_number.with([](u32 &v) { v = 5; }); });
	by_number.with([](u32 &v) { v++; }, 3u);
	CHECK(by_number.without_lock() == 6);
}

TEST_CASE("synchronized: checks name the line where it was taken")
{
	synchronized<table, checked_lock<ticket, "table">> data;
	const int line = __LINE__ + 1;
	auto held = data.lock();
	const std::string said = panic_of([&] { data.with([](table &) {}); });

	CHECK(has(said, "table, CPU 0: recursion"));
	CHECK(has(said, "test_synchronized.cpp:" + std::to_string(line)));
	CHECK(has(said, "test_synchronized.cpp:" + std::to_string(line + 1)));
	CHECK_FALSE(said.find("synchronized.hpp") != std::string::npos);
	data.set_name("renamed");
	CHECK(has(panic_of([&] { data.with([](table &) {}); }),
		  "renamed, CPU 0: recursion"));
}

namespace {

/* Data of any kind of lock, read and written as any of them. */
template <typename Data>
void several_read_one_writes(Data &data, bool irqs_inside)
{
	{
		auto one = data.lock_shared();
		auto two = data.try_lock_shared();

		static_assert(same_as<decltype(*one), const table &>);
		static_assert(same_as<decltype(*two), const table &>);
		REQUIRE(static_cast<bool>(two));
		CHECK(one->rows == two->rows);
		CHECK(irqs_enabled() == irqs_inside);
	}
	CHECK(irqs_enabled());
	{
		auto held = data.lock();

		held->rows = held->sum = 7;
		auto failed = data.try_lock_shared();
		CHECK_FALSE(static_cast<bool>(failed));
		CHECK(irqs_enabled() == irqs_inside);
	}
	CHECK(irqs_enabled());
	CHECK(data.with_shared([&](const table &t) {
		auto beside = data.try_lock_shared();

		CHECK(irqs_enabled() == irqs_inside);
		return beside->rows + t.sum;
	}) == 14);
	CHECK(irqs_enabled());
	data.with([](table &t) { t.rows = t.sum = 0; });
}

} // namespace

TEST_CASE("synchronized: several read at once, and one alone writes")
{
	selftest::all_shared_locks<4>::for_each([]<typename Subject>() {
		using lock = typename Subject::lock;
		static synchronized<table, lock> data;
		static synchronized<table, irq_lock<lock>> of_handlers;

		INFO(Subject::name);
		static_assert(sizeof(of_handlers) == sizeof(data));
		several_read_one_writes(data, true);
		several_read_one_writes(of_handlers, false);
	});
}

TEST_CASE("synchronized: no writer while it is read, whoever reads")
{
	synchronized<table, rw_ticket_lock<u8>> data;
	synchronized<u32, reader_lock<4>> by_cpu;

	{
		auto seen = data.lock_shared();
		auto failed = data.try_lock();
		CHECK_FALSE(static_cast<bool>(failed));
	}
	data.with_shared([&](const table &) {
		auto failed = data.try_lock();
		CHECK_FALSE(static_cast<bool>(failed));
	});
	auto held = data.try_lock();
	CHECK(static_cast<bool>(held));
	{
		auto seen = by_cpu.lock_shared(3u);
		auto beside = by_cpu.try_lock_shared([] { return 2u; });
		CHECK(*seen == *beside);
		CHECK(by_cpu.with_shared([](const u32 &v) { return v; }, 1u) ==
		      0);
	}
	by_cpu.with([](u32 &v) { v = 5; });
	CHECK(by_cpu.with_shared([](u32 v) { return v; }) == 5);
}

TEST_CASE("synchronized: checks name the line of a reader")
{
	synchronized<table,
		     irq_lock<checked_lock<rw_ticket_lock<u8>, "routes">>>
		data;
	const int line = __LINE__ + 1;
	const auto again = [&] { (void)data.with_shared(rows); };
	auto seen = data.lock_shared();
	const std::string said = panic_of(again);

	CHECK(has(said, "routes, CPU 0: read recursion"));
	CHECK(has(said, "test_synchronized.cpp:" + std::to_string(line)));
	CHECK_FALSE(said.find("synchronized.hpp") != std::string::npos);
	CHECK(has(panic_of([&] { data.with([](table &) {}); }), "upgrade"));
}

TEST_CASE("synchronized: no update of several threads is lost")
{
	synchronized<table, ticket> data;
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] {
			for (u32 n = 0; n < 2000; n++) {
				data.with([](table &t) { t.rows++; });
				auto held = data.lock();
				held->sum += held->rows != 0;
			}
		});
	for (auto &thread : threads)
		thread.join();
	CHECK(data.without_lock().rows == 6000);
	CHECK(data.without_lock().sum == 6000);
}

} // namespace synchronized_tests
