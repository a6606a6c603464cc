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

#include <klock/os.hpp>

namespace model {

actor checker::actor_at(u8 epoch, site s) const
{
	const unsigned cpu = cpus.current();
	const u8 ran = cpus.ran();

	return {cpu, epoch, ran ? execution().sb[cpu][ran - 1u].hb : clock{},
		s};
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
	if (!reports.is_showing())
		return;

	const ref last{static_cast<u8>(cpus.current()), cpus.ran()};
	const event &e = execution().at(last);
	std::string row = std::string(name) + " " + reports.known.of(q.at.at);
	const auto value = [&](u64 word) {
		if (q.at.what == hooked::holds::signed_number)
			return std::to_string(q.at.as_signed(word));
		return reports.known.value(q.at.look(word), q.at.bits / 8u);
	};
	timeline::row r{cpus.current(), "", s, {}, {}, place};
	r.at = static_cast<const char *>(q.at.at);
	r.bytes = q.at.bytes;

	if (q.at.bits < 8 * q.at.bytes)
		row += field_name(q.at);
	row += " ";
	if (e.what == kind::write && e.exclusive) {
		r.read = {last.cpu, static_cast<u8>(last.index - 1)};
		r.write = last;
		row += value(execution().at(r.read).value) + " -> " +
		       value(e.value);
	} else if (e.what == kind::write) {
		r.write = last;
		row += "= " + value(e.value);
	} else {
		r.read = last;
		row += value(e.value);
	}
	r.text = row + " " + text(e.ord);
	reports.add(std::move(r));
}

void checker::blame(const conflict &c, const void *at, site s)
{
	if (c.found == bug::none)
		return;
	if (reports.is_showing())
		reports.note_conflict(c);
	reports.report(c.found,
		       std::string(c.text) + " by cpu" + std::to_string(c.cpu) +
			       (c.where.file ? " at " + text(c.where) : "") +
			       ": " + reports.known.of(at),
		       s);
}

/* The place in the graphs that a window looks at; checks that it lives. */
unsigned checker::place_of(window &w, site s)
{
	unsigned place;

	if (task.given->split_pairs && w.bits < 8 * w.bytes) {
		const bool joined = w.shift < w.together;

		w.bytes = (joined ? w.together : w.bits) / 8;
		if (!joined) {
			w.at = static_cast<const char *>(w.at) + w.shift / 8;
			w.shift = 0;
		}
	}
	const u8 epoch = static_cast<u8>(cpus.ran() + 1);
	const object *const met = memory.find(w.at);
	const bool is_new = !met || met->place < 0 || !met->alive;
	const unsigned of = is_new ? on_stack_of(w.at) : none;
	const char *const first = static_cast<const char *>(w.at);
	if (is_new) {
		must_be_memory(w.at, s);
		refuse_what_is_gone(w.at, s);
	}
	if (of == cpus.current()) {
		/* The object was in a frame that has ended. */
		if (met && !met->alive && !met->was_born)
			memory.born(w.at, w.bytes, actor_at(epoch, s),
				    me().births++);
		me().own.shared.push_back(first);
	} else if (of != none) {
		meet_on_stack(of, first);
	}
	blame(memory.use(w.at, w.bytes, actor_at(epoch, s), place), w.at, s);
	return place;
}

/* The place of a window that has been used. */
unsigned checker::place_known(const window &w) const
{
	return static_cast<unsigned>(memory.find(w.at)->place);
}

/* A reading of this window, by this order; counters may be narrower. */
reading checker::asking(const window &w, effect o) const
{
	reading q(w, o);
	const u64 one = (u64{1} << task.given->counter_bits) - 1;

	if (!task.given->counter_bits || w.what != hooked::holds::counter)
		return q;
	if (w.field)
		for (q.fits = 0; q.fits < one << (8 * w.bytes - w.field);)
			q.fits = q.fits << w.field | one;
	else if (w.bytes <= 4)
		q.fits = one;
	return q;
}

/* -- Events ------------------------------------------------------------------
 */

/* The CPU's next event, which the graph has; the code must agree. */
const event &checker::next(kind what_it_is, unsigned place, u16 op)
{
	graph &g = work.running();
	event &e = g.at(cpus.next_event());

	e.step = learning.current_step();
	e.op = op;
	if (e.what == what_it_is && e.place == place)
		return e;
	if (cpus.now() == scheduler::phase::comparing || g.unsure)
		cpus.stop();
	learning.report_otherwise();
	return e;
}

/* Whether the graph does not have the CPU's next event yet. */
bool checker::is_at_end() const
{
	const unsigned cpu = cpus.current();

	return cpus.ran(cpu) == work.running().length(cpu);
}

/* Shows the learner which values, of those there are, would end a wait. */
void checker::learn_ends(const reading &q, unsigned place)
{
	const graph &g = work.running();

	if (!q.until || !learning.is_learning_step())
		return;
	for (unsigned p =
		     floor(g, place, g.seen_before(g.next_of(cpus.current())));
	     p <= g.last(place); p++) {
		const u64 value = q.at.look(branches.word_at(place, p, q.at));
		learning.note_end(value, (*q.until)(value));
	}
}

const event &checker::read(const reading &q, unsigned place)
{
	learning.reads(q, place);
	if (is_at_end()) {
		wait_for_turn(false);
		while (symmetry.holds_back(work.running(), q))
			cpus.leave(scheduler::state::at_end);
		learn_ends(q, place);
		branches.read(q, place);
	}

	const event &e = next(kind::read, place, q.op);
	if (!e.from.initial() && !e.early)
		cpus.wait_for(e.from);
	early.wait_for_past(e);
	if (work.running().unsure)
		early.read_again(q);
	cpus.count_event();
	if (q.expected && q.failed != q.ord)
		branches.note_swap(q);
	learning.went(e.value);
	return e;
}

void checker::write(const reading &q, unsigned place, u64 word)
{
	learning.writes(q, place, word);
	if (is_at_end()) {
		wait_for_turn(q.writes);
		branches.write(q, place, word);
	}
	const event &e = next(kind::write, place, q.op);
	if (work.running().unsure ? !early.keeps_promise(q, word)
				  : cpus.now() == scheduler::phase::comparing &&
					    e.value != word)
		cpus.stop();
	if (e.value != word)
		learning.report_otherwise();
	cpus.count_event();
	learning.went(0);
}

u64 checker::choose(u64 n)
{
	learning.chooses(n);
	if (is_at_end()) {
		wait_for_turn(false);
		branches.choose(n);
	}
	const event &e = next(kind::choice, 0, 0);
	cpus.count_event();
	learning.went(e.value);
	return e.value;
}

/* -- Atomics -----------------------------------------------------------------
 */

u64 checker::load(window w, order o, site s)
{
	branch_over_interrupts();
	const unsigned place = place_of(w, s);
	const reading q = asking(w, effective(operation::load, o, s));
	const u64 word = read(q, place).value;

	note("load", q, s, place);
	return w.look(word);
}

void checker::store(window w, u64 v, order o, site s)
{
	branch_over_interrupts();
	const unsigned place = place_of(w, s);
	reading q = asking(w, effective(operation::store, o, s));

	if (w.bits == 8 * w.bytes) {
		write(q, place, v & w.mask() & q.fits);
	} else {
		/* The value that a part is merged into orders nothing. */
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

	branch_over_interrupts();
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
	branch_over_interrupts();
	const effect with = effective(operation::rmw, o, s);
	if (task.given->split_pairs && w.field)
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

/* Reads that field; returns false where it holds another value. */
bool checker::read_equals(const window &field, u64 expected, order by, site s)
{
	reading q(field, without_store(by));
	const unsigned place = place_of(q.at, s);
	const u64 found = q.at.look(read(q, place).value);

	note("cas, look", q, s, place);
	return found == field.look(expected);
}

/*
 * The last location that changes is swapped, after a look at the others, the
 * last first; then what changes besides is stored. Fields that are accessed
 * together are one location.
 */
bool checker::swap_split(const window &w, u64 &expected, u64 desired,
			 effect with, site s)
{
	window parts[4];
	unsigned count = 0;
	const auto changes = [&](const window &f) {
		return f.look(desired) != f.look(expected);
	};

	for (unsigned i = 0; i * w.field < w.bits; i++) {
		window f = field_of(w, i);

		if (f.shift < w.together) {
			f.bits = w.together;
			i = w.together / w.field - 1u;
		}
		parts[count++] = f;
	}
	unsigned chosen = count - 1;

	while (chosen && !changes(parts[chosen]))
		chosen--;
	for (unsigned i = count; i-- > 0;)
		if (i != chosen &&
		    !read_equals(parts[i], expected, with.ord, s))
			return false;

	const window swapped = parts[chosen];
	const u64 wanted = swapped.look(expected);
	reading q = asking(swapped, with);
	q.writes = true;
	q.operand = swapped.look(desired);
	q.expected = &wanted;
	const u64 word = do_rmw(q, s, "cas, swap");
	if (q.at.look(word) != wanted)
		return false;
	for (unsigned i = 0; i < chosen; i++) {
		if (!changes(parts[i]))
			continue;
		reading last = asking(parts[i], with);
		const unsigned place = place_of(last.at, s);
		write(last, place, parts[i].look(desired));
		note("cas, store", last, s, place);
	}
	return true;
}

/* Adds to the fields that change, the first one first; at once if possible. */
void checker::advance(window w, u64 from, u64 to, order o, site s)
{
	const bool apart = (from ^ to) >> w.together;

	if (task.given->split_pairs && !apart)
		w.bits = w.together;
	if (!task.given->split_pairs || !apart) {
		rmw(w, hooked::update::add, (to - from) & w.mask(), o, s);
		return;
	}
	branch_over_interrupts();
	const effect with = effective(operation::rmw, o, s);
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
	branch_over_interrupts();
	const effect with = effective(operation::fence, o, s);
	learning.fences(with);
	if (is_at_end()) {
		wait_for_turn(false);
		branches.fence(with);
	}
	const event &e = next(kind::fence, 0, with.op);
	early.wait_for_past(e);
	if (work.running().unsure && e.ord != with.ord)
		cpus.stop();
	cpus.count_event();
	learning.went(0);
	if (reports.is_showing())
		reports.add({cpus.current(),
			     std::string("fence ") + text(with.ord), s});
}

/* -- Objects ------------------------------------------------------------------
 */

void checker::born(const void *at, usize bytes)
{
	const u8 epoch = static_cast<u8>(cpus.ran() + 1);
	const site nowhere{nullptr, 0};

	learning.give_up();
	if (me().own.has(at))
		me().own.forget(static_cast<const char *>(at), bytes);
	blame(memory.born(at, bytes, actor_at(epoch, nowhere), me().births++),
	      at, nowhere);
}

void checker::dead(const void *at, usize bytes)
{
	const u8 epoch = static_cast<u8>(cpus.ran() + 1);
	const site nowhere{nullptr, 0};

	learning.give_up();
	branch_over_interrupts();
	blame(memory.dead(at, bytes, actor_at(epoch, nowhere)), at, nowhere);
	if (me().own.has(at))
		me().own.forget(static_cast<const char *>(at), bytes);
	if (reports.is_showing())
		reports.add({cpus.current(), "end of " + reports.known.of(at),
			     nowhere});
}

/* A row of plain data. */
void checker::note_plain(const void *at, usize bytes, bool writes,
			 const std::string &value, site s)
{
	timeline::row r{cpus.current(), "", s};

	r.name = reports.known.of(at);
	r.text = (writes ? "write " : "read ") + r.name +
		 (value.empty() ? "" : " " + value);
	r.at = static_cast<const char *>(at);
	r.bytes = bytes;
	r.plain = true;
	r.writes = writes;
	reports.add(std::move(r));
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
	branch_over_interrupts();
	must_be_memory(at, s);
	if (reports.is_showing())
		note_plain(at, bytes, false,
			   plain_value(reports.known, at, bytes), s);
	const u8 epoch = static_cast<u8>(cpus.ran() + 1);
	blame(memory.read_plain(at, bytes, actor_at(epoch, s)), at, s);
	learning.accesses(step::does::read_plain, at, bytes, at);
}

void checker::write_plain(const void *at, const void *with, usize bytes, site s)
{
	count_idle(s);
	branch_over_interrupts();
	must_be_memory(at, s);
	if (reports.is_showing())
		note_plain(at, bytes, true,
			   plain_value(reports.known, with, bytes), s);
	const u8 epoch = static_cast<u8>(cpus.ran() + 1);
	blame(memory.write_plain(at, bytes, actor_at(epoch, s)), at, s);
	save(at, bytes);
	learning.accesses(step::does::write_plain, at, bytes, with);
}

u64 checker::cycles() { return cpus.ran(); }

/*
 * standard - what std::atomic has besides: two orders, wait and notify
 */

/* -- A compare-and-swap whose failure has an order of its own -------------- */

bool checker::compare_exchange_or(window w, u64 &expected, u64 desired, order o,
				  order failed, bool weak, site s)
{
	if (failed == order::release || failed == order::acq_rel) {
		if (!task.given->any_failure_order)
			reports.report(
				bug::failed_check,
				std::string("failed: compare_exchange: what "
					    "fails stores nothing, its order "
					    "cannot be ") +
					text(failed),
				s);
		failed = failed == order::release ? order::relaxed
						  : order::acquire;
	}
	branch_over_interrupts();
	const u64 wanted = expected;
	const effect with = effective(operation::rmw, o, s);
	/* A machine's failed compare-and-swap is the same instruction. */
	const effect alone = effective(operation::load, failed, s, with.op);
	const order fails_with =
		task.given->machine == machine::rc11 ? alone.ord : with.ord;

	if (weak && me().spurious_left && choose()) {
		me().spurious_left--;
		reading q = asking(w, {fails_with, with.op});
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
	if (!holds)
		waits.drop();
}

/* Ends the CPU's part: its next step is beyond a bound of the options. */
void checker::leave_out()
{
	task.out.left_out++;
	task.turns_left_out++;
	assume(false);
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
	if (reports.is_showing())
		reports.known.add(
			bell.get(), sizeof(u64),
			("sleepers of " + reports.known.of(w.at)).c_str());
	return {bell.get(), sizeof(u64), 0, 64, 0, hooked::holds::other};
}

/* A read of this order and no other, which waits if it is told until when. */
u64 checker::look(window w, effect o, site s, const hooked::test *until)
{
	branch_over_interrupts();
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
	const effect o = effective(operation::load, written, s);
	const hooked::test changed{differs, &old};

	about_to_wait();
	branch_over_interrupts();
	if (!choose()) {
		look(w, o, s, &changed);
		return;
	}
	const window bell = bell_of(w);
	u64 rung = look(bell, {order::acquire}, s);
	const hooked::test rings{differs, &rung};
	assume(look(w, {order::relaxed, o.op}, s) == old);
	do {
		look(bell, {order::acquire}, s, &rings);
		rung = look(bell, {order::acquire}, s);
	} while (look(w, o, s) == old);
}

void checker::notify(window w, site s)
{
	branch_over_interrupts();
	reading q(bell_of(w), order::acq_rel);

	q.writes = true;
	q.how = hooked::update::add;
	q.operand = 1;
	do_rmw(q, s, "notify");
}

/*
 * Waits: each is explored as its last turn (waits.hpp).
 */

/* A wait is about to begin: what the test wants to be told. */
void checker::about_to_wait()
{
	if (me().on_wait)
		me().on_wait(me().on_wait_what);
}

void checker::block_unless(const reading &q, u64 word, site s)
{
	if (!q.ends(word))
		waits.block({q.at, *q.until, s, place_known(q.at)});
}

u64 checker::await(window w, hooked::test done, hooked::pace, order o, site s)
{
	about_to_wait();
	branch_over_interrupts();
	const unsigned place = place_of(w, s);
	reading q(w, effective(operation::load, o, s));

	q.until = &done;
	const u64 word = read(q, place).value;
	note("await", q, s, place);
	block_unless(q, word, s);
	return w.look(word);
}

/*
 * How often a value is looked at in vain is no event. What is explored: each
 * look at a value with which patience may run out is the last in some
 * execution. The CPUs of options.patient wait on until the value needs none.
 */
u64 checker::await_patient(window w, hooked::patience patience, order o, site s)
{
	struct {
		hooked::patience left;
		bool runs_out;
	} of{patience, !(task.given->patient >> cpus.current() & 1)};
	const auto ends = [](void *what, u64 v) {
		const auto &mine = *static_cast<decltype(of) *>(what);
		const u32 looks = mine.left(v);

		return mine.runs_out ? looks != klock::endless : looks == 0;
	};

	return await(w, {ends, &of}, {}, o, s);
}

/* Time does not pass here: a deadline may have come at any look, or never. */
u64 checker::await_until(window w, hooked::test done, u64, order o, site s)
{
	const auto looks = [](void *what, u64 v) -> u32 {
		return !(*static_cast<hooked::test *>(what))(v);
	};

	return await_patient(w, {looks, &done}, o, s);
}

u64 checker::await_exchange(window w, u64 v, hooked::test done, order o, site s)
{
	about_to_wait();
	branch_over_interrupts();
	reading q = asking(w, effective(operation::rmw, o, s));

	q.until = &done;
	q.writes = true;
	q.operand = v;
	return w.look(do_rmw(q, s, "await_exchange"));
}

/* The last turn: the first read ends it, or else the second. */
void checker::await_either(window w, hooked::test done, window other,
			   hooked::test other_done, order o, site s)
{
	about_to_wait();
	branch_over_interrupts();
	const effect with = effective(operation::load, o, s);
	const unsigned place = place_of(w, s);
	const reading first(w, with);
	const u64 word = read(first, place).value;

	note("await", first, s, place);
	if (done(w.look(word)))
		return;

	waits.look_at({first.at, done, s, place});
	branch_over_interrupts();
	const unsigned other_place = place_of(other, s);
	reading second(other, with);
	second.until = &other_done;
	const u64 other_word = read(second, other_place).value;
	note("or", second, s, other_place);
	block_unless(second, other_word, s);
	waits.end();
}

/*
 * interrupts - the flag, and where a handler runs
 *
 * Before each operation of a CPU whose flag allows it, the exploration branches
 * over an interrupt: the handler then runs on that CPU's own stack with the
 * flag cleared, as a machine's does. Once more when the CPU is done.
 */

void checker::branch_over_interrupts()
{
	const unsigned cpu = cpus.current();

	while (irqs.may_come(cpu)) {
		if (!choose())
			return;

		if (reports.is_showing())
			reports.add({cpu, "-- interrupt --", {nullptr, 0}});
		const bool before = irqs.begin(cpu);
		task.code->handler(cpu);
		if (detail::intends)
			settle();
		irqs.end(cpu, before);
		if (reports.is_showing())
			reports.add({cpu, "-- returns --", {nullptr, 0}});
	}
}

int checker::context() const
{
	if (!irqs.at(cpus.current()).handlers)
		return static_cast<int>(klock::context::thread);
	return static_cast<int>(task.given->non_maskable
					? klock::context::nmi
					: klock::context::interrupt);
}

bool checker::irq_flag(bool enabled)
{
	const unsigned cpu = cpus.current();
	const bool before = irqs.at(cpu).on;

	branch_over_interrupts();
	irqs.set_flag(cpu, enabled);
	if (reports.is_showing() && before != enabled)
		reports.add({cpu,
			     enabled ? "interrupts on" : "interrupts off",
			     {nullptr, 0}});
	return before;
}

} // namespace model
