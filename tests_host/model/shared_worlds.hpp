/* SPDX-License-Identifier: MIT */
/*
 * shared_worlds - small clients of any lock that readers share
 *
 * What each CPU is, is a letter:
 *
 *	w  writes	W  writes if it gets the lock at once
 *	r  reads	R  reads if it gets the lock at once
 *
 * Two words that a writer adds one to, one after the other, and that a reader
 * sees equal: races, torn data and lost updates are all found by them.
 */
#pragma once

#include "lock_worlds.hpp"

#include <algorithm>
#include <string>

namespace worlds {

struct shared_words {
	lock_of_kind lock;
	contenders writers, readers;
	klock::plain<unsigned> a, b;
	unsigned written = 0; /* on the host, summed by each for itself */

	explicit shared_words(const kind &k)
	    : lock(k), writers(k, k.by), readers(k, k.read_by)
	{
		model::name(lock.room, k.bytes, "lock");
		model::name(a, "a");
		model::name(b, "b");
	}

	void add()
	{
		a.set(a.get() + 1);
		b.set(b.get() + 1);
		written++;
	}
	void look()
	{
		model::check(a.get() == b.get(), "a reader sees a whole write");
	}

	void write(unsigned cpu)
	{
		writers[cpu].lock(lock);
		add();
		writers[cpu].unlock(lock);
	}
	void read(unsigned cpu)
	{
		readers[cpu].lock(lock);
		look();
		readers[cpu].unlock(lock);
	}
	bool try_write(unsigned cpu)
	{
		if (!writers[cpu].try_lock(lock))
			return false;
		add();
		writers[cpu].unlock(lock);
		return true;
	}
	bool try_read(unsigned cpu)
	{
		if (!readers[cpu].try_lock(lock))
			return false;
		look();
		readers[cpu].unlock(lock);
		return true;
	}

	void act(char what, unsigned cpu)
	{
		switch (what) {
		case 'w':
			return write(cpu);
		case 'r':
			return read(cpu);
		case 'W':
			return (void)try_write(cpu);
		case 'R':
			return (void)try_read(cpu);
		}
	}

	void whole() const
	{
		model::check(a.get() == written && b.get() == written,
			     "every write counted");
	}
};

/* A client: what each CPU is, how often, and in counters of so many bits. */
struct client {
	const char *roles;
	std::vector<unsigned> sections;
	unsigned few = 0;
};

/* Nobody writes beside another, nobody reads beside a writer. */
inline result shared(const kind &k, const client &c, options how = {})
{
	const std::string roles = c.roles;

	how.sections = c.sections;
	how.counter_bits = bits(k, c.few);
	return explore<shared_words>(
		k, how,
		[roles](shared_words &w, unsigned cpu) {
			w.act(roles[cpu], cpu);
		},
		[](shared_words &w) { w.whole(); });
}

/* Ends only if both readers are inside at once. With so many writers. */
inline result readers_meet(const kind &k, unsigned writers, options how = {})
{
	struct world : shared_words {
		using shared_words::shared_words;
		klock::atomic<u8> inside[2];

		void meet(unsigned cpu)
		{
			readers[cpu].lock(lock);
			inside[cpu].store_relaxed(1);
			inside[cpu ^ 1].await_eq_acquire(1);
			look();
			readers[cpu].unlock(lock);
		}
	};

	how.sections = std::vector<unsigned>(2 + writers, 1);
	return explore<world>(
		k, how,
		[](world &w, unsigned cpu) {
			if (cpu < 2)
				w.meet(cpu);
			else
				w.write(cpu);
		},
		[](world &w) { w.whole(); });
}

/* -- Whoever leaves last ends the lock ----------------------------------- */

/*
 * Each CPU holds one reference; it gives it up inside, under the lock where it
 * writes, and by an atomic where it reads, as others may read with it.
 */
struct mortal_shared {
	struct body {
		lock_of_kind lock;
		klock::atomic<unsigned> references;

		body(const kind &k, unsigned n) : lock(k), references(n) {}
	};

	/* Its life is not the world's. */
	union {
		body it;
	};
	unsigned ends = 0; /* on the host */

	mortal_shared(const kind &k, unsigned references) : it(k, references)
	{
		model::name(it.lock.room, k.bytes, "lock");
	}
	~mortal_shared() {}

	void section(bool writes, unsigned cpu)
	{
		const kind &k = it.lock.of;
		takers<1> mine(k, writes ? k.by : k.read_by, cpu);

		mine[0].lock(it.lock);
		const bool last = it.references.fetch_sub_acq_rel(1) == 1;
		mine[0].unlock(it.lock);
		if (!last)
			return;
		it.~body();
		ends++;
	}
};

/* As long as readers cannot be inside together; else the last to give up its
 * reference is not the last to leave. */
inline result ended_by_reader_or_writer(const kind &k, const client &c,
					options how = {})
{
	const std::string roles = c.roles;
	const unsigned references = sum(c.sections);

	how.sections = c.sections;
	return model::explore_from(
		how, [&k, references] { return mortal_shared(k, references); },
		[roles](mortal_shared &w, unsigned cpu) {
			w.section(roles[cpu] == 'w', cpu);
		},
		[](mortal_shared &w) {
			model::check(w.ends == 1, "ended once");
		});
}

/* -- Who goes before whom ------------------------------------------------ */

/* Says that CPU cpu's doorway is over, when it begins to wait or is in. */
struct shared_queue : shared_words {
	using shared_words::shared_words;
	klock::atomic<u8> came[3];
	klock::atomic<u8> holds; /* CPU 0 is in */
	klock::plain<bool> read_done;

