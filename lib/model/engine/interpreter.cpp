/* SPDX-License-Identifier: MIT */
#include "interpreter.hpp"
#include "consistency.hpp"
#include "crash.hpp"
#include "lines.hpp"

#include <klock/os.hpp>

#include <model/body.hpp>

#include <cstring>

namespace model {

void interpreter::start_run(unsigned count)
{
	for (unsigned c = 0; c < count; c++) {
		of[c].idle = 0;
		of[c].spurious_left = task.given->spurious;
		of[c].on_wait = nullptr;
	}
}

/* ".first" and ".second" of a pair; ".0", ".1" .. of more fields. */
static std::string field_name(const hooked::window &w)
{
	if (w.bits * 2 == 8 * w.bytes)
		return w.shift ? ".second" : ".first";
	return "." + std::to_string(w.shift / w.bits);
}

/* The CPU's last event, or its last two, are done. */
void interpreter::note(const char *name, const reading &q, site s,
		       unsigned location)
{
	if (reports.is_showing())
		add_row(name, q, s, location);
	if (!memory.has_unset())
		return;

	ref last{static_cast<u8>(cpus.current()), cpus.ran()};
	if (work.running().at(last).exclusive)
		last.index--;
	const event &e = work.running().at(last);
	if (e.what == kind::read && e.from.initial())
		memory.look_at_start(location, q.at.at, s);
}

void interpreter::add_row(const char *name, const reading &q, site s,
			  unsigned location)
{
	const ref last{static_cast<u8>(cpus.current()), cpus.ran()};
	const event &e = work.running().at(last);
	std::string row = std::string(name) + " " + reports.known.of(q.at.at);
	const auto value = [&](u64 word) {
		if (q.at.what == hooked::holds::signed_number)
			return std::to_string(q.at.as_signed(word));
		if (q.at.what == hooked::holds::sleepers)
			return std::to_string(hooked::sleepers_woken(word)) +
			       " of " +
			       std::to_string(hooked::sleepers_came(word)) +
			       " woken";
		return reports.known.value_at(q.at.at, q.at.look(word),
					      q.at.bits / 8u);
	};
	timeline::row r{cpus.current(), "", s, {}, {}, location};
	r.at = static_cast<const char *>(q.at.at);
	r.bytes = q.at.bytes;

	if (q.at.bits < 8 * q.at.bytes)
		row += field_name(q.at);
	row += " ";
	if (e.what == kind::write && e.exclusive) {
		r.read = {last.cpu, static_cast<u8>(last.index - 1)};
		r.write = last;
		row += value(work.running().at(r.read).value) + " -> " +
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

/* The location of a window in the graphs; checks that the object lives. */
unsigned interpreter::location_of(window &w, site s)
{
	if (task.given->split_pairs && w.bits < 8 * w.bytes) {
		const bool joined = w.shift < w.together;

		w.bytes = (joined ? w.together : w.bits) / 8;
		if (!joined) {
			w.at = static_cast<const char *>(w.at) + w.shift / 8;
			w.shift = 0;
		}
	}
	return memory.location_of(w, s);
}

/* A read of this window with this order; counters may be narrower. */
reading interpreter::asking(const window &w, effect o) const
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

/* Returns the graph's next event of this CPU; the code must do the same. */
const event &interpreter::next(kind what_it_is, unsigned location, u16 op)
{
	graph &g = work.running();
	event &e = g.at(cpus.next_event());

	e.step = learning.current_step();
	e.op = op;
	if (e.what == what_it_is && e.location == location)
		return e;
	if (cpus.now() == scheduler::phase::comparing || g.unsure)
		cpus.stop();
	learning.report_otherwise();
	return e;
}

/* Whether the CPU's next event is new: the graph does not have it. */
bool interpreter::is_at_end() const
{
	const unsigned cpu = cpus.current();

	return cpus.ran(cpu) == work.running().length(cpu);
}

/* Tells the learner which of the location's values would end a wait. */
void interpreter::learn_ends(const reading &q, unsigned location)
{
	const graph &g = work.running();

	if (!q.until || !learning.is_learning_step())
		return;
	for (unsigned p = floor(g, location,
				g.seen_before(g.next_of(cpus.current())));
	     p <= g.last(location); p++) {
		const u64 value =
			q.at.look(branches.word_at(location, p, q.at));
		learning.note_end(value, (*q.until)(value));
	}
}

const event &interpreter::read(const reading &q, unsigned location)
{
	learning.reads(q, location);
	if (is_at_end()) {
		wait_for_turn(false);
		while (symmetry.holds_back(work.running(), q))
			cpus.leave(scheduler::state::at_end);
		learn_ends(q, location);
		branches.read(q, location);
	}

	const event &e = next(kind::read, location, q.op);
	if (!e.from.initial() && !e.early)
		cpus.wait_for(e.from);
	early.wait_for_past(e);
	if (work.running().unsure)
		early.read_again(q);
	cpus.count_event();
	looks.goes_on_with(q.op, e.value);
	if (q.expected && q.failed != q.ord)
		branches.note_swap(q);
	learning.went(e.value);
	return e;
}

void interpreter::write(const reading &q, unsigned location, u64 word)
{
	learning.writes(q, location, word);
	if (is_at_end()) {
		wait_for_turn(q.writes);
		branches.write(q, location, word);
	}
	const event &e = next(kind::write, location, q.op);
	if (work.running().unsure ? !early.keeps_promise(q, word)
				  : cpus.now() == scheduler::phase::comparing &&
					    e.value != word)
		cpus.stop();
	if (e.value != word)
		learning.report_otherwise();
	cpus.count_event();
	learning.went(0);
}

u64 interpreter::choose(u64 n)
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

/* Called before each new event. */
void interpreter::wait_for_turn(bool rmw_write)
{
	if (work.running().is_full(cpus.current(), task.given->max_events))
		end_at_limit();
	cpus.wait_for_turn(rmw_write);
}

/* The CPU has come to max_events: cuts or bounds its loop, if it is in one. */
void interpreter::end_at_limit()
{
	if (!loops.cuts()) {
		task.endless = true;
		cpus.stop();
	}
	const site last = loops.last_site();
	const bool bounded = loops.bound_endless_loop();
	const std::string why =
		std::string("max_events: ") +
		(loops.in_a_loop() ? "a loop that is never in the same state "
				     "again (a counter in it?) at "
				   : "does code wait in a loop that writes? "
				     "at ") +
		text(last.file || !memory.called_from()
			     ? last
			     : line_of_return(memory.called_from()));

	if (bounded)
		loops.note_endless(why);
	else
		task.out.limit = why + "; unroll bounds its turns";
	task.endless |= bounded;
	cpus.stop();
}

/* swap: the compare-and-swap whose failure this load is. */
effect interpreter::effective(operation kind, order written, site s, u16 swap)
{
	const u16 op = operations.number(s, kind, written);
	looks.goes_on_with(op, 0);
	order o = weakened(*task.given, kind, written, s);

	if (detail::intends)
		operations[op].is_plain |= relaxed.is_accessing();
	if (swap)
		operations[swap].fails = op;
	if (!repairs.empty()) {
		o = repairs.order_of(op, o);
		order before = order::relaxed;
		if (kind != operation::fence && !swap &&
		    cpus.now() != scheduler::phase::ending)
			before = repairs.fence_before(cpus.current(), op);
		if (before != order::relaxed)
			fence(before, s);
	}
	return {order_on(task.given->machine, kind, o), op};
}

/* -- Atomics -----------------------------------------------------------------
 */

u64 interpreter::load(window w, order o, site s)
{
	branch_over_interrupts();
	const unsigned location = location_of(w, s);
	reading q = asking(w, effective(operation::load, o, s));
	q.until = loops.ends_of_load();
	const u64 word = read(q, location).value;

	note("load", q, s, location);
	return w.look(word);
}

void interpreter::store(window w, u64 v, order o, site s)
{
	branch_over_interrupts();
	const unsigned location = location_of(w, s);
	reading q = asking(w, effective(operation::store, o, s));

	if (w.bits == 8 * w.bytes) {
		write(q, location, v & w.mask() & q.fits);
	} else {
		/* The read half of a store to a part of a word orders
		 * nothing. */
		q.ord = order::relaxed;
		q.writes = true;
		q.operand = v;
		write(q, location, q.written(read(q, location).value));
	}
	note("store", q, s, location);
}

u64 interpreter::do_rmw(reading &q, site s, const char *name)
{
	const unsigned location = location_of(q.at, s);
	const u64 word = read(q, location).value;

	if (q.would_write(word))
		write(q, location, q.written(word));
	note(name, q, s, location);
	block_unless(q, word, s);
	return word;
}

u64 interpreter::rmw(window w, hooked::update update, u64 operand, order o,
		     site s)
{
	static const char *const names[] = {"exchange",	 "fetch_add",
					    "fetch_sub", "fetch_or",
					    "fetch_and", "fetch_xor"};

	branch_over_interrupts();
	reading q = asking(w, effective(operation::rmw, o, s));
	q.writes = true;
	q.by = update;
	q.operand = operand;
	const u64 word = do_rmw(q, s, names[static_cast<int>(update)]);
	return q.at.look(word);
}

bool interpreter::compare_exchange(window w, u64 &expected, u64 desired,
				   order o, site s)
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

/* Reads that field; returns false if it holds another value. */
bool interpreter::read_equals(const window &field, u64 expected, order by,
			      site s)
{
	reading q(field, without_store(by));
	const unsigned location = location_of(q.at, s);
	const u64 found = q.at.look(read(q, location).value);

	note("cas, look", q, s, location);
	return found == field.look(expected);
}

/*
 * Reads the other locations, the last one first; swaps the last location that
 * changes; then stores the other changes. Fields that are accessed together are
 * one location.
 */
bool interpreter::swap_split(const window &w, u64 &expected, u64 desired,
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
		const unsigned location = location_of(last.at, s);
		write(last, location, parts[i].look(desired));
		note("cas, store", last, s, location);
	}
	return true;
}

/* Adds to the fields that change, the first one first; at once if possible. */
void interpreter::advance(window w, u64 from, u64 to, order o, site s)
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
		q.by = hooked::update::add;
		q.operand = f.look(to) - f.look(from);
		do_rmw(q, s, "add");
	}
}

