/* SPDX-License-Identifier: MIT */
/*
 * sleep_worlds - what threads do with the locks that sleep, for the checker
 *
 * Each CPU has a role, a letter; capital: by a deadline, that may have passed
 * at any look. Inner lock: a ticket_lock, as PROVED-SLEEP's, whose counts these
 * are; the one that is shipped is in worlds of its own.
 */
#pragma once

#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mutex.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/wait_queue.hpp>

#include <model/parking.hpp>

#include <cstring>

namespace sleeping {

using namespace klock;
using model::check;
using model::options;
using model::result;
using model::thread_ends;

using tickets = ticket_lock<u8>;

/* After each release of the inner lock a page fault may come. */
struct nesting_tickets : tickets {
	void unlock()
	{
		tickets::unlock();
		model::nested_park();
	}
};

/* How often each CPU has passed it. */
struct counted_tickets : tickets {
	static inline constinit plain<unsigned> passed[4];

	void lock()
	{
		const unsigned cpu = model::cpu();

		passed[cpu].set(passed[cpu].get() + 1);
		tickets::lock();
	}
};

/*
 * -- Sections: l lock, L by a deadline, t try; r and R read, m reads until n
 * does, too, d downgrades, u unparks CPU 0 for nothing --
 */

/* A semaphore of one unit as a lock. */
template <typename Inner>
struct one_unit {
	void lock() { units.acquire(); }
	bool try_lock() { return units.try_acquire(); }
	bool try_lock_until(u64 at) { return units.try_acquire_until(at); }
	void unlock() { (void)units.release(); }

	bounded_semaphore<1, Inner> units{1};
};

template <typename Lock>
struct locked {
	/* Its life is not the world's. */
	union {
		Lock lock;
	};
	plain<unsigned> count, references;
	atomic<unsigned> inside;

	locked() : lock() {}
	~locked() {}

	bool enter(char role)
	{
		if constexpr (requires { lock.lock_shared(); }) {
			if (role == 'n')
				(void)inside.await_eq_relaxed(1);
			if (role == 'r' || role == 'm' || role == 'n')
				return lock.lock_shared(), true;
			if (role == 'R')
				return lock.try_lock_shared_until(1);
		}
		if (role == 'L')
			return lock.try_lock_until(1);
		if (role == 't')
			return lock.try_lock();
		lock.lock();
		return true;
	}
	void leave(char role)
	{
		if constexpr (requires { lock.lock_shared(); }) {
			if (role == 'd')
				lock.downgrade();
			if (role == 'd')
				(void)count.get();
			if (role != 'l' && role != 'L')
				return lock.unlock_shared();
		}
		lock.unlock();
	}

	void section(char role)
	{
		if (role == 'u')
			return model::unpark_for_nothing(0);
		if (!enter(role))
			return;
		if (role == 'm' || role == 'n')
			inside.store_relaxed(role == 'm' ? 1 : 2);
		if (role == 'm')
			(void)inside.await_eq_relaxed(2);
		else if (role == 'r' || role == 'R' || role == 'n')
			(void)count.get();
		else
			count.set(count.get() + 1);
		leave(role);
	}

	/* Gives its reference up, and ends it if that was the last. */
	void last_ends(char role)
	{
		if (!enter(role))
			enter('l');
		const unsigned gone = references.get() + 1;

		references.set(gone);
		lock.unlock();
		if (gone == count.get())
			lock.~Lock();
	}
};

template <typename Lock>
result sections(options how, const char *roles)
{
	return model::explore<locked<Lock>>(
		how,
		[roles](locked<Lock> &w, unsigned cpu) {
			w.section(roles[cpu]);
			thread_ends();
		},
		[](locked<Lock> &w) {
			check(w.lock.try_lock(), "nobody let it go");
		});
}

/* CPU 1 and then CPU 2 queue behind CPU 0, and are served in this order. */
template <typename Lock>
result in_turn(options how)
{
	struct queued : locked<Lock> {
		void queue(unsigned cpu)
		{
			plain<bool> waits;
			auto says_so = [&] {
				if (!waits.get())
					behind.store_release(cpu + 1);
				waits.set(true);
			};

			(void)behind.await_eq_acquire(cpu);
			const model::before_waits queues(says_so);
			this->lock.lock();
			check(this->count.get() == cpu, "not in turn");
		}

		/* How many hold or wait. */
		atomic<unsigned> behind;
	};

	return model::explore<queued>(how, [](queued &w, unsigned cpu) {
		if (cpu == 0) {
			w.lock.lock();
			w.behind.store_release(1);
			(void)w.behind.await_eq_acquire(3);
		} else {
			w.queue(cpu);
		}
		w.count.set(w.count.get() + 1);
		w.lock.unlock();
		thread_ends();
	});
}

/* As many references as sections. */
template <typename Lock>
struct referenced : locked<Lock> {
	static inline unsigned all;

