/* SPDX-License-Identifier: MIT */
/*
 * explore - the stack of graphs, and what comes of it
 */
#include "checker.hpp"
#include "crash.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <link.h>
#include <sys/stat.h>
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

/*
 * branch - adding a read or a write, and all that could have been instead
 *
 * The run itself takes the newest write, and the last place in modification
 * order: an event with nothing after it breaks no axiom. The rest goes on the
 * stack. Source: TruSt (see checker.hpp), algorithm 2.
 */

std::unique_ptr<graph> checker::new_graph()
{
	if (spare.empty())
		return std::make_unique<graph>();

	std::unique_ptr<graph> one = std::move(spare.back());
	spare.pop_back();
	return one;
}

std::unique_ptr<graph> checker::copy_of(const graph &from)
{
	std::unique_ptr<graph> copy = new_graph();

	*copy = from;
	return copy;
}

void checker::recycle(std::unique_ptr<graph> &&done)
{
	spare.push_back(std::move(done));
}

bool checker::has(const graph &x, ref added) const
{
	if (how->machine != machine::rc11)
		return machine_has(x, how->machine);
	if (!x.any_sc)
		return true;
	return added.index ? sc_holds_with(x, added) : sc_holds(x);
}

bool checker::keep_if_sc(std::unique_ptr<graph> &&other, ref added)
{
	const bool keeps = within_bounds(*other) && has(*other, added);

	if (keeps)
		work.push_back(std::move(other));
	else
		recycle(std::move(other));
	return keeps;
}

u64 checker::word_at(unsigned place, unsigned position, const window &w) const
{
	if (position)
		return g->at(g->write_at(place, position)).value;
	if (walking)
		return code.places[place].initial;

	/* The memory holds what the location started with. */
	u64 word = 0;
	std::memcpy(&word, w.at, w.bytes);
	return word;
}

/* The CPU's next event, which the graph has; the code must agree. */
const event &checker::next(kind what_it_is, unsigned place, u16 op)
{
	const ref r{static_cast<u8>(cpu), static_cast<u8>(me().ran + 1)};
	event &e = g->at(r);

	e.step = me().step;
	e.op = op;
	if (e.what == what_it_is && e.place == place)
		return e;
	if (now == phase::comparing || g->unsure)
		stop();
	does_otherwise();
	return e;
}

/* -- Reads ----------------------------------------------------------------- */

const event &checker::read(const reading &q, unsigned place)
{
	learn(q, place);
	if (me().ran == g->length(cpu)) {
		wait_for_turn(false);
		while (held(q))
			leave(cpu_state::where::at_end);
		learn_ends(q, place);
		branch_read(q, place);
	}

	const event &e = next(kind::read, place, q.op);
	if (!e.from.initial() && !e.early) {
		while (cpus[e.from.cpu]->ran < e.from.index) {
			me().source = e.from;
			leave(cpu_state::where::at_source);
		}
	}
	wait_for_past(e);
	if (g->unsure)
		read_again(q);
	me().ran++;
	if (q.expected && q.failed != q.ord)
		remember(q);
	went(e.value);
	return e;
}

void checker::branch_read(const reading &q, unsigned place)
{
	const ref mine = g->next_of(cpu);
	g->step = me().step;
	g->op = q.op;
	const unsigned newest = g->last(place);

	for (unsigned p = floor(*g, place, g->seen_before(mine)); p < newest;
	     p++) {
		const u64 word = word_at(place, p, q.at);

		/*
		 * A wait that goes on is served by a later write only if it
		 * has read the newest there is: the others lead nowhere.
		 */
		if (!q.ends(word) && !how->stale_waits)
			continue;
		if (enters(q) && !in_turn(*g, cpu, g->write_at(place, p)))
			continue;
		if (q.would_write(word) && has_rival(*g, place, p)) {
			only_revisit(q, place, p);
			continue;
		}
		auto other = copy_of(*g);
		other->add_read(cpu, place, q.order_for(word),
				g->write_at(place, p), word);
		if (keep_if_sc(std::move(other), mine))
			meet(q.op, g->write_at(place, p));
	}
	const u64 last = word_at(place, newest, q.at);
	g->add_read(cpu, place, q.order_for(last), g->write_at(place, newest),
		    last);
	meet(q.op, g->write_at(place, newest));
}

