/* SPDX-License-Identifier: MIT */
/*
 * shared_torture - any lock that readers share, by many CPUs, read and written
 *
 * Three parts. First all CPUs read at once, and meet inside: a lock that does
 * not share stands still. Convoys: a writer stays inside until all others have
 * queued, one by one, readers and writers in turn, so that their order can be
 * checked. Contention: all read or write as fast as they can, sometimes by a
 * try; writers upgrade and downgrade, if the lock can.
 *
 * The environment supplies the CPUs and a watchdog, as for torture.hpp.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/irq.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/selftest/torture.hpp>

namespace klock::selftest {

/* Counts of one kind of handler: an NMI may interrupt the other kind. */
struct handler_counts {
	u32 tried = 0;
	u32 taken = 0;
	u32 written = 0;
	u32 wrong = 0;
};

constexpr void keep_longest(u64 &longest, u64 now)
{
	if (now > longest)
		longest = now;
}

/* The number of a plan's CPUs that can read the lock at once. */
template <typename Subject>
constexpr unsigned readers_of(unsigned cpus)
{
	const unsigned n = participants<Subject>(cpus);

	return n < Subject::reader_capacity
		       ? n
		       : static_cast<unsigned>(Subject::reader_capacity);
}

/* When handlers may visit, and whether one has had the lock. */
struct handler_visits {
	void clear()
	{
		all_met.store_relaxed(false);
		had.store_relaxed(false);
	}
	void open() { all_met.store_relaxed(true); }
	[[nodiscard]] bool are_open() const { return all_met.load_relaxed(); }

	void note(u64 taken)
	{
		if (taken && !had.load_relaxed())
			had.store_relaxed(true);
	}
	[[nodiscard]] bool were() const { return had.load_relaxed(); }

      private:
	atomic<bool> all_met; /* all readers were inside at once */
	atomic<bool> had;
};

/* One CPU's record, on its own lines; others read the atomic fields. */
struct alignas(cache_line) shared_record {
	handler_counts in_interrupt;
	handler_counts in_nmi;
	irq_state flags{};   /* interrupts before a section */
	atomic<u32> entered; /* sections, for others to see */
	atomic<u8> now;
	atomic<u32> left; /* the last convoy whose place it has left */
	u64 written = 0;
	u64 read = 0;
	u32 in_contention = 0;
	u32 wrong = 0;
	u32 bypassed = 0;
	u32 refused = 0;
	u32 most_inside = 0; /* most readers that it has seen at once */
	u64 longest_write = 0;
	u64 longest_read = 0;
	u64 elapsed = 0;

	void clear()
	{
		in_interrupt = in_nmi = {};
		entered.store_relaxed(0);
		now.store_relaxed(0);
		left.store_relaxed(0);
		written = read = 0;
		in_contention = wrong = bypassed = refused = most_inside = 0;
		longest_write = longest_read = elapsed = 0;
	}

	[[nodiscard]] u64 taken_by_handlers() const
	{
		return u64{in_interrupt.taken} + in_nmi.taken;
	}

	/* Adds this CPU's part; returns how often it has written. */
	u64 add_to(result &r) const
	{
		r.visits += taken_by_handlers();
		r.reads += read;
		r.exclusion_errors +=
			u64{wrong} + in_interrupt.wrong + in_nmi.wrong;
		r.fifo_violations += bypassed;
		r.try_failures += refused;
		if (most_inside > r.most_together)
			r.most_together = most_inside;
		keep_longest(r.longest_wait, longest_write);
		keep_longest(r.longest_read_wait, longest_read);
		return written + in_interrupt.written + in_nmi.written;
	}
};

/* -- A convoy: place 0 leads it, and writes ------------------------------ */

/* Whether the CPU at this place reads: every second one, after the leader. */
constexpr bool reads_at(unsigned place) { return place && place % 2 == 0; }

/*
 * Whether `other` must be served before the CPU at `place`, if all queued
 * behind the leader in the order of their places, and not both of the two read.
 */
constexpr bool is_before(sharing by, unsigned other, unsigned place)
{
	if (by == sharing::in_order || reads_at(other) == reads_at(place))
		return other < place;
	return reads_at(other) == (by == sharing::by_phases);
}

/* The contexts of a CPU that take the lock: each is a contender. */
enum taken_by : u8 { taken_by_thread, taken_by_handler };

struct shared_torture_run;