void interpreter::fence(order o, site s)
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

void interpreter::born(const void *at, usize bytes)
{
	learning.give_up();
	memory.born(at, bytes);
}

void interpreter::dead(const void *at, usize bytes)
{
	learning.give_up();
	branch_over_interrupts();
	memory.dead(at, bytes);
	if (reports.is_showing())
		reports.add({cpus.current(),
			     "end of " + reports.known.of(at),
			     {nullptr, 0}});
}

/* Adds a row for plain data. */
void interpreter::note_plain(const void *at, usize bytes, bool writes,
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

void interpreter::read_plain(const void *at, usize bytes, site s)
{
	count_idle(s);
	branch_over_interrupts();
	must_be_memory(at, s);
	if (reports.is_showing())
		note_plain(at, bytes, false,
			   plain_value(reports.known, at, bytes), s);
	memory.read(at, bytes, s);
	learning.accesses(step::does::read_plain, at, bytes, at);
	looks.told(at, bytes, false);
}

void interpreter::write_plain(const void *at, const void *with, usize bytes,
			      site s)
{
	count_idle(s);
	branch_over_interrupts();
	must_be_memory(at, s);
	if (reports.is_showing())
		note_plain(at, bytes, true,
			   plain_value(reports.known, with, bytes), s);
	memory.write(at, bytes, s);
	learning.accesses(step::does::write_plain, at, bytes, with);
	looks.told(at, bytes, true);
}

/* The data of this port itself do not belong to the code. */
static bool is_of_the_port(const void *at)
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
	       at == &hooked::counter_mask || at == &detail::in_body ||
	       at == &detail::looks;
}

