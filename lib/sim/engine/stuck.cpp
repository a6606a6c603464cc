/* SPDX-License-Identifier: MIT */
/*
 * stuck - who waits for what, when a run cannot go on
 */
#include "engine.hpp"

#include <cstring>

namespace sim {

namespace {

const char *text(mesi s)
{
	switch (s) {
	case mesi::modified:
		return "M";
	case mesi::exclusive:
		return "E";
	case mesi::shared:
		return "S";
	case mesi::invalid:
		return "I";
	}
	return "?";
}

const char *name_of(const char *file)
{
	const char *const slash = file ? std::strrchr(file, '/') : nullptr;

	return slash ? slash + 1 : file ? file : "?";
}

} // namespace

/* The first few CPUs: a thousand lines would hide them. */
std::string engine::stuck(const char *why) const
{
	constexpr unsigned most = 16;
	std::string out =
		std::string(why) + ", at cycle " + std::to_string(time) + ", " +
		std::to_string(last_progress) + " the last progress\n";
	unsigned told = 0, left = 0;

	for (unsigned c = 0; c < count; c++) {
		const processor &p = cpus[c];

		if (p.finished)
			continue;
		if (told++ >= most) {
			left++;
			continue;
		}
		out += "cpu " + std::to_string(c) + " ";
		if (!p.waits) {
			out += "runs\n";
			continue;
		}
		const line *const l = lines.find(p.waits_at);
		out += std::string(p.waits) + " line " +
		       std::to_string(l ? l->number : 0) + " (" +
		       (l ? text(l->state(c)) : "I") + " in its cache, owner " +
		       (!l || l->owner == nobody ? "nobody"
						 : std::to_string(l->owner)) +
		       "), at " + name_of(p.where.file) + ":" +
		       std::to_string(p.where.line) + " since cycle " +
		       std::to_string(p.since) + ", sees " +
		       std::to_string(p.sees) + "\n";
	}
	if (left)
		out += "and " + std::to_string(left) + " more\n";
	return out;
}

} // namespace sim
