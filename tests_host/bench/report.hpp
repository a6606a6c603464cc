/* SPDX-License-Identifier: MIT */
/*
 * report - one figure a round, what may be said of all rounds, and how it is
 * shown: text for people (to the screen and to report.txt) and CSV files
 *
 * Rounds are interleaved: the k-th figures of two rows were measured next to
 * each other, so that ratios are taken round by round before their median is.
 */
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using series = std::vector<double>;

/*
 * Returns the value below which a part (0 .. 1) of the series lies; 0 if empty.
 */
inline double quantile(series s, double part)
{
	if (s.empty())
		return 0;
	std::sort(s.begin(), s.end());
	const double place = part * static_cast<double>(s.size() - 1);
	const auto below = static_cast<std::size_t>(place);
	const auto above = std::min(below + 1, s.size() - 1);
	const double rest = place - static_cast<double>(below);
	return s[below] + (s[above] - s[below]) * rest;
}

inline double least(const series &s) { return quantile(s, 0); }
inline double most(const series &s) { return quantile(s, 1); }
inline double median(const series &s) { return quantile(s, 0.5); }

/* a / b, round by round. */
inline series ratios(const series &a, const series &b)
{
	series out;

	for (std::size_t i = 0; i < std::min(a.size(), b.size()); i++)
		if (b[i] > 0)
			out.push_back(a[i] / b[i]);
	return out;
}

/* Jain's fairness: 1 = everybody got as much; 1/n = one got all. */
inline double jain(const series &shares)
{
	double sum = 0, squares = 0;

	for (double share : shares) {
		sum += share;
		squares += share * share;
	}
	if (squares <= 0)
		return 0;
	return sum * sum / (static_cast<double>(shares.size()) * squares);
}

/*
 * output - text for people (to the screen and to report.txt) and CSV files
 */

/* Figures as text. none: what was not measured. */
std::string fixed(double value, int digits);
inline const std::string none = "-";

/* A line's cells, one after another. */
struct cells : std::vector<std::string> {
	explicit cells(std::string first) { push_back(std::move(first)); }
	cells &of(std::string text)
	{
		push_back(std::move(text));
		return *this;
	}
	template <std::integral T>
	cells &of(T number)
	{
		return of(std::to_string(number));
	}
	cells &of(double value, int digits) { return of(fixed(value, digits)); }
	/* The median; of what was not measured: none. */
	cells &of(const series &s, int digits)
	{
		return of(s.empty() ? none : fixed(median(s), digits));
	}
	/* Median and quartiles in one cell. */
	cells &summary(const series &s, int digits)
	{
		return of(s.empty() ? none
				    : fixed(median(s), digits) + " (" +
					      fixed(quantile(s, 0.25), digits) +
					      "-" +
					      fixed(quantile(s, 0.75), digits) +
					      ")");
	}
	/* Median and quartiles; of what was not measured: none. */
	cells &spread(const series &s, int digits)
	{
		for (const double part : {0.5, 0.25, 0.75})
			of(s.empty() ? none : fixed(quantile(s, part), digits));
		return *this;
	}
};

/*
 * Prints to the screen and, at the end, writes the same to report.txt. Ctrl-C
 * is an end, too, between two trials.
 */
struct report {
	explicit report(const std::filesystem::path &file);
	~report();
	report(const report &) = delete;
	report &operator=(const report &) = delete;

	void say(const std::string &text);
	void heading(const std::string &text);
	void end_if_stopped();

      private:
	std::filesystem::path path;
	std::string copy;
};

/*
 * A file of figures, and its lines as a table: every experiment has one. It is
 * written at the end, when it is whole.
 */
struct csv {
	csv(const std::filesystem::path &file, std::vector<std::string> heads);
	~csv();
	csv(const csv &) = delete;
	csv &operator=(const csv &) = delete;

	void add(std::vector<std::string> cells);
	/* Columns as wide as they must be; the first is left-aligned. */
	[[nodiscard]] std::string text() const;

      private:
	std::filesystem::path path;
	std::vector<std::vector<std::string>> lines;
};

/* A table for a README: each line has a cell for each of the heads. */
std::string markdown(const std::vector<std::string> &heads,
		     const std::vector<cells> &lines);

/* "12% contended, 2 threads" on a line of its own that is overwritten. */
void progress(const std::string &what, unsigned done, unsigned all);

} // namespace bench
