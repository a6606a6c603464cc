/* SPDX-License-Identifier: MIT */
/*
 * measure_shared - the cost of a read and of a write, if some sections write
 *
 *	sim::shared_figures f = sim::measure_shared<my_lock>(
 *		"my_lock", sim::xeon_8180, {.cpus = 64, .writers = 10});
 *
 * Each CPU does a number of sections, of which a percentage are writes, at
 * random, with some cycles between two. All are counted, to the last one:
 * otherwise the CPUs that wait longest would be missing. A lock that readers
 * share is taken by lock_shared() to read; any other by lock(), for comparison;
 * the value of a seq_lock is read and updated.
 */
#pragma once

#include <sim/measure.hpp>

namespace sim {

struct shared_workload {
	unsigned cpus;
	unsigned writers = 0; /* of 100 sections; the others read */
	u64 inside = 500;     /* cycles in a section, of either kind */
	u64 think = 500;      /* between two: 1 to this many, at random */
	u64 sections = 0;     /* of each CPU; 0: enough for the CPUs */
	u64 patience = 100'000'000;
};

/*
 * One read's share, or one write's: the cost to its own CPU of lock and unlock.
 * Waits are included, the section is not.
 */
struct spending {
	u64 sections = 0;
	double cycles = 0;
	double misses = 0;
	double rmws = 0;
	u64 longest_wait = 0; /* cycles until it was in, the worst of all */
};

struct shared_figures {
	std::string lock;
	std::string machine;
	unsigned cpus = 0;
	unsigned writers = 0;
	spending read, write;
	double cycles = 0;    /* from one section to the next, of either kind */
	u64 most_readers = 0; /* inside at once */
	u64 overlaps = 0;     /* a writer not alone: 0, or broken */
	std::string stuck;    /* not empty: it did not come to an end */

	/* Sections in a thousand cycles, of all CPUs together. */
	double rate() const { return cycles > 0 ? 1000 / cycles : 0; }
};

namespace detail {

/* A CPU's clock and counters, to take the difference. */
struct reading {
	u64 cycles, misses, rmws;
};

/* Counts readers, writers, and what each has spent. */
struct shared_tracker {
	/*
	 * keeps_writers_out: false for a seq_lock, whose readers exclude
	 * nobody.
	 */
	shared_tracker(const simulator &s, const shared_workload &,
		       bool keeps_writers_out);

	reading look(unsigned cpu) const;
	void enter(bool writes, u64 since);
	void leave(bool writes);
	void note(bool writes, const reading &before, const reading &after);
	shared_figures result(const outcome &) const;

	const shared_workload load;
	const u64 sections; /* of each CPU */
	const u64 start;    /* the cycle at which all begin */

      private:
	const simulator &of;
	const bool readers_count;
	spending did[2]; /* sums: of reads, of writes */
	u64 readers = 0, writers = 0, most_readers = 0, overlaps = 0;
};

/* How a CPU reads and writes with an exclusive lock, a shared one, a value. */
template <typename Lock>
struct access;

template <klock::any_lock Lock>
struct access<Lock> {
	static constexpr bool keeps_writers_out = true;
	static constexpr bool shares = false;

	void renumber(unsigned cpu) { who.renumber(cpu); }
	template <typename Section>
	void read(Lock &l, Section section)
	{
		write(l, section);
	}
	template <typename Section>
	void write(Lock &l, Section section)
	{
		who.lock(l);
		section();
		who.unlock(l);
	}

      private:
	klock::selftest::contender<Lock> who;
};

template <klock::any_lock Lock>
	requires klock::shared_lockable<Lock>
struct access<Lock> {
	static constexpr bool keeps_writers_out = true;
	static constexpr bool shares = true;

	void renumber(unsigned cpu)
	{
		writer.renumber(cpu);
		reader.renumber(cpu);
	}
	template <typename Section>
	void read(Lock &l, Section section)
	{
		reader.lock(l);
		section();
		reader.unlock(l);
	}
	template <typename Section>
	void write(Lock &l, Section section)
	{
		writer.lock(l);
		section();
		writer.unlock(l);
	}

      private:
	klock::selftest::contender<Lock> writer;
	klock::selftest::reader<Lock> reader;
};

/* The copy is made first and read later: writers need not wait. */
template <typename Value>
concept sequence = requires(Value &v) {
	(void)v.read();
	v.update([](auto &) {});
};

template <sequence Value>
struct access<Value> {
	static constexpr bool keeps_writers_out = false;
	static constexpr bool shares = true;

	void renumber(unsigned) {}
	template <typename Section>
	void read(Value &v, Section section)
	{
		(void)v.read();
		section();
	}
	template <typename Section>
	void write(Value &v, Section section)
	{
		v.update([&](auto &) { section(); });
	}
};

template <typename Lock>
using sharers = contenders<Lock, access<Lock>>;

/* One section of one CPU, counted. */
template <typename Lock>
void one_section(sharers<Lock> &all, shared_tracker &t, unsigned cpu,
		 bool writes)
{
	const reading before = t.look(cpu);
	const auto section = [&] {
		t.enter(writes, before.cycles);
		work(t.load.inside);
		t.leave(writes);
	};

	if (writes)
		all.places[cpu].who.write(all.lock, section);
	else
		all.places[cpu].who.read(all.lock, section);
	t.note(writes, before, t.look(cpu));
}

/* The cycles of one CPU's first read alone, after which all CPUs have their
 * lines. */
inline constexpr u64 first_read = 20'000;

} // namespace detail

template <typename Lock>
shared_figures measure_shared(const char *name, const machine &on,
			      const shared_workload &load)
{
	using way = detail::access<Lock>;
	world<detail::sharers<Lock>> w(load.cpus);
	simulator s(on, load.cpus, load.patience);
	detail::shared_tracker t(s, load, way::keeps_writers_out);

	const outcome out = s.run([&](unsigned cpu) {
		klock::selftest::xorshift dice(cpu + 1);
		const auto most = static_cast<u32>(load.think);

		sleep_until(cpu * detail::first_read);
		w->places[cpu].who.read(w->lock, [] {});
		sleep_until(t.start);
		for (u64 i = 0; i < t.sections; i++) {
			work(1 + dice.below(most));
			detail::one_section(*w, t, cpu,
					    dice.below(100) < load.writers);
		}
	});
	shared_figures f = t.result(out);
	f.lock = name;
	f.machine = on.name;
	return f;
}

/* One CPU that reads, many times: averages over `rounds` reads. */
template <typename Lock>
alone measure_read_alone(u64 rounds = 4096)
{
	world<detail::sharers<Lock>> w(1u);

	return detail::measure_one(
		rounds, [&] { w->places[0].who.read(w->lock, [] {}); });
}

} // namespace sim
