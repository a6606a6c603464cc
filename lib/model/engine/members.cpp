/* SPDX-License-Identifier: MIT */
/*
 * members - reads DWARF as text, and finds members in its types
 *
 * A type is found by a function that returns a pointer to it
 * (detail::pointer_to<T>), and the function by its address, as names of types
 * may be ambiguous. Units without such a function are dropped at once; of the
 * others, global variables are known, too.
 *
 * Source: DWARF Debugging Information Format, version 5: 2.3 (trees of
 * entries), 5.5 (arrays), 5.7 (structures).
 */
#include "members.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace model {

using klock::u64;
using klock::usize;

file_place place_in_file(const void *address)
{
	Dl_info where{};
	link_map *map = nullptr;
	char self[4096] = "";

	if (!::dladdr1(address, &where, reinterpret_cast<void **>(&map),
		       RTLD_DL_LINKMAP) ||
	    !map)
		return {};
	/* The program itself has no name there. */
	if (!map->l_name[0] &&
	    ::readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return {};
	return {self[0] ? self : map->l_name,
		reinterpret_cast<usize>(address) - map->l_addr};
}

namespace {

/* An entry of the tree: a type, a member, a function. */
struct entry {
	u64 offset = 0;
	unsigned depth = 0;
	std::string tag, name;
	u64 type = 0; /* other entries, by their offsets */
	u64 stands_for = 0;
	u64 at = 0; /* of a member, in bytes; of a function */
	u64 bytes = 0;
	u64 many = 0; /* elements of an array */
	/* A bit-field: its first bit, or how many come behind it. */
	u64 bits = 0, first_bit = 0, bits_behind = 0;
	bool is_signed = false;
	bool left_out = false;
};

/* A unit's entries by offset; a parent comes before its children. */
using unit = std::map<u64, entry>;

struct known_types {
	std::vector<unit> units;
	/* From a function's or a variable's address: its unit, and the type. */
	std::map<u64, std::pair<usize, u64>> types;
};

constexpr const char *tags[] = {
	"subprogram", "structure_type", "class_type",	    "union_type",
	"member",     "inheritance",	"array_type",	    "subrange_type",
	"typedef",    "const_type",	"volatile_type",    "atomic_type",
	"base_type",  "pointer_type",	"enumeration_type", "variable"};

bool matters(const char *tag)
{
	for (const char *const one : tags)
		if (!std::strcmp(one, tag))
			return true;
	return false;
}

/* "(data1) 16", "(strp) (offset: 0x52e): world": the text after the form. */
const char *value_of(const char *text)
{
	while (*text == ' ')
		text++;
	while (*text == '(') {
		const char *const end = std::strchr(text, ')');
		if (!end)
			break;
		text = end + 1;
		while (*text == ':' || *text == ' ')
			text++;
	}
	return text;
}

/* "name              : (strp) (offset: 0x52e): world" */
void add_attribute(entry &e, const char *text)
{
	const usize length = std::strspn(text, "abcdefghijklmnopqrstuvwxyz_");
	const std::string_view key(text, length);
	const char *const colon = std::strchr(text + length, ':');

	if (!colon)
		return;
	const char *const value = value_of(colon + 1);
	const u64 number = std::strtoull(value + (*value == '<'), nullptr, 0);
	const char *const address = std::strstr(value, "DW_OP_addr: ");
	/* An expression, as of virtual bases. */
	const bool computed = std::strstr(value, "byte block:");

	if (key == "name")
		e.name = value;
	else if (key == "type")
		e.type = number;
	else if (key == "specification" || key == "abstract_origin")
		e.stands_for = number;
	else if (key == "byte_size")
		e.bytes = number;
	else if (key == "location" && address)
		e.at = std::strtoull(address + 12, nullptr, 16);
	else if (key == "low_pc" || key == "data_member_location")
		e.at = number;
	else if (key == "count")
		e.many = number;
	else if (key == "upper_bound")
		e.many = number + 1;
	else if (key == "bit_size")
		e.bits = number;
	else if (key == "data_bit_offset")
		e.first_bit = number;
	else if (key == "bit_offset") /* from the end: GCC's, of DWARF 4 */
		e.bits_behind = number;
	else if (key == "encoding")
		e.is_signed = number == 5 || number == 6; /* or a char */
	/* Static members; bit-fields, of which a byte has several. */
	e.left_out |= key == "declaration" || key == "bit_size" ||
		      (key == "data_member_location" && computed);
}

const entry *find(const unit &u, u64 offset)
{
	const auto found = u.find(offset);

	return found == u.end() ? nullptr : &found->second;
}

/* The entry that has the name and the type. */
const entry &declared(const unit &u, const entry &defined)
{
	const entry *e = &defined;

	while (const entry *const next = find(u, e->stands_for))
		e = next;
	return *e;
}

/* A unit is complete; keeps it if it has a function that is looked for. */
void end_unit(known_types &known, unit &u)
{
	const usize number = known.units.size();
	const usize before = known.types.size();

	for (const auto &[offset, function] : u) {
		const entry &e = declared(u, function);
		if (function.tag != "subprogram" || !function.at ||
		    e.name.compare(0, 10, "pointer_to"))
			continue;
		if (const entry *const to = find(u, e.type))
			known.types[function.at] = {number, to->type};
	}
	if (known.types.size() != before) {
		for (const auto &[offset, variable] : u)
			if (variable.tag == "variable" && variable.at)
				known.types[variable.at] = {
					number, declared(u, variable).type};
		known.units.push_back(std::move(u));
	}
	u.clear();
}

known_types read_types(const std::string &file)
{
	known_types known;
	unit u;
	entry *e = nullptr;
	char line[4096];
	FILE *const from = ::popen(("LC_ALL=C readelf -W --debug-dump=info '" +
				    file + "' 2>/dev/null")
					   .c_str(),
				   "r");

	while (from && std::fgets(line, sizeof(line), from)) {
		char word[64] = "";
		unsigned depth;
		u64 offset;

		line[std::strcspn(line, "\n")] = 0;
		/* The most frequent lines come first; sscanf() is slow. */
		if (const char *const key = std::strstr(line, " DW_AT_")) {
			if (e)
				add_attribute(*e, key + std::strlen(" DW_AT_"));
		} else if (std::strstr(line, "Unit @ offset")) {
			end_unit(known, u);
		} else if (std::sscanf(line,
				       " <%u><%" SCNx64 ">: Abbrev Number: %*u "
				       "(DW_TAG_%63[a-z_])",
				       &depth, &offset, word) >= 2) {
			e = matters(word) ? &u[offset] : nullptr;
			if (e) {
				e->offset = offset;
				e->depth = depth;
				e->tag = word;
			}
		}
	}
	if (from)
		::pclose(from);
	end_unit(known, u);
	return known;
}

/* -- The way down ------------------------------------------------------------
 */

/* The type itself: no typedef of it, not const. */
const entry *plain_type(const unit &u, u64 type)
{
	const entry *e = find(u, type);

	while (e && (e->tag == "typedef" || e->tag == "const_type" ||
		     e->tag == "volatile_type" || e->tag == "atomic_type"))
		e = find(u, e->type);
	return e;
}

/* Calls visit(entry) for each child, until it returns true. */
template <typename Visit>
bool any_child(const unit &u, const entry &of, Visit visit)
{
	for (auto i = u.find(of.offset); ++i != u.end();) {
		if (i->second.depth <= of.depth)
			break;
		if (i->second.depth == of.depth + 1 && visit(i->second))
			return true;
	}
	return false;
}

usize bytes_of(const unit &u, u64 type)
{
	const entry *const e = plain_type(u, type);
	usize all;

	if (!e || e->tag == "pointer_type")
		return sizeof(void *);
	if (e->tag != "array_type")
		return e->bytes;
	all = bytes_of(u, e->type);
	any_child(u, *e, [&](const entry &length) {
		all *= length.many;
		return false;
	});
	return all;
}

/* The members of atomics and the like are not their user's. */
bool is_a_value(const std::string &type)
{
	for (const char *const one :
	     {"atomic<", "atomic_pair<", "atomic_fields<", "atomic_flag",
	      "atomic_ref<", "plain<", "var<"})
		if (type.compare(0, std::strlen(one), one) == 0)
			return true;
	return false;
}

/* Names that C++ reserves are the library's. */
bool is_hidden(const std::string &name)
{
	return name.empty() ||
	       (name[0] == '_' && name.size() > 1 &&
		(name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'))) ||
	       name.compare(0, 5, "_vptr") == 0;
}

/* The C library's room for a type of its own: pthread_mutex_t's __size. */
bool is_room(const std::string &name, const entry *type)
{
	return name.compare(0, 2, "__") == 0 && type &&
	       type->tag == "array_type";
}

struct search {
	const unit &u;
	bool outermost;
	member found;

	/* False: there is no member with a name. */
	bool look(u64 type, usize offset);
	bool look_in_array(const entry &array, usize offset);
};

bool search::look_in_array(const entry &array, usize offset)
{
	usize element = bytes_of(u, array.type);
	usize left = offset, all = element;
	std::vector<usize> lengths;

	any_child(u, array, [&](const entry &length) {
		lengths.push_back(length.many);
		all *= length.many;
		return false;
	});
	/* Its name is the last one found, or it has none. */
	if (offset >= all || found.rest != offset)
		return false;
	for (const usize length : lengths) {
		all /= length;
		found.path += "[" + std::to_string(left / all) + "]";
		left %= all;
	}
	found.rest = left;
	if (!outermost || left)
		look(array.type, left);
	return true;
}

bool search::look(u64 type, usize offset)
{
	const entry *const e = plain_type(u, type);

	if (!e || is_a_value(e->name))
		return false;
	if (e->tag == "array_type")
		return look_in_array(*e, offset);
	return any_child(u, *e, [&](const entry &m) {
		const bool is_member = m.tag == "member";

		if ((!is_member && m.tag != "inheritance") || m.left_out ||
		    offset < m.at || offset - m.at >= bytes_of(u, m.type))
			return false;
		if (is_room(m.name, plain_type(u, m.type)))
			return false;
		if (!is_member || is_hidden(m.name))
			return look(m.type, offset - m.at);
		if (!found.path.empty())
			found.path += ".";
		found.path += m.name;
		found.rest = offset - m.at;
		const entry *const its = plain_type(u, m.type);
		if (!outermost || found.rest ||
		    (its && its->tag == "array_type"))
			look(m.type, found.rest);
		return true;
	});
}

/* -- Values --------------------------------------------------------------- */

struct value_text {
	const unit &u;
	const words_of &number;

	std::string of(u64 type, u64 value) const;
	std::string members(const entry &of, u64 value) const;
	std::string bit_field(const entry &, u64 value) const;
};

constexpr u64 lowest(u64 value, u64 bits)
{
	return bits < 64 ? value & ((u64{1} << bits) - 1) : value;
}

std::string value_text::bit_field(const entry &m, u64 value) const
{
	const u64 first = m.bits_behind || m.at ? 8 * (m.at + m.bytes) -
							  m.bits_behind - m.bits
						: m.first_bit;

	return std::to_string(lowest(value >> first, m.bits));
}

/* "{tag 97, index -3}"; those of a base class, too. */
std::string value_text::members(const entry &type, u64 value) const
{
	std::string all;

	any_child(u, type, [&](const entry &m) {
		const bool is_base = m.tag == "inheritance";

		if ((!is_base && m.tag != "member") || (m.left_out && !m.bits))
			return false;
		const std::string one = m.bits ? bit_field(m, value)
					       : of(m.type, value >> 8 * m.at);
		all += (all.empty() ? "" : ", ") + m.name +
		       (m.name.empty() ? "" : " ") + one;
		return false;
	});
	return "{" + all + "}";
}

std::string value_text::of(u64 type, u64 value) const
{
	const entry *const e = plain_type(u, type);
	const u64 bytes = bytes_of(u, type);
	const u64 word = lowest(value, 8 * bytes);

	if (!e || bytes > sizeof(word))
		return "?";
	if (e->tag == "structure_type" || e->tag == "class_type")
		return members(*e, word);
	if (e->tag == "array_type" && bytes) {
		const u64 each = bytes_of(u, e->type);
		std::string all;
		for (u64 at = 0; at < bytes; at += each)
			all += (at ? ", " : "") + of(e->type, word >> 8 * at);
		return "{" + all + "}";
	}
	if (e->is_signed) {
		const u64 sign = u64{1} << (8 * bytes - 1);
		return std::to_string(
			static_cast<std::int64_t>((word ^ sign) - sign));
	}
	return number(word, static_cast<unsigned>(bytes));
}

} // namespace

/* The unit and the number in it of this type; no unit: it is not known. */
static std::pair<const unit *, u64> type_at(const void *type)
{
	static auto &files = for_ever<std::map<std::string, known_types>>();
	const file_place place = type ? place_in_file(type) : file_place{};

	if (place.file.empty())
		return {};
	const auto [known, is_new] = files.try_emplace(place.file);
	if (is_new)
		known->second = read_types(place.file);
	const auto found = known->second.types.find(place.at);
	if (found == known->second.types.end())
		return {};
	return {&known->second.units[found->second.first],
		found->second.second};
}

member member_at(const void *type, usize offset, bool outermost)
{
	const auto [in, number] = type_at(type);

	if (!in)
		return {"", offset};
	search s{*in, outermost, {"", offset}};
	s.look(number, offset);
	return s.found;
}

std::string struct_text(const void *type, u64 value, const words_of &number)
{
	const auto [in, of] = type_at(type);

	return in ? value_text{*in, number}.of(of, value) : "";
}

} // namespace model
