/* SPDX-License-Identifier: MIT */
/*
 * model_bars - how deep the checker goes: the largest explorations, measured
 *
 *	model_bars [workers] [limit] [lock] [all]
 *	model_bars table [limit]
 *
 * The second is every lock in small ones: size, executions, time.
 *
 * Workers: 0, as they are by default, is one a core. A limit of executions is
 * for those that take hours. "all": none is left out for being like another;
 * else that is so of the bakery alone, whose CPUs are not alike. Seconds are of
 * the clock, CPU seconds those of all processes.
 */
#include "../tool.hpp"
#include "lock_counts.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <algorithm>
#include <cstdlib>

namespace {

using klock::u64;

unsigned workers = 0;
bool symmetric = true;
u64 limit = 2'000'000'000;
const char *only = "";

double cpu_seconds()
{
	double sum = 0;

	for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
		rusage used;
		::getrusage(who, &used);
		sum += static_cast<double>(used.ru_utime.tv_sec +
					   used.ru_stime.tv_sec) +
		       static_cast<double>(used.ru_utime.tv_usec +
					   used.ru_stime.tv_usec) *
			       1e-6;
	}
	return sum;
}

/* The peak memory of the largest process so far. */
long peak_mib()
{
	rusage self, children;

	::getrusage(RUSAGE_SELF, &self);
	::getrusage(RUSAGE_CHILDREN, &children);
	return std::max(self.ru_maxrss, children.ru_maxrss) / 1024;
}

template <unsigned Cpus>
void bar(const char *lock, std::vector<unsigned> sections, bool alike = true)
{
	const auto measure = [&](const worlds::kind &k) {
		if (std::strcmp(k.name, lock) != 0 || !std::strstr(lock, only))
			return;
		const double before = cpu_seconds();
		const model::result r =
			worlds::exclusion(k, {.sections = sections,
					      .max_executions = limit,
					      .patient = worlds::everybody,
					      .symmetric = symmetric && alike,
					      .workers = workers});
		std::printf(
			"%-18s %ux%u %11llu %11llu %11llu %8.3f %8.3f %11.0f "
			"%4ld%s%s\n",
			lock, Cpus, sections[0],
			static_cast<unsigned long long>(r.complete),
			static_cast<unsigned long long>(r.explored),
			static_cast<unsigned long long>(r.blocked), r.time,
			cpu_seconds() - before,
			static_cast<double>(r.complete) / r.time, peak_mib(),
			r.exhaustive ? "" : "  not all", r.ok() ? "" : "  BUG");
		std::fflush(stdout);
	};

	for (const auto &k :
	     worlds::kinds_of<klock::selftest::all_locks<Cpus>>())
		measure(k);
}

template <unsigned Cpus>
void rows(const std::vector<unsigned> &sections)
{
	std::string size;

	for (unsigned s : sections)
		size += (size.empty() ? "" : ",") + std::to_string(s);
	for (const worlds::kind &k :
	     worlds::kinds_of<klock::selftest::all_locks<Cpus>>()) {
		if (k.capacity < Cpus)
			continue;
		const model::result r = worlds::exclusion(
			k, {.sections = sections, .max_executions = limit});
		std::printf("%-30s %-8s %10llu %10llu %8.3f%s%s\n", k.name,
			    size.c_str(),
			    static_cast<unsigned long long>(r.complete),
			    static_cast<unsigned long long>(r.blocked), r.time,
			    r.exhaustive ? "" : "  not all",
			    r.ok() ? "" : "  BUG");
		std::fflush(stdout);
		if (!r.ok())
			std::printf("%s", r.timeline.c_str());
	}
}

int table(int argc, char **argv)
{
	limit = argc > 2 ? tool::number(argv[2], 0, ~0ul) : 20'000'000;
	std::printf("%-30s %-8s %10s %10s %8s\n", "lock", "sections",
		    "complete", "blocked", "seconds");
	rows<2>({2, 2});
	rows<3>({2, 1, 1});
	rows<3>({2, 2, 2});
	rows<4>({1, 1, 1, 1});
	return tool::end(0);
}

} // namespace

int main(int argc, char **argv)
{
	tool::begin(argc, argv,
		    "usage: model_bars [WORKERS [LIMIT [LOCK [all]]]]\n"
		    "       model_bars table [LIMIT]\n");
	if (argc > 1 && std::strcmp(argv[1], "table") == 0)
		return table(argc, argv);
	if (argc > 1)
		workers = static_cast<unsigned>(tool::number(argv[1], 0, 1024));
	if (argc > 2)
		limit = tool::number(argv[2], 0, ~0ul);
	if (argc > 3)
		only = argv[3];
	if (argc > 4)
		symmetric = std::strcmp(argv[4], "all") != 0;
	std::printf("%-18s %-3s %11s %11s %11s %8s %8s %11s %4s\n", "lock", "",
		    "complete", "explored", "blocked", "seconds", "CPU",
		    "a second", "MiB");
	bar<4>("mcs_lock", {1, 1, 1, 1});
	bar<3>("mcs_lock", {2, 2, 2});
	bar<3>("bakery_lock", {2, 2, 2}, false);
	bar<3>("backoff_ttas_lock", {2, 2, 2});
	bar<3>("mcs_lock", {3, 3, 3});
	bar<4>("ticket_lock<u8>", {2, 2, 2, 2});
	return tool::end(0);
}
