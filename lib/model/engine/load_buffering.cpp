/* SPDX-License-Identifier: MIT */
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
#include "checker.hpp"

namespace model {

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
	auto base = work.make();

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
		auto other = work.copy(*base);
		other->insert(write, p);
		if (atomic(*other) && coherent(*other) && has(*other) &&
		    within_bounds(*other) && note_met(*other)) {
			for (const ref r : reads)
				if (r.cpu != write.cpu)
					meet(with.at(r).op, a.op);
			early.push_back(std::move(other));
		} else {
			work.recycle(std::move(other));
		}
	}
	work.recycle(std::move(base));
}

/* Notes the graph as met; returns true the first time. */
bool checker::note_met(const graph &x)
{
	return met.insert(print_of(x)).second;
}

/* In a replay: what happens before the CPU's next event comes before it. */
void checker::wait_for_past(const event &e)
{
	for (unsigned c = 0; execution().core && c < execution().cpus; c++) {
		if (c != cpus.current())
			cpus.wait_for({static_cast<u8>(c), e.hb.at[c]});
	}
}

/* Lets the CPU's next event, a read, read another value than before. */
void checker::read_again(const reading &q)
{
	event &e = execution().at({static_cast<u8>(cpus.current()),
				   static_cast<u8>(cpus.ran() + 1)});

	if (!e.from.initial())
		e.value = execution().at(e.from).value;
	if (e.ord != q.order_for(e.value))
		cpus.stop();
}

/* Whether the code's next write is the promised one, with its value. */
bool checker::keeps_promise(const reading &q, u64 word)
{
	event &e = execution().at({static_cast<u8>(cpus.current()),
				   static_cast<u8>(cpus.ran() + 1)});

	if (!e.promised)
		e.value = word;
	return e.value == word && e.exclusive == q.writes &&
	       e.ord == q.store_ord;
}

/* The replay is over: whether the code has done what is in the graph. */
void checker::be_sure()
{
	for (unsigned c = 0; c < execution().cpus; c++)
		if (cpus.ran(c) != execution().length(c))
			cpus.set_stopped();
	if (cpus.stopped())
		return;
	reports.report_withheld();
}

/* Explores executions beyond RC11, if RC11's show no fault. */
void checker::explore_early()
{
	while (!early.empty() && work.empty() && reports.goes_on() &&
	       task.out.limit.empty() && !run_all && !endless) {
		work.swap(early);
		explore_work();
	}
}

} // namespace model