	template <typename Take>
	void come(unsigned cpu, Take take)
	{
		auto tell = [this, cpu] { came[cpu].store_release(1); };
		model::before_waits hook(tell);

		take();
		came[cpu].store_release(1);
	}
};

/*
 * CPU 0 writes while both others come: CPU 1 reads, CPU 2 writes, in that order
 * or in the other. Fails where CPU 2 is in before CPU 1 has read.
 */
inline result reader_before_writer(const kind &k, bool reader_comes_first,
				   options how = {})
{
	using world = shared_queue;

	how.sections = {1, 1, 1};
	return explore<world>(k, how, [=](world &w, unsigned cpu) {
		const unsigned first = reader_comes_first ? 1 : 2;

		if (cpu == 0) {
			w.writers[0].lock(w.lock);
			w.holds.store_release(1);
			w.came[1].await_eq_acquire(1);
			w.came[2].await_eq_acquire(1);
			w.writers[0].unlock(w.lock);
			return;
		}
		w.holds.await_eq_acquire(1);
		if (cpu != first)
			w.came[first].await_eq_acquire(1);
		if (cpu == 1) {
			w.come(1, [&] { w.readers[1].lock(w.lock); });
			w.read_done.set(true);
			w.readers[1].unlock(w.lock);
		} else {
			w.come(2, [&] { w.writers[2].lock(w.lock); });
			model::check(w.read_done.get(),
				     "the reader was in before the writer");
			w.writers[2].unlock(w.lock);
		}
	});
}

/*
 * shared_clients - the clients that find what is wrong with a lock that readers
 * share
 */

/*
 * Those of whole words, small ones first. Two writers and a reader, a writer
 * and two readers, and {2, 1, 1} each show what no smaller one does.
 */
inline const std::vector<client> &shared_clients()
{
	static const std::vector<client> all = {
		{"wr", {1, 1}},		{"wr", {2, 2}},	    {"wwr", {1, 1, 1}},
		{"wrr", {1, 1, 1}},	{"wrr", {2, 1, 1}}, {"wwr", {2, 1, 1}},
		{"wwrr", {1, 1, 1, 1}},
	};
	return all;
}

/* Those with tries. */
inline const std::vector<client> &shared_tries()
{
	static const std::vector<client> all = {
		{"wW", {2, 2}},	    {"wR", {2, 2}},	{"rW", {2, 2}},
		{"wRr", {1, 1, 1}}, {"rRW", {1, 1, 1}}, {"RRW", {1, 1, 1}},
		{"wWr", {1, 1, 1}}, {"wrW", {2, 1, 1}},
	};
	return all;
}

/* Those in which counters of few bits wrap. */
inline const std::vector<client> &shared_wraps()
{
	static const std::vector<client> all = {
		{"wr", {4, 1}, 2}, {"wr", {1, 4}, 2},	  {"wrr", {2, 2, 1}, 2},
		{"ww", {8, 1}, 3}, {"wr", {3, 1}, 3},	  {"wR", {1, 3}, 3},
		{"wr", {2, 5}, 4}, {"wwr", {1, 1, 5}, 4}, {"rW", {1, 4}, 2},
		{"wR", {1, 4}, 2},
	};
	return all;
}

/* How many readers counters of so few bits count: bits that a lock keeps for
 * itself leave fewer. */
inline unsigned room_for_readers(const kind &k, unsigned few)
{
	if (!few || k.reader_capacity == k.capacity || k.reads_by_number)
		return most_cpus;
	const u64 kept = k.capacity / (k.reader_capacity + 1);
	return static_cast<unsigned>((u64{1} << few) / kept) - 1;
}

/* Whether the lock has the tries, and the room, that a client asks for. */
inline bool can(const kind &k, const client &c, bool split = false)
{
	const std::string roles = c.roles;
	const auto has = [&roles](char what) {
		return std::count(roles.begin(), roles.end(), what);
	};

	if (split && !k.splits_tries && has('W'))
		return false;
	if (has('r') + has('R') > room_for_readers(k, c.few))
		return false;
	if (k.reads_by_number && roles.size() > k.reader_capacity)
		return false;
	return (k.by.try_lock || !has('W')) &&
	       (k.read_by.try_lock || !has('R'));
}

/* All of them, and what else is special, until enough(r). */
inline bool each_shared_client(const kind &k, const options &how,
			       const visit &enough)
{
	for (const client &c : shared_clients())
		if (can(k, c) && enough(shared(k, c, how)))
			return true;
	for (const auto *some : {&shared_tries(), &shared_wraps()})
		for (const client &c : *some)
			if (can(k, c, how.split_pairs) &&
			    enough(shared(k, c, how)))
				return true;
	return enough(readers_meet(k, 0, how)) ||
	       enough(ended_by_reader_or_writer(k, {"wr", {1, 1}}, how)) ||
	       enough(ended_by_reader_or_writer(k, {"wwr", {1, 1, 1}}, how));
}

} // namespace worlds
