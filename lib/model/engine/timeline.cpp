/* SPDX-License-Identifier: MIT */
#include "timeline.hpp"
#include "members.hpp"

#include <model/body.hpp>
#include <model/model.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>

namespace model {

std::string text(site s)
{
	if (!s.file)
		return "";

	const char *const slash = std::strrchr(s.file, '/');
	return std::string(slash ? slash + 1 : s.file) + ":" +
	       std::to_string(s.line);
}

std::string text(const result &r)
{
	const std::string many =
		std::to_string(r.complete) +
		(r.complete == 1 ? " execution\n" : " executions\n");

	if (!r.ok())
		return r.timeline.empty() ? "BUG: " + r.message + "\n"
					  : r.timeline;
	if (!r.complete)
		return r.timeline + "nothing is shown: no execution came to "
				    "its end\n";
	return r.timeline + (r.exhaustive ? "ok" : "no bug") +
	       (r.atomics_only ? " (atomics only)" : "") +
	       (r.exhaustive ? ", exhaustive, " : ", not exhaustive, ") + many;
}

/* -- Names ------------------------------------------------------------------
 */

void names::add(const void *object, usize bytes, const char *called,
		const void *type)
{
	given.push_back(
		{static_cast<const char *>(object), bytes, called, type});
}

static std::string offset(const std::string &base, std::ptrdiff_t by)
{
	char hex[32];

	std::snprintf(hex, sizeof(hex), "%c0x%tx", by < 0 ? '-' : '+',
		      by < 0 ? -by : by);
	return by ? base + hex : base;
}

/* -- Symbols: of a program that was not stripped, if there is an nm -- */

struct symbol {
	usize at, bytes;
	std::string name;
	bool is_function;
};

/* The variables and functions of a program or library, as nm prints them. */
static std::vector<symbol> symbols_of(const std::string &program)
{
	std::vector<symbol> found;
	char line[4096];
	FILE *const nm =
		::popen(("nm -SC '" + program + "' 2>/dev/null").c_str(), "r");

	while (nm && std::fgets(line, sizeof(line), nm)) {
		std::uint64_t at, bytes;
		char kind;
		int name;

		if (std::sscanf(line, "%" SCNx64 " %" SCNx64 " %c %n", &at,
				&bytes, &kind, &name) != 3 ||
		    !std::strchr("bBdDgGrRsSuvVtTwWi", kind))
			continue;
		const bool is_function = std::strchr("tTwWi", kind);
		std::string text = &line[name];
		text.resize(text.find_last_not_of('\n') + 1);
		/* Namespaces are cut off, as folders are in places. */
		if (const auto last = text.rfind("::");
		    last != text.npos && text.find('<') == text.npos &&
		    !is_function)
			text.erase(0, last + 2);
		found.push_back({at, bytes, text, is_function});
	}
	if (nm)
		::pclose(nm);
	return found;
}

/* "lock.next", "slot[2]", "lock+0x8"; in a world, a member's bare name. */
static std::string part_of(const std::string &base, bool is_world,
			   const void *type, std::ptrdiff_t by, bool outermost)
{
	const member m = member_at(type, static_cast<usize>(by), outermost);
	std::string name = base;

	if (is_world && !m.path.empty() && m.path[0] != '[')
		name = m.path;
	else if (!m.path.empty())
		name += (m.path[0] == '[' ? "" : ".") + m.path;
	return offset(name, static_cast<std::ptrdiff_t>(m.rest));
}

/* The symbol at a place in a file; null: none is there. */
static const symbol *symbol_at(const file_place &place, bool is_function)
{
	static auto &tables =
		for_ever<std::map<std::string, std::vector<symbol>>>();

	if (place.file.empty())
		return nullptr;
	const auto [table, is_new] = tables.try_emplace(place.file);
	if (is_new)
		table->second = symbols_of(place.file);

	for (const symbol &s : table->second)
		if (s.is_function == is_function && place.at >= s.at &&
		    place.at < s.at + s.bytes)
			return &s;
	return nullptr;
}

/* "flag", "queue.head", "queue+0x8"; empty if no symbol is there. */
static std::string variable_at(const char *address, bool outermost)
{
	const file_place place = place_in_file(address);
	const symbol *const s = symbol_at(place, false);

	return s ? part_of(s->name, false, address - (place.at - s->at),
			   static_cast<std::ptrdiff_t>(place.at - s->at),
			   outermost)
		 : "";
}

/* "cpu1's depth"; empty: it is no thread_local. */
std::string names::of_cpu(const char *at) const
{
	const unsigned owner = locals->owner(at);

	if (owner == thread_locals::none)
		return "";
	const usize offset = locals->in_program(at);
	const std::string program =
		place_in_file(reinterpret_cast<const void *>(&symbol_at)).file;
	const symbol *const s = symbol_at({program, offset}, false);
	return (owner == locals->maker() ? "main"
					 : "cpu" + std::to_string(owner)) +
	       "'s " +
	       (s ? model::offset(s->name,
				  static_cast<std::ptrdiff_t>(offset - s->at))
		  : "thread_local");
}

std::string function_at(const void *address)
{
	const symbol *const s = symbol_at(place_in_file(address), true);

	return s ? s->name : "";
}

std::string names::of(const void *address, bool outermost) const
{
	const char *const at = static_cast<const char *>(address);
	const char *const start = static_cast<const char *>(world);

	/* The smallest named object: a member's name before its owner's. */
	const entry *best = nullptr;
	for (const entry &e : given)
		if (at >= e.at && at < e.at + e.bytes &&
		    (!best || e.bytes < best->bytes))
			best = &e;
	if (best && outermost && at == best->at)
		return best->text;
	if (best)
		return part_of(best->text, false, best->type, at - best->at,
			       outermost);
	if (start && at >= start && at < start + world_bytes)
		return part_of("world", true, world_type, at - start,
			       outermost);
	for (std::size_t c = 0; c < stacks.size(); c++)
		if (at >= stacks[c].low && at < stacks[c].high)
			return offset("stack" + std::to_string(c),
				      at - stacks[c].high);
	if (const detail::block_of b = detail::block_at(address); b.start)
		return offset((b.maker ? "new" + std::to_string(b.maker - 1)
				       : std::string("made")) +
				      "." + std::to_string(b.number),
			      at - static_cast<const char *>(b.start));

	if (const std::string name = of_cpu(at); !name.empty())
		return name;
	if (const std::string name = variable_at(at, outermost); !name.empty())
		return name;

	const std::string kind = is_explorers(at)		  ? "local"
				 : place_in_file(at).file.empty() ? "heap"
								  : "static";
	auto &like = unnamed[kind];
	const auto known = std::find(like.begin(), like.end(), address);
	const auto number = known - like.begin();
	if (known == like.end())
		like.push_back(address);
	return kind + std::to_string(number);
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
		known |= locals->owner(at) != thread_locals::none;
		if (known)
			return "&" + of(at, true);
	}
	return std::to_string(v);
}