/*
 * An RMW on top of a write that has one: no execution by itself, but the other
 * may come to stand on top of this one.
 */
void checker::only_revisit(const reading &q, unsigned place, unsigned position)
{
	const u64 word = word_at(place, position, q.at);
	auto other = copy_of(*g);

	other->add_read(cpu, place, q.ord, g->write_at(place, position), word);
	other->step = g->step ? code.steps[g->step].after(word) : 0;
	other->add_write(cpu, place, q.store_ord, q.written(word), true);
	look_at_gate(*other, place, true);
	revisit(*other, other->last_of(cpu));
	recycle(std::move(other));
}

/* -- Writes ---------------------------------------------------------------- */

void checker::write(const reading &q, unsigned place, u64 word)
{
	learn_write(q, place, word);
	if (me().ran == g->length(cpu)) {
		wait_for_turn(q.writes);
		branch_write(q, place, word);
	}
	const event &e = next(kind::write, place, q.op);
	if (g->unsure ? !keeps_promise(q, word)
		      : now == phase::comparing && e.value != word)
		stop();
	if (e.value != word)
		does_otherwise();
	me().ran++;
	went(0);
}

void checker::branch_write(const reading &q, unsigned place, u64 word)
{
	const bool exclusive = q.writes;
	const unsigned newest = g->last(place);
	unsigned lowest = floor(*g, place, g->seen_before(g->next_of(cpu))) + 1;
	unsigned own = newest + 1;

	g->step = me().step;
	g->op = q.op;
	g->add_write(cpu, place, q.store_ord, word, exclusive);
	look_at_gate(*g, place, exclusive);
	const ref mine = g->last_of(cpu);
	revisit(*g, mine);

	if (exclusive) {
		const ref read{mine.cpu, static_cast<u8>(mine.index - 1)};
		own = g->position(g->at(read)) + 1;
		if (splits_rmw(*g, place, own))
			stop(); /* and does not count */
		lowest = own;
	}
	for (unsigned p = lowest; p <= newest && !exclusive; p++) {
		if (splits_rmw(*g, place, p))
			continue;
		auto other = copy_of(*g);
		other->insert(mine, p);
		keep_if_sc(std::move(other), mine);
	}
	g->insert(mine, own);
}

/* -- Choices that are not memory's ------------------------------------------
 */

u64 checker::choose(u64 n)
{
	if (step *const now_known = doing(step::does::choose))
		now_known->value = n;
	if (me().ran == g->length(cpu)) {
		wait_for_turn(false);
		branch_choice(n);
	}
	const event &e = next(kind::choice, 0, 0);
	me().ran++;
	went(e.value);
	return e.value;
}

void checker::branch_choice(u64 n)
{
	g->step = me().step;
	for (u64 i = n - 1; i > 0; i--) {
		auto other = copy_of(*g);
		other->add_choice(cpu, i);
		work.push_back(std::move(other));
	}
	g->add_choice(cpu, 0);
}

/*
 * revisit - a new write that reads which were there before it may read instead
 *
 * Each such graph keeps the read, what was there before it, and what causes the
 * write; the rest is deleted and will be added again. Source: TruSt (see
 * checker.hpp), algorithm 2, lines on revisits and maximal extensions.
 */

/*
 * Whether e is as the run itself would have added it, had only what came before
 * it and what causes the write been there. Exactly one of the graphs that
 * differ in what a revisit deletes is so: none is built twice.
 */
static bool added_newest(const graph &g, const event &e, const clock &causes)
{
	if (e.what == kind::fence)
		return true;
	if (e.what == kind::choice)
		return e.value == 0;
	if (e.revisits)
		return false;
	for (unsigned p = g.position(e) + 1; p <= g.last(e.place); p++) {
		const ref w = g.write_at(e.place, p);
		if (g.at(w).stamp <= e.stamp || causes.has(w))
			return false;
	}
	return true;
}

