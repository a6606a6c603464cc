/* SPDX-License-Identifier: MIT */
/*
 * operations - what each operation is in events
 *
 * A store to a field of a word is a read and a write that nothing comes
 * between: a merge into the one location. Plain accesses are no events: without
 * a race, what memory holds in a replay is what they find, for a replay keeps
 * to happens-before.
 */
#include "checker.hpp"

namespace model {

actor checker::actor_at(u8 epoch, site s) const
{
	const cpu_state &mine = *cpus[cpu];
	const clock seen = mine.ran ? g->sb[cpu][mine.ran - 1u].hb : clock{};

	return {cpu, epoch, seen, s};
}

/* ".first" and ".second" of a pair; ".0", ".1" .. of more fields. */
static std::string field_name(const hooked::window &w)
{
	if (w.bits * 2 == 8 * w.bytes)
		return w.shift ? ".second" : ".first";
	return "." + std::to_string(w.shift / w.bits);
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
		row += field_name(q.at);
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
	if (c.found == bug::none)
		return;
	report(c.found,
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

/* The place of a window that has been used. */
unsigned checker::place_known(const window &w) const
{
	return static_cast<unsigned>(memory.find(w.at)->place);
}

/* A reading of this window, by this order; counters may be narrower. */
reading checker::asking(const window &w, order o) const
{
	reading q(w, o);
	const u64 one = (u64{1} << how->counter_bits) - 1;

	if (!how->counter_bits || w.what != hooked::holds::counter)
		return q;
	if (w.field)
		for (q.fits = 0; q.fits < one << (8 * w.bytes - w.field);)
			q.fits = q.fits << w.field | one;
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
	const u64 word = do_rmw(q, s, names[static_cast<int>(update)]);
	return q.at.look(word);
}

bool checker::compare_exchange(window w, u64 &expected, u64 desired, order o,
			       site s)
{
	may_interrupt();
	const order with = effective(operation::rmw, o, s);
	if (how->split_pairs && w.field)
		return swap_split(w, expected, desired, with, s);

	const u64 wanted = expected;
	reading q = asking(w, with);
	q.writes = true;
	q.operand = desired;
	q.expected = &wanted;
	expected = w.look(do_rmw(q, s, "cas"));
	return expected == wanted;
}

/* -- Fields of a word as locations of their own ------------------------------
 */

static window field_of(window w, unsigned i)
{
	w.shift = static_cast<u8>(i * w.field);
	w.bits = w.field;
	return w;
}

/* False: that field holds something else. */
bool checker::is_still(const window &field, u64 expected, order by, site s)
{
	reading q(field, without_store(by));
	const unsigned place = place_of(q.at, s);
	const u64 found = q.at.look(read(q, place).value);

	note("cas, look", q, s, place);
	return found == field.look(expected);
}

/*
 * The last field that changes is swapped, after a look at the others, the last
 * first; then what changes besides is stored.
 */
bool checker::swap_split(const window &w, u64 &expected, u64 desired,
			 order with, site s)
{
	const unsigned fields = w.bits / w.field;
	const auto changes = [&](unsigned i) {
		const window f = field_of(w, i);
		return f.look(desired) != f.look(expected);
	};
	unsigned chosen = fields - 1;

	while (chosen && !changes(chosen))
		chosen--;
	for (unsigned i = fields; i-- > 0;)
		if (i != chosen && !is_still(field_of(w, i), expected, with, s))
			return false;

	const window swapped = field_of(w, chosen);
	const u64 wanted = swapped.look(expected);
	reading q = asking(swapped, with);
	q.writes = true;
	q.operand = swapped.look(desired);
	q.expected = &wanted;
	const u64 word = do_rmw(q, s, "cas, swap");
	if (q.at.look(word) != wanted)
		return false;
	for (unsigned i = 0; i < fields; i++) {
		if (i == chosen || !changes(i))
			continue;
		reading last = asking(field_of(w, i), with);
		const unsigned place = place_of(last.at, s);
		write(last, place, last.at.look(desired >> i * w.field));
		note("cas, store", last, s, place);
	}
	return true;
}

/* What changes is added to, the first field first. */
void checker::advance(window w, u64 from, u64 to, order o, site s)
{
	if (!how->split_pairs) {
		rmw(w, hooked::update::add, (to - from) & w.mask(), o, s);
		return;
	}
	may_interrupt();
	const order with = effective(operation::rmw, o, s);
	for (unsigned i = 0; i < w.bits / w.field; i++) {
		const window f = field_of(w, i);
		if (f.look(from) == f.look(to))
			continue;
		reading q = asking(f, with);
		q.writes = true;
		q.how = hooked::update::add;
		q.operand = f.look(to) - f.look(from);
		do_rmw(q, s, "add");
	}
}

void checker::fence(order o, site s)
{
	may_interrupt();
	const order was = effective(operation::fence, o, s);
	if (step *const now_known = doing(step::does::fence))
		now_known->how.ord = was;
	if (me().ran == g->length(cpu)) {
		wait_for_turn(false);
		g->step = me().step;
		g->add_fence(cpu, was);
	}
	const event &e = next(kind::fence, 0);
	wait_for_past(e);
	if (g->unsure && e.ord != was)
		stop();
	me().ran++;
	went(0);
	if (trace)
		trace->add({cpu, std::string("fence ") + text(was), s});
}

/* -- Objects ------------------------------------------------------------------
 */

void checker::born(const void *at, usize bytes)
{
	const u8 epoch = static_cast<u8>(me().ran + 1);
	const site nowhere{nullptr, 0};

	not_walkable();
	blame(memory.born(at, bytes, actor_at(epoch, nowhere), me().births++),
	      at, nowhere);
}

void checker::dead(const void *at, usize bytes)
{
	const u8 epoch = static_cast<u8>(me().ran + 1);
	const site nowhere{nullptr, 0};

	not_walkable();
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
	count_idle(s);
	may_interrupt();
	if (trace)
		trace->add({cpu,
			    "read " + known.of(at) + " " +
				    plain_value(known, at, bytes),
			    s});
	const u8 epoch = static_cast<u8>(me().ran + 1);
	blame(memory.read_plain(at, bytes, actor_at(epoch, s)), at, s);
	learn_plain(step::does::read_plain, at, bytes, at);
}

void checker::write_plain(const void *at, const void *with, usize bytes, site s)
{
	count_idle(s);
	may_interrupt();
	if (trace)
		trace->add({cpu,
			    "write " + known.of(at) + " " +
				    plain_value(known, with, bytes),
			    s});
	const u8 epoch = static_cast<u8>(me().ran + 1);
	blame(memory.write_plain(at, bytes, actor_at(epoch, s)), at, s);
	save(at, bytes);
	learn_plain(step::does::write_plain, at, bytes, with);
}

u64 checker::cycles() { return me().ran; }

} // namespace model
