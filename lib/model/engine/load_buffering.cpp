/* SPDX-License-Identifier: MIT */
/*
 * load_buffering - reads of what comes after them: options.load_buffering
 *
 * RC11 forbids cycles of program order and reads-from. ISO C++ and some
 * machines allow them: a store becomes visible before an earlier load of its
 * CPU reads, and the load may read a value that depends on the store. Here a
 * new write w may also revisit reads among its own causes, if only RC11's rule
 * forbids it. The graph then keeps w and its causes. These reads are "early":
 * they have w's value before w is there.
 *
 * No value comes out of thin air, as each is first written by an execution
 * without the cycle. Then the code runs with that value. It must do the same
 * operations up to w, and write the promised value to w; its other writes may
 * have other values, which are passed on. If it does not, a dependency forbids
 * the cycle, and there is no such execution.
 *
 * From there on the graph grows like any other, but no revisit deletes any part
 * of it. An execution may be met several times; it is counted once. These
 * executions are explored after all of RC11's, and only if those show no fault.
 */
#include "load_buffering.hpp"
#include "consistency.hpp"

namespace model {

namespace {

/* An exploration tries only that many first reads of one location. */
constexpr std::size_t most_reads = 8;

/*
 * FNV-1a of an execution, whatever led to it. Before the code has confirmed it,
 * the hash includes which reads are early.
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
			add(e.location);
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

void load_buffering::serve_causes(const graph &with, ref write)
{
	const event &a = with.at(write);
	std::vector<ref> some;

	for (unsigned c = 0; c < with.cpus; c++) {
		for (unsigned i = 1; i <= a.porf.at[c]; i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = with.at(r);
			if (e.what == kind::read && e.location == a.location &&
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

/* Adds the graphs in which these reads read w. */
void load_buffering::serve_early(const graph &with, ref write,
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
			for (event &behind : base->sb[c])
				if (behind.porf.contains(r))
					behind.porf = causes;
	}
	base->at(write).promised = true;
	base->core = a.stamp;
	base->unsure = true;
	base->share = 0;

	const unsigned locations =
		base->settle() ? base->last(a.location) + 1 : 0;
	for (unsigned p = 1; p <= locations; p++) {
		auto other = work.copy(*base);
		other->insert(write, p);
		if (atomic(*other) && coherent(*other) &&
		    is_consistent(*other, task.given->machine) &&
		    limits.allow(*other) && add_new(*other)) {
			for (const ref r : reads)
				if (r.cpu != write.cpu)
					operations.note_read(with.at(r).op,
							     a.op);
			later.push_back(std::move(other));
		} else {
			work.recycle(std::move(other));
		}
	}
	work.recycle(std::move(base));
}

bool load_buffering::add_new(const graph &g)
{
	return seen.insert(print_of(g)).second;
}

void load_buffering::wait_for_all_before(const event &e)
{
	const graph &g = work.running();

	for (unsigned c = 0; c < g.cpus; c++)
		if (c != cpus.current())
			cpus.wait_for({static_cast<u8>(c), e.hb.at[c]});
}

void load_buffering::read_again(const reading &q)
{
	graph &g = work.running();
	event &e = g.at(cpus.next_event());

	if (!e.from.initial())
		e.value = g.at(e.from).value;
	if (e.ord != q.order_for(e.value))
		cpus.stop();
}

bool load_buffering::keeps_promise(const reading &q, u64 word)
{
	event &e = work.running().at(cpus.next_event());

	if (!e.promised)
		e.value = word;
	return e.value == word && e.exclusive == q.writes &&
	       e.ord == q.store_ord;
}

void load_buffering::be_sure()
{
	const graph &g = work.running();

	for (unsigned c = 0; c < g.cpus; c++)
		if (cpus.ran(c) != g.length(c))
			cpus.set_stopped();
	if (!cpus.stopped())
		reports.report_withheld();
}

void load_buffering::clear()
{
	later.clear();
	seen.clear();
}

} // namespace model
