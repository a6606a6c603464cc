/* SPDX-License-Identifier: MIT */
/*
 * measure - how any lock of the list serves CPUs that want it again and again
 *
 * Each CPU thinks, takes the lock, stays inside, and releases it; the times are
 * given in cycles, fixed or random. Measured are the time of a handoff from one
 * CPU to a waiting other, the longest wait, each CPU's share, and the longest
 * run of sections of one CPU. A section also checks that it is alone, so that
 * figures of a broken lock are not taken for good ones.
 *
 * The clocks of all CPUs must show about the same (Intel SDM volume 3B, 18.17:
 * an invariant time-stamp counter); a handoff that seems to end before it
 * began counts as 0.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/irq.hpp>
#include <klock/types.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/selftest/torture.hpp>

namespace klock::selftest {

/*
 * histogram - how often which length of time occurred, in 1.5 KiB
 *
 * Eight buckets for each power of two: a value read back is at most an eighth
 * off, from a cycle to days. No heap, no division. One CPU adds at a time.
 */

struct histogram {
	static constexpr unsigned buckets = 368;

	void clear()
	{
		for (unsigned i = 0; i < buckets; i++)
			counts[i] = 0;
		total = 0;
		least = ~u64{0};
		greatest = 0;
	}

	void add(u64 value)
	{
		counts[bucket_of(value)]++;
		total++;
		least = value < least ? value : least;
		greatest = value > greatest ? value : greatest;
	}

	void merge(const histogram &other)
	{
		for (unsigned i = 0; i < buckets; i++)
			counts[i] += other.counts[i];
		total += other.total;
		least = other.least < least ? other.least : least;
		greatest =
			other.greatest > greatest ? other.greatest : greatest;
	}

	[[nodiscard]] u64 count() const { return total; }
	[[nodiscard]] u32 count(unsigned bucket) const
	{
		return counts[bucket];
	}

	/* Exact; 0 where nothing was added. */
	[[nodiscard]] u64 min() const { return total ? least : 0; }
	[[nodiscard]] u64 max() const { return greatest; }

	/*
	 * The value below which that many thousandths lie: 500 is the median.
	 * It is the upper end of its bucket, and at most max().
	 */
	[[nodiscard]] u64 permille(u32 share) const
	{
		/* total * share / 1000, without a division: compare products */
		u64 seen = 0;

		for (unsigned i = 0; i < buckets; i++) {
			seen += counts[i];
			if (seen && seen * 1000 >= total * share) {
				const u64 end = lower_end(i + 1) - 1;
				return end < greatest ? end : greatest;
			}
		}
		return greatest;
	}

	/* In steps, as the builtin is a library call if the CPU has no
	 * instruction for it. */
	static constexpr unsigned highest_bit(u64 value)
	{
		unsigned power = 0;

		for (unsigned step = 32; step; step /= 2) {
			if (!(value >> step))
				continue;
			value >>= step;
			power += step;
		}
		return power;
	}

	static constexpr unsigned bucket_of(u64 value)
	{
		if (value < 8)
			return static_cast<unsigned>(value);
		const unsigned power = highest_bit(value);
		const unsigned bucket =
			(power - 2) * 8 + ((value >> (power - 3)) & 7);

		return bucket < buckets ? bucket : buckets - 1;
	}

	/* The least value of a bucket; for `buckets`, the end of the last. */
	static constexpr u64 lower_end(unsigned bucket)
	{
		if (bucket < 8)
			return bucket;
		return u64{8 + bucket % 8} << (bucket / 8 - 1);
	}

      private:
	u32 counts[buckets] = {};
	u64 total = 0;
	u64 least = ~u64{0};
	u64 greatest = 0;
};

static_assert(histogram::bucket_of(7) == 7 && histogram::bucket_of(8) == 8);
static_assert(histogram::lower_end(8) == 8 && histogram::lower_end(16) == 16);
static_assert(histogram::bucket_of(~u64{0}) == histogram::buckets - 1);
static_assert(
	histogram::bucket_of(1000) ==
	histogram::bucket_of(histogram::lower_end(histogram::bucket_of(1000))));

