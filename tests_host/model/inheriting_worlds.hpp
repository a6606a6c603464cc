/* SPDX-License-Identifier: MIT */
/*
 * inheriting_worlds - threads that lend their priorities, for the checker
 *
 * Thread i is of priority i + 1. Each has a role, a letter: a, b: a section of
 * that mutex, A, B: by a deadline; n: b, and a inside; N: a by a deadline; m:
 * a, and b inside; q, r: as n and m, and the inner one may be refused; e takes
 * a and ends; h changes the priority of thread 0 to 9 inside of a; p and P
 * change the priority of thread 0 to 9, of thread 1 to 0.
 *
 * The loans are checked at each release of the domain's lock: by who waits, not
 * by the lists from which klock takes them.
 */
#pragma once

#include "sleep_worlds.hpp"

#include <klock/inheriting_mutex.hpp>

namespace sleeping {

inline constinit inheriting_thread threads[4]{
	inheriting_thread{1}, inheriting_thread{2}, inheriting_thread{3},
	inheriting_thread{4}};
/* The look at the end is by thread 3: thread 0 may have ended. A look that is
 * abandoned leaves it true. */
inline bool is_over = false;
/* The priorities that the kernel was told last. */
inline constinit plain<unsigned> runs_with[4]{
	plain<unsigned>{1}, plain<unsigned>{2}, plain<unsigned>{3},
	plain<unsigned>{4}};

/* Each is lent the highest priority of its waiters, and the kernel knows. */
inline void check_loans()
{
	for (unsigned i = 0; i < 4; i++) {
		inheriting_thread &one = threads[i];
		const u32 lent = one.lent.get();
		u32 owed = one.base.get();
		unsigned links = 0;

		for (const inheriting_thread &other : threads) {
			detail::lendable *const wanted = other.waits_for();

			if (wanted && &wanted->owner() == &one)
				owed = std::max(owed, other.lent.get());
		}
		check(lent == owed, "a loan is wrong");
		check(lent == runs_with[i].get(), "the kernel is not told");
		for (auto *at = &one; at->waits_for(); links++) {
			check(links < 4, "they wait for each other");
			at = &at->waits_for()->owner();
		}
	}
}

/* The queue that a thread waits in: by priority. */
inline void check_queues()
{
	for (const inheriting_thread &one : threads) {
		u32 before = ~u32{0};

		if (!one.waits_for())
			continue;
		one.waits_for()->queue.for_each([&](detail::sleeper &at) {
			auto &node = static_cast<detail::lender &>(at);
			const u32 its = node.by.get()->lent.get();

			check(its <= before, "not by priority");
			before = its;
		});
	}
}

struct checked_tickets : tickets {
	void unlock()
	{
		check_loans();
		check_queues();
		tickets::unlock();
	}
};

struct domain {
	static constexpr u32 max_chain = 64;
	static inline constinit checked_tickets lock;
};
using inheriting = inheriting_mutex_in<domain>;

/* Set before an exploration: each begins with them. */
inline void set_priorities(unsigned first, unsigned step)
{
	is_over = false;
	for (unsigned i = 0; i < 4; i++) {
		threads[i].base.set(first + i * step);
		threads[i].lent.set(first + i * step);
		threads[i].domain.set(nullptr);
		runs_with[i].set(first + i * step);
	}
}

/* All threads are of one priority. */
struct among_equals {
	among_equals() { set_priorities(1, 0); }
	~among_equals() { set_priorities(1, 1); }
};

struct two_mutexes {
	inheriting a, b;
	plain<unsigned> x, y;
	/* who had a ended with it */
	plain<bool> ended;
	/* one has role e */
	static inline bool one_ends;

	void change_a()
	{
		if (one_ends)
			check(a.owner_died() == ended.get(), "who died");
		ended.set(false);
		x.set(x.get() + 1);
	}
	void change_b() { y.set(y.get() + 1); }

