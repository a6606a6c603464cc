/* SPDX-License-Identifier: MIT */
#include "bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <unistd.h>

namespace bench {

namespace {

std::FILE *open_or_end(const std::filesystem::path &file)
{
	std::FILE *f = std::fopen(file.c_str(), "w");

	if (!f) {
		std::perror(file.c_str());
		std::exit(2);
	}
	return f;
}

/* Names hold no quotes; commas would end a cell: tournament_lock<2,4>. */
void write_line(std::FILE *file, const std::vector<std::string> &cells)
{
	const char *separator = "";

	for (const std::string &cell : cells) {
		const bool quote = cell.find(',') != cell.npos;
		std::fprintf(file, quote ? "%s\"%s\"" : "%s%s", separator,
			     cell.c_str());
		separator = ",";
	}
	std::fputc('\n', file);
}

} // namespace

std::string fixed(double value, int digits)
{
	char text[64];

	std::snprintf(text, sizeof(text), "%.*f", digits, value);
	return text;
}

/* -- report -------------------------------------------------------------- */

report::report(const std::filesystem::path &file) : copy(open_or_end(file)) {}

report::~report() { std::fclose(copy); }

void report::say(const std::string &text)
{
	std::fprintf(stdout, "%s", text.c_str());
	std::fflush(stdout);
	std::fprintf(copy, "%s", text.c_str());
}

void report::heading(const std::string &text)
{
	say("\n" + text + "\n" + std::string(text.size(), '-') + "\n");
}

/* -- csv ----------------------------------------------------------------- */

csv::csv(const std::filesystem::path &path, std::vector<std::string> heads)
    : file(open_or_end(path))
{
	write_line(file, heads);
	lines.push_back(std::move(heads));
}

csv::~csv() { std::fclose(file); }

void csv::add(std::vector<std::string> line)
{
	if (line.size() != lines[0].size())
		std::abort(); /* a row that does not fit its heads */
	write_line(file, line);
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

/* -- progress ------------------------------------------------------------ */

void progress(const std::string &what, unsigned done, unsigned all)
{
	static const bool shown = isatty(STDERR_FILENO);

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
		   bool at_most, const series &spread)
	{
		const double low = quantile(spread, 0.25);
		const double high = quantile(spread, 0.75);
		/* As printed: two digits. */
		const double shown = std::round(value * 100) / 100;
		std::string verdict = (at_most ? shown <= bar : shown >= bar)
					      ? "met"
					      : "missed";

		if (low < bar && bar < high)
			verdict += " (within the noise)";
		file.add({what, fixed(value, 3), fixed(low, 3), fixed(high, 3),
			  verdict});
	}

	void not_judged(const std::string &what, const std::string &why)
	{
		file.add({what, none, none, none, why});
	}
};

/* The peer against which the series does worst: fewest cycles. */
template <typename Fits>
const row *cheapest(context &c, Fits fits)
{
	const row *best = nullptr;

	for (const row &r : rows_for(1)) {
		if (r.what != kind::peer || !fits(r))
			continue;
		if (!best || least(c.found.uncontended[r.name]) <
				     least(c.found.uncontended[best->name]))
			best = &r;
	}
	return best;
}

/* lock <= peer in uncontended cycles, by the minima. */
void against(context &c, sheet &s, const std::string &lock, const row *peer,
	     const char *which)
{
	const series &mine = c.found.uncontended[lock];
	const std::string what = lock + " uncontended <= " + which;

	if (!peer || mine.empty()) {
		s.not_judged(what, "no such peer here");
		return;
	}
	const series &its = c.found.uncontended[peer->name];
	s.judge(what + " (" + peer->name + ")", least(mine) / least(its), 1,
		true, ratios(mine, its));
}

/* lock >= every FIFO peer in throughput; the one it does worst against. */
void in_throughput(context &c, sheet &s, const std::string &lock,
		   const setting &at)
{
	const std::string what = lock + ", 2 threads, sections of " +
				 std::to_string(at.section) +
				 ": rate >= every FIFO peer";
	auto &found = c.found.loads[at];
	const row *worst = nullptr;
	series worst_ratio;

	for (const row &r : rows_for(2)) {
		if (r.what != kind::peer || !r.fifo || !found.contains(r.name))
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
		s.judge(what + " (" + worst->name + ")", median(worst_ratio), 1,
			false, worst_ratio);
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

/* A read of a fair lock against the fair peer whose reads are cheapest. */
void fair_reads(context &c, sheet &s)
{
	auto &reads = c.found.reads;
	const shared_row *best = nullptr;

	for (const shared_row &r : shared_rows_for(1))
		if (r.what == kind::peer && r.fair &&
		    (!best || least(reads[r.name]) < least(reads[best->name])))
			best = &r;
	for (const std::string &lock : both_fair)
		to_floor(s,
			 lock + " read uncontended <= every fair peer" +
				 (best ? " (" + best->name + ")" : ""),
			 reads[lock], best ? reads[best->name] : series{}, 1);
}

void judge_shared(context &c, sheet &s)
{
	fair_reads(c, s);
	to_floor(s, "seq_lock read <= 1.10 x ck sequence read",
		 c.found.sequences["seq_lock read"],
		 c.found.sequences["ck sequence read"], most_to_sequence);
	to_floor(s, "reader_lock read <= 1.10 x bare exchange",
		 c.found.reads["reader_lock"],
		 c.found.reads[bare_exchange_name], most_to_exchange);
	to_floor(s, "reader_lock read <= 1.10 x exchange and store",
		 c.found.reads["reader_lock"],
		 c.found.reads[exchange_and_store_name], most_to_exchange);
}

sheet new_sheet(context &c)
{
	return {.file = csv(c.file("bars.csv"), {"bar", "ratio", "ratio_q1",
						 "ratio_q3", "verdict"})};
}

} // namespace

void print_shared_bars(context &c)
{
	sheet s = new_sheet(c);

	judge_shared(c, s);
	c.out.heading("Bars");
	c.out.say(s.file.text());
}

void print_bars(context &c)
{
	sheet s = new_sheet(c);
	const series &xadd = c.found.uncontended[bare_xadd_name];

	for (const std::string &lock : compact) {
		const series &mine = c.found.uncontended[lock];
		s.judge(lock + " uncontended <= 1.10 x lock xadd",
			least(mine) / least(xadd), most_to_xadd, true,
			ratios(mine, xadd));
		against(c, s, lock,
			cheapest(c, [](const row &r) { return r.fifo; }),
			"every FIFO peer");
		for (unsigned section : {0u, 50u, 500u})
			in_throughput(c, s, lock, {2, section, 50});
	}
	s.judge(queued + " uncontended <= 1.15 x lock xadd",
		least(c.found.uncontended[queued]) / least(xadd),
		most_of_queued, true,
		ratios(c.found.uncontended[queued], xadd));
	against(c, s, mcs,
		cheapest(c, [](const row &r) { return r.counterpart == mcs; }),
		"every MCS peer");
	judge_shared(c, s);

	c.out.heading("Bars");
	c.out.say(s.file.text());
}

} // namespace bench
