/* SPDX-License-Identifier: MIT */
/*
 * Locks that readers share, sequences, once, barriers: what must not compile,
 * or must warn; and what is right.
 */
#include <klock/rw_ticket_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/seq_lock.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_count.hpp>
#include <klock/once.hpp>
#include <klock/barrier.hpp>
#include <klock/guard.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/shared_guard.hpp>
#include <klock/checked_lock.hpp>
#include <klock/irq_lock.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/leveled.hpp>
#include <klock/order_calls.hpp>

using namespace klock;

rw_ticket_lock<u8> routes;
phase_fair_lock<u16> files;
irq_lock<phase_fair_lock<u8>> drivers;
irq_shared_lock<checked_lock<phase_fair_lock<u8>>> devices, others;
leveled<irq_shared_lock<phase_fair_lock<u8>>, 1> first_devices;
atomic_pair<u8> halves;
atomic_fields<u8, 3> thirds;
reader_lock<4> names;
seq_lock<int> wall_clock;
seq_latch<int> clock_for_nmis;
seq_count count;
once tables;
lazy<int> made;
spin_barrier all_are_up;
struct owner {
	owner();
	~owner();
	int *it;
};
u32 began;
int sum;
bool ready();

/* One case a line. */
// clang-format off
void right_ones()
{
	{ rw_ticket_lock_for<65536> u16s; u16s.lock_shared(); u16s.unlock_shared(); }
	{ shared_guard held(names, 3u); guard other(files); }
	{ if (shared_try_guard held{names, 0}) sum++; }
	{ irq_upgradable_guard held(drivers); held.upgrade(); held.downgrade(); }
	{ irq_guard held(drivers); held.downgrade(); shared_guard other(routes, adopt); }
	{ irq_pair_guard held(devices, others); }
	{ sum = halves.load_relaxed(half::second) + thirds.load_relaxed(field<2>{}); }
	{ if (tables.call(ready)) sum++; }
	{ tables.call([] { sum++; }); }
	{ made.get([] { return 3; }) = sum; }
	{ wall_clock.update([](int &now) { now++; }); sum = wall_clock.read(); }
	{ if (all_are_up.arrive_and_wait(1)) sum++; }
}

#if WRONG == 1
void warned()
{
	{ wall_clock.read(); } // says-warning{{nodiscard}}
	{ wall_clock.try_read(sum); } // says-warning{{nodiscard}}
	{ clock_for_nmis.read(); } // says-warning{{nodiscard}}
	{ count.read_begin(); } // says-warning{{nodiscard}}
	{ count.read_retry(began); } // says-warning{{nodiscard}}
	{ count.read_try_begin(began); } // says-warning{{nodiscard}}
	{ routes.try_lock(); } // says-warning{{nodiscard}}
	{ files.try_lock_shared(); } // says-warning{{nodiscard}}
	{ tables.is_done(); } // says-warning{{nodiscard}}
	{ made.peek(); } // says-warning{{nodiscard}}
}

