/* SPDX-License-Identifier: MIT */
/*
 * standard - what std::atomic has besides: two orders, wait and notify
 */
#include "checker.hpp"

namespace model {

/* -- A compare-and-swap whose failure has an order of its own -------------- */

/* The read that the CPU has just run: which order it has, depends. */
void checker::remember(const reading &q)
{
	me().swaps.push_back({me().ran, q.at, *q.expected, q.ord, q.failed});
}

/* What a read's order is if it finds this word. */
order checker::order_found(ref read, u64 word) const
{
	if (const u32 known_as = g->at(read).step)
		return code.steps[known_as].how.order_for(word);
	for (const cpu_state::swap &s : cpus[read.cpu]->swaps)
		if (s.index == read.index)
			return s.at.look(word) == s.expected ? s.ord : s.failed;
	return g->at(read).ord;
}

bool checker::compare_exchange_or(window w, u64 &expected, u64 desired, order o,
				  order failed, bool weak, site s)
{
	may_interrupt();
	const u64 wanted = expected;
	const order with = effective(operation::rmw, o, s);
	/* On a machine a swap that fails is the same instruction. */
	const order alone = effective(operation::load, failed, s);
	const order fails_with = how->machine == machine::rc11 ? alone : with;

	if (weak && me().spurious_left && choose()) {
		me().spurious_left--;
		reading q = asking(w, fails_with);
		assume(q.at.look(do_rmw(q, s, "cas, fails")) == wanted);
		return false;
	}
	reading q = asking(w, with);
	q.failed = fails_with;
	q.writes = true;
	q.operand = desired;
	q.expected = &wanted;
	expected = w.look(do_rmw(q, s, "cas"));
	return expected == wanted;
}

void checker::assume(bool holds)
{
	if (holds)
		return;
	doing(step::does::drop);
	me().assumed = true;
	for (;;)
		leave(cpu_state::where::blocked);
}

/* -- Sleepers
 * ------------------------------------------------------------------
 *
 * A wait is explored twice: as an await, for who never slept, or woke for no
 * reason; and asleep. Who goes to sleep counts the notifications, looks at the
 * value once more, and then sees no new value before a new notification. With
 * the first, what a notification orders hides no mistake.
 */

window checker::bell_of(const window &w)
{
	std::unique_ptr<u64> &bell = bells[w.at];

	if (!bell)
		bell = std::make_unique<u64>(0);
	if (trace)
		known.add(bell.get(), sizeof(u64),
			  ("sleepers of " + known.of(w.at)).c_str());
	return {bell.get(), sizeof(u64), 0, 64, 0, hooked::holds::other};
}

/* A read of this order and no other, which waits if it is told until when. */
u64 checker::look(window w, order o, site s, const hooked::test *until)
{
	may_interrupt();
	const unsigned place = place_of(w, s);
	reading q(w, o);

	q.until = until;
	const u64 word = read(q, place).value;
	note(until ? "await" : "load", q, s, place);
	block_unless(q, word, s);
	return w.look(word);
}

void checker::wait_while(window w, u64 old, order written, site s)
{
	const auto differs = [](void *from, u64 v) {
		return v != *static_cast<u64 *>(from);
	};
	const order o = effective(operation::load, written, s);
	const hooked::test changed{differs, &old};

	about_to_wait();
	may_interrupt();
	if (!choose()) {
		look(w, o, s, &changed);
		return;
	}
	const window bell = bell_of(w);
	u64 rung = look(bell, order::acquire, s);
	const hooked::test rings{differs, &rung};
	assume(look(w, order::relaxed, s) == old);
	do {
		look(bell, order::acquire, s, &rings);
		rung = look(bell, order::acquire, s);
	} while (look(w, o, s) == old);
}

void checker::notify(window w, site s)
{
	may_interrupt();
	reading q(bell_of(w), order::acq_rel);

	q.writes = true;
	q.how = hooked::update::add;
	q.operand = 1;
	do_rmw(q, s, "notify");
}

/* -- Plain variables, told by the compiler ----------------------------------
 *
 * Byte by byte, for accesses of other sizes meet there. A CPU's own stack is
 * its own business, and what this port keeps is the checker's.
 */

static bool of_the_checker(const void *at)
{
	/* Where a call to it finds the function. */
	const void *table;
	std::memcpy(&table, hooked::running, sizeof(table));
	const usize from_table =
		static_cast<usize>(static_cast<const char *>(at) -
				   static_cast<const char *>(table));

	return at == &hooked::running || at == hooked::running ||
	       from_table < 64 * sizeof(void *) ||
	       at == &hooked::counter_mask || at == &detail::in_body;
}

void checker::touch(const void *at, usize bytes, bool writes,
		    const void *caller)
{
	const char *const first = static_cast<const char *>(at);

	if ((first >= me().stack.low() && first < me().stack.high()) ||
	    of_the_checker(at))
		return;

	may_interrupt();
	const site s = place_of_return(caller);
	const u8 epoch = static_cast<u8>(me().ran + 1);
	if (trace)
		trace->add(
			{cpu, (writes ? "write " : "read ") + known.of(at), s});
	if (detail::block_at(at).freed)
		report(bug::dead_object, "use of freed memory: " + known.of(at),
		       s);
	for (const char *byte = first; byte < first + bytes; byte++)
		blame(writes ? memory.write_plain(byte, 1, actor_at(epoch, s))
			     : memory.read_plain(byte, 1, actor_at(epoch, s)),
		      byte, s);
	if (writes)
		save(at, bytes);
	if (writes && cuts_loops)
		way_in.forget_turns();
}

void detail::plain_access(const void *at, usize bytes, bool writes,
			  const void *caller)
{
	const checker_runs now;

	if (hooked::running)
		the_checker().touch(at, bytes, writes, caller);
}

void detail::misuse(const char *what, site s)
{
	const detail::checker_runs now;

	the_checker().report(bug::failed_check, std::string("failed: ") + what,
			     s);
}

} // namespace model
