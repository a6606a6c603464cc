/* SPDX-License-Identifier: MIT */
#include "relaxed.hpp"
#include "consistency.hpp"
#include "lines.hpp"
#include "loops.hpp"

#include <cstring>

namespace model {

namespace {

/* The lines "file.hpp:12" and the address of the call agree. */
bool names_line(const std::string &entry, site s)
{
	const std::string all =
		s.file ? std::string(s.file) + ":" + std::to_string(s.line)
		       : std::string();
	const auto behind = all.size() - entry.size();

	return all.size() >= entry.size() &&
	       all.compare(behind, entry.size(), entry) == 0 &&
	       (!behind || all[behind - 1] == '/' || entry[0] == '/');
}

} // namespace

bool relaxed_data::start()
{
	detail::intends =
		!task.given->relaxed.empty() || task.given->relaxed_volatile;
	if (!detail::intends)
		return false;
	matched.assign(task.given->relaxed.size(), false);
	volatile_matched = false;
	lines.clear();
	split.clear();
	return true;
}

void relaxed_data::start_run(unsigned count)
{
	if (!detail::intends)
		return;
	for (unsigned c = 0; c < count; c++) {
		of[c].accesses = false;
		of[c].statements.assign(4, {});
	}
}

void relaxed_data::name(const void *object, usize bytes, const char *text)
{
	for (usize i = 0; i < task.given->relaxed.size(); i++)
		if (task.given->relaxed[i] == text)
			named.push_back({static_cast<const char *>(object),
					 bytes, static_cast<u8>(i)});
}

/* The entry that names this line; none: there is none. */
unsigned relaxed_data::entry_of(const void *caller)
{
	const auto known = lines.find(caller);
	if (known != lines.end())
		return known->second;

	const site called = line_of_return(caller);
	const bool fixed = !is_of_library(called);
	const site s = memory.line_of_caller(called);
	unsigned found = none;
	for (unsigned i = 0; i < task.given->relaxed.size() && found == none;
	     i++)
		if (names_line(task.given->relaxed[i], s))
			found = i;
	if (fixed)
		lines.emplace(caller, found);
	return found;
}

bool relaxed_data::match(const void *at, usize bytes, const void *caller,
			 bool is_volatile)
{
	const char *const first = static_cast<const char *>(at);

	if (is_volatile && task.given->relaxed_volatile)
		return volatile_matched = true;
	for (const named_range &r : named)
		if (first < r.at + r.bytes && first + bytes > r.at)
			return matched[r.entry] = true;
	/* A line is named for what it shares: a copy is the caller's own, and
	 * the compiler does not tell of each access to it. */
	if (memory.is_on_own_stack(at))
		return false;
	const unsigned entry = entry_of(caller);
	return entry != none && (matched[entry] = true);
}

std::string relaxed_data::notes() const
{
	std::string did, missed;

	for (usize i = 0; detail::intends && i < matched.size(); i++)
		(matched[i] ? did : missed) += ", " + task.given->relaxed[i];
	if (detail::intends && task.given->relaxed_volatile)
		(volatile_matched ? did : missed) += ", volatile";
	if (!did.empty())
		did = "NOTE: taken as relaxed atomics: " + did.substr(2) + "\n";
	if (!missed.empty())
		did += "NOTE: to be taken as relaxed atomics, but not met: " +
		       missed.substr(2) + "\n";
	return did;
}

/* -- Accesses -------------------------------------------------------------- */

/* An interrupt's handler has statements of its own. */
relaxed_data::statement &relaxed_data::now()
{
	std::vector<statement> &all = of[cpus.current()].statements;
	const unsigned handlers = irqs.at(cpus.current()).handlers;

	if (handlers >= all.size())
		detail::refuse("relaxed data in handlers that nest so deep",
			       nullptr);
	return all[handlers];
}

/* The last that is shown is hidden first. */
void relaxed_data::statement::hide() const
{
	for (usize i = count; i-- > 0;)
		std::memcpy(of[i].at, &of[i].was, of[i].bytes);
}

static u64 word_of(const void *at, usize bytes)
{
	u64 word = 0;

	std::memcpy(&word, at, bytes);
	return word;
}

static window whole_word(const void *at, usize bytes)
{
	return {at, static_cast<u8>(bytes), 0, static_cast<u8>(8 * bytes),
		0,  hooked::holds::other};
}

/* The locations that the accessed bytes of this naturally aligned word are. */
void relaxed_data::split_access(const char *word, usize size, const char *first,
				const char *last)
{
	statement &s = now();
	const bool whole = first <= word && last >= word + size;

	if (last <= word || first >= word + size)
		return;
	if (!whole && !split.contains({word, size})) {
		const object *const o = memory.find(word);
		const bool known = o && o->location >= 0 && o->bytes == size;

		if (!reports.has_finding())
			split.emplace(word, size);
		task.run_all |= known;
		if (known || reports.has_finding())
			cpus.stop();
	}
	if (whole && !split.contains({word, size})) {
		if (s.count == s.most)
			detail::refuse("an access to more relaxed data than "
				       "is followed at once",
				       s.caller);
		s.of[s.count++] = {const_cast<char *>(word),
				   static_cast<u8>(size), 0, s.writes, 0};
		return;
	}
	split_access(word, size / 2, first, last);
	split_access(word + size / 2, size / 2, first, last);
}

/* The oldest value that this CPU may read: for a bit-field's neighbours. */
u64 relaxed_data::oldest(const char *at, usize bytes)
{
	const object *const o = memory.find(at);

	if (!o || o->location < 0 || o->bytes != bytes)
		return word_of(at, bytes);
	const unsigned location = static_cast<unsigned>(o->location);
	const clock seen =
		cpus.ran()
			? work.running().sb[cpus.current()][cpus.ran() - 1u].hb
			: clock{};
	return branches.word_at(location, floor(work.running(), location, seen),
				whole_word(at, bytes));
}

/*
 * Accesses relaxed data in a statement that begins or goes on. joined: with the
 * values that are already in memory.
 */
void relaxed_data::touch(const void *at, usize bytes, bool writes,
			 const void *caller)
{
	statement &s = now();
	const char *const first = static_cast<const char *>(at);
	const usize before = s.count;

	s.hide();
	s.caller = caller;
	s.writes = writes;
	s.bytes = bytes;
	const usize in_word = reinterpret_cast<usize>(first) & 7;
	for (const char *word = first - in_word; word < first + bytes;
	     word += 8)
		split_access(word, 8, first, first + bytes);
	for (usize i = before; i < s.count; i++) {
		word &w = s.of[i];
		if (writes) {
			w.shows = oldest(w.at, w.bytes);
			continue;
		}
		loops.leave_no_traces(engine_depth);
		of[cpus.current()].accesses = true;
		w.shows = loops.hooks().load(whole_word(w.at, w.bytes),
					     order::relaxed,
					     memory.place_of_return(caller));
		of[cpus.current()].accesses = false;
	}
	for (usize i = 0; i < s.count; i++) {
		word &w = s.of[i];
		w.was = word_of(w.at, w.bytes);
		std::memcpy(w.at, &w.shows, w.bytes);
	}
	s.settled = false;
}

/*
 * For a copy, GCC reports the store first, then the load, and then copies: so
 * the value to be stored is not there yet. Two statements in one line look the
 * same if the first stores the value that was there.
 */
bool relaxed_data::copies(usize bytes, bool writes, const void *caller)
{
	const statement &s = now();

	if (writes || !s.writes || s.joined || s.bytes != bytes)
		return false;
	for (usize i = 0; i < s.count; i++)
		if (word_of(s.of[i].at, s.of[i].bytes) != s.of[i].shows)
			return false;
	const site a = line_of_return(s.caller), b = line_of_return(caller);
	return a.line == b.line && !std::strcmp(a.file, b.file);
}

void relaxed_data::settle()
{
	statement &s = now();

	if (s.settled)
		return;
	s.settled = true;
	for (usize i = 0; i < s.count; i++)
		s.of[i].shows = word_of(s.of[i].at, s.of[i].bytes);
	s.hide();
	for (usize i = 0; i < s.count; i++)
		if (s.of[i].writes) {
			loops.leave_no_traces(engine_depth);
			of[cpus.current()].accesses = true;
			loops.hooks().store(
				whole_word(s.of[i].at, s.of[i].bytes),
				s.of[i].shows, order::relaxed,
				memory.place_of_return(s.caller));
			of[cpus.current()].accesses = false;
		}
	s.count = 0;
	s.joined = false;
}

bool relaxed_data::access(const void *at, usize bytes, bool writes,
			  const void *caller, detail::access_of by)
{
	/* Between what tells of a store and that store. */
	if (by == detail::access_of::untold) {
		if (match(at, bytes, caller, false))
			detail::refuse("relaxed data in an access that the "
				       "compiler does not tell of",
				       caller);
		return false;
	}
	const bool goes_on = by == detail::access_of::joined ||
			     (!now().settled && copies(bytes, writes, caller));

	if (!goes_on)
		settle();
	if (by == detail::access_of::joined)
		now().joined = true;
	if (!match(at, bytes, caller, by == detail::access_of::is_volatile))
		return false;
	if (by == detail::access_of::function)
		detail::refuse("relaxed data as the argument of a function of "
			       "the C library",
			       caller);
	touch(at, bytes, writes, caller);
	return true;
}

} // namespace model