/* How a CPU takes a lock to read, or to write. */
struct side_calls {
	void (*lock)(shared_torture_run &, unsigned cpu, taken_by who);
	void (*unlock)(shared_torture_run &, unsigned cpu, taken_by who);
	/* null: the lock has none */
	bool (*try_lock)(shared_torture_run &, unsigned cpu, taken_by who);
};

/* Changes between reading and writing; null: the lock has none. */
struct change_calls {
	void (*lock_upgradable)(shared_torture_run &);
	void (*unlock_upgradable)(shared_torture_run &);
	void (*upgrade)(shared_torture_run &);
	bool (*try_upgrade)(shared_torture_run &);
	void (*downgrade)(shared_torture_run &);
};

/* The part that depends on the lock: its line of the list, and its calls. */
struct shared_calls {
	const char *name;
	service promised;
	sharing order;
	u64 capacity;
	u64 reader_capacity;
	u32 bytes;
	side_calls write, read;
	change_calls change;
	/* Calls one CPU to the lock and waits until it has queued. */
	void (*call)(shared_torture_run &, unsigned cpu, u32 number);

	/* Whether an NMI handler, which may only try, can use the lock. */
	[[nodiscard]] constexpr bool can_try() const
	{
		return write.try_lock && read.try_lock;
	}
};

/* The part of the torture that does not depend on the lock's type. */
struct shared_torture_run {
	/* Before the CPUs run; the lock itself goes on as it is. */
	void prepare(const plan &p)
	{
		todo = p;
		data.reset(todo.made);
		everyone.reset();
		together.reset();
		called.store_relaxed(0);
		contended.store_relaxed(0);
		inside.store_relaxed(0);
		visits.clear();
		last = ~0u;
		handoffs = 0;
		for (unsigned i = 0; i < todo.cpus; i++)
			records[i].clear();
	}

	/* Each of the plan's CPUs calls this once, 0 .. cpus - 1. */
	void run(unsigned cpu)
	{
		everyone.meet(todo.cpus);
		meet_inside(cpu);
		visits.open();
		for (u32 round = 0; round < todo.convoys && !give_up; round++) {
			convoy(cpu, round);
			everyone.meet(todo.cpus);
		}
		const u64 start = cycles();
		contend(cpu);
		everyone.meet(todo.cpus);
		records[cpu].elapsed = cycles() - start;
	}

	/*
	 * Called from an interrupt handler on a CPU that may be in run(), if
	 * the plan's sections have interrupts off: reads, and now and then
	 * writes. Does nothing before all readers have met inside: a writer
	 * that waits for the readers inside would keep out those that they wait
	 * for, and all would wait for ever.
	 */
	void interrupt(unsigned cpu)
	{
		if (!visits.are_open())
			return;
		handler_counts &mine = records[cpu].in_interrupt;
		const bool writes = mine.taken++ % todo.write_one_in == 0;

		side(writes).lock(*this, cpu, taken_by_handler);
		visit(cpu, mine, writes);
	}

	/*
	 * Called from an NMI handler on such a CPU: tries to read and to write,
	 * by turns, and never waits. Each such CPU is one contender more.
	 */
	void drop_in(unsigned cpu)
	{
		handler_counts &mine = records[cpu].in_nmi;

		if (!calls.can_try())
			return;
		const bool writes = mine.tried++ % 2 == 0;
		if (!side(writes).try_lock(*this, cpu, taken_by_handler))
			return;
		mine.taken++;
		visit(cpu, mine, writes);
	}

	/* Whether a handler has had the lock. */
	[[nodiscard]] bool was_visited() const { return visits.were(); }

	/* Changes for as long as somebody gets the lock, and wraps. */
	[[nodiscard]] u32 progress() const
	{
		u32 sum = 0;

		for (unsigned i = 0; i < todo.cpus; i++)
			sum += records[i].entered.load_relaxed();
		return sum;
	}

	[[nodiscard]] doing what(unsigned cpu) const
	{
		return static_cast<doing>(records[cpu].now.load_relaxed());
	}

	/* After all have returned from run(). */
	[[nodiscard]] result outcome() const
	{
		result r{};
		u64 writes = todo.made;

		r.lock = calls.name;
		r.promised = calls.promised;
		r.shared = true;
		r.cpus = todo.cpus;
		r.bytes = calls.bytes;
		r.handoffs = handoffs;
		for (unsigned i = 0; i < todo.cpus; i++)
			writes += records[i].add_to(r);
		r.acquisitions = writes + r.reads;
		r.jain_permille = jain_permille(todo.cpus, [this](unsigned i) {
			return u64{records[i].in_contention};
		});
		r.lost_updates = data.lost(writes);
		r.cycles = divide(records[0].elapsed, contended.load_relaxed());
		r.gave_up = give_up;
		return r;
	}

