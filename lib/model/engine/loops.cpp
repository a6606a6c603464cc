/* SPDX-License-Identifier: MIT */
#include "checker.hpp"

#include <algorithm>
#include <utility>

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

loops::of_cpu &loops::mine() { return of[c.cpus.current()]; }

void loops::start_run(unsigned cpus)
{
	again = false;
	turns.clear();
	of.resize(std::max<std::size_t>(of.size(), cpus));
	for (of_cpu &each : of) {
		each.forget_turns();
		each.times.clear();
		each.in_a_row.clear();
		each.last = {nullptr, 0};
	}
	if (heads.empty())
		return;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		char *const top = const_cast<char *>(c.cpus.stack(cpu).high());
		const auto all =
			static_cast<usize>(top - c.cpus.stack(cpu).low());
		const usize dirty = std::min(all, deepest + 2 * engine_depth);

		std::memset(top - dirty, 0, dirty);
	}
}

void loops::of_cpu::forget_turns()
{
	calls.clear();
	plains.clear();
	stores_to = nullptr;
	used = 0;
}

void loops::forget_turns() { mine().forget_turns(); }

void loops::forget_heads()
{
	heads.clear();
	for (auto &[at, word] : words)
		for (byte &b : word)
			b.cut_readers = b.cut_writers = 0;
}

void loops::start_section()
{
	forget_turns();
	if (c.task.given->unroll)
		mine().times.clear();
	mine().in_a_row.clear();
}

/* Counts the call; returns how often it was made. */
static unsigned count(std::vector<std::pair<call, unsigned>> &times,
		      const call &now)
{
	for (auto &[before, many] : times)
		if (same_place(before, now))
			return ++many;
	times.emplace_back(now, 1);
	return 1;
}

bool loops::is_endless(const call &now) const
{
	return std::any_of(endless.begin(), endless.end(),
			   [&now](const call &e) {
				   return e.what == now.what &&
					  e.where.line == now.where.line &&
					  e.where.file == now.where.file;
			   });
}

/*
 * The CPU stops short of what it has done often enough: options.unroll, or
 * turns in a row of a loop that is endless.
 */
void loops::bound(const call &now)
{
	/* The second half shows a loop that has no end. */
	const bool counts = c.task.given->unroll ||
			    c.cpus.ran() > c.task.given->max_events / 2;

	if (counts && count(mine().times, now) > c.task.given->unroll &&
	    c.task.given->unroll)
		c.leave_out();
	if (endless.empty())
		return;
	if (!is_endless(now))
		mine().in_a_row.clear();
	else if (count(mine().in_a_row, now) > endless_turns)
		c.leave_out();
}

/*
 * The CPU has come to max_events. What it has done most often is a loop that
 * has no end: all is explored anew, with a bound for it. Returns false if there
 * is no such loop, or a bound does not help.
 */
bool loops::bound_endless_loop()
{
	const auto &times = mine().times;
	unsigned most = 2 * endless_turns;
	bool is_new = false;

	if (c.task.given->unroll)
		return false;
	for (const auto &[place, many] : times)
		most = std::max(most, many);
	for (const auto &[place, many] : times) {
		if (2 * many <= most || is_endless(place))
			continue;
		endless.push_back(place);
		is_new = true;
	}
	return is_new;
}

site loops::last_site() const { return of[c.cpus.current()].last; }

