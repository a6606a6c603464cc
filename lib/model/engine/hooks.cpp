/* SPDX-License-Identifier: MIT */
/*
 * hooks - what the code under test calls: loops look at it, checker does it
 */
#include "checker.hpp"

namespace model {

namespace {

/* Clears what the engine left in the stack, below its caller. */
[[gnu::noinline]] void wipe()
{
	char room[engine_depth];

	std::memset(room, 0, sizeof(room));
	asm volatile("" ::"r"(room) : "memory");
}

} // namespace

void loops::passed(bool changed)
{
	if (changed)
		forget_turns();
	if (!heads.empty())
		wipe();
}

/* Whether the CPU's last event left the location's value as it was. */
bool loops::wrote_what_it_read() const
{
	const auto &events = c.g->sb[c.current()];
	const u8 ran = c.me().ran;
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
	c.read_plain(at, bytes, s);
	passed(false);
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
	c.advance(w, from, to, o, s);
	passed(true);
}

void loops::write_plain(const void *at, const void *with, usize bytes, site s)
{
	mine().last = s;
	c.write_plain(at, with, bytes, s);
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
