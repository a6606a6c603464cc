/* SPDX-License-Identifier: MIT */
/*
 * counted - what print_counts.hpp shows, for tests
 */
#pragma once

#include <klock/print_counts.hpp>

#include <catch.hpp>

#include <string>
#include <vector>

namespace unit {

/* In the table for the length of a block. */
template <typename L>
struct listed : L {
	listed() { this->list_counts(); }
	~listed() { this->forget_counts(); }
};

inline std::vector<klock::count_view> all_counts()
{
	std::vector<klock::count_view> all;

	CHECK(klock::for_each_count(
		[&](const klock::count_view &one) { all.push_back(one); }));
	return all;
}

inline std::vector<std::string> table()
{
	std::vector<std::string> lines;

	klock::print_counts([&](const char *line) { lines.push_back(line); });
	return lines;
}

inline std::string all_of_table()
{
	std::string text;

	for (const std::string &line : table())
		text += line + "\n";
	return text;
}

} // namespace unit