bool loops::in_a_loop() const
{
	const std::vector<call> &calls = of[c.cpus.current()].calls;

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
	const auto own = detail::heap_of(1 + c.cpus.current());

	visit(c.task.code->world, c.task.code->world_bytes);
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

/* Forgets the CPU's turns if it has changed memory itself. */
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

void loops::left()
{
	settle();
	look_at_memory();
}

/* -- Plain accesses in turns ------------------------------------------------
 */

/* What visit(access, byte, the other CPUs) says of its bytes. */
template <typename Visit>
unsigned loops::of_bytes(const plain_access &a, Visit visit)
{
	const usize first = reinterpret_cast<usize>(a.at);
	const usize end = first + a.bytes;
	unsigned found = 0;

	for (usize i = first; i < end;) {
		auto &word = words[i / 8];
		do
			found |= visit(a, word[i % 8],
				       ~(1u << c.cpus.current()));
		while (++i < end && i % 8);
	}
	return found;
}

/*
 * The CPU accesses it. If another's turn was cut because nobody did, all is
 * explored anew.
 */
void loops::note_plain(const void *at, usize size, bool writes)
{
	const auto cut = [](const plain_access &a, byte &b, unsigned others) {
		(a.writes ? b.writers : b.readers) |= ~others;
		return (b.cut_writers | (a.writes ? b.cut_readers : 0)) &
		       others;
	};

	mine().plains.push_back({at, size, writes, c.cpus.ran()});
	if (!of_bytes(mine().plains.back(), cut) || c.reports.is_showing())
		return;
	c.endless = true;
	c.cpus.stop();
}

void loops::settle()
{
	const void *const at = std::exchange(mine().stores_to, nullptr);
	const std::vector<u8> &was = mine().stores_over;

	if (at && std::memcmp(at, was.data(), was.size()) != 0)
		forget_turns();
}

void loops::touch(const void *at, usize bytes, bool writes)
{
	const u8 *const there = static_cast<const u8 *>(at);

	note_plain(at, bytes, writes);
	if (!writes)
		return;
	mine().stores_to = at;
	mine().stores_over.assign(there, there + bytes);
}

bool loops::has_plain_since(const call &first) const
{
	const auto &plains = of[c.cpus.current()].plains;

	return !plains.empty() && plains.back().ran >= first.ran;
}

/*
 * Whether no other CPU accesses what this one has accessed plainly, so that no
 * two may race. If so, it is noted that the turn is cut on that.
 */
bool loops::trust_plain_since(const call &first)
{
	const auto shared = [](const plain_access &a, byte &b,
			       unsigned others) {
		return (b.writers | (a.writes ? b.readers : 0)) & others;
	};
	const auto cut = [](const plain_access &a, byte &b, unsigned others) {
		(a.writes ? b.cut_writers : b.cut_readers) |= ~others;
		return 0u;
	};
	const auto any = [&](auto visit) {
		unsigned found = 0;
		for (const plain_access &a : mine().plains)
			if (a.ran >= first.ran)
				found |= of_bytes(a, visit);
		return found != 0;
	};

	return !any(shared) && !any(cut);
}

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

	settle();
	now.ran = c.cpus.ran();
	mine().last = now.where;
	if (now.what < call::kind::plain)
		bound(now);
	const bool seen = look_back(now);
	const bool head =
		std::any_of(heads.begin(), heads.end(), [&now](const call &h) {
			return same_place(h, now);
		});
	mine().calls.push_back(now);
	if (seen && !head) {
		heads.push_back(now);
		again = true;
		c.cpus.stop();
	}
	if (!head)
		return;

	const auto depth =
		static_cast<usize>(c.cpus.stack(c.cpus.current()).high() - low);
	deepest = std::max(deepest, depth);
	look_at_memory();
	if (mine().used == mine().states.size())
		mine().states.emplace_back();
	state &s = mine().states[mine().used];
	s.at = now;
	s.low = low;
	s.stack.assign(low, low + depth);
	s.irqs = c.irqs.at(c.cpus.current());
	s.on_wait = c.me().on_wait_what;
	if (now.ran == c.execution().length(c.cpus.current()))
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
		const turn t{c.cpus.current(), s.at.ran, now.at.ran,
			     stays(s.at)};
		if ((!t.stays && trust_plain_since(s.at)) ||
		    c.is_like_the_turn_before(t))
			c.waits.block_in_loop(t, has_plain_since(s.at));
	}
}

bool loops::state::same(const state &b) const
{
	return same_place(at, b.at) && low == b.low && stack == b.stack &&
	       irqs == b.irqs && on_wait == b.on_wait;
}

