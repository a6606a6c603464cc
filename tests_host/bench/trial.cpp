/* SPDX-License-Identifier: MIT */
#include "../tool.hpp"
#include "bench.hpp"
#include "c_locks.hpp"
#include "peers/peers.hpp"

#include <klock/inheriting_mutex.hpp>
#include <klock/mutex.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ttas_lock.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <sched.h>
#include <sys/resource.h>

namespace bench {

long involuntary_switches()
{
	rusage used;

	return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
}

namespace {

/* The calling thread. */
void move(unsigned thread, placement where)
{
	if (where == placement::anywhere)
		sched_setaffinity(0, sizeof(cpu_set_t), &allowed_cores());
	else
		pin_to_core(where == placement::own_core ? thread : 0);
}

} // namespace

workers::workers(unsigned number, double clock) : cycles_a_second(clock)
{
	try {
		for (unsigned i = 0; i < number; i++)
			threads.emplace_back([this, i] { serve(i); });
	} catch (const std::system_error &error) {
		tool::fail(std::to_string(number) +
			   " threads: " + error.what());
	}
}

workers::~workers()
{
	{
		std::lock_guard hold(mutex);
		closing = true;
	}
	wake.notify_all();
	for (auto &thread : threads)
		thread.join();
}

bool workers::run(unsigned number, placement place,
		  std::chrono::microseconds length, const job &what)
{
	std::unique_lock hold(mutex);

	todo = &what;
	wanted = running = number;
	where = place;
	preempted = 0;
	length_left = static_cast<klock::u64>(
		static_cast<double>(length.count()) * 1e-6 * cycles_a_second);
	referee.start = 0;
	referee.blown = false;
	arrived = 0;
	trial++;
	wake.notify_all();
	/* If a turn takes long, nobody looks at the clock for long. */
	if (!finished.wait_for(hold, 2 * length + std::chrono::milliseconds(2),
			       [this] { return running == 0; })) {
		referee.blown = true;
		finished.wait(hold, [this] { return running == 0; });
	}
	return preempted == 0;
}

void workers::serve(unsigned thread)
{
	unsigned done = 0;
	placement here = placement::anywhere;

	std::unique_lock hold(mutex);
	for (;;) {
		wake.wait(hold, [&] { return closing || trial != done; });
		if (closing)
			return;
		done = trial;
		if (thread >= wanted)
			continue;
		const job &what = *todo;
		const unsigned number = wanted;
		const placement there = where;
		hold.unlock();
		if (here != there)
			move(thread, here = there);
		const long before = meet(number);
		what(thread, referee);
		const long after = involuntary_switches();
		hold.lock();
		preempted += after - before;
		if (--running == 0)
			finished.notify_one();
	}
}

/*
 * Yields, so that all can come; the last one sets a time a little ahead, so
 * that all leave together. Returns involuntary_switches() of the start.
 */
long workers::meet(unsigned number)
{
	constexpr klock::u64 ahead = 20000;

	if (++arrived == number) {
		const klock::u64 start = klock::cycles() + ahead;
		referee.end = start + length_left;
		referee.start = start;
	}
	while (referee.start == 0)
		sched_yield();
	const long switches = involuntary_switches();
	while (klock::cycles() < referee.start)
		klock::cpu_relax();
	return switches;
}

/* -- Trials in rounds ---------------------------------------------------- */

namespace {

std::vector<std::size_t> shuffled(std::size_t n, unsigned round)
{
	std::vector<std::size_t> order(n);

	std::iota(order.begin(), order.end(), std::size_t{0});
	std::shuffle(order.begin(), order.end(), std::minstd_rand(round + 1));
	return order;
}

struct alignas(128) own_line {
	tally seen;
};

/* Proportional back-off wants to know how long a turn at the lock is. */
u32 base_for(const context &c, const setting &s)
{
	const double turns =
		(s.section + c.handoff_cycles) / c.here.cycles_a_pause;

	return std::max(1u, static_cast<u32>(turns + 0.5));
}

/*
 * One trial, and again if another process took a core away meanwhile, up to a
 * limit: then it stays as it is, and false is returned. Where threads share
 * cores there is one try; so there is where lost cores are what it is about.
 */
bool run_undisturbed(context &c, const setting &s, watch watched,
		     const workers::job &job)
{
	constexpr unsigned most_tries = 5;
	const bool shared =
		s.threads > c.here.cores || s.where != placement::own_core;

	if (watched == watch::passed)
		return c.threads.run(s.threads, s.where, c.trial(shared), job);
	c.trials++;
	if (shared)
		return c.threads.run(s.threads, s.where, c.trial(true), job);
	for (unsigned i = 0; i < most_tries; i++)
		if (c.threads.run(s.threads, s.where, c.trial(false), job))
			return true;
	c.disturbed++;
	return false;
}

void add_rate(const machine &here, const std::vector<own_line> &threads,
	      contended &to)
{
	u64 sum = 0, start = ~u64{0}, end = 0;
	series shares;

	for (const auto &[seen] : threads) {
		sum += seen.acquisitions;
		start = std::min(start, seen.start);
		end = std::max(end, seen.end);
		shares.push_back(static_cast<double>(seen.acquisitions));
	}
	to.rate.push_back(static_cast<double>(sum) /
			  static_cast<double>(end - start) *
			  here.cycles_a_second);
	to.fairness.push_back(jain(shares));
	to.min_to_max.push_back(most(shares) > 0 ? least(shares) / most(shares)
						 : 0);
}

void add_order(const std::vector<own_line> &threads, contended &to)
{
	u64 sum = 0, handoffs = 0, run = 0;

	for (const auto &[seen] : threads) {
		sum += seen.acquisitions;
		handoffs += seen.handoffs;
		run = std::max(run, seen.max_consecutive);
		to.longest_wait =
			std::max(to.longest_wait,
				 static_cast<double>(seen.longest_wait));
	}
	to.handoffs.push_back(sum ? static_cast<double>(handoffs) /
					      static_cast<double>(sum)
				  : 0);
	to.runs.push_back(static_cast<double>(run));
}

/* quiet: no thread lost its core in the trial. */
void add_passed(const std::vector<own_line> &threads, bool quiet, contended &to)
{
	for (const auto &[seen] : threads) {
		to.acquisitions += seen.acquisitions;
		to.passed += seen.passed;
		to.passed_disturbed += quiet ? 0 : seen.passed;
		to.waits.insert(to.waits.end(), seen.waits.begin(),
				seen.waits.end());
	}
}

} // namespace

void run_trial(context &c, const row &r, const setting &s, watch watched,
	       contended &to)
{
	const load l = {.section = steps_for(c.here, s.section),
			.think = steps_for(c.here, s.think),
			.writers = s.writers,
			.data = s.data,
			.watched = watched};
	const auto made = r.make(s.threads);
	std::vector<own_line> lines(s.threads);

	made->set_base(base_for(c, s));
	const bool quiet = run_undisturbed(
		c, s, watched, [&](unsigned thread, whistle &end) {
			lines[thread].seen = {};
			made->run(thread, l, end, lines[thread].seen);
		});
	switch (watched) {
	case watch::no:
		add_rate(c.here, lines, to);
		break;
	case watch::order:
		add_order(lines, to);
		break;
	case watch::passed:
		add_passed(lines, quiet, to);
		break;
	}
}

void in_rounds(const std::string &title, unsigned rounds, std::size_t n,
	       const std::function<void(std::size_t, unsigned)> &visit)
{
	for (unsigned round = 0; round < rounds; round++) {
		for (const std::size_t i : shuffled(n, round))
			visit(i, round);
		if (!title.empty())
			progress(title, round + 1, rounds);
	}
}

namespace {

void append(series &to, const series &more)
{
	to.insert(to.end(), more.begin(), more.end());
}

void append(contended &to, const contended &more)
{
	append(to.rate, more.rate);
	append(to.min_to_max, more.min_to_max);
	append(to.fairness, more.fairness);
	append(to.ping_pong, more.ping_pong);
	to.apart = more.apart;
	append(to.handoffs, more.handoffs);
	append(to.runs, more.runs);
	append(to.waits, more.waits);
	to.longest_wait = std::max(to.longest_wait, more.longest_wait);
	to.acquisitions += more.acquisitions;
	to.passed += more.passed;
	to.passed_disturbed += more.passed_disturbed;
}

/* One trial of each row that can serve so many threads. */
by_row try_block(context &c, const plan &p, const setting &s, unsigned round)
{
	const watch watched = round < p.rounds ? watch::no : p.by;
	by_row found;

	for (const std::size_t i : shuffled(p.rows.size(), round)) {
		const row &r = *p.rows[i];

		if (r.serves(s.threads))
			run_trial(c, r, s, watched, found[r.name]);
	}
	return found;
}

/*
 * Tries a block until the cores are as far from each other at its end as they
 * were before it, up to a limit. Figures of other tries are left out.
 */
void run_block(context &c, const plan &p, setting s, unsigned round,
	       by_setting &to)
{
	const unsigned most_tries = c.opts.smoke ? 1 : 3;
	double turn = 0;
	by_row found;

	for (unsigned i = 0; i < most_tries; i++) {
		const distance before = measure_distance(c);

		turn = c.handoff_cycles;
		found = try_block(c, p, s, round);
		s.apart = measure_distance(c) == before ? before
							: distance::moved;
		if (s.apart != distance::moved)
			break;
	}
	c.blocks++;
	c.moved += s.apart == distance::moved;
	for (auto &[lock, figures] : found) {
		figures.ping_pong.push_back(turn);
		figures.apart = s.apart;
		append(to[s][lock], figures);
	}
}

/* The blocks that count: a setting may have some that only watched. */
std::size_t blocks_of(const by_setting &all, const setting &s)
{
	const auto found = all.find(s);
	std::size_t most = 0;

	if (found == all.end())
		return 0;
	for (const auto &[lock, f] : found->second)
		if (!f.rate.empty() || f.acquisitions)
			most = std::max(most, f.ping_pong.size());
	return most;
}

} // namespace

by_setting run_rounds(context &c, const plan &p)
{
	by_setting found;

	in_rounds(p.title, p.rounds + p.watched, p.settings.size(),
		  [&](std::size_t i, unsigned round) {
			  run_block(c, p, p.settings[i], round, found);
		  });
	return found;
}

std::vector<setting> found_as(const by_setting &all, setting s)
{
	std::vector<setting> found;

	for (const distance d :
	     {distance::near, distance::far, distance::moved}) {
		s.apart = d;
		if (blocks_of(all, s) &&
		    (d != distance::moved || found.empty()))
			found.push_back(s);
	}
	return found;
}

setting usual(const by_setting &all, setting s)
{
	for (const setting &other : found_as(all, s))
		if (blocks_of(all, other) > blocks_of(all, s))
			s = other;
	return s;
}

void run_alone(const std::string &title, unsigned rounds,
	       const std::vector<timed> &all)
{
	std::thread([&] {
		pin_to_core(0);
		in_rounds(title, rounds, all.size(),
			  [&](std::size_t i, unsigned) {
				  all[i].to->push_back(
					  all[i].cycles(all[i].times));
			  });
	}).join();
}

timed alone(contest &lock, role as, series &to)
{
	return {&to, [&lock, as](u64 turns) {
			lock.alone(as, turns / 10);
			return cycles_each(turns,
					   [&](u64 n) { lock.alone(as, n); });
		}};
}

namespace {

/* The cycles of a turn of one thread, whose sections are so long. */
timed turn_alone(contest &lock, const machine &here, role as, unsigned section,
		 series &to)
{
	const load l = {.section = steps_for(here, section),
			.think = 0,
			.writers = as == role::writes ? 100u : 0u,
			.data = false,
			.watched = watch::no};

	return {&to,
		[&lock, l](u64 cycles) {
			whistle end;
			tally seen;

			end.end = klock::cycles() + cycles;
			lock.run(0, l, end, seen);
			return static_cast<double>(seen.end - seen.start) /
			       static_cast<double>(seen.acquisitions);
		},
		50000};
}

} // namespace

void section_costs::add(std::vector<timed> &all, contest &lock,
			const machine &here, role as, const std::string &name)
{
	turns &its = rows[name];

	all.push_back(turn_alone(lock, here, as, section, its.with));
	all.push_back(turn_alone(lock, here, as, 0, its.without));
}

double section_costs::cycles(const std::string &lock) const
{
	const turns &its = rows.at(lock);

	return least(its.with) - least(its.without);
}

double section_costs::to_median(const std::string &lock) const
{
	series all;

	for (const auto &[name, its] : rows)
		all.push_back(cycles(name));
	return cycles(lock) / median(all);
}

bool section_costs::differs(const std::string &lock) const
{
	constexpr double at_most = 0.02;

	return std::abs(to_median(lock) - 1) > at_most;
}

std::string section_costs::verdict(const std::string &what) const
{
	std::string others;
	series all;

	for (const auto &[lock, its] : rows) {
		all.push_back(cycles(lock));
		if (differs(lock))
			others += (others.empty() ? "" : ", ") + lock;
	}
	return what + ": sections of " + std::to_string(section) +
	       " cycles cost " + fixed(least(all), 0) + " to " +
	       fixed(most(all), 0) + ", " +
	       (others.empty() ? "all rows within 2 % of the median"
			       : "NOT EQUAL, so figures of these rows are not "
				 "their locks': " +
					 others) +
	       "\n";
}

/* -- Rows ------------------------------------------------------------------ */

namespace {

/*
 * Floors are what no lock can beat: measured as rows, in the same rounds. Each
 * is a "lock" of one or two instructions.
 */

/* One locked instruction after another: the least that a lock() costs. */
struct bare_xadd {
	void lock()
	{
		u32 one = 1;
		asm volatile("lock xadd %0, %1"
			     : "+r"(one), "+m"(word)::"memory");
	}
	void unlock() {}
	u32 word = 0;
};

struct bare_exchange {
	void lock()
	{
		u32 one = 1;
		asm volatile("xchg %0, %1" : "+r"(one), "+m"(word)::"memory");
	}
	void unlock() {}
	u32 word = 0;
};

/* An exchange, and a plain store that the next exchange has to wait for. */
struct exchange_and_store : bare_exchange {
	void unlock() { asm volatile("movl $0, %0" : "=m"(word)::"memory"); }
};

/*
 * Two threads that write one word in turn: a handoff, and nothing else. An
 * acquisition is one thread's turn.
 */
struct ping_pong {
	using hands_turns = void;

