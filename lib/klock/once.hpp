/* SPDX-License-Identifier: MIT */
/*
 * once - a function that the first caller runs, and no other
 *
 *	constinit klock::once tables;
 *
 *	tables.call([] { make_tables(); });	everywhere, before use
 *
 *	constinit klock::lazy<table> shared;
 *
 *	shared.get([] { return table{...}; }).look_up(x);
 *
 * The first caller runs the function. Callers that come meanwhile wait until it
 * has returned, and see all that it wrote. A function that returns false has
 * failed: the next caller, or one that waits, tries again. Once it is done, a
 * call is one load.
 *
 * Source:      the field's "call once"; the states are ours.
 * Size:        once: a word, 8 bytes, on 32 bits 4; zero bytes: not done yet.
 *              lazy<T>: T and a word, rounded up to the larger alignment; zero
 *              bytes: not made yet. No destructor is registered, no __cxa_guard
 *              is called: both may lie in a kernel's .bss.
 *                                      Checked: unit/once: size, unit/lazy
 * Context:     threads and handlers, on CPUs that have a number (klock/os.hpp);
 *              before CPUs have one, one CPU alone. A handler that calls it
 *              while its own CPU runs the function panics, and so does a
 *              function that calls itself: both would wait for ever. NMI:
 *              is_done() and peek() only.
 *                                      Checked: model/once: a handler
 *              The function must not be preempted, unless the kernel defines
 *              klock_os_owner_id(). Then threads of one CPU are told apart, and
 *              a waiting thread spins until it is preempted. In such a kernel a
 *              handler may call it only when it is done: before, it could spin
 *              for a thread that waits for this CPU.
 *                                      Checked: unit/once: a thread
 *              It is no checked lock, and takes no part in lock_order.hpp: a
 *              function that wants a lock, whose holder calls the once, waits
 *              for ever without a report. If it takes locks, report it, in
 *              each thread that calls it: acquired(&tables, "tables") before
 *              the call, released(&tables) after it (order_calls.hpp).
 *                                      Checked: unit/once: two that wait
 *
 * State (state):  0 new --call--> 1 + owner running --true--> done
 *                                                   --false--> 0 new
 *
 * Ordering:
 *	O1  call     state.load_acquire              pairs with O4
 *	O2  is_done  state.load_acquire              pairs with O4
 *	O3  call     state.compare_exchange_acquire  pairs with O4, O5
 *	O4  call     state.store_release         pairs with O1, O2, O3, O6
 *	O5  call     state.store_release             pairs with O3, O6
 *	O6  call     state.await_acquire             pairs with O4, O5
 *                                      Checked: model/once: orders needed
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/os.hpp>

namespace klock {

struct once {
	constexpr once() = default;

	/*
	 * Runs what() unless it is done; waits while another runs it. True:
	 * it is done. False: what() returned false in this call; a what() that
	 * returns nothing cannot fail.
	 */
	template <typename What>
	bool call(What &&what)
	{
		const usize now = state.load_acquire(); /* O1 */

		return now == done || call_slowly(what, now);
	}

	/* Whether it is done; if so, all that it wrote is visible. Any context.
	 */
	[[nodiscard]] bool is_done() const
	{
		return state.load_acquire() == done; /* O2 */
	}

      private:
	static constexpr usize fresh = 0;
	static constexpr usize done = ~usize{0};
	/* the owners done - 1 and done - 2 share this value */
	static constexpr usize one_of_two = done - 1;

	template <typename What>
	[[gnu::noinline]] bool call_slowly(What &what, usize now)
	{
		const usize owner = owner_id();
		const usize me = owner < one_of_two ? owner + 1 : one_of_two;

		for (;;) {
			if (now == fresh &&
			    state.compare_exchange_acquire(now, me)) /* O3 */
				return finish(run(what));
			if (now == done)
				return true;
			if (now == me && me != one_of_two)
				panic("once", this, cpu_id(),
				      owner_is_cpu() ? "called again by the "
						       "CPU that runs it"
						     : "called again by the "
						       "thread that runs it");
			now = state.await_acquire([](usize v) {
				return v == fresh || v == done;
			}); /* O6 */
		}
	}

	template <typename What>
	static bool run(What &what)
	{
		using answer = decltype(what());

		static_assert(same_as<answer, bool> || same_as<answer, void>,
			      "once: what is called returns a bool, false if "
			      "it has failed, or nothing");
		if constexpr (same_as<answer, bool>) {
			return what();
		} else {
			what();
			return true;
		}
	}

	bool finish(bool succeeded)
	{
		if (succeeded)
			state.store_release(done); /* O4 */
		else
			state.store_release(fresh); /* O5 */
		return succeeded;
	}

	/* 0: not yet; 1 + owner: that CPU or thread runs it; all ones: done */
	atomic<usize> state;
};

/*
 * lazy<T> - a T that the first caller constructs
 *
 * It is never destroyed: a kernel's statics live as long as the kernel.
 */
template <typename T>
struct lazy {
	constexpr lazy() {}
	constexpr ~lazy() = default;
	lazy(const lazy &) = delete;
	lazy &operator=(const lazy &) = delete;

	/* Returns the T. Only one caller's make() is called, once. */
	template <typename Make>
	T &get(Make make)
	{
		made.call([&] { new (room) maker{make()}; });
		return *it();
	}

	/* The T, or null as long as it is not made. Any context. */
	[[nodiscard]] T *peek() { return made.is_done() ? it() : nullptr; }

      private:
	/* A placement new of its own, as <new> belongs to the standard
	 * library. */
	struct maker {
		T value;
		static void *operator new(usize, void *at) { return at; }
	};

	T *it() { return __builtin_launder(reinterpret_cast<T *>(room)); }

	once made;
	alignas(T) unsigned char room[sizeof(T)] = {};
};

} // namespace klock