/*
 * The last stamp of what is not so. A read up to it keeps its write: a revisit
 * would delete what comes after it.
 */
static u32 last_settled(const graph &g, const clock &causes)
{
	u32 last = g.core;

	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = g.length(c); i > causes.at[c]; i--) {
			const event &e = g.sb[c][i - 1];
			if (e.stamp <= last)
				break;
			if (!added_newest(g, e, causes))
				last = e.stamp;
		}
	return last;
}

/* Serves the new write to the reads that were there before it. */
void checker::revisit(const graph &with, ref write)
{
	constexpr u32 unknown = ~u32{0};
	const event &a = with.at(write);
	u32 settled = unknown;

	for (unsigned c = 0; c < with.cpus; c++) {
		/* Events that cause the write cannot read it: no thin air. */
		for (unsigned i = a.porf.at[c] + 1u; i <= with.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = with.at(r);

			if (e.what != kind::read || e.place != a.place)
				continue;
			if (settled == unknown)
				settled = last_settled(with, a.porf);
			if (e.stamp > settled)
				serve(with, r, write);
		}
	}
	if (how->load_buffering)
		serve_causes(with, write);
}

/* The graphs in which read, with nothing after it, reads write. */
void checker::serve(const graph &with, ref read, ref write)
{
	const u32 since = with.at(read).stamp;
	const unsigned place = with.at(write).place;
	const bool exclusive = with.at(write).exclusive;
	clock kept = with.at(write).porf;

	for (unsigned c = 0; c < with.cpus; c++)
		while (kept.at[c] < with.length(c) &&
		       with.sb[c][kept.at[c]].stamp <= since)
			kept.at[c]++;

	auto base = new_graph();
	base->copy_kept(with, kept);

	const unsigned newest = base->last(place);
	unsigned p = floor(*base, place, base->seen_before(write));
	const unsigned seen = floor(*base, place, base->seen_before(read));
	p = (p > seen ? p : seen) + 1;
	unsigned to = newest + 1;
	if (exclusive) {
		const ref half{write.cpu, static_cast<u8>(write.index - 1)};
		const unsigned on_top = base->position(base->at(half)) + 1;
		p = on_top < p ? newest + 2 : on_top;
		to = on_top;
	}
	base->at(read).ord = order_found(read, with.at(write).value);
	base->redirect(read, write);
	/* Defensive: no known write violates this symmetry rule. */
	if (with.gate[read.cpu] == read.index + 1 &&
	    !in_turn(*base, read.cpu, write)) {
		recycle(std::move(base));
		return;
	}
	const auto keep = [&](std::unique_ptr<graph> &&other) {
		bool keeps = false;

		other->insert(write, p);
		other->at(read).behind = p <= newest;
		if (p <= newest)
			keeps = keep_if_sc(std::move(other));
		else if ((keeps = within_bounds(*other)))
			work.push_back(std::move(other));
		else
			recycle(std::move(other));
		if (keeps)
			meet(with.at(read).op, with.at(write).op);
	};
	for (; p < to; p++)
		if (!splits_rmw(*base, place, p))
			keep(copy_of(*base));
	if (p == to && !splits_rmw(*base, place, p))
		keep(std::move(base));
	else
		recycle(std::move(base));
}

/*
 * bounds - executions that are left out because they are far from the first
 *
 * In the first execution the CPUs run one after another, and each read finds
 * the newest write. How far another is from it can be told from the graph: the
 * stamps say what was there when an event was added. A branch beyond the bounds
 * is cut; executions that only it leads to are missed, and that is said.
 */

namespace {

/* Whether a write behind this position was there before the event. */
bool was_newer(const graph &g, const event &e)
{
	for (unsigned p = g.position(e) + 1; p <= g.last(e.place); p++)
		if (g.at(g.write_at(e.place, p)).stamp < e.stamp)
			return true;
	return false;
}

} // namespace

