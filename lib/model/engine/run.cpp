/* SPDX-License-Identifier: MIT */
/*
 * run - one run: whose turn it is, from the world's making to its end
 *
 * The order in which CPUs add events is a function of the graph alone (first
 * whoever is between the halves of an RMW, then the lowest CPU that can go on):
 * the method's proof needs that, and so does replaying.
 */
#include "checker.hpp"

#include <csetjmp>
#include <csignal>
#include <cstring>

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

} // namespace model
