/* SPDX-License-Identifier: MIT */
/*
 * release - a kernel's file, with all that klock checks written down, or not:
 * guards.py compares what becomes of it
 */
#include <klock/irq_guard.hpp>
#include <klock/ticket_lock.hpp>

#ifdef PLAIN
using queue_lock = klock::ticket_lock<klock::u8>;
using list_lock = klock::ticket_lock<klock::u16>;
#else
#include <klock/checked_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/order_calls.hpp>
#include <klock/too_long.hpp>
constexpr bool debug = DEBUG;
inline constinit klock::section_maxima<8> maxima;
using queue_lock =
	klock::checked_if<debug, klock::ticket_lock<klock::u8>, "queue">;
using list_lock = klock::timed_if<
	debug,
	klock::checked_if<
		debug, klock::counted_if<debug, klock::ticket_lock<klock::u16>>,
		"list">,
	maxima>;
#endif

constinit queue_lock queues[2];
constinit list_lock list;
constinit unsigned work = 1;

/* A kernel's own lock, around klock's. */
struct spinlock {
#ifdef PLAIN
	constexpr explicit spinlock(const char *) {}
	void acquire() { inner.lock(); }
	void release() { inner.unlock(); }
#else
	constexpr explicit spinlock(const char *name)
	    : inner(klock::named<queue_lock>(name))
	{
	}
	void acquire(klock::call_site by = klock::caller_site())
	{
		klock::told(inner, by).lock();
	}
	void release(klock::call_site by = klock::caller_site())
	{
		klock::told(inner, by).unlock();
	}
#endif
	queue_lock inner;
};
constinit spinlock pipes[2] = {spinlock("pipe"), spinlock("pipe")};

extern "C" void *order_of_locks()
{
#ifdef PLAIN
	return nullptr;
#else
	return klock::lock_order_if<debug, 64, 8>();
#endif
}

extern "C" void start()
{
#ifndef PLAIN
	static constexpr klock::declared_order orders[] = {
		klock::before("list", "queue"), klock::rank<10>("list")};

	klock::declare<debug>(orders);
	klock::set_name(queues[0], "queue", 0);
	klock::list_counts(list);
#endif
	work++;
}

extern "C" void move()
{
	klock::irq_guard held(list);
	klock::irq_guard first(queues[1]);
#ifndef PLAIN
	klock::assert_held(list);
	klock::nested second_too(queues[0], 1);
#endif
	klock::irq_guard second(queues[0]);
	work++;
}

extern "C" bool wait()
{
#ifndef PLAIN
	klock::might_wait<debug>();
#endif
	return list.try_lock();
}

extern "C" void write_pipe()
{
	pipes[0].acquire();
	work++;
	pipes[0].release();
}
