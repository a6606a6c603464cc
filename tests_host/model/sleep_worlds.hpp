/* SPDX-License-Identifier: MIT */
/*
 * sleep_worlds - what threads do with the locks that sleep, for the checker
 *
 * Each CPU has a role, a letter; capital: by a deadline, that may have passed
 * at any look. Inner lock: a ticket_lock, as PROVED-SLEEP's, whose counts these
 * are but where test_sleep.cpp says in what they differ; the one that is
 * shipped is in worlds of its own.
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
#include <numeric>

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

/* play(world, cpu) by each CPU, which then ends. */
template <typename World, typename Play, typename... After>
result run(const options &how, Play play, After... after)
{
	return model::explore<World>(
		how,
		[play](World &w, unsigned cpu) {
			play(w, cpu);
			thread_ends();
		},
		after...);
}

/*
 * -- Sections: l lock, L by a deadline, t try; r and R read, m reads until n
 * does, too, d downgrades, u unparks CPU 0 for nothing; both M that come while
 * f holds it read until the other does --
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
			if (role == 'n' || role == 'M')
				(void)inside.await_ne_relaxed(0);
			if (std::strchr("rmnM", role))
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
			if (!std::strchr("lLf", role))
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
		if (std::strchr("mnMf", role))
			inside.fetch_add_relaxed(1);
		if (role == 'm')
			(void)inside.await_eq_relaxed(2);
		else if (role == 'M')
			(void)inside.await_eq_relaxed(3);
		else if (std::strchr("rRn", role))
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
	return run<locked<Lock>>(
		how,
		[=](locked<Lock> &w, unsigned cpu) { w.section(roles[cpu]); },
		[](locked<Lock> &w) {
			check(w.lock.try_lock(), "nobody let it go");
		});
}

/*
 * CPU 1 and then CPU 2 queue behind CPU 0, and are served in this order. The
 * first wait is for the inner lock, which is FIFO itself; a reader may pass by
 * there until the second one, when the word tells of who waits.
 */
template <typename Lock>
result in_turn(options how, const char *roles = "lll")
{
	struct queued : locked<Lock> {
		void queue(unsigned cpu, char role, unsigned wait)
		{
			plain<unsigned> waits;
			auto says_so = [&] {
				waits.set(waits.get() + 1);
				if (waits.get() == wait)
					behind.store_release(cpu + 1);
			};

			(void)behind.await_eq_acquire(cpu);
			const model::before_waits queues(says_so);
			this->enter(role);
			check(this->count.get() == cpu, "not in turn");
		}

		/* How many hold or wait. */
		atomic<unsigned> behind;
	};

	return run<queued>(how, [roles](queued &w, unsigned cpu) {
		if (cpu == 0) {
			w.enter(roles[0]);
			w.behind.store_release(1);
			(void)w.behind.await_eq_acquire(3);
		} else {
			w.queue(cpu, roles[cpu], roles[0] == 'r' ? 2 : 1);
		}
		w.count.set(w.count.get() + 1);
		w.leave(roles[cpu]);
	});
}

/*
 * Each section gives up a reference to the object with the lock; the last ends
 * it.
 */
template <typename Lock>
result freed(const options &how, const char *roles)
{
	static unsigned all;
	struct referenced : locked<Lock> {
		referenced() { this->count.set(all); }
	};

	all = std::accumulate(how.sections.begin(), how.sections.end(), 0u);
	return run<referenced>(how, [=](referenced &w, unsigned cpu) {
		w.last_ends(roles[cpu]);
	});
}

/* CPU 1 ends what CPU 0 held before. */
template <typename Lock>
result freed_by_next(const options &how, const char *roles)
{
	return run<locked<Lock>>(how, [=](locked<Lock> &w, unsigned cpu) {
		if (cpu == 1)
			(void)w.inside.await_eq_relaxed(1);
		w.enter(roles[cpu]);
		w.inside.store_relaxed(1);
		w.leave(roles[cpu]);
		if (cpu == 1)
			w.lock.~Lock();
	});
}

/*
 * CPUs 0 and 1 read; CPU 2 waits to write, and CPU 0 leaves to who waits; CPU 2
 * gives up, after which CPU 1 leaves by the word alone, and CPU 3 writes: that
 * CPU 0 is through it can only know by who gave up.
 */