/* Notes the turns that end here; true if a state is wanted here. */
bool loops::look_back(const call &now)
{
	bool seen = false;

	for (const call &e : mine().calls) {
		if (!same_place(e, now))
			continue;
		const turn t{c.cpus.current(), e.ran, now.ran, stays(e)};
		seen |= !t.stays || c.has_the_values_of_the_turn_before(t);
		if (t.first != t.last && !c.task.given->every_turn)
			turns.push_back(t);
	}
	return seen;
}

/* Whether the turn from this call on is left out only if it repeats another. */
bool loops::stays(const call &first) const
{
	return c.task.given->every_turn || any_since(first, call::kind::wait);
}

/* Whether a call since the first one was of this kind. */
bool loops::any_since(const call &first, call::kind what) const
{
	const std::vector<call> &calls = of[c.cpus.current()].calls;

	for (std::size_t i = calls.size();
	     i-- > 0 && calls[i].ran >= first.ran;)
		if (calls[i].what == what)
			return true;
	return false;
}

/*
 * turns - complete executions that differ from others by one failed turn of a
 * loop
 *
 * Such an execution is found by running the code: its events without the turn's
 * are replayed, and the turn was in vain if every CPU then does what it did, to
 * the end. It was explored and checked, but is not counted.
 */

/* Whether a turn only reads, and reads the values of the turn before it. */
bool checker::has_the_values_of_the_turn_before(const turn &t) const
{
	const unsigned events = t.last - t.first;
	const auto &of = execution().sb[t.cpu];

	if (t.first < events || t.last > execution().length(t.cpu))
		return false;
	for (unsigned i = t.first; i < t.last; i++) {
		const event &a = of[i], &b = of[i - events];
		if (a.what == kind::write || a.what != b.what ||
		    a.place != b.place || a.value != b.value)
			return false;
	}
	return true;
}

/* Whether a turn reads the very writes that the turn before it read. */
bool checker::is_like_the_turn_before(const turn &t) const
{
	if (!has_the_values_of_the_turn_before(t))
		return false;
	for (unsigned i = t.first; i < t.last; i++)
		if (!(execution().sb[t.cpu][i].from ==
		      execution().sb[t.cpu][i - (t.last - t.first)].from))
			return false;
	return true;
}

namespace {

/* A graph without the events of a turn. */
struct shorter {
	shorter(const graph &from, const turn &without, graph &result)
	    : g(from), t(without), to(result)
	{
		to.reset(g.cpus, g.sequence);
	}
	bool build();

      private:
	bool gone(ref e) const
	{
		return e.cpu == t.cpu && e.index > t.first && e.index <= t.last;
	}
	/* The event's new number; what the read of an RMW that is gone read. */
	ref renamed(ref e) const
	{
		while (!e.initial() && gone(e))
			e = g.at({e.cpu, static_cast<u8>(e.index - 1)}).from;
		if (!e.initial() && e.cpu == t.cpu && e.index > t.last)
			e.index = static_cast<u8>(e.index - (t.last - t.first));
		return e;
	}
	bool there(ref e) const
	{
		return e.initial() || to.length(e.cpu) >= e.index;
	}
	bool add_next(unsigned cpu);
	void add(unsigned cpu, const event &e);

	const graph &g;
	const turn &t;
	graph &to;
	unsigned done[max_cpus] = {}; /* events looked at, of each */
	unsigned places = 0;
};

void shorter::add(unsigned cpu, const event &e)
{
	switch (e.what) {
	case kind::read:
		to.add_read(cpu, e.place, e.ord, renamed(e.from), e.value);
		break;
	case kind::write:
		to.add_write(cpu, e.place, e.ord, e.value, e.exclusive);
		break;
	case kind::fence:
		to.add_fence(cpu, e.ord);
		break;
	case kind::choice:
		to.add_choice(cpu, e.value);
		break;
	}
}

/* False: the CPU's next event reads what is not there yet. */
bool shorter::add_next(unsigned cpu)
{
	const ref r{static_cast<u8>(cpu), static_cast<u8>(done[cpu] + 1)};
	const event &e = g.at(r);

	if (!gone(r)) {
		if (e.what == kind::read && !there(renamed(e.from)))
			return false;
		add(cpu, e);
		if (e.place >= places)
			places = e.place + 1u;
	}
	done[cpu]++;
	return true;
}

/* False: not all that is left hangs together. */
bool shorter::build()
{
	bool again = true;

	while (again) {
		again = false;
		for (unsigned cpu = 0; cpu < g.cpus; cpu++)
			while (done[cpu] < g.length(cpu) && add_next(cpu))
				again = true;
	}
	for (unsigned cpu = 0; cpu < g.cpus; cpu++)
		if (done[cpu] < g.length(cpu))
			return false;
	for (unsigned place = 0; place < places; place++) {
		unsigned position = 0;
		for (unsigned p = 1; p <= g.last(place); p++) {
			const ref w = g.write_at(place, p);
			if (!gone(w))
				to.insert(renamed(w), ++position);
		}
	}
	return true;
}

} // namespace

