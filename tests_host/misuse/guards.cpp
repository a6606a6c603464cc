/* SPDX-License-Identifier: MIT */
/*
 * Uses of guards that must not compile or must warn, and uses that are right.
 */
#include <klock/guard.hpp>
#include <klock/irq_depth.hpp>
#include <klock/irq_guard.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/narrow_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/order_calls.hpp>
#include <klock/clh_lock.hpp>
#include <klock/bakery_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_guard.hpp>

using namespace klock;

ticket_lock<u8> lock, other;
narrow_ticket_lock<2> narrow;
mcs_lock mcs;
mcs_node node;
clh_lock clh;
clh_node places[4];
bakery_lock<4> bakery;
semaphore units(1);
condition changed;
completion done;
clh_node &my_place() { return places[cpu_id()]; }
cpu_context here;
int calls;
void work() { calls++; }

/* One case a line. */
// clang-format off
void right_ones()
{
	{ guard a(lock); irq_guard b(mcs, node); a.unlock(); }
	{ irq_guard held(clh, my_place); }
	{ guard held(lock, [] {}); irq_guard also(other, work); }
	{ guard held(bakery, 3u, adopt); guard also(mcs, node, adopt); }
	{ irq_guard held(bakery, cpu_id); }
	{ if (try_guard held{lock}) work(); }
	{ if (irq_try_guard held{mcs, node}; held) work(); }
	{ irq_pair_guard held(lock, with(clh, my_place)); }
	{ rescue_guard held(lock); if (!held) work(); }
}

#if WRONG == 1
void warned()
{
	{ guard{lock}; } // says-warning{{releases at once}}
	{ guard(lock, adopt); } // says-warning{{releases at once}}
	{ guard{mcs, node}; } // says-warning{{releases at once}}
	{ guard{mcs, node, adopt}; } // says-warning{{releases at once}}
	{ irq_guard{lock}; } // says-warning{{releases at once}}
	{ irq_guard{clh, my_place}; } // says-warning{{releases at once}}
	{ irq_depth_guard{lock}; } // says-warning{{releases at once}}
	{ try_guard{lock}; } // says-warning{{releases at once}}
	{ irq_try_guard{lock}; } // says-warning{{releases at once}}
	{ pair_guard{lock, other}; } // says-warning{{releases at once}}
	{ irq_pair_guard{lock, other}; } // says-warning{{releases at once}}
	{ rescue_guard{lock}; } // says-warning{{releases at once}}
	{ nested{lock, 1}; } // says-warning{{ends at once}}
	{ handler_scope{here, context::interrupt}; } // says-warning{{ends at once}}
	{ handler_scope(here, context::interrupt); } // says-warning{{ends at once}}
	{ lock.try_lock(); } // says-warning{{nodiscard}}
	{ irq_save(); } // says-warning{{nodiscard}}
	{ with(mcs, node); } // says-warning{{nodiscard}}
}

