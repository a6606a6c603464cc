/* SPDX-License-Identifier: MIT */
/*
 * Types that say who may do what, irq_lock, thread_lock, synchronized: what
 * must not compile, or must warn; and what is right.
 */
#include <klock/synchronized.hpp>
#include <klock/irq_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/guard.hpp>
#include <klock/checked_lock.hpp>
#include <klock/seq_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/clh_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/condition.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/leveled.hpp>
#include <klock/irq_depth.hpp>
#include <klock/counted_lock.hpp>
#include <klock/too_long.hpp>
#include <klock/annotated.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/order_calls.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/timeout_lock.hpp>
#include <klock/try_lock_until.hpp>

#include <mutex>

using namespace klock;

using ticket = ticket_lock<u8>;
ticket simple;
irq_lock<ticket> queue, other_queue;
irq_lock<mcs_lock> mcs_queue;
irq_lock<clh_lock> clh_queue;
thread_lock<ticket> threads;
mutex files;
condition changed;
checked_lock<condition> checked_changed;
checked_lock<mutex> checked_files;
shared_mutex read_files;
checked_lock<shared_mutex> checked_read_files;
mcs_node node;
clh_node place;
struct table {
	int a, b;
};
synchronized<table, ticket> data;
synchronized<table, irq_lock<ticket>> shared;
synchronized<table, clh_lock> by_node;
using read_write = rw_ticket_lock<u8>;
read_write routes;
reader_lock<4> names;
irq_lock<read_write> handlers_routes;
irq_shared_lock<read_write> readable_routes;
thread_lock<read_write> threads_routes;
synchronized<table, read_write> readable;
synchronized<table, irq_lock<read_write>> handlers_readable;
struct owner {
	owner();
	~owner();
	int *it;
};
int sum;
leveled<ticket, 1> lower;
leveled<ticket, 2> higher, beside;
leveled<mcs_lock, 3> third;
leveled<irq_lock<ticket>, 4> handlers;
constinit section_maxima<4> maxima;
using timed = timed_lock<ticket, maxima>;
using tree = recursive_lock<ticket>;
tree folders;
irq_lock<checked_lock<tree>> checked_folders;
leveled<tree, 1> first_folders;
timed_lock<checked_lock<tree>, maxima> timed_folders;
thread_lock<tree> threads_folders;
recursive_lock<inheriting_mutex> inheriting_folders;
inheriting_mutex bus;
checked_lock<inheriting_mutex> checked_bus;
leveled<checked_lock<inheriting_mutex, "bus">, 1> first_bus;
annotated_lock<checked_lock<ticket>> annotated;
annotated_lock<tree> annotated_folders;
phase_fair_lock<u8> upgradable;
timeout_lock<4> by_number;
checked_lock<timeout_lock<4>> checked_by_number;
u64 deadline;
wait_result why;

/* One case a line. */
// clang-format off
void above_2(const holding<2> &so_far) { level_guard held(so_far, third); }
template <holds_at_most<2> Token>
void above_2_too(const Token &so_far) { level_guard held(so_far, third, node); }
void right_ones()
{
	{ irq_guard held(queue); sum++; held.unlock(); }
	{ irq_guard held(mcs_queue); }
	{ irq_guard held(mcs_queue, node); }
	{ irq_guard held(clh_queue, place); }
	{ if (irq_try_guard held{queue}) sum++; }
	{ irq_pair_guard held(queue, other_queue); }
	{ irq_pair_guard held(simple, with(clh_queue, place)); }
	{ guard held(threads); irq_guard again(simple); }
	{ irq_shared_guard held(handlers_routes); held.unlock(); }
	{ irq_guard held(handlers_routes); }
	{ if (irq_shared_try_guard held{handlers_routes}) sum++; }
	{ shared_guard held(threads_routes); shared_guard a(names, 1); }
	{ auto seen = readable.lock_shared(); sum = seen->a + (*seen).b; }
	{ if (auto seen = handlers_readable.try_lock_shared()) sum = seen->a; }
	{ sum = handlers_readable.with_shared([](const table &t) { return t.a; }); }
	{ auto held = data.lock(); held->a = (*held).b; }
	{ if (auto held = shared.try_lock()) held->a = 1; }
	{ if (auto held = data.try_lock(); held) held->a = 1; }
	{ sum = shared.with([](table &t) { return t.a; }); }
	{ data.with([](auto &t) { t.a = 1; }); }
	{ by_node.with([](table &t) { t.a = 1; }, place); }
	{ nothing_held none; above_2(none); level_guard a(none, lower); level_guard b(a, higher); above_2(b); above_2_too(b); level_guard c(b, handlers); c.unlock(); }
	{ interrupted<3> none; level_guard held(none, handlers); }
	{ nothing_held none; level_guard held(none, at(lower, caller_site())); }
	{ auto held = by_node.lock([]() -> clh_node & { return place; }); held->a = 1; }
	{ why = why_ended(files.try_lock_until(deadline), deadline); why = why_ended(false, 0); }
	{ sum = try_lock_until(by_number, cpu_id(), deadline); sum = try_lock_for(by_number, 1, 1000); }
	{ sum = by_number.try_lock_until(cpu_id(), deadline); sum = checked_by_number.try_lock_for(1, 1000); }
}

