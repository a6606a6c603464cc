/* SPDX-License-Identifier: MIT */
#include "loops.hpp"
#include "interpreter.hpp"

#include <algorithm>
#include <utility>

namespace model {

namespace {

/* An address below the caller's frame, so that the whole frame is compared. */
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

hooked::engine &loop_cutter::hooks()
{
	if (is_on)
		return *this;
	return code;
}

loop_cutter::of_cpu &loop_cutter::mine() { return of[cpus.current()]; }

/* Whether a value ends the loop: as far as it is known, it does. */
static bool ends_loop(void *cpu_in_vain, u64 value)
{
	const auto &known =
		**static_cast<const std::vector<u64> *const *>(cpu_in_vain);

	return std::find(known.begin(), known.end(), value) == known.end();
}

void loop_cutter::start_run(unsigned count)
{
	again = false;
	ended.clear();
	of.resize(std::max<std::size_t>(of.size(), count));
	for (of_cpu &each : of) {
		each.in_vain = nullptr;
		each.ends = {ends_loop, &each.in_vain};
		each.forget_turns();
		each.times.clear();
		each.in_a_row.clear();
		each.last = {nullptr, 0};
	}
	if (heads.empty())
		return;
	for (unsigned cpu = 0; cpu < count; cpu++) {
		char *const top = const_cast<char *>(cpus.stack(cpu).high());
		const auto all =
			static_cast<usize>(top - cpus.stack(cpu).low());
		const usize dirty = std::min(all, deepest + 2 * engine_depth);

		std::memset(top - dirty, 0, dirty);
	}
}

void loop_cutter::of_cpu::forget_turns()
{
	calls.clear();
	plains.clear();
	stores_to = nullptr;
	used = 0;
}

void loop_cutter::forget_turns() { mine().forget_turns(); }

void loop_cutter::forget_heads()
{
	heads.clear();
	vain_values.clear();
	for (auto &[at, word] : words)
		for (byte &b : word)
			b.cut_readers = b.cut_writers = 0;
}

void loop_cutter::start_section()
{
	forget_turns();
	if (task.given->unroll)
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

bool loop_cutter::is_endless(const call &now) const
{
	return std::any_of(endless.begin(), endless.end(),
			   [&now](const call &e) {
				   return e.what == now.what &&
					  e.where.line == now.where.line &&
					  e.where.file == now.where.file;
			   });
}

/*
 * Stops the CPU before a call that it has made often enough: options.unroll, or
 * the bound of a loop without an end.
 */
void loop_cutter::bound(const call &now)
{
	/* The second half of its events shows a loop that has no end. */
	const bool counts =
		task.given->unroll || cpus.ran() > task.given->max_events / 2;

	if (counts && count(mine().times, now) > task.given->unroll &&
	    task.given->unroll)
		code.leave_out();
	if (endless.empty())
		return;
	if (!is_endless(now))
		mine().in_a_row.clear();
	else if (count(mine().in_a_row, now) > endless_turns)
		code.leave_out();
}

/*
 * The CPU has come to max_events. The call that it has made most often is in a
 * loop without an end: everything is explored anew, with a bound for that loop.
 * Returns false if there is no such loop, or a bound does not help.
 */
bool loop_cutter::bound_endless_loop()
{
	const auto &times = mine().times;
	unsigned most = 2 * endless_turns;
	bool is_new = false;

	if (task.given->unroll)
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

site loop_cutter::last_site() const { return of[cpus.current()].last; }

bool loop_cutter::in_a_loop() const
{
	const std::vector<call> &calls = of[cpus.current()].calls;

	for (std::size_t i = 0; i + 1 < calls.size(); i++)
		if (same_place(calls[i], calls.back()))
			return true;
	return false;
}

/* -- Memory: changes of it that no hook tells ------------------------------ */

/* The world, its part of the heap, and the CPU's. */
template <typename Visit>
void loop_cutter::memory_of_mine(Visit visit) const
{
	const auto world = detail::heap_of(0);
	const auto own = detail::heap_of(1 + cpus.current());

	visit(task.code->world, task.code->world_bytes);
	visit(world.start, world.bytes);
	visit(own.start, own.bytes);
}

void loop_cutter::resumed()
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
void loop_cutter::look_at_memory()
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

void loop_cutter::left()
{
	settle();
	look_at_memory();
}

/* -- Plain accesses in turns ------------------------------------------------
 */

/* Joins the masks that visit(access, byte, the other CPUs) returns. */
template <typename Visit>
unsigned loop_cutter::of_bytes(const plain_access &a, Visit visit)
{
	const usize first = reinterpret_cast<usize>(a.at);
	const usize end = first + a.bytes;
	unsigned found = 0;

	for (usize i = first; i < end;) {
		auto &word = words[i / 8];
		do
			found |= visit(a, word[i % 8], ~(1u << cpus.current()));
		while (++i < end && i % 8);
	}
	return found;
}

/*
 * The CPU accesses these bytes. If a turn of another CPU was cut because no
 * other CPU accesses them, everything is explored anew.
 */
void loop_cutter::note_plain(const void *at, usize size, bool writes)
{
	const auto cut = [](const plain_access &a, byte &b, unsigned others) {
		(a.writes ? b.writers : b.readers) |= ~others;
		return (b.cut_writers | (a.writes ? b.cut_readers : 0)) &
		       others;
	};

	mine().plains.push_back({at, size, writes, cpus.ran()});
	if (!of_bytes(mine().plains.back(), cut) || reports.is_showing())
		return;
	task.endless = true;
	cpus.stop();
}

void loop_cutter::settle()
{
	const void *const at = std::exchange(mine().stores_to, nullptr);
	const std::vector<u8> &was = mine().stores_over;

	if (at && std::memcmp(at, was.data(), was.size()) != 0)
		forget_turns();
}

void loop_cutter::touch(const void *at, usize bytes, bool writes)
{
	const u8 *const there = static_cast<const u8 *>(at);

	note_plain(at, bytes, writes);
	if (!writes)
		return;
	mine().stores_to = at;
	mine().stores_over.assign(there, there + bytes);
}

bool loop_cutter::has_plain_since(const call &first) const
{
	const auto &plains = of[cpus.current()].plains;

	return !plains.empty() && plains.back().ran >= first.ran;
}

/*
 * Whether no other CPU accesses the bytes that this one has accessed plainly,
 * so no two accesses can race. If so, notes that the turn is cut because of
 * that.
 */
bool loop_cutter::trust_plain_since(const call &first)
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
 * which is a part of the state: so the engine may put nothing else there.
 */
void loop_cutter::arrive(const call &now)
{
	__builtin_unwind_init();
	look(now, below_caller());
	asm volatile("" ::: "memory"); /* no tail call: the frame stays */
}

void loop_cutter::look(const call &given, const char *low)
{
	call now = given;

	settle();
	now.ran = cpus.ran();
	mine().last = now.where;
	mine().in_vain = nullptr;
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
		cpus.stop();
	}
	if (!head)
		return;

	const auto depth =
		static_cast<usize>(cpus.stack(cpus.current()).high() - low);
	const auto *const bytes = reinterpret_cast<const u8 *>(low);
	deepest = std::max(deepest, depth);
	look_at_memory();
	if (mine().used == mine().states.size())
		mine().states.emplace_back();
	state &s = mine().states[mine().used];
	s.at = now;
	s.low = low;
	/* As bytes of the same type, they are copied as a whole. */
	s.stack.assign(bytes, bytes + depth);
	s.irqs = irqs.at(cpus.current());
	s.on_wait = code.on_wait();
	const bool at_end = now.ran == work.running().length(cpus.current());
	if (at_end)
		block_if_repeated(s);
	mine().used++;
	resumed();
	if (!at_end || now.what != call::kind::load)
		return;
	if (const auto known = vain_values.find(key_of(s));
	    known != vain_values.end())
		mine().in_vain = &known->second;
}

/* All that a CPU's next steps depend on, less what it reads. */
const std::string &loop_cutter::key_of(const state &s)
{
	const auto add = [this](const void *at, usize bytes) {
		key.append(static_cast<const char *>(at), bytes);
	};
	const auto add_value = [&add](const auto &v) { add(&v, sizeof(v)); };

	key.clear();
	add_value(s.at.at);
	add_value(s.at.where.file);
	add_value(s.at.where.line);
	add_value(s.low);
	add_value(s.on_wait);
	add_value(s.irqs.left);
	add_value(s.irqs.on);
	add_value(s.irqs.handlers);
	add(s.stack.data(), s.stack.size());
	add(mine().memory.data(), mine().memory.size());
	return key;
}

/* Notes what the turn has read, if that is all that it did. */
void loop_cutter::learn(const state &first, const turn &t)
{
	if (t.stays || t.last - t.first != 1 || has_plain_since(first.at) ||
	    first.at.what != call::kind::load || task.given->unroll ||
	    task.given->load_buffering || !endless.empty())
		return;
	std::vector<u64> &known = vain_values[key_of(first)];

	if (std::find(known.begin(), known.end(), mine().loaded) == known.end())
		known.push_back(mine().loaded);
}

/* A CPU that still has events to replay did not repeat itself here. */
void loop_cutter::block_if_repeated(const state &now)
{
	for (std::size_t i = 0; i < mine().used; i++) {
		const state &s = mine().states[i];
		if (!s.same(now))
			continue;
		const turn t{cpus.current(), s.at.ran, now.at.ran, stays(s.at)};
		learn(s, t);
		if ((!t.stays && trust_plain_since(s.at)) ||
		    is_like_the_turn_before(work.running(), t))
			waits.block_in_loop(t, has_plain_since(s.at));
	}
}

bool loop_cutter::state::same(const state &b) const
{
	return same_place(at, b.at) && low == b.low && stack == b.stack &&
	       irqs == b.irqs && on_wait == b.on_wait;
}

/* Notes the turns that end here; true: the state must be kept here. */
bool loop_cutter::look_back(const call &now)
{
	bool seen = false;

	for (const call &e : mine().calls) {
		if (!same_place(e, now))
			continue;
		const turn t{cpus.current(), e.ran, now.ran, stays(e)};
		seen |= !t.stays ||
			has_the_values_of_the_turn_before(work.running(), t);
		if (t.first != t.last && !task.given->every_turn)
			ended.push_back(t);
	}
	return seen;
}

/* Whether the turn from this call on is left out only if it repeats another. */
bool loop_cutter::stays(const call &first) const
{
	return task.given->every_turn || any_since(first, call::kind::wait);
}

/* Whether a call since the first one was of this kind. */
bool loop_cutter::any_since(const call &first, call::kind what) const
{
	const std::vector<call> &calls = of[cpus.current()].calls;

	for (std::size_t i = calls.size();
	     i-- > 0 && calls[i].ran >= first.ran;)
		if (calls[i].what == what)
			return true;
	return false;
}

/*
 * hooks - the calls of the code under test: the cutter looks at them, the
 * interpreter does them
 */

/* It lies below its caller's frame. */
template <usize depth>
[[gnu::noinline]] void loop_cutter::wipe() const
{
	char room[depth];
	usize bytes = depth;

	if (heads.empty())
		return;
	/* As a call: string instructions, which GCC would use, are slower. */
	asm volatile("" : "+r"(bytes));
	std::memset(room, 0, bytes);
	asm volatile("" ::"r"(room) : "memory");
}

void loop_cutter::passed(bool changed)
{
	if (changed)
		forget_turns();
	wipe<engine_depth>();
}

void loop_cutter::leave_no_traces(usize depth) const
{
	if (is_on && depth == engine_depth)
		wipe<engine_depth>();
	else if (is_on)
		wipe<shallow_depth>();
}

/* Whether the CPU's last event left the location's value as it was. */
bool loop_cutter::wrote_what_it_read() const
{
	const auto &events = work.running().sb[cpus.current()];
	const u8 ran = cpus.ran();
	const event &e = events[ran - 1u];

	return e.what != kind::write ||
	       (e.exclusive && events[ran - 2u].value == e.value);
}

/* -- Operations that only read, and those that may ------------------------- */

u64 loop_cutter::load(window w, order o, site s)
{
	arrive({call::kind::load, w.at, s});
	const u64 v = code.load(w, o, s);
	mine().loaded = v;
	passed(false);
	return v;
}

u64 loop_cutter::rmw(window w, hooked::update by, u64 operand, order o, site s)
{
	arrive({call::kind::rmw, w.at, s});
	const u64 v = code.rmw(w, by, operand, o, s);
	passed(!wrote_what_it_read());
	return v;
}

bool loop_cutter::compare_exchange(window w, u64 &expected, u64 desired,
				   order o, site s)
{
	arrive({call::kind::swap, w.at, s});
	const bool swapped = code.compare_exchange(w, expected, desired, o, s);
	passed(swapped && !wrote_what_it_read());
	return swapped;
}

bool loop_cutter::compare_exchange_or(window w, u64 &expected, u64 desired,
				      order o, order failed, bool weak, site s)
{
	arrive({call::kind::swap, w.at, s});
	const bool swapped = code.compare_exchange_or(w, expected, desired, o,
						      failed, weak, s);
	passed(swapped && !wrote_what_it_read());
	return swapped;
}

void loop_cutter::fence(order o, site s)
{
	arrive({call::kind::fence, nullptr, s});
	code.fence(o, s);
	passed(false);
}

void loop_cutter::read_plain(const void *at, usize bytes, site s)
{
	arrive({call::kind::plain, at, s});
	note_plain(at, bytes, false);
	code.read_plain(at, bytes, s);
	passed(false);
}

/* A store of the value that is there leaves the CPU's state the same. */
void loop_cutter::write_plain(const void *at, const void *with, usize bytes,
			      site s)
{
	arrive({call::kind::plain_store, at, s});
	note_plain(at, bytes, true);
	code.write_plain(at, with, bytes, s);
	passed(std::memcmp(at, with, bytes) != 0);
}

bool loop_cutter::irq_flag(bool enabled)
{
	arrive({call::kind::flag, nullptr, {nullptr, enabled}});
	const bool was = code.irq_flag(enabled);
	passed(false);
	return was;
}

void loop_cutter::relax(u32 times) { code.relax(times); }

/* -- Waits ----------------------------------------------------------------- */

u64 loop_cutter::await(window w, hooked::test done, hooked::pace p, order o,
		       site s)
{
	arrive({call::kind::wait, w.at, s});
	const u64 v = code.await(w, done, p, o, s);
	passed(false);
	return v;
}

u64 loop_cutter::await_patient(window w, hooked::patience p, order o, site s)
{
	arrive({call::kind::wait, w.at, s});
	const u64 v = code.await_patient(w, p, o, s);
	passed(false);
	return v;
}

u64 loop_cutter::await_until(window w, hooked::test done, u64 deadline, order o,
			     site s)
{
	arrive({call::kind::wait, w.at, s});
	const u64 v = code.await_until(w, done, deadline, o, s);
	passed(false);
	return v;
}

u64 loop_cutter::await_exchange(window w, u64 v, hooked::test done, order o,
				site s)
{
	arrive({call::kind::wait, w.at, s});
	const u64 found = code.await_exchange(w, v, done, o, s);
	passed(!wrote_what_it_read());
	return found;
}

void loop_cutter::await_either(window w, hooked::test done, window other,
			       hooked::test other_done, order o, site s)
{
	arrive({call::kind::wait, w.at, s});
	code.await_either(w, done, other, other_done, o, s);
	passed(false);
}

void loop_cutter::wait_while(window w, u64 old, order o, site s)
{
	arrive({call::kind::wait, w.at, s});
	code.wait_while(w, old, o, s);
	passed(false);
}

/* -- Operations that change something -------------------------------------- */

void loop_cutter::born(const void *at, usize bytes)
{
	code.born(at, bytes);
	passed(true);
}

void loop_cutter::dead(const void *at, usize bytes)
{
	code.dead(at, bytes);
	passed(true);
}

void loop_cutter::store(window w, u64 v, order o, site s)
{
	mine().last = s;
	bound({call::kind::store, w.at, s});
	code.store(w, v, o, s);
	passed(true);
}

void loop_cutter::notify(window w, bool all, site s)
{
	mine().last = s;
	code.notify(w, all, s);
	passed(true);
}

void loop_cutter::advance(window w, u64 from, u64 to, order o, site s)
{
	mine().last = s;
	bound({call::kind::store, w.at, s});
	code.advance(w, from, to, o, s);
	passed(true);
}

/* Time goes on: a loop that reads the clock makes no turn in vain. */
u64 loop_cutter::cycles()
{
	const u64 now = code.cycles();

	passed(true);
	return now;
}

} // namespace model