	referenced() { this->count.set(all); }
};

template <typename Lock>
result freed(options how, const char *roles)
{
	referenced<Lock>::all = 0;
	for (unsigned n : how.sections)
		referenced<Lock>::all += n;
	return model::explore<referenced<Lock>>(
		how, [roles](referenced<Lock> &w, unsigned cpu) {
			w.last_ends(roles[cpu]);
			thread_ends();
		});
}

/* CPU 1's only section passes the inner lock once, and again at each wake. */
template <u32 Patience>
result told_in_vain(const options &how)
{
	using lock = patient_mutex<Patience, counted_tickets>;

	return model::explore<locked<lock>>(how, [](locked<lock> &w,
						    unsigned cpu) {
		if (cpu == 1) {
			w.lock.lock();
			check(counted_tickets::passed[1].get() <= 2 + Patience,
			      "told in vain too often");
			w.count.set(w.count.get() + 1);
			w.lock.unlock();
		} else {
			w.section('l');
		}
		thread_ends();
	});
}

/* -- Some take, some bring: t takes, T by a deadline, b brings, a to all --
 */

/* A wait_queue whose predicate takes. */
template <typename Inner>
struct queue_of_units {
	template <typename... Deadline>
	bool take(Deadline... deadline)
	{
		const auto one = [this] {
			const unsigned there = units.get();

			if (there)
				units.set(there - 1);
			return there != 0;
		};

		if constexpr (sizeof...(Deadline) == 0)
			return queue.wait(one), true;
		else
			return queue.wait_until(one, deadline...);
	}
	void bring()
	{
		queue.wake_one([this] { units.set(units.get() + 1); });
	}
	/* Enough for all. */
	void bring_all()
	{
		queue.wake_all([this] { units.set(units.get() + 2); });
	}

	wait_queue_with<Inner> queue;
	plain<unsigned> units;
};

template <typename Inner>
struct semaphore_of_units {
	bool take() { return units.acquire(), true; }
	bool take(u64 deadline) { return units.try_acquire_until(deadline); }
	void bring() { check(units.release(), "a unit was dropped"); }
	void bring_all() { bring(), bring(); }

	bounded_semaphore<8, Inner> units;
};

/* A condition, and the lock that it lets go of. */
template <typename Inner, typename Lock, typename Guard>
struct condition_of_units {
	template <typename... Deadline>
	bool take(Deadline... deadline)
	{
		Guard held(lock);
		bool told = true;

		while (!units.get() && told)
			if constexpr (sizeof...(Deadline) == 0)
				changed.wait(held);
			else
				told = changed.wait_until(held, deadline...);
		if (!units.get())
			return false;
		units.set(units.get() - 1);
		return true;
	}
	void bring()
	{
		Guard held(lock);

		units.set(units.get() + 1);
		changed.notify_one();
	}
	void bring_all()
	{
		Guard held(lock);

		units.set(units.get() + 2);
		changed.notify_all();
	}

	Lock lock;
	condition_with<Inner> changed;
	plain<unsigned> units;
};

template <typename Units>
struct supply {
	Units units;
	/* Who took none by its deadline; by CPU: whether its handler came. */
	plain<bool> late[4], came[4];
	static inline supply *now;
	static inline const char *handlers;

