/* SPDX-License-Identifier: MIT */
/*
 * lock_worlds - what the tests have CPUs do with a lock, whatever its kind
 *
 * A world is a lock, the data that it protects, and a role for each CPU: a
 * letter of the table in roles.hpp. A scene says what the CPUs know of each
 * other. So a test is a row: the scene, the roles, how often each CPU has its
 * section, and how many executions there are.
 *
 * The data are two words where anybody reads, changed one after the other: so
 * torn data are seen, besides races and lost updates.
 */
#pragma once

#include "kinds.hpp"
#include "roles.hpp"

#include <klock/arch/irq.hpp>
#include <klock/plain.hpp>
#include <klock/try_lock_until.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

namespace worlds {

using klock::plain;
using model::check;
using model::options;
using model::result;

/* All CPUs of a world wait for their turn, however long it takes. */
inline constexpr unsigned everybody = ~0u;

inline unsigned sum(const std::vector<unsigned> &sections)
{
	return std::accumulate(sections.begin(), sections.end(), 0u);
}

/* -- The world --------------------------------------------------------------
 */

struct world;

/*
 * One exploration's game: all that is the same in each of its executions, whose
 * worlds are made anew; and, on the host, what was seen in any of them.
 */
struct game {
	const kind &lock;
	std::string roles;			      /* of each CPU */
	void (world::*scene)(unsigned cpu) = nullptr; /* sections */
	/* A letter for each CPU's handlers, or none */
	std::string handlers = {};
	unsigned first_handler = 0;  /* the number of their first contender */
	unsigned interrupts_off = 0; /* a mask of CPUs */
	bool is_free_at_end = false;
	void (*at_rest)(lock_of_kind &, unsigned cpus) = nullptr;
	u64 served_before = 0;
	u64 later = 0;	    /* role a */
	unsigned first = 0; /* scene behind_writer */
	/* Where threads sleep: the role u; a thread's begin, and its end. */
	void (*unpark_for_nothing)(unsigned thread) = nullptr;
	void (*thread_begins)() = nullptr;
	void (*thread_ends)() = nullptr;
	/* Looks at a lock that is held, and has been so often before. */
	void (*while_held)(lock_of_kind &, unsigned sections) = nullptr;

	/* set by play() */
	std::vector<const role *> role_on = {};
	std::vector<unsigned> sections = {};
	unsigned patient = 0, all_sections = 0;
	bool any_reads = false, all_try = false, handlers_change = false;

	unsigned most_handled = 0, most_left_out = 0, most_bypasses = 0;
	unsigned most_refused = 0; /* of handlers */
	unsigned most_changes = 0;
	bool ended_ever = false;
};

/* A contender of both sorts, and so many of them. */
struct person {
	taker writer, reader;
};

struct crowd {
	takers writers, readers;

	template <typename Space>
	crowd(const kind &k, Space &in, unsigned number, bool reads,
	      unsigned first = 0)
	    : writers(k.by, in, number, first),
	      readers(k.read_by, in, reads ? number : 0, first)
	{
	}
	person operator[](unsigned i) { return {writers[i], readers[i]}; }
};

/* A lock for klock::try_lock_for(), which knows neither node nor number. */
struct asking {
	const taker &by;
	lock_of_kind &inner;

	void lock() { by.lock(inner); }
	[[nodiscard]] bool try_lock() { return by.try_lock(inner); }
	void unlock() { by.unlock(inner); }
};

struct world {
	game &now;
	space<2304> room;
	lock_of_kind lock;
	std::optional<lock_of_kind> other; /* of two_locks, and of role O */
	crowd threads, handlers;
	plain<unsigned> a, b;

	/* for scenes */
	klock::atomic<u8> said[3];
	klock::atomic<unsigned> inside;
	plain<unsigned> served, references;
	klock::atomic<unsigned> shared_references;

	/* on the host, each CPU's own */
	unsigned left_out[most_cpus] = {}, done[most_cpus] = {};
	unsigned handled = 0, refused = 0, bypassed = 0, flushes = 0;

	static inline world *alive = nullptr;

