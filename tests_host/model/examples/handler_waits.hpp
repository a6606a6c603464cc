/* SPDX-License-Identifier: MIT */
/*
 * handler_waits - a lock that an interrupt handler takes, held with interrupts
 * on
 *
 * The handler waits for the CPU that it interrupted. Who shares a lock with a
 * handler takes it with interrupts off.
 */
#pragma once

#include <atomic>
#include <klock/irq.hpp>
#include <model/var.hpp>

template <bool Off>
struct handler_waits {
	std::atomic<bool> locked{false};
	model::var<int> events = 0;

	void lock()
	{
		while (locked.exchange(true, std::memory_order_acquire))
			locked.wait(true, std::memory_order_relaxed);
	}
	void unlock()
	{
		locked.store(false, std::memory_order_release);
		locked.notify_one();
	}

	void cpu(unsigned)
	{
		const klock::arch::irq_state before =
			Off ? klock::arch::irq_save() : false;

		lock();
		events++;
		unlock();
		klock::arch::irq_restore(before);
	}
	void handler()
	{
		lock();
		events++;
		unlock();
	}
	bool holds() const { return true; }
};
