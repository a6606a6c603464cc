/* SPDX-License-Identifier: MIT */
/*
 * model_table - lock, size, executions and time, one line each
 */
#include "lock_worlds.hpp"

#include <cstdio>

namespace {

template <unsigned Cpus>
void rows(const std::vector<unsigned> &sections, u_long limit)
{
	std::string size;

	for (unsigned s : sections)
		size += (size.empty() ? "" : ",") + std::to_string(s);
	klock::selftest::all_locks<Cpus>::for_each([&]<typename Subject>() {
		if (Subject::capacity < Cpus)
			return;
		const model::result r = worlds::exclusion<Subject>(
			{.sections = sections, .max_executions = limit});
		std::printf("%-30s {%s}  %9lu %9lu %8.3f%s%s\n", Subject::name,
			    size.c_str(), r.complete, r.blocked, r.time,
			    r.exhaustive ? "" : "  not all",
			    r.ok() ? "" : "  BUG");
		std::fflush(stdout);
		if (!r.ok())
			std::printf("%s", r.timeline.c_str());
	});
}

} // namespace

int main(int argc, char **argv)
{
	const u_long limit =
		argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20'000'000;

	std::printf("%-30s size     complete   blocked  seconds\n", "lock");
	rows<2>({2, 2}, limit);
	rows<2>({3, 3}, limit);
	rows<3>({1, 1, 1}, limit);
	rows<3>({2, 1, 1}, limit);
	rows<3>({2, 2, 1}, limit);
	rows<3>({2, 2, 2}, limit);
}
