/* SPDX-License-Identifier: MIT */
#include "memory.hpp"
#include "crash.hpp"
#include "lines.hpp"

#include <model/body.hpp>

#include <algorithm>
#include <cstring>

namespace model {

void memory::start() { stacks.resize(cpus.made()); }

void memory::start_run(unsigned cpus_of_run)
{
	count = cpus_of_run;
	seen.start_run();
	unset.clear();
	for (unsigned c = 0; c < count; c++) {
		births[c] = 0;
		met[c].clear();
		last_unset[c] = {};
		stacks[c].start_run(cpus.stack(c).low(), cpus.stack(c).high(),
				    reports.is_showing());
	}
}

/* The current CPU, after its last event. */
actor memory::actor_at(site s) const
{
	const unsigned cpu = cpus.current();
	const u8 ran = cpus.ran();

	return {cpu, static_cast<u8>(ran + 1),
		ran ? work.running().sb[cpu][ran - 1u].hb : clock{}, s};
}

void memory::blame(const conflict &c, const void *at, site s, access_by by)
{
	if (c.found == bug::none)
		return;
	/* Inline assembly may be meant as an atomic. */
	if (by == access_by::untold && c.found == bug::mixed_access)
		reports.report(bug::unseen,
			       "refused: the compiler does not tell of this "
			       "access to an atomic: " +
				       reports.known.of(at),
			       s);
	if (reports.is_showing())
		reports.note_conflict(c);
	const char *more = "";
	if (by == access_by::untold)
		more = ", by an access that the compiler does not tell of (a "
		       "struct by value, a builtin, inline assembly)";
	/* The lock of such a pointer is let go by a relaxed operation. */
	if (by == access_by::atomic_pointer)
		more = ", within std::atomic<std::shared_ptr>: the C++ "
		       "library's own fault";
	reports.report(c.found,
		       std::string(c.text) + " by cpu" + std::to_string(c.cpu) +
			       (c.where.file ? " at " + text(c.where) : "") +
			       ": " + reports.known.of(at) + more,
		       s);
}

unsigned memory::location_of(const hooked::window &w, site s)
{
	if (w.what == hooked::holds::ended)
		return location_known(w.at);

	const object *const before = seen.find(w.at);
	const bool is_new = !before || before->location < 0 || !before->alive;
	const unsigned of = is_new ? on_stack_of(w.at) : none;
	const char *const first = static_cast<const char *>(w.at);
	unsigned location;

	report_unset();
	if (is_new) {
		must_be_memory(w.at, s);
		refuse_what_is_gone(w.at, w.bytes, s);
	}
	if (of == cpus.current()) {
		/* The object was in a frame that has ended. */
		if (before && !before->alive && !before->was_born)
			seen.born(w.at, w.bytes, actor_at(s), births[of]++);
		mine().shared.push_back(first);
	} else if (of != none) {
		meet_on_stack(of, first);
	}
	blame(seen.use(w.at, w.bytes, actor_at(s), location), w.at, s);
	if (is_new && detail::is_unset(w.at, w.bytes))
		unset.push_back(location);
	return location;
}

unsigned memory::location_known(const void *at) const
{
	return static_cast<unsigned>(seen.location_known(at));
}

void memory::born(const void *at, usize bytes)
{
	const site nowhere{nullptr, 0};

	if (mine().contains(at))
		mine().forget(static_cast<const char *>(at), bytes);
	blame(seen.born(at, bytes, actor_at(nowhere), births[cpus.current()]++),
	      at, nowhere);
}

void memory::dead(const void *at, usize bytes)
{
	const site nowhere{nullptr, 0};

	blame(seen.dead(at, bytes, actor_at(nowhere)), at, nowhere);
	if (mine().contains(at))
		mine().forget(static_cast<const char *>(at), bytes);
}

void memory::read(const void *at, usize bytes, site s)
{
	blame(seen.read_plain(at, bytes, actor_at(s)), at, s);
}

void memory::write(const void *at, usize bytes, site s)
{
	blame(seen.write_plain(at, bytes, actor_at(s)), at, s);
	save(at, bytes);
}

/* -- Plain data, as the compiler tells of them -------------------------------
 */

/* The CPU whose stack it is on. */
unsigned memory::on_stack_of(const void *at) const
{
	for (unsigned c = 0; c < count; c++)
		if (stacks[c].contains(at))
			return c;
	return none;
}

/* It is another CPU's stack: that CPU's accesses to it must be known now. */
void memory::meet_on_stack(unsigned of, const char *at)
{
	own_stack &own = stacks[of];

	if (!own.told())
		return;
	own_stack::byte &b = own.at(at);
	if (b.shared || (!b.wrote && !b.read))
		return;
	const own_stack::end *const end = own.end_of(at);
	if (end && of == cpus.current())
		return;
	const own_stack::callers by = own.callers_of(at);
	seen.adopt(at, of, {b.wrote, place_of_return(by.writer, false)},
		   {b.read, place_of_return(by.reader, false)},
		   end ? end->epoch : 0);
	if (!end)
		own.share(at);
}

/* Reports a use of freed memory, or of another thread's local storage. */
void memory::refuse_what_is_gone(const void *at, usize bytes, site s)
{
	look_at_bounds(at, bytes, s);
	if (detail::block_at(at).freed)
		reports.report(bug::dead_object,
			       "use of freed memory: " + reports.known.of(at),
			       s);
	look_at_thread_local(at, bytes, s);
}

/*
 * A CPU's thread_local ends with the CPU. If another accesses it, either of the
 * two must come before the other.
 */
void memory::look_at_thread_local(const void *at, usize bytes, site s)
{
	const unsigned of = cpus.locals.owner(at);
	const auto *const first = static_cast<const char *>(at);

	if (const char *const reason = cpus.locals.refused(at))
		reports.report(bug::unseen,
			       "refused: a thread_local that is one for all "
			       "CPUs (" +
				       std::string(reason) +
				       "): " + reports.known.of(at),
			       s);
	if (of >= count || of == cpus.current())
		return;
	if (cpus.state_of(of) == scheduler::state::done)
		reports.report(bug::dead_object,
			       "use of a thread_local whose CPU has ended: " +
				       reports.known.of(at),
			       s);
	for (const char *byte = first; byte < first + bytes; byte++)
		if (std::find(met[of].begin(), met[of].end(), byte) ==
		    met[of].end())
			met[of].push_back(byte);
}

void memory::thread_locals_end(site s)
{
	for (const char *const byte : met[cpus.current()])
		blame(seen.ended(byte, actor_at(s)), byte, s);
}

/* Reports an access of the heap that no block has as a whole. */
void memory::look_at_bounds(const void *at, usize bytes, site s)
{
	const detail::block_of near = detail::block_at(at);
	const auto *const first = static_cast<const char *>(at);
	const auto *const start = static_cast<const char *>(near.start);
	const auto *const next = static_cast<const char *>(near.next);
	const auto count = [](std::ptrdiff_t n) {
		return std::to_string(n) + (n == 1 ? " byte" : " bytes");
	};
	std::string where;
	/* Beyond one block: most indices that are wrong are too large. */
	constexpr std::ptrdiff_t nearest = 64;

	if (!start && !next)
		return;
	if (start && first + bytes <= start + near.bytes)
		return;
	if (start && (!next || next - first > nearest))
		where = count(first + bytes - (start + near.bytes)) +
			" beyond the end of " + reports.known.of(start) +
			", which has " +
			count(static_cast<std::ptrdiff_t>(near.bytes));
	else
		where = count(next - first) + " before the start of " +
			reports.known.of(next);
	reports.report(bug::bad_memory, "out of bounds: " + where, s);
}

/*
 * Reports a load of heap memory that nothing was stored to. A compiler loads a
 * bit-field's neighbours before a store to it: a load is reported with what
 * comes next.
 */
void memory::look_at_unset(const void *at, usize bytes, access_is is, site s)
{
	constexpr usize word = sizeof(u64);
	unset_load &last = last_unset[cpus.current()];

	if (is == access_is::end_of_copy ||
	    (is == access_is::store && last.at == at && last.bytes == bytes))
		last = {};
	report_unset();
	if (is == access_is::load && bytes <= word &&
	    detail::is_unset(at, bytes))
		last = {at, bytes, s};
}

void memory::report_last_unset()
{
	const unset_load &last = last_unset[cpus.current()];

	reports.report(bug::bad_memory,
		       "a read of memory that nothing was stored to: " +
			       reports.known.of(last.at),
		       last.where);
}

void memory::look_at_start(unsigned location, const void *at, site s)
{
	for (const unsigned one : unset)
		if (one == location)
			reports.report(
				bug::bad_memory,
				"a read of an atomic that nothing was stored "
				"to: " + reports.known.of(at),
				s);
}

u64 memory::newest_of(const void *at) const
{
	const graph &g = work.running();
	const object *const o = seen.find(at);

	if (!o || o->location < 0)
		return 0;
	const unsigned location = static_cast<unsigned>(o->location);
	const unsigned newest = g.last(location);
	return newest ? g.at(g.write_at(location, newest)).value : 0;
}

bool memory::is_on_own_stack(const void *at) const
{
	return on_stack_of(at) == cpus.current();
}

bool memory::note_private(const void *at, usize bytes, bool writes,
			  const void *caller)
{
	return is_on_own_stack(at) &&
	       mine().accessed(static_cast<const char *>(at), bytes, writes,
			       static_cast<u8>(cpus.ran() + 1), caller);
}

void memory::touch(const void *at, usize bytes, access_is is, bool writes,
		   site s)
{
	const char *const first = static_cast<const char *>(at);
	const unsigned of = on_stack_of(at), cpu = cpus.current();
	const access_by by = is == access_is::untold ? access_by::untold
			     : in_atomic_pointer     ? access_by::atomic_pointer
						     : access_by::statement;

	if (of == none) {
		refuse_what_is_gone(at, bytes, s);
		look_at_unset(at, bytes, is, s);
	}
	for (const char *byte = first; byte < first + bytes; byte++) {
		if (of != none)
			meet_on_stack(of, byte);
		if (of == cpu && !mine().at(byte).shared)
			mine().share(byte);
		seen.meet_byte(byte, actor_at(s), of == none || of == cpu);
		blame(writes ? seen.write_plain(byte, 1, actor_at(s))
			     : seen.read_plain(byte, 1, actor_at(s)),
		      byte, s, by);
	}
	if (writes) {
		must_be_memory(at, s);
		save(at, bytes);
	}
}

void memory::storage_ends(const void *at, usize bytes, const void *caller)
{
	const actor by = actor_at(place_of_return(caller));
	const char *const first = static_cast<const char *>(at);

	for (const char *byte = first; byte < first + bytes; byte++)
		blame(seen.ended(byte, by), byte, by.where);
}

usize memory::frame(const char *at, const void *returns_to, const void *caller)
{
	own_stack &own = mine();

	report_unset();
	if (returns_to) {
		own.enter(at, returns_to);
		return shallow_depth;
	}
	const char *const above =
		own.leave(at, static_cast<u8>(cpus.ran() + 1));
	if (!above || own.shared.empty())
		return shallow_depth;
	const site s = place_of_return(caller);
	std::erase_if(own.shared, [&](const char *byte) {
		if (byte >= above)
			return false;
		own.at(byte).shared = false;
		own.forget(byte, 1);
		blame(seen.ended(byte, actor_at(s)), byte, s);
		return true;
	});
	return engine_depth;
}

site memory::line_of_caller(site s) const
{
	const own_stack &own = stacks[cpus.current()];

	for (usize depth = own.calls.size(); is_of_library(s) && depth--;) {
		in_atomic_pointer |=
			std::strstr(s.file, "/shared_ptr_atomic.h") != nullptr;
		s = line_of_return(own.calls[depth].returns_to);
	}
	return s;
}

site memory::place_of_return(const void *to, bool own)
{
	last_caller = to;
	if (!reports.is_showing() && !task.needs_lines())
		return {nullptr, static_cast<int>(reinterpret_cast<usize>(to))};
	const site innermost = line_of_return(to);
	in_atomic_pointer = false;
	if (!is_of_library(innermost) || !hooked::running || !own)
		return innermost;
	/* If the compiler does not tell of calls, the stack does. */
	site s = line_of_caller(innermost);
	if (is_of_library(s))
		s = model::line_of_caller(to);
	return s.file && !is_of_library(s) ? s : innermost;
}

/* -- Changes by the run --------------------------------------------------- */

/* The run's world, stacks and heap do not outlive it. */
void memory::save(const void *at, usize bytes)
{
	const char *const byte = static_cast<const char *>(at);
	const char *const world = static_cast<const char *>(task.code->world);

	if (byte >= world && byte < world + task.code->world_bytes)
		return;
	if (detail::block_at(at).start)
		return;
	if (on_stack_of(at) != none ||
	    cpus.locals.owner(at) != thread_locals::none)
		return;
	const auto *was = static_cast<const u8 *>(at);
	changed.push_back({const_cast<void *>(at), {was, was + bytes}});
}

void memory::restore()
{
	for (; !changed.empty(); changed.pop_back())
		std::memcpy(changed.back().at, changed.back().was.data(),
			    changed.back().was.size());
}

void memory::put_last_values()
{
	seen.for_each([&](const object &o) {
		if (!o.atomic || !o.alive)
			return;
		const event *const newest = work.running().newest(
			static_cast<unsigned>(o.location));
		if (!newest)
			return;
		void *const at = const_cast<void *>(o.at);
		save(at, o.bytes);
		std::memcpy(at, &newest->value, o.bytes);
	});
}

} // namespace model