std::string names::value_at(const void *at, u64 v, unsigned bytes) const
{
	const auto found = structs.find(at);

	if (found == structs.end())
		return value(v, bytes);
	const auto [type, bits] = found->second;
	std::string all = struct_text(type, v, [this](u64 part, unsigned size) {
		return value(part, size);
	});
	if (!all.empty())
		return all;
	for (unsigned i = 0; i < bytes; i++) {
		char byte[8];
		std::snprintf(byte, sizeof(byte), "%s%02x", i ? " " : "",
			      static_cast<unsigned>(v >> 8 * i & 0xff));
		all += bits >> 8 * i & 0xff ? byte : " ..";
	}
	return all;
}

/* -- Rows --------------------------------------------------------------------
 */

bool timeline::aloud = false;

/* False: the row reads nothing. */
bool timeline::origin_of(const graph &g, std::size_t of_row, origin &o) const
{
	const row &r = rows[of_row];

	if (!r.read.index || r.read.index > g.length(r.read.cpu))
		return false;

	const event &read = g.at(r.read);
	unsigned newest = 0;
	for (std::size_t i = 0; i < rows.size(); i++) {
		const ref w = rows[i].write;
		if (!w.index || g.at(w).location != read.location)
			continue;
		if (w == read.from)
			o.row = i + 1;
		if (i >= of_row || g.at(w).mo <= g.position(read))
			continue;
		o.newer++;
		if (g.at(w).mo > newest) {
			newest = g.at(w).mo;
			o.newest = i + 1;
		}
	}
	return true;
}

