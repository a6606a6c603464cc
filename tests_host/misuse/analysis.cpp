/* SPDX-License-Identifier: MIT */
/*
 * Code that clang's thread-safety analysis must name by klock/annotated.hpp; it
 * is silent, as GCC is, where all is right.
 */
#include <klock/annotated.hpp>
#include <klock/checked_lock.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/try_lock_until.hpp>

#ifdef __clang__
#define GUARDED_BY(lock) __attribute__((guarded_by(lock)))
#define UNANALYSED __attribute__((no_thread_safety_analysis))
#else
#define GUARDED_BY(lock)
#define UNANALYSED
#endif

using namespace klock;
using ticket = ticket_lock<u8>;

annotated_lock<ticket> lock;
annotated_lock<checked_if<true, ticket, "queue">> queue;
annotated_lock<irq_lock<ticket>> disk;
annotated_lock<mcs_lock> list;
annotated_lock<rw_ticket_lock<u8>> table;
unsigned data GUARDED_BY(lock), waiting GUARDED_BY(queue);
unsigned blocks GUARDED_BY(disk), nodes GUARDED_BY(list);
unsigned rows GUARDED_BY(table);

static_assert(sizeof(lock) == sizeof(ticket));
static_assert(sizeof(annotated_guard<ticket>) == sizeof(guard<ticket>));
static_assert(sizeof(annotated_irq_guard<ticket>) == sizeof(irq_guard<ticket>));

/* One case a line. */
// clang-format off
void right_ones()
{
	{ annotated_guard held(lock); data++; }
	{ annotated_irq_guard held(lock); data++; held.unlock(); }
	{ annotated_guard held(queue); waiting++; }
	{ annotated_irq_guard held(disk); blocks++; }
	{ annotated_irq_guard held(list); nodes++; }
	{ annotated_shared_guard held(table); (void)(rows + 1); }
	{ annotated_irq_shared_guard held(table); (void)(rows + 1); }
	{ annotated_guard held(table); rows++; }
	{ lock.lock(); data++; lock.unlock(); }
	{ if (lock.try_lock()) { data++; lock.unlock(); } }
	{ mcs_node mine; list.lock(mine); nodes++; list.unlock(mine); }
	{ table.lock_shared(); (void)(rows + 1); table.unlock_shared(); }
}

void told_that_it_is_held() { queue.assert_held(); waiting++; }

/* clang has no word for a deadline. */
UNANALYSED void by_a_deadline()
{
	{ if (try_lock_until(lock, 1)) lock.unlock(); }
	{ if (try_lock_until(queue, 1)) queue.unlock(); }
}

#if WRONG == 1
// says-warning@+1{{requires holding lock 'lock' exclusively}}
void without() { data++; }
// says-warning@+1{{requires holding lock 'lock'}}
void read_without() { (void)(data + 1); }
// says-warning@+1{{requires holding lock 'lock'}}
void by_another() { annotated_guard held(queue); data++; }
// says-warning@+1{{requires holding lock 'lock'}}
void after() { annotated_irq_guard held(lock); held.unlock(); data++; }
// says-warning@+1{{requires holding lock 'table' exclusively}}
void writes_as_reader() { annotated_shared_guard held(table); rows++; }
// says-warning@+1{{acquiring lock 'lock' that is already held}}
void twice() { annotated_guard held(lock); annotated_guard again(lock); }
// says-warning@+1{{'lock' is still held at the end}}
void for_ever() { lock.lock(); data++; }
// says-warning@+1{{'lock' that was not held}}
void not_taken() { lock.unlock(); }
// says-warning@+2{{requires holding lock 'lock'}}
// says-warning@+1{{not held on every path}}
void not_got() { if (!lock.try_lock()) data++; }
#endif
