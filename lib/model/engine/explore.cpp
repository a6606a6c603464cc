/* SPDX-License-Identifier: MIT */
/*
 * explore - the stack of graphs, and what comes of it
 */
#include "checker.hpp"

#include <chrono>

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

result checker::explore(program &p, const options &given)
{
	const auto start = std::chrono::steady_clock::now();
	const unsigned count = static_cast<unsigned>(given.sections.size());

	out = {};
	what = &p;
	how = &given;
	if (count < 1 || count > max_cpus) {
		out.limit = "1 to 16 CPUs";
		return out;
	}
	while (cpus.size() < count)
		cpus.push_back(std::make_unique<cpu_state>());
	known.stacks.clear();
	for (const auto &c : cpus)
		known.stacks.push_back({c->stack.low(), c->stack.high()});
	hooked::counter_mask = ~u32{0};
	if (given.counter_bits)
		hooked::counter_mask =
			static_cast<u32>((u64{1} << given.counter_bits) - 1);
	/* What lies in a heap is not seen: learn.cpp. */
	learning = p.closed && !given.run_all && !given.load_buffering &&
		   detail::gate_to(*this) == this;
	begin_finding();
	start_symmetry(given.symmetric && learning);
	cuts_loops = given.cut_loops || given.every_turn;
	do {
		run_all = asymmetric = endless = false;
		explore_all(count);
		/* Once more, if it must be. */
		learning &= !run_all;
		reduces = false;
		cuts_loops |= endless;
	} while (run_all || asymmetric || endless);
	hooked::counter_mask = ~u32{0};
	out.time = std::chrono::duration<double>(
			   std::chrono::steady_clock::now() - start)
			   .count();
	return std::move(out);
}

void checker::explore_all(unsigned count)
{
	out = {};
	runs = 0;
	share_done = 0;
	code.forget();
	memory.forget_all();
	way_in.forget_heads();
	work.clear();
	early.clear();
	met.clear();
	work.push_back(std::make_unique<graph>());
	work.back()->reset(count, how->sequence);

	explore_work();
	if (!best.shows)
		explore_early();
	if (best.shows) {
		run_all = endless = false;
		show_finding();
	}
	if (out.left_out && out.limit.empty())
		out.limit = how->bounded() ? "preemptions, max_reorder: "
					     "executions beyond them are left "
					     "out"
					   : "load_buffering: of more loads of "
					     "one place, eight read early";
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
	bool alone =
		how->workers == 1 || how->record_uses || how->load_buffering;
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
		if (executions() >= how->max_executions)
			out.limit = "max_executions";
		if (runs % 4096 == 0)
			shown.at(executions(), share_done);
	}
}

/* What is on top. Its share of all is its own, and that of each it leads to. */
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