	explicit world(game &g)
	    : now(g), lock(g.lock, room.take(g.lock.bytes), g.served_before),
	      threads(g.lock, room, cpus(), g.any_reads),
	      handlers(g.lock, room, g.handlers.empty() ? 0 : cpus(),
		       g.any_reads, g.first_handler),
	      references(g.all_sections), shared_references(g.all_sections)
	{
		alive = this;
		if (g.scene == &world::two_locks || g.handlers[0] == 'O')
			other.emplace(g.lock, room.take(g.lock.bytes));
		model::name(a, g.any_reads ? "a" : "count");
		model::name(b, "b");
		model::name(said, "said");
	}

	unsigned cpus() const
	{
		return static_cast<unsigned>(now.sections.size());
	}
	const role &role_on(unsigned cpu) const { return *now.role_on[cpu]; }

	/* -- Steps of a section -- */

	void add()
	{
		a.set(a.get() + 1);
		if (now.any_reads)
			b.set(b.get() + 1);
	}
	void look()
	{
		check(a.get() == b.get(), "a reader sees a whole write");
	}

	bool take_by(way how, const taker &by, unsigned nth)
	{
		switch (how) {
		case way::tries_then_deadline:
			return nth % 2 ? by.try_lock_until(lock, 1)
				       : by.try_lock(lock);
		case way::in_turn_then_tries:
			return nth % 2 ? by.try_lock(lock)
				       : (by.lock_in_turn(lock), true);
		case way::deadline:
			return by.try_lock_until(lock, 1);
		case way::tries:
			return by.try_lock(lock);
		case way::in_turn:
			return by.lock_in_turn(lock), true;
		case way::serves:
			return by.lock_serving(lock), true;
		case way::asks: {
			asking it{by, lock};
			return klock::try_lock_for(it, now.later);
		}
		case way::overwrites:
		case way::waits:
			break;
		}
		by.lock(lock);
		return true;
	}

	/* False: not now, and nothing is held. */
	bool take(const role &is, const person &by, unsigned nth = 0)
	{
		using enum change;

		if (is.comes_second)
			(void)inside.await_ne_relaxed(0);
		if (is.what == as::writer)
			return take_by(is.how, by.writer, nth);
		if (is.what == as::reader)
			return take_by(is.how, by.reader, nth);
		return lock.change_to(is.how == way::tries ? try_lock_upgradable
							   : lock_upgradable);
	}

	/* Does with it held what the role does. Returns how it is held then. */
	as use(const role &is, const person &by)
	{
		using enum change;

		if (is.counts_itself)
			inside.fetch_add_relaxed(1);
		if (is.stays_for)
			(void)inside.await_eq_relaxed(is.stays_for);
		if (is.what != as::writer)
			look();
		if (is.next == then::upgrades) {
			const unsigned seen = a.get();
			if (!lock.change_to(is.how == way::tries ? try_upgrade
								 : upgrade))
				return as::upgradable;
			check(a.get() == seen, "what it read stands");
		}
		if (!is.changes())
			return is.what;
		if (now.while_held)
			now.while_held(lock, a.get());
		add();
		if (is.next == then::takes_again) {
			check(by.writer.try_lock(lock),
			      "the owner waits for nobody");
			add();
			by.writer.unlock(lock);
			add();
		}
		if (is.next != then::downgrades)
			return as::writer;
		const unsigned mine = a.get();
		const as held = downgrade_by(by.writer);
		check(a.get() == mine, "what it wrote stands");
		look();
		return held;
	}
	/* A guard releases what it took, whatever it is now. */
	as downgrade_by(const taker &by)
	{
		if (!by.by.downgrade) {
			(void)lock.change_to(change::downgrade);
			return as::reader;
		}
		by.by.downgrade(by.who);
		return as::writer;
	}
	void leave(as held, const person &by)
	{
		if (held == as::writer)
			by.writer.unlock(lock);
		else if (held == as::reader)
			by.reader.unlock(lock);
		else
			(void)lock.change_to(change::unlock_upgradable);
	}
	void use_and_leave(const role &is, const person &by)
	{
		leave(use(is, by), by);
	}
	/* Whether it did what the role has to do. */
	bool section(const role &is, const person &by, unsigned nth = 0)
	{
		if (!take(is, by, nth))
			return false;
		if (is.letter == 'i')
			klock::arch::irq_restore(true);
		const as held = use(is, by);
		if (is.letter == 'i')
			(void)klock::arch::irq_save();
		leave(held, by);
		return held != as::upgradable || !is.changes();
	}