bool checker::within_bounds(const graph &x)
{
	unsigned preempted = 0, reordered = 0;

	if (how->preemptions == unbounded && how->max_reorder == unbounded)
		return true;
	for (unsigned c = 0; c < x.cpus; c++) {
		for (const event &e : x.sb[c]) {
			if (e.what != kind::read && e.what != kind::write)
				continue;
			if (e.what == kind::read && !e.from.initial() &&
			    x.at(e.from).stamp > e.stamp)
				preempted++;
			else
				reordered += was_newer(x, e);
		}
	}
	if (preempted <= how->preemptions && reordered <= how->max_reorder)
		return true;
	out.left_out++;
	return false;
}

/*
 * symmetry - of executions that differ in who is who, one
 *
 * CPUs of one body and as many sections can change places in an execution, and
 * what comes out is an execution. One of those is explored. Which, a CPU's
 * *gate* says: its first read-modify-write, where that always writes. If all
 * gates are of one word, and nothing else than read-modify-writes changes that
 * word, its modification order is a chain of reads-from: it puts the gates into
 * an order, which permuting the CPUs permutes, and which is part of porf. The
 * executions in which it is the order of the CPUs' numbers are those of another
 * program: in which the gate of a CPU is created by the gate of the CPU before
 * it, as a thread is by another. To explore that one takes no more than to
 *
 *	hold a CPU back at its gate until the one before it has passed
 *	let a gate's read read only what has that gate in its past (or is it)
 *
 * both of which keep to what TruSt asks of a model: an execution less what
 * nothing in it depends on is one, and the newest write can always be read.
 *
 * Of k CPUs, m of which come to their gates, each execution stands for as many
 * as there are ways to choose those m in turn: k!/(k-m)!. The others have no
 * order among them, and all of their executions are explored.
 *
 * Whether it is so is seen on the way: if not, all is explored once more,
 * without. Whether the CPUs' code is the same is the caller's word; the trees
 * of what was learnt of them (learnt.hpp) may not contradict it.
 */

/* The CPUs that may change places: each with the next that is like it. */
void checker::start_symmetry(bool asked)
{
	const auto &sections = how->sections;

	gate_place = none;
	reduces = false;
	for (unsigned c = 0; c < sections.size(); c++) {
		before[c] = none;
		like[c] = 0;
		for (unsigned d = 0; d < sections.size(); d++) {
			const bool same = sections[c] == sections[d] &&
					  (how->patient >> c & 1) ==
						  (how->patient >> d & 1);
			like[c] += same;
			if (same && d < c)
				before[c] = d;
		}
		reduces |= asked && like[c] > 1;
	}
}

/* Whether this operation of the CPU is its gate. */
bool checker::enters(const reading &q) const
{
	return reduces && q.writes && like[cpu] > 1 && !g->gate[cpu];
}

void checker::not_symmetric()
{
	asymmetric = true;
	stop();
}

/* Whether the CPU is held back: the one before it has not passed. */
bool checker::held(const reading &q)
{
	if (!enters(q))
		return false;
	if (q.expected || q.until)
		not_symmetric();
	return before[cpu] != none && !g->gate[before[cpu]];
}

/* Whether a gate's read, of this CPU, may read that write. */
bool checker::in_turn(const graph &in, unsigned of, ref write) const
{
	const unsigned other = before[of];

	if (other == none)
		return true;
	const ref passed{static_cast<u8>(other), in.gate[other]};
	return passed.index && !write.initial() &&
	       in.at(write).porf.has(passed);
}

/* A write was added: it is a gate, or may show that there are none. */
void checker::look_at_gate(graph &in, unsigned place, bool exclusive)
{
	if (!reduces)
		return;
	if (exclusive && like[cpu] > 1 && !in.gate[cpu]) {
		in.gate[cpu] = in.last_of(cpu).index;
		if (gate_place == none)
			gate_place = place;
		for (unsigned p = 1; p <= in.last(place); p++)
			if (!in.is_exclusive(place, p))
				not_symmetric();
		if (place != gate_place)
			not_symmetric();
	} else if (!exclusive && place == gate_place) {
		not_symmetric();
	}
}

