/* SPDX-License-Identifier: MIT */
/*
 * shared_measure - how a lock that readers share serves readers and writers
 *
 * As measure.hpp, but a share of the sections, in percent, are writes, at
 * random, and the figures of readers and writers are separate. A section also
 * checks the lock: a reader that sees a writer, or a writer that sees anybody,
 * from its entry to its exit, is counted.
 *
 * Readers write only their own cache lines, so that measuring does not make
 * them share one. A writer reads all of them, at its entry and at its exit.
 */
#pragma once

#include <klock/selftest/measure.hpp>
#include <klock/selftest/shared_torture.hpp>

namespace klock::selftest {

/*
 * The observations of all CPUs. A handoff is the time from a release to the
 * entry of a waiter: a reader waits for a writer, a writer for the last reader
 * or writer.
 */
struct shared_figures {
	const char *lock;
	unsigned cpus;
	u32 bytes;
	u64 cycles; /* from the first CPU's start to the last one's end */
	tally read, write;
	u32 most_together; /* readers that one has seen inside, and itself */
	u32 jain_permille;
	bool gave_up;

	void clear()
	{
		read.clear();
		write.clear();
		cycles = 0;
		most_together = jain_permille = 0;
		gave_up = false;
	}
};

/* reads, writes: one for each CPU, shared by measurements one after another. */
template <typename Subject, unsigned Cpus>
struct shared_measurement {
	using lock_type = typename Subject::lock;

	constexpr shared_measurement()
	{
		for (unsigned i = 0; i < Cpus; i++) {
			seats[i].writer.renumber(i);
			seats[i].reader.renumber(i);
		}
	}

	/* Before the CPUs run; the lock itself goes on as it is. */
	void prepare(const experiment &e, tally *of_reads, tally *of_writes)
	{
		todo = e;
		reads = of_reads;
		writes = of_writes;
		data.reset();
		everyone.reset();
		over.store_relaxed(false);
		inside = {};
		for (unsigned i = 0; i < todo.cpus; i++) {
			reads[i].clear();
			writes[i].clear();
			seats[i].clear();
		}
	}

	/* Each of the experiment's CPUs calls this once. */
	void run(unsigned cpu)
	{
		xorshift dice(todo.seed + cpu);

		everyone.meet(todo.cpus);
		seats[cpu].start = cycles();
		while (!update_over(cpu)) {
			stay(todo.think, dice);
			(void)visit(cpu, dice);
		}
		seats[cpu].end = cycles();
		everyone.meet(todo.cpus);
	}

	/* A section of an interrupt handler on one of the experiment's CPUs. */
	void visit_in_handler(unsigned cpu, xorshift &dice)
	{
		visit(cpu, dice).in_handler++;
	}

	[[nodiscard]] u32 progress() const
	{
		u32 sum = 0;

		for (unsigned i = 0; i < todo.cpus; i++)
			sum += seats[i].entered.load_relaxed();
		return sum;
	}

	[[nodiscard]] doing what(unsigned cpu) const
	{
		return static_cast<doing>(seats[cpu].now.load_relaxed());
	}

	[[nodiscard]] const lock_type &watched() const { return lock; }

	/* Called after all have returned from run(); `into` is large. */
	void outcome(shared_figures &into) const
	{
		u64 first = ~u64{0}, last = 0;

		into.clear();
		into.lock = Subject::name;
		into.cpus = todo.cpus;
		into.bytes = sizeof(lock_type);
		into.gave_up = give_up;
		for (unsigned i = 0; i < todo.cpus; i++) {
			const seat &of = seats[i];

			add(into.read, reads[i]);
			add(into.write, writes[i]);
			first = of.start < first ? of.start : first;
			last = of.end > last ? of.end : last;
			if (of.most_together > into.most_together)
				into.most_together = of.most_together;
		}
		into.cycles = last - first;
		into.write.overlaps += data.lost(into.write.acquisitions);
		into.jain_permille =
			jain_permille(todo.cpus, [this](unsigned i) {
				return reads[i].acquisitions +
				       writes[i].acquisitions;
			});
	}

      private:
	struct alignas(cache_line) seat {
		contender<lock_type> writer;
		klock::selftest::reader<lock_type> reader;
		atomic<u8> now;
		atomic<u8> reading;  /* 1: inside, to read */
		atomic<u32> entered; /* sections so far */
		u64 left = 0;	     /* its last read; writers look at it */
		u64 start = 0, end = 0;
		u32 most_together = 0;

		void clear()
		{
			now.store_relaxed(doing_nothing);
			reading.store_relaxed(0);
			entered.store_relaxed(0);
			left = start = end = 0;
			most_together = 0;
		}
	};

	/* Data that only a writer changes, and readers read. */
	struct written {
		u32 writer = 0; /* its number and 1; 0: none is inside */
		u32 writes = 0;
		u64 released_at = 0; /* when the last one left */
	};

