/* SPDX-License-Identifier: MIT */
#include "bench.hpp"

#include "../tool.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>

#include <unistd.h>

namespace bench {

namespace {

/* Names hold no quotes; commas would end a cell: tournament_lock<2,4>. */
std::string csv_line(const std::vector<std::string> &cells)
{
	std::string line;

	for (const std::string &cell : cells) {
		const char *quote = cell.find(',') != cell.npos ? "\"" : "";
		line += (line.empty() ? "" : ",") + (quote + cell) + quote;
	}
	return line + "\n";
}

} // namespace

std::string fixed(double value, int digits)
{
	char text[64];

	std::snprintf(text, sizeof(text), "%.*f", digits, value);
	return text;
}

/* -- report -------------------------------------------------------------- */

namespace {

volatile std::sig_atomic_t stopped_by;
report *running;

void note_signal(int number) { stopped_by = number; }

} // namespace

report::report(const std::filesystem::path &file) : path(file)
{
	running = this;
	for (const int number : {SIGINT, SIGTERM, SIGHUP})
		std::signal(number, note_signal);
}

report::~report()
{
	running = nullptr;
	tool::write(path, copy);
}

/* Other threads may run: nothing is destroyed. */
void report::end_if_stopped()
{
	if (!stopped_by)
		return;
	tool::write(path, copy + "\nSTOPPED: the rest was not measured\n");
	tool::flush();
	std::_Exit(128 + stopped_by);
}

void report::say(const std::string &text)
{
	end_if_stopped();
	std::fprintf(stdout, "%s", text.c_str());
	tool::flush();
	copy += text;
}

void report::heading(const std::string &text)
{
	say("\n" + text + "\n" + std::string(text.size(), '-') + "\n");
}

/* -- csv ----------------------------------------------------------------- */

csv::csv(const std::filesystem::path &file, std::vector<std::string> heads)
    : path(file)
{
	lines.push_back(std::move(heads));
}

csv::~csv()
{
	std::string text;

	for (const auto &line : lines)
		text += csv_line(line);
	tool::write(path, text);
}

void csv::add(std::vector<std::string> line)
{
	if (line.size() != lines[0].size())
		std::abort(); /* a row that does not fit its heads */
	lines.push_back(std::move(line));
}

std::string csv::text() const
{
	std::vector<std::size_t> widths(lines[0].size());
	std::string out;

	for (const auto &line : lines)
		for (std::size_t i = 0; i < line.size(); i++)
			widths[i] = std::max(widths[i], line[i].size());
	for (const auto &line : lines) {
		for (std::size_t i = 0; i < line.size(); i++) {
			const std::string pad(widths[i] - line[i].size(), ' ');
			out += i ? "  " + pad + line[i] : line[i] + pad;
		}
		out.erase(out.find_last_not_of(' ') + 1);
		out += '\n';
	}
	return out;
}

std::string markdown(const std::vector<std::string> &heads,
		     const std::vector<cells> &lines)
{
	const auto text = [](const std::vector<std::string> &line) {
		std::string all = "|";

		for (const std::string &cell : line)
			all += " " + cell + " |";
		return all + "\n";
	};
	std::string out = text(heads) +
			  text(std::vector<std::string>(heads.size(), "---"));

	for (const cells &line : lines)
		out += text(line);
	return out;
}

/* -- progress ------------------------------------------------------------ */

void progress(const std::string &what, unsigned done, unsigned all)
{
	static const bool shown = isatty(STDERR_FILENO);

	if (running)
		running->end_if_stopped();
	if (shown)
		std::fprintf(stderr, "\r\033[K%3u%%  %s%s", 100 * done / all,
			     what.c_str(), done == all ? "\r\033[K" : "");
	else if (done == all)
		std::fprintf(stderr, "measured: %s\n", what.c_str());
}

/*
 * bars - what the project has set itself, and whether this run meets it
 *
 * A bar steers the work; it fails no build. Where the quartiles of the ratio
 * lie on both sides of the bar, the verdict says so: another run may say the
 * opposite.
 */

namespace {

constexpr double most_to_xadd = 1.10;
const std::vector<std::string> compact = {"ticket_lock<u8>",
					  "ticket_lock<u16>"};
/* One compare-and-swap over both of its fields. */
constexpr double most_of_queued = 1.15;
const std::string queued = "queued_lock";
const std::string mcs = "mcs_lock";

/* Locks that readers share. */
constexpr double most_to_sequence = 1.10, most_to_exchange = 1.10;
const std::vector<std::string> both_fair = {
	"rw_ticket_lock<u8>", "rw_ticket_lock<u16>", "phase_fair_lock<u8>",
	"phase_fair_lock<u16>"};

struct sheet {
	csv file;

	/* value <= bar (or >=) is met; quartiles [low, high] of the ratio. */
	void judge(const std::string &what, double value, double bar,
		   bool at_most, const series &spread,
		   const std::string &missed = "")
	{
		const double low = quantile(spread, 0.25);
		const double high = quantile(spread, 0.75);
		/* As printed: two digits. */
		const double shown = std::round(value * 100) / 100;
		std::string verdict = (at_most ? shown <= bar : shown >= bar)
					      ? "met"
					      : "missed";

		if (!missed.empty())
			verdict = "missed: " + missed;
		else if (low < bar && bar < high)
			verdict += " (within the noise)";
		file.add({what, fixed(value, 3), fixed(low, 3), fixed(high, 3),
			  verdict});
	}

