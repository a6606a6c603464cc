/* SPDX-License-Identifier: MIT */
#include "../tool.hpp"
#include "bench.hpp"
#include "peers/peers.hpp"

#include <algorithm>
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

/*
 * Contended trials: many threads, one lock, one load, many rounds
 */

std::vector<std::size_t> shuffled(std::size_t n, unsigned round)
{
	std::vector<std::size_t> order(n);

	std::iota(order.begin(), order.end(), std::size_t{0});
	std::shuffle(order.begin(), order.end(), std::minstd_rand(round + 1));
	return order;
}

namespace {

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

void add_up(const machine &here, const std::vector<own_line> &threads,
	    watch watched, contended &to)
{
	u64 sum = 0, handoffs = 0, run = 0, start = ~u64{0}, end = 0;
	series shares;

	for (const auto &[seen] : threads) {
		sum += seen.acquisitions;
		handoffs += seen.handoffs;
		start = std::min(start, seen.start);
		end = std::max(end, seen.end);
		shares.push_back(static_cast<double>(seen.acquisitions));
		run = std::max(run, seen.max_consecutive);
		to.longest_wait =
			std::max(to.longest_wait,
				 static_cast<double>(seen.longest_wait));
	}
	const double all = static_cast<double>(sum);
	const double rate =
		all / static_cast<double>(end - start) * here.cycles_a_second;
	if (watched == watch::yes) {
		to.handoffs.push_back(sum ? static_cast<double>(handoffs) / all
					  : 0);
		to.runs.push_back(static_cast<double>(run));
		return;
	}
	to.rate.push_back(rate);
	to.fairness.push_back(jain(shares));
	to.min_to_max.push_back(most(shares) > 0 ? least(shares) / most(shares)
						 : 0);
}

} // namespace

bool run_undisturbed(context &c, unsigned threads, placement where,
		     const workers::job &job)
{
	constexpr unsigned most_tries = 5;
	const bool shared =
		threads > c.here.cores || where != placement::own_core;

	c.trials++;
	if (shared)
		return c.threads.run(threads, where, c.trial(true), job);
	for (unsigned i = 0; i < most_tries; i++)
		if (c.threads.run(threads, where, c.trial(false), job))
			return true;
	c.disturbed++;
	return false;
}

void run_trial(context &c, contest &made, const setting &s, watch watched,
	       contended &to)
{
	const load l = {.section = steps_for(c.here, s.section),
			.think = steps_for(c.here, s.think),
			.writers = s.writers,
			.data = s.data};
	const auto loop =
		watched == watch::yes ? &contest::observe : &contest::contend;
	std::vector<own_line> lines(s.threads);

	run_undisturbed(c, s.threads, s.where, [&](unsigned i, whistle &end) {
		lines[i].seen = {};
		(made.*loop)(i, l, end, lines[i].seen);
	});
	add_up(c.here, lines, watched, to);
}

void run_trial(context &c, const row &r, const setting &s, watch watched,
	       contended &to)
{
	const auto made = r.make(s.threads);

	made->set_base(base_for(c, s));
	run_trial(c, *made, s, watched, to);
}

std::map<std::string, contended>
run_rounds(context &c, const setting &s, unsigned rounds,
	   unsigned watched_rounds, const std::string &title,
	   const std::vector<std::string> &only)
{
	const auto &rows = rows_for(s.threads);
	const unsigned all = rounds + watched_rounds;
	std::map<std::string, contended> found;

	for (unsigned round = 0; round < all; round++) {
		for (std::size_t i : shuffled(rows.size(), round)) {
			const row &r = rows[i];
			const bool named = only.empty() ||
					   std::find(only.begin(), only.end(),
						     r.name) != only.end();
			const bool serves = r.is_lock()
						    ? r.capacity >= s.threads
						    : r.capacity == s.threads;
			if (named && serves)
				run_trial(c, r, s,
					  round < rounds ? watch::no
							 : watch::yes,
					  found[r.name]);
		}
		progress(title, round + 1, all);
	}
	return found;
}