	/* -- Scenes: what each CPU does, once a section -- */

	/* Sections that know nothing of each other. */
	void sections(unsigned cpu)
	{
		const role &is = role_on(cpu);

		if (is.letter == 'u') {
			now.unpark_for_nothing(0);
		} else if (is.letter == 'h') {
			(void)now.lock.is_locked(lock.room);
		} else if (is.letter == 'k') {
			space<256> mine;
			crowd own(now.lock, mine, 1, false, cpu);
			(void)section(is, own[0]);
		} else if (!section(is, threads[cpu], nth_of(is, cpu))) {
			left_out[cpu]++;
		}
	}

	/* Two locks, one after the other. */
	void two_locks(unsigned cpu)
	{
		if (done[cpu]++ % 2 == 0)
			return sections(cpu);
		take_other(threads[cpu].writer);
	}
	void take_other(const taker &by)
	{
		by.lock(*other);
		served.set(served.get() + 1);
		by.unlock(*other);
	}

	/*
	 * Each section gives up a reference; whoever has the last ends the
	 * lock, when its own unlock() has returned. Those that read may do so
	 * together, and count by an atomic.
	 */
	void freed(unsigned cpu)
	{
		space<256> mine;
		crowd own(now.lock, mine, 1, now.any_reads, cpu);
		const person by =
			now.lock.nodes_end_with_lock ? threads[cpu] : own[0];
		const role &is = role_on(cpu);

		if (!take(is, by))
			(void)take(role_of('l'), by);
		const as held = change_as(is, by);
		const bool last = gives_up_the_last();
		if (is.next == then::takes_again)
			by.writer.unlock(lock);
		leave(held, by);
		if (last)
			end_lock();
	}

	/* CPU 1 ends what CPU 0 held before. */
	void freed_by_next(unsigned cpu)
	{
		if (cpu == 1)
			(void)inside.await_eq_relaxed(1);
		(void)take(role_on(cpu), threads[cpu]);
		inside.store_relaxed(1);
		use_and_leave(role_on(cpu), threads[cpu]);
		if (cpu == 1)
			end_lock();
	}

	/* CPU 1 ends what CPU 0 held before, if it did. */
	void freed_if_second(unsigned cpu)
	{
		(void)take(role_on(cpu), threads[cpu]);
		if (cpu == 0)
			inside.store_relaxed(1);
		const bool ends = cpu == 1 && inside.load_relaxed() == 1;
		leave(role_on(cpu).what, threads[cpu]);
		if (ends)
			end_lock();
	}

	/* CPU 1 comes when CPU 0 has left: its try succeeds. */
	void after_it_left(unsigned cpu)
	{
		if (cpu == 1)
			said[0].await_eq_acquire(1);
		check(section(role_on(cpu), threads[cpu]),
		      "the lock is free: a try succeeds");
		if (cpu == 0)
			said[0].store_release(1);
	}

	/* CPU 1 tries while CPU 0 reads: to read alone succeeds. */
	void beside_reader(unsigned cpu)
	{
		if (cpu == 0) {
			(void)take(role_on(cpu), threads[cpu]);
			said[0].store_release(1);
			said[1].await_eq_acquire(1);
			use_and_leave(role_on(cpu), threads[cpu]);
			return;
		}
		said[0].await_eq_acquire(1);
		const bool got = section(role_on(cpu), threads[cpu]);
		check(got == !role_on(cpu).changes(),
		      "a reader is in: others may read");
		left_out[cpu] += !got;
		said[1].store_release(1);
	}

	/* Ends only if CPUs 0 and 1 are inside at once, for whatever they do.
	 */
	void meet(unsigned cpu)
	{
		if (cpu > 1)
			return sections(cpu);
		const bool downgrades = role_on(0).next == then::downgrades;
		if (cpu == 1 && downgrades)
			said[2].await_eq_acquire(1);
		(void)take(role_on(cpu), threads[cpu]);
		if (cpu == 0 && downgrades)
			said[2].store_relaxed(1);
		const as held = use(role_on(cpu), threads[cpu]);
		said[cpu].store_relaxed(1);
		said[cpu ^ 1].await_eq_acquire(1);
		look();
		leave(held, threads[cpu]);
	}