void errors()
{
	{ irq_guard held(lock); held.unlock(); held.lock(lock); } // says-error{{private member}}
	{ if (try_guard{lock}) work(); } // says-error{{deleted function}}
	{ if (irq_try_guard{lock}) work(); } // says-error{{deleted function}}
	{ guard held(lock); auto copy = held; } // says-error{{deleted}}
	{ irq_guard a(lock), b(other); a = b; } // says-error{{deleted}}
	// says-error@+1{{deleted constructor}}
	{ pair_guard a(lock, other); auto b = static_cast<decltype(a) &&>(a); }
	// says-error@*:*{{this lock's node must outlive the guard, bring one: guard held(lock, node)}}
	{ guard held(clh); } // says-note{{here}}
	// says-error@*:* 3 {{not a node of this lock, nor a function that returns a reference to one}}
	{ irq_guard held(clh, cpu_id()); } // says-note{{here}}
	{ irq_guard held(clh, [] { return &places[0]; }); } // says-note{{here}}
	{ guard held(clh, node); } // says-note{{here}}
	// says-error@*:* 2 {{not a node of this lock; to lend one, leave the guard's type out: guard held(lock, node)}}
	{ guard<mcs_lock> held(mcs, node); } // says-note{{here}}
	{ guard held(mcs, places[0]); } // says-note{{here}}
	// says-error@*:* 2 {{this lock takes neither a node nor a number: guard held(lock)}}
	{ guard held(lock, 1); } // says-note{{here}}
	{ irq_guard held(lock, node); } // says-note{{here}}
	// says-error@*:* 2 {{neither a CPU's number nor a function that returns one}}
	{ guard held(bakery, node); } // says-note{{here}}
	{ guard held(bakery, work); } // says-note{{here}}
	// says-error@*:*{{no wait of this lock serves: that of ticket_lock}}
	{ guard held(narrow, work); } // says-note{{here}}
	// says-error@*:*{{a try does not wait: without serve}}
	{ try_guard held(lock, work); } // says-note{{here}}
	// says-error@*:*{{guard held(lock, node, klock::adopt)}}
	{ guard held(mcs, adopt); } // says-note{{here}}
	// says-error@*:* 2 {{adopt comes last: guard held(lock, node, klock::adopt)}}
	{ guard held(mcs, adopt, node); } // says-note{{here}}
	{ guard held(bakery, adopt, 3u); } // says-note{{here}}
	{ irq_guard held(lock, adopt); } // says-error{{deleted}}
	{ irq_guard held(mcs, node, adopt); } // says-error{{deleted}}
	{ try_guard held(lock, adopt); } // says-error{{deleted}}
	{ irq_try_guard held(lock, adopt); } // says-error{{deleted}}
	// says-error@*:* 2 {{this lock has no try_lock()}}
	{ try_guard held(clh, places[0]); } // says-note{{here}}
	{ irq_try_guard held(bakery); } // says-note{{here}}
	{ delete new guard(lock); } // says-error{{deleted function}}
	{ new irq_pair_guard(lock, other); } // says-error{{deleted function}}
	{ new rescue_guard(lock); } // says-error{{deleted function}}
	// says-error@*:*{{rescue_guard takes no queue of nodes: its unlock() may wait for a CPU that stands still}}
	{ rescue_guard held(mcs); } // says-note{{here}}
	// says-error@*:*{{this lock has no try_lock()}}
	{ rescue_guard held(bakery); } // says-note{{here}}
	// says-error@*:* 3 {{a const lock, or a temporary one, cannot be taken}}
	{ guard held(ticket_lock<u8>{}); } // says-note{{here}}
	{ guard held(static_cast<const mcs_lock &>(mcs)); } // says-note{{here}}
	{ try_guard held(static_cast<const mcs_lock &>(mcs)); } // says-note{{here}}
	// says-error@*:* 3 {{nobody holds it, so it has no guard: acquire() and release() a semaphore, wait() for a condition or completion}}
	{ guard held(units); } // says-note{{here}}
	{ irq_guard held(changed); } // says-note{{here}}
	{ shared_guard held(done); } // says-note{{here}}
	// says-error@*:*{{not a lock: a guard takes what has lock() and unlock()}}
	{ guard held(calls); } // says-note{{here}}
}

void refused()
{
	// says-error@+1{{cannot use parentheses when declaring variable with deduced class template specialization type}} says-error@+1{{no viable constructor or deduction guide}}
	{ guard(lock); }
	// says-error@+1{{no viable constructor or deduction guide}}
	{ pair_guard held(lock, ticket_lock<u8>{}); }
	{ pair_guard held(lock); } // says-error{{no viable constructor}}
	{ pair_guard held(lock, calls); } // says-error{{no viable constructor}}
}
#endif

#if WRONG == 2
void errors()
{
	// says-error@*:*{{this lock's node must outlive the guard, bring one: guard held(lock, node)}}
	{ irq_guard held(clh); } // says-note{{here}}
}
#endif

#if WRONG == 3
void errors()
{
	// says-error@*:*{{this lock's node must outlive the guard, bring one: guard held(lock, node)}}
	{ pair_guard held(lock, clh); } // says-note{{here}}
}
#endif

#if WRONG == 4
void errors()
{
	// says-error@*:*{{this lock's node must outlive the guard, bring one: guard held(lock, node)}}
	{ guard held(clh, adopt); } // says-note{{here}}
}
#endif
