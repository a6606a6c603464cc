/* SPDX-License-Identifier: MIT */
/*
 * google - the uncontended rows by Google Benchmark: a second opinion
 *
 * The same rows and the same loops, but its clock, its choice of how often,
 * its interleaving. Contended rows are not here: its threads are neither bound
 * to cores nor asked who got how much.
 *
 *	klock_bench_google FILE.csv [--benchmark_...]
 */
#include "machine.hpp"
#include "output.hpp"
#include "rows.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <map>
#include <thread>

using namespace bench;

namespace {

/* Keeps the least time of each row; prints nothing. */
struct keep_least : benchmark::BenchmarkReporter {
	std::map<std::string, double> nanoseconds;

	bool ReportContext(const Context &) override { return true; }
	void ReportRuns(const std::vector<Run> &runs) override
	{
		for (const Run &run : runs) {
			if (run.run_type != Run::RT_Iteration)
				continue;
			const double time = run.GetAdjustedCPUTime();
			const auto [at, is_new] = nanoseconds.try_emplace(
				run.run_name.function_name, time);
			at->second = std::min(at->second, time);
		}
	}
};

void measure(benchmark::State &state, const row &r)
{
	constexpr u64 turns = 1000;
	const auto b = r.make(1);

	while (state.KeepRunningBatch(turns))
		b->alone(turns);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2) {
		std::fprintf(stderr, "usage: %s FILE.csv [--benchmark_...]\n",
			     argv[0]);
		return 2;
	}
	const std::string file = argv[1];
	argv[1] = argv[0];
	argc--;
	argv++;
	benchmark::Initialize(&argc, argv);
	for (const row &r : rows_for(1))
		if (r.name != ping_pong_name)
			benchmark::RegisterBenchmark(r.name.c_str(), measure,
						     r);

	/* The C library leaves out lock prefixes while there is one thread. */
	std::promise<void> done;
	std::thread idle([&] { done.get_future().wait(); });
	pin_to_core(0);
	keep_least found;
	benchmark::RunSpecifiedBenchmarks(&found);
	done.set_value();
	idle.join();

	csv out(file, {"lock", "kind", "ns_min", "to_xadd"});
	for (const row &r : rows_for(1))
		if (found.nanoseconds.contains(r.name))
			out.add({r.name, name_of(r.what),
				 fixed(found.nanoseconds[r.name], 3),
				 fixed(found.nanoseconds[r.name] /
					       found.nanoseconds
						       [bare_xadd_name],
				       3)});
	return 0;
}
