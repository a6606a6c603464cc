/* SPDX-License-Identifier: MIT */
/*
 * summary - one line per lock
 */
#include "experiments.hpp"

#include <algorithm>
#include <cstdlib>

namespace bench {

namespace {

/* key column and value column of a CSV file, found by their heads. */
std::map<std::string, double> read_column(const std::filesystem::path &file,
					  const std::string &value)
{
	std::map<std::string, double> out;
	const auto lines = read_csv(file);

	if (lines.empty())
		return out;
	const auto head = std::find(lines[0].begin(), lines[0].end(), value);
	const auto column = static_cast<std::size_t>(head - lines[0].begin());
	for (std::size_t i = 1; i < lines.size(); i++)
		if (column < lines[i].size() && lines[i][column] != none)
			out[lines[i][0]] = std::atof(lines[i][column].c_str());
	return out;
}

std::string value_of(const std::map<std::string, double> &from,
		     const std::string &key, int digits)
{
	const auto found = from.find(key);

	return found == from.end() ? none : fixed(found->second, digits);
}

/* Throughput under s, in millions per second. */
std::string rate_of(const context &c, const setting &s, const std::string &key)
{
	const auto load = c.found.loads.find(s);

	if (load == c.found.loads.end())
		return none;
	const auto found = load->second.find(key);
	if (found == load->second.end() || found->second.rate.empty())
		return none;
	return fixed(median(found->second.rate) / 1e6, 2);
}

std::string handoff_of(const context &c, const std::string &key)
{
	const auto found = c.found.handoff.find(key);
	const auto floor = c.found.handoff.find(ping_pong_name);

	if (found == c.found.handoff.end() || floor == c.found.handoff.end())
		return none;
	/* cycles to cycles is rate to rate, the other way round */
	return fixed(median(ratios(floor->second.rate, found->second.rate)), 2);
}

} // namespace

void read_other_programs(context &c)
{
	c.found.code_bytes = read_column(c.file("code.csv"), "hot_bytes");
	c.found.google = read_column(c.file("google.csv"), "to_xadd");
}

void print_summary(context &c)
{
	const auto &floor = c.found.uncontended[bare_xadd_name];
	const unsigned n = c.cores();
	std::vector<unsigned> threads{2};
	std::vector<std::string> heads{"lock",	"bytes",  "code",
				       "/xadd", "google", "/ping-pong"};

	if (n > 2)
		threads.push_back(n);
	threads.push_back(4 * n);
	for (unsigned many : threads)
		heads.push_back("M/s by " + std::to_string(many));
	table t(heads);

	for (const row &r : rows_for(2)) {
		if (r.name == ping_pong_name)
			continue;
		const series &s = c.found.uncontended[r.name];
		std::vector<std::string> cells{
			r.name,
			std::to_string(r.bytes),
			value_of(c.found.code_bytes, r.name, 0),
			fixed(least(s) / least(floor), 2),
			value_of(c.found.google, r.name, 2),
			handoff_of(c, r.name)};
		for (unsigned many : threads)
			cells.push_back(rate_of(c, {many, 50, 50}, r.name));
		t.add(cells);
	}
	c.out.heading("Summary");
	c.out.say(t.text());
	c.out.say(
		"code: bytes of lock() and unlock(). /xadd: uncontended, "
		"minimum of all rounds;\ngoogle: the same ratio by Google "
		"Benchmark, if it ran. /ping-pong: cycles an\nacquisition by 2 "
		"threads that do nothing else. M/s: sections of 50 cycles.\n");
}

} // namespace bench
