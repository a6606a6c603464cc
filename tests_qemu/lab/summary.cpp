/* SPDX-License-Identifier: MIT */
/*
 * summary - the run on one page of the screen
 */
#include "summary.hpp"

#include "machine.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

using klock::u32;
using klock::u64;

constexpr unsigned longest_name = 32;
constexpr unsigned most_rows = 240; /* the largest page has room for fewer */

struct summary_row {
	char name[longest_name];
	bool is_right;
	u32 cpus; /* 0: there are no figures */
	u64 per_second;
	u32 jain_permille;
};

/* Row n at n % most_rows. */
constinit summary_row kept[most_rows] = {};
constinit unsigned count = 0;

unsigned length_of(const char *text)
{
	unsigned length = 0;

	while (text[length])
		length++;
	return length;
}

/* How much of the text is "_lock", which the names of all locks have. */
unsigned needless(const char *text)
{
	const char needless[] = "_lock";
	unsigned at = 0;

	while (needless[at] && text[at] == needless[at])
		at++;
	return needless[at] ? 0 : at;
}

/* Two columns fit into 80 characters so. */
void shorten(char (&to)[longest_name], const char *name)
{
	unsigned length = 0;

	while (*name && length < longest_name - 1) {
		const unsigned skipped = needless(name);

		name += skipped;
		if (!skipped)
			to[length++] = *name++;
	}
	to[length] = 0;
}

/* Of five characters at most: 9999, 1234k, 12345M. */
struct short_number {
	char text[8];

	explicit short_number(u64 of)
	{
		const char *const unit = of < 10'000	   ? ""
					 : of < 10'000'000 ? "k"
							   : "M";
		const u32 by = of < 10'000	 ? 1
			       : of < 10'000'000 ? 1000
						 : 1'000'000;

		boot::format_to(text, sizeof(text), "%u%s",
				boot::div_u64(of, by), unit);
	}
};

/* A line of any length, on as many of the page's as it takes. */
unsigned lines_of(const char *text, unsigned columns)
{
	const unsigned length = length_of(text);

	return length ? (length + columns - 1) / columns : 1;
}

void print_wrapped(const char *text, unsigned columns)
{
	for (unsigned left = lines_of(text, columns); left; left--) {
		boot::print_summary("%.*s\n", columns, text);
		text += left > 1 ? columns : 0;
	}
}

/* The page's table: rows first to count - 1, below each other. */
struct table {
	unsigned first = 0;
	unsigned name = 0; /* the longest one */
	bool has_figures = false;
	unsigned beside = 1;
	unsigned lines = 0;

	table(unsigned columns, unsigned room);

	unsigned rows() const { return count - first; }
	unsigned width() const { return name + (has_figures ? 15 : 6); }
	const summary_row &row(unsigned n) const
	{
		return kept[(first + n) % most_rows];
	}
	void print() const;

      private:
	void print_head() const;
	void print_row(const summary_row &of) const;
};

table::table(unsigned columns, unsigned room)
{
	first = count > most_rows ? count - most_rows : 0;
	for (unsigned n = 0; n < rows(); n++) {
		const unsigned length = length_of(row(n).name);

		name = length > name ? length : name;
		has_figures |= row(n).cpus != 0;
	}
	if (columns >= 2 * width() + 1)
		beside = (columns + 1) / (width() + 1);
	/* One of the lines is the table's head. */
	const unsigned most = room > 1 ? (room - 1) * beside : 0;

	if (rows() > most)
		first = count - most;
	lines = (rows() + beside - 1) / beside;
}

void table::print_head() const
{
	for (unsigned i = 0; i < beside; i++)
		boot::print_summary("%s%-*s %s", i ? " " : "", name,
				    has_figures ? "lock" : "",
				    has_figures ? "CPU per s Jain" : "     ");
	if (first)
		boot::print_summary(" the last %u of %u rows", rows(), count);
	boot::print_summary("\n");
}

void table::print_row(const summary_row &of) const
{
	if (of.is_right && of.cpus)
		boot::print_summary("%-*s %3u %5s %u.%02u", name, of.name,
				    of.cpus, short_number(of.per_second).text,
				    of.jain_permille / 1000,
				    of.jain_permille % 1000 / 10);
	else
		boot::print_summary("%-*s %-*s", name, of.name,
				    has_figures ? 14 : 5,
				    of.is_right ? "ok" : "WRONG");
}

void table::print() const
{
	print_head();
	for (unsigned line = 0; line < lines; line++) {
		for (unsigned n = line; n < rows(); n += lines) {
			boot::print_summary("%s", n == line ? "" : " ");
			print_row(row(n));
		}
		boot::print_summary("\n");
	}
}

void print_words()
{
	boot::print_summary("klock lab:");
	for (const boot::word &word : boot::command_line())
		boot::print_summary(" %s%s%s", word.name, word.value ? "=" : "",
				    word.value ? word.value : "");
	boot::print_summary("\n");
}

} // namespace

void clear_summary() { count = 0; }

void summarise(const char *lock, bool is_right)
{
	summary_row &row = kept[count++ % most_rows];

	row = {};
	shorten(row.name, lock);
	row.is_right = is_right;
}

void summarise_figures(u32 cpus, u64 per_second, u32 jain_permille)
{
	summary_row &row = kept[(count - 1) % most_rows];

	row.cpus = cpus;
	row.per_second = per_second;
	row.jain_permille = jain_permille;
}

void print_summary(const char *verdict)
{
	const boot::page_room page = boot::summary_room();

	if (!page.columns)
		return;
	const char *const machine = machine_line();
	const unsigned others = 1 + lines_of(machine, page.columns) +
				lines_of(verdict, page.columns);

	print_words();
	print_wrapped(machine, page.columns);
	table(page.columns, page.rows > others ? page.rows - others : 0)
		.print();
	print_wrapped(verdict, page.columns);
}

} // namespace lab
