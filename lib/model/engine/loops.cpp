/* SPDX-License-Identifier: MIT */
#include "checker.hpp"

#include <algorithm>

namespace model {

namespace {

/* An address below its caller's frame, that frame being whole. */
[[gnu::noinline]] const char *below_caller()
{
	return static_cast<const char *>(__builtin_frame_address(0));
}

bool same_place(const call &a, const call &b)
{
	return a.what == b.what && a.at == b.at &&
	       a.where.line == b.where.line && a.where.file == b.where.file;
}

} // namespace

loops::of_cpu &loops::mine() { return of[c.current()]; }

void loops::start_run(unsigned cpus)
{
	again = false;
	turns.clear();
	of.resize(std::max<std::size_t>(of.size(), cpus));
	for (of_cpu &each : of) {
		each.calls.clear();
		each.used = 0;
		each.last = {nullptr, 0};
	}
	if (heads.empty())
		return;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		char *const top = const_cast<char *>(c.cpus[cpu]->stack.high());
		const auto all =
			static_cast<usize>(top - c.cpus[cpu]->stack.low());
		const usize dirty = std::min(all, deepest + 2 * engine_depth);

		std::memset(top - dirty, 0, dirty);
	}
}

void loops::forget_turns()
{
	mine().calls.clear();
	mine().used = 0;
}

site loops::last_site() const { return of[c.current()].last; }

bool loops::in_a_loop() const
{
	const std::vector<call> &calls = of[c.current()].calls;

	for (std::size_t i = 0; i + 1 < calls.size(); i++)
		if (same_place(calls[i], calls.back()))
			return true;
	return false;
}

/* -- Memory: changes of it that no hook tells ------------------------------ */

/* The world, what it has of the heap, and what the CPU has. */
template <typename Visit>
void loops::memory_of_mine(Visit visit) const
{
	const auto world = detail::heap_of(0);
	const auto own = detail::heap_of(1 + c.current());

	visit(c.what->world, c.what->world_bytes);
	visit(world.start, world.bytes);
	visit(own.start, own.bytes);
}

void loops::resumed()
{
	std::vector<u8> &was = mine().memory;

	if (!mine().used)
		return;
	was.clear();
	memory_of_mine([&was](const void *at, usize bytes) {
		const u8 *const from = static_cast<const u8 *>(at);
		was.insert(was.end(), from, from + bytes);
	});
}

/* What the CPU itself has changed: its turns since then were not in vain. */
void loops::look_at_memory()
{
	const std::vector<u8> &was = mine().memory;
	usize seen = 0;
	bool same = true;

	if (!mine().used)
		return;
	memory_of_mine([&](const void *at, usize bytes) {
		same = same && seen + bytes <= was.size() &&
		       (!bytes || !std::memcmp(&was[seen], at, bytes));
		seen += bytes;
	});
	if (!same || seen != was.size())
		mine().used = 0;
}

void loops::left() { look_at_memory(); }

/* -- States ---------------------------------------------------------------- */

/*
 * The CPU is about to call a hook. Its registers are in this function's frame,
 * which is a part of the state: nothing of the engine's may be in it.
 */
void loops::arrive(const call &now)
{
	__builtin_unwind_init();
	look(now, below_caller());
	asm volatile("" ::: "memory"); /* no tail call: the frame stays */
}

void loops::look(const call &given, const char *low)
{
	call now = given;

	now.ran = c.me().ran;
	mine().last = now.where;
	const bool seen = look_back(now);
	const bool head =
		std::any_of(heads.begin(), heads.end(), [&now](const call &h) {
			return same_place(h, now);
		});
	mine().calls.push_back(now);
	if (seen && !head) {
		heads.push_back(now);
		again = true;
		c.stop();
	}
	if (!head)
		return;

	const auto depth = static_cast<usize>(c.me().stack.high() - low);
	deepest = std::max(deepest, depth);
	look_at_memory();
	if (mine().used == mine().states.size())
		mine().states.emplace_back();
	state &s = mine().states[mine().used];
	s.at = now;
	s.low = low;
	s.stack.assign(low, low + depth);
	s.irqs_left = c.me().irqs_left;
	s.irqs_on = c.me().irqs_on;
	s.handlers = c.me().handlers;
	s.on_wait = c.me().on_wait_what;
	if (now.ran == c.g->length(c.current()))
		block_if_repeated(s);
	mine().used++;
	resumed();
}

/* A CPU that has events yet to replay did not repeat itself here. */
void loops::block_if_repeated(const state &now)
{
	for (std::size_t i = 0; i < mine().used; i++) {
		const state &s = mine().states[i];
		if (!s.same(now))
			continue;
		const turn t{c.current(), s.at.ran, now.at.ran, stays(s.at)};
		if (!t.stays || c.is_like_the_turn_before(t))
			c.block_in(t, any_since(s.at, call::kind::plain));
	}
}

bool loops::state::same(const state &b) const
{
	return same_place(at, b.at) && low == b.low && stack == b.stack &&
	       irqs_left == b.irqs_left && irqs_on == b.irqs_on &&
	       handlers == b.handlers && on_wait == b.on_wait;
}

/* Notes the turns that end here; true if a state is wanted here. */
bool loops::look_back(const call &now)
{
	bool seen = false;

	for (const call &e : mine().calls) {
		if (!same_place(e, now))
			continue;
		const turn t{c.current(), e.ran, now.ran, stays(e)};
		seen |= !t.stays || c.has_the_values_of_the_turn_before(t);
		if (t.first != t.last && !c.how->every_turn)
			turns.push_back(t);
	}
	return seen;
}

/* Whether the turn from this call on is left out only if it repeats another. */
bool loops::stays(const call &first) const
{
	return c.how->every_turn || any_since(first, call::kind::wait);
}

/* Of the calls from the one that stood here on. */
bool loops::any_since(const call &first, call::kind what) const
{
	const std::vector<call> &calls = of[c.current()].calls;

	for (std::size_t i = calls.size();
	     i-- > 0 && calls[i].ran >= first.ran;)
		if (calls[i].what == what)
			return true;
	return false;
}

} // namespace model
