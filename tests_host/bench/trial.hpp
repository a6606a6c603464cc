/* SPDX-License-Identifier: MIT */
/*
 * trial - the one trial of all experiments: so many threads take one lock, each
 * in its role, for so long
 *
 *	role		until when		a section
 *	writes, reads	the time is over	a share of each, drawn
 *	leads		the time is over	hands the turn to the other
 *	follows		the leader says so	hands it back
 *
 * A row is a lock with its adapter; a setting says how many threads, how long
 * sections and think times are, who writes and where the threads run. Rounds of
 * trials visit each row under each setting once, in an order that differs from
 * round to round: a machine that slows down for a while slows all rows down.
 *
 * A virtual machine's cores move: they share a cache at one time, and are two
 * ends of the chip at another. The trials of one setting in one round are a
 * block; a block has one distance between the cores, or is repeated.
 */
#pragma once

#include "machine.hpp"
#include "report.hpp"

#include <klock/cpu.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/types.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace bench {

/*
 * workers - threads that are made once, bound to cores, and sleep between
 * trials
 *
 * The caller of a trial sleeps while it runs: it must not take a core away from
 * those that are measured. So the threads themselves look at the clock.
 */

/* When a trial begins and ends. */
struct whistle {
	/* A thread asks after each of its turns. */
	bool over(klock::u64 turns)
	{
		constexpr klock::u64 turns_a_look = 32;

		if (turns % turns_a_look == 0 && klock::cycles() >= end)
			blown.store(true, std::memory_order_relaxed);
		return blown.load(std::memory_order_relaxed);
	}

	/* The start by klock::cycles(); 0: not all threads are there. */
	alignas(128) std::atomic<klock::u64> start{0};
	klock::u64 end = 0;
	alignas(128) std::atomic<bool> blown{false};
};

/* Where the threads of a trial may run. */
enum class placement { own_core, anywhere, one_core };

struct workers {
	/* The work of a thread until the whistle says that it is over. */
	using job = std::function<void(unsigned thread, whistle &)>;

	workers(unsigned threads, double cycles_a_second);
	~workers();
	workers(const workers &) = delete;
	workers &operator=(const workers &) = delete;

	/*
	 * job on the first threads of the workers, from one common start. True
	 * if no other process took a core away meanwhile.
	 */
	bool run(unsigned threads, placement, std::chrono::microseconds length,
		 const job &what);

      private:
	void serve(unsigned thread);
	long meet(unsigned threads);

	const double cycles_a_second;
	std::mutex mutex;
	std::condition_variable wake, finished;
	const job *todo = nullptr;
	unsigned trial = 0;  /* counts up: a new one is there */
	unsigned wanted = 0; /* threads that take part in it */
	placement where = placement::own_core;
	unsigned running = 0;	    /* of them, not back yet */
	long preempted = 0;	    /* how often one of them lost its core */
	klock::u64 length_left = 0; /* cycles from its start to its end */
	bool closing = false;
	std::vector<std::thread> threads;

	alignas(128) std::atomic<unsigned> arrived{0};
	whistle referee;
};

/* -- A trial's parameters, and what it finds ------------------------------ */

/*
 * How far the first two cores are from each other, by a turn of a ping-pong.
 * moved: the distance was another at the end of a block, in every try.
 */
enum class distance { near, far, moved };

const char *name_of(distance);

/* The parameters of a trial. */
struct setting {
	unsigned threads;
	unsigned section; /* cycles, on average */
	unsigned think;	  /* cycles between two sections, on average */
	placement where = placement::own_core;
	u32 writers = 100; /* in a hundred sections, if readers share it */
	bool data = false; /* sections read or write lines that all share */
	distance apart = distance::near; /* not asked for: found */

	auto operator<=>(const setting &) const = default;
};

/*
 * The things a trial looks at. no: nothing but the lock and the work, for
 * rates; order: notes the clock and the holder of each section; passed: counts
 * the tickets that are passed over, exactly.
 */
enum class watch { no, order, passed };

/* The setting in steps of work(), as a thread of the trial has it. */
struct load {
	u32 section;
	u32 think;
	u32 writers;
	bool data;
	watch watched;
};

/* One thread's count of a trial. */
struct tally {
	u64 acquisitions = 0;
	u64 start = 0, end = 0;	 /* by klock::cycles() */
	u64 longest_wait = 0;	 /* cycles from lock() to the section */
	u64 consecutive = 0;	 /* so far in a row */
	u64 max_consecutive = 0; /* consecutive sections of one thread */
	u64 handoffs = 0;	 /* sections after another thread's */
	u64 passed = 0;		 /* tickets that its sections passed over */
	/* Cycles that it waited in all when its ticket had been passed over. */
	series waits;
};

