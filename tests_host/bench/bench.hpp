/* SPDX-License-Identifier: MIT */
/*
 * bench - experiments: each measures one thing over all rows, prints and writes
 * it
 *
 * All are interleaved: every round visits every row once, in an order that
 * differs from round to round, so that a machine which slows down for a while
 * slows all rows down.
 */
#pragma once

#include "../../lib/arch/hosted/klock/host_parking.hpp"
#include "machine.hpp"
#include "report.hpp"

#include <klock/cpu.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/mutex.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/types.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

static_assert(
	klock::host::goes_on,
	"-I lib/unparked comes before -I lib: else the woken thread waits "
	"for its waker");

/*
 * trial - threads that are made once, bound to cores, and sleep between trials;
 * and what they take
 *
 * Who starts a trial sleeps while it runs: it must not take a core away from
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

/*
 * contest - one lock and those who take it, behind one interface for all locks
 *
 * The loops are inside, so that lock() and unlock() are inlined as in a
 * kernel; only a whole trial is a virtual call.
 */

/* The load of each thread of a trial; lengths are steps of work(). */
struct load {
	u32 section;	   /* with the lock held */
	u32 think;	   /* on average, between two sections */
	u32 writers = 100; /* in a hundred sections, if readers share it */
	bool data = false; /* sections read or write lines that all share */
};

/* One thread's count of a trial. */
struct tally {
	u64 acquisitions = 0;
	u64 start = 0, end = 0;	 /* by klock::cycles() */
	u64 longest_wait = 0;	 /* cycles from lock() to the section */
	u64 consecutive = 0;	 /* so far in a row */
	u64 max_consecutive = 0; /* consecutive sections of one thread */
	u64 handoffs = 0;	 /* sections after another thread's */
};

enum class watch { no, yes };

struct contest {
	virtual ~contest() = default;

	/* One thread: lock and unlock, nothing in between. */
	virtual void alone(u64 turns) = 0;

	/* Throughput: nothing but the lock and the work. */
	virtual void contend(unsigned thread, const load &, whistle &end,
			     tally &) = 0;

	/*
	 * Fairness: as contend(), and notes the clock and the previous holder
	 * of each section.
	 */
	virtual void observe(unsigned thread, const load &, whistle &end,
			     tally &) = 0;

	/* Spin iterations a waiter ahead, if the lock wants to know. */
	virtual void set_base(u32) {}

	/* lock() or unlock() once. */
	virtual void take(unsigned) {}
	virtual void leave(unsigned) {}
};

/* The trial's frame: counts and times section() until its end. */
template <typename Section>
inline void until(whistle &end, const load &l, unsigned thread, tally &seen,
		  Section section)
{
	dice lengths(thread + 1);
	u64 done = 0;

	seen.start = klock::cycles();
	/* Once at least: a thread whose core was away has a rate, too. */
	do {
		section();
		done++;
		if (l.think)
			work(lengths.below(2 * l.think + 1));
	} while (!end.over(done));
	seen.end = klock::cycles();
	seen.acquisitions = done;
}

/* A section's work, and the lines that all sections share. */
struct shared_lines {
	void write(const load &l)
	{
		for (usize i = 0; l.data && i < std::size(lines); i++) {
			lines[i].word++;
			asm volatile("" ::: "memory");
		}
		work(l.section);
	}
	void read(const load &l)
	{
		for (usize i = 0; l.data && i < std::size(lines); i++)
			asm volatile("" ::"r"(lines[i].word));
		work(l.section);
	}

      private:
	struct alignas(128) line {
		u32 word = 0;
	} lines[4];
};

/* Knows the thread of the section that began last; readers' overlap. */
struct succession {
	/* The thread's section begins; it called lock() at that time. */
	void note(unsigned thread, u64 since, tally &seen)
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

/* Any lock of a list, klock's or a peer's. */
template <typename L>
struct lock_contest final : contest {
	explicit lock_contest(unsigned threads)
	    : contenders(new member[threads])
	{
		for (unsigned i = 0; i < threads; i++)
			contenders[i].who.renumber(i);
	}

