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
	const bool due = ++task.runs <= 64 || task.runs % 256 == 0;

	suspected = false;
	if (learning.learns() && !reports.is_showing() && !due && walk())
		return;
	run_code();
	if (suspected && task.out.ok())
		run_all = true;
}

/* Returns false if nothing came of it, but for events of the graph. */
bool checker::walk()
{
	const u64 complete = task.out.complete, explored = task.out.explored;
	const u64 blocked = task.out.blocked, panicked = task.out.panicked;

	for (cpu_state &c : code_on)
		c.panicked = false;
	walks.walk(*task.given, memory.in_order);
	if (!cpus.stopped() && !learning.missed())
		finish();
	learning.end_walk();
	if (!learning.missed() && task.out.ok())
		return true;

	suspected = !task.out.ok();
	task.out.found = bug::none;
	task.out.message.clear();
	task.out.complete = complete;
	task.out.explored = explored;
	task.out.blocked = blocked;
	task.out.panicked = panicked;
	return false;
}

/* Makes the world and sets the CPUs to their starts. */
void checker::begin()
{
	cpus.set_going();
	ended = false;
	reports.start_run();
	reports.known.forget();
	reports.known.world = task.code->world;
	reports.known.world_bytes = task.code->world_bytes;
	reports.known.world_type = task.code->world_type;
	intended.clear();
	task.code->make_world();
	if (detail::trap_lifted)
		detail::set_traps();
	memory.start_run();
	if (cuts_loops)
		way_in.start_run(execution().cpus);
	start_cpus();
	learning.start_run(execution().cpus);
	hooked::running = detail::gate_to(called());
}

void checker::run()
{
	begin();
	cpus.replay(scheduler::phase::replaying);
	if (execution().unsure)
		early.be_sure();
	cpus.extend();
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
		task.code->end_world();
		leaving = 0;
		return;
	}
	leaving = 0;
	cpus.look_at_end();
	if (died_of.empty()) {
		reports.keep_first();
		reports.report(bug::deadlock,
			       "deadlock: the world's destructor does not end",
			       {nullptr, 0});
	} else if (ended) {
		reports.report(bug::crash, died_of, died_at);
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
	const u64 left_out = task.out.left_out, turns_out = task.turns_left_out;
	clock had;

	for (unsigned c = 0; c < execution().cpus; c++)
		had.at[c] = static_cast<u8>(execution().length(c));
	task.out.ran++;
	for (run(); cuts_loops && way_in.found_a_head(); run()) {
		close();
		learning.give_up();
		work.shrink_to(kept);
		auto before = work.make();
		before->copy_kept(execution(), had);
		before->share = execution().share;
		work.recycle(work.run(std::move(before)));
		task.out.left_out = left_out;
		task.turns_left_out = turns_out;
	}
	if (cuts_loops && !cpus.stopped() && !reports.is_showing() &&
	    !way_in.turns.empty() && all_done())
		turns = turns_to_ask();
	if (!turns.empty()) {
		in_vain = find_turn_in_vain(turns, nothing_left);
		if (in_vain)
			task.out.in_vain++;
		if (nothing_left)
			return;
		run(); /* find_turn_in_vain() ran others */
	}
	if (!cpus.stopped() && in_vain)
		look_at_end();
	else if (!cpus.stopped())
		finish();
	close();
}

void checker::start_cpus()
{
	for (unsigned c = 0; c < execution().cpus; c++) {
		cpu_state &s = code_on[c];

		s.idle = 0;
		s.births = 0;
		s.panicked = false;
		s.spurious_left = task.given->spurious;
		if (detail::intends)
			s.statements.assign(4, {});
		s.on_wait = nullptr;
		s.last_op = 0;
		s.plain = false;
		s.own.start_run(cpus.stack(c).low(), cpus.stack(c).high(),
				reports.is_showing());
	}
	irqs.start_run(execution().cpus, *task.given);
	branches.start_run(execution().cpus);
	waits.start_run(execution().cpus);
	cpus.start(execution().cpus, cpu_main, this,
		   cuts_loops ? &way_in : nullptr);
}

void checker::cpu_main(void *self)
{
	checker &c = *static_cast<checker *>(self);
	const unsigned mine = c.cpus.current();

	for (unsigned i = 0; i < c.task.given->sections[mine]; i++) {
		if (c.cuts_loops)
			c.way_in.start_section();
		c.task.code->body(mine);
		if (detail::intends)
			c.settle();
	}
	c.branch_over_interrupts();
	c.learning.ends();
	c.cpus.set_done(mine);
}

void checker::panic(const std::string &message)
{
	if (!task.given->may_panic || cpus.now() == scheduler::phase::ending)
		reports.report(bug::panic, message, {nullptr, 0});
	me().panicked = true;
	for (;;)
		cpus.leave(scheduler::state::done);
}

/*
 * A loop around plain data has no events: it is told by its length. One that
 * writes them is never cut.
 */
