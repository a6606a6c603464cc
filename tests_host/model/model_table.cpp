/* SPDX-License-Identifier: MIT */
/*
 * model_table - lock, size, executions and time, one line each
 */
#include "lock_worlds.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using klock::u64;

template <unsigned Cpus>
void rows(const std::vector<unsigned> &sections, u64 limit)
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

} // namespace

int main(int argc, char **argv)
{
	const u64 limit =
		argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20'000'000;

	std::printf("%-30s %-8s %10s %10s %8s\n", "lock", "sections",
		    "complete", "blocked", "seconds");
	rows<2>({2, 2}, limit);
	rows<3>({2, 1, 1}, limit);
	rows<3>({2, 2, 2}, limit);
	rows<4>({1, 1, 1, 1}, limit);
}
