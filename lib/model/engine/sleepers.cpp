/* SPDX-License-Identifier: MIT */
/*
 * sleepers - std::atomic's wait and notify, a part of the interpreter
 *
 * A wait is explored in two ways. As an await: the CPU never slept, or woke for
 * no reason. Asleep: it enters the queue of the object's sleepers, looks at the
 * value once more, and then sees no new value before it is woken. Because of
 * the first way, the order that a notification brings hides no mistake.
 *
 * notify_one() wakes the first of the queue. Sleepers enter it in each order,
 * so that each choice is explored: entering publishes nothing, and orders none
 * of them. C++ lets a notification wake those whose value was replaced before
 * it. If another sleeper was first, that sleeper could as well have come later:
 * it finds the write that it had read, and the execution does not count.
 */
#include "interpreter.hpp"

namespace model {

window interpreter::queue_of(const window &w)
{
	std::unique_ptr<u64> &queue = queues[w.at];

	if (!queue)
		queue = std::make_unique<u64>(0);
	if (reports.is_showing())
		reports.known.add(
			queue.get(), sizeof(u64),
			("sleepers of " + reports.known.of(w.at)).c_str());
	return {queue.get(), sizeof(u64), 0, 64, 0, hooked::holds::sleepers};
}

/* A read with exactly this order; it waits if `until` is given. */
u64 interpreter::look(window w, effect o, site s, const hooked::test *until)
{
	branch_over_interrupts();
	const unsigned location = location_of(w, s);
	reading q(w, o);

	q.until = until;
	const u64 word = read(q, location).value;
	note(until ? "await" : "load", q, s, location);
	block_unless(q, word, s);
	return w.look(word);
}

void interpreter::wait_while(window w, u64 old, order written, site s)
{
	const auto differs = [](void *from, u64 v) {
		return v != *static_cast<u64 *>(from);
	};
	const effect o = effective(operation::load, written, s);
	const hooked::test changed{differs, &old};

	about_to_wait();
	branch_over_interrupts();
	if (!choose()) {
		look(w, o, s, &changed);
		return;
	}
	const window queue = queue_of(w);
	const auto is_woken = [](void *place, u64 now) {
		return hooked::sleepers_woken(now) > *static_cast<u64 *>(place);
	};
	for (;;) {
		u64 place = enter(queue, s);
		const hooked::test woken{is_woken, &place};
		assume(look(w, {order::relaxed, o.op}, s) == old);
		const ref slept_on = last_read();
		look(queue, {order::acquire}, s, &woken);
		if (look(w, o, s) != old)
			return;
		assume(!(last_read() == slept_on));
	}
}

/* Returns how many sleepers were there before. */
u64 interpreter::enter(const window &queue, site s)
{
	branch_over_interrupts();
	reading q(queue, order::acquire);

	q.store_ord = order::relaxed;
	q.writes = true;
	q.by = hooked::update::add;
	q.operand = 1;
	return hooked::sleepers_came(do_rmw(q, s, "sleeps"));
}

/* The write that the CPU's last event has read. */
ref interpreter::last_read() const
{
	const unsigned cpu = cpus.current();

	return work.running().at({static_cast<u8>(cpu), cpus.ran()}).from;
}

void interpreter::notify(window w, bool all, site s)
{
	branch_over_interrupts();
	reading q(queue_of(w), order::relaxed);

	q.store_ord = order::release;
	q.writes = true;
	q.by = all ? hooked::update::wake_all : hooked::update::wake_one;
	do_rmw(q, s, all ? "notify_all" : "notify_one");
}

} // namespace model
