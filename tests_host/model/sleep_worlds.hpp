/* SPDX-License-Identifier: MIT */
/*
 * sleep_worlds - what threads do with the locks that sleep, for the checker
 *
 * The roles are those of roles.hpp. Locks have the scenes of lock_worlds.hpp;
 * of units, some threads bring what others wait for.
 *
 * Inner lock: a ticket_lock, as PROVED-SLEEP's, whose counts these
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

#include "lock_worlds.hpp"

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

/* -- Locks ----------------------------------------------------------------- */

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
inline constexpr worlds::kind kind_of = worlds::describe<Lock>("lock");

using scene = void (worlds::world::*)(unsigned cpu);

template <typename Lock>
worlds::game threads_of(const char *roles, scene of)
{
	return {.lock = kind_of<Lock>,
		.roles = roles,
		.scene = of,
		.unpark_for_nothing = model::unpark_for_nothing,
		.thread_ends = thread_ends};
}

template <typename Lock>
result sections(const options &how, const char *roles)
{
	worlds::game g = threads_of<Lock>(roles, &worlds::world::sections);

	g.is_free_at_end = true;
	return worlds::play(g, how);
}

template <typename Lock>
result in_turn(const options &how, const char *roles = "lll")
{
	return worlds::play(threads_of<Lock>(roles, &worlds::world::in_turn),
			    how);
}

template <typename Lock>
result freed(const options &how, const char *roles)
{
	return worlds::play(threads_of<Lock>(roles, &worlds::world::freed),
			    how);
}

template <typename Lock>
result freed_by_next(const options &how, const char *roles)
{
	return worlds::play(
		threads_of<Lock>(roles, &worlds::world::freed_by_next), how);
}

/* How far the scene is, where a park takes it on. */
inline klock::atomic<unsigned> &steps() { return worlds::world::alive->inside; }

template <typename Lock>
result in_steps(const char *roles, scene of, const options &how,
		void (*parks)(unsigned thread))
{
	model::parks.to_come = parks;
	const result r = worlds::play(threads_of<Lock>(roles, of), how);
	model::parks.to_come = nullptr;
	return r;
}

template <typename Lock>
result given_up(const options &how)
{
	return in_steps<Lock>("rrLt", &worlds::world::given_up, how,
			      [](unsigned) {
				      if (steps().load_relaxed() == 2)
					      steps().store_relaxed(3);
			      });
}

template <typename Lock>
result given_up_second(const options &how)
{
	return in_steps<Lock>(
		"llL", &worlds::world::given_up_second, how,
		[](unsigned thread) { steps().store_relaxed(thread + 1); });
}

/*
 * CPU 1's only section passes the inner lock once, and again at each wake-up
 * that fails, as another has taken the lock.
 */
template <template <u32, plain_lock, u32> typename Lock, u32 Patience>
result failed_wakeups(const options &how)
{
	worlds::game g = threads_of<Lock<Patience, counted_tickets, 0>>(
		"ll", &worlds::world::sections);

	g.while_held = [](worlds::lock_of_kind &, unsigned) {
		if (model::cpu() == 1)
			check(counted_tickets::passed[1].get() <= 2 + Patience,
			      "too many wake-ups failed");
	};
	return worlds::play(g, how);
}

/* -- Some bring what others wait for ----------------------------------------
 */

/* Whatever has units, or answers, types erased: its world is compiled once. */
struct some_units {
	virtual ~some_units() = default;
	virtual bool take() = 0;
	virtual bool take_until(u64 deadline) = 0;
	virtual void bring() = 0;
	/* Enough for all. */
	virtual void bring_all() {}
	/* Answers are brought to a thread that has asked. */
	virtual bool is_asked() const { return true; }
	virtual void await_asked() {}
};

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
struct queue_of_units : some_units, Stock {
	bool take() override
	{
		return queue.wait([this] { return this->take_one(); }), true;
	}
	bool take_until(u64 deadline) override
	{
		return queue.wait_until([this] { return this->take_one(); },
					deadline);
	}
	void bring() override
	{
		queue.wake_one([this] { this->add(1); });
	}
	void bring_all() override
	{
		queue.wake_all([this] { this->add(2); });
	}

	wait_queue_with<Inner> queue;
};

/* PROVED-SLEEP's: the change, and then the wake. */
template <typename Inner>
struct queue_woken_after : queue_of_units<Inner, early_stock> {
	void bring() override
	{
		this->add(1);
		this->queue.wake_one([] {});
	}
};

template <typename Inner>
struct semaphore_of_units : some_units {
	bool take() override { return units.acquire(), true; }
	bool take_until(u64 deadline) override
	{
		return units.try_acquire_until(deadline);
	}
	void bring() override { check(units.release(), "a unit was dropped"); }
	void bring_all() override { bring(), bring(); }

	bounded_semaphore<8, Inner> units;
};