/* -- Rows ------------------------------------------------------------------ */

namespace {

template <typename Contest>
std::unique_ptr<contest> make_floor(unsigned)
{
	return std::make_unique<Contest>();
}

template <typename L>
std::unique_ptr<contest> make_lock(unsigned threads)
{
	return std::make_unique<lock_contest<L>>(threads);
}

template <typename Contest>
row floor_row(const char *name, u64 capacity)
{
	return {.name = name,
		.what = kind::floor,
		.counterpart = "",
		.fifo = false,
		.capacity = capacity,
		.bytes = 4,
		.make = make_floor<Contest>};
}

template <typename Subject>
row lock_row(kind what, const char *counterpart)
{
	using lock = typename Subject::lock;
	return {.name = Subject::name,
		.what = what,
		.counterpart = counterpart,
		.fifo = Subject::order_of_service ==
			klock::selftest::service::fifo,
		.capacity = Subject::capacity,
		.bytes = sizeof(lock),
		.make = make_lock<lock>};
}

template <unsigned Cpus>
std::vector<row> make_rows()
{
	std::vector<row> rows;

	rows.push_back(floor_row<bare_xadd>(bare_xadd_name, 1));
	rows.push_back(floor_row<bare_exchange>(bare_exchange_name, 1));
	rows.push_back(floor_row<ping_pong>(ping_pong_name, 2));
	klock::selftest::all_locks<Cpus>::for_each([&]<typename Subject>() {
		rows.push_back(lock_row<Subject>(kind::klock, ""));
	});
	sleeping_locks::for_each([&]<typename Subject>() {
		rows.push_back(lock_row<Subject>(kind::klock, ""));
	});
	for_each_peer([&]<typename Subject>() {
		rows.push_back(
			lock_row<Subject>(kind::peer, Subject::counterpart));
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

std::vector<std::string> missing_peers()
{
	std::vector<std::string> names;

	for (const char *name : peers_not_found)
		if (name)
			names.push_back(name);
	return names;
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

namespace {

using klock::selftest::sharing;

template <typename L>
std::unique_ptr<shared_contest> make_contest(unsigned threads)
{
	return std::make_unique<shared_lock_contest<L>>(threads);
}

template <typename L>
shared_row row_of(const char *name, kind what, bool fair, u64 capacity)
{
	return {.name = name,
		.what = what,
		.fair = fair,
		.capacity = capacity,
		.bytes = sizeof(L),
		.make = make_contest<L>};
}

template <unsigned Cpus>
std::vector<shared_row> make_shared_rows()
{
	std::vector<shared_row> rows;

	rows.push_back(row_of<klock::ticket_lock<klock::u16>>(
		"ticket_lock<u16>", kind::klock, true, 65536));
	rows.push_back(row_of<klock::shared_mutex>("shared_mutex", kind::klock,
						   true, ~u64{0}));
	rows.push_back(row_of<klock::patient_shared_mutex<8, yielding_lock>>(
		"shared_mutex (hosted)", kind::klock, true, ~u64{0}));
	klock::selftest::all_shared_locks<Cpus>::for_each(
		[&]<typename Subject>() {
			rows.push_back(row_of<typename Subject::lock>(
				Subject::name, kind::klock,
				Subject::order_of_sharing !=
					sharing::writers_first,
				std::min(Subject::capacity,
					 Subject::reader_capacity)));
		});
	for_each_shared_peer([&]<typename Peer>() {
		rows.push_back(row_of<typename Peer::lock>(
			Peer::name, kind::peer, Peer::fair, ~u64{0}));
	});
	return rows;
}

} // namespace

const std::vector<shared_row> &shared_rows_for(unsigned threads)
{
	static const auto pair = make_shared_rows<2>();
	static const auto cpus = make_shared_rows<KLOCK_BENCH_CPUS>();

	return threads <= 2 ? pair : cpus;
}

} // namespace bench
