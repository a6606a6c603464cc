/* SPDX-License-Identifier: MIT */
/*
 * run - one run: whose turn it is, from the world's making to its end
 *
 * The order in which CPUs add events is a function of the graph alone (first
 * whoever is between the halves of an RMW, then the lowest CPU that can go on):
 * the method's proof needs that, and so does replaying.
 */
#include "checker.hpp"
#include "members.hpp"

#include <klock/os.hpp>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <fcntl.h>
#include <map>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

namespace model {

/* Walks the graph where the code is known, and else runs the code. */
void checker::run_one()
{
	walk_or_run();
	if (memory.in_order)
		note_orders();
}

void checker::walk_or_run()
{
	/* At first, and now and then, whatever is known: is it so still? */
	const bool due = ++runs <= 64 || runs % 256 == 0;

	suspected = false;
	if (learning && !trace && !due && walk())
		return;
	run_code();
	if (suspected && out.ok())
		run_all = true;
}

/* Makes the world and sets the CPUs to their starts. */
void checker::begin()
{
	stopped = ended = false;
	noted.found = bug::none;
	if (trace)
		*trace = {};
	known.forget();
	known.world = what->world;
	known.world_bytes = what->world_bytes;
	known.world_type = what->world_type;
	intended.clear();
	what->make_world();
	if (detail::trap_lifted)
		detail::set_traps();
	memory.start_run();
	if (cuts_loops)
		way_in.start_run(g->cpus);
	start_cpus();
	start_learning();
	hooked::running = detail::gate_to(called());
}

void checker::run()
{
	begin();
	now = phase::replaying;
	replay();
	if (g->unsure)
		be_sure();
	extend();
}

void checker::close()
{
	hooked::running = nullptr;
	restore();
	/* A world with a heap that was left half-way is not destroyed. */
	if (ended || detail::gate_to(called()) == &called())
		end_world();
}

/*
 * A destructor that loops calls nobody. It is left when it has taken half a
 * second of the processor: explore() has a timer.
 */
static sigjmp_buf way_out;
static volatile std::sig_atomic_t leaving, ticks;

void look_at_the_end(int)
{
	ticks = ticks + 1;
	if (leaving && ticks > 2)
		siglongjmp(way_out, 1);
}

bool checker::destroys_world() const { return leaving; }

void checker::end_world()
{
	ticks = 0;
	died_of.clear();
	if (sigsetjmp(way_out, 0) == 0) {
		leaving = 1;
		what->end_world();
		leaving = 0;
		return;
	}
	leaving = 0;
	now = phase::ending;
	if (died_of.empty()) {
		shortens = false;
		report(bug::deadlock,
		       "deadlock: the world's destructor does not end",
		       {nullptr, 0});
	} else if (ended) {
		report(bug::crash, died_of, died_at);
	}
}

/* A crash: that of a world which was left half-way does not count. */
void checker::leave_destructor(const std::string &what_it_was, site where)
{
	died_of = "crash: in the world's destructor: " + what_it_was;
	died_at = where;
	siglongjmp(way_out, 1);
}

/* Once, or once more where the run taught that there is a loop. */
void checker::run_code()
{
	const std::size_t kept = work.size();
	bool in_vain = false, nothing_left = false;
	std::vector<turn> turns;
	const u64 left_out = out.left_out, turns_out = turns_left_out;
	clock had;

	for (unsigned c = 0; c < g->cpus; c++)
		had.at[c] = static_cast<u8>(g->length(c));
	out.ran++;
	for (run(); cuts_loops && way_in.found_a_head(); run()) {
		close();
		not_walkable();
		for (; work.size() > kept; work.pop_back())
			recycle(std::move(work.back()));
		auto before = new_graph();
		before->copy_kept(*g, had);
		before->share = g->share;
		g.swap(before);
		recycle(std::move(before));
		out.left_out = left_out;
		turns_left_out = turns_out;
	}
	if (cuts_loops && !stopped && !trace && !way_in.turns.empty() &&
	    all_done())
		turns = turns_to_ask();
	if (!turns.empty()) {
		in_vain = find_turn_in_vain(turns, nothing_left);
		if (in_vain)
			out.in_vain++;
		if (nothing_left)
			return;
		run(); /* find_turn_in_vain() ran others */
	}
	if (!stopped && in_vain)
		look_at_end();
	else if (!stopped)
		finish();
	close();
}

void checker::start_cpus()
{
	for (unsigned c = 0; c < g->cpus; c++) {
		cpu_state &s = *cpus[c];

		s.state = cpu_state::where::runs;
		s.ran = 0;
		s.idle = 0;
		s.births = 0;
		s.irqs_on = true;
		s.irqs_left = how->interrupts;
		s.handlers = 0;
		s.panicked = false;
		s.assumed = false;
		s.spurious_left = how->spurious;
		s.swaps.clear();
		if (detail::intends)
			s.statements.assign(4, {});
		s.on_wait = nullptr;
		s.waits_for = 0;
		s.in_loop = false;
		s.last_op = 0;
		s.plain = false;
		s.own.start_run(s.stack.low(), s.stack.high(),
				trace != nullptr);
		s.stack.start(cpu_main, this);
	}
}

void checker::cpu_main(void *self)
{
	checker &c = *static_cast<checker *>(self);
	const unsigned mine = c.cpu;

	for (unsigned i = 0; i < c.how->sections[mine]; i++) {
		if (c.cuts_loops)
			c.way_in.start_section();
		c.what->body(mine);
		if (detail::intends)
			c.settle();
	}
	c.branch_over_interrupts();
	c.doing(step::does::end);
	c.cpus[mine]->state = cpu_state::where::done;
}

void checker::resume(unsigned which)
{
	cpu = which;
	me().state = cpu_state::where::runs;
	inside = true;
	if (cuts_loops)
		way_in.resumed();
	me().stack.resume();
	if (cuts_loops)
		way_in.left();
	inside = false;
}

/* Gives the turn away, and comes back when it is given back. */
void checker::leave(cpu_state::where why)
{
	me().state = why;
	fiber::suspend();
}

void checker::stop()
{
	stopped = true;
	for (;;)
		fiber::suspend();
}

void checker::panic(const std::string &message)
{
	if (!how->may_panic || now == phase::ending)
		report(bug::panic, message, {nullptr, 0});
	me().panicked = true;
	for (;;)
		leave(cpu_state::where::done);
}

/* Runs what the graph has; each CPU as far as its reads' writes are there. */
void checker::replay()
{
	using where = cpu_state::where;
	bool again = true;

	while (again && !stopped) {
		again = false;
		for (unsigned c = 0; c < g->cpus && !stopped; c++) {
			const cpu_state &s = *cpus[c];
			if (s.state == where::at_source &&
			    cpus[s.source.cpu]->ran < s.source.index)
				continue;
			if (s.state != where::runs &&
			    s.state != where::at_source)
				continue;
			resume(c);
			again = true;
		}
	}
}

void checker::extend()
{
	using where = cpu_state::where;

	now = phase::finishing_rmws;
	for (unsigned c = 0; c < g->cpus && !stopped; c++)
		if (cpus[c]->state == where::before_rmw_write)
			resume(c);
	now = phase::extending;
	for (unsigned c = 0; c < g->cpus && !stopped; c++)
		if (cpus[c]->state == where::at_end)
			resume(c);
}

/*
 * A loop around plain data has no events: it is told by its length. One that
 * writes them is never cut.
 */
void checker::count_idle(site s, bool seen)
{
	constexpr u32 many = 10'000, too_many = 100'000;

	if (me().idle_since != me().ran)
		me().idle = 0;
	me().idle_since = me().ran;
	me().idle++;
	if (seen && !cuts_loops && me().idle == many) {
		endless = true;
		stop();
	}
	/* Others go first, whose write it may race with. */
	if (!seen && me().idle == many && now == phase::replaying &&
	    me().ran == g->length(cpu))
		leave(cpu_state::where::at_end);
	if (me().idle < too_many)
		return;
	out.limit = "max_events: " + std::to_string(too_many) +
		    " accesses to plain data in a row (a loop that writes "
		    "them?) at " +
		    text(s);
	stop();
}

/* Called before each event that the graph does not have yet. */
void checker::wait_for_turn(bool rmw_write)
{
	if (g->length(cpu) >= how->max_events ||
	    g->length(cpu) + 1 >= max_index) {
		if (!cuts_loops) {
			endless = true;
			stop();
		}
		const site last = way_in.last_site();
		const bool bounded = way_in.bound_endless_loop();
		std::string &why = bounded ? endless_loop : out.limit;
		why = "max_events: " +
		      (way_in.in_a_loop()
			       ? "a loop that is never in the same state "
				 "again (a counter in it?) at "
			       : std::string("does code wait in a loop "
					     "that writes? at ")) +
		      text(last.file || !called_from
				   ? last
				   : line_of_return(called_from));
		if (!bounded)
			why += "; unroll bounds its turns";
		endless |= bounded;
		stop();
	}
	if (now == phase::replaying || now == phase::comparing)
		leave(rmw_write ? cpu_state::where::before_rmw_write
				: cpu_state::where::at_end);
	while (now == phase::finishing_rmws && !rmw_write)
		leave(cpu_state::where::at_end);
}

/* -- The end of a run --------------------------------------------------------
 */

void checker::end_main(void *self)
{
	static_cast<checker *>(self)->what->at_end();
}

void checker::end_waits_for_ever(site s)
{
	const detail::checker_runs here;

	the_checker().report(bug::deadlock,
			     "deadlock: the look at the end waits for ever", s);
	the_checker().stop();
}

bool checker::all_done() const
{
	for (unsigned c = 0; c < g->cpus; c++)
		if (cpus[c]->state != cpu_state::where::done ||
		    cpus[c]->panicked)
			return false;
	return true;
}

void checker::finish()
{
	bool panicked = false, held_back = false;

	for (unsigned c = 0; c < g->cpus; c++) {
		panicked |= cpus[c]->panicked;
		held_back |= cpus[c]->state == cpu_state::where::at_end;
	}
	if (held_back)
		return; /* another, in which it is not, stands for it */
	if (panicked) {
		out.panicked += stands_for();
		return;
	}
	if (!all_done()) {
		out.blocked += !g->core;
		if (!how->may_deadlock && deadlocked())
			report_deadlock();
		return;
	}
	if (g->core && !trace && !note_met(*g))
		return;
	if (g->core)
		out.load_buffered++;
	else
		out.complete += stands_for();
	out.explored += !g->core;
	look_at_end();
}

void checker::report_deadlock()
{
	std::string all;

	for (unsigned c = 0; trace && c < g->cpus; c++)
		if (cpus[c]->state == cpu_state::where::blocked)
			all += (all.empty() ? "" : ", ") + show_waits(c);
	report(bug::deadlock, "deadlock: " + (trace ? all : "nobody can go on"),
	       {nullptr, 0});
}

/* Puts the last values into memory, where the test looks at them. */
void checker::put_last_values()
{
	memory.for_each([this](const object &o) {
		if (!o.atomic || !o.alive)
			return;
		const unsigned place = static_cast<unsigned>(o.place);
		const unsigned newest = g->last(place);
		if (!newest)
			return;
		void *const at = const_cast<void *>(o.at);
		save(at, o.bytes);
		std::memcpy(at, &g->at(g->write_at(place, newest)).value,
			    o.bytes);
	});
}

void checker::look_at_end()
{
	if (walking)
		put_known_values();
	else
		put_last_values();
	hooked::running = nullptr;
	now = phase::ending;
	ender.start(end_main, this);
	inside = true;
	hooked::leave_endless_wait = end_waits_for_ever;
	ender.resume();
	hooked::leave_endless_wait = nullptr;
	inside = false;
	ended = !stopped;
	if (walking) {
		restore();
		end_world();
	}
}

/* Only what outlives the run: no world, no stack, no heap of its own. */
void checker::save(const void *at, usize bytes)
{
	const char *const byte = static_cast<const char *>(at);
	const char *const world = static_cast<const char *>(what->world);

	if (byte >= world && byte < world + what->world_bytes)
		return;
	if (detail::block_at(at).start)
		return;
	if (on_stack_of(at) != none)
		return;
	const auto *was = static_cast<const u8 *>(at);
	changed.push_back({const_cast<void *>(at), {was, was + bytes}});
}

void checker::restore()
{
	for (; !changed.empty(); changed.pop_back())
		std::memcpy(changed.back().at, changed.back().was.data(),
			    changed.back().was.size());
}

/*
 * operations - what each operation is in events
 *
 * A store to a field of a word is a read and a write that nothing comes
 * between: a merge into the one location. Plain accesses are no events: without
 * a race, what memory holds in a replay is what they find, for a replay keeps
 * to happens-before.
 */

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
	r.at = static_cast<const char *>(q.at.at);
	r.bytes = q.at.bytes;

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
	if (trace) {
		shown.first = c;
		shown.cpu = cpu;
		shown.ran = me().ran;
	}
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
		const bool joined = w.shift < w.together;