	/* CPU 0 keeps it for ever. */
	void holder_stays(unsigned cpu)
	{
		if (cpu > 0)
			return sections(cpu);
		threads[0].writer.lock(lock);
		add();
	}

	/*
	 * CPU 0 holds the lock when the others come, and leaves. A handler can
	 * stop them anywhere on their way, as a debugger does, until CPU 0 is
	 * back from unlock().
	 */
	void newcomers(unsigned cpu)
	{
		if (cpu > 0) {
			said[0].await_eq_acquire(1);
			return sections(cpu);
		}
		(void)take(role_on(cpu), threads[cpu]);
		said[0].store_release(1);
		use_and_leave(role_on(cpu), threads[cpu]);
		said[1].store_release(1);
	}

	/* CPU 0 holds it from the begin on, and opens it when it is ready. */
	void held_back(unsigned cpu)
	{
		if (cpu > 0) {
			(void)take(role_on(cpu), threads[cpu]);
			check(a.get() != 0, "not held back");
		}
		use_and_leave(role_on(cpu), threads[cpu]);
	}

	/*
	 * A holder that waits for another CPU's answer: CPU 0 has the others
	 * flush their TLBs. CPU 1 has interrupts off and wants the lock; when
	 * it has left, the IPI comes.
	 */
	void shootdown(unsigned cpu)
	{
		(void)take(role_on(cpu), threads[cpu]);
		const as held = use(role_on(cpu), threads[cpu]);
		if (cpu == 0) {
			said[0].store_release(1);
			said[1].await_eq_acquire(1);
			said[1].store_relaxed(0);
		}
		leave(held, threads[cpu]);
		while (cpu == 1 && flushes < now.sections[0]) {
			said[0].await_eq_relaxed(1);
			flush();
		}
	}
	void flush()
	{
		if (said[0].load_acquire() == 0)
			return;
		said[0].store_relaxed(0);
		flushes++;
		said[1].store_release(1);
	}

	/* -- Scenes of order. A CPU's doorway is over when it begins to wait,
	 * or has the lock; it then says so. -- */

	void come(unsigned cpu)
	{
		auto tell = [this, cpu] { said[cpu].store_release(1); };
		const model::before_waits hook(tell);

		(void)take(role_on(cpu), threads[cpu]);
	}

	/*
	 * CPU 0 comes when it knows that CPU 1's doorway is over; CPU 2 is
	 * there so that CPU 1 has somebody to wait for.
	 */
	void first_come(unsigned cpu)
	{
		auto tell = [this] { said[1].store_release(1); };
		std::optional<model::before_waits> hook;

		if (cpu == 2)
			return sections(cpu);
		if (cpu == 0)
			said[1].await_eq_acquire(1);
		else
			hook.emplace(tell);
		(void)take(role_on(cpu), threads[cpu]);
		if (cpu == 0) {
			check(served.get() == 1,
			      "who came first was served first");
		} else {
			served.set(1);
			said[1].store_release(1);
		}
		use_and_leave(role_on(cpu), threads[cpu]);
	}

	/* CPU 0 counts how often it is in though CPU 1 has come, and waits. */
	void bypass(unsigned cpu)
	{
		if (cpu > 0)
			return first_come(cpu);
		(void)take(role_on(cpu), threads[cpu]);
		if (said[1].load_acquire() && !served.get())
			bypassed++;
		use_and_leave(role_on(cpu), threads[cpu]);
	}

	/*
	 * CPU 0 writes while both others come, game::first before the other.
	 * CPU 1 must be served first.
	 */
	void behind_writer(unsigned cpu)
	{
		if (cpu == 0) {
			(void)take(role_on(cpu), threads[cpu]);
			said[0].store_release(1);
			said[1].await_eq_acquire(1);
			said[2].await_eq_acquire(1);
			use_and_leave(role_on(cpu), threads[cpu]);
			return;
		}
		said[0].await_eq_acquire(1);
		if (cpu != now.first)
			said[now.first].await_eq_acquire(1);
		come(cpu);
		said[cpu].store_release(1);
		if (cpu == 1)
			served.set(1);
		else
			check(served.get() == 1,
			      "the reader was in before the writer");
		use_and_leave(role_on(cpu), threads[cpu]);
	}

