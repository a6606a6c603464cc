/* SPDX-License-Identifier: MIT */
#include "timeline.hpp"

#include <model/body.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace model {

std::string text(site s)
{
	if (!s.file)
		return "";

	const char *const slash = std::strrchr(s.file, '/');
	return std::string(slash ? slash + 1 : s.file) + ":" +
	       std::to_string(s.line);
}

/* -- Names ------------------------------------------------------------------
 */

void names::add(const void *object, usize bytes, const char *called)
{
	given.push_back({static_cast<const char *>(object), bytes, called});
}

static std::string offset(const std::string &base, std::ptrdiff_t by)
{
	char hex[32];

	std::snprintf(hex, sizeof(hex), "%c0x%tx", by < 0 ? '-' : '+',
		      by < 0 ? -by : by);
	return by ? base + hex : base;
}

std::string names::of(const void *address) const
{
	const char *const at = static_cast<const char *>(address);
	const char *const start = static_cast<const char *>(world);

	/* The narrowest: a member's name before its owner's. */
	const entry *best = nullptr;
	for (const entry &e : given)
		if (at >= e.at && at < e.at + e.bytes &&
		    (!best || e.bytes < best->bytes))
			best = &e;
	if (best)
		return offset(best->text, at - best->at);
	if (start && at >= start && at < start + world_bytes)
		return offset("world", at - start);
	for (std::size_t c = 0; c < stacks.size(); c++)
		if (at >= stacks[c].low && at < stacks[c].high)
			return offset("stack" + std::to_string(c),
				      at - stacks[c].high);
	if (const detail::block_of b = detail::block_at(address); b.start)
		return offset((b.maker ? "new" + std::to_string(b.maker - 1)
				       : std::string("made")) +
				      "." + std::to_string(b.number),
			      at - static_cast<const char *>(b.start));

	const auto known = std::find(statics.begin(), statics.end(), address);
	const auto number = known - statics.begin();
	if (known == statics.end())
		statics.push_back(address);
	return "static" + std::to_string(number);
}

std::string names::value(u64 v, unsigned bytes) const
{
	if (bytes == sizeof(void *) && v > 4096) {
		const auto *const at =
			reinterpret_cast<const char *>(static_cast<usize>(v));
		const char *const start = static_cast<const char *>(world);
		bool known = start && at >= start && at < start + world_bytes;
		for (const range &r : stacks)
			known |= at >= r.low && at < r.high;
		for (const entry &e : given)
			known |= at >= e.at && at < e.at + e.bytes;
		known |= detail::block_at(at).start != nullptr;
		if (known)
			return "&" + of(at);
	}
	return std::to_string(v);
}

/* -- Rows --------------------------------------------------------------------
 */

/* False: the row reads nothing. */
bool timeline::origin_of(const graph &g, std::size_t of_row, origin &o) const
{
	const row &r = rows[of_row];

	if (!r.read.index || r.read.index > g.length(r.read.cpu))
		return false;

	const event &read = g.at(r.read);
	for (std::size_t i = 0; i < rows.size(); i++) {
		const ref w = rows[i].write;
		if (!w.index || g.at(w).place != read.place)
			continue;
		if (w == read.from)
			o.row = i + 1;
		o.newer += i < of_row && g.at(w).mo > g.position(read);
	}
	return true;
}

unsigned timeline::switches() const
{
	unsigned many = 0;

	for (std::size_t i = 1; i < rows.size(); i++)
		many += rows[i].cpu != rows[i - 1].cpu;
	return many;
}

/* "from row 3" and how many writes behind the newest above this row. */
std::string timeline::source(const graph &g, std::size_t of_row) const
{
	origin o;

	if (!origin_of(g, of_row, o))
		return "";

	std::string from = o.row ? "row " + std::to_string(o.row) : "the start";
	if (o.newer)
		from += ", " + std::to_string(o.newer) +
			(o.newer == 1 ? " write" : " writes") + " behind";
	if (o.row > of_row + 1)
		from += ", below";
	return "reads " + from;
}

std::string timeline::text(const graph &g, const std::string &bug,
			   site where) const
{
	std::vector<std::size_t> widths(g.cpus);
	std::string all, line;
	const auto pad = [&line](std::size_t to) {
		line.resize(std::max(line.size(), to), ' ');
	};

	for (unsigned c = 0; c < g.cpus; c++)
		widths[c] = 6;
	for (const row &r : rows)
		widths[r.cpu] = std::max(widths[r.cpu], r.text.size() + 2);

	std::size_t to = 5;
	for (unsigned c = 0; c < g.cpus; c++) {
		pad(to);
		line += "cpu" + std::to_string(c);
		to += widths[c];
	}
	all = line + "\n";
	for (std::size_t i = 0; i < rows.size(); i++) {
		const row &r = rows[i];
		line = std::to_string(i + 1);
		std::size_t column = 5;
		for (unsigned c = 0; c < r.cpu; c++)
			column += widths[c];
		pad(column);
		line += r.text;
		pad(to);
		line += model::text(r.where);
		const std::string from = source(g, i);
		if (!from.empty()) {
			pad(to + 24);
			line += " " + from;
		}
		while (!line.empty() && line.back() == ' ')
			line.pop_back();
		all += line + "\n";
	}
	line = "BUG: " + bug;
	if (where.file)
		line += " (" + model::text(where) + ")";
	return all + line + "\n";
}

} // namespace model