/* The write above this row that comes next after this row's in modification
 * order. */
std::size_t timeline::overwritten_by(const graph &g, std::size_t of_row) const
{
	const ref mine = rows[of_row].write;
	std::size_t next = 0;
	unsigned least = ~0u;

	if (!mine.index || mine.index > g.length(mine.cpu))
		return 0;
	for (std::size_t i = 0; i < of_row; i++) {
		const ref w = rows[i].write;
		if (w.index && g.at(w).location == g.at(mine).location &&
		    g.at(w).mo > g.at(mine).mo && g.at(w).mo < least) {
			least = g.at(w).mo;
			next = i + 1;
		}
	}
	return next;
}

std::string timeline::row_of(ref event) const
{
	for (std::size_t i = 0; i < rows.size(); i++)
		if (event.index &&
		    (rows[i].read == event || rows[i].write == event))
			return std::to_string(i + 1);
	return {};
}

unsigned timeline::switches() const
{
	unsigned many = 0;

	for (std::size_t i = 1; i < rows.size(); i++)
		many += rows[i].cpu != rows[i - 1].cpu;
	return many;
}

/*
 * "reads row 3", and how many writes above this row are newer. "counts before
 * row 2": a later read may find row 2's write.
 */
std::string timeline::source(const graph &g, std::size_t of_row) const
{
	const std::size_t next = overwritten_by(g, of_row);
	const std::string order =
		next ? "counts before row " + std::to_string(next) : "";
	origin o;

	if (!origin_of(g, of_row, o))
		return order;

	std::string from = o.row ? "row " + std::to_string(o.row) : "the start";
	if (o.newer)
		from += ", " + std::to_string(o.newer) +
			(o.newer == 1 ? " write" : " writes") + " behind row " +
			std::to_string(o.newest);
	if (o.row > of_row + 1)
		from += ", below";
	return "reads " + from + (next ? ", " + order : "");
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
		widths[c] = shows(c) ? 6 : 0;
	for (const row &r : rows)
		widths[r.cpu] = std::max(widths[r.cpu], r.text.size() + 2);

	std::size_t to = 5;
	for (unsigned c = 0; c < g.cpus; c++) {
		if (!shows(c))
			continue;
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
	for (unsigned c = 0; c < absent.size(); c++)
		if (absent[c])
			all += "Not shown: rows of cpu" + std::to_string(c) +
			       " (" + std::to_string(absent[c]) +
			       "), on which none above depends\n";
	line = "BUG: " + bug;
	if (where.file)
		line += " (" + model::text(where) + ")";
	return all + line + "\n";
}

/*
 * timeline_svg - one run as a picture
 *
 * Each CPU has a column, each operation a row, as in the text. An arrow goes
 * from a write to each row that reads it. A read of an older write, or of a
 * write further down, is red, and so is its arrow; a broken arrow then comes
 * from the newest write, which the read missed.
 *
 * Source: Scalable Vector Graphics (SVG) 1.1, W3C: 8.3 (paths), 9.2 (rect),
 * 10.4 (text), 11.6 (markers).
 */

namespace {

/* In pixels; the width of a letter of the fixed font. */
constexpr double letter = 7.3;
constexpr int row_height = 30;
constexpr int box_height = 20;
constexpr int left_margin = 44;
constexpr int top_margin = 40;
constexpr int gap = 34; /* between columns, where arrows turn */

std::string escaped(const std::string &text)
{
	std::string all;

	for (const char c : text)
		switch (c) {
		case '&':
			all += "&amp;";
			break;
		case '<':
			all += "&lt;";
			break;
		case '>':
			all += "&gt;";
			break;
		case '"':
			all += "&quot;";
			break;
		default:
			all += c;
		}
	return all;
}

std::string number(int v) { return std::to_string(v); }

int wide(const std::string &text)
{
	return static_cast<int>(static_cast<double>(text.size()) * letter) + 12;
}

std::string text_at(int x, int y, const char *kind, const std::string &what)
{
	return "<text class=\"" + std::string(kind) + "\" x=\"" + number(x) +
	       "\" y=\"" + number(y) + "\">" + escaped(what) + "</text>\n";
}

std::string box_at(int x, int y, int width, bool stale)
{
	return "<rect class=\"" + std::string(stale ? "stale" : "step") +
	       "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
	       number(width) + "\" height=\"" + number(box_height) +
	       "\" rx=\"3\"/>\n";
}

/* The sides at which an arrow leaves and arrives: 1 is the right, -1 the
 * left. */
struct arrow_end {
	int x, y, side;
};

std::string arrow(arrow_end from, arrow_end to, bool stale,
		  const char *kind = nullptr)
{
	constexpr int bend = gap - 6;

	return "<path class=\"" +
	       std::string(kind	   ? kind
			   : stale ? "old"
				   : "reads") +
	       "\" d=\"M " + number(from.x) + " " + number(from.y) + " C " +
	       number(from.x + from.side * bend) + " " + number(from.y) + ", " +
	       number(to.x + to.side * bend) + " " + number(to.y) + ", " +
	       number(to.x) + " " + number(to.y) + "\" marker-end=\"url(#" +
	       (stale ? "red" : "grey") + ")\"/>\n";
}

const char *const head =
	"<style>text { font: 12px monospace; } .step { fill: #eef3fa; stroke: "
	"#8aa; } .stale { fill: #fdd; stroke: #c00; } .reads, .old { fill: "
	"none; stroke: #889; } .old { stroke: #c00; stroke-width: 2; } .missed "
	"{ fill: none; stroke: "
	"#c00; stroke-dasharray: 4 3; } .cpu { "
	"font-weight: bold; } .place { fill: #777; } .bug { fill: #c00; "
	"font-weight: bold; }</style>\n"
	"<defs>"
	"<marker id=\"grey\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
	"markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M 0 0 "
	"L 8 4 L 0 8 z\" fill=\"#889\"/></marker>"
	"<marker id=\"red\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
	"markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path d=\"M 0 0 "
	"L 8 4 L 0 8 z\" fill=\"#c00\"/></marker></defs>\n";

int top_of(std::size_t row)
{
	return top_margin + static_cast<int>(row) * row_height;
}

} // namespace

std::string timeline::svg(const graph &g, const std::string &bug,
			  site where) const
{
	std::vector<int> widths(g.cpus, 60), columns(g.cpus);
	int right = left_margin, places = 0;
	std::string body, arrows;

	for (const row &r : rows) {
		widths[r.cpu] = std::max(widths[r.cpu], wide(r.text));
		places = std::max(places, wide(model::text(r.where)));
	}
	for (unsigned c = 0; c < g.cpus; c++) {
		if (!shows(c))
			continue;
		columns[c] = right;
		right += widths[c] + gap;
		body += text_at(columns[c], top_margin - 16, "cpu",
				"cpu" + std::to_string(c));
	}

	for (std::size_t i = 0; i < rows.size(); i++) {
		const row &r = rows[i];
		const int y = top_of(i), middle = y + box_height / 2;
		origin o;
		const bool reads = origin_of(g, i, o);

		const bool odd = o.newer != 0 || o.row > i + 1;

		body += text_at(8, y + 14, "place", std::to_string(i + 1));
		body += box_at(columns[r.cpu], y, widths[r.cpu], odd);
		body += text_at(columns[r.cpu] + 6, y + 14, "what", r.text);
		body += text_at(right, y + 14, "place", model::text(r.where));
		if (!reads)
			continue;

		const auto end_at = [&](unsigned c, int at, bool right_side) {
			return arrow_end{columns[c] +
						 (right_side ? widths[c] : 0),
					 at, right_side ? 1 : -1};
		};

		const auto reaches = [&](std::size_t row, const char *kind) {
			const unsigned by = rows[row - 1].cpu;
			const int from = top_of(row - 1) + box_height / 2;

			arrows += arrow(end_at(by, from, by <= r.cpu),
					end_at(r.cpu, middle, by >= r.cpu), odd,
					kind);
		};
		if (o.row)
			reaches(o.row, nullptr);
		if (o.newest)
			reaches(o.newest, "missed");
	}
	std::string last = "BUG: " + bug;
	if (where.file)
		last += " (" + model::text(where) + ")";
	body += text_at(8, top_of(rows.size()) + 16, "bug", last);

	const int width = std::max(right + places, wide(last) + 16);
	return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
	       number(width) + "\" height=\"" +
	       number(top_of(rows.size()) + 36) + "\">\n" + head +
	       "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
	       body + arrows + "</svg>\n";
}

} // namespace model