	/* The lock's line of the list. */
	const shared_calls &calls;

      protected:
	constexpr shared_torture_run(const shared_calls &of,
				     shared_record *of_each_cpu)
	    : calls(of), records(of_each_cpu)
	{
	}

	plan todo{};
	shared_record *const records;
	alignas(cache_line) atomic<u32> called; /* the number that may come */

      private:
	[[nodiscard]] const side_calls &side(bool writes) const
	{
		return writes ? calls.write : calls.read;
	}

	/* A handler's section, and its unlock. */
	void visit(unsigned cpu, handler_counts &mine, bool writes)
	{
		mine.wrong += writes ? !data.visit(0) : !data.look(0);
		mine.written += writes;
		side(writes).unlock(*this, cpu, taken_by_handler);
		visits.note(records[cpu].taken_by_handlers());
	}

	/* -- Sections -- */

	void comes(unsigned cpu)
	{
		if (todo.irqs_off)
			records[cpu].flags = irq_save();
		records[cpu].now.store_relaxed(doing_wait);
	}

	void goes(unsigned cpu)
	{
		if (todo.irqs_off)
			irq_restore(records[cpu].flags);
	}

	/* The CPU entered a section. */
	void note_entered(unsigned cpu)
	{
		shared_record &mine = records[cpu];

		mine.now.store_relaxed(doing_section);
		mine.entered.store_relaxed(mine.entered.load_relaxed() + 1);
	}

	void write_and_leave(unsigned cpu)
	{
		shared_record &mine = records[cpu];

		note_entered(cpu);
		if (last != cpu) {
			last = cpu;
			handoffs++;
		}
		if (!data.visit(todo.relaxes_a_word))
			mine.wrong++;
		mine.written++;
		if (calls.change.downgrade && mine.written % 2) {
			calls.change.downgrade(*this);
			if (!data.look(todo.relaxes_a_word) || last != cpu)
				mine.wrong++;
			mine.now.store_relaxed(doing_nothing);
			calls.read.unlock(*this, cpu, taken_by_thread);
		} else {
			mine.now.store_relaxed(doing_nothing);
			calls.write.unlock(*this, cpu, taken_by_thread);
		}
		goes(cpu);
	}

	/* Reads, then writes; or only reads, if a try finds another reader. */
	void upgrade_and_leave(unsigned cpu, bool tries)
	{
		shared_record &mine = records[cpu];

		comes(cpu);
		calls.change.lock_upgradable(*this);
		const unsigned writer = last;

		if (!data.look(todo.relaxes_a_word))
			mine.wrong++;
		if (!tries)
			calls.change.upgrade(*this);
		else if (!calls.change.try_upgrade ||
			 !calls.change.try_upgrade(*this)) {
			note_entered(cpu);
			mine.read++;
			mine.now.store_relaxed(doing_nothing);
			calls.change.unlock_upgradable(*this);
			return goes(cpu);
		}
		if (last != writer)
			mine.wrong++;
		write_and_leave(cpu);
	}

	/* Counts the readers beside it; waits inside for that many. */
	void read_and_leave(unsigned cpu, unsigned to_meet = 0)
	{
		shared_record &mine = records[cpu];
		const u32 now = inside.fetch_add_relaxed(1) + 1;

		note_entered(cpu);
		if (to_meet)
			together.meet(to_meet);
		if (now > mine.most_inside)
			mine.most_inside = now;
		if (!data.look(todo.relaxes_a_word))
			mine.wrong++;
		mine.read++;
		(void)inside.fetch_sub_relaxed(1);
		mine.now.store_relaxed(doing_nothing);
		calls.read.unlock(*this, cpu, taken_by_thread);
		goes(cpu);
	}

	/* Ends only when as many as the lock can take read at once. */
	void meet_inside(unsigned cpu)
	{
		const unsigned all =
			todo.cpus < calls.reader_capacity
				? todo.cpus
				: static_cast<unsigned>(calls.reader_capacity);

		if (cpu < all) {
			comes(cpu);
			calls.read.lock(*this, cpu, taken_by_thread);
			read_and_leave(cpu, all);
		}
		everyone.meet(todo.cpus);
	}

	/* -- Convoys -- */