	void set_base(u32 base) override
	{
		if constexpr (requires(L &l) { l.set_base(base); })
			lock.set_base(base);
	}

	void alone(u64 turns) override
	{
		auto &who = contenders[0].who;

		for (; turns; turns--) {
			who.lock(lock);
			asm volatile("" ::: "memory");
			who.unlock(lock);
			asm volatile("" ::: "memory");
		}
	}

	void contend(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		auto &who = contenders[thread].who;

		until(end, l, thread, seen, [&] {
			who.lock(lock);
			lines.write(l);
			who.unlock(lock);
		});
	}

	void observe(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		auto &who = contenders[thread].who;

		until(end, l, thread, seen, [&] {
			const u64 before = klock::cycles();
			who.lock(lock);
			holders.note(thread, before, seen);
			lines.write(l);
			who.unlock(lock);
		});
	}

	void take(unsigned thread) override
	{
		contenders[thread].who.lock(lock);
	}
	void leave(unsigned thread) override
	{
		contenders[thread].who.unlock(lock);
	}

      private:
	struct alignas(128) member {
		klock::selftest::contender<L> who;
	};

	alignas(128) L lock;
	alignas(128) std::unique_ptr<member[]> contenders;
	succession holders;
	shared_lines lines;
};

/*
 * floors - what no lock can beat: measured as rows, in the same rounds
 */

struct floor_contest : contest {
	void contend(unsigned, const load &, whistle &, tally &) override {}
	void observe(unsigned, const load &, whistle &, tally &) override {}

      protected:
	alignas(128) u32 word = 0;
};

/* One locked instruction after another: the least that a lock() costs. */
struct bare_xadd final : floor_contest {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("lock xadd %0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
};

struct bare_exchange final : floor_contest {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("xchg %0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
};

/* An exchange, and a plain store that the next exchange has to wait for. */
struct exchange_and_store final : floor_contest {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("xchg %0, %1\n\tmovl $0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
};

/*
 * Two threads that write one word in turn: a handoff, and nothing else. An
 * acquisition is one thread's turn.
 */
struct ping_pong final : contest {
	void alone(u64) override {}

	void contend(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		until(end, l, thread, seen, [&] {
			u32 now;
			while (((now = word.load(std::memory_order_acquire)) &
				1) != thread &&
			       !end.blown.load(std::memory_order_relaxed))
				klock::cpu_relax();
			word.store(now + 1, std::memory_order_release);
		});
	}

	void observe(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		contend(thread, l, end, seen);
		seen.handoffs = seen.acquisitions;
		seen.max_consecutive = 1;
	}

      private:
	alignas(128) std::atomic<u32> word{0};
};

/*
 * rows - what is measured: floors, every lock of klock's list, every peer
 */

/*
 * klock's that sleep: over a host's functions, which its list does without. A
 * kernel's holder of the inner lock has interrupts off; a process's is
 * preempted, and so who waits for it yields in the hosted port, and here.
 */
struct yielding_lock : klock::detail::sleepers_lock {
	void lock()
	{
		for (u32 i = 1; !try_lock(); i++)
			i % 128 ? klock::cpu_relax() : (void)sched_yield();
	}
};
using klock::selftest::subject;
using sleeping_locks = klock::selftest::list<
	subject<"mutex", klock::mutex, klock::selftest::service::none>,
	subject<"mutex (hosted)", klock::patient_mutex<8, yielding_lock>,
		klock::selftest::service::none>,
	subject<"inheriting_mutex", klock::inheriting_mutex,
		klock::selftest::service::none>>;

/* The peers of sleeping locks; those that readers share come last. */
inline const std::vector<std::string> sleeping_peers = {
	"pthread_mutex", "pthread_mutex PI", "absl Mutex",
	"nsync_mu",	 "pthread_rwlock",   "std::shared_mutex"};

/* The floors that ratios are taken to. */
inline constexpr const char *bare_xadd_name = "bare lock xadd";
inline constexpr const char *bare_exchange_name = "bare exchange";
inline constexpr const char *exchange_and_store_name = "exchange and store";
inline constexpr const char *ping_pong_name = "ping-pong";

enum class kind { floor, klock, peer };

struct row {
	std::string name;
	kind what;
	std::string counterpart; /* a peer's: the klock lock of its family */
	bool fifo;
	u64 capacity; /* contenders that it is made for */
	usize bytes;
	std::unique_ptr<contest> (*make)(unsigned threads);

