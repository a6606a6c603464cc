/* SPDX-License-Identifier: MIT */
/*
 * plain_data - plain variables, as the compiler tells of their accesses
 *
 * Byte by byte, for accesses of other sizes meet there. A CPU's own stack is
 * its own business, and what this port keeps is the checker's.
 */
#include "checker.hpp"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>

namespace model {

static bool of_the_checker(const void *at)
{
	/* The table in which a call to it finds the function. */
	const void *table;
	std::memcpy(&table, static_cast<const void *>(hooked::running),
		    sizeof(table));
	const usize from_table =
		static_cast<usize>(static_cast<const char *>(at) -
				   static_cast<const char *>(table));

	return at == &hooked::running || at == hooked::running ||
	       from_table < 64 * sizeof(void *) ||
	       at == &hooked::counter_mask || at == &detail::in_body;
}

/* The CPU whose stack it is on. */
unsigned checker::on_stack_of(const void *at) const
{
	for (unsigned c = 0; c < execution().cpus; c++)
		if (code_on[c].own.has(at))
			return c;
	return none;
}

/* Another CPU's: what that one did there is of interest now. */
void checker::meet_on_stack(unsigned of, const char *at)
{
	own_stack &own = code_on[of].own;

	if (!own.told())
		return;
	own_stack::byte &b = own.at(at);
	if (b.shared || (!b.wrote && !b.read))
		return;
	const own_stack::end *const end = own.end_of(at);
	if (end && of == cpus.current())
		return;
	const own_stack::callers by = own.callers_of(at);
	memory.adopt(at, of, {b.wrote, place_of_return(by.writer, false)},
		     {b.read, place_of_return(by.reader, false)},
		     end ? end->epoch : 0);
	if (!end)
		own.share(at);
}

/* Reports a use of freed memory, or of another thread's local storage. */
void checker::refuse_what_is_gone(const void *at, site s)
{
	if (detail::block_at(at).freed)
		reports.report(bug::dead_object,
			       "use of freed memory: " + reports.known.of(at),
			       s);
	for (const auto &[from, to] : thread_locals)
		if (at >= from && at < to)
			reports.report(
				bug::unseen,
				"refused: a thread_local, which is one for all "
				"CPUs here: " +
					reports.known.of(at),
				s);
}

void checker::touch(const void *at, usize bytes, bool writes,
		    const void *caller, detail::access_of by)
{
	if (detail::intends && !of_the_checker(at) &&
	    intended_access(at, bytes, writes, caller, by))
		return;
	const char *const first = static_cast<const char *>(at);
	const u8 epoch = static_cast<u8>(cpus.ran() + 1);
	const unsigned of = on_stack_of(at);

	if (cuts_loops)
		way_in.settle();
	if (of_the_checker(at) ||
	    (of == cpus.current() &&
	     me().own.accessed(first, bytes, writes, epoch, caller)))
		return;
	if (of != cpus.current())
		branch_over_interrupts();
	const site s = place_of_return(caller);
	count_idle(s, false);
	if (reports.is_showing())
		note_plain(at, bytes, writes, "", s);
	if (of == none)
		refuse_what_is_gone(at, s);
	for (const char *byte = first; byte < first + bytes; byte++) {
		if (of != none)
			meet_on_stack(of, byte);
		if (of == cpus.current() && !me().own.at(byte).shared)
			me().own.share(byte);
		memory.meet_byte(byte, actor_at(epoch, s),
				 of == none || of == cpus.current());
		blame(writes ? memory.write_plain(byte, 1, actor_at(epoch, s))
			     : memory.read_plain(byte, 1, actor_at(epoch, s)),
		      byte, s);
	}
	if (writes) {
		must_be_memory(at, s);
		save(at, bytes);
	}
	if (cuts_loops && of != cpus.current())
		way_in.touch(at, bytes, writes);
}

void checker::storage_ends(const void *at, usize bytes, const void *caller)
{
	const actor by = actor_at(static_cast<u8>(cpus.ran() + 1),
				  place_of_return(caller));
	const char *const first = static_cast<const char *>(at);

	for (const char *byte = first; byte < first + bytes; byte++)
		blame(memory.ended(byte, by), byte, by.where);
}

void checker::frame(const char *at, const void *returns_to, const void *caller)
{
	const u8 epoch = static_cast<u8>(cpus.ran() + 1);
	own_stack &own = me().own;

	if (returns_to) {
		own.enter(at, returns_to);
		return;
	}
	const char *const above = own.leave(at, epoch);
	if (!above || own.shared.empty())
		return;
	const site s = place_of_return(caller);
	std::erase_if(own.shared, [&](const char *byte) {
		if (byte >= above)
			return false;
		own.at(byte).shared = false;
		own.forget(byte, 1);
		blame(memory.ended(byte, actor_at(epoch, s)), byte, s);
		return true;
	});
}

void detail::storage_ends(const void *at, usize bytes, const void *caller)
{
	const code_calls now;

	if (hooked::running)
		the_checker().storage_ends(at, bytes, caller);
}

void detail::frame(const void *at, const void *returns_to, const void *caller)
{
	const code_calls now;

	the_checker().frame(static_cast<const char *>(at), returns_to, caller);
	the_checker().leave_no_traces();
}

void detail::plain_access(const void *at, usize bytes, bool writes,
			  const void *caller, access_of by)
{
	const checker_runs now;

	if (hooked::running)
		the_checker().touch(at, bytes, writes, caller, by);
	the_checker().leave_no_traces();
}

void detail::misuse(const char *what, site s)
{
	const detail::checker_runs now;

	the_checker().reports.report(bug::failed_check,
				     std::string("failed: ") + what, s);
}

void detail::refuse(const char *what, const void *caller)
{
	const detail::checker_runs now;
	char *const plain =
		abi::__cxa_demangle(what, nullptr, nullptr, nullptr);
	std::string text = std::string("refused: ") + (plain ? plain : what);

	if (!plain && !std::strchr(what, ' '))
		text += "()";
	if (plain || !std::strchr(what, ' '))
		text += ", of which the checker cannot see what it does";
	std::free(plain);
	if (hooked::running)
		the_checker().reports.report(
			bug::unseen, text,
			the_checker().place_of_return(caller));
	std::fprintf(stderr, "%s\n", text.c_str());
	std::abort();
}

} // namespace model