template <typename Lock>
result given_up(options how)
{
	static atomic<unsigned> *steps;
	struct stepped : locked<Lock> {
		stepped() { steps = &this->inside; }

		void at(unsigned step) { (void)steps->await_eq_relaxed(step); }
		void reads(unsigned from, unsigned until)
		{
			at(from);
			this->lock.lock_shared();
			(void)this->count.get();
			steps->store_relaxed(from + 1);
			at(until);
			this->lock.unlock_shared();
			steps->store_relaxed(until + 1);
		}
		void writes(bool may)
		{
			if (!may)
				return;
			this->count.set(1);
			this->lock.unlock();
		}
	};

	model::parks.to_come = [](unsigned) {
		if (steps->load_relaxed() == 2)
			steps->store_relaxed(3);
	};
	how.sections = {1, 1, 1, 1};
	const result r = run<stepped>(how, [](stepped &w, unsigned cpu) {
		if (cpu < 2)
			return w.reads(1 - cpu, cpu ? 5 : 3);
		w.at(cpu == 2 ? 2 : 6);
		w.writes(cpu == 2 ? w.lock.try_lock_until(1)
				  : w.lock.try_lock());
		if (cpu == 2) {
			w.at(4);
			steps->store_relaxed(5);
		}
	});

	model::parks.to_come = nullptr;
	return r;
}

/*
 * CPU 0 lets go of it and takes it again, while CPU 1 was told and CPU 2, who
 * queued behind, gives up.
 */
template <typename Lock>
result given_up_second(options how)
{
	static atomic<unsigned> *queued;
	struct counted : locked<Lock> {
		counted() { queued = &this->inside; }
	};

	model::parks.to_come = [](unsigned thread) {
		queued->store_relaxed(thread + 1);
	};
	how.sections = {1, 1, 1};
	const result r = run<counted>(how, [](counted &w, unsigned cpu) {
		if (cpu) {
			(void)queued->await_eq_relaxed(cpu);
			return w.section(cpu == 1 ? 'l' : 'L');
		}
		w.lock.lock();
		queued->store_relaxed(1);
		(void)queued->await_eq_relaxed(3);
		w.lock.unlock();
		w.section('l');
	});

	model::parks.to_come = nullptr;
	return r;
}

/* CPU 1's only section passes the inner lock once, and again at each wake. */
template <template <u32, plain_lock, u32> typename Lock, u32 Patience>
result told_in_vain(const options &how)
{
	using lock = Lock<Patience, counted_tickets, 0>;

	return run<locked<lock>>(how, [](locked<lock> &w, unsigned cpu) {
		if (cpu != 1)
			return w.section('l');
		w.lock.lock();
		check(counted_tickets::passed[1].get() <= 2 + Patience,
		      "told in vain too often");
		w.count.set(w.count.get() + 1);
		w.lock.unlock();
	});
}

/*
 * -- Some take, some bring: t takes, T by a deadline, b brings, a to all, w
 * waits until an answer is asked for, which a handler brings --
 */

/* Units that a predicate takes, under the lock that protects them. */
struct stock {
	bool take_one()
	{
		const unsigned there = units.get();

		if (there)
			units.set(there - 1);
		return there != 0;
	}
	void add(unsigned n) { units.set(units.get() + n); }

	plain<unsigned> units;
};

/* Units that may be taken before the wake that tells of them. */
struct early_stock {
	bool take_one()
	{
		const unsigned there = units.load_relaxed();

		if (there)
			units.fetch_add_relaxed(~0u);
		return there != 0;
	}
	void add(unsigned n) { units.fetch_add_release(n); }

	atomic<unsigned> units;
};

template <typename Inner, typename Stock = stock>
struct queue_of_units : Stock {
	bool take()
	{
		return queue.wait([this] { return this->take_one(); }), true;
	}
	bool take(u64 deadline)
	{
		return queue.wait_until([this] { return this->take_one(); },
					deadline);
	}
	void bring()
	{
		queue.wake_one([this] { this->add(1); });
	}
	/* Enough for all. */
	void bring_all()
	{
		queue.wake_all([this] { this->add(2); });
	}

	wait_queue_with<Inner> queue;
};

/* PROVED-SLEEP's: the change, and then the wake. */
template <typename Inner>
struct queue_woken_after : queue_of_units<Inner, early_stock> {
	void bring()
	{
		this->add(1);
		this->queue.wake_one([] {});
	}
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
struct condition_of_units : stock {
	bool take()
	{
		Guard held(lock);

		changed.wait(held, [this] { return take_one(); });
		return true;
	}
	bool take(u64 deadline)
	{
		Guard held(lock);

		return changed.wait_until(held, deadline,
					  [this] { return take_one(); });
	}
	void bring()
	{
		Guard held(lock);

		add(1);
		changed.notify_one();
	}
	void bring_all()
	{
		Guard held(lock);

		add(2);
		changed.notify_all();
	}

	Lock lock;
	condition_with<Inner> changed;
};

/* Notifies when it holds the lock no more; or never took it, a mistake. */
template <bool TakesLock>
struct notified_outside : condition_of_units<tickets, tickets, guard<tickets>> {
	void bring()
	{
		if constexpr (TakesLock) {
			const guard held(this->lock);

			this->add(1);
		} else {
			this->add(1);
		}
		this->changed.notify_one();
	}
};

/* A completion on the stack of who waits for it. */
template <typename Inner>
struct answers {
	using completion = completion_with<Inner>;