	bool is_lock() const { return what != kind::floor; }
};

/*
 * The rows for trials of so many threads. Locks that are built for a number of
 * CPUs are built for the smallest of 2, KLOCK_BENCH_CPUS and 8 times that
 * which is enough; where none is, their capacity says so.
 */
const std::vector<row> &rows_for(unsigned threads);

/* No trial has more threads a core. */
inline constexpr unsigned most_threads_a_core = 8;

/* The peers that were not found when this was built. */
std::vector<std::string> missing_peers();

const char *name_of(kind);

/*
 * shared_contest - one lock that readers share, and those who read and write
 */

struct shared_contest : contest {
	/* As alone(), which writes. */
	virtual void read_alone(u64 turns) = 0;
};

/* -- How one thread reads and writes ------------------------------------- */

/* A lock with no readers, to compare with: they take it as all do. */
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

template <typename L>
struct shared_lock_contest final : shared_contest {
	explicit shared_lock_contest(unsigned threads)
	{
		for (unsigned i = 0; i < threads; i++)
			contenders.push_back(std::make_unique<member>(lock, i));
	}

	void read_alone(u64 turns) override
	{
		auto &who = contenders[0]->who;

		for (; turns; turns--) {
			who.read_lock(lock);
			asm volatile("" ::: "memory");
			who.read_unlock(lock);
			asm volatile("" ::: "memory");
		}
	}

	void alone(u64 turns) override
	{
		auto &who = contenders[0]->who;

		for (; turns; turns--) {
			who.write_lock(lock);
			asm volatile("" ::: "memory");
			who.write_unlock(lock);
			asm volatile("" ::: "memory");
		}
	}

	void contend(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		turns<watch::no>(thread, l, end, seen);
	}

	void observe(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		turns<watch::yes>(thread, l, end, seen);
	}

      private:
	template <watch Watched>
	void turns(unsigned thread, const load &l, whistle &end, tally &seen)
	{
		constexpr bool watched = Watched == watch::yes;
		auto &who = contenders[thread]->who;
		dice kinds(thread + 101);

		until(end, l, thread, seen, [&] {
			const u64 before = watched ? klock::cycles() : 0;

			if (kinds.below(100) < l.writers) {
				who.write_lock(lock);
				if (watched)
					holders.note(thread, before, seen);
				lines.write(l);
				who.write_unlock(lock);
			} else {
				who.read_lock(lock);
				if (watched)
					holders.note(thread, before, seen);
				lines.read(l);
				who.read_unlock(lock);
			}
		});
	}

	struct alignas(128) member {
		member(L &l, unsigned number) : who(l, number) {}
		sharer<L> who;
	};

	alignas(128) L lock;
	alignas(128) std::vector<std::unique_ptr<member>> contenders;
	succession holders;
	shared_lines lines;
};

/*
 * shared_rows - every lock of klock that readers share, every peer that does,
 * and an exclusive lock to compare with
 */

struct shared_row {
	std::string name;
	kind what;
	bool fair; /* nobody, reader or writer, waits for ever */
	u64 capacity;
	usize bytes;
	std::unique_ptr<shared_contest> (*make)(unsigned threads);
};

/* The rows for trials of so many threads, as rows_for(). */
const std::vector<shared_row> &shared_rows_for(unsigned threads);

/*
 * crowded - tickets of a preemptable_ticket_lock that were passed over
 *
 * Exact, and no burden on the lock: each holder looks at the lock's turn, in
 * the line that it has just written, and compares it with the one that the
 * holder before it left behind. A turn that is further on passed tickets over.
 */

/* The sum of several trials. */
struct overtakings {
	u64 acquisitions = 0;
	u64 passed = 0; /* tickets */
	/* The part of `passed` from trials in which a thread lost its core. */
	u64 passed_disturbed = 0;
	/* Cycles that a thread whose ticket was passed over waited in all. */
	series waits;

