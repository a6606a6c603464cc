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

	out = {};
	what = &p;
	how = &given;
	if (count < 1 || count > max_cpus) {
		out.limit = "1 to 16 CPUs";
		out.timeline = "NOT EXHAUSTIVE: 1 to 16 CPUs\n";
		return out;
	}
	if (const char *const unseen = detail::see_imports()) {
		out.found = bug::unseen;
		out.message = out.limit = unseen;
		out.timeline = std::string("BUG: ") + unseen + "\n";
		return out;
	}
	const code_traps of_assembly;
	while (cpus.size() < count)
		cpus.push_back(std::make_unique<cpu_state>());
	known.stacks.clear();
	for (const auto &c : cpus)
		known.stacks.push_back({c->stack.low(), c->stack.high()});
	hooked::counter_mask = ~u32{0};
	if (given.counter_bits)
		hooked::counter_mask =
			static_cast<u32>((u64{1} << given.counter_bits) - 1);
	thread_locals = find_thread_locals();
	begin_finding();
	operations.forget();
	memory.in_order = given.record_uses ? plain_in_order : nullptr;
	explore_once();
	look_at_uses();
	out.notes = (of_assembly.unseen ? of_assembly.unseen : "") +
		    what_was_intended();
	out.timeline.insert(0, out.notes);
	out.atomics_only = !p.tells_of_plain && detail::gate_to(*this) != this;
	if (out.atomics_only && out.ok()) {
		const char *const note =
			"NOTE: atomics only: plain variables "
			"are looked at by klock::model_plain\n";
		out.notes += note;
		out.timeline += note;
	}
	find_cause();
	hooked::counter_mask = ~u32{0};
	detail::intends = false;
	out.time = std::chrono::duration<double>(
			   std::chrono::steady_clock::now() - start)
			   .count();
	return std::move(out);
}

/* Explores by *how, and again where what comes of it says so. */
void checker::explore_once()
{
	const unsigned count = static_cast<unsigned>(how->sections.size());

	/* Learning does not see what is in a heap: learner.cpp. */
	learning = what->closed && !how->run_all && !how->load_buffering &&
		   detail::gate_to(*this) == this;
	start_intended();
	start_symmetry(how->symmetric && learning);
	way_in.start_exploration();
	cuts_loops = how->cut_loops || how->every_turn || how->unroll;
	if (how->deepen)
		explore_deeper(*how, count);
	else
		explore_whole(count);
}

/* All within the bounds; once more, if it must be. */
void checker::explore_whole(unsigned count)
{
	for (;;) {
		run_all = asymmetric = endless = false;
		explore_all(count);
		if (!run_all && !asymmetric && !endless)
			return;
		learning &= !run_all;
		reduces = false;
		cuts_loops |= endless;
	}
}

void checker::explore_all(unsigned count)
{
	out = {};
	turns_left_out = 0;
	gate_place = none;
	runs = 0;
	share_done = 0;
	code.forget();
	memory.forget_all();
	way_in.forget_heads();
	work.clear();
	early.clear();
	met.clear();
	work.push_back(new_graph());
	work.back()->reset(count, how->sequence);

	explore_work();
	if (!best.shows)
		explore_early();
	if (best.shows) {
		run_all = endless = false;
		show_finding();
	}
	level_ended = work.empty() && out.limit.empty();
	if (turns_left_out && out.limit.empty() && !how->unroll)
		out.limit = endless_loop + "; " +
			    std::to_string(loops::endless_turns) +
			    " of its turns in a row are explored, no more: "
			    "unroll sets another bound";
	if (out.left_out && out.limit.empty())
		out.limit = std::string(turns_left_out ? "unroll"
						       : "preemptions, "
							 "max_reorder") +
			    ": executions beyond are left out";
	if (work.empty() && out.limit.empty() && !seems_symmetric())
		out.limit = "not symmetric: CPUs that have read the same do "
			    "different things";
	out.exhaustive =
		work.empty() && early.empty() && out.limit.empty() && out.ok();
	if (!out.exhaustive && out.ok())
		out.timeline = "NOT EXHAUSTIVE: " + out.limit + "\n";
	work.clear();
	early.clear();
}

/* The graphs on the stack, and what comes of them, until something is found. */
void checker::explore_work()
{
	constexpr u64 much = 2'000;
	bool alone = how->workers == 1 || how->record_uses ||
		     how->load_buffering || detail::intends;
	progress shown;

	while (!work.empty() && goes_on() && out.limit.empty() && !run_all &&
	       !asymmetric && !endless) {
		if (!alone && !best.shows && runs >= much) {
			alone = true;
			if (share_work(shown))
				break;
		}
		explore_next();
		if (!out.ok())
			keep_finding();
		if (executions() >= how->max_executions || runs >= most_runs)
			out.limit = "max_executions";
		if (runs % 64 == 0 && how->deepen)
			look_at_clock();
		if (runs % 4096 == 0)
			shown.at(executions(), share_done);
	}
}

/*
 * Explores the graph on top. Its share of all is divided among itself and those
 * it leads to.
 */
void checker::explore_next()
{
	const usize below = work.size() - 1;

	if (g)
		recycle(std::move(g));
	g = std::move(work.back());
	work.pop_back();
	const double all = g->share;
	run_one();
	const double each = all / static_cast<double>(work.size() - below + 1);
	for (usize i = below; i < work.size(); i++)
		work[i]->share = each;
	share_done += each;
}

static const char *const beyond =
	", by load buffering: RC11 rules it out, ISO C++ leaves it open";

void checker::report(bug found, const std::string &message, site where)
{
	if (now == phase::comparing)
		stop();
	if (g->unsure) {
		if (noted.found == bug::none)
			noted = {found, message, where};
		return;
	}
	const std::string whole = g->core ? message + beyond : message;
	if (out.ok()) {
		out.found = found;
		out.message = whole;
		out.open = g->core != 0;
	}
	if (trace)
		write_down(whole, where);
	stopped = true;
	if (inside)
		stop();
}

} // namespace model