/* A condition, and the lock that it lets go of. */
template <typename Inner, typename Lock, typename Guard>
struct condition_of_units : some_units, stock {
	bool take() override
	{
		Guard held(lock);

		changed.wait(held, [this] { return take_one(); });
		return true;
	}
	bool take_until(u64 deadline) override
	{
		Guard held(lock);

		return changed.wait_until(held, deadline,
					  [this] { return take_one(); });
	}
	void bring() override
	{
		Guard held(lock);

		add(1);
		changed.notify_one();
	}
	void bring_all() override
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
	void bring() override
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

/* Waits by parts, and looks between them: with the lock or, a mistake, without
 * it. */
template <bool TakesLock>
struct looks_between : some_units, early_stock {
	bool take() override
	{
		const u64 now = 0;
		bool took = false;

		while (!took) {
			sleeper me;

			changed.prepare(me);
			took = look();
			(void)changed.sleep(me, took ? &now : nullptr);
		}
		return true;
	}
	bool take_until(u64) override { return take(); }
	void bring() override
	{
		{
			const guard held(lock);

			add(1);
		}
		changed.notify_one();
	}
	bool look()
	{
		if constexpr (!TakesLock) {
			return take_one();
		} else {
			const guard held(lock);

			return take_one();
		}
	}

	tickets lock;
	condition_with<tickets> changed;
};

/* A completion on the stack of the thread that waits for it. */
template <typename Inner>
struct answers : some_units {
	using completion = completion_with<Inner>;

	bool take() override
	{
		completion done;

		asked.store_release(&done);
		done.wait();
		check(answer.get() == 1, "not answered");
		return false; /* there is none to be given on */
	}
	/* A late thread must still wait. */
	bool take_until(u64 deadline) override
	{
		completion done;

		asked.store_release(&done);
		if (!done.wait_until(deadline))
			done.wait();
		check(answer.get() == 1, "not answered");
		return false;
	}
	bool is_asked() const override { return asked.load_acquire(); }
	void await_asked() override { (void)asked.await_ne_acquire(nullptr); }
	void bring() override
	{
		completion *const to = asked.await_ne_acquire(nullptr);

		answer.set(1);
		to->set();
	}

	atomic<completion *> asked;
	plain<unsigned> answer;
};

/* As worlds::game, of units: the same in each execution. */
struct unit_game {
	some_units *(*make)(void *at);
	const char *roles, *handlers;
	bool taker_ends; /* what it took from, as soon as it has it */
};

struct supply {
	const unit_game &now;
	alignas(64) unsigned char room[512];
	some_units *units;
	plain<bool> came[4]; /* by CPU: its handler */
	static inline supply *alive;

	explicit supply(const unit_game &g) : now(g), units(g.make(room))
	{
		alive = this;
	}
	~supply()
	{
		if (units)
			units->~some_units();
	}

	void handle(unsigned cpu)
	{
		if (now.handlers[cpu] != 'b' || came[cpu].get() ||
		    !units->is_asked())
			return;
		came[cpu].set(true);
		units->bring();
	}

	void act(char role)
	{
		if (role == 'j')
			units->await_asked();
		else if (role == 'b')
			units->bring();
		else if (role == 'e')
			units->bring_all();
		else if (role == 'w')
			(void)units->take();
		else if (role == 'W' && units->take_until(1))
			units->bring();
		if (role == 'w' && now.taker_ends) {
			units->~some_units();
			units = nullptr;
		}
		thread_ends();
	}
};

/* A unit that no handler has brought comes before its CPU parks. */
inline result play(const unit_game &g, options how)
{
	worlds::only("wWbej-", std::string(g.roles) + g.handlers);
	how.interrupts = std::strchr(g.handlers, 'b') ? 1 : 0;
	model::parks.to_come = [](unsigned cpu) { supply::alive->handle(cpu); };
	const result r = model::explore_from(
		how, [&g] { return supply(g); },
		[](supply &w, unsigned cpu) { w.act(w.now.roles[cpu]); },
		[](supply &) {},
		[](supply &w, unsigned cpu) { w.handle(cpu); });

	model::parks.to_come = nullptr;
	return r;
}

template <typename Units>
some_units *make(void *at)
{
	static_assert(sizeof(Units) <= sizeof(supply::room));
	return ::new (at) Units;
}

/* handlers: of each CPU, b or - */
template <typename Units>
result takes_and_brings(const options &how, const char *roles,
			const char *handlers = "----")
{
	return play({make<Units>, roles, handlers, false}, how);
}

template <typename Units>
result freed_by_taker(const options &how)
{
	return play({make<Units>, "wb", "----", true}, how);
}

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
 * The two worlds below are code, as a thread's next step depends on what its
 * last one returned, or on how often another has looked.
 *
 * CPU 0 is late, asks whether CPU 1 has set it by now, and ends it if so.
 */
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