	/* A trial's; quiet: no thread lost its core in it. */
	void add(const overtakings &trial, u64 taken, bool quiet)
	{
		acquisitions += taken;
		passed += trial.passed;
		passed_disturbed += quiet ? 0 : trial.passed;
		waits.insert(waits.end(), trial.waits.begin(),
			     trial.waits.end());
	}

	double per_thousand() const
	{
		return acquisitions ? 1000.0 * static_cast<double>(passed) /
					      static_cast<double>(acquisitions)
				    : 0;
	}
};

/* The turn, as the holders know it one after another. */
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

/* Two threads, one lock: whose ticket is passed over is the other. */
template <typename Counter>
struct passing_contest {
	using lock_type = klock::preemptable_ticket_lock<Counter>;

	/* The second of two counters, turn x 2 + held: the holder asks. */
	static Counter state_of(const lock_type &l)
	{
		static_assert(sizeof(l) == 2 * sizeof(Counter));
		Counter state;

		std::memcpy(&state,
			    reinterpret_cast<const char *>(&l) + sizeof(state),
			    sizeof(state));
		return state;
	}

	void contend(unsigned thread, const load &l, whistle &end, tally &seen)
	{
		until(end, l, thread, seen, [&] {
			const u64 before = klock::cycles();
			lock.lock();
			enter(thread, before);
			work(l.section);
			lock.unlock();
		});
	}

	/* The holder: thread, which called lock() at that time. */
	void enter(unsigned thread, u64 since)
	{
		const u64 passed = turn.note(state_of(lock));

		if (passed) {
			found.passed += passed;
			late = thread ^ 1;
		} else if (late == thread) {
			found.waits.push_back(
				static_cast<double>(klock::cycles() - since));
			late = nobody;
		}
	}

	alignas(128) lock_type lock;
	/* The holder's alone. */
	alignas(128) overtakings found;

      private:
	static constexpr unsigned nobody = ~0u;

	turn_watch<Counter> turn;
	unsigned late = nobody; /* who was passed over, and is not in yet */
};

/* -- What is measured, and by what -- */

/* A lock under a load, one figure a round. */
struct contended {
	series rate;	   /* acquisitions per second, all threads */
	series min_to_max; /* of the threads' shares */
	series fairness;   /* Jain's */
	/* Figures of the rounds that watch: */
	series handoffs; /* share of critical sections after another thread's */
	series runs;	 /* the longest of each round */
	double longest_wait = 0; /* cycles */
};

/* The parameters of a trial. */
struct setting {
	unsigned threads;
	unsigned section; /* cycles */
	unsigned think;	  /* cycles, on average */
	placement where = placement::own_core;
	u32 writers = 100;
	bool data = false;

	auto operator<=>(const setting &) const = default;
};

/* A limit that an experiment sets itself, and a ratio round by round. */
struct bar {
	std::string what;
	series ratio;
	double limit;
	bool at_most;
	std::string missed; /* why, whatever the ratio is */
};

struct results {
	/* Cycles for lock and unlock, by row. */
	std::map<std::string, series> uncontended;
	/* Reads and writes of shared locks; the reads include the floors. */
	std::map<std::string, series> reads, writes;
	/* Sequences and barriers: cycles, by what is done. */
	std::map<std::string, series> sequences;
	/* The figures under load, by setting and row. */
	std::map<setting, std::map<std::string, contended>> loads;
	/* The load of two threads that do nothing else. */
	std::map<std::string, contended> handoff;
	/* The bars of locks that sleep. */
	std::vector<bar> bars;
};

/*
 * options - what to measure, how long, and where the files go
 */

struct options {
	std::filesystem::path out = "bench-results";
	unsigned cores = 0; /* 0: all that we may use */
	unsigned rounds = 25;
	std::chrono::microseconds trial{2000};
	bool scaling_only = false;
	bool smoke = false;   /* every experiment, as short as can be */
	bool shared = false;  /* only what readers share */
	bool crowded = false; /* only more threads than cores */
	bool sleep = false;   /* only locks that sleep, and all alone */
	bool sizes = false;   /* only accesses of two sizes on one word */
	bool list = false; /* print klock's rows, or the shared ones, and end */

