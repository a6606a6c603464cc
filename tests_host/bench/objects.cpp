/* SPDX-License-Identifier: MIT */
/*
 * objects - what the bytes of a lock cost where every object has one
 *
 * A million hash buckets: a head of 4 bytes each, and a lock each in an array
 * beside them. All cores visit buckets at random, so that nobody ever waits;
 * what differs is how much of the cache the locks take.
 */
#include "experiments.hpp"
#include "perf_counter.hpp"

#include <cstring>

namespace bench {

namespace {

constexpr u32 buckets = 1000000;

/* A table of buckets with one kind of lock. */
struct lock_table {
	virtual ~lock_table() = default;
	/* Visits buckets at random until the end. */
	virtual void visit(unsigned thread, whistle &end, tally &) = 0;
};

template <typename L>
struct table_of final : lock_table {
	table_of() : locks(new L[buckets]), heads(new u32[buckets]())
	{
		/* Touches every page before anybody measures. */
		klock::selftest::contender<L> who(0);

		for (u32 i = 0; i < buckets; i++) {
			who.lock(locks[i]);
			who.unlock(locks[i]);
		}
	}

	void visit(unsigned thread, whistle &end, tally &seen) override
	{
		/* Never the same places again: they would be cached. */
		dice places((++visits << 8) + thread);
		klock::selftest::contender<L> who(thread);

		until(end, {0, 0}, thread, seen, [&] {
			const u32 i = places.below(buckets);
			who.lock(locks[i]);
			heads[i] = heads[i] + 1;
			who.unlock(locks[i]);
		});
	}

      private:
	std::unique_ptr<L[]> locks;
	std::unique_ptr<volatile u32[]> heads;
	std::atomic<u32> visits{0};
};

template <typename L>
struct alignas(klock::cache_line) padded : L {};

struct variant {
	std::string name;
	usize bytes;
	std::unique_ptr<lock_table> (*make)();
	series cycles, misses;
};

template <typename L>
std::unique_ptr<lock_table> make_table()
{
	return std::make_unique<table_of<L>>();
}

/* Adds the list's first lock of so many bytes, if there is one. */
void first_of(usize bytes, bool fair, std::vector<variant> &found)
{
	const std::size_t before = found.size();

	klock::selftest::all_locks<2>::for_each([&]<typename S>() {
		using lock = typename S::lock;
		if constexpr (klock::plain_lock<lock>) {
			const bool is_fair = S::order_of_service ==
					     klock::selftest::service::fifo;
			if (found.size() == before && is_fair == fair &&
			    sizeof(lock) == bytes)
				found.push_back({S::name,
						 bytes,
						 make_table<lock>,
						 {},
						 {}});
		}
	});
}

/* Every first of the list in its size, fair and not; and a line each. */
std::vector<variant> variants()
{
	std::vector<variant> found;

	for (usize bytes : {1, 2, 4, 8})
		for (bool fair : {false, true})
			first_of(bytes, fair, found);
	using smallest = klock::ticket_lock<klock::u8>;
	found.push_back({"a line each",
			 klock::cache_line,
			 make_table<padded<smallest>>,
			 {},
			 {}});
	return found;
}

void visit_all(context &c, variant &v, lock_table &t)
{
	struct alignas(128) own_line {
		tally seen;
		double misses = -1;
	};
	std::vector<own_line> threads(c.cores());
	double visits = 0, cycles = 0, misses = 0;

	run_undisturbed(c, c.cores(), [&](unsigned i, whistle &end) {
		const perf_counter counter;
		threads[i].seen = {};
		t.visit(i, end, threads[i].seen);
		if (counter.works())
			threads[i].misses = counter.misses();
	});
	for (const own_line &one : threads) {
		visits += static_cast<double>(one.seen.acquisitions);
		cycles += static_cast<double>(one.seen.end - one.seen.start);
		misses += one.misses;
	}
	if (visits == 0)
		return;
	v.cycles.push_back(cycles / visits);
	if (misses >= 0)
		v.misses.push_back(misses / visits);
}

} // namespace

void measure_objects(context &c)
{
	std::vector<variant> all = variants();
	std::vector<std::unique_ptr<lock_table>> tables;

	for (variant &v : all)
		tables.push_back(v.make());
	for (unsigned round = 0; round < c.opts.rounds; round++) {
		for (std::size_t i : shuffled(all.size(), round))
			visit_all(c, all[i], *tables[i]);
		progress("a million objects", round + 1, c.opts.rounds);
	}

	csv file(c.file("objects.csv"),
		 {"lock", "bytes", "table_bytes", "cycles_min", "cycles_median",
		  "ratio_median", "ratio_q1", "ratio_q3", "misses"});
	table t({"lock", "bytes", "locks, MB", "cycles a visit",
		 "to a line each", "quartiles", "misses a visit"});
	bool counted = false;
	for (const variant &v : all) {
		const usize bytes = v.bytes * buckets;
		const series q = ratios(v.cycles, all.back().cycles);
		const std::string misses =
			v.misses.empty() ? none : fixed(median(v.misses), 3);
		counted |= !v.misses.empty();
		file.add({v.name, std::to_string(v.bytes),
			  std::to_string(bytes), fixed(least(v.cycles), 1),
			  fixed(median(v.cycles), 1), fixed(median(q), 3),
			  fixed(quantile(q, 0.25), 3),
			  fixed(quantile(q, 0.75), 3), misses});
		t.add({v.name, std::to_string(v.bytes),
		       fixed(static_cast<double>(bytes) / 1e6, 0),
		       fixed(median(v.cycles), 1), fixed(median(q), 2),
		       fixed(quantile(q, 0.25), 2) + " .. " +
			       fixed(quantile(q, 0.75), 2),
		       misses});
	}
	c.out.heading("Objects: a million buckets with a lock each, visited at "
		      "random by all cores");
	c.out.say(t.text());
	if (!counted)
		c.out.say("cache misses: this system does not let us count "
			  "them (perf_event_open)\n");
}

} // namespace bench