/* How many executions this one stands for. */
u64 checker::stands_for() const
{
	unsigned passed[max_cpus] = {};
	u64 many = 1;

	if (!reduces)
		return 1;
	/* Each that has passed might have been any of those like it. */
	for (unsigned c = 0; c < g->cpus; c++) {
		unsigned first = c;
		while (before[first] != none)
			first = before[first];
		if (g->gate[c])
			many *= like[c] - passed[first]++;
	}
	return many;
}

/* -- Whether the code is the same --------------------------------------------
 */

namespace {

bool is_pointer(const step &s)
{
	return s.how.at.what == hooked::holds::other && s.how.at.bits == 64;
}

bool same_operation(const step &a, const step &b)
{
	const window &v = a.how.at, &w = b.how.at;
	using does = step::does;

	if (a.what != b.what)
		return false;
	if (a.what == does::fence)
		return a.how.ord == b.how.ord;
	if (a.what != does::read && a.what != does::write)
		return true;
	return v.bytes == w.bytes && v.shift == w.shift && v.bits == w.bits &&
	       a.how.ord == b.how.ord && a.how.store_ord == b.how.store_ord &&
	       a.how.writes == b.how.writes && a.how.how == b.how.how &&
	       !a.how.until == !b.how.until &&
	       (is_pointer(a) ||
		(a.how.operand == b.how.operand && a.value == b.value));
}

} // namespace

/* Whether they write the same: what is a pointer's size may be one. */
bool checker::same_plain(const step &a, const step &b) const
{
	const usize bytes = code.plains[a.place].bytes;

	return bytes == code.plains[b.place].bytes &&
	       (bytes == sizeof(void *) || a.value == b.value);
}

/* Whether nothing that is known of two CPUs tells them apart, from here on. */
bool checker::same_code(u32 a, u32 b) const
{
	using does = step::does;
	const step &one = code.steps[a], &other = code.steps[b];

	if (one.what == does::unknown || other.what == does::unknown)
		return true;
	if (!same_operation(one, other) ||
	    (one.what == does::write_plain && !same_plain(one, other)))
		return false;
	for (const step::edge &e : one.next) {
		/* A pointer that is the one's own is not the other's. */
		if (is_pointer(one) && e.value)
			continue;
		const u32 to = other.after(e.value);
		if (to && !same_code(e.to, to))
			return false;
	}
	return true;
}

bool checker::seems_symmetric() const
{
	if (!reduces || asymmetric)
		return true;
	for (unsigned c = 0; c < how->sections.size(); c++)
		if (before[c] != none &&
		    !same_code(code.root(before[c]), code.root(c)))
			return false;
	return true;
}

/*
 * load_buffering - reads of what comes after them: options.load_buffering
 *
 * RC11 has no cycle of program order and reads-from. ISO C++ and some machines
 * have: a store goes ahead of a load before it, and what the load reads can
 * come of the store. Here a new write w is served to reads among its own causes
 * as well, if nothing but the missing rule is against it. What remains is w and
 * its causes, with the reads "early": they have w's value before w is there.
 *
 * No value comes out of thin air, as each is first written by an execution
 * without the cycle. The code then is run on that value: it must do the same
 * operations up to w, and write to w what was promised; what it writes besides
 * may be another value, and is handed on. Else a dependency holds the cycle up,
 * and there is no such execution.
 *
 * From there on the graph grows like any other, but no revisit takes anything
 * of it away. An execution may be met more than once; it is counted once. Such
 * executions come after all of RC11's, and only if those show no fault.
 */