	/*
	 * CPU 1 and then CPU 2 queue behind CPU 0, and are served in this
	 * order. Of locks that sleep: the first wait is for the inner lock,
	 * which is FIFO itself; a reader may pass by there until the second
	 * one, when the word tells of who waits.
	 */
	void in_turn(unsigned cpu)
	{
		const role &is = role_on(cpu);

		if (cpu == 0) {
			(void)take(is, threads[cpu]);
			inside.store_release(1);
			(void)inside.await_eq_acquire(3);
		} else {
			queue(cpu, role_on(0).changes() ? 1 : 2);
			check(served.get() == cpu, "not in turn");
		}
		served.set(served.get() + 1);
		use_and_leave(is, threads[cpu]);
	}

	/*
	 * CPUs 0 and 1 read; CPU 2 waits to write, and CPU 0 leaves to who
	 * waits; CPU 2 gives up, after which CPU 1 leaves by the word alone,
	 * and CPU 3 writes: that CPU 0 is through it can only know by who gave
	 * up. The step from 2 to 3 is a park.
	 */
	void given_up(unsigned cpu)
	{
		const unsigned from[] = {1, 0, 2, 6};
		const role &is = role_on(cpu);

		(void)inside.await_eq_relaxed(from[cpu]);
		const bool got = take(is, threads[cpu]);
		left_out[cpu] += !got;
		if (is.reads()) {
			const unsigned until = cpu == 0 ? 3 : 5;

			look();
			inside.store_relaxed(from[cpu] + 1);
			(void)inside.await_eq_relaxed(until);
			leave(is.what, threads[cpu]);
			inside.store_relaxed(until + 1);
		} else if (got) {
			use_and_leave(is, threads[cpu]);
		}
		if (cpu == 2) {
			(void)inside.await_eq_relaxed(4);
			inside.store_relaxed(5);
		}
	}

	/*
	 * CPU 0 lets go of it and takes it again, while CPU 1 was told and CPU
	 * 2, who queued behind, gives up. The steps to 2 and 3 are parks.
	 */
	void given_up_second(unsigned cpu)
	{
		if (cpu) {
			(void)inside.await_eq_relaxed(cpu);
			return sections(cpu);
		}
		threads[cpu].writer.lock(lock);
		inside.store_relaxed(1);
		(void)inside.await_eq_relaxed(3);
		threads[cpu].writer.unlock(lock);
		sections(cpu);
	}

	/* -- The ends -- */

	void act(unsigned cpu)
	{
		const bool off = now.interrupts_off >> cpu & 1;

		if (now.thread_begins)
			now.thread_begins();
		if (off)
			(void)klock::arch::irq_save();
		(this->*now.scene)(cpu);
		check(model::interrupts_on() == !off,
		      "interrupts are as they were");
		if (off)
			klock::arch::irq_restore(true);
		if (now.thread_ends)
			now.thread_ends();
	}

	void handle(unsigned cpu)
	{
		const char letter = now.handlers[cpu];

		if (letter == '|') {
			(void)said[1].await_eq_acquire(1);
		} else if (letter == 'O') {
			take_other(handlers[cpu].writer);
			handled++;
		} else if (letter != '-') {
			const bool got =
				section(role_of(letter), handlers[cpu]);

			handled += got;
			refused += !got;
		}
	}

	void at_end()
	{
		now.most_handled = std::max(now.most_handled, handled);
		now.most_bypasses = std::max(now.most_bypasses, bypassed);
		now.most_refused = std::max(now.most_refused, refused);
		now.ended_ever |= lock.ended;
		if (now.scene == &world::freed_if_second)
			return;
		if (now.scene == &world::freed ||
		    now.scene == &world::freed_by_next)
			return check(lock.ended, "ended once");
		now.most_changes = std::max(now.most_changes, a.get());
		check_changes();
		if (now.all_try)
			check(a.get() > 0, "somebody's try succeeds");
		if (now.is_free_at_end)
			for (unsigned i = 0; i < cpus(); i++)
				take_free(threads[i].writer);
		if (now.at_rest)
			now.at_rest(lock, cpus());
	}

