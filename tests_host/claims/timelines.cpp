/* SPDX-License-Identifier: MIT */
/*
 * timelines - prints the two tables of source text 003, from real runs
 */
#include "scripts.hpp"

using namespace claims;
using namespace klock;

namespace {

constexpr unsigned threads = 3;
constexpr int width = 17;

template <typename L>
void print(const char *title, std::span<const cue> script)
{
	const std::vector<row> rows = play<L>(script, threads);
	int time = 1;

	std::printf("%s\n\n%-6s", title, "time");
	for (unsigned i = 0; i < threads; i++)
		std::printf("thread %-*c", width - 7, 'A' + i);
	for (const std::string &head : words<L>::heads())
		std::printf("%13s", head.c_str());
	std::printf("\n");
	for (const row &r : rows) {
		std::printf("t%-5d", time++);
		for (unsigned i = 0; i < threads; i++)
			std::printf("%-*s", width,
				    i == r.who ? r.cell.c_str() : "");
		for (u32 value : r.values)
			std::printf("%13u", value);
		std::printf("\n");
	}
	std::printf("\n");
}

} // namespace

int main()
{
	print<ticket_lock<u8>>("ticket_lock: first come, first served",
			       one_after_another);
	print<tas_lock>("tas_lock: A comes back, B and C starve",
			one_comes_back);
	print<ticket_lock<u8>>("ticket_lock, the same schedule: A has to queue",
			       one_comes_back);
}