	unsigned leader(u32 round) const { return round % todo.cpus; }

	unsigned at_place(unsigned k, u32 round) const
	{
		return (k + leader(round)) % todo.cpus;
	}

	void convoy(unsigned cpu, u32 round)
	{
		const unsigned n = todo.cpus;
		const unsigned k = (cpu + n - leader(round)) % n;

		if (k == 0)
			lead(cpu, round);
		else
			follow(cpu, round, k);
	}

	void lead(unsigned cpu, u32 round)
	{
		comes(cpu);
		calls.write.lock(*this, cpu, taken_by_thread);
		for (unsigned k = 1; k < todo.cpus; k++)
			calls.call(*this, at_place(k, round),
				   round * todo.cpus + k);
		write_and_leave(cpu);
	}

	void follow(unsigned cpu, u32 round, unsigned k)
	{
		const u32 number = round * todo.cpus + k;
		shared_record &mine = records[cpu];

		called.await_acquire(
			[=](u32 now) { return now == number || give_up; });
		comes(cpu);
		if (reads_at(k)) {
			calls.read.lock(*this, cpu, taken_by_thread);
			check_order(cpu, round, k);
			mine.left.store_relaxed(round + 1);
			read_and_leave(cpu);
		} else {
			calls.write.lock(*this, cpu, taken_by_thread);
			check_order(cpu, round, k);
			mine.left.store_relaxed(round + 1);
			write_and_leave(cpu);
		}
	}

	/* Checks the order: earlier ones were served, later ones still wait. */
	void check_order(unsigned cpu, u32 round, unsigned k)
	{
		for (unsigned other = 1; other < todo.cpus; other++) {
			if (other == k || (reads_at(k) && reads_at(other)))
				continue;
			const shared_record &its =
				records[at_place(other, round)];
			const bool served =
				its.left.load_relaxed() == round + 1;

			if (served != is_before(calls.order, other, k))
				records[cpu].bypassed++;
		}
	}

	/* -- Contention -- */

	/*
	 * It is over when all sections are made. If something rare has not
	 * happened by then, it goes on, but at most 16 times as long.
	 */
	[[nodiscard]] bool is_over() const
	{
		const u32 now = contended.load_relaxed();

		if (give_up)
			return true;
		if (now < todo.sections)
			return false;
		return now / 16 >= todo.sections || !todo.is_missing ||
		       !todo.is_missing();
	}

	void contend(unsigned cpu)
	{
		shared_record &mine = records[cpu];
		xorshift dice(todo.seed + cpu);

		while (!is_over()) {
			relax_for(dice.below(todo.relaxes_outside + 1));
			const bool tries = todo.try_one_in &&
					   dice.below(todo.try_one_in) == 0;
			const bool writes = dice.below(todo.write_one_in) == 0;
			if (!(writes ? write(cpu, tries) : read(cpu, tries))) {
				mine.refused++;
				continue;
			}
			contended.store_relaxed(contended.load_relaxed() + 1);
			mine.in_contention++;
		}
	}

	/* Whether there is room: an upgradable reader has two tickets, and so
	 * may its handler. */
	[[nodiscard]] bool can_upgrade() const
	{
		return calls.change.upgrade &&
		       u64{todo.cpus} * 4 <= calls.capacity;
	}

	bool write(unsigned cpu, bool tries)
	{
		if (can_upgrade() && records[cpu].written % 4 < 2) {
			upgrade_and_leave(cpu, tries);
			return true;
		}
		if (!take(cpu, tries, calls.write, records[cpu].longest_write))
			return false;
		write_and_leave(cpu);
		return true;
	}

	bool read(unsigned cpu, bool tries)
	{
		if (!take(cpu, tries, calls.read, records[cpu].longest_read))
			return false;
		read_and_leave(cpu);
		return true;
	}

	/* Tries, if that is asked for and possible; else waits. */
	bool take(unsigned cpu, bool tries, const side_calls &by, u64 &longest)
	{
		const u64 start = cycles();

		comes(cpu);
		if (tries && by.try_lock) {
			const bool taken =
				by.try_lock(*this, cpu, taken_by_thread);

			if (!taken)
				goes(cpu);
			return taken;
		}
		by.lock(*this, cpu, taken_by_thread);
		keep_longest(longest, cycles() - start);
		return true;
	}

