/* SPDX-License-Identifier: MIT */
/*
 * print_held: who holds and wants what, with lines and ages, from any context.
 */
#include <klock/print_held.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "hooked_lock.hpp"
#include "order_kernel.hpp"

using namespace klock;

namespace {

using byte_lock = ticket_lock<u8>;

std::string line(int number) { return site_text(__FILE__, number); }

std::vector<std::string> held_now()
{
	std::vector<std::string> all;

	print_held([&all](const char *text) { all.push_back(text); });
	return all;
}

std::string address_of(const void *lock)
{
	return misuse_text().add_hex(reinterpret_cast<usize>(lock)).c_str();
}

} // namespace

TEST_CASE("print_held: what is held and what is waited for, and by whom")
{
	new_order<> fresh;
	checked_lock<byte_lock, "log"> log;
	checked_lock<hooked_lock> queues[3];
	std::vector<std::string> all;
	int logged = 0, queued = 0;

	set_name(queues[2], "runqueue", 2);
	logged = __LINE__ + 1;
	on_cpu(1, [&] { log.lock(); });
	next_hook = {place::before_ticket, [&] {
			     /* As its NMI handler, or a watchdog. */
			     as(0, context::nmi, [&] { all = held_now(); });
		     }};
	on_cpu(0, [&] {
		queued = __LINE__ + 1;
		queues[2].lock();
		CHECK(all.size() == 2);
		has(all.at(0), "CPU 0 waits for runqueue[2] (" +
				       address_of(&queues[2]) + ") at " +
				       line(queued) + "; ");
		has(all.at(0), " Kcycles");
		has(all.at(1), "CPU 1 holds log (" + address_of(&log) +
				       "), taken at " + line(logged) + "; ");
		all = held_now();
		has(all.at(0), "CPU 0 holds runqueue[2] (");
		queues[2].unlock();
	});
	on_cpu(1, [&] { log.unlock(); });
	CHECK(held_now().empty());
}

TEST_CASE("print_held: of what is waited for, who has it")
{
	new_order<> fresh;
	checked_lock<hooked_lock, "log"> log;
	std::vector<std::string> all;

	on_cpu(1, [&] { log.lock(); });
	next_hook = {place::before_ticket, [&] { all = held_now(); }};
	on_cpu(0, [&] { (void)panic_of([&] { log.lock(); }); });
	CHECK(all.size() == 2);
	has(all.at(0), "CPU 0 waits for log (");
	has(all.at(0), ", held by CPU 1; ");
}

TEST_CASE("print_held: readers, and who only tries")
{
	new_order<> fresh;
	checked_lock<rw_ticket_lock<u8>, "table"> table;
	checked_lock<hooked_lock, "log"> log;
	std::vector<std::string> all;

	on_cpu(2, [&] { table.lock_shared(); });
	has(held_now().at(0), "CPU 2 reads table (");
	next_hook = {place::before_ticket, [&] { all = held_now(); }};
	on_cpu(0, [&] { CHECK(log.try_lock()); });
	has(all.at(0), "CPU 0 tries log (");
	has(held_now().at(0), "CPU 0 holds log (");
}

TEST_CASE("print_held: an age is that of the wait, then that of the section")
{
	held_by_owners all = {nullptr, 1};
	std::unique_ptr<held_locks> stack(new held_locks());
	const wanted_lock want = {&all, {"log", 0}, {"f.c", 1}, false, false};
	u32 ages[3] = {};

	all.all = stack.get();
	const held_place mine = all.push();
	mine.at->note(want, hold::waiting, 0);
	mine.at->since.store_relaxed(held_lock::clock() - 1000);
	for_each_held(all, [&](const held_view &v) { ages[0] = v.age; });
	mine.at->take();
	for_each_held(all, [&](const held_view &v) { ages[1] = v.age; });
	/* The clock has come round. */
	mine.at->since.store_relaxed(held_lock::clock() + 1000);
	for_each_held(all, [&](const held_view &v) { ages[2] = v.age; });
	CHECK(ages[0] >= 1000);
	CHECK(ages[1] < ages[0]);
	CHECK(ages[2] >= ~u32{0} - 1000);
}

TEST_CASE("print_held: a kernel without a lock order has nothing to print")
{
	checked_lock<byte_lock, "log"> log;

	on_cpu(1, [&] { log.lock(); });
	CHECK(held_now().empty());
}