/* All trials of one row under one setting. */
struct contended {
	/* A figure a round: */
	series rate;	   /* acquisitions per second, all threads */
	series min_to_max; /* of the threads' shares */
	series fairness;   /* Jain's */
	series ping_pong;  /* cycles a turn, before the block */
	distance apart = distance::near; /* of all rounds */
	/* A figure a round that watches the order: */
	series handoffs; /* share of critical sections after another thread's */
	series runs;	 /* the longest of each round */
	double longest_wait = 0; /* cycles */
	/* Sums over the rounds that watch for tickets passed over: */
	u64 acquisitions = 0;
	u64 passed = 0;
	u64 passed_disturbed = 0; /* where a thread lost its core */
	series waits;
};

/* The figures of rows by their names. */
using by_row = std::map<std::string, contended>;

/* The figures of trials in rounds, by settings with the distance found. */
using by_setting = std::map<setting, by_row>;

/* -- How one thread takes a lock ------------------------------------------ */

enum class role { writes, reads };

/* A lock without readers: they take it as all do. */
template <typename L>
struct sharer {
	sharer(L &, unsigned number) : who(number) {}
	void read_lock(L &l) { who.lock(l); }
	void read_unlock(L &l) { who.unlock(l); }
	void write_lock(L &l) { who.lock(l); }
	void write_unlock(L &l) { who.unlock(l); }

      private:
	klock::selftest::contender<L> who;
};

template <klock::shared_lockable L>
struct sharer<L> {
	sharer(L &, unsigned number) : writer(number), reader(number) {}
	void read_lock(L &l) { reader.lock(l); }
	void read_unlock(L &l) { reader.unlock(l); }
	void write_lock(L &l) { writer.lock(l); }
	void write_unlock(L &l) { writer.unlock(l); }

      private:
	klock::selftest::contender<L> writer;
	klock::selftest::reader<L> reader;
};

/* A peer whose readers bring a node along; its writers may need none. */
template <typename L>
concept reads_with_node = requires(L &l, typename L::node &n) {
	l.lock_shared(n);
	l.unlock_shared(n);
};

template <reads_with_node L>
struct sharer<L> {
	sharer(L &l, unsigned)
	{
		if constexpr (requires { l.join(node); })
			l.join(node);
	}
	void read_lock(L &l) { l.lock_shared(node); }
	void read_unlock(L &l) { l.unlock_shared(node); }
	void write_lock(L &l)
	{
		if constexpr (klock::node_lock<L>)
			l.lock(node);
		else
			l.lock();
	}
	void write_unlock(L &l)
	{
		if constexpr (klock::node_lock<L>)
			l.unlock(node);
		else
			l.unlock();
	}

      private:
	typename L::node node;
};

/*
 * Two threads, numbered 0 and 1, take such a lock by turns: lock(thread) waits
 * for the thread's turn, unlock(thread) hands the turn to the other one.
 */
template <typename L>
concept alternating = requires { typename L::hands_turns; };

/* -- A trial's observations ----------------------------------------------- */

/* Knows the thread of the section that began last; readers' overlap. */
struct succession {
	/*
	 * The thread's section begins; it called lock() at that time. In line:
	 * a call would be in the section.
	 */
	[[gnu::always_inline]] void note(unsigned thread, u64 since,
					 tally &seen)
	{
		seen.longest_wait =
			std::max(seen.longest_wait, klock::cycles() - since);
		if (last.load(std::memory_order_relaxed) != thread) {
			last.store(thread, std::memory_order_relaxed);
			seen.consecutive = 0;
			seen.handoffs++;
		}
		seen.max_consecutive =
			std::max(seen.max_consecutive, ++seen.consecutive);
	}

      private:
	alignas(128) std::atomic<unsigned> last{~0u};
};

/*
 * Tickets of a preemptable_ticket_lock that were passed over. Exact, and no
 * burden on the lock: each holder looks at the lock's turn, in the line that it
 * has just written, and compares it with the one that the holder before it left
 * behind. A turn that is further on passed tickets over.
 */
template <typename Counter>
struct turn_watch {
	/*
	 * The tickets that this holder passed over, by the lock's state while
	 * it holds: the turn that it leaves x 2 + 1. The turn moves by one
	 * where it was its own, and stays for a holder without a ticket, or one
	 * who was passed over.
	 */
	u64 note(Counter held)
	{
		const Counter moved = static_cast<Counter>(held - left) / 2;

		left = static_cast<Counter>(held - 1);
		return moved ? moved - 1 : 0;
	}

