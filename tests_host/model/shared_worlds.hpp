/* SPDX-License-Identifier: MIT */
/*
 * shared_worlds - small clients of any lock that readers share
 *
 * What each CPU is, is a letter:
 *
 *	w  writes	W  writes if it gets the lock at once
 *	r  reads	R  reads if it gets the lock at once
 *	l  reads, and might upgrade
 *	u  upgrades	U  does, and is upgradable, if it can at once
 *	d  writes, then reads
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

	bool change_to(change to) { return lock.of.change_to(lock.room, to); }
	/* Nobody writes between what it reads and what it writes. */
	void upgradable(char what, unsigned cpu)
	{
		using enum change;

		if (!change_to(what == 'U' ? try_lock_upgradable
					   : lock_upgradable))
			return;
		look();
		const unsigned seen = a.get();
		if (what == 'l' ||
		    !change_to(what == 'U' ? try_upgrade : upgrade))
			return (void)change_to(unlock_upgradable);
		model::check(a.get() == seen, "what it read stands");
		add();
		writers[cpu].unlock(lock);
	}
	void downgrade(unsigned cpu)
	{
		writers[cpu].lock(lock);
		add();
		const unsigned mine = a.get();
		(void)change_to(change::downgrade);
		model::check(a.get() == mine, "what it wrote stands");
		look();
		readers[cpu].unlock(lock);
	}

	void act(char what, unsigned cpu)
	{
		switch (what) {
		case 'l':
		case 'u':
		case 'U':
			return upgradable(what, cpu);
		case 'd':
			return downgrade(cpu);
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

/*
 * Ends only if both readers are inside at once. With so many writers. The first
 * may be upgradable, or a writer that downgrades, for whom the second waits.
 */
inline result readers_meet(const kind &k, unsigned writers, options how = {},
			   char first = 'r')
{
	struct world : shared_words {
		using shared_words::shared_words;
		klock::atomic<u8> inside[2];
		klock::atomic<u8> writes;

		void meet(unsigned cpu, char as)
		{
			if (as == 'd') {
				writers[cpu].lock(lock);
				writes.store_relaxed(1);
				add();
				(void)change_to(change::downgrade);
			} else if (as == 'l') {
				(void)change_to(change::lock_upgradable);
			} else {
				readers[cpu].lock(lock);
			}
			inside[cpu].store_relaxed(1);
			inside[cpu ^ 1].await_eq_acquire(1);
			look();
			if (as == 'l')
				(void)change_to(change::unlock_upgradable);
			else
				readers[cpu].unlock(lock);
		}
	};

	how.sections = std::vector<unsigned>(2 + writers, 1);
	return explore<world>(
		k, how,
		[first](world &w, unsigned cpu) {
			if (cpu == 1 && first == 'd')
				w.writes.await_eq_acquire(1);
			if (cpu < 2)
				w.meet(cpu, cpu ? 'r' : first);
			else
				w.write(cpu);
		},
		[](world &w) { w.whole(); });
}

/* -- The last to leave ends the lock --------------------------------------- */

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

	void section(char what, unsigned cpu)
	{
		const kind &k = it.lock.of;
		takers<1> writer(k, k.by, cpu), reader(k, k.read_by, cpu);
		const auto is = [&](change to) {
			(void)k.change_to(it.lock.room, to);
		};

		if (what == 'l' || what == 'u')
			is(change::lock_upgradable);
		else
			(what == 'r' ? reader : writer)[0].lock(it.lock);
		if (what == 'u')
			is(change::upgrade);
		if (what == 'd')
			is(change::downgrade);
		const bool last = it.references.fetch_sub_acq_rel(1) == 1;
		if (what == 'l')
			is(change::unlock_upgradable);
		else
			(what == 'r' || what == 'd' ? reader : writer)[0]
				.unlock(it.lock);
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
			w.section(roles[cpu], cpu);
		},
		[](mortal_shared &w) {
			model::check(w.ends == 1, "ended once");
		});
}

/* -- The order of service ------------------------------------------------ */

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
 * Clients with whole words, small ones first. Two writers and a reader, a
 * writer and two readers, and {2, 1, 1} each show what no smaller one does.
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

/* Clients that try. */
inline const std::vector<client> &shared_tries()
{
	static const std::vector<client> all = {
		{"wW", {2, 2}},	    {"wR", {2, 2}},	{"rW", {2, 2}},
		{"wRr", {1, 1, 1}}, {"rRW", {1, 1, 1}}, {"RRW", {1, 1, 1}},
		{"wWr", {1, 1, 1}}, {"wrW", {2, 1, 1}},
	};
	return all;
}

/* Clients in which counters of few bits wrap. */
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

/* Clients that upgrade or downgrade; some with counters of few bits. */
inline const std::vector<client> &shared_changes()
{
	static const std::vector<client> all = {
		{"wl", {2, 2}},	    {"ru", {2, 2}},	{"uu", {2, 2}},
		{"rd", {2, 2}},	    {"wd", {2, 2}},	{"wru", {1, 1, 1}},
		{"wrl", {2, 1, 1}}, {"wul", {1, 1, 1}}, {"url", {2, 1, 1}},
		{"wrd", {1, 1, 1}}, {"wrd", {2, 1, 1}}, {"rrd", {1, 1, 1}},
		{"dud", {1, 1, 1}}, {"rU", {2, 2}},	{"wU", {2, 2}},
		{"wrU", {1, 1, 1}}, {"uU", {2, 2}},	{"wu", {2, 4}, 3},
		{"wl", {2, 4}, 3},  {"ru", {1, 4}, 3},	{"dr", {4, 1}, 2},
		{"dw", {4, 1}, 2},  {"dr", {1, 4}, 2},	{"dr", {4, 1}, 4},
		{"rl", {5, 2}, 4},
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
	if (has('r') + has('R') + has('d') > room_for_readers(k, c.few))
		return false;
	if (has('u') + has('U') + has('l') > 0 && !k.upgrades)
		return false;
	if (has('U') && !k.tries_to_upgrade)
		return false;
	if (split && !k.splits_tries && has('U'))
		return false;
	if (has('d') && !k.downgrades)
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
	for (const char *ends : {"wl", "lu", "wd", "dd"})
		if (can(k, {ends, {1, 1}}) &&
		    enough(ended_by_reader_or_writer(k, {ends, {1, 1}}, how)))
			return true;
	for (const client &c : shared_changes()) {
		options o = how;

		o.split_pairs &= can(k, c, true);
		if (can(k, c) && enough(shared(k, c, o)))
			return true;
	}
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
