/* SPDX-License-Identifier: MIT */
/*
 * fold - rows of a timeline that its reader does not need
 *
 * CPUs on which the finding does not depend are left out: without them the
 * execution is one, too, and ends in the same. A run of plain accesses to
 * memory that no other CPU touches, as a constructor's, is one row. All else
 * stays, and rows are numbered afterwards.
 */
#include "timeline.hpp"

#include <algorithm>
#include <map>

namespace model {

/*
 * Whether this row would be another without that one: it reads it, or something
 * older. Plain data come with such a read: else they would be a race.
 */
bool timeline::depends(const graph &g, const row &r, const row &that,
		       bool that_is_above) const
{
	if (!r.read.index || r.read.index > g.length(r.read.cpu) ||
	    !that.write.index || that.write.index > g.length(that.write.cpu))
		return false;
	const event &w = g.at(that.write);
	const event &read = g.at(r.read);
	return read.location == w.location &&
	       (read.from == that.write ||
		(that_is_above && w.mo > g.position(read)));
}

/* Adds the CPUs whose rows those of these depend on. */
void timeline::close(const graph &g, std::vector<bool> &taking_part) const
{
	const auto take = [&](std::size_t i) {
		bool grew = false;
		for (std::size_t j = 0; j < rows.size(); j++)
			if (!taking_part[rows[j].cpu] &&
			    depends(g, rows[i], rows[j], j < i))
				grew = taking_part[rows[j].cpu] = true;
		return grew;
	};

	for (bool grew = true; grew;) {
		grew = false;
		for (std::size_t i = 0; i < rows.size(); i++)
			grew |= rows[i].read.index &&
				taking_part[rows[i].cpu] && take(i);
	}
}

void timeline::leave_out(const graph &g, std::vector<bool> taking_part)
{
	close(g, taking_part);
	absent.assign(taking_part.size(), 0);
	is_absent.assign(taking_part.size(), false);
	for (std::size_t c = 0; c < taking_part.size(); c++)
		is_absent[c] = !taking_part[c];
	for (const row &r : rows)
		absent[r.cpu] += is_absent[r.cpu];
	std::erase_if(rows, [this](const row &r) { return is_absent[r.cpu]; });
}

namespace {

/* "new1.3" of "new1.3+0x8", "slot" of "slot[2].next". */
std::string object_of(const std::string &name)
{
	for (std::size_t i = 1; i < name.size(); i++) {
		const bool number = name[i] == '.' && i + 1 < name.size() &&
				    name[i + 1] >= '0' && name[i + 1] <= '9';
		if ((name[i] == '.' && !number) || name[i] == '[' ||
		    name[i] == '+' || name[i] == '-')
			return name.substr(0, i);
	}
	return name;
}

} // namespace

/* One row for some: "5 own writes: new1.3, new1.4". */
timeline::row timeline::folded(std::size_t first, std::size_t behind) const
{
	constexpr std::size_t most = 3;
	std::vector<std::string> objects;
	row one = rows[first];
	bool reads = false;

	for (std::size_t i = first; i < behind; i++) {
		const std::string object = object_of(rows[i].name);
		reads |= !rows[i].writes;
		if (std::find(objects.begin(), objects.end(), object) ==
		    objects.end())
			objects.push_back(object);
	}
	one.text = std::to_string(behind - first) +
		   (reads ? " own accesses: " : " own writes: ");
	for (std::size_t i = 0; i < objects.size() && i < most; i++)
		one.text += (i ? ", " : "") + objects[i];
	if (objects.size() > most)
		one.text += ", ...";
	return one;
}

void timeline::fold_own()
{
	constexpr std::size_t few = 3;
	constexpr usize word = sizeof(u32);
	std::map<usize, unsigned> users; /* of each word, a bit a CPU */
	std::vector<row> all;
	const auto each_word = [](const row &r, auto visit) {
		const usize at = reinterpret_cast<usize>(r.at);
		for (usize w = at / word; w * word < at + r.bytes; w++)
			visit(w);
	};
	const auto is_own = [&](const row &r) {
		bool own = r.plain;
		each_word(r, [&](usize w) { own &= users[w] == 1u << r.cpu; });
		return own;
	};

	for (const row &r : rows)
		each_word(r, [&](usize w) { users[w] |= 1u << r.cpu; });
	/* The last rows may be what is wrong. */
	const std::size_t last = rows.size() - std::min(rows.size(), few);
	for (std::size_t i = 0; i < rows.size();) {
		std::size_t behind = i;
		while (behind < last && rows[behind].cpu == rows[i].cpu &&
		       is_own(rows[behind]))
			behind++;
		if (behind - i >= few)
			all.push_back(folded(i, behind));
		else
			all.insert(all.end(),
				   rows.begin() +
					   static_cast<std::ptrdiff_t>(i),
				   rows.begin() +
					   static_cast<std::ptrdiff_t>(
						   std::max(behind, i + 1)));
		i = std::max(behind, i + 1);
	}
	rows = std::move(all);
}

} // namespace model
