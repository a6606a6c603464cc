/* SPDX-License-Identifier: MIT */
/*
 * explore - explores the graphs of the work list, and reports the result
 */
#include "checker.hpp"
#include "crash.hpp"

#include <chrono>
#include <csignal>

namespace model {

checker &the_checker()
{
	static checker one;
	return one;
}

template <klock::usize... Sizes>
result detail::explore_of_sizes(program &p, const options &given)
{
	return the_checker().explore(p, given);
}

template result
detail::explore_of_sizes<sizeof(program), sizeof(options), sizeof(result)>(
	program &, const options &);

/*
 * While it lives, the code stops at instructions that the compiler does not
 * report to the checker.
 */
struct code_traps {
	code_traps() : unseen(detail::set_traps()) {}
	~code_traps() { detail::unset_traps(); }
	code_traps(const code_traps &) = delete;
	code_traps &operator=(const code_traps &) = delete;

	const char *const unseen;
};

/* While it lives, accesses that the compiler does not tell of are found. */
struct memory_looks {
	explicit memory_looks(lookout &of) : looks(of), unseen(of.start()) {}
	~memory_looks() { looks.end(); }
	memory_looks(const memory_looks &) = delete;
	memory_looks &operator=(const memory_looks &) = delete;

	lookout &looks;
	const std::string unseen;
};

result checker::explore(program &p, const options &given)
{
	const crash_handlers crashes;
	const timer watches;
	const auto start = std::chrono::steady_clock::now();
	const unsigned count = static_cast<unsigned>(given.sections.size());

	task.out = {};
	task.code = &p;
	task.given = &given;
	if (count < 1 || count > max_cpus) {
		task.out.limit = "1 to 16 CPUs";
		task.out.timeline = "NOT EXHAUSTIVE: 1 to 16 CPUs\n";
		return task.out;
	}
	if (const char *const unseen = detail::see_imports()) {
		task.out.found = bug::unseen;
		task.out.message = task.out.limit = unseen;
		task.out.timeline = std::string("BUG: ") + unseen + "\n";
		return task.out;
	}
	const code_traps of_assembly;
	const memory_looks of_memory(looks);
	const handlers_wait for_ticks;
	cpus.make(count, given.stack_bytes);
	cpus.locals.start(count);
	reports.known.explores =
		static_cast<const char *>(__builtin_frame_address(0));
	reports.known.locals = &cpus.locals;
	reports.known.stacks.clear();
	for (unsigned c = 0; c < cpus.made(); c++)
		reports.known.stacks.push_back(
			{cpus.stack(c).low(), cpus.stack(c).high()});
	hooked::counter_mask = ~u32{0};
	if (given.counter_bits)
		hooked::counter_mask =
			static_cast<u32>((u64{1} << given.counter_bits) - 1);
	reports.start();
	memory.start();
	operations.forget();
	memory.tell(given.record_uses ? &uses : nullptr);
	explore_once();
	if (task.out.ok())
		reports.say_nothing_shown();
	uses.add_to(task);
	task.out.notes = (of_assembly.unseen ? of_assembly.unseen : "") +
			 of_memory.unseen + relaxed.notes();
	task.out.timeline.insert(0, task.out.notes);
	task.out.atomics_only =
		!p.tells_of_plain && detail::gate_to(code) != &code;
	if (task.out.atomics_only && task.out.ok()) {
		const char *const note =
			"NOTE: atomics only: plain variables "
			"are looked at by klock::model_plain\n";
		task.out.notes += note;
		task.out.timeline += note;
	}
	cause.find([this] { explore_once(); });
	hooked::counter_mask = ~u32{0};
	detail::intends = false;
	task.out.time = std::chrono::duration<double>(
				std::chrono::steady_clock::now() - start)
				.count();
	return std::move(task.out);
}

/* Explores by the options: once, or level by level (options.deepen). */
void checker::explore_once()
{
	const unsigned count =
		static_cast<unsigned>(task.given->sections.size());

	/* The learner does not see data in a heap. */
	learning.start(task.code->closed && !task.given->run_all &&
		       !task.given->load_buffering &&
		       detail::gate_to(code) == &code);
	if (relaxed.start())
		learning.start(false);
	symmetry.start(*task.given, task.given->symmetric && learning.learns());
	loops.start_exploration();
	loops.cut_if(task.given->cut_loops || task.given->every_turn ||
		     task.given->unroll);
	if (task.given->deepen)
		explore_deeper(*task.given, count);
	else
		explore_whole(count);
}

/*
 * Explores all executions within the bounds. If that shows that the learner was
 * wrong, the CPUs are not alike, or a loop does not end, it begins anew without
 * what was wrong.
 */
void checker::explore_whole(unsigned count)
{
	for (;;) {
		task.run_all = task.endless = false;
		explore_all(count);
		if (!task.run_all && !symmetry.failed() && !task.endless)
			return;
		if (task.run_all)
			learning.start(false);
		symmetry.turn_off();
		if (task.endless)
			loops.cut_if(true);
	}
}

/* Reports what was left out, if nothing else has ended the exploration. */
void checker::note_limits()
{
	std::string &limit = task.out.limit;

	if (!limit.empty())
		return;
	if (task.turns_left_out && !task.given->unroll)
		limit = loops.endless_loop() + "; " +
			std::to_string(loop_cutter::endless_turns) +
			" of its turns in a row are explored, no more: "
			"unroll sets another bound";
	else if (task.out.left_out)
		limit = std::string(task.turns_left_out ? "unroll"
							: "preemptions, "
							  "max_reorder") +
			": executions beyond are left out";
	else if (work.empty() && !symmetry.seems_right(learning.known()))
		limit = "not symmetric: CPUs that have read the same do "
			"different things";
}

void checker::explore_all(unsigned count)
{
	task.out = {};
	task.turns_left_out = 0;
	symmetry.start_over();
	task.runs = 0;
	learning.forget();
	memory.forget();
	loops.forget_heads();
	early.clear();
	work.start(count, task.given->sequence);

	explore_work();
	if (!reports.has_finding())
		explore_early();
	if (reports.has_finding()) {
		task.run_all = task.endless = false;
		work.run(reports.begin_showing());
		runs.run_one();
		reports.end_showing();
	}
	level_ended = work.empty() && task.out.limit.empty();
	note_limits();
	task.out.exhaustive = work.empty() && early.empty() &&
			      task.out.limit.empty() && task.out.ok();
	if (!task.out.exhaustive && task.out.ok())
		task.out.timeline = "NOT EXHAUSTIVE: " + task.out.limit + "\n";
	work.clear();
	early.clear();
}

/* Explores the graphs on the stack, and those that they lead to, until
 * something is found. */
void checker::explore_work()
{
	constexpr u64 much = 2'000;
	bool alone = task.given->workers == 1 || task.given->record_uses ||
		     task.given->load_buffering || detail::intends;
	progress shown;

	while (!work.empty() && reports.goes_on() && task.out.limit.empty() &&
	       !task.run_all && !symmetry.failed() && !task.endless) {
		if (!alone && !reports.has_finding() && task.runs >= much) {
			alone = true;
			if (share_work(shown))
				break;
		}
		explore_next();
		if (!task.out.ok())
			reports.keep_finding();
		if (task.executions() >= task.given->max_executions ||
		    task.runs >= task.most_runs)
			task.out.limit = "max_executions";
		if (task.runs % 64 == 0 && task.given->deepen)
			look_at_clock();
		if (task.runs % 4096 == 0)
			shown.at(task.executions(), work.share_done());
	}
}

/* Explores the graph on top. */
void checker::explore_next()
{
	const usize below = work.size() - 1;

	work.run_next();
	const double all = work.running().share;
	runs.run_one();
	work.divide_share(below, all);
}

/* Explores executions beyond RC11 if RC11's show no fault. */
void checker::explore_early()
{
	while (!early.empty() && work.empty() && reports.goes_on() &&
	       task.out.limit.empty() && !task.run_all && !task.endless) {
		early.put_on(work);
		explore_work();
	}
}

} // namespace model
