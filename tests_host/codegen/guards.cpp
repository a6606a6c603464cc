/* SPDX-License-Identifier: MIT */
/*
 * guards - what a guard does, by hand and by the guard: guards.py compares
 *
 * hand_NAME and guard_NAME must be the same instructions. near_NAME may have a
 * few more: with the node inside, whose address other CPUs know, a compiler
 * looks again into the guard around it; and at -O1, whether a try_guard holds
 * is asked twice. wrong_NAME: a guard that must be found to differ.
 */
#include <klock/clh_lock.hpp>
#include <klock/graunke_thakkar_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/try_guard.hpp>

using namespace klock;

using ticket = ticket_lock<u8>;
using numbered = graunke_thakkar_lock<4>;

/* An instruction that nothing else here has. */
static inline void section() { asm volatile("cld" ::: "memory"); }

clh_node &my_node();
ticket at_home;

/* As guard.hpp, but that its lock may be released through another name. */
struct flagged_guard {
	explicit flagged_guard(ticket &lock) : held(lock) { held.lock(); }
	~flagged_guard()
	{
		if (*static_cast<volatile bool *>(&owned))
			held.unlock();
	}

	ticket &held;
	bool owned = true;
};

extern "C" {

/* -- Plain locks -- */

void hand_plain(ticket &lock)
{
	lock.lock();
	section();
	lock.unlock();
}
void guard_plain(ticket &lock)
{
	guard held(lock);
	section();
}

void hand_static()
{
	at_home.lock();
	section();
	at_home.unlock();
}
void guard_static()
{
	guard held(at_home);
	section();
}

void hand_early(ticket &lock)
{
	lock.lock();
	section();
	lock.unlock();
	section();
}
void guard_early(ticket &lock)
{
	guard held(lock);
	section();
	held.unlock();
	section();
}

void hand_adopt(ticket &lock)
{
	section();
	lock.unlock();
}
void guard_adopt(ticket &lock)
{
	guard held(lock, adopt);
	section();
}

void hand_irq(ticket &lock)
{
	const irq_state before = irq_save();

	lock.lock();
	section();
	lock.unlock();
	irq_restore(before);
}
void guard_irq(ticket &lock)
{
	irq_guard held(lock);
	section();
}

/* -- A node or a number -- */

void hand_number(numbered &lock, unsigned cpu)
{
	lock.lock(cpu);
	section();
	lock.unlock(cpu);
}
void guard_number(numbered &lock, unsigned cpu)
{
	guard held(lock, cpu);
	section();
}

void hand_asked_number(numbered &lock)
{
	const irq_state before = irq_save();
	const unsigned cpu = klock_os_cpu_id();

	lock.lock(cpu);
	section();
	lock.unlock(cpu);
	irq_restore(before);
}
void guard_asked_number(numbered &lock)
{
	irq_guard held(lock);
	section();
}

void hand_node(clh_lock &lock, clh_node &node)
{
	lock.lock(node);
	section();
	lock.unlock(node);
}
void guard_node(clh_lock &lock, clh_node &node)
{
	guard held(lock, node);
	section();
}

void hand_asked_node(clh_lock &lock)
{
	const irq_state before = irq_save();
	clh_node &node = my_node();

	lock.lock(node);
	section();
	lock.unlock(node);
	irq_restore(before);
}
void guard_asked_node(clh_lock &lock)
{
	irq_guard held(lock, my_node);
	section();
}

void hand_lent_node(mcs_lock &lock, mcs_node &node)
{
	lock.lock(node);
	section();
	lock.unlock(node);
}
void guard_lent_node(mcs_lock &lock, mcs_node &node)
{
	guard held(lock, node);
	section();
}

void hand_stack_node(mcs_lock &lock)
{
	mcs_node node;

	lock.lock(node);
	section();
	lock.unlock(node);
}
void near_stack_node(mcs_lock &lock)
{
	guard held(lock);
	section();
}

/* -- Without waiting -- */

void hand_try(ticket &lock)
{
	if (lock.try_lock()) {
		section();
		lock.unlock();
	}
}
void near_try(ticket &lock)
{
	if (try_guard held{lock})
		section();
}

/* -- What the comparison must find -- */

void hand_flagged(ticket &lock) { hand_plain(lock); }
void wrong_flagged(ticket &lock)
{
	flagged_guard held(lock);
	section();
}

void hand_late(ticket &lock) { hand_irq(lock); }
void wrong_late(ticket &lock)
{
	guard held(lock);
	detail::irqs_off off;
	section();
}
}