namespace {

/* An exploration tries only that many first reads of one place. */
constexpr std::size_t most_reads = 8;

/*
 * FNV-1a, of what makes an execution: not of how it was met. Before the code
 * has agreed to it, also of what it is run on: which reads are early.
 */
u64 print_of(const graph &g)
{
	u64 print = 0xcbf29ce484222325;
	const auto add = [&print](u64 v) {
		print = (print ^ v) * 0x100000001b3;
	};

	add(g.unsure);
	for (unsigned c = 0; c < g.cpus; c++) {
		add(g.length(c));
		for (const event &e : g.sb[c]) {
			add(static_cast<u64>(e.what));
			add(static_cast<u64>(e.ord));
			add(e.place);
			add(g.unsure && e.early);
			add(e.value);
			add(e.what == kind::write
				    ? e.mo
				    : e.from.cpu << 8 | e.from.index);
		}
	}
	return print;
}

} // namespace

/* The graphs in which reads that the new write comes of read it. */
void checker::serve_causes(const graph &with, ref write)
{
	const event &a = with.at(write);
	std::vector<ref> some;

	for (unsigned c = 0; c < with.cpus; c++) {
		for (unsigned i = 1; i <= a.porf.at[c]; i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = with.at(r);
			if (e.what == kind::read && e.place == a.place &&
			    some.size() < most_reads)
				some.push_back(r);
		}
	}
	for (unsigned which = 1; which >> some.size() == 0; which++) {
		std::vector<ref> reads;
		for (unsigned i = 0; i < some.size(); i++)
			if (which >> i & 1)
				reads.push_back(some[i]);
		serve_early(with, write, reads);
	}
}

/* The graphs in which these do. */
void checker::serve_early(const graph &with, ref write,
			  const std::vector<ref> &reads)
{
	const event &a = with.at(write);
	const clock &causes = a.porf;
	auto base = new_graph();

	base->copy_kept(with, causes);
	for (const ref r : reads) {
		event &e = base->at(r);
		e.from = write;
		e.value = a.value;
		e.early = true;
		for (unsigned c = 0; c < base->cpus; c++)
			for (event &later : base->sb[c])
				if (later.porf.has(r))
					later.porf = causes;
	}
	base->at(write).promised = true;
	base->core = a.stamp;
	base->unsure = true;
	base->share = 0;

	const unsigned places = base->settle() ? base->last(a.place) + 1 : 0;
	for (unsigned p = 1; p <= places; p++) {
		auto other = copy_of(*base);
		other->insert(write, p);
		if (atomic(*other) && coherent(*other) && has(*other) &&
		    within_bounds(*other) && note_met(*other)) {
			for (const ref r : reads)
				if (r.cpu != write.cpu)
					meet(with.at(r).op, a.op);
			early.push_back(std::move(other));
		} else {
			recycle(std::move(other));
		}
	}
	recycle(std::move(base));
}

/* Notes the graph as met; returns true the first time. */
bool checker::note_met(const graph &x)
{
	return met.insert(print_of(x)).second;
}

/* In a replay: what happens before the CPU's next event comes before it. */
void checker::wait_for_past(const event &e)
{
	for (unsigned c = 0; g->core && c < g->cpus; c++) {
		while (c != cpu && cpus[c]->ran < e.hb.at[c]) {
			me().source = {static_cast<u8>(c), e.hb.at[c]};
			leave(cpu_state::where::at_source);
		}
	}
}

/* Lets the CPU's next event, a read, read another value than before. */
void checker::read_again(const reading &q)
{
	event &e = g->at({static_cast<u8>(cpu), static_cast<u8>(me().ran + 1)});

	if (!e.from.initial())
		e.value = g->at(e.from).value;
	if (e.ord != q.order_for(e.value))
		stop();
}

/* Whether the code's next write is the promised one, with its value. */
bool checker::keeps_promise(const reading &q, u64 word)
{
	event &e = g->at({static_cast<u8>(cpu), static_cast<u8>(me().ran + 1)});

	if (!e.promised)
		e.value = word;
	return e.value == word && e.exclusive == q.writes &&
	       e.ord == q.store_ord;
}