      private:
	Counter left = 0; /* when the holder before unlocked */
};

/* No other lock has tickets that are passed over. */
template <typename L>
struct passing {
	static constexpr bool possible = false;
};

/* Two threads: the one whose ticket is passed over is the other. */
template <typename Counter>
struct passing<klock::preemptable_ticket_lock<Counter>> {
	using lock = klock::preemptable_ticket_lock<Counter>;
	static constexpr bool possible = true;

	/* The thread's section begins; it called lock() at that time. */
	void note(const lock &l, unsigned thread, u64 since, tally &seen)
	{
		const u64 passed = turn.note(state_of(l));

		if (passed) {
			seen.passed += passed;
			late = thread ^ 1;
		} else if (late == thread) {
			seen.waits.push_back(
				static_cast<double>(klock::cycles() - since));
			late = nobody;
		}
	}

      private:
	static constexpr unsigned nobody = ~0u;

	/* The second of two counters, turn x 2 + held: the holder asks. */
	static Counter state_of(const lock &l)
	{
		static_assert(sizeof(l) == 2 * sizeof(Counter));
		Counter state;

		std::memcpy(&state,
			    reinterpret_cast<const char *>(&l) + sizeof(state),
			    sizeof(state));
		return state;
	}

	turn_watch<Counter> turn;
	unsigned late = nobody; /* was passed over, and is not in yet */
};

/* -- The trial ------------------------------------------------------------- */

/* A section's work, and the lines that all sections share. */
struct shared_lines {
	template <role As>
	void use(const load &l, u32 steps)
	{
		for (usize i = 0; l.data && i < std::size(lines); i++) {
			if constexpr (As == role::writes) {
				lines[i].word++;
				asm volatile("" ::: "memory");
			} else {
				asm volatile("" ::"r"(lines[i].word));
			}
		}
		work(steps);
	}

      private:
	struct alignas(128) line {
		u32 word = 0;
	} lines[4];
};

/*
 * One lock and the threads that take it, behind one interface for all locks.
 * The loops are inside, so that lock() and unlock() are inlined as in a kernel;
 * only a whole trial is a virtual call.
 */
struct contest {
	virtual ~contest() = default;

	/* One thread: lock and unlock, nothing in between. */
	virtual void alone(role, u64 turns) = 0;

	/* One thread's part in a trial, whichever roles it has there. */
	virtual void run(unsigned thread, const load &, whistle &end,
			 tally &) = 0;

	/* Spin iterations a waiter ahead, if the lock wants to know. */
	virtual void set_base(u32) {}

	/* lock() or unlock() once. */
	virtual void take(unsigned thread) = 0;
	virtual void leave(unsigned thread) = 0;
};

template <typename L>
struct contest_of final : contest {
	explicit contest_of(unsigned threads)
	{
		for (unsigned i = 0; i < threads; i++)
			members.push_back(std::make_unique<member>(lock, i));
	}

	void set_base(u32 base) override
	{
		if constexpr (requires(L &l) { l.set_base(base); })
			lock.set_base(base);
	}

	void alone(role as, u64 turns) override
	{
		if (as == role::writes)
			repeat<role::writes>(turns);
		else
			repeat<role::reads>(turns);
	}

	void run(unsigned thread, const load &l, whistle &end,
		 tally &seen) override
	{
		if constexpr (alternating<L>) {
			if (thread == 0)
				lead(l, end, seen);
			else
				follow(seen);
		} else if (l.watched == watch::no) {
			contend<watch::no>(thread, l, end, seen);
		} else if (l.watched == watch::order) {
			contend<watch::order>(thread, l, end, seen);
		} else if constexpr (passing<L>::possible) {
			contend<watch::passed>(thread, l, end, seen);
		}
	}

	void take(unsigned thread) override
	{
		members[thread]->who.write_lock(lock);
	}
	void leave(unsigned thread) override
	{
		members[thread]->who.write_unlock(lock);
	}

      private:
	/* inside() is called with the lock held. */
	template <role As, typename Inside>
	void section(sharer<L> &who, Inside inside)
	{
		if constexpr (As == role::writes) {
			who.write_lock(lock);
			inside();
			who.write_unlock(lock);
		} else {
			who.read_lock(lock);
			inside();
			who.read_unlock(lock);
		}
	}

	template <role As>
	void repeat(u64 turns)
	{
		sharer<L> &who = members[0]->who;

		for (; turns; turns--) {
			section<As>(who, [] { asm volatile("" ::: "memory"); });
			asm volatile("" ::: "memory");
		}
	}

