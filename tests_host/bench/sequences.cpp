/* SPDX-License-Identifier: MIT */
/*
 * sequences - sequences and barriers beside Concurrency Kit's, in cycles
 *
 * What is no lock: a read and a write of a value of two words by one thread,
 * whose result is used; a meeting of two threads.
 */
#include "bench.hpp"

#include <klock/barrier.hpp>
#include <klock/cpu.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>

#include <functional>
#include <thread>

#ifdef KLOCK_BENCH_WITH_CK
#include "peers/ck.h"
#endif

namespace bench {

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
	const u64 start = klock::cycles();

	for (u64 i = 0; i < turns; i++)
		what(i);
	return static_cast<double>(klock::cycles() - start) /
	       static_cast<double>(turns);
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

	std::thread([&] {
		pin_to_core(0);
		for (unsigned round = 0; round < rounds; round++) {
			for (std::size_t i : shuffled(all.size(), round))
				found[all[i].name].push_back(all[i].cycles(
					all[i].slow ? 200 : 5000));
			progress("sequences, barrier", round + 1, rounds);
		}
	}).join();

	csv file(c.file("sequences.csv"),
		 {"lock", "cycles_min", "cycles_median", "ratio_median",
		  "ratio_q1", "ratio_q3"});
	for (const action &a : all) {
		const series &s = found[a.name];
		const bool has_peer = found.count(a.beside) != 0;
		const series q =
			has_peer ? ratios(s, found[a.beside]) : series{0};
		const auto shown = [&](double v) {
			return has_peer ? fixed(v, 3) : none;
		};

		file.add({a.name, fixed(least(s), 2), fixed(median(s), 2),
			  shown(median(q)), shown(quantile(q, 0.25)),
			  shown(quantile(q, 0.75))});
	}
	c.out.heading("Sequences and barriers: cycles for a value of two "
		      "words, for a meeting, and ratios to ck's");
	c.out.say(file.text());
}

} // namespace bench
