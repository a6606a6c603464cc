/* SPDX-License-Identifier: MIT */
/*
 * inheriting_worlds - threads that lend their priorities, for the checker
 *
 * Thread i is of priority i + 1. Its role is a word (roles.hpp), of the mutexes
 * a and b; in capitals, by a deadline. Steps in it: ^ changes the priority of
 * thread 0 to 9, _ that of thread 1 to 0; ! ends with all that it holds.
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
using inheriting = inheriting_mutex_in<domain, 0>;
using spinning_inheriting = inheriting_mutex_in<domain, 1, 1>;

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

template <typename Mutex>
struct two_mutexes {
	Mutex a, b;
	plain<unsigned> x, y;
	/* who had a ended with it */
	plain<bool> ended;
	bool has_ended[4] = {}; /* on the host */
	/* one does */
	static inline bool one_ends;

	void change_a()
	{
		if (one_ends)
			check(a.owner_died() == ended.get(), "who died");
		ended.set(false);
		x.set(x.get() + 1);
	}
	bool take_a(bool waits)
	{
		if (!waits && !a.try_lock_until(1))
			return false;
		if (waits)
			a.lock();
		change_a();
		return true;
	}
	bool take_b(bool waits)
	{
		if (!waits && !b.try_lock_until(1))
			return false;
		if (waits)
			b.lock();
		y.set(y.get() + 1);
		return true;
	}
	bool take(char letter)
	{
		switch (letter) {
		case 'a':
		case 'A':
			return take_a(letter == 'a');
		case 'b':
		case 'B':
			return take_b(letter == 'b');
		case '^':
			return priority_changed<domain>(threads[0], 9), true;
		case '_':
			return priority_changed<domain>(threads[1], 0), true;
		default:
			return ends(), true;
		}
	}
	void release(char letter)
	{
		if (has_ended[model::cpu()])
			return;
		if (letter == 'a' || letter == 'A')
			a.unlock();
		else if (letter == 'b' || letter == 'B')
			b.unlock();
	}
	void ends()
	{
		ended.set(true);
		has_ended[model::cpu()] = true;
		thread_ends<domain>(threads[model::cpu()], true,
				    [](const void *) {});
	}

	void play(const char *word)
	{
		worlds::nest(
			word, [this](char letter) { return take(letter); },
			[this](char letter) { release(letter); });
	}
};

template <typename Mutex = inheriting>
result lending(options how, const char *words)
{
	using two = two_mutexes<Mutex>;

	how.sections = worlds::one_section_each(words);
	set_priorities(1, 1);
	two::one_ends = std::strchr(words, '!');
	return run<two>(
		how,
		[words](two &w, unsigned cpu) {
			is_over = false;
			w.play(worlds::word_of(words, cpu));
		},
		[](two &w) {
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
	worlds::game g = threads_of<inheriting_mutex_in<unchecked, 0>>(
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