void errors()
{
	// says-error@*:*{{a lock needs a CPU}}
	{ reader_lock<0> nobody; } // says-note{{here}}
	// says-error@*:*{{a lock needs a contender}}
	{ rw_ticket_lock_for<0> nobody; } // says-note{{here}}
	// says-error@*:*{{this lock takes neither a node nor a number}}
	{ shared_guard held(files, 3u); } // says-note{{here}}
	// says-error@*:*{{adopt comes last: shared_guard held(lock, number, klock::adopt)}}
	{ shared_guard held(names, adopt, 3u); } // says-note{{here}}
	// says-error@*:*{{this lock takes neither a node nor a number: upgradable_guard held(lock), or held(lock, klock::adopt)}}
	{ upgradable_guard held(files, 3); } // says-note{{here}}
	{ shared_try_guard held(routes, adopt); } // says-error{{deleted}}
	{ irq_upgradable_guard held(files, adopt); } // says-error{{deleted}}
	// says-error@*:*{{a reader has nothing to downgrade}}
	{ shared_guard held(routes); held.downgrade(); } // says-note{{here}}
	// says-error@*:* 2 {{an irq_shared_lock is not handed over: it is two locks}}
	{ handed_over(devices); } // says-note{{here}}
	{ handed_over(first_devices); } // says-note{{here}}
	// says-error@*:*{{this lock has no downgrade(): its writer cannot become a reader}}
	{ guard held(names); held.downgrade(); } // says-note{{here}}
	{ sum = names.try_lock(); } // says-error{{no member named}}
	{ sum = halves.load_relaxed(field<2>{}); } // says-error{{no matching member function}}
	{ thirds.store_release(field<3>{}, 1); } // says-error{{no matching member function}}
	// says-error@*:*{{this lock has no try_lock()}}
	{ try_guard held(names); } // says-note{{here}}
	// says-error@*:*{{this lock has no lock_upgradable(): its readers cannot upgrade}}
	{ upgradable_guard held(routes); held.upgrade(); } // says-note{{here}}
	// says-error@*:*{{an irq_lock is read by irq_upgradable_guard}}
	{ upgradable_guard held(drivers); sum = held.try_upgrade(); } // says-note{{here}}
	// says-error@*:*{{a value that is copied word by word must be trivially copyable}}
	{ seq_lock<owner> copied; } // says-note{{here}}
	{ sum = wall_clock; } // says-error{{incompatible type}}
	{ wall_clock = 3; } // says-error{{no viable overloaded '='}}
	// says-error@*:* 2 {{once: what is called returns a bool, false if it has failed, or nothing}}
	{ tables.call([] { return 0; }); } // says-note{{here}}
	{ tables.call([] { return &sum; }); } // says-note{{here}}
	// says-error@*:*{{cannot initialize}}
	{ made.get([] { return &sum; }); } // says-note{{here}}
	{ auto copy = made; } // says-error{{deleted constructor}}
}

void sizes()
{
	// says-error@*:*{{u8 or u16, for 65536 contexts at most}}
	{ rw_ticket_lock<u32> wide; } // says-note{{here}}
	// says-error@*:*{{u8 or u16, for 16383 readers at most}}
	{ phase_fair_lock<u32> wide; } // says-note{{here}}
}

void refused()
{
	// says-error@+1{{constraints not satisfied for class template}}
	{ rw_ticket_lock<int> number; }
	// says-error@+1{{constraints not satisfied for class template}}
	{ phase_fair_lock<long> number; }
	// says-error@+1{{call to implicitly-deleted copy constructor of}}
	{ auto copy = routes; }
	// says-error@+1{{call to implicitly-deleted copy constructor of}}
	{ auto copy = files; }
	// says-error@+1{{call to deleted constructor of}}
	{ auto copy = names; }
	// says-error@+1{{call to deleted constructor of}}
	{ auto copy = wall_clock; }
	// says-error@+1{{call to implicitly-deleted copy constructor of}}
	{ auto copy = clock_for_nmis; }
	// says-error@+1{{call to implicitly-deleted copy constructor of}}
	{ auto copy = count; }
	// says-error@+1{{call to implicitly-deleted copy constructor of}}
	{ auto copy = tables; }
	// says-error@+1{{call to deleted constructor of}}
	{ auto copy = all_are_up; }
	// says-error@+1{{too few arguments to function call, single argument}}
	{ names.lock_shared(); }
	// says-error@+1{{too few arguments to function call, single argument}}
	{ names.unlock_shared(); }
	// says-error@+1{{too many arguments to function call, expected 0, have 1}}
	{ routes.lock_shared(3); }
	// says-error@+1{{too many arguments to function call, expected 0, have 1}}
	{ files.unlock_shared(3); }
}
#endif

#if WRONG == 2
void errors()
{
	{ irq_shared_guard held(routes, adopt); } // says-error{{deleted}}
	// says-error@*:*{{this lock has no try_lock()}}
	{ rescue_guard held(names); } // says-note{{here}}
	// says-error@*:*{{a value that is copied word by word must be trivially copyable}}
	{ seq_latch<owner> copied; } // says-note{{here}}
}

void sizes()
{
	// says-error@*:*{{u8 or u16, for 65536 contexts at most}}
	{ rw_ticket_lock_for<65537> wide; } // says-note{{here}}
}
#endif