		w.bytes = (joined ? w.together : w.bits) / 8;
		if (!joined) {
			w.at = static_cast<const char *>(w.at) + w.shift / 8;
			w.shift = 0;
		}
	}
	const u8 epoch = static_cast<u8>(me().ran + 1);
	const object *const met = memory.find(w.at);
	const bool is_new = !met || met->place < 0 || !met->alive;
	const unsigned of = is_new ? on_stack_of(w.at) : none;
	const char *const first = static_cast<const char *>(w.at);
	if (is_new) {
		must_be_memory(w.at, s);
		refuse_what_is_gone(w.at, s);
	}
	if (of == cpu) {
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

	if (how->split_pairs && !apart)
		w.bits = w.together;
	if (!how->split_pairs || !apart) {
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
	const auto [was, op] = effective(operation::fence, o, s);
	if (step *const now_known = doing(step::does::fence)) {
		now_known->how.ord = was;
		now_known->how.op = op;
	}
	if (me().ran == g->length(cpu)) {
		wait_for_turn(false);
		g->step = me().step;
		g->op = op;
		g->add_fence(cpu, was);
	}
	const event &e = next(kind::fence, 0, op);
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
	if (me().own.has(at))
		me().own.forget(static_cast<const char *>(at), bytes);
	blame(memory.born(at, bytes, actor_at(epoch, nowhere), me().births++),
	      at, nowhere);
}

void checker::dead(const void *at, usize bytes)
{
	const u8 epoch = static_cast<u8>(me().ran + 1);
	const site nowhere{nullptr, 0};

	not_walkable();
	branch_over_interrupts();
	blame(memory.dead(at, bytes, actor_at(epoch, nowhere)), at, nowhere);
	if (me().own.has(at))
		me().own.forget(static_cast<const char *>(at), bytes);
	if (trace)
		trace->add({cpu, "end of " + known.of(at), nowhere});
}

/* A row of plain data. */
void checker::note_plain(const void *at, usize bytes, bool writes,
			 const std::string &value, site s)
{
	timeline::row r{cpu, "", s};

	r.name = known.of(at);
	r.text = (writes ? "write " : "read ") + r.name +
		 (value.empty() ? "" : " " + value);
	r.at = static_cast<const char *>(at);
	r.bytes = bytes;
	r.plain = true;
	r.writes = writes;
	trace->add(std::move(r));
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
	if (trace)
		note_plain(at, bytes, false, plain_value(known, at, bytes), s);
	const u8 epoch = static_cast<u8>(me().ran + 1);
	blame(memory.read_plain(at, bytes, actor_at(epoch, s)), at, s);
	learn_plain(step::does::read_plain, at, bytes, at);
}

void checker::write_plain(const void *at, const void *with, usize bytes, site s)
{
	count_idle(s);
	branch_over_interrupts();
	must_be_memory(at, s);
	if (trace)
		note_plain(at, bytes, true, plain_value(known, with, bytes), s);
	const u8 epoch = static_cast<u8>(me().ran + 1);
	blame(memory.write_plain(at, bytes, actor_at(epoch, s)), at, s);
	save(at, bytes);
	learn_plain(step::does::write_plain, at, bytes, with);
}

u64 checker::cycles() { return me().ran; }

/*
 * standard - what std::atomic has besides: two orders, wait and notify
 */

/* -- A compare-and-swap whose failure has an order of its own -------------- */

/* The read that the CPU has just run: which order it has, depends. */
void checker::remember(const reading &q)
{
	me().swaps.push_back({me().ran, q.at, *q.expected, q.ord, q.failed});
}

/* The order that a read has if it finds this word. */
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
	if (failed == order::release || failed == order::acq_rel) {
		if (!how->any_failure_order)
			report(bug::failed_check,
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
		how->machine == machine::rc11 ? alone.ord : with.ord;

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
	if (holds)
		return;
	doing(step::does::drop);
	me().assumed = true;
	for (;;)
		leave(cpu_state::where::blocked);
}

/* Ends the CPU's part: its next step is beyond a bound of the options. */
void checker::leave_out()
{
	out.left_out++;
	turns_left_out++;
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
	if (trace)
		known.add(bell.get(), sizeof(u64),
			  ("sleepers of " + known.of(w.at)).c_str());
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

/* -- Plain variables, told by the compiler ----------------------------------
 *
 * Byte by byte, for accesses of other sizes meet there. A CPU's own stack is
 * its own business, and what this port keeps is the checker's.
 */

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
	for (unsigned c = 0; c < g->cpus; c++)
		if (cpus[c]->own.has(at))
			return c;
	return none;
}

/* Another CPU's: what that one did there is of interest now. */
void checker::meet_on_stack(unsigned of, const char *at)
{
	own_stack &own = cpus[of]->own;

	if (!own.told())
		return;
	own_stack::byte &b = own.at(at);
	if (b.shared || (!b.wrote && !b.read))
		return;
	const own_stack::end *const end = own.end_of(at);
	if (end && of == cpu)
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
		report(bug::dead_object, "use of freed memory: " + known.of(at),
		       s);
	for (const auto &[from, to] : thread_locals)
		if (at >= from && at < to)
			report(bug::unseen,
			       "refused: a thread_local, which is one for all "
			       "CPUs here: " +
				       known.of(at),
			       s);
}

void checker::touch(const void *at, usize bytes, bool writes,
		    const void *caller, detail::access_of by)
{
	if (detail::intends && !of_the_checker(at) &&
	    intended_access(at, bytes, writes, caller, by))
		return;
	const char *const first = static_cast<const char *>(at);
	const u8 epoch = static_cast<u8>(me().ran + 1);
	const unsigned of = on_stack_of(at);

	if (cuts_loops)
		way_in.settle();
	if (of_the_checker(at) ||
	    (of == cpu &&
	     me().own.accessed(first, bytes, writes, epoch, caller)))
		return;
	if (of != cpu)
		branch_over_interrupts();
	const site s = place_of_return(caller);
	count_idle(s, false);
	if (trace)
		note_plain(at, bytes, writes, "", s);
	if (of == none)
		refuse_what_is_gone(at, s);
	for (const char *byte = first; byte < first + bytes; byte++) {
		if (of != none)
			meet_on_stack(of, byte);
		if (of == cpu && !me().own.at(byte).shared)
			me().own.share(byte);
		memory.meet_byte(byte, actor_at(epoch, s),
				 of == none || of == cpu);
		blame(writes ? memory.write_plain(byte, 1, actor_at(epoch, s))
			     : memory.read_plain(byte, 1, actor_at(epoch, s)),
		      byte, s);
	}
	if (writes) {
		must_be_memory(at, s);
		save(at, bytes);
	}
	if (cuts_loops && of != cpu)
		way_in.touch(at, bytes, writes);
}

void checker::storage_ends(const void *at, usize bytes, const void *caller)
{
	const actor by = actor_at(static_cast<u8>(me().ran + 1),
				  place_of_return(caller));
	const char *const first = static_cast<const char *>(at);

	for (const char *byte = first; byte < first + bytes; byte++)
		blame(memory.ended(byte, by), byte, by.where);
}

void checker::frame(const char *at, const void *returns_to, const void *caller)
{
	const u8 epoch = static_cast<u8>(me().ran + 1);
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

	the_checker().report(bug::failed_check, std::string("failed: ") + what,
			     s);
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
		the_checker().report(bug::unseen, text,
				     the_checker().place_of_return(caller));
	std::fprintf(stderr, "%s\n", text.c_str());
	std::abort();
}

/*
 * wait - waits, and whether the blocked are deadlocked
 *
 * A wait is its last turn: one read, which ends it or ends the CPU's part in
 * this execution. Later writes serve that read in other executions. The turns
 * before the last are left out: with them there are fewer executions, never
 * others. A loop of the code's own (loops.hpp) waits the same way: its turn in
 * vain is its last.
 */

/* A wait is about to begin: what the test wants to be told. */
void checker::about_to_wait()
{
	if (me().on_wait)
		me().on_wait(me().on_wait_what);
}

void checker::block_unless(const reading &q, u64 word, site s)
{
	if (q.ends(word))
		return;
	/* Served a write that was not the newest: leads nowhere. */
	if (g->at({static_cast<u8>(cpu), me().ran}).behind && !how->stale_waits)
		stop();
	me().waits[me().waits_for] = {q.at, *q.until, s, place_known(q.at)};
	me().waits_for++;
	learn_block();
	for (;;)
		leave(cpu_state::where::blocked);
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
	} of{patience, !(how->patient >> cpu & 1)};
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

	me().waits[0] = {first.at, done, s, place};
	me().waits_for = 1;
	branch_over_interrupts();
	const unsigned other_place = place_of(other, s);
	reading second(other, with);
	second.until = &other_done;
	const u64 other_word = read(second, other_place).value;
	note("or", second, s, other_place);
	block_unless(second, other_word, s);
	me().waits_for = 0;
}

/* -- Loops ------------------------------------------------------------------
 */

/*
 * Whether no execution that comes of this one ends the loop: the turn's last
 * read did not take the newest write that there was, so that no later one
 * serves it, nor anything before it (explorer.cpp: last_settled).
 */
bool checker::leads_nowhere(const turn &t) const
{
	for (unsigned i = t.last; i > t.first; i--) {
		const event &e = g->sb[t.cpu][i - 1];
		if (e.what != kind::read)
			continue;
		bool stale = e.behind;
		for (unsigned p = g->position(e) + 1; p <= g->last(e.place);
		     p++)
			stale |= g->at(g->write_at(e.place, p)).stamp < e.stamp;
		return stale;
	}
	return false;
}

/* The CPU has made a turn in vain, and waits for what ends its loop. */
void checker::block_in(const turn &t, bool reads_plain)
{
	/* A race of a plain read may come yet, whatever becomes of the loop. */
	if (!t.stays && !reads_plain && !how->stale_waits && leads_nowhere(t))
		stop();
	me().in_loop = true;
	me().last_turn = t;
	for (;;)
		leave(cpu_state::where::blocked);
}

/* Whether the turn would be the same if it read the newest values. */
bool checker::goes_on_for_ever(const turn &t) const
{
	for (unsigned i = t.first; i < t.last; i++) {
		const event &e = g->sb[t.cpu][i];
		if (e.what == kind::choice)
			return false;
		if (e.what != kind::read)
			continue;
		const unsigned newest = g->last(e.place);
		if (newest &&
		    g->at(g->write_at(e.place, newest)).value != e.value)
			return false;
	}
	return true;
}

/* -- Deadlocks ---------------------------------------------------------------
 */

/*
 * Whether a blocked CPU would go on if it read the newest values: a fair
 * machine shows it those in the end. Also if an interrupt may yet reach it.
 */
bool checker::could_go_on(unsigned blocked)
{
	const cpu_state &s = *cpus[blocked];

	if (s.assumed)
		return true;
	if (s.irqs_left && (s.irqs_on || how->non_maskable))
		return true;
	if (s.in_loop)
		return !goes_on_for_ever(s.last_turn);
	for (unsigned i = 0; i < s.waits_for; i++) {
		const window &w = s.waits[i].at;
		const unsigned place = s.waits[i].place;
		const u64 word = word_at(place, g->last(place), w);
		if (frees(blocked, i, w.look(word)))
			return true;
	}
	return false;
}

/* The rows of what it waits for; "cpu0 waits for full at ring.hpp:12". */
std::string checker::show_waits(unsigned which)
{
	const cpu_state &s = *cpus[which];
	std::string all;
	const auto show = [&](const char *how, const void *at, site where) {
		const std::string row = how + known.of(at);

		trace->add({which, row, where});
		if (all.empty())
			all = "cpu" + std::to_string(which) + " " + row +
			      " at " + text(where);
	};

	for (unsigned i = 0; i < s.waits_for; i++)
		show("waits for ", s.waits[i].at.at, s.waits[i].where);
	if (!s.in_loop)
		return all;
	for (const call &e : way_in.calls_of(which))
		if (e.at && e.ran >= s.last_turn.first &&
		    e.ran <= s.last_turn.last)
			show("loops for ", e.at, e.where);
	return all;
}

bool checker::deadlocked()
{
	for (unsigned c = 0; c < g->cpus; c++)
		if (cpus[c]->state == cpu_state::where::blocked &&
		    could_go_on(c))
			return false;
	return true;
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
	while (me().irqs_left && (me().irqs_on || how->non_maskable)) {
		if (!choose())
			return;

		const bool before = me().irqs_on;
		me().irqs_on = false;
		me().irqs_left--;
		if (trace)
			trace->add({cpu, "-- interrupt --", {nullptr, 0}});
		me().handlers++;
		what->handler(cpu);
		if (detail::intends)
			settle();
		me().handlers--;
		if (trace)
			trace->add({cpu, "-- returns --", {nullptr, 0}});
		me().irqs_on = before;
	}
}

int checker::context() const
{
	if (!cpus[cpu]->handlers)
		return static_cast<int>(klock::context::thread);
	return static_cast<int>(how->non_maskable ? klock::context::nmi
						  : klock::context::interrupt);
}

bool checker::irq_flag(bool enabled)
{
	const bool before = me().irqs_on;

	branch_over_interrupts();
	me().irqs_on = enabled;
	if (trace && before != enabled)
		trace->add({cpu,
			    enabled ? "interrupts on" : "interrupts off",
			    {nullptr, 0}});
	return before;
}

/*
 * mutate - an operation's order made weaker; the uses of orders recorded
 */

namespace {

bool same_file(const std::string &name, const char *file)
{
	return file && std::strcmp(name.c_str(), file) == 0;
}

/* The orders one step below this one, for this kind of operation. */
std::vector<order> one_below(operation what, order o)
{
	const bool both = what == operation::rmw || what == operation::fence;

	switch (o) {
	case order::seq_cst:
		if (both)
			return {order::acq_rel};
		return {what == operation::load ? order::acquire
						: order::release};
	case order::acq_rel:
		return {order::acquire, order::release};
	case order::acquire:
	case order::release:
		return {order::relaxed};
	case order::relaxed:
		break;
	}
	return {};
}

} // namespace

/* swap: the operation that this load is where it fails. */
effect checker::effective(operation what_kind, order written, site s, u16 swap)
{
	const u16 op = operations.number(s, what_kind, written);
	order o = weakened(what_kind, written, s);

	operations[op].is_plain |= me().plain;
	if (swap)
		operations[swap].fails = op;
	if (!repairs.empty())
		o = repaired(op, o, s, swap);
	return {order_on(how->machine, what_kind, o), op};
}

order checker::weakened(operation what_kind, order written, site s) const
{
	if (!how->weaken)
		return written;

	const use &w = how->weaken->where;
	if (w.line == s.line && w.what == what_kind && w.written == written &&
	    same_file(w.file, s.file))
		return how->weaken->to;
	return written;
}

std::vector<weakening> weakenings(const use &u)
{
	std::vector<weakening> all;

	for (order to : one_below(u.what, u.written))
		all.push_back({u, to});
	return all;
}

const char *text(order o)
{
	switch (o) {
	case order::relaxed:
		return "relaxed";
	case order::acquire:
		return "acquire";
	case order::release:
		return "release";
	case order::acq_rel:
		return "acq_rel";
	case order::seq_cst:
		return "seq_cst";
	}
	return "?";
}

std::string text(const use &u)
{
	static const char *const kinds[] = {"load", "store", "rmw", "fence"};

	return text(site(u.file.c_str(), u.line)) + " " +
	       kinds[static_cast<int>(u.what)] + " " + text(u.written);
}

std::string text(const weakening &w)
{
	return text(w.where) + " -> " + text(w.to);
}

/*
 * api - what a test's body may call, and what klock/os.hpp asks of a kernel
 */

/* Defaults for programs without the checker's heap (model_std). */
[[gnu::weak]] hooked::engine *detail::gate_to(hooked::engine &e) { return &e; }
[[gnu::weak]] void detail::empty_heap() {}
[[gnu::weak]] detail::part_of_heap detail::heap_of(unsigned) { return {}; }
[[gnu::weak]] detail::block_of detail::block_at(const void *) { return {}; }
[[gnu::weak]] const char *detail::not_wrapped() { return nullptr; }
[[gnu::weak]] bool detail::sees_plain() { return false; }
[[gnu::weak]] const char *detail::see_imports() { return nullptr; }
[[gnu::weak]] const char *detail::set_traps() { return nullptr; }
[[gnu::weak]] void detail::unset_traps() {}
[[gnu::weak]] const detail::trapped *detail::trap_of(const void *)
{
	return nullptr;
}
[[gnu::weak]] void detail::lift_trap(void *, bool) {}

void check(bool holds, const char *text, site s)
{
	const detail::code_calls now;

	if (!holds)
		the_checker().report(bug::failed_check,
				     std::string("failed: ") + text, s);
}

unsigned cpu() { return the_checker().current(); }

unsigned choose(unsigned n)
{
	const detail::code_calls now;

	if (!hooked::running || n < 2)
		return 0;
	return static_cast<unsigned>(the_checker().choose(n));
}

void assume(bool holds)
{
	const detail::code_calls now;

	if (hooked::running)
		the_checker().assume(holds);
}

bool interrupts_on() { return the_checker().me().irqs_on; }

void name(const void *object, klock::usize bytes, const char *text,
	  const void *type)
{
	const detail::checker_runs now;

	the_checker().intend(object, bytes, text);
	if (the_checker().tracing())
		the_checker().known.add(object, bytes, text, type);
}

before_waits::before_waits(void (*call)(void *), void *what)
{
	the_checker().me().on_wait = call;
	the_checker().me().on_wait_what = what;
}

before_waits::~before_waits() { the_checker().me().on_wait = nullptr; }

} // namespace model