/* A range of cycles, both ends included; a fixed time if they are equal. */
struct range {
	u32 least = 0;
	u32 most = 0;
};

struct experiment {
	unsigned cpus;	  /* that contend; at most the lock's capacity */
	range section;	  /* inside */
	range think;	  /* between two critical sections */
	u64 acquisitions; /* of all CPUs; 0: until time is up */
	u64 cycles;	  /* how long; 0: until acquisitions are made */
	u32 seed;
	bool irqs_off;	   /* an interrupt handler takes the lock, too */
	u32 writers = 100; /* of 100 sections: shared_measure.hpp */
};

/* One CPU's observations, on cache lines of its own. */
struct alignas(cache_line) tally {
	histogram handoff;
	u64 acquisitions = 0;
	u64 in_handler = 0; /* of them: by its interrupt handler */
	u64 longest_wait = 0;
	u64 overlaps = 0;

	void clear()
	{
		handoff.clear();
		acquisitions = in_handler = longest_wait = overlaps = 0;
	}
};

/* The observations of all CPUs. */
struct figures {
	const char *lock;
	unsigned cpus;
	u32 bytes;
	u64 cycles; /* from the first CPU's start to the last one's end */
	u64 acquisitions;
	u64 in_handler;
	u64 handoffs; /* to another CPU than before, waiting or not */
	u64 longest_wait;
	u64 max_consecutive; /* consecutive sections of one CPU */
	u64 overlaps;	     /* sections that saw another, updates lost */
	u32 jain_permille;
	bool gave_up;
	histogram handoff; /* to a CPU that waited, cycles */
};

/* Lets a time in this range pass. */
inline void stay(const range &length, xorshift &dice)
{
	const u32 spread = length.most - length.least;
	const u32 cycles_to_stay =
		length.least + (spread ? dice.below(spread + 1) : 0);

	if (!cycles_to_stay)
		return;
	const u64 start = cycles();
	while (cycles() - start < cycles_to_stay)
		cpu_relax();
}

/* The part of a measurement that does not depend on the lock's type. */
struct measurement_run {
	[[nodiscard]] u32 progress() const { return done.load_relaxed(); }

      protected:
	/* Data that only the holder accesses. */
	struct held_data {
		unsigned last = ~0u; /* the holder before */
		u64 handoffs = 0;
		u64 run = 0; /* consecutive sections of one CPU, so far */
		u64 max_consecutive = 0;
		u64 released_at = 0; /* when the last one left */
		u64 first = 0;	     /* when the first one entered */
		u64 final = 0;	     /* when the last one left */
	};

	void begin(const experiment &e, tally *of_each_cpu)
	{
		todo = e;
		tallies = of_each_cpu;
		data.reset();
		everyone.reset();
		done.store_relaxed(0);
		shared = {};
		for (unsigned i = 0; i < todo.cpus; i++)
			tallies[i].clear();
	}

	void sum_up(figures &into) const
	{
		into = {};
		into.cpus = todo.cpus;
		into.cycles = shared.final - shared.first;
		into.handoffs = shared.handoffs;
		into.max_consecutive = shared.max_consecutive;
		into.gave_up = give_up;
		for (unsigned i = 0; i < todo.cpus; i++) {
			const tally &of = tallies[i];
			into.acquisitions += of.acquisitions;
			into.in_handler += of.in_handler;
			into.overlaps += of.overlaps;
			into.handoff.merge(of.handoff);
			if (of.longest_wait > into.longest_wait)
				into.longest_wait = of.longest_wait;
		}
		into.overlaps += data.lost(into.acquisitions);
		into.jain_permille =
			jain_permille(todo.cpus, [this](unsigned i) {
				return tallies[i].acquisitions;
			});
	}

	[[nodiscard]] bool is_over(u64 start) const
	{
		if (give_up)
			return true;
		if (todo.acquisitions &&
		    done.load_relaxed() >= todo.acquisitions)
			return true;
		return todo.cycles && cycles() - start >= todo.cycles;
	}