	void lock(unsigned thread)
	{
		while ((word.load(std::memory_order_acquire) & 1) != thread)
			klock::cpu_relax();
	}
	void unlock(unsigned)
	{
		word.store(word.load(std::memory_order_relaxed) + 1,
			   std::memory_order_release);
	}
	alignas(128) std::atomic<u32> word{0};
};

template <typename L>
row floor_row(const char *name, u64 capacity)
{
	row floor = row_of<L>(name, kind::floor, "", false, capacity);

	floor.bytes = sizeof(u32);
	return floor;
}

/*
 * klock's that sleep: over a host's functions, which its list does without.
 */
using klock::selftest::subject;
using sleeping_locks = klock::selftest::list<
	subject<"mutex", klock::mutex, klock::selftest::service::none>,
	subject<"mutex (hosted)", klock::patient_mutex<8, yielding_lock>,
		klock::selftest::service::none>,
	subject<"inheriting_mutex", klock::inheriting_mutex,
		klock::selftest::service::none>>;

/* Test-and-set locks in a word, for CPUs whose narrow stores are slow. */
using word_locks = klock::selftest::list<
	subject<"sized_tas_lock<u32>", klock::sized_tas_lock<u32>,
		klock::selftest::service::none>,
	subject<"sized_ttas_lock<u32>", klock::sized_ttas_lock<u32>,
		klock::selftest::service::none>>;

template <typename Subject>
row lock_row(kind what, const char *counterpart)
{
	return row_of<typename Subject::lock>(
		Subject::name, what, counterpart,
		Subject::order_of_service == klock::selftest::service::fifo,
		Subject::capacity);
}

template <unsigned Cpus>
std::vector<row> make_rows()
{
	std::vector<row> rows = {
		floor_row<bare_xadd>(bare_xadd_name, 1),
		floor_row<bare_exchange>(bare_exchange_name, 1),
		floor_row<ping_pong>(ping_pong_name, 2)};

	klock::selftest::all_locks<Cpus>::for_each([&]<typename Subject>() {
		rows.push_back(lock_row<Subject>(kind::klock, ""));
	});
	sleeping_locks::for_each([&]<typename Subject>() {
		rows.push_back(lock_row<Subject>(kind::klock, ""));
	});
	word_locks::for_each([&]<typename Subject>() {
		rows.push_back(lock_row<Subject>(kind::klock, ""));
	});
	c_locks::for_each([&]<typename Subject>() {
		rows.push_back(lock_row<Subject>(kind::klock, ""));
	});
	for_each_peer([&]<typename Subject>() {
		rows.push_back(
			lock_row<Subject>(kind::peer, Subject::counterpart));
	});
	return rows;
}

template <unsigned Cpus>
std::vector<row> make_shared_rows()
{
	constexpr u64 any = ~u64{0};
	std::vector<row> rows = {
		row_of<klock::ticket_lock<klock::u16>>(
			"ticket_lock<u16>", kind::klock, "", true, 65536),
		row_of<klock::shared_mutex>("shared_mutex", kind::klock, "",
					    true, any),
		row_of<klock::patient_shared_mutex<8, yielding_lock>>(
			"shared_mutex (hosted)", kind::klock, "", true, any)};

	klock::selftest::all_shared_locks<Cpus>::for_each(
		[&]<typename Subject>() {
			rows.push_back(row_of<typename Subject::lock>(
				Subject::name, kind::klock, "",
				Subject::order_of_sharing !=
					klock::selftest::sharing::writers_first,
				std::min(Subject::capacity,
					 Subject::reader_capacity)));
		});
	for_each_shared_peer([&]<typename Peer>() {
		rows.push_back(row_of<typename Peer::lock>(
			Peer::name, kind::peer, Peer::counterpart, Peer::fair,
			any));
	});
	return rows;
}

} // namespace

const std::vector<row> &rows_for(unsigned threads)
{
	static const auto pair = make_rows<2>();
	static const auto cpus = make_rows<KLOCK_BENCH_CPUS>();
	static const auto many =
		make_rows<most_threads_a_core * KLOCK_BENCH_CPUS>();

	if (threads <= 2)
		return pair;
	return threads <= KLOCK_BENCH_CPUS ? cpus : many;
}

const std::vector<row> &shared_rows_for(unsigned threads)
{
	static const auto pair = make_shared_rows<2>();
	static const auto cpus = make_shared_rows<KLOCK_BENCH_CPUS>();

	return threads <= 2 ? pair : cpus;
}

const std::vector<row> &shared_floors()
{
	static const std::vector<row> floors = {
		floor_row<bare_xadd>(bare_xadd_name, 1),
		floor_row<bare_exchange>(bare_exchange_name, 1),
		floor_row<exchange_and_store>(exchange_and_store_name, 1)};

	return floors;
}

distance measure_distance(context &c)
{
	/* Two caches, or two sockets, are further apart than one cache. */
	constexpr double far_from = 80e-9;
	constexpr std::chrono::microseconds length{300};
	contended found;

	if (c.here.cores < 2)
		return distance::near;
	for (int i = 0; i < 3; i++) {
		contest_of<ping_pong> turns(2);
		std::vector<own_line> lines(2);
		const load nothing{};

		c.threads.run(2, placement::own_core, length,
			      [&](unsigned thread, whistle &end) {
				      turns.run(thread, nothing, end,
						lines[thread].seen);
			      });
		add_rate(c.here, lines, found);
	}
	c.handoff_cycles = c.here.cycles_a_second / most(found.rate);
	return 1 / most(found.rate) < far_from ? distance::near : distance::far;
}

std::vector<const row *> named(const std::vector<row> &rows,
			       const std::vector<std::string> &names)
{
	std::vector<const row *> found;

	for (const row &r : rows)
		if (std::find(names.begin(), names.end(), r.name) !=
		    names.end())
			found.push_back(&r);
	return found;
}

std::vector<const row *> all_of(const std::vector<row> &rows)
{
	std::vector<const row *> found;

	for (const row &r : rows)
		found.push_back(&r);
	return found;
}

std::vector<std::string> peers_found()
{
	std::vector<std::string> names;

	for_each_library(
		[&]<typename Library>() { names.emplace_back(Library::name); });
	return names;
}

std::vector<std::string> peers_missing()
{
	std::vector<std::string> names;

	for (const char *name : peers_not_found)
		if (name)
			names.push_back(name);
	return names;
}

const char *name_of(distance apart)
{
	switch (apart) {
	case distance::near:
		return "near";
	case distance::far:
		return "far";
	case distance::moved:
		return "moved";
	}
	return "?";
}

const char *name_of(kind what)
{
	switch (what) {
	case kind::floor:
		return "floor";
	case kind::klock:
		return "klock";
	case kind::peer:
		return "peer";
	}
	return "?";
}

} // namespace bench