extern "C" unsigned klock_os_cpu_id(void) { return model::cpu(); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned cpu, const char *what)
{
	const model::detail::checker_runs now;

	/* The next execution's report is as good. */
	klock::set_checks(true);
	model::the_checker().panic(std::string("panic: ") + lock_name +
				   ", cpu" + std::to_string(cpu) + ": " + what);
}

/* Weak: a test may have an answer of its own. */
extern "C" [[gnu::weak]] int klock_os_context(void)
{
	return model::the_checker().context();
}

namespace model {

/*
 * places - from a return address to the line of the call
 *
 * By addr2line, of which every toolchain has one, and once for each address;
 * only where somebody wants to see places. Without it, or without debugging
 * information, the place is the address.
 */

namespace {

struct line {
	std::string file;
	int number = 0;
};

/* Parses addr2line's answer: FILE:LINE, and perhaps more behind a space. */
line parsed(const std::string &answer)
{
	const auto colon = answer.rfind(':');

	if (answer.empty() || answer[0] == '?' || colon == std::string::npos)
		return {};
	return {answer.substr(0, colon), std::atoi(&answer[colon + 1])};
}

/* Starts addr2line for this program; returns its socket, or -1. */
int started(const std::string &program)
{
	int ends[2];
	posix_spawn_file_actions_t files;
	const char *const words[] = {"addr2line", "-e", program.c_str(),
				     nullptr};
	pid_t child;

	if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	::posix_spawn_file_actions_init(&files);
	for (const int to : {STDIN_FILENO, STDOUT_FILENO})
		::posix_spawn_file_actions_adddup2(&files, ends[1], to);
	::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
					   O_WRONLY, 0);
	if (::posix_spawnp(&child, words[0], &files, nullptr,
			   const_cast<char **>(words), environ)) {
		::close(ends[0]);
		ends[0] = -1;
	}
	::posix_spawn_file_actions_destroy(&files);
	::close(ends[1]);
	return ends[0];
}

/*
 * The line of this address in a program that was loaded at 0. Started once: to
 * read what is known of a program takes longer than all questions. A worker has
 * its own.
 */
line asked(const std::string &program, std::uintptr_t address)
{
	static auto &all =
		for_ever<std::map<std::pair<pid_t, std::string>, int>>();
	char question[32], c;
	std::string answer;
	const auto [one, is_new] = all.try_emplace({::getpid(), program}, -1);

	if (is_new)
		one->second = started(program);
	const int length = std::snprintf(question, sizeof(question), "%#zx\n",
					 static_cast<usize>(address));
	::send(one->second, question, static_cast<usize>(length), MSG_NOSIGNAL);
	while (::recv(one->second, &c, 1, 0) == 1 && c != '\n')
		answer += c;
	return parsed(answer);
}

line line_of(const void *returned_to)
{
	const file_place place = place_in_file(returned_to);

	if (place.file.empty())
		return {};
	/* The call ends before it. */
	line found = asked(place.file, place.at - 1);
	if (found.number)
		return found;
	char hex[32];
	std::snprintf(hex, sizeof(hex), "%#zx", place.at - 1);
	return {hex, 0};
}

} // namespace

/* A line in the C++ library's headers is its caller's: a mutex's, a string's.
 */
bool is_of_library(site s)
{
	const char *const in = s.file ? std::strstr(s.file, "/include/") : "";

	return in && std::strstr(in, "/c++/");
}

site checker::place_of_return(const void *to, bool own)
{
	called_from = to;
	if (!trace && !how->record_uses && !how->weaken && repairs.empty())
		return {nullptr, static_cast<int>(reinterpret_cast<usize>(to))};
	const site innermost = line_of_return(to);
	usize depth = hooked::running && own ? me().own.calls.size() : 0;
	site s = innermost;
	while (is_of_library(s) && depth--)
		s = line_of_return(me().own.calls[depth].returns_to);
	return is_of_library(s) ? innermost : s;
}

/* A site's file is a borrowed string: these are kept. */
site checker::line_of_return(const void *to)
{
	static auto &known_lines = for_ever<std::map<const void *, line>>();
	auto found = known_lines.find(to);
	if (found == known_lines.end())
		found = known_lines.emplace(to, line_of(to)).first;
	return {found->second.file.c_str(), found->second.number};
}

site detail::place_of_return(const void *to)
{
	const detail::checker_runs now;

	return the_checker().place_of_return(to);
}

} // namespace model
