/* SPDX-License-Identifier: MIT */
/*
 * intended - plain data that the options take as relaxed atomics
 *
 * The compiler's hook comes before an access, and the access itself is the
 * code's. So what a load finds is put into memory for as long as the statement
 * lasts, and what a store has stored is looked at when the CPU next comes here.
 * In between no other CPU runs. Then the memory holds again what it held at
 * first, which is what the graphs take for a location's first value.
 *
 * A location is as small as the smallest access of its bytes: a word of 8 is
 * split in halves where an access has a part of it, and all is explored again.
 */
#include "checker.hpp"

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

void checker::start_intended()
{
	detail::intends =
		!task.given->relaxed.empty() || task.given->relaxed_volatile;
	if (!detail::intends)
		return;
	learning.start(false);
	matched.assign(task.given->relaxed.size(), false);
	volatile_matched = false;
	lines.clear();
	split.clear();
}

/* A world names an object that the options may name, too. */
void checker::intend(const void *object, usize bytes, const char *text)
{
	for (usize i = 0; i < task.given->relaxed.size(); i++)
		if (task.given->relaxed[i] == text)
			intended.push_back({static_cast<const char *>(object),
					    bytes, static_cast<u8>(i)});
}

/* The entry that names this line; none: there is none. */
unsigned checker::entry_of(const void *caller)
{
	const auto known = lines.find(caller);
	if (known != lines.end())
		return known->second;

	site s = line_of_return(caller);
	usize depth = me().own.calls.size();
	const bool fixed = !is_of_library(s);
	while (is_of_library(s) && depth--)
		s = line_of_return(me().own.calls[depth].returns_to);
	unsigned found = none;
	for (unsigned i = 0; i < task.given->relaxed.size() && found == none;
	     i++)
		if (names_line(task.given->relaxed[i], s))
			found = i;
	if (fixed)
		lines.emplace(caller, found);
	return found;
}

bool checker::intended_by(const void *at, usize bytes, const void *caller,
			  bool is_volatile)
{
	const char *const first = static_cast<const char *>(at);

	if (is_volatile && task.given->relaxed_volatile)
		return volatile_matched = true;
	for (const named_range &r : intended)
		if (first < r.at + r.bytes && first + bytes > r.at)
			return matched[r.entry] = true;
	const unsigned entry = entry_of(caller);
	return entry != none && (matched[entry] = true);
}

/* The first lines of a result: what the options did to it. */
std::string checker::what_was_intended() const
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
statement &checker::statement_now()
{
	std::vector<statement> &all = me().statements;
	const unsigned handlers = irqs.at(cpus.current()).handlers;

	if (handlers >= all.size())
		detail::refuse("relaxed data in handlers that nest so deep",
			       nullptr);
	return all[handlers];
}

/* The memory holds what it held at first; the last shown is hidden first. */
static void hide(const statement &s)
{
	for (usize i = s.count; i-- > 0;)
		std::memcpy(s.of[i].at, &s.of[i].was, s.of[i].bytes);
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
void checker::split_access(const char *word, usize size, const char *first,
			   const char *last)
{
	statement &s = statement_now();
	const bool whole = first <= word && last >= word + size;

	if (last <= word || first >= word + size)
		return;
	if (!whole && !split.contains({word, size})) {
		const object *const o = memory.find(word);
		const bool known = o && o->place >= 0 && o->bytes == size;

		if (!reports.has_finding())
			split.emplace(word, size);
		run_all |= known;
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

/* What this CPU may find there at the oldest: a bit-field's neighbours. */
u64 checker::oldest(const char *at, usize bytes)
{
	const object *const o = memory.find(at);

	if (!o || o->place < 0 || o->bytes != bytes)
		return word_of(at, bytes);
	const unsigned place = static_cast<unsigned>(o->place);
	const clock seen =
		cpus.ran() ? execution().sb[cpus.current()][cpus.ran() - 1u].hb
			   : clock{};
	return branches.word_at(place, floor(execution(), place, seen),
				whole_word(at, bytes));
}

/*
 * Accesses relaxed data by the statement that begins, or goes on: joined, with
 * what is shown already.
 */
void checker::touch_intended(const void *at, usize bytes, bool writes,
			     const void *caller)
{
	statement &s = statement_now();
	const char *const first = static_cast<const char *>(at);
	const usize before = s.count;

	hide(s);
	s.caller = caller;
	s.writes = writes;
	s.bytes = bytes;
	const usize in_word = reinterpret_cast<usize>(first) & 7;
	for (const char *word = first - in_word; word < first + bytes;
	     word += 8)
		split_access(word, 8, first, first + bytes);
	for (usize i = before; i < s.count; i++) {
		shown_word &w = s.of[i];
		if (writes) {
			w.shows = oldest(w.at, w.bytes);
			continue;
		}
		leave_no_traces();
		me().plain = true;
		w.shows =
			called().load(whole_word(w.at, w.bytes), order::relaxed,
				      place_of_return(caller));
		me().plain = false;
	}
	for (usize i = 0; i < s.count; i++) {
		shown_word &w = s.of[i];
		w.was = word_of(w.at, w.bytes);
		std::memcpy(w.at, &w.shows, w.bytes);
	}
	s.settled = false;
}

/*
 * GCC tells of a copy's store first, then of its load, then copies: what is to
 * be stored is not there yet. Two statements of one line look like that, too,
 * if the first stores what was there.
 */
bool checker::copies(usize bytes, bool writes, const void *caller)
{
	const statement &s = statement_now();

	if (writes || !s.writes || s.joined || s.bytes != bytes)
		return false;
	for (usize i = 0; i < s.count; i++)
		if (word_of(s.of[i].at, s.of[i].bytes) != s.of[i].shows)
			return false;
	const site a = line_of_return(s.caller), b = line_of_return(caller);
	return a.line == b.line && !std::strcmp(a.file, b.file);
}

/* The statement is over. */
void checker::settle()
{
	statement &s = statement_now();

	if (s.settled)
		return;
	s.settled = true;
	for (usize i = 0; i < s.count; i++)
		s.of[i].shows = word_of(s.of[i].at, s.of[i].bytes);
	hide(s);
	for (usize i = 0; i < s.count; i++)
		if (s.of[i].writes) {
			leave_no_traces();
			me().plain = true;
			called().store(whole_word(s.of[i].at, s.of[i].bytes),
				       s.of[i].shows, order::relaxed,
				       place_of_return(s.caller));
			me().plain = false;
		}
	s.count = 0;
	s.joined = false;
}

/* True: the access is done here. */
bool checker::intended_access(const void *at, usize bytes, bool writes,
			      const void *caller, detail::access_of by)
{
	const bool goes_on =
		by == detail::access_of::joined ||
		(!statement_now().settled && copies(bytes, writes, caller));

	if (!goes_on)
		settle();
	if (by == detail::access_of::joined)
		statement_now().joined = true;
	if (!intended_by(at, bytes, caller,
			 by == detail::access_of::is_volatile))
		return false;
	if (by == detail::access_of::function)
		detail::refuse("relaxed data as the argument of a function of "
			       "the C library",
			       caller);
	touch_intended(at, bytes, writes, caller);
	return true;
}

void detail::settle()
{
	const checker_runs here;

	if (hooked::running)
		the_checker().settle();
}

} // namespace model