	alignas(cache_line) invariant data;
	unsigned last = ~0u; /* the last writer; only writers write it */
	u32 handoffs = 0;
	alignas(cache_line) barrier everyone;
	alignas(cache_line) barrier together;
	alignas(cache_line) atomic<u32> contended; /* sections so far */
	alignas(cache_line) atomic<u32> inside;	   /* readers, now */
	alignas(cache_line) handler_visits visits;
};

/* The torture of one lock; its functions are shared_torture_run's. */
template <typename Subject, unsigned Cpus>
struct shared_torture : shared_torture_run {
	using lock_type = typename Subject::lock;

	constexpr shared_torture() : shared_torture_run(table, own_records)
	{
		for (unsigned cpu = 0; cpu < Cpus; cpu++)
			for (seat &of : seats[cpu].of) {
				of.writer.renumber(cpu);
				of.reads.renumber(cpu);
			}
	}

	[[nodiscard]] const lock_type &watched() const { return lock; }

      private:
	struct seat {
		contender<lock_type> writer;
		reader<lock_type> reads;
	};
	struct alignas(cache_line) cpu_seats {
		seat of[2]; /* the thread's, the handlers' */
	};

	static shared_torture &self(shared_torture_run &of)
	{
		return static_cast<shared_torture &>(of);
	}

	/* The contender Who is &seat::writer or &seat::reads. */
	template <auto Who>
	static void take(shared_torture_run &of, unsigned cpu, taken_by who)
	{
		(self(of).seats[cpu].of[who].*Who).lock(self(of).lock);
	}
	template <auto Who>
	static void leave(shared_torture_run &of, unsigned cpu, taken_by who)
	{
		(self(of).seats[cpu].of[who].*Who).unlock(self(of).lock);
	}
	template <auto Who>
	static bool ask(shared_torture_run &of, unsigned cpu, taken_by who)
	{
		return (self(of).seats[cpu].of[who].*Who)
			.try_lock(self(of).lock);
	}

	static constexpr change_calls changes_of_it()
	{
		using run = shared_torture_run;
		change_calls c{};

		if constexpr (upgradable_lock<lock_type>) {
			c.lock_upgradable = [](run &of) {
				self(of).lock.lock_upgradable();
			};
			c.unlock_upgradable = [](run &of) {
				self(of).lock.unlock_upgradable();
			};
			c.upgrade = [](run &of) { self(of).lock.upgrade(); };
		}
		if constexpr (requires(lock_type &l) { l.try_upgrade(); })
			c.try_upgrade = [](run &of) {
				return self(of).lock.try_upgrade();
			};
		if constexpr (requires(lock_type &l) { l.downgrade(); })
			c.downgrade = [](run &of) {
				self(of).lock.downgrade();
			};
		return c;
	}

	static void call(shared_torture_run &run, unsigned cpu, u32 number)
	{
		shared_torture &of = self(run);
		const doorway<lock_type> line(of.lock);
		const shared_record &its = of.records[cpu];
		const u32 before = its.entered.load_relaxed();

		of.called.store_release(number);
		while (its.entered.load_relaxed() == before && !give_up) {
			if (its.now.load_relaxed() == doing_wait &&
			    (leaves_no_trace(number % of.todo.cpus) ||
			     line.passed(cpu)))
				break;
			cpu_relax();
		}
	}

	/* Whether a waiter shows nothing in the lock: a reader behind writers
	 * that go first may take its mark back. */
	static bool leaves_no_trace(unsigned place)
	{
		return Subject::order_of_sharing == sharing::writers_first &&
		       reads_at(place);
	}

	static constexpr shared_calls calls_of_it()
	{
		shared_calls c = {.name = Subject::name,
				  .promised = Subject::order_of_service,
				  .order = Subject::order_of_sharing,
				  .capacity = Subject::capacity,
				  .reader_capacity = Subject::reader_capacity,
				  .bytes = sizeof(lock_type),
				  .write = {take<&seat::writer>,
					    leave<&seat::writer>, nullptr},
				  .read = {take<&seat::reads>,
					   leave<&seat::reads>, nullptr},
				  .change = changes_of_it(),
				  .call = call};

		if constexpr (try_lockable<lock_type>)
			c.write.try_lock = ask<&seat::writer>;
		if constexpr (try_shared_lockable<lock_type>)
			c.read.try_lock = ask<&seat::reads>;
		return c;
	}

	static constexpr shared_calls table = calls_of_it();

	alignas(cache_line) lock_type lock;
	cpu_seats seats[Cpus];
	shared_record own_records[Cpus];
};

} // namespace klock::selftest