#if WRONG == 1
void warned()
{
	{ data.lock(); } // says-warning{{is released at once}}
	{ shared.try_lock(); } // says-warning{{is released at once}}
	{ irq_guard{queue}; } // says-warning{{releases at once}}
	{ shared_guard{routes}; } // says-warning{{releases at once}}
	// says-warning@+1{{a guard without a name releases at once}}
	{ handler_shared_guard{readable_routes}; }
	// says-warning@+1{{a guard without a name releases at once}}
	{ irq_shared_guard{handlers_routes}; }
	// says-warning@+1{{a guard without a name releases at once}}
	{ shared_try_guard{routes}; }
	// says-warning@+1{{a guard without a name releases at once}}
	{ irq_shared_try_guard{handlers_routes}; }
	// says-warning@+1{{a guard without a name releases at once}}
	{ handler_shared_try_guard{readable_routes}; }
	{ upgradable_guard{upgradable}; } // says-warning{{releases at once}}
	{ irq_upgradable_guard{upgradable}; } // says-warning{{releases at once}}
	{ level_guard{nothing_held{}, lower}; } // says-warning{{releases at once}}
	{ readable.lock_shared(); } // says-warning{{is released at once}}
	// says-warning@+1{{what is held without a name is released at once}}
	{ handlers_readable.try_lock_shared(); }
	{ why_ended(files.try_lock_until(deadline), deadline); } // says-warning{{nodiscard}}
	{ routes.try_lock_shared(); } // says-warning{{nodiscard}}
	{ names.try_lock_shared(0); } // says-warning{{nodiscard}}
}