	void note_entry(unsigned cpu, u64 asked, u64 got)
	{
		tally &mine = tallies[cpu];
		const u64 free_at = shared.released_at;

		mine.acquisitions++;
		if (!shared.first)
			shared.first = got;
		if (got - asked > mine.longest_wait)
			mine.longest_wait = got - asked;
		if (shared.last != cpu) {
			/* A CPU that came after the release did not wait. */
			if (free_at && asked < free_at)
				mine.handoff.add(got > free_at ? got - free_at
							       : 0);
			shared.last = cpu;
			shared.handoffs++;
			shared.run = 0;
		}
		if (++shared.run > shared.max_consecutive)
			shared.max_consecutive = shared.run;
	}

	experiment todo{};
	tally *tallies = nullptr;
	alignas(cache_line) invariant data;
	held_data shared;
	alignas(cache_line) barrier everyone;
	alignas(cache_line) atomic<u32> done; /* sections; the holder's */
};

/* tallies: one for each CPU, shared by measurements that do not overlap. */
template <typename Subject, unsigned Cpus>
struct measurement : measurement_run {
	using lock_type = typename Subject::lock;

	constexpr measurement()
	{
		for (unsigned i = 0; i < Cpus; i++)
			seats[i].who.renumber(i);
	}

	/* Before the CPUs run; the lock itself goes on as it is. */
	void prepare(const experiment &e, tally *of_each_cpu)
	{
		begin(e, of_each_cpu);
		for (unsigned i = 0; i < e.cpus; i++)
			seats[i].now.store_relaxed(doing_nothing);
	}

	/* Each of the experiment's CPUs calls this once. */
	void run(unsigned cpu)
	{
		xorshift dice(todo.seed + cpu);

		everyone.meet(todo.cpus);
		const u64 start = cycles();
		while (!is_over(start)) {
			stay(todo.think, dice);
			visit(cpu, dice);
		}
		everyone.meet(todo.cpus);
	}

	/* A section of an interrupt handler on one of the experiment's CPUs. */
	void visit_in_handler(unsigned cpu, xorshift &dice)
	{
		visit(cpu, dice);
		tallies[cpu].in_handler++;
	}

	[[nodiscard]] doing what(unsigned cpu) const
	{
		return static_cast<doing>(seats[cpu].now.load_relaxed());
	}

	[[nodiscard]] const lock_type &watched() const { return lock; }

	/* The lock, to set its parameters before a run. */
	[[nodiscard]] lock_type &measured() { return lock; }

	/* Called after all have returned from run(); `into` is large. */
	void outcome(figures &into) const
	{
		sum_up(into);
		into.lock = Subject::name;
		into.bytes = sizeof(lock_type);
	}

      private:
	struct alignas(cache_line) seat {
		contender<lock_type> who;
		atomic<u8> now;
	};

	void visit(unsigned cpu, xorshift &dice)
	{
		if (!todo.irqs_off) {
			acquire(cpu, dice);
			return;
		}
		const irq_state before = irq_save();
		acquire(cpu, dice);
		irq_restore(before);
	}

	/* Not inlined: one copy a lock. The timed code is all inside. */
	[[gnu::noinline]] void acquire(unsigned cpu, xorshift &dice)
	{
		seat &mine = seats[cpu];
		const u64 asked = cycles();

		mine.now.store_relaxed(doing_wait);
		mine.who.lock(lock);
		const u64 got = cycles();
		mine.now.store_relaxed(doing_section);
		note_entry(cpu, asked, got);
		bool alone = data.visit(0);
		stay(todo.section, dice);
		/* Nobody else has entered meanwhile. */
		alone &= shared.last == cpu;
		if (!alone)
			tallies[cpu].overlaps++;
		done.store_relaxed(done.load_relaxed() + 1);
		mine.now.store_relaxed(doing_nothing);
		shared.final = shared.released_at = cycles();
		mine.who.unlock(lock);
	}

	alignas(cache_line) lock_type lock;
	seat seats[Cpus];
};

/* The fault in words, or null. */
constexpr const char *fault(const figures &f)
{
	if (f.overlaps)
		return "two CPUs were in the section at once";
	if (f.gave_up)
		return "no progress: everybody waits";
	return nullptr;
}

} // namespace klock::selftest
