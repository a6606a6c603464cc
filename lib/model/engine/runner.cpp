/* SPDX-License-Identifier: MIT */
#include "runner.hpp"
#include "checker.hpp"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace model {

/* Walks the graph if the code is known; else runs the code. */
void runner::run_one()
{
	walk_or_run();
	if (memory.told())
		uses.note_run();
}

void runner::walk_or_run()
{
	/*
	 * At first, and now and then, the code runs though it is known: it may
	 * do something else than what was learnt.
	 */
	const bool due = ++task.runs <= 64 || task.runs % 256 == 0;

	suspected = false;
	if (learning.learns() && !reports.is_showing() && !due && walk())
		return;
	run_code();
	if (suspected && task.out.ok())
		task.run_all = true;
}

/* Returns false if no event was added to the graph. */
bool runner::walk()
{
	const u64 complete = task.out.complete, explored = task.out.explored;
	const u64 blocked = task.out.blocked, panicked = task.out.panicked;

	forget_panics();
	walks.walk(*task.given, memory.told());
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

void runner::make_world()
{
	cpus.locals.start_run();
	const thread_locals::as_maker now(cpus.locals);
	task.code->make_world();
}

/* Makes the world and sets the CPUs to their starts. */
void runner::begin()
{
	cpus.set_going();
	ended = false;
	reports.start_run();
	looks.start_run(reports.is_showing());
	reports.known.forget();
	reports.known.world = task.code->world;
	reports.known.world_bytes = task.code->world_bytes;
	reports.known.world_type = task.code->world_type;
	relaxed.forget_names();
	make_world();
	if (detail::trap_lifted)
		detail::set_traps();
	looks.set_marks();
	start_cpus();
	hooked::running = detail::gate_to(loops.hooks());
}

void runner::run()
{
	begin();
	cpus.replay(scheduler::phase::replaying);
	if (work.running().unsure)
		early.be_sure();
	cpus.extend();
}

void runner::close()
{
	hooked::running = nullptr;
	memory.restore();
	/* A world with a heap is not destroyed if its run ended half-way. */
	if (ended || detail::gate_to(loops.hooks()) == &loops.hooks())
		end_world();
}

/*
 * A destructor that loops calls no hook. It is left after half a second of CPU
 * time: explore() has a timer.
 */
static sigjmp_buf way_out;
static volatile std::sig_atomic_t leaving, ticks;

void look_at_the_end()
{
	ticks = ticks + 1;
	if (leaving && ticks > 2)
		siglongjmp(way_out, 1);
}

void runner::end_world()
{
	const thread_locals::as_maker now(cpus.locals);

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

/* Runs the graph, once more if the run has found a new loop. */
void runner::run_code()
{
	const std::size_t kept = work.size();
	bool in_vain = false, nothing_left = false;
	std::vector<turn> turns;
	const u64 left_out = task.out.left_out, turns_out = task.turns_left_out;
	clock had;

	for (unsigned c = 0; c < work.running().cpus; c++)
		had.at[c] = static_cast<u8>(work.running().length(c));
	task.out.ran++;
	for (run(); loops.cuts() && loops.found_a_head(); run()) {
		close();
		learning.give_up();
		work.shrink_to(kept);
		auto before = work.make();
		before->copy_kept(work.running(), had);
		before->share = work.running().share;
		work.recycle(work.run(std::move(before)));
		task.out.left_out = left_out;
		task.turns_left_out = turns_out;
	}
	if (loops.cuts() && !cpus.stopped() && !reports.is_showing() &&
	    !loops.turns().empty() && all_done())
		turns = turns_to_ask();
	if (!turns.empty()) {
		in_vain = find_in_vain(turns, nothing_left);
		if (in_vain)
			task.out.in_vain++;
		if (nothing_left)
			return;
		run(); /* find_in_vain() ran others */
	}
	if (!cpus.stopped() && in_vain)
		look_at_end();
	else if (!cpus.stopped())
		finish();
	close();
}

void runner::forget_panics()
{
	for (bool &p : panicked)
		p = false;
}

void runner::start_cpus()
{
	const unsigned count = work.running().cpus;

	forget_panics();
	memory.start_run(count);
	loops.start_run(count);
	code.start_run(count);
	repairs.start_run();
	relaxed.start_run(count);
	irqs.start_run(count, *task.given);
	branches.start_run(count);
	waits.start_run(count);
	learning.start_run(count);
	cpus.start(count, cpu_main, this, loops.watcher());
}

void runner::cpu_main(void *self)
{
	runner &r = *static_cast<runner *>(self);
	const unsigned mine = r.cpus.current();

	for (unsigned i = 0; i < r.task.given->sections[mine]; i++) {
		if (r.loops.cuts())
			r.loops.start_section();
		r.task.code->body(mine);
		if (detail::intends)
			r.relaxed.settle();
	}
	r.end_thread_locals(mine);
	r.code.branch_over_interrupts();
	r.learning.ends();
	r.cpus.set_done(mine);
}

void runner::end_thread_locals(unsigned cpu)
{
	cpus.locals.run_ends(cpu);
	if (detail::intends)
		relaxed.settle();
	memory.thread_locals_end({nullptr, 0});
}

/* -- The code ends its CPU --------------------------------------------------
 */

void runner::end_cpu()
{
	panicked[cpus.current()] = true;
	for (;;)
		cpus.leave(scheduler::state::done);
}

void runner::panic(const std::string &message)
{
	if (!task.given->may_panic || cpus.now() == scheduler::phase::ending)
		reports.report(bug::panic, message, {nullptr, 0});
	end_cpu();
}

/* A crash of a world that was left half-way does not count. */
void runner::crash(const std::string &message, site where)
{
	if (leaving) {
		died_of = "crash: in the world's destructor: " + message;
		died_at = where;
		siglongjmp(way_out, 1);
	}
	if (reports.is_showing())
		reports.add({cpus.current(), message, where});
	reports.report(bug::crash, "crash: " + message, where);
	end_cpu();
}

void runner::refuse(const std::string &message, site where)
{
	reports.report(bug::unseen, message, where);
	end_cpu();
}

bool runner::note_tick()
{
	const reached now{task.runs, cpus.current(), code.seen()};
	const double given = task.given->idle_seconds;
	/* Once it was found, it is waited for again, to be shown. */
	const double may = reports.found_idle() ? std::min(given, 1.0) : given;

	if (now != last_reached)
		idle_ticks = 0;
	last_reached = now;
	return given > 0 && ++idle_ticks > may * ticks_a_second;
}

void runner::loop_for_ever(const std::string &function, site where)
{
	const std::string in = function.empty() ? "" : " in " + function;
	const bool at_end = cpus.now() == scheduler::phase::ending;
	char seconds[32];

	std::snprintf(seconds, sizeof(seconds), "%g", task.given->idle_seconds);
	idle_ticks = 0;
	reports.note_idle();
	if (reports.is_showing() && !at_end)
		reports.add({cpus.current(), "loops" + in, where});
	reports.report(
		bug::deadlock,
		"deadlock: " +
			(at_end ? std::string("the check at the end")
				: "cpu" + std::to_string(cpus.current())) +
			" loops" + in +
			", and has done nothing that the checker sees "
			"for " +
			seconds + " s of CPU time (options.idle_seconds)",
		where);
	end_cpu();
}

/* Also if no CPU runs: the test's check at the end runs on none. */
bool runner::runs_code() const
{
	return leaving ||
	       (cpus.on_fiber() && (!learning.is_walk() ||
				    cpus.now() == scheduler::phase::ending));
}

bool runner::is_below_stack(const void *at) const
{
	const auto *const byte = static_cast<const char *>(at);
	const fiber &f = cpus.now() == scheduler::phase::ending
				 ? ender
				 : cpus.stack(cpus.current());

	return byte < f.low() && byte >= f.low() - ::sysconf(_SC_PAGESIZE);
}

/* -- The end of a run --------------------------------------------------------
 */

void runner::end_waits_for_ever(site s)
{
	const detail::checker_runs here;

	the_checker().reports.report(
		bug::deadlock, "deadlock: the look at the end waits for ever",
		s);
	the_checker().cpus.stop();
}

bool runner::all_done() const
{
	for (unsigned c = 0; c < work.running().cpus; c++)
		if (cpus.state_of(c) != scheduler::state::done || panicked[c])
			return false;
	return true;
}

void runner::finish()
{
	bool any_panicked = false, held_back = false;

	for (unsigned c = 0; c < work.running().cpus; c++) {
		any_panicked |= panicked[c];
		held_back |= cpus.state_of(c) == scheduler::state::at_end;
	}
	if (held_back)
		return; /* another execution stands for this one */
	if (any_panicked) {
		task.out.panicked += symmetry.stands_for(work.running());
		return;
	}
	if (!all_done()) {
		task.out.blocked += !work.running().core;
		if (!task.given->may_deadlock && waits.deadlocked())
			report_deadlock();
		return;
	}
	if (work.running().core && !reports.is_showing() &&
	    !early.add_new(work.running()))
		return;
	if (work.running().core)
		task.out.load_buffered++;
	else
		task.out.complete += symmetry.stands_for(work.running());
	task.out.explored += !work.running().core;
	look_at_end();
}

void runner::report_deadlock()
{
	std::string all;

	for (unsigned c = 0; reports.is_showing() && c < work.running().cpus;
	     c++)
		if (cpus.state_of(c) == scheduler::state::blocked)
			all += (all.empty() ? "" : ", ") + waits.show(c, loops);
	reports.report(bug::deadlock,
		       "deadlock: " + (reports.is_showing()
					       ? all
					       : "nobody can go on"),
		       {nullptr, 0});
}

void runner::look_at_end()
{
	if (learning.is_walk())
		put_known_values();
	else
		memory.put_last_values();
	hooked::running = nullptr;
	cpus.look_at_end();
	hooked::leave_endless_wait = end_waits_for_ever;
	cpus.run_apart(
		ender, [](void *of) { static_cast<program *>(of)->at_end(); },
		task.code);
	hooked::leave_endless_wait = nullptr;
	ended = !cpus.stopped();
	if (learning.is_walk()) {
		memory.restore();
		end_world();
	}
}

/* Makes a new world, with the values that the walk has left. */
void runner::put_known_values()
{
	const auto put = [this](const learnt::known_location &l, u64 value) {
		void *const at = const_cast<void *>(l.at);
		memory.save(at, l.bytes);
		std::memcpy(at, &value, l.bytes);
	};

	make_world();
	for (unsigned p = 0; p < learning.known().locations.size(); p++)
		if (const event *const newest = work.running().newest(p))
			put(learning.known().locations[p], newest->value);
	for (unsigned p = 0; p < learning.known().plains.size(); p++)
		put(learning.known().plains[p], walks.last_plain(p));
}

/*
 * turns - complete executions that differ from others by a turn in vain
 *
 * The code is run to find such an execution: all events but the turn's are
 * replayed. The turn was in vain if every CPU then does the same as before, to
 * the end. The execution was explored and checked, but is not counted.
 */

/* Replays this graph; returns whether the code does what it did before. */
bool runner::does_the_same(some_graph &other)
{

	other = work.run(std::move(other));
	const bool learns = learning.set_learning(false);
	begin();
	cpus.replay(scheduler::phase::comparing);
	bool same = !cpus.stopped();
	for (unsigned c = 0; c < work.running().cpus; c++)
		same = same && cpus.state_of(c) == scheduler::state::done &&
		       cpus.ran(c) == work.running().length(c);
	other = work.run(std::move(other));
	learning.set_learning(learns);
	return same;
}

/* The turns of the run that may be in vain. */
std::vector<turn> runner::turns_to_ask() const
{
	std::vector<turn> some;

	for (const turn &t : loops.turns()) {
		const unsigned end = 2u * t.last - t.first;
		const turn next{t.cpu, t.last, static_cast<u8>(end), true};
		if (!t.stays || (end <= work.running().length(t.cpu) &&
				 is_like_the_turn_before(work.running(), next)))
			some.push_back(t);
	}
	return some;
}

/*
 * Returns whether one of these turns of a complete run was in vain: replays the
 * run without each. Sets world_is_the_same if the run without that turn leaves
 * the same world, so that no check is needed.
 */
bool runner::find_in_vain(const std::vector<turn> &turns,
			  bool &world_is_the_same)
{
	const auto *const world = static_cast<const u8 *>(task.code->world);
	const std::vector<u8> was(world, world + task.code->world_bytes);
	auto other = work.copy(work.running());
	bool found = false;

	close();
	for (std::size_t i = 0; i < turns.size() && !found; i++) {
		if (!take_out(turns[i], work.running(), *other))
			continue;
		found = does_the_same(other);
		world_is_the_same =
			found && std::equal(was.begin(), was.end(), world);
		close();
	}
	work.recycle(std::move(other));
	return found;
}

} // namespace model
