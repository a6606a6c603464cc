/* SPDX-License-Identifier: MIT */
/*
 * output - text for people (to the screen and to report.txt) and CSV files
 */
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/* Figures as text. none: what was not measured. */
std::string fixed(double value, int digits);
inline const std::string none = "-";

/* Columns of text, as wide as they must be; the first is left-aligned. */
struct table {
	explicit table(std::vector<std::string> heads);
	void add(std::vector<std::string> cells);
	std::string text() const;
	std::string markdown() const;

      private:
	std::vector<std::vector<std::string>> lines;
};

/* What goes to the screen goes to report.txt. */
struct report {
	explicit report(const std::filesystem::path &file);
	~report();
	report(const report &) = delete;
	report &operator=(const report &) = delete;

	void say(const std::string &text);
	void heading(const std::string &text);

      private:
	std::FILE *copy;
};

struct csv {
	csv(const std::filesystem::path &file, std::vector<std::string> heads);
	~csv();
	csv(const csv &) = delete;
	csv &operator=(const csv &) = delete;

	void add(const std::vector<std::string> &cells);

      private:
	std::FILE *file;
	std::size_t width;
};

/* All lines of a CSV file, cells split; empty where there is no such file. */
std::vector<std::vector<std::string>> read_csv(const std::filesystem::path &);

/* "12% contended, 2 threads" on a line of its own that is overwritten. */
void progress(const std::string &what, unsigned done, unsigned all);

} // namespace bench