void errors()
{
	// says-error@*:* 3 {{an irq_lock is taken by irq_guard: an interrupt handler takes it, too}}
	{ guard held(queue); } // says-note{{here}}
	{ guard held(mcs_queue); } // says-note{{here}}
	{ guard held(clh_queue, place); } // says-note{{here}}
	// says-error@*:*{{an irq_lock is taken by irq_try_guard: an interrupt handler takes it, too}}
	{ try_guard held(queue); } // says-note{{here}}
	// says-error@*:* 3 {{an irq_lock is taken by irq_pair_guard: an interrupt handler takes it, too}}
	{ pair_guard held(queue, other_queue); } // says-note{{here}}
	{ pair_guard held(simple, queue); } // says-note{{here}}
	// says-note@+1{{here}}
	{ pair_guard held(with(clh_queue, place), simple); }
	// says-error@*:*{{an irq_lock is taken by irq_guard: an interrupt handler takes it, too}}
	{ guard held(handlers_routes); } // says-note{{here}}
	// says-error@*:*{{an irq_lock is read by irq_shared_guard: an interrupt handler takes it, too}}
	{ shared_guard held(handlers_routes); } // says-note{{here}}
	// says-error@*:*{{an irq_lock is taken by irq_guard: an interrupt handler takes it, too}}
	{ guard held(readable_routes); } // says-note{{here}}
	// says-error@*:*{{an irq_lock is taken by irq_try_guard: an interrupt handler takes it, too}}
	{ try_guard held(readable_routes); } // says-note{{here}}
	{ readable_routes.lock_shared(); } // says-error{{no member named}}
	// says-error@*:* 3 {{a handler reads an irq_shared_lock so: of any other, it may wait for the reader that it interrupted}}
	{ handler_shared_guard held(handlers_routes); } // says-note{{here}}
	// says-note@+1{{here}}
	{ handler_shared_guard held(routes); held.unlock(); }
	// says-note@+1{{here}}
	{ if (handler_shared_try_guard held{simple}) sum++; }
	// says-error@+1{{deleted constructor}}
	{ handler_shared_guard held(readable_routes); auto copy = held; }
	// says-error@+1{{deleted}}
	{ if (handler_shared_try_guard{readable_routes}) sum++; }
	// says-error@*:* 2 {{this lock has no lock_shared(): one alone can hold it}}
	{ shared_guard held(simple); } // says-note{{here}}
	{ shared_guard held(queue); } // says-note{{here}}
	// says-error@*:*{{this lock takes neither a node nor a number}}
	{ shared_guard held(routes, 1u); } // says-note{{here}}
	// says-error@*:*{{neither a CPU's number nor a function that returns one}}
	{ shared_guard held(names, node); } // says-note{{here}}
	// says-error@+1{{deleted constructor}}
	{ shared_guard held(routes); auto copy = held; }
	// says-error@+1{{deleted constructor}}
	{ irq_shared_guard held(routes); auto copy = held; }
	{ if (shared_try_guard{routes}) sum++; } // says-error{{deleted}}
	{ if (irq_shared_try_guard{routes}) sum++; } // says-error{{deleted}}
	{ handlers_routes.lock_shared(); } // says-error{{no member named}}
	{ handlers_routes.unlock_shared(); } // says-error{{no member named}}
	// says-error@+1{{no member named}}
	{ sum = handlers_routes.try_lock_shared(); }
	{ queue.lock(); } // says-error{{no member named 'lock'}}
	{ queue.unlock(); } // says-error{{no member named 'unlock'}}
	{ sum = queue.try_lock(); } // says-error{{no member named}}
	// says-error@*:*{{this lock's node must outlive the guard, bring one}}
	{ irq_guard held(clh_queue); } // says-note{{here}}
	// says-error@*:* 2 {{a lock is for handlers too, or for threads alone}}
	{ irq_lock<thread_lock<ticket>> both; } // says-note{{here}}
	{ irq_lock<checked_lock<thread_lock<ticket>>> both; } // says-note{{here}}
	// says-error@*:* {{checked_if<debug, recursive_lock<L>>: inside of it checks see but the first lock() of an owner}}
	{ recursive_lock<checked_lock<ticket>> both; } // says-note{{here}}
	// says-error@*:* 2 {{recursive_lock<L>: L is recursive already}}
	{ recursive_lock<recursive_lock<ticket>> both; } // says-note{{here}}
	{ recursive_lock<checked_lock<tree>> both; } // says-note{{here}}
	// says-error@*:* 3 {{a condition waits with one lock, or with a guard of one: a pair_guard, a rescue_guard cannot be released and taken back}}
	{ pair_guard held(simple, routes); changed.wait(held); } // says-note{{here}}
	{ rescue_guard held(simple); changed.wait(held); } // says-note{{here}}
	{ irq_pair_guard held(simple, routes); checked_changed.wait(held); } // says-note{{here}}
	// says-error@*:* {{recursive_lock<counted_lock<L>>: the other way round each depth is counted}}
	{ counted_lock<recursive_lock<ticket>> both; } // says-note{{here}}
	// says-error@*:* 6 {{a wait lets go of a lock once, and a recursive_lock may be held deeper}}
	{ recursive_lock<ticket> lock; changed.wait(lock); } // says-note{{here}}
	{ recursive_lock<ticket> lock; guard held(lock); changed.wait(held); } // says-note{{here}}
	{ recursive_lock<ticket> lock; checked_changed.wait(lock); } // says-note{{here}}
	{ changed.wait(timed_folders); } // says-note{{here}}
	{ changed.wait(annotated_folders); } // says-note{{here}}
	{ recursive_lock<ticket> lock; std::unique_lock held(lock); changed.wait(held); } // says-note{{here}}
	// says-error@*:* 3 {{why_ended(had, deadline): first the bool that the wait returned, then its deadline}}
	{ why = why_ended(deadline, files.try_lock_until(deadline)); } // says-note{{here}}
	{ why = why_ended(bus.lock_until(deadline), deadline); } // says-note{{here}}
	{ why = why_ended(false, files.try_lock_until(deadline)); } // says-note{{here}}
	// says-error@*:* {{try_lock_until(lock, cpu, deadline): first the CPU's number}}
	{ sum = try_lock_until(by_number, deadline, cpu_id()); } // says-note{{here}}
	// says-error@*:* {{try_lock_for(lock, cpu, how_long): first the CPU's number}}
	{ sum = try_lock_for(by_number, deadline, cpu_id()); } // says-note{{here}}
	{ sum = by_number.try_lock_until(deadline, cpu_id()); } // says-error{{deleted}}
	{ sum = by_number.try_lock_for(deadline, cpu_id()); } // says-error{{deleted}}
	{ sum = checked_by_number.try_lock_until(deadline, cpu_id()); } // says-error{{deleted}}
	{ sum = checked_by_number.try_lock_for(deadline, cpu_id()); } // says-error{{deleted}}
	// says-error@*:* 6 {{a recursive_lock is not handed over: its owner alone releases it}}
	{ handed_over(folders); } // says-note{{here}}
	{ handed_over(checked_folders); } // says-note{{here}}
	{ handed_over(first_folders); } // says-note{{here}}
	{ handed_over(timed_folders); } // says-note{{here}}
	{ handed_over(threads_folders); } // says-note{{here}}
	{ handed_over(inheriting_folders); } // says-note{{here}}
	// says-error@*:* 3 {{an inheriting_mutex is not handed over: its waiters lend to the thread that took it}}
	{ handed_over(bus); } // says-note{{here}}
	{ handed_over(checked_bus); } // says-note{{here}}
	{ handed_over(first_bus); } // says-note{{here}}
	// says-error@*:* {{the lock inside is handed over: handed_over(lock.inner)}}
	{ handed_over(annotated); } // says-note{{here}}
	// says-error@*:* 3 {{a handler takes no lock whose waiters sleep: thread_lock}}
	{ irq_lock<mutex> sleeps; } // says-note{{here}}
	{ irq_lock<checked_lock<mutex>> sleeps; } // says-note{{here}}
	{ irq_shared_lock<shared_mutex> sleeps; } // says-note{{here}}
	// says-error@*:* {{could come with the other held: take that one first, by a guard}}
	{ pair_guard held(simple, files); } // says-note{{here}}
	// says-error@*:* 2 {{a lock whose waiters sleep is taken with interrupts on: pair_guard}}
	{ irq_pair_guard held(files, simple); } // says-note{{here}}
	{ irq_pair_guard held(simple, files); } // says-note{{here}}
	// says-error@*:* 2 {{a lock whose waiters sleep is taken with interrupts on: guard}}
	{ irq_guard held(files); } // says-note{{here}}
	{ irq_guard held(checked_files); } // says-note{{here}}
	// says-error@*:* 2 {{a lock whose waiters sleep is read with interrupts on: shared_guard}}
	{ irq_shared_guard held(read_files); } // says-note{{here}}
	{ irq_shared_guard held(checked_read_files); } // says-note{{here}}
	// says-error@*:*{{checked_lock<thread_lock<L>>: inside of it, checks know nothing of threads}}
	{ thread_lock<checked_lock<ticket>> checked; } // says-note{{here}}
	{ data.lock()->a = 1; } // says-error{{deleted}}
	{ table &t = *data.lock(); t.a = 1; } // says-error{{deleted}}
	{ if (data.try_lock()) sum++; } // says-error{{deleted}}
	// says-error@*:*{{with() returns a value: a reference would be used after the lock is released}}
	// says-note@+1{{here}}
	{ data.with([](table &t) -> int & { return t.a; }); }
	// says-error@+1{{cannot assign to}}
	{ auto seen = readable.lock_shared(); seen->a = 1; }
	// says-error@+1{{cannot assign to}}
	{ auto seen = handlers_readable.lock_shared(); (*seen).a = 1; }
	// says-error@*:*{{with() returns a value: a reference would be used after the lock is released}}
	// says-note@+1{{here}}
	{ readable.with_shared([](const table &t) -> const int & { return t.a; }); }
	{ sum = readable.lock_shared()->a; } // says-error{{deleted}}
	{ if (readable.try_lock_shared()) sum++; } // says-error{{deleted}}
	{ auto held = data.lock(); auto copy = held; } // says-error{{deleted}}
	{ auto copy = data; } // says-error{{deleted constructor}}
	{ sum = data.data.a; } // says-error{{is a private member}}
	// says-error@*:*{{a value that is copied word by word must be trivially copyable}}
	{ seq_lock<owner> copied; } // says-note{{here}}
	// says-error@*:*{{timed_lock<checked_lock<L>, maxima>: inside of it, each line is that of checks}}
	{ checked_lock<timed> lines; } // says-note{{here}}
	// says-error@*:*{{timed_lock<counted_lock<L>, maxima>: the other way round a wait is timed as two}}
	{ counted_lock<timed> twice; } // says-note{{here}}
	// says-error@+1{{no matching constructor}}
	{ checked_lock<ticket> whose(initially_held); }
	// says-error@+1{{no matching constructor}}
	{ checked_lock<ticket, "gate"> whose(initially_held); }
}

