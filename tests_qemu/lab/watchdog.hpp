/* SPDX-License-Identifier: MIT */
/*
 * watchdog - says who waits for what when nobody gets on
 *
 * It looks from an NMI, so that it sees also CPUs that wait with interrupts
 * off; where there are none, from the pauses of CPUs that wait (nmi.hpp). A CPU
 * that spins in lock() cannot be had back: a stand-still of a sound lock is the
 * end, with a report; a mutant's waits end when give_up is set, and how long
 * that takes follows a control in the same run. The host's runner has a
 * watchdog of its own, for a guest that is gone.
 */
#pragma once

#include "options.hpp"

#include <klock/padded_ticket_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/proportional_ticket_lock.hpp>
#include <klock/selftest/torture.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/types.hpp>

namespace lab {

/* The tickets of a lock that has some; else the lock's first bytes. */
struct lock_state {
	bool has_tickets = false;
	klock::u32 next = 0;  /* the next ticket to be taken */
	klock::u32 owner = 0; /* the one that is served */
	klock::u8 bytes[8] = {};
	unsigned size = 0;
};

/* The offsets of a lock's counters; equal if it has none. */
struct ticket_places {
	klock::usize next, owner;

	constexpr bool nowhere() const { return next == owner; }
};

template <typename L>
inline constexpr ticket_places places_in{0, 0};
template <typename Counter>
inline constexpr ticket_places places_in<klock::ticket_lock<Counter>>{
	sizeof(Counter), 0};
template <typename Counter>
inline constexpr ticket_places
	places_in<klock::proportional_ticket_lock<Counter>>{sizeof(Counter), 0};
template <typename Counter>
inline constexpr ticket_places places_in<klock::padded_ticket_lock<Counter>>{
	0, klock::cache_line};
template <typename Counter, klock::u32 Patience>
inline constexpr ticket_places
	places_in<klock::preemptable_ticket_lock<Counter, Patience>>{
		0, sizeof(Counter)};

/* Whether both count by twos: below the turn is a bit, of who holds. */
template <typename L>
inline constexpr bool has_held_bit = false;
template <typename Counter, klock::u32 Patience>
inline constexpr bool
	has_held_bit<klock::preemptable_ticket_lock<Counter, Patience>> = true;

template <typename L>
inline constexpr klock::usize ticket_size = sizeof(klock::u32);
template <template <typename> typename L, typename Counter>
	requires(!has_held_bit<L<Counter>>)
inline constexpr klock::usize ticket_size<L<Counter>> = sizeof(Counter);
template <typename Counter, klock::u32 Patience>
inline constexpr klock::usize
	ticket_size<klock::preemptable_ticket_lock<Counter, Patience>> =
		sizeof(Counter);

/* The properties of a lock's type that describe() needs. */
struct lock_shape {
	klock::usize size;
	ticket_places places;
	klock::usize ticket_size;
	bool has_held_bit;
};

lock_state describe(const void *lock, const lock_shape &shape);

template <typename L>
lock_state describe(const L &lock)
{
	static constexpr lock_shape shape = {sizeof(L), places_in<L>,
					     ticket_size<L>, has_held_bit<L>};

	return describe(&lock, shape);
}

/* The meaning of a run that stands still. */
enum class stuck {
	is_a_bug,   /* the end, with a report */
	is_control, /* its own end: a right lock, as is_meant would have it */
	is_meant, /* the same, when it takes much longer than the control did */
};

/* A test without its type. */
struct watched {
	const void *test;
	const char *lock;
	unsigned cpus;
	klock::u32 (*progress)(const void *);
	klock::selftest::doing (*what)(const void *, unsigned);
	lock_state (*state)(const void *);
	stuck standstill;
};

/* How long a stand-still of a sound lock is borne: read when a watch starts. */
void set_patience(const options &o);

/* Whether there is a watchdog; prints why if not. CPU 0, thread. */
bool has_watchdog();

/*
 * The longest standstill in all runs of the control: about so many milliseconds
 * in which all CPUs ran.
 */
[[nodiscard]] klock::u32 longest_stand_still();

void start_watching(const watched &what);
void stop_watching();

/* Describes the lock of a Test, which is given as its base. */
template <typename Base, typename Test>
lock_state state_of(const void *test)
{
	return describe(
		static_cast<const Test *>(static_cast<const Base *>(test))
			->watched());
}

/* Any test that has progress() and what(); state() is given its address. */
template <typename Test>
watched watched_test(const Test &test, const char *lock, unsigned cpus,
		     lock_state (*state)(const void *), stuck standstill)
{
	return {&test,
		lock,
		cpus,
		[](const void *of) {
			return static_cast<const Test *>(of)->progress();
		},
		[](const void *of, unsigned cpu) {
			return static_cast<const Test *>(of)->what(cpu);
		},
		state,
		standstill};
}

/* A test that has watched(), too. */
template <typename Test>
watched watched_test(const Test &test, const char *lock, unsigned cpus,
		     stuck standstill)
{
	return watched_test(test, lock, cpus, state_of<Test, Test>, standstill);
}

} // namespace lab
