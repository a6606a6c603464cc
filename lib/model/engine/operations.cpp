/* SPDX-License-Identifier: MIT */
/*
 * operations - what each operation is in events
 *
 * A store to half of a pair is a read and a write that nothing comes between: a
 * merge into the one location. Plain accesses are no events: without a race,
 * what memory holds in a replay is what they find, for a replay keeps to
 * happens-before.
 */
#include "checker.hpp"

namespace model {

actor checker::actor_at(u8 epoch, site s) const
{
	const cpu_state &mine = *cpus[cpu];
	const clock seen = mine.ran ? g->sb[cpu][mine.ran - 1u].hb : clock{};

	return {cpu, epoch, seen, s};
}

/* One row of the timeline: the CPU's last event, or its last two. */
void checker::note(const char *name, const reading &q, site s, unsigned place)
{
	if (!trace)
		return;

	const ref last{static_cast<u8>(cpu), me().ran};
	const event &e = g->at(last);
	std::string row = std::string(name) + " " + known.of(q.at.at);
	const auto value = [&](u64 word) {
		if (q.at.what == hooked::holds::signed_number)
			return std::to_string(q.at.as_signed(word));
		return known.value(q.at.look(word), q.at.bits / 8u);
	};
	timeline::row r{cpu, "", s, {}, {}, place};

	if (q.at.bits < 8 * q.at.bytes)
		row += q.at.shift ? ".second" : ".first";
	row += " ";
	if (e.what == kind::write && e.exclusive) {
		r.read = {last.cpu, static_cast<u8>(last.index - 1)};
		r.write = last;
		row += value(g->at(r.read).value) + " -> " + value(e.value);
	} else if (e.what == kind::write) {
		r.write = last;
		row += "= " + value(e.value);
	} else {
		r.read = last;
		row += value(e.value);
	}
	r.text = row + " " + text(e.ord);
	trace->add(std::move(r));
}

void checker::blame(const conflict &c, const void *at, site s)
{
	if (!c.text)
		return;

	const bool race = std::string(c.text).starts_with("data race");
	report(race ? bug::data_race : bug::dead_object,
	       std::string(c.text) + " by cpu" + std::to_string(c.cpu) +
		       (c.where.file ? " at " + text(c.where) : "") + ": " +
		       known.of(at),
	       s);
}

/* The place in the graphs that a window looks at; checks that it lives. */
unsigned checker::place_of(window &w, site s)
{
	unsigned place;

	if (how->split_pairs && w.bits < 8 * w.bytes) {
		w.at = static_cast<const char *>(w.at) + w.shift / 8;
		w.bytes = w.bits / 8;
		w.shift = 0;
	}
	const u8 epoch = static_cast<u8>(me().ran + 1);
	blame(memory.use(w.at, w.bytes, actor_at(epoch, s), place), w.at, s);
	return place;
}

/* A reading of this window, by this order; counters may be narrower. */
reading checker::asking(const window &w, order o) const
{
	reading q(w, o);
	const u64 one = (u64{1} << how->counter_bits) - 1;

	if (!how->counter_bits || w.what != hooked::holds::counter)
		return q;
	if (w.pair)
		q.fits = one | one << 4 * w.bytes;
	else if (w.bytes <= 4)
		q.fits = one;
	return q;
}

/* -- Atomics -----------------------------------------------------------------
 */

u64 checker::load(window w, order o, site s)
{
	may_interrupt();
	const unsigned place = place_of(w, s);
	const reading q = asking(w, effective(operation::load, o, s));
	const u64 word = read(q, place).value;

	note("load", q, s, place);
	return w.look(word);
}

void checker::store(window w, u64 v, order o, site s)
{
	may_interrupt();
	const unsigned place = place_of(w, s);
	reading q = asking(w, effective(operation::store, o, s));

	if (w.bits == 8 * w.bytes) {
		write(q, place, v & w.mask() & q.fits);
	} else {
		/* What is merged into is not looked at: it orders nothing. */
		q.ord = order::relaxed;
		q.writes = true;
		q.operand = v;
		write(q, place, q.written(read(q, place).value));
	}
	note("store", q, s, place);
}

u64 checker::do_rmw(reading &q, site s, const char *name)
{
	const unsigned place = place_of(q.at, s);
	const u64 word = read(q, place).value;

	if (q.would_write(word))
		write(q, place, q.written(word));
	note(name, q, s, place);
	block_unless(q, word, s);
	return word;
}

u64 checker::rmw(window w, hooked::update update, u64 operand, order o, site s)
{
	static const char *const names[] = {"exchange",	 "fetch_add",
					    "fetch_sub", "fetch_or",
					    "fetch_and", "fetch_xor"};

	may_interrupt();
	reading q = asking(w, effective(operation::rmw, o, s));
	q.writes = true;
	q.how = update;
	q.operand = operand;
	return w.look(do_rmw(q, s, names[static_cast<int>(update)]));
}

bool checker::compare_exchange(window w, u64 &expected, u64 desired, order o,
			       site s)
{
	may_interrupt();
	const order with = effective(operation::rmw, o, s);
	if (how->split_pairs && w.pair)
		return swap_split(w, expected, desired, with, s);

	const u64 wanted = expected;
	reading q = asking(w, with);
	q.writes = true;
	q.operand = desired;
	q.expected = &wanted;
	expected = w.look(do_rmw(q, s, "cas"));
	return expected == wanted;
}

/* A pair of locations: the second read, then the first swapped. */
bool checker::swap_split(const window &w, u64 &expected, u64 desired,
			 order with, site s)
{
	window low = w, high = w;
	low.bits = high.bits = w.bits / 2;
	high.shift = low.bits;

	reading second(high, without_store(with));
	const unsigned place = place_of(second.at, s);
	const u64 found = read(second, place).value;
	note("cas, 2nd half", second, s, place);
	if (second.at.look(found) != high.look(expected))
		return false;

	const u64 wanted = low.look(expected);
	reading first = asking(low, with);
	first.writes = true;
	first.operand = low.look(desired);
	first.expected = &wanted;
	if (low.look(do_rmw(first, s, "cas, 1st half")) != wanted)
		return false;
	if (high.look(desired) != high.look(expected)) {
		const reading last(second.at, with);
		write(last, place, high.look(desired) & first.fits);
		note("cas, 2nd half", last, s, place);
	}
	return true;
}

void checker::fence(order o, site s)
{
	may_interrupt();
	if (me().ran == g->length(cpu)) {
		wait_for_turn(false);
		g->add_fence(cpu, effective(operation::fence, o, s));
	} else {
		effective(operation::fence, o, s);
	}
	const order was = next(kind::fence, 0).ord;
	me().ran++;
	if (trace)
		trace->add({cpu, std::string("fence ") + text(was), s});
}

/* -- Objects ------------------------------------------------------------------
 */

void checker::born(const void *at, usize bytes)
{
	const u8 epoch = static_cast<u8>(me().ran + 1);
	const site nowhere{nullptr, 0};

	blame(memory.born(at, bytes, actor_at(epoch, nowhere), me().births++),
	      at, nowhere);
}

void checker::dead(const void *at, usize bytes)
{
	const u8 epoch = static_cast<u8>(me().ran + 1);
	const site nowhere{nullptr, 0};

	may_interrupt();
	blame(memory.dead(at, bytes, actor_at(epoch, nowhere)), at, nowhere);
	if (trace)
		trace->add({cpu, "end of " + known.of(at), nowhere});
}

static std::string plain_value(const names &known, const void *at, usize bytes)
{
	u64 v = 0;

	if (bytes > sizeof(v))
		return "(" + std::to_string(bytes) + " bytes)";
	std::memcpy(&v, at, bytes);
	return known.value(v, static_cast<unsigned>(bytes));
}

void checker::read_plain(const void *at, usize bytes, site s)
{
	may_interrupt();
	if (trace)
		trace->add({cpu,
			    "read " + known.of(at) + " " +
				    plain_value(known, at, bytes),
			    s});
	const u8 epoch = static_cast<u8>(me().ran + 1);
	blame(memory.read_plain(at, bytes, actor_at(epoch, s)), at, s);
}

void checker::write_plain(const void *at, const void *with, usize bytes, site s)
{
	may_interrupt();
	if (trace)
		trace->add({cpu,
			    "write " + known.of(at) + " " +
				    plain_value(known, with, bytes),
			    s});
	const u8 epoch = static_cast<u8>(me().ran + 1);
	blame(memory.write_plain(at, bytes, actor_at(epoch, s)), at, s);
	save(at, bytes);
}

u64 checker::cycles() { return me().ran; }

} // namespace model