	/*
	 * Counts and times sections until the time is over; one(steps) is one.
	 * They last from half to one and a half of their length. Where all last
	 * as long, two threads fall into a rhythm, and a few cycles of a row's
	 * code decide whether a waiter always comes just in time or just too
	 * late: programs of the same locks differed by a factor of 1.5.
	 */
	template <typename Section>
	void until(whistle &end, unsigned thread, const load &l, tally &seen,
		   Section one)
	{
		dice lengths(thread + 1);
		u64 done = 0;

		seen.start = klock::cycles();
		/* Once at least: a thread whose core was away has a rate. */
		do {
			one(l.section / 2 + lengths.below(l.section + 1));
			done++;
			if (l.think)
				work(lengths.below(2 * l.think + 1));
		} while (!end.over(done));
		seen.end = klock::cycles();
		seen.acquisitions = done;
	}

	template <watch Watched, role As>
	void watched_section(sharer<L> &who, unsigned thread, const load &l,
			     u32 steps, tally &seen)
	{
		const u64 before = Watched == watch::no ? 0 : klock::cycles();

		section<As>(who, [&] {
			if constexpr (Watched == watch::order)
				holders.note(thread, before, seen);
			if constexpr (Watched == watch::passed)
				tickets.note(lock, thread, before, seen);
			lines.template use<As>(l, steps);
		});
	}

	/*
	 * Each loop in a function of its own, so that registers are enough. A
	 * thread that always writes draws no role: it would be in the figures.
	 */
	template <watch Watched>
	void contend(unsigned thread, const load &l, whistle &end, tally &seen)
	{
		if (l.writers == 100)
			write<Watched>(thread, l, end, seen);
		else
			read_and_write<Watched>(thread, l, end, seen);
	}

	template <watch Watched>
	[[gnu::noinline]] void write(unsigned thread, const load &l,
				     whistle &end, tally &seen)
	{
		sharer<L> &who = members[thread]->who;

		until(end, thread, l, seen, [&](u32 steps) {
			watched_section<Watched, role::writes>(who, thread, l,
							       steps, seen);
		});
	}

	template <watch Watched>
	[[gnu::noinline]] void read_and_write(unsigned thread, const load &l,
					      whistle &end, tally &seen)
	{
		sharer<L> &who = members[thread]->who;
		dice roles(thread + 101);

		until(end, thread, l, seen, [&](u32 steps) {
			if (roles.below(100) < l.writers)
				watched_section<Watched, role::writes>(
					who, thread, l, steps, seen);
			else
				watched_section<Watched, role::reads>(
					who, thread, l, steps, seen);
		});
	}

	/* Thread 0 of an alternating lock. */
	void lead(const load &l, whistle &end, tally &seen)
	{
		sharer<L> &who = members[0]->who;

		over = false; /* a trial that is repeated */
		until(end, 0, l, seen,
		      [&](u32) { section<role::writes>(who, [] {}); });
		section<role::writes>(who, [&] { over = true; });
		seen.handoffs = seen.acquisitions;
		seen.max_consecutive = 1;
	}

	/* Thread 1. */
	void follow(tally &seen)
	{
		sharer<L> &who = members[1]->who;
		bool last = false;

		seen.start = klock::cycles();
		while (!last) {
			section<role::writes>(who, [&] { last = over; });
			seen.acquisitions++;
		}
		seen.end = klock::cycles();
		seen.handoffs = seen.acquisitions;
		seen.max_consecutive = 1;
	}

	struct alignas(128) member {
		member(L &l, unsigned number) : who(l, number) {}
		sharer<L> who;
	};

	alignas(128) L lock;
	alignas(128) std::vector<std::unique_ptr<member>> members;
	succession holders;
	alignas(128) passing<L> tickets; /* the holder's alone */
	bool over = false;		 /* of who has the turn */
	shared_lines lines;
};

/* -- Rows --------------------------------------------------------------- */

enum class kind { floor, klock, peer };

const char *name_of(kind);

struct row {
	std::string name;
	kind what;
	/*
	 * A peer's: the klock lock of its family; of what hands turns over,
	 * the kind of its peers.
	 */
	std::string counterpart;
	/* FIFO; of a lock that readers share: nobody waits for ever. */
	bool fair;
	u64 capacity; /* contenders that it is made for */
	usize bytes;
	std::unique_ptr<contest> (*make)(unsigned threads);

	/* Whether it can be in trials of so many threads. */
	bool serves(unsigned threads) const
	{
		return what == kind::floor ? capacity == threads
					   : capacity >= threads;
	}
};

