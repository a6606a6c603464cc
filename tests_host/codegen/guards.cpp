/* SPDX-License-Identifier: MIT */
/*
 * guards - what a guard does, by hand and by the guard: guards.py compares
 *
 * hand_NAME and guard_NAME must be the same instructions; so must
 * guard_NAME_MORE, where there is no hand_NAME_MORE. near_NAME may have a few
 * more: with the node inside, whose address other CPUs know, a compiler looks
 * again into the guard around it; and at -O1, whether a try_guard holds is
 * asked twice. same_NAME: in any order. wrong_NAME: a guard that must be found
 * to differ.
 */
#include <klock/clh_lock.hpp>
#include <klock/condition.hpp>
#include <klock/counted_lock.hpp>
#include <klock/graunke_thakkar_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_depth.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/leveled.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/synchronized.hpp>
#include <klock/ticket_lock.hpp>

using namespace klock;

using ticket = ticket_lock<u8>;
using numbered = graunke_thakkar_lock<4>;

/* An instruction that nothing else here has. */
static inline void section() { asm volatile("cld" ::: "memory"); }

clh_node &my_node();
ticket at_home;

/* Data and the lock they belong to. */
struct by_hand {
	ticket lock;
	unsigned data;
};
using data_of_threads = synchronized<unsigned, ticket>;
using data_of_handlers = synchronized<unsigned, irq_lock<ticket>>;

/* Data and a lock that readers share. */
using read_write = rw_ticket_lock<u8>;
struct read_by_hand {
	read_write lock;
	unsigned data;
};
using handlers_readers = synchronized<unsigned, irq_lock<read_write>>;

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

/*
 * A lock that counts adds a load and a store to lock(), nothing to unlock(). A
 * reader that shares its word with others adds one locked instruction.
 */
using counted = counted_lock<ticket, "queue">;

struct counted_by_hand {
	ticket lock;
	atomic<usize> acquired;
};

struct counted_read_by_hand {
	phase_fair_lock<u8> lock;
	atomic<usize> acquired;
};
using counted_routes = counted_lock<phase_fair_lock<u8>, "routes">;

struct counted_mark_by_hand {
	reader_lock<4> lock;
	atomic<usize> acquired[4];
};
using counted_marks = counted_lock<reader_lock<4>, "marks">;

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

void hand_counted_off(ticket &lock)
{
	push_off();
	lock.lock();
	section();
	lock.unlock();
	pop_off();
}
void guard_counted_off(ticket &lock)
{
	irq_depth_guard held(lock);
	section();
}

/* -- Locks whose type says which context may take them -- */

void guard_irq_only(irq_lock<ticket> &lock)
{
	irq_guard held(lock);
	section();
}

void guard_plain_threads(thread_lock<ticket> &lock)
{
	guard held(lock);
	section();
}

/* -- Data -- */

void hand_data(by_hand &its)
{
	its.lock.lock();
	section();
	its.data++;
	its.lock.unlock();
}
void guard_data(data_of_threads &its)
{
	auto held = its.lock();

	section();
	++*held;
}

unsigned hand_with_data(by_hand &its)
{
	its.lock.lock();
	section();
	const unsigned now = ++its.data;

	its.lock.unlock();
	return now;
}
unsigned guard_with_data(data_of_threads &its)
{
	return its.with([](unsigned &data) {
		section();
		return ++data;
	});
}

void hand_irq_data(by_hand &its)
{
	const irq_state before = irq_save();

	its.lock.lock();
	section();
	its.data++;
	its.lock.unlock();
	irq_restore(before);
}
void guard_irq_data(data_of_handlers &its)
{
	auto held = its.lock();

	section();
	++*held;
}

/* -- Readers -- */

void hand_shared(read_write &lock)
{
	lock.lock_shared();
	section();
	lock.unlock_shared();
}
void guard_shared(read_write &lock)
{
	shared_guard held(lock);
	section();
}

void hand_shared_number(reader_lock<4> &lock, unsigned cpu)
{
	lock.lock_shared(cpu);
	section();
	lock.unlock_shared(cpu);
}
void guard_shared_number(reader_lock<4> &lock, unsigned cpu)
{
	shared_guard held(lock, cpu);
	section();
}

void hand_upgradable(phase_fair_lock<u8> &lock)
{
	lock.lock_upgradable();
	section();
	lock.upgrade();
	section();
	lock.unlock();
}
void guard_upgradable(phase_fair_lock<u8> &lock)
{
	upgradable_guard held(lock);
	section();
	held.upgrade();
	section();
}

/* -- A writer that may become a reader, and one that does -- */

void hand_writer(shared_mutex &lock)
{
	lock.lock();
	section();
	lock.unlock();
}
void guard_writer(shared_mutex &lock)
{
	guard held(lock);
	section();
}

void hand_writer_early(read_write &lock)
{
	lock.lock();
	section();
	lock.unlock();
	section();
}
void guard_writer_early(read_write &lock)
{
	guard held(lock);
	section();
	held.unlock();
	section();
}

