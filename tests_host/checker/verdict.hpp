/* SPDX-License-Identifier: MIT */
/*
 * verdict - what a test asks of an exploration, and on which line it asked
 */
#pragma once

#include "../pattern.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <string>

namespace verdict {

using klock::u64;
using model::result;

inline bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

/* "store x = 1 relaxed @": without padding, and without where in which file. */
inline std::string without_places(const std::string &timeline)
{
	return pattern::replaced(
		pattern::replaced(timeline, "[a-z_]+\\.[ch]pp:[0-9]+", "@"),
		" +", " ");
}

/* Checks that no bug was found and nothing left out, in so many executions. */
inline void between(u64 least, u64 most, const result &r, int line)
{
	INFO("line " << line << ": " << r.complete << " complete, " << r.blocked
		     << " blocked, " << r.time << " s " << r.message << r.limit
		     << "\n"
		     << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete >= least);
	CHECK(r.complete <= most);
}

inline void right_by(u64 complete, const result &r, int line = __builtin_LINE())
{
	between(complete, complete, r, line);
}

inline void right_by_at_least(u64 complete, const result &r,
			      int line = __builtin_LINE())
{
	between(complete, ~u64{0}, r, line);
}

inline void right(const result &r, int line = __builtin_LINE())
{
	between(0, ~u64{0}, r, line);
}

/* Checks that there is no fault, in more than one execution. */
inline void good(const result &r, int line = __builtin_LINE())
{
	between(2, ~u64{0}, r, line);
}

/* Checks that this was found, and that what is said of it begins so. */
inline void found(model::bug what, const result &r, const char *said = "",
		  int line = __builtin_LINE())
{
	INFO("line " << line << ": " << r.message << r.limit << "\n"
		     << r.timeline);
	CHECK(r.found == what);
	CHECK(r.message.starts_with(said));
}

/* Checks that two explorations of one program say the same. */
inline void alike(const result &a, const result &b, int line = __builtin_LINE())
{
	INFO("line " << line << "\n" << a.timeline << b.timeline);
	CHECK(a.found == b.found);
	CHECK(a.message == b.message);
	CHECK(a.timeline == b.timeline);
	CHECK(a.complete == b.complete);
	CHECK(a.blocked == b.blocked);
	CHECK(a.panicked == b.panicked);
	CHECK(a.exhaustive == b.exhaustive);
	CHECK(a.limit == b.limit);
	CHECK(a.left_out == b.left_out);
}

/* Explores this client of the world: a body, its end, its handler. */
template <typename World, typename... Parts>
auto client(Parts... parts)
{
	return [=](const model::options &how) {
		return model::explore<World>(how, parts...);
	};
}

/*
 * Explores the program as it is, and then with each order weaker by one step:
 * visit(weakening, result). Returns the first result.
 */
template <typename Explore, typename Visit>
result each_weaker(model::options how, Explore explore, Visit visit)
{
	how.record_uses = true;
	const result whole = explore(how);

	for (const model::use &u : whole.uses)
		for (const model::weakening &w : model::weakenings(u)) {
			how.weaken = w;
			const result r = explore(how);
			INFO(model::text(w) << "\n" << r.timeline);
			visit(w, r);
		}
	return whole;
}

/* The operations of calls without a contender. */
template <typename World, typename Calls>
std::string operations(Calls calls)
{
	return model::explore<World>(
		       {.sections = {1}, .max_executions = 1},
		       [calls](World &w, unsigned) { calls(w); },
		       [](World &) { model::check(false, "shown"); })
		.timeline;
}

inline unsigned times(const std::string &text,
		      std::initializer_list<const char *> all)
{
	unsigned n = 0;

	for (const char *what : all)
		for (auto at = text.find(what); at != text.npos;
		     at = text.find(what, at + 1))
			n++;
	return n;
}

/* The number of read-modify-writes in a timeline. */
inline unsigned rmws(const std::string &text)
{
	return times(text, {" cas ", " add ", " exchange ", " fetch_"});
}

} // namespace verdict