      private:
	/* A lock that cannot be tried is waited for, in vain if it is held. */
	void take_free(const taker &by)
	{
		if (by.by.try_lock)
			check(by.try_lock(lock), "the lock is free");
		else
			by.lock(lock);
		by.unlock(lock);
	}

	/* Nothing is counted without need: what code keeps on the host is not
	 * learnt by the checker, and runs in each execution. */
	unsigned nth_of(const role &is, unsigned cpu)
	{
		return is.alternates() ? done[cpu]++ : 0;
	}

	void check_changes()
	{
		unsigned expected = 0;

		for (unsigned cpu = 0; cpu < cpus(); cpu++) {
			const role &is = role_on(cpu);

			now.most_left_out =
				std::max(now.most_left_out, left_out[cpu]);
			if (now.patient >> cpu & 1 && !is.tries())
				check(left_out[cpu] == 0, "the patient get in");
			if (is.changes())
				expected += is.times() *
					    (now.sections[cpu] - left_out[cpu]);
		}
		if (now.handlers_change)
			expected += handled;
		if (now.scene == &world::two_locks)
			expected -= served.get();
		else if (other)
			check(served.get() == handled, "every handler counted");
		check(a.get() == expected, "every section counted");
		check(!now.any_reads || b.get() == expected,
		      "every section counted");
	}

	/* As use(), of a lock that will be ended: it changes no data. */
	as change_as(const role &is, const person &by)
	{
		if (is.next == then::upgrades)
			(void)lock.change_to(change::upgrade);
		if (is.next == then::downgrades)
			(void)lock.change_to(change::downgrade);
		if (is.next == then::takes_again)
			by.writer.lock(lock);
		if (is.next == then::nothing || is.next == then::takes_again)
			return is.what;
		return is.next == then::upgrades ? as::writer : as::reader;
	}

	bool gives_up_the_last()
	{
		if (now.any_reads)
			return shared_references.fetch_sub_acq_rel(1) == 1;
		const unsigned left = references.get() - 1;

		references.set(left);
		return left == 0;
	}

	void end_lock()
	{
		if (lock.of.nodes_end_with_lock)
			threads.writers.end();
		lock.end();
	}

