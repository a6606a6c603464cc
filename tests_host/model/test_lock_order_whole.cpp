/* SPDX-License-Identifier: MIT */
/*
 * lock_order behind checked locks, whole: programs that are right are left
 * alone in every execution, and two orders are found in every one.
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/lock_order.hpp>
#include <klock/order_calls.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <model/model.hpp>

#include <catch.hpp>

#include <set>
#include <string>

using namespace klock;
using model::check;
using model::result;

static lock_order *order_now = nullptr;

lock_order *klock_os_lock_order(void) { return order_now; }

namespace {

struct ordered_world {
	ordered_world() { order_now = &order; }
	~ordered_world() { order_now = nullptr; }

	lock_order_memory<4, 2> memory;
	order_keeper order{memory};
	checked_lock<tas_lock, "a"> a;
	checked_lock<tas_lock, "b"> b;
	checked_lock<ticket_lock<u8>, "c"> c;
	checked_lock<rw_ticket_lock<u8>, "table"> table;
	checked_lock<tas_lock, "bucket"> bucket[2];

	/* Nobody holds anything, and no place was lost. */
	void is_clean()
	{
		for (const held_locks &one : memory.held) {
			check(one.size() == 0, "an owner is left");
			for (const held_lock &place : one.at)
				check(place.address.load_relaxed() ==
					      held_lock::reserved,
				      "a place is left");
		}
	}
};

using w = ordered_world;

/* What a CPU does, with interrupts off where nothing else is said. */
using program = void (*)(ordered_world &);

result run(const std::vector<program> &all, program handler = nullptr,
	   bool non_maskable = false)
{
	return model::explore<ordered_world>(
		{.sections = std::vector<unsigned>(all.size(), 1),
		 .interrupts = handler ? 1u : 0u,
		 .non_maskable = non_maskable,
		 .may_panic = true},
		[&all](ordered_world &world, unsigned cpu) { all[cpu](world); },
		[](ordered_world &world) { world.is_clean(); },
		[handler](ordered_world &world, unsigned) { handler(world); });
}

template <typename... Locks>
void nest(Locks &...locks)
{
	const irq_state before = irq_save();

	(locks.lock(), ...);
	(locks.unlock(), ...);
	irq_restore(before);
}

void ab(w &of) { nest(of.a, of.b); }
void ba(w &of) { nest(of.b, of.a); }
void ac(w &of) { nest(of.a, of.c); }
void bc(w &of) { nest(of.b, of.c); }
void only_a(w &of) { nest(of.a); }
void only_b(w &of) { nest(of.b); }
void a_then_b(w &of) { nest(of.a), nest(of.b); }
void b_then_a(w &of) { nest(of.b), nest(of.a); }
void buckets(w &of) { nest(of.bucket[0], of.bucket[1]); }
void bucket_in_a(w &of) { nest(of.a, of.bucket[1]); }
void tries_a_in_b(w &of)
{
	irq_guard held(of.b);

	if (of.a.try_lock())
		of.a.unlock();
}
void crossed(w &of)
{
	const irq_state before = irq_save();

	of.a.lock();
	of.b.lock();
	of.a.unlock();
	of.b.unlock();
	irq_restore(before);
}
void reads(w &of)
{
	const irq_state before = irq_save();

	of.table.lock_shared();
	nest(of.a);
	of.table.unlock_shared();
	irq_restore(before);
}
void writes(w &of) { nest(of.table, of.a); }
void reads_open(w &of)
{
	of.table.lock_shared();
	of.table.unlock_shared();
}
void nests_down(w &of)
{
	const irq_state before = irq_save();

	of.bucket[1].lock();
	{
		nested one_down(of.bucket[0], 1);
		of.bucket[0].lock();
	}
	of.bucket[0].unlock();
	of.bucket[1].unlock();
	irq_restore(before);
}
void open_a(w &of) { guard held(of.a); }
void open_ab(w &of)
{
	guard outer(of.a);
	guard inner(of.b);
}
void waits(w &of)
{
	nest(of.a);
	might_wait();
}
void is_silent(const result &r)
{
	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.panicked == 0);
	CHECK(r.complete > 0);
}

} // namespace

TEST_CASE("lock_order: no false alarm in programs that are right")
{
	const std::vector<program> right[] = {
		{ab, ab},
		{ab, bc},
		{ac, bc},
		{ab, only_b},
		{ab, only_a},
		{a_then_b, b_then_a},
		{ab, b_then_a},
		{ab, tries_a_in_b},
		{tries_a_in_b, tries_a_in_b},
		{crossed, ab},
		{crossed, crossed},
		{buckets, buckets},
		{bucket_in_a, buckets},
		{nests_down, nests_down},
		{reads, only_a},
		{reads, writes},
		{writes, only_a},
		{reads_open, reads},
		{open_a, ab},
		{open_ab, ab},
		{waits, waits},
		{waits, ab},
	};
	unsigned programs = 0;

	for (const auto &one : right) {
		INFO("program " << programs++);
		is_silent(run(one));
	}
	CHECK(programs >= 20);
}

TEST_CASE("lock_order: two orders, and no execution without a report")
{
	const result r = run({ab, ba});

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == 0);
	CHECK(r.panicked > 0);
}

namespace {

/* Of other locks than that of the learning, which is a tas_lock. */
struct new_world {
	new_world() { order_now = &order; }
	~new_world() { order_now = nullptr; }

	void take_all()
	{
		const irq_state before = irq_save();

		table.lock_shared();
		nest(first, second);
		table.unlock_shared();
		irq_restore(before);
	}

	lock_order_memory<4, 2> memory;
	order_keeper order{memory};
	checked_lock<rw_ticket_lock<u8>, "table"> table;
	checked_lock<ticket_lock<u8>, "first"> first;
	checked_lock<ticket_lock<u8>, "second"> second;
};

/* It has seen all that is done here. */
struct known_world : new_world {
	known_world() { take_all(); }
};

/* Where it is done, but for the locks themselves and what checks each. */
template <typename World>
std::set<std::string> done_by_order(model::operation what)
{
	const result r = model::explore<World>(
		{.sections = {1}, .record_uses = true},
		[](World &of, unsigned) { of.take_all(); });
	std::set<std::string> files;

	INFO(r.message << r.timeline);
	CHECK(r.ok());
	for (const model::use &u : r.uses) {
		const std::string file = u.file.substr(u.file.rfind('/') + 1);

		if (u.what == what && file != "ticket_lock.hpp" &&
		    file != "rw_ticket_lock.hpp" && file != "checked.hpp")
			files.insert(file);
	}
	return files;
}

} // namespace

TEST_CASE("lock_order: what is known is found by loads alone")
{
	using model::operation;
	using files = std::set<std::string>;

	/* Its CPU's own lines alone are written. */
	CHECK(done_by_order<known_world>(operation::rmw).empty());
	CHECK(done_by_order<known_world>(operation::store) ==
	      files{"held.hpp"});
	CHECK(done_by_order<known_world>(operation::load).size() >= 3);
	/* Who learns takes its lock. */
	CHECK(done_by_order<new_world>(operation::rmw) ==
	      files{"tas_lock.hpp"});
}