	/* Takes, perhaps with a deadline: a late thread must still wait. */
	template <typename... Deadline>
	bool take(Deadline... deadline)
	{
		completion done;

		asked.store_release(&done);
		if constexpr (sizeof...(Deadline) == 0)
			done.wait();
		else if (!done.wait_until(deadline...))
			done.wait();
		check(answer.get() == 1, "not answered");
		return false; /* there is none to be given on */
	}
	[[nodiscard]] bool is_asked() const { return asked.load_acquire(); }
	completion *await_asked() { return asked.await_ne_acquire(nullptr); }
	void bring()
	{
		completion *const to = await_asked();

		answer.set(1);
		to->set();
	}
	void bring_all() {}

	atomic<completion *> asked;
	plain<unsigned> answer;
};

template <typename Units>
struct supply {
	Units units;
	plain<bool> came[4]; /* by CPU: its handler */
	static inline supply *now;
	static inline const char *handlers;

	supply() { now = this; }

	void handle(unsigned cpu)
	{
		if (handlers[cpu] != 'b' || came[cpu].get())
			return;
		if constexpr (requires { units.is_asked(); })
			if (!units.is_asked())
				return;
		came[cpu].set(true);
		units.bring();
	}

	void play(char role)
	{
		if constexpr (requires { units.await_asked(); })
			if (role == 'w')
				units.await_asked();
		if (role == 'b')
			units.bring();
		else if (role == 'a')
			units.bring_all();
		else if (role == 't')
			(void)units.take();
		else if (role == 'T' && units.take(1))
			units.bring(); /* for who has no deadline */
	}
};

/* CPU 0 is late, asks whether CPU 1 has set it by now, and ends it if so. */
inline result late_and_asks(const options &how)
{
	using completion = completion_with<tickets>;
	struct event {
		/* Its life is not the world's. */
		union {
			completion done;
		};
		plain<unsigned> answer;

		event() : done() {}
		~event() {}
	};

	return run<event>(how, [](event &w, unsigned cpu) {
		if (cpu == 1) {
			w.answer.set(1);
			w.done.set();
		} else if (w.done.wait_until(1) || w.done.is_set()) {
			check(w.answer.get() == 1, "not answered");
			w.done.~completion();
		}
	});
}

/*
 * CPUs 1 and 2 queue in this order, are both woken in vain, and then find one
 * unit each: CPU 1 takes the first, and brings the second.
 */
inline result served_in_order(const options &how)
{
	struct line : stock {
		void wait()
		{
			queue.wait([this] {
				looks.fetch_add_relaxed(1);
				return this->take_one();
			});
		}
		void bring()
		{
			queue.wake_one([this] { this->add(1); });
		}

		wait_queue_with<tickets> queue;
		atomic<unsigned> looks;
		plain<bool> first_is_served;
	};

	return run<line>(how, [](line &w, unsigned cpu) {
		if (cpu == 0) {
			(void)w.looks.await_eq_relaxed(2);
			w.queue.wake_all([] {});
			(void)w.looks.await_eq_relaxed(4);
			w.bring();
		} else if (cpu == 1) {
			w.wait();
			w.first_is_served.set(true);
			w.bring();
		} else {
			(void)w.looks.await_eq_relaxed(1);
			w.wait();
			check(w.first_is_served.get(), "not in order");
		}
	});
}

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

	return run<mortal>(how, [](mortal &w, unsigned cpu) {
		if (cpu == 0) {
			(void)w.units.take();
			w.units.~Units();
		} else {
			w.units.bring();
		}
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
	const result r = run<world>(
		how, [=](world &w, unsigned cpu) { w.play(roles[cpu]); },
		[](world &) {}, [](world &w, unsigned cpu) { w.handle(cpu); });

	model::parks.to_come = nullptr;
	return r;
}

/*
 * The locks that both the tests and the mutants use. A lock() that spins is a
 * try_lock() at each turn and a lock() that does not: so is it in the worlds.
 */
using mutex_ = patient_mutex<1, tickets, 0>;
using fifo = patient_mutex<0, tickets, 0>;
using unit = one_unit<tickets>;
using shared = patient_shared_mutex<1, tickets, 0>;
using shared_fifo = patient_shared_mutex<0, tickets, 0>;
/* ... and with a turn. */
using spinning = patient_mutex<1, tickets, 1>;
using shared_spinning = patient_shared_mutex<1, tickets, 1>;
using queue = queue_of_units<tickets>;
using early = queue_woken_after<tickets>;
using units = semaphore_of_units<tickets>;
using under_mutex = condition_of_units<tickets, mutex_, guard<mutex_>>;
using answer = answers<tickets>;
using under_spin = condition_of_units<tickets, tickets, irq_guard<tickets>>;

} // namespace sleeping