	void not_judged(const std::string &what, const std::string &why)
	{
		file.add({what, none, none, none, why});
	}
};

/*
 * lock >= bar x every peer that fits, in throughput, at each distance of the
 * cores; the one it does worst against.
 */
template <typename Fits>
void in_throughput(context &c, sheet &s, const std::string &lock,
		   const setting &asked, const std::string &than, double bar,
		   Fits fits)
{
	for (const setting &at : found_as(c.found.loads, asked)) {
		const std::string what =
			lock + ", " + std::to_string(at.threads) +
			" threads, sections of " + std::to_string(at.section) +
			", " + name_of(at.apart) + ": rate >= " + than;
		by_row &found = c.found.loads[at];
		const row *worst = nullptr;
		series worst_ratio;

		for (const row &r : rows_for(at.threads)) {
			if (r.what != kind::peer || !fits(r) ||
			    !found.contains(r.name))
				continue;
			series q = ratios(found[lock].rate, found[r.name].rate);
			if (!worst || median(q) < median(worst_ratio)) {
				worst = &r;
				worst_ratio = std::move(q);
			}
		}
		if (!worst)
			s.not_judged(what, "no such peer here");
		else
			s.judge(what + " (" + worst->name + ")",
				median(worst_ratio), bar, false, worst_ratio);
	}
}

/* mine <= so many times the floor, by the minima. */
void to_floor(sheet &s, const std::string &what, const series &mine,
	      const series &floor, double bar)
{
	if (mine.empty() || floor.empty())
		s.not_judged(what, "no such peer here");
	else
		s.judge(what, least(mine) / least(floor), bar, true,
			ratios(mine, floor));
}

/* mine <= the cheapest of the peers that fit. */
template <typename Fits>
void to_peers(sheet &s, const std::string &what, const series &mine,
	      const std::vector<row> &rows, std::map<std::string, series> &its,
	      Fits fits)
{
	const row *best = nullptr;

	for (const row &r : rows)
		if (r.what == kind::peer && fits(r) &&
		    (!best || least(its[r.name]) < least(its[best->name])))
			best = &r;
	to_floor(s, what + (best ? " (" + best->name + ")" : ""), mine,
		 best ? its[best->name] : series{}, 1);
}

void judge_exclusive(context &c, sheet &s)
{
	auto &alone = c.found.uncontended;
	const series &xadd = alone[bare_xadd_name];

	for (const std::string &lock : compact) {
		to_floor(s, lock + " uncontended <= 1.10 x lock xadd",
			 alone[lock], xadd, most_to_xadd);
		to_peers(s, lock + " uncontended <= every FIFO peer",
			 alone[lock], rows_for(1), alone,
			 [](const row &r) { return r.fair; });
		for (unsigned section : {0u, 50u, 500u})
			in_throughput(c, s, lock, {2, section, 50},
				      "every FIFO peer", 1,
				      [](const row &r) { return r.fair; });
	}
	to_floor(s, queued + " uncontended <= 1.15 x lock xadd", alone[queued],
		 xadd, most_of_queued);
	to_peers(s, mcs + " uncontended <= every MCS peer", alone[mcs],
		 rows_for(1), alone,
		 [](const row &r) { return r.counterpart == mcs; });
}

void judge_sleeping(context &c, sheet &s)
{
	const auto sleeps = [](const row &r) {
		return std::find(sleeping_peers.begin(), sleeping_peers.end(),
				 r.name) != sleeping_peers.end();
	};
	const std::string peers = "every peer that sleeps";

	to_peers(s, "mutex uncontended <= " + peers,
		 c.found.uncontended["mutex"], rows_for(1), c.found.uncontended,
		 sleeps);
	to_peers(s, "shared_mutex read uncontended <= " + peers,
		 c.found.reads["shared_mutex"], shared_rows_for(1),
		 c.found.reads, sleeps);
	to_peers(s, "shared_mutex write uncontended <= " + peers,
		 c.found.writes["shared_mutex"], shared_rows_for(1),
		 c.found.writes, sleeps);
	for (const bar &b : c.found.bars)
		s.judge(b.what, median(b.ratio), b.limit, b.at_most, b.ratio,
			b.missed);
}

void judge_shared(context &c, sheet &s)
{
	auto &reads = c.found.reads;
	auto &sequences = c.found.sequences;

	for (const std::string &lock : both_fair)
		to_peers(s, lock + " read uncontended <= every fair peer",
			 reads[lock], shared_rows_for(1), reads,
			 [](const row &r) { return r.fair; });
	to_floor(s, "seq_lock read <= 1.10 x ck sequence read",
		 sequences["seq_lock read"], sequences["ck sequence read"],
		 most_to_sequence);
	for (const char *floor : {bare_exchange_name, exchange_and_store_name})
		to_floor(s, std::string("reader_lock read <= 1.10 x ") + floor,
			 reads["reader_lock"], reads[floor], most_to_exchange);
}

} // namespace

void print_bars(context &c, unsigned of)
{
	sheet s = {.file = csv(c.file("bars.csv"), {"bar", "ratio", "ratio_q1",
						    "ratio_q3", "verdict"})};

	if (of & judged::exclusive)
		judge_exclusive(c, s);
	if (of & judged::sleeping)
		judge_sleeping(c, s);
	if (of & judged::shared)
		judge_shared(c, s);
	c.out.heading("Bars");
	c.out.say(s.file.text());
}

} // namespace bench