void checker::count_idle(site s, bool seen)
{
	constexpr u32 many = 10'000, too_many = 100'000;

	if (me().idle_since != cpus.ran())
		me().idle = 0;
	me().idle_since = cpus.ran();
	me().idle++;
	if (seen && !cuts_loops && me().idle == many) {
		endless = true;
		cpus.stop();
	}
	/* Others go first, whose write it may race with. */
	if (!seen && me().idle == many &&
	    cpus.now() == scheduler::phase::replaying &&
	    cpus.ran() == execution().length(cpus.current()))
		cpus.leave(scheduler::state::at_end);
	if (me().idle < too_many)
		return;
	task.out.limit = "max_events: " + std::to_string(too_many) +
			 " accesses to plain data in a row (a loop that writes "
			 "them?) at " +
			 text(s);
	cpus.stop();
}

/* Called before each event that the graph does not have yet. */
void checker::wait_for_turn(bool rmw_write)
{
	if (is_full(execution(), cpus.current(), *task.given)) {
		if (!cuts_loops) {
			endless = true;
			cpus.stop();
		}
		const site last = way_in.last_site();
		const bool bounded = way_in.bound_endless_loop();
		std::string &why = bounded ? endless_loop : task.out.limit;
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
		cpus.stop();
	}
	cpus.wait_for_turn(rmw_write);
}

/* -- The end of a run --------------------------------------------------------
 */

void checker::end_main(void *self)
{
	static_cast<checker *>(self)->task.code->at_end();
}

void checker::end_waits_for_ever(site s)
{
	const detail::checker_runs here;

	the_checker().reports.report(
		bug::deadlock, "deadlock: the look at the end waits for ever",
		s);
	the_checker().cpus.stop();
}

bool checker::all_done() const
{
	for (unsigned c = 0; c < execution().cpus; c++)
		if (cpus.state_of(c) != scheduler::state::done ||
		    code_on[c].panicked)
			return false;
	return true;
}

void checker::finish()
{
	bool panicked = false, held_back = false;

	for (unsigned c = 0; c < execution().cpus; c++) {
		panicked |= code_on[c].panicked;
		held_back |= cpus.state_of(c) == scheduler::state::at_end;
	}
	if (held_back)
		return; /* another, in which it is not, stands for it */
	if (panicked) {
		task.out.panicked += symmetry.stands_for(execution());
		return;
	}
	if (!all_done()) {
		task.out.blocked += !execution().core;
		if (!task.given->may_deadlock && waits.deadlocked())
			report_deadlock();
		return;
	}
	if (execution().core && !reports.is_showing() &&
	    !early.is_new(execution()))
		return;
	if (execution().core)
		task.out.load_buffered++;
	else
		task.out.complete += symmetry.stands_for(execution());
	task.out.explored += !execution().core;
	look_at_end();
}

void checker::report_deadlock()
{
	std::string all;

	for (unsigned c = 0; reports.is_showing() && c < execution().cpus; c++)
		if (cpus.state_of(c) == scheduler::state::blocked)
			all += (all.empty() ? "" : ", ") +
			       waits.show(c, way_in);
	reports.report(bug::deadlock,
		       "deadlock: " + (reports.is_showing()
					       ? all
					       : "nobody can go on"),
		       {nullptr, 0});
}

/* Puts the last values into memory, where the test looks at them. */
void checker::put_last_values()
{
	memory.for_each([this](const object &o) {
		if (!o.atomic || !o.alive)
			return;
		const unsigned place = static_cast<unsigned>(o.place);
		const unsigned newest = execution().last(place);
		if (!newest)
			return;
		void *const at = const_cast<void *>(o.at);
		save(at, o.bytes);
		std::memcpy(at,
			    &execution()
				     .at(execution().write_at(place, newest))
				     .value,
			    o.bytes);
	});
}

void checker::look_at_end()
{
	if (learning.is_walk())
		put_known_values();
	else
		put_last_values();
	hooked::running = nullptr;
	cpus.look_at_end();
	hooked::leave_endless_wait = end_waits_for_ever;
	cpus.run_apart(ender, end_main, this);
	hooked::leave_endless_wait = nullptr;
	ended = !cpus.stopped();
	if (learning.is_walk()) {
		restore();
		end_world();
	}
}

/* A world made anew, as the walk's end leaves it. */
void checker::put_known_values()
{
	const graph &g = work.running();
	const auto put = [this](const learnt::location &l, u64 value) {
		void *const at = const_cast<void *>(l.at);
		save(at, l.bytes);
		std::memcpy(at, &value, l.bytes);
	};

	task.code->make_world();
	for (unsigned p = 0; p < learning.code.places.size(); p++)
		if (const unsigned newest = g.last(p))
			put(learning.code.places[p],
			    g.at(g.write_at(p, newest)).value);
	for (unsigned p = 0; p < learning.code.plains.size(); p++)
		put(learning.code.plains[p], walks.last_plain(p));
}

/* Only what outlives the run: no world, no stack, no heap of its own. */
void checker::save(const void *at, usize bytes)
{
	const char *const byte = static_cast<const char *>(at);
	const char *const world = static_cast<const char *>(task.code->world);

	if (byte >= world && byte < world + task.code->world_bytes)
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
