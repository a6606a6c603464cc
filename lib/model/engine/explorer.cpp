/* SPDX-License-Identifier: MIT */
/*
 * explore - the stack of graphs, and what comes of it
 */
#include "checker.hpp"
#include "crash.hpp"

#include <chrono>
#include <csignal>
#include <link.h>
#include <sys/time.h>

namespace model {

checker &the_checker()
{
	static checker one;
	return one;
}

result explore(program &p, const options &how)
{
	return the_checker().explore(p, how);
}

/* The thread-local storage of this thread, for each part of the program. */
static std::vector<std::pair<const char *, const char *>> find_thread_locals()
{
	std::vector<std::pair<const char *, const char *>> all;
	const auto add = [](dl_phdr_info *part, std::size_t, void *to) {
		const auto *const start =
			static_cast<const char *>(part->dlpi_tls_data);
		for (unsigned i = 0; start && i < part->dlpi_phnum; i++)
			if (part->dlpi_phdr[i].p_type == PT_TLS)
				static_cast<decltype(all) *>(to)->emplace_back(
					start,
					start + part->dlpi_phdr[i].p_memsz);
		return 0;
	};

	::dl_iterate_phdr(add, &all);
	return all;
}

/* Delivers SIGVTALRM every 200 ms of CPU time while it lives. */
struct timer {
	timer()
	{
		struct sigaction ours {};

		ours.sa_handler = look_at_the_end;
		ours.sa_flags = SA_NODEFER | SA_RESTART;
		::sigaction(SIGVTALRM, &ours, &others);
		every(200'000);
	}
	~timer()
	{
		every(0);
		::sigaction(SIGVTALRM, &others, nullptr);
	}
	timer(const timer &) = delete;
	timer &operator=(const timer &) = delete;

      private:
	static void every(long microseconds)
	{
		const itimerval how{{0, microseconds}, {0, microseconds}};

		::setitimer(ITIMER_VIRTUAL, &how, nullptr);
	}

	struct sigaction others {};
};

/* What the compiler does not tell of stops the code while this lives. */
struct code_traps {
	code_traps() : unseen(detail::set_traps()) {}
	~code_traps() { detail::unset_traps(); }
	code_traps(const code_traps &) = delete;
	code_traps &operator=(const code_traps &) = delete;

	const char *const unseen;
};

result checker::explore(program &p, const options &given)
{
	const timer watches;
	const crash_handlers crashes;
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
	cpus.make(count);
	code_on.resize(cpus.made());
	reports.known.stacks.clear();
	for (unsigned c = 0; c < cpus.made(); c++)
		reports.known.stacks.push_back(
			{cpus.stack(c).low(), cpus.stack(c).high()});
	hooked::counter_mask = ~u32{0};
	if (given.counter_bits)
		hooked::counter_mask =
			static_cast<u32>((u64{1} << given.counter_bits) - 1);
	thread_locals = find_thread_locals();
	reports.start();
	operations.forget();
	memory.in_order = given.record_uses ? plain_in_order : nullptr;
	explore_once();
	look_at_uses();
	task.out.notes = (of_assembly.unseen ? of_assembly.unseen : "") +
			 what_was_intended();
	task.out.timeline.insert(0, task.out.notes);
	task.out.atomics_only =
		!p.tells_of_plain && detail::gate_to(*this) != this;
	if (task.out.atomics_only && task.out.ok()) {
		const char *const note =
			"NOTE: atomics only: plain variables "
			"are looked at by klock::model_plain\n";
		task.out.notes += note;
		task.out.timeline += note;
	}
	find_cause();
	hooked::counter_mask = ~u32{0};
	detail::intends = false;
	task.out.time = std::chrono::duration<double>(
				std::chrono::steady_clock::now() - start)
				.count();
	return std::move(task.out);
}

/* Explores by the options, and again where what comes of it says so. */
void checker::explore_once()
{
	const unsigned count =
		static_cast<unsigned>(task.given->sections.size());

	/* The learner does not see what is in a heap. */
	learning.start(task.code->closed && !task.given->run_all &&
		       !task.given->load_buffering &&
		       detail::gate_to(*this) == this);
	start_intended();
	symmetry.start(*task.given, task.given->symmetric && learning.learns());
	way_in.start_exploration();
	cuts_loops = task.given->cut_loops || task.given->every_turn ||
		     task.given->unroll;
	if (task.given->deepen)
		explore_deeper(*task.given, count);
	else
		explore_whole(count);
}

/* All within the bounds; once more, if it must be. */
void checker::explore_whole(unsigned count)
{
	for (;;) {
		run_all = endless = false;
		explore_all(count);
		if (!run_all && !symmetry.failed() && !endless)
			return;
		if (run_all)
			learning.start(false);
		symmetry.turn_off();
		cuts_loops |= endless;
	}
}

void checker::explore_all(unsigned count)
{
	task.out = {};
	task.turns_left_out = 0;
	symmetry.start_over();
	task.runs = 0;
	learning.forget();
	memory.forget_all();
	way_in.forget_heads();
	early.clear();
	work.start(count, task.given->sequence);

	explore_work();
	if (!reports.has_finding())
		explore_early();
	if (reports.has_finding()) {
		run_all = endless = false;
		work.run(reports.begin_showing());
		run_one();
		reports.end_showing();
	}
	level_ended = work.empty() && task.out.limit.empty();
	if (task.turns_left_out && task.out.limit.empty() &&
	    !task.given->unroll)
		task.out.limit =
			endless_loop + "; " +
			std::to_string(loops::endless_turns) +
			" of its turns in a row are explored, no more: "
			"unroll sets another bound";
	if (task.out.left_out && task.out.limit.empty())
		task.out.limit =
			std::string(task.turns_left_out ? "unroll"
							: "preemptions, "
							  "max_reorder") +
			": executions beyond are left out";
	if (work.empty() && task.out.limit.empty() &&
	    !symmetry.seems_right(learning.code))
		task.out.limit =
			"not symmetric: CPUs that have read the same do "
			"different things";
	task.out.exhaustive = work.empty() && early.empty() &&
			      task.out.limit.empty() && task.out.ok();
	if (!task.out.exhaustive && task.out.ok())
		task.out.timeline = "NOT EXHAUSTIVE: " + task.out.limit + "\n";
	work.clear();
	early.clear();
}

/* The graphs on the stack, and what comes of them, until something is found. */
void checker::explore_work()
{
	constexpr u64 much = 2'000;
	bool alone = task.given->workers == 1 || task.given->record_uses ||
		     task.given->load_buffering || detail::intends;
	progress shown;

	while (!work.empty() && reports.goes_on() && task.out.limit.empty() &&
	       !run_all && !symmetry.failed() && !endless) {
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
			shown.at(task.executions(), work.share_done);
	}
}

/* Explores the graph on top. */
void checker::explore_next()
{
	const usize below = work.size() - 1;

	work.run_next();
	const double all = execution().share;
	run_one();
	work.divide_share(below, all);
}

/* Explores executions beyond RC11, if RC11's show no fault. */
void checker::explore_early()
{
	while (!early.empty() && work.empty() && reports.goes_on() &&
	       task.out.limit.empty() && !run_all && !endless) {
		early.put_on(work);
		explore_work();
	}
}

} // namespace model
