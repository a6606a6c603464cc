/* SPDX-License-Identifier: MIT */
/*
 * order_kernel - a pretended kernel that has a lock order, new for each test
 */
#pragma once

#include <klock/checked_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/print_held.hpp>
#include <klock/ticket_lock.hpp>

#include "pretended_kernel.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

inline klock::lock_order *order_now = nullptr;
inline std::vector<std::string> notes;
inline void (*then_noted)() = nullptr;

/* A new record of the lock order: it forgets what was learned before. */
template <klock::u32 Classes = 64, klock::u32 Owners = 8>
struct new_order {
	explicit new_order(klock::on_finding then = klock::on_finding::panic)
	    : order(*memory, then)
	{
		order_now = &order;
		notes.clear();
	}
	~new_order() { order_now = nullptr; }
	new_order(const new_order &) = delete;
	new_order &operator=(const new_order &) = delete;

	std::unique_ptr<klock::lock_order_memory<Classes, Owners>> memory{
		new klock::lock_order_memory<Classes, Owners>()};
	klock::order_keeper order;
};

/* As if each wait had begun so much earlier: held_lock::clock(). */
inline void make_waits_older(const klock::order_keeper &order, klock::u32 by)
{
	const klock::held_by_owners all = order.everybody();

	for (klock::u32 i = 0; i < all.owners; i++)
		for (klock::held_lock &one : all.all[i].at)
			if (one.is_there() && one.is_waiting())
				one.since.store_relaxed(
					one.since.load_relaxed() - by);
}

/* The age of the oldest wait or hold. */
inline klock::u32 greatest_age(const klock::order_keeper &order)
{
	klock::u32 most = 0;

	klock::for_each_held(order.everybody(),
			     [&](const klock::held_view &one) {
				     most = std::max(most, one.age);
			     });
	return most;
}

using byte_lock = klock::ticket_lock<klock::u8>;

struct five_locks {
	klock::checked_lock<byte_lock, "a"> a;
	klock::checked_lock<byte_lock, "b"> b;
	klock::checked_lock<byte_lock, "c"> c;
	klock::checked_lock<byte_lock, "d"> d;
	klock::checked_lock<byte_lock, "e"> e;
};

/* Interrupts off, as most of the code here has them. */
inline void on_cpu(unsigned cpu, block code)
{
	const irqs off(false);

	as(cpu, klock::context::thread, code);
}

/* Returns the finding on these locks, taken in this order by this CPU. */
template <typename... Locks>
std::string taking(unsigned cpu, Locks &...locks)
{
	std::string said;

	on_cpu(cpu, [&] {
		said = panic_of([&] { (locks.lock(), ...); });
		if (said.empty())
			(locks.unlock(), ...);
	});
	return said;
}