	static void add(tally &to, const tally &of)
	{
		to.acquisitions += of.acquisitions;
		to.in_handler += of.in_handler;
		to.overlaps += of.overlaps;
		to.handoff.merge(of.handoff);
		keep_longest(to.longest_wait, of.longest_wait);
	}

	/*
	 * Returns whether this CPU must stop. In every eighth section it adds
	 * up all CPUs' sections, and sets `over` if they are enough.
	 */
	[[nodiscard]] bool update_over(unsigned cpu)
	{
		constexpr u32 sections_a_look = 8;
		const seat &mine = seats[cpu];

		if (give_up || over.load_relaxed())
			return true;
		if (todo.acquisitions &&
		    mine.entered.load_relaxed() % sections_a_look == 0 &&
		    progress() >= todo.acquisitions)
			over.store_relaxed(true);
		return todo.cycles && cycles() - mine.start >= todo.cycles;
	}

	/* Reads or writes; returns the tally that it counted in. */
	tally &visit(unsigned cpu, xorshift &dice)
	{
		const bool writes_now = dice.below(100) < todo.writers;
		irq_state before{};

		if (todo.irqs_off)
			before = irq_save();
		if (writes_now)
			write(cpu, dice);
		else
			read(cpu, dice);
		if (todo.irqs_off)
			irq_restore(before);
		return writes_now ? writes[cpu] : reads[cpu];
	}

	void read(unsigned cpu, xorshift &dice)
	{
		seat &mine = seats[cpu];
		const u64 asked = cycles();

		mine.now.store_relaxed(doing_wait);
		mine.reader.lock(lock);
		const u64 got = cycles();
		begin(mine);
		mine.reading.store_relaxed(1);
		const u32 writes_before = inside.writes;
		bool alone = !inside.writer && data.look(0);
		note_entry(reads[cpu], asked, got, inside.released_at);
		note_together(mine);
		stay(todo.section, dice);
		/* Nobody has written meanwhile. */
		alone &= data.look(0) && !inside.writer &&
			 inside.writes == writes_before;
		reads[cpu].overlaps += !alone;
		mine.left = cycles();
		mine.reading.store_relaxed(0);
		mine.now.store_relaxed(doing_nothing);
		mine.reader.unlock(lock);
	}

	void write(unsigned cpu, xorshift &dice)
	{
		seat &mine = seats[cpu];
		const u64 asked = cycles();

		mine.now.store_relaxed(doing_wait);
		mine.writer.lock(lock);
		const u64 got = cycles();
		begin(mine);
		u64 free_at = inside.released_at;
		bool alone = !inside.writer && nobody_reads(free_at);
		inside.writer = cpu + 1;
		inside.writes++;
		alone &= data.visit(0);
		note_entry(writes[cpu], asked, got, free_at);
		stay(todo.section, dice);
		/* Nobody else has entered meanwhile. */
		alone &= inside.writer == cpu + 1 && nobody_reads(free_at);
		writes[cpu].overlaps += !alone;
		mine.now.store_relaxed(doing_nothing);
		inside.writer = 0;
		inside.released_at = cycles();
		mine.writer.unlock(lock);
	}

	static void begin(seat &mine)
	{
		mine.now.store_relaxed(doing_section);
		mine.entered.store_relaxed(mine.entered.load_relaxed() + 1);
	}

	/* Raises `last` to the time at which the last reader left. */
	[[nodiscard]] bool nobody_reads(u64 &last) const
	{
		bool nobody = true;

		for (unsigned i = 0; i < todo.cpus; i++) {
			nobody &= !seats[i].reading.load_relaxed();
			keep_longest(last, seats[i].left);
		}
		return nobody;
	}

	/* Counts the readers inside, but rarely: the loads disturb them. */
	void note_together(seat &mine)
	{
		constexpr u32 sections_a_look = 16;
		u32 together = 0;

		if (mine.entered.load_relaxed() % sections_a_look != 1)
			return;
		for (unsigned i = 0; i < todo.cpus; i++)
			together += seats[i].reading.load_relaxed();
		if (together > mine.most_together)
			mine.most_together = together;
	}

	static void note_entry(tally &mine, u64 asked, u64 got, u64 free_at)
	{
		mine.acquisitions++;
		keep_longest(mine.longest_wait, got - asked);
		/* A CPU that came after the release did not wait. */
		if (free_at && asked < free_at)
			mine.handoff.add(got > free_at ? got - free_at : 0);
	}

	experiment todo{};
	tally *reads = nullptr, *writes = nullptr;
	alignas(cache_line) lock_type lock;
	alignas(cache_line) invariant data;
	alignas(cache_line) written inside;
	alignas(cache_line) barrier everyone;
	alignas(cache_line) atomic<bool> over;
	seat seats[Cpus];
};

/* The fault in words, or null. */
constexpr const char *fault(const shared_figures &f)
{
	if (f.read.overlaps)
		return "a reader saw a writer inside";
	if (f.write.overlaps)
		return "a writer was not alone inside";
	if (f.gave_up)
		return "no progress: everybody waits";
	return nullptr;
}

} // namespace klock::selftest