void hand_writer_waits(shared_mutex &lock, condition &changed)
{
	lock.lock();
	section();
	changed.wait(lock);
	section();
	lock.unlock();
}
void guard_writer_waits(shared_mutex &lock, condition &changed)
{
	guard held(lock);
	section();
	changed.wait(held);
	section();
}

void hand_downgraded(read_write &lock)
{
	lock.lock();
	section();
	lock.downgrade();
	section();
	lock.unlock_shared();
}
void guard_downgraded(read_write &lock)
{
	guard held(lock);
	section();
	held.downgrade();
	section();
}

void hand_irq_downgraded(phase_fair_lock<u8> &lock)
{
	const irq_state before = irq_save();

	lock.lock();
	section();
	lock.downgrade();
	section();
	lock.unlock_shared();
	irq_restore(before);
}
void guard_irq_downgraded(irq_lock<phase_fair_lock<u8>> &lock)
{
	irq_guard held(lock);
	section();
	held.downgrade();
	section();
}

void hand_up_and_down(phase_fair_lock<u8> &lock)
{
	lock.lock_upgradable();
	section();
	lock.upgrade();
	lock.downgrade();
	section();
	lock.unlock_shared();
}
void guard_up_and_down(phase_fair_lock<u8> &lock)
{
	upgradable_guard held(lock);
	section();
	held.upgrade();
	held.downgrade();
	section();
}

void hand_adopted_shared(read_write &lock)
{
	section();
	lock.unlock_shared();
}
void guard_adopted_shared(read_write &lock)
{
	shared_guard held(lock, adopt);
	section();
}

void hand_irq_shared(read_write &lock)
{
	const irq_state before = irq_save();

	lock.lock_shared();
	section();
	lock.unlock_shared();
	irq_restore(before);
}
void guard_irq_shared(irq_lock<read_write> &lock)
{
	irq_shared_guard held(lock);
	section();
}

unsigned hand_irq_data_shared(read_by_hand &its)
{
	const irq_state before = irq_save();

	its.lock.lock_shared();
	section();
	const unsigned now = its.data;

	its.lock.unlock_shared();
	irq_restore(before);
	return now;
}
unsigned guard_irq_data_shared(handlers_readers &its)
{
	return its.with_shared([](const unsigned &data) {
		section();
		return data;
	});
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

/* -- Levels -- */

static_assert(sizeof(leveled<ticket, 1>) == sizeof(ticket));
static_assert(sizeof(level_guard<ticket, 1>) == sizeof(guard<ticket>));

void guard_plain_leveled(leveled<ticket, 1> &lock)
{
	nothing_held none;
	level_guard held(none, lock);
	section();
}

void guard_irq_leveled(leveled<irq_lock<ticket>, 2> &lock,
		       const holding<1> &so_far)
{
	level_guard held(so_far, lock);
	section();
}

/* -- Guards that try -- */

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

/* -- Differences that the comparison must find  */

void wrong_plain_flagged(ticket &lock)
{
	flagged_guard held(lock);
	section();
}

void wrong_irq_late(ticket &lock)
{
	guard held(lock);
	detail::irqs_off off;
	section();
}

/* -- A lock that counts -- */

[[gnu::flatten]] bool hand_counted(counted_by_hand &its)
{
	if (!its.lock.try_lock())
		return false;
	its.acquired.store_relaxed(its.acquired.load_relaxed() + 1);
	return true;
}
[[gnu::flatten]] bool same_counted(counted &lock) { return lock.try_lock(); }

[[gnu::flatten]] bool hand_locked_count(counted_by_hand &its)
{
	if (!its.lock.try_lock())
		return false;
	its.acquired.fetch_add_relaxed(1);
	return true;
}
[[gnu::flatten]] bool wrong_locked_count(counted &lock)
{
	return lock.try_lock();
}

[[gnu::flatten]] void hand_counted_lock(counted_by_hand &its)
{
	its.lock.lock();
	its.acquired.store_relaxed(its.acquired.load_relaxed() + 1);
}
[[gnu::flatten]] void near_counted_lock(counted &lock) { lock.lock(); }

[[gnu::flatten]] void hand_counted_read(counted_read_by_hand &its)
{
	its.lock.lock_shared();
	(void)its.acquired.fetch_add_relaxed(1);
}
[[gnu::flatten]] void near_counted_read(counted_routes &lock)
{
	lock.lock_shared();
}

[[gnu::flatten]] void hand_counted_mark(counted_mark_by_hand &its, unsigned cpu)
{
	its.lock.lock_shared(cpu);
	its.acquired[cpu].store_relaxed(its.acquired[cpu].load_relaxed() + 1);
}
[[gnu::flatten]] void near_counted_mark(counted_marks &lock, unsigned cpu)
{
	lock.lock_shared(cpu);
}

void hand_counted_unlock(ticket &lock) { lock.unlock(); }
void same_counted_unlock(counted &lock) { lock.unlock(); }
}