usize interpreter::touch(const void *at, usize bytes, bool writes,
			 const void *caller, detail::access_of by)
{
	const bool ports = is_of_the_port(at);

	if (detail::intends && !ports &&
	    relaxed.access(at, bytes, writes, caller, by))
		return engine_depth;
	if (loops.cuts())
		loops.settle();
	if (ports || memory.note_private(at, bytes, writes, caller))
		return shallow_depth;
	const bool own = memory.is_on_own_stack(at);
	if (!own)
		branch_over_interrupts();
	const site s = memory.place_of_return(caller);
	count_idle(s, false);
	if (reports.is_showing())
		note_plain(at, bytes, writes, "", s);
	using access_is = model::memory::access_is;
	memory.touch(at, bytes,
		     by == detail::access_of::untold   ? access_is::untold
		     : !writes			       ? access_is::load
		     : by == detail::access_of::joined ? access_is::end_of_copy
						       : access_is::store,
		     writes, s);
	if (loops.cuts() && !own)
		loops.touch(at, bytes, writes);
	return engine_depth;
}

/*
 * A loop around plain data has no events, and is found by its length. If it
 * writes them, it is never cut.
 */
void interpreter::count_idle(site s, bool seen)
{
	constexpr u32 many = 10'000, too_many = 100'000;
	of_cpu &mine = of[cpus.current()];

	if (mine.idle_since != cpus.ran())
		mine.idle = 0;
	mine.idle_since = cpus.ran();
	mine.idle++;
	if (seen && !loops.cuts() && mine.idle == many) {
		task.endless = true;
		cpus.stop();
	}
	/* CPUs whose write it may race with go first. */
	if (!seen && mine.idle == many &&
	    cpus.now() == scheduler::phase::replaying && is_at_end())
		cpus.leave(scheduler::state::at_end);
	if (mine.idle < too_many)
		return;
	task.out.limit = "max_events: " + std::to_string(too_many) +
			 " accesses to plain data in a row (a loop that writes "
			 "them?) at " +
			 text(s);
	cpus.stop();
}

