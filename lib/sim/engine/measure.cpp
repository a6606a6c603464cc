/* SPDX-License-Identifier: MIT */
#include <sim/table.hpp>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>

namespace sim::detail {

/* Enough for a steady average; a thousand CPUs are one already. */
u64 acquisitions_for(unsigned cpus) { return cpus <= 128 ? 1024 : 512; }

void tracker::begin_counting()
{
	before = of.total();
	received_before.clear();
	for (unsigned c = 0; c < waiting.size(); c++)
		received_before.push_back(of.of(c).received);
	begun = now();
}

void tracker::arrive(unsigned cpu) { waiting[cpu] = {++arrivals, now(), 0}; }

void tracker::enter(unsigned cpu)
{
	waiter &mine = waiting[cpu];

	progress();
	overlaps += inside++ != 0;
	if (entries == from)
		begin_counting();
	if (entries == to)
		stop();
	if (entries++ >= from) {
		longest_wait = std::max(longest_wait, now() - mine.since);
		bypassed_most = std::max(bypassed_most, mine.bypassed);
		for (waiter &w : waiting)
			if (w.number != 0 && w.number < mine.number) {
				w.bypassed++;
				bypasses++;
				bypassed_most =
					std::max(bypassed_most, w.bypassed);
			}
	}
	mine.number = 0;
}

void tracker::leave() { inside--; }

figures tracker::result(const outcome &out, unsigned cpus) const
{
	figures f;
	const counts did = of.total().since(before);
	const u64 counted = entries > from ? entries - from : 0;
	const double n = counted ? static_cast<double>(counted) : 1.0;
	u64 most = 0;

	for (unsigned c = 0; c < received_before.size(); c++)
		most = std::max(most, of.of(c).received - received_before[c]);
	f.cpus = cpus;
	f.acquisitions = counted;
	f.misses = did.misses / n;
	f.memory = did.memory / n;
	f.transfers = did.transfers / n;
	f.upgrades = did.upgrades / n;
	f.sent = did.sent / n;
	f.received_most = most / n;
	f.loads = did.loads / n;
	f.stores = did.stores / n;
	f.rmws = did.rmws / n;
	f.fences = did.fences / n;
	f.cycles = (out.cycles - begun) / n;
	f.longest_wait = longest_wait;
	f.bypasses = bypasses / n;
	f.bypassed_most = bypassed_most;
	f.overlaps = overlaps;
	f.stuck = out.stuck;
	return f;
}

} // namespace sim::detail

namespace sim::detail {

namespace {

/* With 1 % writers, some tens of writes must be left to average over. */
u64 sections_for(unsigned cpus) { return std::max(2u, 2048 / cpus); }

} // namespace

shared_tracker::shared_tracker(const simulator &s, const shared_workload &l,
			       bool keeps_writers_out)
    : load(l), sections(l.sections ? l.sections : sections_for(l.cpus)),
      start(l.cpus * first_read), of(s), readers_count(keeps_writers_out)
{
}

reading shared_tracker::look(unsigned cpu) const
{
	const counts &so_far = of.of(cpu);

	return {now(), so_far.misses, so_far.rmws};
}

void shared_tracker::enter(bool writes, u64 since)
{
	u64 &longest = did[writes].longest_wait;

	progress();
	overlaps += writers != 0 && (writes || readers_count);
	overlaps += writes && readers_count && readers != 0;
	(writes ? writers : readers)++;
	most_readers = std::max(most_readers, readers);
	longest = std::max(longest, now() - since);
}

void shared_tracker::leave(bool writes) { (writes ? writers : readers)--; }

void shared_tracker::note(bool writes, const reading &before,
			  const reading &after)
{
	spending &sum = did[writes];

	sum.sections++;
	sum.cycles += after.cycles - before.cycles - load.inside;
	sum.misses += after.misses - before.misses;
	sum.rmws += after.rmws - before.rmws;
}

shared_figures shared_tracker::result(const outcome &out) const
{
	shared_figures f;
	const u64 n = did[false].sections + did[true].sections;
	const auto averaged = [](spending s) {
		const double by = s.sections ? s.sections : 1.0;

		s.cycles /= by;
		s.misses /= by;
		s.rmws /= by;
		return s;
	};

	f.cpus = load.cpus;
	f.writers = load.writers;
	f.read = averaged(did[false]);
	f.write = averaged(did[true]);
	f.cycles = n ? static_cast<double>(out.cycles - start) / n : 0;
	f.most_readers = most_readers;
	f.overlaps = overlaps;
	f.stuck = out.stuck;
	return f;
}

} // namespace sim::detail

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
