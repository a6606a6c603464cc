/* SPDX-License-Identifier: MIT */
#include "report.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

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

std::vector<std::string> split(const std::string &line)
{
	std::vector<std::string> cells(1);
	bool quoted = false;

	for (char c : line) {
		if (c == '"')
			quoted = !quoted;
		else if (c == ',' && !quoted)
			cells.emplace_back();
		else
			cells.back() += c;
	}
	return cells;
}

} // namespace

std::string fixed(double value, int digits)
{
	char text[64];

	std::snprintf(text, sizeof(text), "%.*f", digits, value);
	return text;
}

/* -- table --------------------------------------------------------------- */

table::table(std::vector<std::string> heads) { lines.push_back(heads); }

void table::add(std::vector<std::string> cells)
{
	cells.resize(lines[0].size());
	lines.push_back(std::move(cells));
}

std::string table::text() const
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

std::string table::markdown() const
{
	std::string out;

	for (std::size_t i = 0; i < lines.size(); i++) {
		out += "|";
		for (const std::string &cell : lines[i])
			out += " " + cell + " |";
		out += "\n";
		if (i)
			continue;
		out += "|";
		for (std::size_t j = 0; j < lines[0].size(); j++)
			out += "---|";
		out += "\n";
	}
	return out;
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
    : file(open_or_end(path)), width(heads.size()), lines(heads)
{
	write_line(file, heads);
}

csv::~csv() { std::fclose(file); }

void csv::add(const std::vector<std::string> &cells)
{
	if (cells.size() != width)
		std::abort(); /* a row that does not fit its heads */
	lines.add(cells);
	write_line(file, cells);
}

std::vector<std::vector<std::string>>
read_csv(const std::filesystem::path &path)
{
	std::vector<std::vector<std::string>> lines;
	std::ifstream file(path);
	std::string line;

	while (std::getline(file, line))
		lines.push_back(split(line));
	return lines;
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

} // namespace bench