void refused()
{
	// says-error@+1{{constraints not satisfied for class template}}
	{ checked_lock<irq_lock<ticket>> checked; }
	{ irq_lock<int> number; } // says-error{{constraints not satisfied}}
	// says-error@+1{{constraints not satisfied for class template}}
	{ synchronized<table, int> unlocked; }
	// says-error@+1{{no matching member function for call to}}
	{ data.with([](int t) { return t; }); }
	// says-error@+1{{no matching member function for call to}}
	{ readable.with_shared([](table &t) { t.a = 1; }); }
	// says-error@+1{{cannot assign to variable}} says-error@+1{{no matching member function for call to}}
	{ readable.with_shared([](auto &t) { t.a = 1; }); }
}
#endif

#if WRONG == 2
void errors()
{
	// says-error@*:*{{this lock's node must outlive the guard, bring one}}
	{ auto held = by_node.lock(); }
	// says-error@*:*{{an irq_lock is taken by irq_guard: an interrupt handler takes it, too}}
	{ guard held(queue); sum++; held.unlock(); } // says-note{{here}}
	// says-error@*:*{{an irq_lock is taken by irq_try_guard: an interrupt handler takes it, too}}
	{ if (try_guard held{queue}) sum++; } // says-note{{here}}
	// says-error@*:*{{an irq_lock is read by irq_shared_guard: an interrupt handler takes it, too}}
	// says-note@+1{{here}}
	{ shared_guard held(handlers_routes); held.unlock(); }
	// says-error@*:* 2 {{this lock has no lock_shared(): one alone can hold it}}
	{ shared_try_guard held(simple); } // says-note{{here}}
	{ irq_shared_guard held(queue); } // says-note{{here}}
}
#endif