/* Replays this graph; returns whether the code does what it did before. */
bool checker::does_the_same(std::unique_ptr<graph> &other)
{

	other = work.run(std::move(other));
	const bool learns = learning.set_learning(false);
	begin();
	cpus.replay(scheduler::phase::comparing);
	bool same = !cpus.stopped();
	for (unsigned c = 0; c < execution().cpus; c++)
		same = same && cpus.state_of(c) == scheduler::state::done &&
		       cpus.ran(c) == execution().length(c);
	same = same && !way_in.found_a_head();
	other = work.run(std::move(other));
	learning.set_learning(learns);
	return same;
}

/* The turns of the run that may be in vain. */
std::vector<turn> checker::turns_to_ask() const
{
	std::vector<turn> some;

	for (const turn &t : way_in.turns) {
		const unsigned end = 2u * t.last - t.first;
		const turn next{t.cpu, t.last, static_cast<u8>(end), true};
		if (!t.stays || (end <= execution().length(t.cpu) &&
				 is_like_the_turn_before(next)))
			some.push_back(t);
	}
	return some;
}

/*
 * Returns whether one of these turns of a complete run was in vain: it replays
 * the run without each. world_is_the_same is set where the run without that
 * turn leaves the same world, so that nothing is left to be looked at.
 */
bool checker::find_turn_in_vain(const std::vector<turn> &turns,
				bool &world_is_the_same)
{
	const auto *const world = static_cast<const u8 *>(task.code->world);
	const std::vector<u8> was(world, world + task.code->world_bytes);
	auto other = work.copy(execution());
	bool found = false;

	close();
	for (std::size_t i = 0; i < turns.size() && !found; i++) {
		if (!shorter(execution(), turns[i], *other).build())
			continue;
		found = does_the_same(other);
		world_is_the_same =
			found && std::equal(was.begin(), was.end(), world);
		close();
	}
	work.recycle(std::move(other));
	return found;
}

/*
 * hooks - what the code under test calls: loops look at it, checker does it
 */

/* Below its caller. */
[[gnu::noinline]] void loops::wipe() const
{
	char room[engine_depth];

	if (heads.empty())
		return;
	std::memset(room, 0, sizeof(room));
	asm volatile("" ::"r"(room) : "memory");
}

void loops::passed(bool changed)
{
	if (changed)
		forget_turns();
	wipe();
}

/* Whether the CPU's last event left the location's value as it was. */
bool loops::wrote_what_it_read() const
{
	const auto &events = c.execution().sb[c.cpus.current()];
	const u8 ran = c.cpus.ran();
	const event &e = events[ran - 1u];

	return e.what != kind::write ||
	       (e.exclusive && events[ran - 2u].value == e.value);
}

/* -- Operations that only read, and those that may ------------------------- */

u64 loops::load(window w, order o, site s)
{
	arrive({call::kind::load, w.at, s});
	const u64 v = c.load(w, o, s);
	passed(false);
	return v;
}

u64 loops::rmw(window w, hooked::update how, u64 operand, order o, site s)
{
	arrive({call::kind::rmw, w.at, s});
	const u64 v = c.rmw(w, how, operand, o, s);
	passed(!wrote_what_it_read());
	return v;
}