	supply() { now = this; }

	void handle(unsigned cpu)
	{
		if (handlers[cpu] != 'b' || came[cpu].get())
			return;
		came[cpu].set(true);
		units.bring();
	}

	void play(char role, unsigned cpu)
	{
		if (role == 'b')
			units.bring();
		else if (role == 'a')
			units.bring_all();
		else if (role == 't')
			(void)units.take();
		else if (role == 'T' && units.take(1))
			units.bring(); /* for who has no deadline */
		else if (role == 'T')
			late[cpu].set(true);
	}
};

/* CPU 0 ends what it took from as soon as it has what CPU 1 brings. */
template <typename Units>
result freed_by_taker(const options &how)
{
	struct mortal {
		/* Its life is not the world's. */
		union {
			Units units;
		};

		mortal() : units() {}
		~mortal() {}
	};

	return model::explore<mortal>(how, [](mortal &w, unsigned cpu) {
		if (cpu == 0) {
			(void)w.units.take();
			w.units.~Units();
		} else {
			w.units.bring();
		}
		thread_ends();
	});
}

/* handlers: of each CPU, b or -; what has not come comes before it parks. */
template <typename Units>
result takes_and_brings(options how, const char *roles,
			const char *handlers = "----")
{
	using world = supply<Units>;

	world::handlers = handlers;
	how.interrupts = std::strchr(handlers, 'b') ? 1 : 0;
	model::parks.to_come = [](unsigned cpu) { world::now->handle(cpu); };
	const result r = model::explore<world>(
		how,
		[roles](world &w, unsigned cpu) {
			w.play(roles[cpu], cpu);
			thread_ends();
		},
		[](world &) {}, [](world &w, unsigned cpu) { w.handle(cpu); });

	model::parks.to_come = nullptr;
	return r;
}

/* -- A completion on the stack of who waits for it -- */

template <typename Inner>
struct answered {
	using completion = completion_with<Inner>;

	atomic<completion *> asked;
	plain<unsigned> answer;
	plain<bool> came;
	static inline answered *now;

	answered() { now = this; }

	/* By a deadline: who is late must wait all the same. */
	void ask(char role)
	{
		completion done;

		asked.store_release(&done);
		if (role == 't' || !done.wait_until(1))
			done.wait();
		check(answer.get() == 1, "not answered");
	}
	void reply(completion *to)
	{
		answer.set(1);
		to->set();
	}

	void handle()
	{
		completion *const to = asked.load_acquire();

		if (!to || came.get())
			return;
		came.set(true);
		reply(to);
	}
};

/* By CPU 1's thread, or by the handler of a CPU. */
template <typename Inner>
result answers(options how, char role, unsigned handler_of = 9)
{
	using world = answered<Inner>;
	static unsigned handles;

	handles = handler_of;
	how.interrupts = handles < 2;
	model::parks.to_come = [](unsigned cpu) {
		if (cpu == handles)
			world::now->handle();
	};
	const result r = model::explore<world>(
		how,
		[role](world &w, unsigned cpu) {
			if (cpu == 0)
				w.ask(role);
			else if (auto *to = w.asked.await_ne_acquire(nullptr);
				 handles == 9)
				w.reply(to);
			thread_ends();
		},
		[](world &) {},
		[](world &w, unsigned cpu) {
			if (cpu == handles)
				w.handle();
		});

	model::parks.to_come = nullptr;
	return r;
}

/* Those that the tests and the mutants have in common. */
using mutex_ = patient_mutex<1, tickets>;
using fifo = patient_mutex<0, tickets>;
using unit = one_unit<tickets>;
using shared = shared_mutex_with<tickets>;
using queue = queue_of_units<tickets>;
using units = semaphore_of_units<tickets>;
using under_mutex = condition_of_units<tickets, mutex_, guard<mutex_>>;
using under_spin = condition_of_units<tickets, tickets, irq_guard<tickets>>;

} // namespace sleeping