#if WRONG == 3
void errors()
{
	// says-error@*:*{{an irq_lock is taken by irq_guard: an interrupt handler takes it, too}}
	{ guard held(queue, adopt); } // says-note{{here}}
	// says-error@*:*{{an irq_lock is read by irq_shared_guard: an interrupt handler takes it, too}}
	// says-note@+1{{here}}
	{ if (shared_try_guard held{handlers_routes}) sum++; }
	// says-error@*:* 2 {{this lock has no lock_shared(): one alone can hold it}}
	{ irq_shared_guard held(simple); } // says-note{{here}}
	{ if (irq_shared_try_guard held{queue}) sum++; } // says-note{{here}}
}
#endif

#if WRONG == 4
void errors()
{
	// says-error@*:*{{an irq_lock is taken by irq_guard: an interrupt handler takes it, too}}
	{ guard<irq_lock<ticket>> held(queue); } // says-note{{here}}
	// says-error@*:*{{this lock has no lock_shared(): one alone can hold it}}
	{ auto seen = data.lock_shared(); }
	// says-error@*:*{{this lock has no lock_shared(): one alone can hold it}}
	{ auto seen = shared.try_lock_shared(); }
}
#endif

#if WRONG == 5
void errors()
{
	// says-error@*:*{{this lock has no lock_shared(): one alone can hold it}}
	// says-note@+1{{here}}
	{ data.with_shared([](const table &t) { return t.a; }); }
	// says-error@*:*{{an irq_lock is taken by irq_guard: an interrupt handler takes it, too}}
	{ guard held(mcs_queue, node); } // says-note{{here}}
}
#endif

#if WRONG == 6
void levels(const holding<1> &up_to_1, const holding<3> &up_to_3)
{
	// says-error@*:* 5 {{a lock of this level or of a higher one is held: the lower level is taken first}}
	{ level_guard a(up_to_1, lower); } // says-note{{here}}
	{ level_guard a(up_to_1, higher), b(a, beside); } // says-note{{here}}
	{ level_guard a(up_to_1, third); level_guard b(a, higher); } // says-note{{here}}
	{ level_guard a(up_to_3, third, node); } // says-note{{here}}
	{ interrupted<4> in; level_guard a(in, handlers); } // says-note{{here}}
	{ above_2(up_to_3); } // says-error{{no matching function}}
	{ above_2_too(up_to_3); } // says-error{{no matching function}}
	// says-error@*:* 4 {{a leveled lock is taken by level_guard, with a token}}
	{ guard held(lower); } // says-note{{here}}
	{ try_guard held(lower); } // says-note{{here}}
	{ irq_guard held(third, node); } // says-note{{here}}
	{ pair_guard held(simple, higher); } // says-note{{here}}
	// says-error@*:*{{level_guard takes a token first: level_guard held(token, lock)}}
	{ level_guard held(lower); } // says-note{{here}}
	{ level_guard{up_to_1, higher}; } // says-warning{{releases at once}}
	{ lower.lock(); } // says-error{{no member named 'lock'}}
	{ holding<1> made; } // says-error{{protected constructor}}
	{ nothing_held made = {}; } // says-error{{is explicit}}
	{ interrupted<1> in, copy(in); } // says-error{{deleted copy constructor}}
}
#endif