	/* Rounds of trials that are slow and need not be exact. */
	unsigned few_rounds() const { return rounds < 5 ? 1 : rounds / 5; }
};

struct context {
	const options &opts;
	const machine &here;
	report &out;
	workers &threads;
	results found;
	/* The cost of a handoff on one line, when last measured. */
	double handoff_cycles = 0;
	/* Trials on cores of their own; those that never were undisturbed. */
	unsigned trials = 0, disturbed = 0;
	/* The factor by which a trial is longer if threads share cores. */
	unsigned stretch = 50;

	unsigned cores() const { return opts.cores ? opts.cores : here.cores; }
	/*
	 * How long a trial is: where cores are shared, several turns of the
	 * scheduler.
	 */
	std::chrono::microseconds trial(bool cores_are_shared) const
	{
		return cores_are_shared ? stretch * opts.trial : opts.trial;
	}
	/* Returns the path of a file of results. */
	std::filesystem::path file(const char *name) const
	{
		return opts.out / name;
	}
};

/* Lock and unlock of one thread, beside bare locked instructions. */
void measure_sizes(context &);
void measure_uncontended(context &);
/* Throughput and fairness: 2 threads, all cores, 4 threads a core. */
void measure_contended(context &);
/* Locks that sleep: turns to and fro, first waiters told, loads. */
void measure_sleeping(context &);
void measure_turns(context &);
/*
 * More threads than cores: 1, 2, 4 and 8 threads a core, locks that are for it
 * and some to compare them with.
 */
void measure_crowded(context &);
/*
 * How long a handoff takes here and now, at least: what back-off is set by.
 * A virtual machine's cores move: two hyper-threads of one core at one time,
 * two ends of the chip at another.
 */
double calibrate_handoff(context &);
/* The time of a handoff from one CPU to another, beside */
void measure_handoff(context &);
/* Sequences and barriers, beside Concurrency Kit's. */
void measure_sequences(context &);
/* Locks that readers share: alone, and at four shares of writers. */
void measure_shared(context &);
void measure_shared_alone(context &);
/* Throughput of 1 .. all cores. */
void measure_scaling(context &);

/*
 * Prints the project's own limits, and whether the measured figures meet them.
 */
void print_bars(context &);

/* -- What they share ----------------------------------------------------- */

/* How often the calling thread lost its core to another. */
long involuntary_switches();

/* 0 .. n - 1 in an order that differs from round to round. */
std::vector<std::size_t> shuffled(std::size_t n, unsigned round);

/*
 * One trial, and again if another process took a core away meanwhile, up to a
 * limit: then it stays as it is, and false is returned. Where threads share
 * cores there is one try.
 */
bool run_undisturbed(context &, unsigned threads, placement,
		     const workers::job &);

/* One trial; all of its figures go into `to`. */
void run_trial(context &, contest &, const setting &, watch, contended &to);
/* Runs a trial of the row's lock under the setting. */
void run_trial(context &, const row &, const setting &, watch, contended &to);

/*
 * Rounds of trials of all rows that can serve so many threads, or of those
 * named; progress is shown as `title`.
 */
std::map<std::string, contended>
run_rounds(context &, const setting &, unsigned rounds, unsigned watched_rounds,
	   const std::string &title, const std::vector<std::string> &only = {});

} // namespace bench
