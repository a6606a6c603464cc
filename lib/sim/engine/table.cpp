/* SPDX-License-Identifier: MIT */
#include <sim/table.hpp>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>

namespace sim {

namespace {

[[gnu::format(printf, 1, 2)]] std::string print(const char *format, ...)
{
	char out[256];
	std::va_list with;

	va_start(with, format);
	std::vsnprintf(out, sizeof(out), format, with);
	va_end(with);
	return out;
}

std::string fixed(double v) { return print("%.2f", v); }
std::string whole(double v) { return print("%.0f", v); }
std::string whole(u64 v) { return std::to_string(v); }

template <typename Row>
struct column {
	const char *name;
	int width; /* in the text table; 0: in the CSV only */
	std::function<std::string(const Row &)> of;
};

const std::vector<column<figures>> &columns_of(const figures *)
{
	using f = const figures &;
	static const std::vector<column<figures>> all = {
		{"lock", -28, [](f r) { return r.lock; }},
		{"cpus", 5, [](f r) { return whole(u64{r.cpus}); }},
		{"machine", 0, [](f r) { return r.machine; }},
		{"acquisitions", 0, [](f r) { return whole(r.acquisitions); }},
		{"misses", 9, [](f r) { return fixed(r.misses); }},
		{"transfers", 10, [](f r) { return fixed(r.transfers); }},
		{"upgrades", 9, [](f r) { return fixed(r.upgrades); }},
		{"from_memory", 0, [](f r) { return fixed(r.memory); }},
		{"invalidations", 14, [](f r) { return fixed(r.sent); }},
		{"received_most", 14,
		 [](f r) { return fixed(r.received_most); }},
		{"rmws", 8, [](f r) { return fixed(r.rmws); }},
		{"loads", 0, [](f r) { return fixed(r.loads); }},
		{"stores", 0, [](f r) { return fixed(r.stores); }},
		{"fences", 0, [](f r) { return fixed(r.fences); }},
		{"cycles", 9, [](f r) { return whole(r.cycles); }},
		{"longest_wait", 13, [](f r) { return whole(r.longest_wait); }},
		{"bypasses", 9, [](f r) { return fixed(r.bypasses); }},
		{"bypassed_most", 14,
		 [](f r) { return whole(r.bypassed_most); }},
	};
	return all;
}

const std::vector<column<shared_figures>> &columns_of(const shared_figures *)
{
	using f = const shared_figures &;
	static const std::vector<column<shared_figures>> all = {
		{"lock", -22, [](f r) { return r.lock; }},
		{"cpus", 5, [](f r) { return whole(u64{r.cpus}); }},
		{"writers", 8, [](f r) { return whole(u64{r.writers}); }},
		{"machine", 0, [](f r) { return r.machine; }},
		{"rate", 9, [](f r) { return print("%.3f", r.rate()); }},
		{"readers", 8, [](f r) { return whole(r.most_readers); }},
		{"reads", 0, [](f r) { return whole(r.read.sections); }},
		{"read_cycles", 12, [](f r) { return whole(r.read.cycles); }},
		{"read_misses", 12, [](f r) { return fixed(r.read.misses); }},
		{"read_rmws", 0, [](f r) { return fixed(r.read.rmws); }},
		{"read_wait", 10,
		 [](f r) { return whole(r.read.longest_wait); }},
		{"writes", 0, [](f r) { return whole(r.write.sections); }},
		{"write_cycles", 13, [](f r) { return whole(r.write.cycles); }},
		{"write_misses", 13, [](f r) { return fixed(r.write.misses); }},
		{"write_rmws", 0, [](f r) { return fixed(r.write.rmws); }},
		{"write_wait", 11,
		 [](f r) { return whole(r.write.longest_wait); }},
	};
	return all;
}

template <typename Row>
const std::vector<column<Row>> &columns()
{
	return columns_of(static_cast<const Row *>(nullptr));
}

template <typename Row>
std::string as_csv(const std::vector<Row> &rows)
{
	std::string out;

	for (const column<Row> &c : columns<Row>())
		out += (out.empty() ? "" : ",") + std::string(c.name);
	out += "\n";
	for (const Row &row : rows) {
		std::string cells;

		for (const column<Row> &c : columns<Row>())
			cells += (cells.empty() ? "" : ",") + c.of(row);
		out += cells + "\n";
	}
	return out;
}

template <typename Row>
std::string as_text(const std::vector<Row> &rows)
{
	std::string out;

	for (const column<Row> &c : columns<Row>())
		if (c.width != 0)
			out += print("%*s", c.width, c.name);
	out += "\n";
	for (const Row &row : rows) {
		for (const column<Row> &c : columns<Row>())
			if (c.width != 0)
				out += print("%*s", c.width, c.of(row).c_str());
		out += row.stuck.empty() ? "\n" : "  STUCK\n" + row.stuck;
	}
	return out;
}

} // namespace

std::string csv(const std::vector<figures> &rows) { return as_csv(rows); }
std::string csv(const std::vector<shared_figures> &rows)
{
	return as_csv(rows);
}

std::string text(const std::vector<figures> &rows) { return as_text(rows); }
std::string text(const std::vector<shared_figures> &rows)
{
	return as_text(rows);
}

namespace {

/* Each value once, in the order in which it first comes. */
template <typename T>
void add_once(std::vector<T> &all, const T &v)
{
	if (std::find(all.begin(), all.end(), v) == all.end())
		all.push_back(v);
}

} // namespace

std::string markdown(const std::vector<figures> &rows)
{
	std::vector<std::string> locks;
	std::vector<unsigned> sizes;

	for (const figures &row : rows) {
		add_once(locks, row.lock);
		add_once(sizes, row.cpus);
	}
	std::sort(sizes.begin(), sizes.end());

	std::string head = "| misses per acquisition, by CPUs |";
	std::string rule = "|---|";
	for (unsigned n : sizes) {
		head += print(" %u |", n);
		rule += "---:|";
	}
	std::string out = head + "\n" + rule + "\n";
	for (const std::string &name : locks) {
		out += "| `" + name + "` |";
		for (unsigned n : sizes) {
			const auto row = std::find_if(
				rows.begin(), rows.end(),
				[&](const figures &f) {
					return f.lock == name && f.cpus == n;
				});
			out += row == rows.end() ? " |"
			       : row->misses < 100
				       ? print(" %.1f |", row->misses)
				       : print(" %.0f |", row->misses);
		}
		out += "\n";
	}
	return out;
}

} // namespace sim
