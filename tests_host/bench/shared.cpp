/* SPDX-License-Identifier: MIT */
/*
 * shared - locks that readers share: alone in cycles, and together in
 * throughput at four shares of writers
 */
#include "bench.hpp"

#include <klock/barrier.hpp>
#include <klock/cpu.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>

#include <algorithm>
#include <thread>

#ifdef KLOCK_BENCH_WITH_CK
#include "peers/ck.h"
#endif

namespace bench {

namespace {

constexpr unsigned sections[] = {50, 2000};
constexpr unsigned writer_shares[] = {0, 1, 10, 50};

/* -- One thread ---------------------------------------------------------- */

/* Minimum, median, and both to the floor's, with quartiles. */
void add_cells(cells &to, const series &s, const series &floor)
{
	if (s.empty()) {
		to.insert(to.end(), 6, none); /* nobody writes a floor */
		return;
	}
	to.of(least(s), 2).of(median(s), 2).of(least(s) / least(floor), 3);
	to.spread(ratios(s, floor), 3);
}

cells cells_of(context &c, const row &r, const section_costs &reads,
	       const section_costs &writes)
{
	const series &floor = c.found.reads[bare_xadd_name];
	cells line(r.name);

	line.of(name_of(r.what)).of(r.bytes);
	add_cells(line, c.found.reads[r.name], floor);
	add_cells(line, c.found.writes[r.name], floor);
	for (const section_costs *costs : {&reads, &writes})
		if (r.what == kind::floor)
			line.of(none).of(none);
		else
			line.of(costs->cycles(r.name), 1)
				.of(costs->to_median(r.name), 3);
	return line.of(r.what != kind::floor && (reads.differs(r.name) ||
						 writes.differs(r.name))
			       ? "differs"
			       : "equal");
}

} // namespace

void measure_shared_alone(context &c)
{
	const unsigned rounds = c.opts.smoke ? 2 : 8 * c.opts.rounds;
	std::vector<std::unique_ptr<contest>> contests;
	std::vector<timed> all;
	section_costs reads, writes;

	for (const row &r : shared_floors()) {
		contests.push_back(r.make(1));
		all.push_back(alone(*contests.back(), role::writes,
				    c.found.reads[r.name]));
	}
	for (const row &r : shared_rows_for(1)) {
		contests.push_back(r.make(1));
		all.push_back(alone(*contests.back(), role::reads,
				    c.found.reads[r.name]));
		all.push_back(alone(*contests.back(), role::writes,
				    c.found.writes[r.name]));
		reads.add(all, *contests.back(), c.here, role::reads, r.name);
		writes.add(all, *contests.back(), c.here, role::writes, r.name);
	}
	run_alone("readers and writers, one thread", rounds, all);

	csv file(c.file("shared_alone.csv"), {"lock",
					      "kind",
					      "bytes",
					      "read_min",
					      "read_median",
					      "read_ratio_min",
					      "read_ratio_median",
					      "read_ratio_q1",
					      "read_ratio_q3",
					      "write_min",
					      "write_median",
					      "write_ratio_min",
					      "write_ratio_median",
					      "write_ratio_q1",
					      "write_ratio_q3",
					      "read_section_cycles",
					      "read_section_to_median",
					      "write_section_cycles",
					      "write_section_to_median",
					      "verdict"});
	for (const auto *rows : {&shared_floors(), &shared_rows_for(1)})
		for (const row &r : *rows)
			file.add(cells_of(c, r, reads, writes));
	c.out.heading("Readers and writers, uncontended: cycles for lock and "
		      "unlock, and ratios to lock xadd");
	c.out.say(file.text() + reads.verdict("reads alone") +
		  writes.verdict("writes alone"));
}

namespace {

/* -- Several ------------------------------------------------------------- */

/* The fair peer that does best under this share; empty: there is none. */
std::string best_fair_peer(const by_row &found, unsigned threads)
{
	std::string best;

	for (const row &r : shared_rows_for(threads))
		if (r.what == kind::peer && r.fair && found.contains(r.name) &&
		    (best.empty() || median(found.at(r.name).rate) >
					     median(found.at(best).rate)))
			best = r.name;
	return best;
}

void write(context &c, csv &file, const setting &s, const by_row &found)
{
	const std::string best = best_fair_peer(found, s.threads);

	for (const row &r : shared_rows_for(s.threads)) {
		if (!found.contains(r.name))
			continue;
		const series &rate = found.at(r.name).rate;
		const series q = best.empty()
					 ? series{}
					 : ratios(rate, found.at(best).rate);

		file.add(cells(r.name)
				 .of(name_of(r.what))
				 .of(s.threads)
				 .of(c.cores())
				 .of(s.section)
				 .of(s.think)
				 .of(s.writers)
				 .spread(rate, 0)
				 .spread(q, 3)
				 .of(name_of(s.apart))
				 .of(found.at(r.name).ping_pong, 0)
				 .of(rate.size()));
	}
	c.out.say("sections of " + std::to_string(s.section) + ", " +
		  std::to_string(s.writers) + " % writes, " + name_of(s.apart) +
		  ": best fair peer: " + (best.empty() ? none : best) + "\n");
}

} // namespace

void measure_shared(context &c)
{
	measure_shared_alone(c);

	c.out.heading("Readers and writers, the peers");
	csv file(c.file("shared.csv"),
		 {"lock", "kind", "threads", "cores", "section_cycles",
		  "think_cycles", "writers", "rate_median", "rate_q1",
		  "rate_q3", "to_fair_peer", "to_fair_q1", "to_fair_q3",
		  "distance", "ping_pong_cycles", "rounds"});
	for (const unsigned section : sections) {
		plan p{.title = "readers and writers, sections of " +
				std::to_string(section),
		       .rows = all_of(shared_rows_for(c.cores())),
		       .settings = {},
		       .rounds = c.opts.rounds};

		for (const unsigned writers : writer_shares)
			p.settings.push_back({.threads = c.cores(),
					      .section = section,
					      .think = usual_think,
					      .writers = writers});
		const by_setting found = run_rounds(c, p);
		for (const setting &asked : p.settings)
			for (const setting &s : found_as(found, asked))
				write(c, file, s, found.at(s));
	}
	c.out.heading("Readers and writers: acquisitions per second, by the "
		      "share of writes");
	c.out.say(file.text());
}

/*
 * sequences - sequences and barriers beside Concurrency Kit's, in cycles
 *
 * What is no lock: a read and a write of a value of two words by one thread,
 * whose result is used; a meeting of two threads.
 */

namespace {

struct moment {
	unsigned long seconds, parts;
};

/* Used, so that no compiler leaves the read out. */
void use(const moment &m)
{
	asm volatile("" ::"r"(m.seconds), "r"(m.parts) : "memory");
}

template <typename What>
double cycles_of(u64 turns, What what)
{
	return cycles_each(turns, [&](u64 n) {
		for (u64 i = 0; i < n; i++)
			what(i);
	});
}

alignas(klock::cache_line) klock::seq_lock<moment> locked;
alignas(klock::cache_line) klock::seq_latch<moment> latched;
alignas(klock::cache_line) klock::seq_count counted;
klock::atomic<unsigned long> seconds, parts;

void count_read()
{
	moment m;
	u32 began;

	do {
		began = counted.read_begin();
		m = {seconds.load_relaxed(), parts.load_relaxed()};
	} while (counted.read_retry(began));
	use(m);
}

void count_write(u64 i)
{
	counted.write_begin();
	seconds.store_relaxed(i);
	parts.store_relaxed(i);
	counted.write_end();
}

#ifdef KLOCK_BENCH_WITH_CK
alignas(klock::cache_line) klock_ck_sequence ck_counted;

void ck_read()
{
	const klock_ck_words w = klock_ck_sequence_read(&ck_counted);

	use({w.first, w.second});
}
#endif

/* Cycles of a meeting of two threads; meet(thread) is one. */
template <typename Meet>
double cycles_to_meet(u64 turns, Meet meet)
{
	double cycles = 0;
	std::thread other([&] {
		pin_to_core(1);
		for (u64 i = 0; i < turns + 1; i++)
			meet(1u);
	});
	std::thread one([&] {
		pin_to_core(0);
		meet(0u);
		cycles = cycles_of(turns, [&](u64) { meet(0u); });
	});

	one.join();
	other.join();
	return cycles;
}

double klock_meetings(u64 turns)
{
	alignas(klock::cache_line) klock::spin_barrier meeting;

	return cycles_to_meet(turns,
			      [&](unsigned) { meeting.arrive_and_wait(2); });
}

#ifdef KLOCK_BENCH_WITH_CK
double ck_meetings(u64 turns)
{
	alignas(klock::cache_line) klock_ck_barrier meeting{};
	struct alignas(klock::cache_line) own {
		unsigned sense = 0;
	} senses[2];

	return cycles_to_meet(turns, [&](unsigned thread) {
		klock_ck_barrier_wait(&meeting, &senses[thread].sense, 2);
	});
}
#endif

struct action {
	const char *name;
	const char *beside; /* the peer that it is compared with */
	bool slow;	    /* two threads */
	std::function<double(u64)> cycles;
};

template <typename What>
auto of(What what)
{
	return [what](u64 turns) { return cycles_of(turns, what); };
}

std::vector<action> actions()
{
	return {
		{"seq_lock read", "ck sequence read", false,
		 of([](u64) { use(locked.read()); })},
		{"seq_latch read", "ck sequence read", false,
		 of([](u64) { use(latched.read()); })},
		{"seq_count read", "ck sequence read", false,
		 of([](u64) { count_read(); })},
		{"seq_lock write", "ck sequence write", false, of([](u64 i) {
			 locked.write({i, i});
		 })},
		{"seq_latch write", "ck sequence write", false, of([](u64 i) {
			 latched.write({i, i});
		 })},
		{"seq_count write", "ck sequence write", false,
		 of([](u64 i) { count_write(i); })},
		{"spin_barrier, 2 threads", "ck barrier, 2 threads", true,
		 klock_meetings},
#ifdef KLOCK_BENCH_WITH_CK
		{"ck sequence read", "ck sequence read", false,
		 of([](u64) { ck_read(); })},
		{"ck sequence write", "ck sequence write", false,
		 of([](u64 i) { klock_ck_sequence_write(&ck_counted, i, i); })},
		{"ck barrier, 2 threads", "ck barrier, 2 threads", true,
		 ck_meetings},
#endif
	};
}

} // namespace

void measure_sequences(context &c)
{
	const unsigned rounds = c.opts.smoke ? 2 : 8 * c.opts.rounds;
	const std::vector<action> all = actions();
	std::map<std::string, series> &found = c.found.sequences;
	std::vector<timed> timings;

	for (const action &a : all)
		timings.push_back(
			{&found[a.name], a.cycles, a.slow ? 200u : 5000u});
	run_alone("sequences, barrier", rounds, timings);

	csv file(c.file("sequences.csv"),
		 {"lock", "cycles_min", "cycles_median", "ratio_median",
		  "ratio_q1", "ratio_q3"});
	for (const action &a : all) {
		const series &s = found[a.name];
		const bool has_peer = found.count(a.beside) != 0;
		const series q =
			has_peer ? ratios(s, found[a.beside]) : series{};

		file.add(cells(a.name)
				 .of(least(s), 2)
				 .of(median(s), 2)
				 .spread(q, 3));
	}
	c.out.heading("Sequences and barriers: cycles for a value of two "
		      "words, for a meeting, and ratios to ck's");
	c.out.say(file.text());
}

} // namespace bench