template <typename L>
row row_of(std::string name, kind what, std::string counterpart, bool fair,
	   u64 capacity)
{
	return {.name = std::move(name),
		.what = what,
		.counterpart = std::move(counterpart),
		.fair = fair,
		.capacity = capacity,
		.bytes = sizeof(L),
		.make = [](unsigned threads) -> std::unique_ptr<contest> {
			return std::make_unique<contest_of<L>>(threads);
		}};
}

/*
 * The rows for trials of so many threads: floors, klock's locks, peers. Locks
 * that are built for a number of CPUs are built for the smallest of 2,
 * KLOCK_BENCH_CPUS and 8 times that which is enough; where none is, their
 * capacity says so.
 */
const std::vector<row> &rows_for(unsigned threads);
/*
 * All that readers share, and an exclusive lock to compare with. Built for 2,
 * or for KLOCK_BENCH_CPUS.
 */
const std::vector<row> &shared_rows_for(unsigned threads);

/* The floors that ratios are taken to. */
inline constexpr const char *bare_xadd_name = "bare lock xadd";
inline constexpr const char *bare_exchange_name = "bare exchange";
inline constexpr const char *exchange_and_store_name = "exchange and store";
inline constexpr const char *ping_pong_name = "ping-pong";

/* Returns the rows that have one of the names. */
std::vector<const row *> named(const std::vector<row> &,
			       const std::vector<std::string> &names);
std::vector<const row *> all_of(const std::vector<row> &);

/* No trial has more threads a core. */
inline constexpr unsigned most_threads_a_core = 8;

/* The libraries of peers that this was built with, and without. */
std::vector<std::string> peers_found();
std::vector<std::string> peers_missing();

/* -- Trials in rounds --------------------------------------------------- */

struct context;

/* Runs one trial; all of its figures go into `to`. */
void run_trial(context &, const row &, const setting &, watch, contended &to);

/* Trials of all rows that can serve so many threads, under each setting. */
struct plan {
	std::string title; /* is shown as progress */
	std::vector<const row *> rows;
	std::vector<setting> settings;
	unsigned rounds;      /* of rates */
	unsigned watched = 0; /* rounds behind them, which watch */
	watch by = watch::order;
};

by_setting run_rounds(context &, const plan &);

/*
 * Returns the setting with each distance that rates were found at; moved only
 * if there is no other.
 */
std::vector<setting> found_as(const by_setting &, setting);

/* Returns the one of these that had most rounds. */
setting usual(const by_setting &, setting);

/*
 * Measures a turn of a ping-pong between the first two cores, at least: it says
 * how far they are apart, and what back-off is set by. 2 milliseconds.
 */
distance measure_distance(context &);

/* One thread does this so many times, for the cycles of once. */
struct timed {
	series *to; /* a figure a round */
	std::function<double(u64 times)> cycles;
	u64 times = 5000;
};

/* Times all, in rounds, by a thread of their own on one core. */
void run_alone(const std::string &title, unsigned rounds,
	       const std::vector<timed> &);

/* Cycles of once; act(times) does it so many times. */
template <typename Act>
double cycles_each(u64 times, Act act)
{
	const u64 start = klock::cycles();

	act(times);
	return static_cast<double>(klock::cycles() - start) /
	       static_cast<double>(times);
}

/* lock() and unlock() by one thread, which warms up. */
timed alone(contest &, role, series &to);

/*
 * section_costs - what a section costs each row, by one thread in the row's own
 * loop of the trials: a turn with a long section, less one with none
 *
 * All rows have the same work to do; where its cost is not the same, a row is
 * measured by where its code lies.
 */
struct section_costs {
	/* Adds what has to be timed for a row. */
	void add(std::vector<timed> &, contest &, const machine &, role,
		 const std::string &lock);
	/* Returns the cycles, or the ratio to the median of all rows. */
	[[nodiscard]] double cycles(const std::string &lock) const;
	[[nodiscard]] double to_median(const std::string &lock) const;
	[[nodiscard]] bool differs(const std::string &lock) const;
	/* Returns the verdict on all rows: a line. */
	[[nodiscard]] std::string verdict(const std::string &what) const;

	static constexpr unsigned section = 5000; /* cycles */

      private:
	struct turns {
		series with, without;
	};
	std::map<std::string, turns> rows;
};

/*
 * Calls visit(0 .. n - 1) in each round, each time in another order. title is
 * shown as progress, if it is not empty.
 */
void in_rounds(const std::string &title, unsigned rounds, std::size_t n,
	       const std::function<void(std::size_t, unsigned round)> &visit);

/* How often the calling thread lost its core to another. */
long involuntary_switches();

} // namespace bench