/* The replay is over: whether the code has done what is in the graph. */
void checker::be_sure()
{
	for (unsigned c = 0; c < g->cpus; c++)
		stopped |= cpus[c]->ran != g->length(c);
	if (stopped)
		return;
	g->unsure = false;
	if (noted.found == bug::none)
		return;
	report(noted.found, noted.message, noted.where);
	g->unsure = true; /* so is what is shown: whole */
}

/* Explores executions beyond RC11, if RC11's show no fault. */
void checker::explore_early()
{
	while (!early.empty() && work.empty() && goes_on() &&
	       out.limit.empty() && !run_all && !endless) {
		work.swap(early);
		explore_work();
	}
}

} // namespace model

/*
 * finding - of the executions that show a fault, the shortest; and shown
 *
 * The first one found need not be the clearest. The exploration goes on for as
 * many runs as it took, and some, and keeps the one with the fewest events, of
 * these the one with the fewest changes from CPU to CPU. It is run once more
 * and written down; under a debugger, if that is asked for, with a stop before
 * it begins and one at the fault. What is explored, and so what is found, is
 * the same in each process.
 */

/*
 * Functions where a debugger stops in a replay. The asm prevents a tail call,
 * so that each has a frame of its own.
 */
extern "C" [[gnu::noinline]] void model_replay_begins()
{
	std::raise(SIGTRAP);
	asm volatile("");
}
extern "C" [[gnu::noinline]] void model_replay_fault()
{
	std::raise(SIGTRAP);
	asm volatile("");
}