bool loops::compare_exchange(window w, u64 &expected, u64 desired, order o,
			     site s)
{
	arrive({call::kind::swap, w.at, s});
	const bool swapped = c.compare_exchange(w, expected, desired, o, s);
	passed(swapped && !wrote_what_it_read());
	return swapped;
}

bool loops::compare_exchange_or(window w, u64 &expected, u64 desired, order o,
				order failed, bool weak, site s)
{
	arrive({call::kind::swap, w.at, s});
	const bool swapped =
		c.compare_exchange_or(w, expected, desired, o, failed, weak, s);
	passed(swapped && !wrote_what_it_read());
	return swapped;
}

void loops::fence(order o, site s)
{
	arrive({call::kind::fence, nullptr, s});
	c.fence(o, s);
	passed(false);
}

void loops::read_plain(const void *at, usize bytes, site s)
{
	arrive({call::kind::plain, at, s});
	note_plain(at, bytes, false);
	c.read_plain(at, bytes, s);
	passed(false);
}

/* A store of what is there leaves the CPU where it is. */
void loops::write_plain(const void *at, const void *with, usize bytes, site s)
{
	arrive({call::kind::plain_store, at, s});
	note_plain(at, bytes, true);
	c.write_plain(at, with, bytes, s);
	passed(std::memcmp(at, with, bytes) != 0);
}

bool loops::irq_flag(bool enabled)
{
	arrive({call::kind::flag, nullptr, {nullptr, enabled}});
	const bool was = c.irq_flag(enabled);
	passed(false);
	return was;
}

void loops::relax(u32 times) { c.relax(times); }

/* -- Waits ----------------------------------------------------------------- */

u64 loops::await(window w, hooked::test done, hooked::pace p, order o, site s)
{
	arrive({call::kind::wait, w.at, s});
	const u64 v = c.await(w, done, p, o, s);
	passed(false);
	return v;
}

u64 loops::await_patient(window w, hooked::patience p, order o, site s)
{
	arrive({call::kind::wait, w.at, s});
	const u64 v = c.await_patient(w, p, o, s);
	passed(false);
	return v;
}

u64 loops::await_until(window w, hooked::test done, u64 deadline, order o,
		       site s)
{
	arrive({call::kind::wait, w.at, s});
	const u64 v = c.await_until(w, done, deadline, o, s);
	passed(false);
	return v;
}

u64 loops::await_exchange(window w, u64 v, hooked::test done, order o, site s)
{
	arrive({call::kind::wait, w.at, s});
	const u64 found = c.await_exchange(w, v, done, o, s);
	passed(!wrote_what_it_read());
	return found;
}

void loops::await_either(window w, hooked::test done, window other,
			 hooked::test other_done, order o, site s)
{
	arrive({call::kind::wait, w.at, s});
	c.await_either(w, done, other, other_done, o, s);
	passed(false);
}

void loops::wait_while(window w, u64 old, order o, site s)
{
	arrive({call::kind::wait, w.at, s});
	c.wait_while(w, old, o, s);
	passed(false);
}

/* -- Operations that change something -------------------------------------- */

void loops::born(const void *at, usize bytes)
{
	c.born(at, bytes);
	passed(true);
}

void loops::dead(const void *at, usize bytes)
{
	c.dead(at, bytes);
	passed(true);
}

void loops::store(window w, u64 v, order o, site s)
{
	mine().last = s;
	bound({call::kind::store, w.at, s});
	c.store(w, v, o, s);
	passed(true);
}

void loops::notify(window w, site s)
{
	mine().last = s;
	c.notify(w, s);
	passed(true);
}

void loops::advance(window w, u64 from, u64 to, order o, site s)
{
	mine().last = s;
	bound({call::kind::store, w.at, s});
	c.advance(w, from, to, o, s);
	passed(true);
}

/* Time goes on: who looks at it makes no turn in vain. */
u64 loops::cycles()
{
	const u64 now = c.cycles();

	passed(true);
	return now;
}

} // namespace model