	/* Comes behind those before, and says so at this wait. */
	void queue(unsigned cpu, unsigned wait)
	{
		plain<unsigned> waits;
		auto says_so = [&] {
			waits.set(waits.get() + 1);
			if (waits.get() == wait)
				inside.store_release(cpu + 1);
		};

		(void)inside.await_eq_acquire(cpu);
		const model::before_waits queues(says_so);
		(void)take(role_on(cpu), threads[cpu]);
	}
};

/* A result, and the most of it that any execution had. */
struct outcome : result {
	unsigned most_handled, most_left_out, most_bypasses, most_refused;
	unsigned most_changes;
	bool ended_ever;
};

/* Without sections each CPU has one. */
inline outcome play(game g, options how)
{
	if (how.sections.empty())
		how.sections.assign(g.roles.size(), 1);
	if (!g.scene)
		g.scene = &world::sections;
	only("lLtTqQzakgrRsidvxymnfMuhO|-", g.roles + g.handlers);
	for (const char letter : g.roles)
		g.role_on.push_back(&role_of(letter));
	g.sections = how.sections;
	g.all_sections = sum(how.sections);
	g.patient = how.patient;
	g.all_try = g.handlers.empty() &&
		    g.roles.find_first_not_of('t') == std::string::npos;
	g.handlers_change = any_of(g.handlers, &role::changes);
	g.any_reads = any_of(g.roles + g.handlers, &role::reads);
	const result r = model::explore_from(
		how, [&g] { return world(g); },
		[](world &w, unsigned cpu) { w.act(cpu); },
		[](world &w) { w.at_end(); },
		[](world &w, unsigned cpu) { w.handle(cpu); });

	return {r,
		g.most_handled,
		g.most_left_out,
		g.most_bypasses,
		g.most_refused,
		g.most_changes,
		g.ended_ever};
}

/* -- Rows that many tests have ----------------------------------------------
 */

/* All CPUs have this role. */
inline outcome all_are(char letter, const kind &k, const options &how)
{
	return play({k, std::string(how.sections.size(), letter)}, how);
}

/* CPU 0 has this role, and the others have that. */
inline std::string one_and_others(char one, char others, const options &how)
{
	return one + std::string(how.sections.size() - 1, others);
}

/* Mutual exclusion and visibility: no update is lost, no access races. */
inline result exclusion(const kind &k, const options &how)
{
	return all_are('l', k, how);
}

/* As exclusion(), with nodes on the CPUs' stacks, new for each section. */
inline result exclusion_on_stack(const kind &k, const options &how)
{
	return all_are('k', k, how);
}

/* As exclusion(), of a lock that has served that many sections before. */
inline result exclusion_from(const kind &k, const options &how, u64 served)
{
	return play({.lock = k,
		     .roles = std::string(how.sections.size(), 'l'),
		     .served_before = served},
		    how);
}

/* A try that fails does without. Whoever is inside is alone. */
inline result tries_mixed_in(const kind &k, const options &how)
{
	return play({k, one_and_others('t', 'l', how)}, how);
}

/* All only try: of those who find it free throughout, one gets it. */
inline result tries_only(const kind &k, const options &how)
{
	return all_are('t', k, how);
}

inline result try_after_unlock(const kind &k, const options &how)
{
	return play({k, "lt", &world::after_it_left}, how);
}

/* A CPU's nodes serve for both. */
inline result two_in_turn(const kind &k, const options &how)
{
	return play(
		{k, std::string(how.sections.size(), 'l'), &world::two_locks},
		how);
}

/* All of them run: nobody's patience ends. */
inline result first_come_first_served(const kind &k, options how = {})
{
	how.patient = everybody;
	return play({k, "lll", &world::first_come}, how);
}

/* The last to leave ends the lock: nobody else is still at it. */
inline result ended_by_the_last(const kind &k, const options &how)
{
	return play({k, std::string(how.sections.size(), 'l'), &world::freed},
		    how);
}

/*
 * The checker ends a wait with a deadline at any look, or never where the CPU
 * is in options.patient: one client is all deadlines.
 */
inline result gives_up(const kind &k, const options &how)
{
	return play({.lock = k,
		     .roles = std::string(how.sections.size(), 'L'),
		     .is_free_at_end = true},
		    how);
}

inline result gives_up_and_tries(const kind &k, options how)
{
	how.patient = ~1u;
	return play({.lock = k,
		     .roles = one_and_others('T', 'L', how),
		     .is_free_at_end = true},
		    how);
}

/* CPU 0 never unlocks: others do not get in, but their timed tries end. */
inline result holder_stays(const kind &k, const options &how)
{
	return play({k, one_and_others('l', 'L', how), &world::holder_stays},
		    how);
}

/* Looks at a result; true means that it has seen enough. */
using visit = std::function<bool(const result &)>;

/*
 * Explores clients with deadlines until enough(result) returns true, and
 * returns whether it did. There are clients of two CPUs and of three, each with
 * a lock made for that number: some faults show in a full ring alone.
 */
inline bool each_timed_client(const kind &k, const options &how,
			      const visit &enough)
{
	const auto with = [&how](std::vector<unsigned> sections,
				 unsigned patient) {
		options o = how;
		o.sections = sections;
		o.patient = patient;
		return o;
	};

	if (k.capacity == 2)
		return enough(gives_up(k, with({2, 2}, 0))) ||
		       enough(gives_up(k, with({2, 2}, 1))) ||
		       enough(gives_up_and_tries(k, with({4, 3}, 0))) ||
		       enough(gives_up(k, with({3, 3}, 0)));
	return enough(gives_up(k, with({1, 1, 1}, 0))) ||
	       enough(gives_up(k, with({2, 1, 1}, 1))) ||
	       enough(gives_up_and_tries(k, with({3, 1, 1}, 0)));
}

/* each_timed_client() of the lock made for two CPUs, and of k itself. */
inline bool timed_clients_of_two_and_three(const kind &k, const options &how,
					   const visit &enough)
{
	for (const kind &two : kinds_of<klock::selftest::all_locks<2>>())
		if (std::string(two.name) == k.name &&
		    each_timed_client(two, how, enough))
			return true;
	return each_timed_client(k, how, enough);
}

} // namespace worlds