namespace model {

namespace {

/* The number of this exploration in the process, from 1. */
unsigned explorations = 0;

/* 0: none. */
unsigned asked_for()
{
	const char *const text = std::getenv("KLOCK_MODEL_REPLAY");
	char *end = nullptr;

	if (!text)
		return 0;
	const unsigned long number = std::strtoul(text, &end, 10);
	if (end != text && !*end && number && number < 1'000'000)
		return static_cast<unsigned>(number);
	if (explorations == 1)
		std::fprintf(stderr,
			     "klock::model: KLOCK_MODEL_REPLAY=%s is "
			     "no exploration's number\n",
			     text);
	return 0;
}

/* Prints the text that a debugger shows before it stops. */
void say_replay(const char *what)
{
	std::fprintf(stderr, "klock::model: the replay %s (SIGTRAP, for gdb)\n",
		     what);
}

void write_picture(const std::string &svg)
{
	const char *const name = std::getenv("KLOCK_MODEL_SVG");

	struct stat is;

	if (!name)
		return;
	/* A device, as /dev/stdout, has nothing beside it. */
	const bool aside = stat(name, &is) != 0 || S_ISREG(is.st_mode);
	const std::string part = name + std::string(aside ? ".part" : "");
	std::ofstream file(part);
	file << svg;
	file.close();
	if (file && (!aside || std::rename(part.c_str(), name) == 0))
		return;
	if (aside)
		std::remove(part.c_str());
	std::fprintf(stderr,
		     "klock::model: KLOCK_MODEL_SVG=%s cannot be written\n",
		     name);
}

/* The word in quotes, if a shell would split or expand it. */
std::string shell_quoted(const std::string &word)
{
	std::string all = "'";

	if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+./:=,@%") == word.npos)
		return word;
	for (const char c : word)
		all += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return all + "'";
}

/* The command line of this process, quoted for a shell. */
std::string command_line()
{
	std::ifstream from("/proc/self/cmdline", std::ios::binary);
	std::string all, word;

	while (std::getline(from, word, '\0'))
		all += (all.empty() ? "" : " ") + shell_quoted(word);
	return all;
}

/* The number of the code's events, without choices. */
u64 events_of(const graph &g)
{
	u64 many = 0;

	for (unsigned c = 0; c < g.cpus; c++)
		for (const event &e : g.sb[c])
			many += e.what != kind::choice;
	return many;
}

/* How often the next event is another CPU's, in the order they were added. */
unsigned switches_of(const graph &g)
{
	std::vector<std::pair<u32, unsigned>> order;
	unsigned many = 0;

	for (unsigned c = 0; c < g.cpus; c++)
		for (const event &e : g.sb[c])
			order.push_back({e.stamp, c});
	std::sort(order.begin(), order.end());
	for (std::size_t i = 1; i < order.size(); i++)
		many += order[i].second != order[i - 1].second;
	return many;
}

} // namespace

void checker::begin_finding()
{
	explorations++;
	traps = asked_for() == explorations;
	best = {};
	shortens = true;
}

void checker::expect_death()
{
	shortens = false;
	timeline::aloud = true;
}

/* Whether the exploration goes on: nothing found, or not looked for long. */
bool checker::goes_on() const { return !best.shows || runs < best.until; }

/* The run has found something: kept, if it is shorter. */
void checker::keep_finding()
{
	const u64 events = events_of(*g);
	const unsigned switches = switches_of(*g);

	if (!best.shows) {
		best.first = out;
		best.until = runs;
		if (out.found != bug::not_repeatable && shortens)
			best.until += std::min(runs + 64, how->shorten);
	}
	if (!best.shows || (out.found == best.first.found &&
			    std::pair(events, switches) <
				    std::pair(best.events, best.switches))) {
		best.shows = copy_of(*g);
		best.events = events;
		best.switches = switches;
	}
	/* As if there had been nothing. */
	out.found = bug::none;
	out.message.clear();
}

/* The shortest, run once more and written down. */
void checker::show_finding()
{
	const result first = std::move(best.first);

	g = std::move(best.shows);
	out = first;
	out.found = bug::none;
	shown = {};
	trace = std::make_unique<timeline>();
	if (traps) {
		say_replay("begins");
		model_replay_begins();
	}
	run_one();
	/* It has reported the same before, and does not do so again. */
	if (timeline::aloud)
		::_exit(1);
	keep_shown();
	trace.reset();

	const result shown = std::move(out);
	out = first;
	if (!shown.ok()) { /* code that does not repeat may hide it */
		out.found = shown.found;
		out.message = shown.message;
	}
	out.timeline = shown.timeline;
	out.svg = shown.svg;
	out.replay = "KLOCK_MODEL_REPLAY=" + std::to_string(explorations) +
		     " gdb --args " + command_line();
	out.ran = first.ran;
	recycle(std::move(g));
	if (repairs.empty() && most_runs == ~u64{0})
		write_picture(out.svg);
}

/* What of the graph was run until the fault, for cause.cpp. */
void checker::keep_shown()
{
	clock had;

	for (unsigned c = 0; c < g->cpus; c++)
		had.at[c] = cpus[c]->ran;
	shown.of = std::make_unique<graph>();
	shown.of->copy_kept(*g, had);
	shown.rows = *trace;
}

/* The CPU at fault, those that the message names; all, at the end, of none, or
 * of a deadlock. */
std::vector<bool> checker::who_takes_part(const std::string &message) const
{
	/* A deadlock is what others have not done. */
	const bool all =
		now == phase::ending || message.starts_with("deadlock");
	std::vector<bool> those(g->cpus, all);
	bool any = all;
	const auto add = [&](usize which) {
		if (which < those.size())
			any = those[which] = true;
	};

	if (inside)
		add(cpu);
	for (auto at = message.find("cpu"); at != message.npos;
	     at = message.find("cpu", at + 1))
		if (std::isdigit(static_cast<unsigned char>(message[at + 3])))
			add(std::strtoul(&message[at + 3], nullptr, 10));
	if (!any)
		those.assign(g->cpus, true);
	return those;
}

/* Writes the run to a file, and adds its name to the report. */
void checker::write_down(const std::string &message, site where)
{
	if (!how->every_row) {
		trace->leave_out(*g, who_takes_part(message));
		trace->fold_own();
	}
	out.timeline = trace->text(*g, message, where);
	out.svg = trace->svg(*g, message, where);
	if (traps) {
		say_replay("has come to the fault");
		model_replay_fault();
	}
}

} // namespace model