	void section(char role)
	{
		if (role == 'A' ? !a.try_lock_until(1) : (a.lock(), false))
			return;
		change_a();
		if (role == 'h')
			priority_changed<domain>(threads[0], 9);
		a.unlock();
	}
	void other_section(char role)
	{
		if (role == 'B' ? !b.try_lock_until(1) : (b.lock(), false))
			return;
		change_b();
		b.unlock();
	}
	/* The outer one, and the inner one inside. */
	template <typename Take>
	void nested(inheriting &outer, inheriting &inner, Take take)
	{
		outer.lock();
		if (take(inner)) {
			x.set(x.get() + 1);
			y.set(y.get() + 1);
			inner.unlock();
		}
		outer.unlock();
	}
	void ends(inheriting_thread &me)
	{
		a.lock();
		change_a();
		ended.set(true);
		thread_ends<domain>(me, true, [](const void *) {});
	}

	void play(unsigned cpu, char role)
	{
		const auto waits = [](inheriting &m) { return m.lock(), true; };
		const auto asks = [](inheriting &m) {
			return m.try_lock_until(1);
		};

		if (std::strchr("aAh", role))
			section(role);
		else if (std::strchr("bB", role))
			other_section(role);
		else if (std::strchr("nNq", role))
			role == 'n' ? nested(b, a, waits) : nested(b, a, asks);
		else if (std::strchr("mr", role))
			role == 'm' ? nested(a, b, waits) : nested(a, b, asks);
		else if (role == 'e')
			ends(threads[cpu]);
		else if (role == 'p')
			priority_changed<domain>(threads[0], 9);
		else if (role == 'P')
			priority_changed<domain>(threads[1], 0);
	}
};

inline result lending(options how, const char *roles)
{
	how.sections.assign(std::strlen(roles), 1);
	set_priorities(1, 1);
	two_mutexes::one_ends = std::strchr(roles, 'e');
	return run<two_mutexes>(
		how,
		[=](two_mutexes &w, unsigned cpu) {
			is_over = false;
			w.play(cpu, roles[cpu]);
		},
		[](two_mutexes &w) {
			is_over = true;
			check(w.a.try_lock_until(1) && w.b.try_lock(),
			      "nobody let it go");
			for (const inheriting_thread &one : threads)
				check(one.lent.get() == one.base.get(),
				      "a loan is left");
			is_over = false;
		});
}

/* A domain that nobody looks at from outside. */
struct unchecked {
	static constexpr u32 max_chain = 64;
	static inline constinit tickets lock;
};

/* A thread's object, as its constructor leaves it. */
inline void make(inheriting_thread &thread, u32 priority)
{
	thread.base.set(priority);
	thread.lent.set(priority);
	thread.waits.set(nullptr);
	thread.wanted.set(nullptr);
	thread.domain.set(nullptr);
	thread.ended.set(false);
}

/*
 * Each thread makes its own object, takes the mutex by its role, releases it
 * and ends: its object is another's. So whoever reads the object of another
 * thread must come after its making, and before its end.
 */
inline result own_objects(const options &how, const char *roles)
{
	worlds::game g = threads_of<inheriting_mutex_in<unchecked>>(
		roles, &worlds::world::sections);

	g.thread_begins = [] { make(threads[model::cpu()], model::cpu() + 1); };
	g.thread_ends = [] {
		make(threads[model::cpu()], model::cpu() + 1);
		thread_ends();
	};
	set_priorities(1, 1);
	return worlds::play(g, how);
}

} // namespace sleeping

extern "C" klock::inheriting_thread *klock_os_inheriting_thread(void)
{
	return &sleeping::threads[sleeping::is_over ? 3 : model::cpu()];
}

extern "C" void klock_os_run_with_priority(klock::inheriting_thread *thread,
					   unsigned priority)
{
	sleeping::runs_with[thread - sleeping::threads].set(priority);
}