u64 interpreter::cycles() { return cpus.ran(); }

/*
 * standard - what std::atomic has besides: two orders, wait and notify
 */

/* -- A compare-and-swap whose failure has an order of its own -------------- */

bool interpreter::compare_exchange_or(window w, u64 &expected, u64 desired,
				      order o, order failed, bool weak, site s)
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
	/* On a machine, a failed compare-and-swap is the same instruction. */
	const effect alone = effective(operation::load, failed, s, with.op);
	const order fails_with =
		task.given->machine == machine::rc11 ? alone.ord : with.ord;

	if (weak && happens_for_no_reason()) {
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

bool interpreter::happens_for_no_reason()
{
	unsigned &left = of[cpus.current()].spurious_left;

	if (!left || !choose())
		return false;
	left--;
	return true;
}

void interpreter::assume(bool holds)
{
	if (!holds)
		waits.drop();
}

/* Ends the CPU's part: its next step is beyond a bound of the options. */
void interpreter::leave_out()
{
	task.out.left_out++;
	task.turns_left_out++;
	assume(false);
}

/*
 * Waits: each is explored as its last turn (waits.hpp).
 */

/* Calls the test's function, as a wait is about to begin. */
void interpreter::about_to_wait()
{
	const of_cpu &mine = of[cpus.current()];

	if (mine.on_wait)
		mine.on_wait(mine.on_wait_with);
}

void interpreter::block_unless(const reading &q, u64 word, site s)
{
	if (!q.ends(word))
		waits.block(
			{q.at, *q.until, s, memory.location_known(q.at.at)});
}

u64 interpreter::await(window w, hooked::test done, hooked::pace, order o,
		       site s)
{
	about_to_wait();
	branch_over_interrupts();
	const unsigned location = location_of(w, s);
	reading q(w, effective(operation::load, o, s));

	q.until = &done;
	const u64 word = read(q, location).value;
	note("await", q, s, location);
	block_unless(q, word, s);
	return w.look(word);
}

/*
 * The number of looks at a value is no event. Each look at a value with which
 * patience may run out is the last one in some execution. The CPUs of
 * options.patient wait until they read a value that needs no patience.
 */
u64 interpreter::await_patient(window w, hooked::patience patience, order o,
			       site s)
{
	struct {
		hooked::patience left;
		bool runs_out;
	} mine{patience, !(task.given->patient >> cpus.current() & 1)};
	const auto ends = [](void *what, u64 v) {
		const auto &is = *static_cast<decltype(mine) *>(what);
		const u32 looks = is.left(v);

		return is.runs_out ? looks != klock::endless : looks == 0;
	};

	return await(w, {ends, &mine}, {}, o, s);
}

/* Time does not pass here: a deadline may have passed at any look, or never. */
u64 interpreter::await_until(window w, hooked::test done, u64, order o, site s)
{
	const auto looks = [](void *what, u64 v) -> u32 {
		return !(*static_cast<hooked::test *>(what))(v);
	};

	return await_patient(w, {looks, &done}, o, s);
}

u64 interpreter::await_exchange(window w, u64 v, hooked::test done, order o,
				site s)
{
	about_to_wait();
	branch_over_interrupts();
	reading q = asking(w, effective(operation::rmw, o, s));

	q.until = &done;
	q.writes = true;
	q.operand = v;
	return w.look(do_rmw(q, s, "await_exchange"));
}

/* The last turn of the wait: the first read ends it, or the second. */
void interpreter::await_either(window w, hooked::test done, window other,
			       hooked::test other_done, order o, site s)
{
	about_to_wait();
	branch_over_interrupts();
	const effect with = effective(operation::load, o, s);
	const unsigned location = location_of(w, s);
	const reading first(w, with);
	const u64 word = read(first, location).value;

	note("await", first, s, location);
	if (done(w.look(word)))
		return;

	waits.look_at({first.at, done, s, location});
	branch_over_interrupts();
	const unsigned other_location = location_of(other, s);
	reading second(other, with);
	second.until = &other_done;
	const u64 other_word = read(second, other_location).value;
	note("or", second, s, other_location);
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

void interpreter::let_interrupts_come()
{
	const unsigned cpu = cpus.current();

	while (irqs.may_come(cpu)) {
		if (!choose())
			return;

		if (reports.is_showing())
			reports.add({cpu, "-- interrupt --", {nullptr, 0}});
		const bool before = irqs.begin(cpu);
		const lookout::tales told = looks.of_current();
		task.code->handler(cpu);
		looks.set_of_current(told);
		if (detail::intends)
			relaxed.settle();
		irqs.end(cpu, before);
		if (reports.is_showing())
			reports.add({cpu, "-- returns --", {nullptr, 0}});
	}
}

void interpreter::set_on_wait(void (*call)(void *), void *with)
{
	of[cpus.current()].on_wait = call;
	if (call)
		of[cpus.current()].on_wait_with = with;
}

int interpreter::context() const
{
	if (!irqs.at(cpus.current()).handlers)
		return static_cast<int>(klock::context::thread);
	return static_cast<int>(task.given->non_maskable
					? klock::context::nmi
					: klock::context::interrupt);
}

bool interpreter::irq_flag(bool enabled)
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
