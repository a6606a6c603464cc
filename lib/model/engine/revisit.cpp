/* SPDX-License-Identifier: MIT */
/*
 * revisit - a new write that reads which were there before it may read instead
 *
 * Each such graph keeps the read, what was there before it, and what causes the
 * write; the rest is deleted and will be added again. Source: TruSt (see
 * checker.hpp), algorithm 2, lines on revisits and maximal extensions.
 */
#include "checker.hpp"

namespace model {

/* Serves the new write to the reads that were there before it. */
void checker::revisit(const graph &with, ref write)
{
	const event &a = with.at(write);

	for (unsigned c = 0; c < with.cpus; c++) {
		/* What causes the write cannot read it: no thin air. */
		for (unsigned i = a.porf.at[c] + 1u; i <= with.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = with.at(r);

			if (e.what == kind::read && e.place == a.place &&
			    e.stamp > with.core && may_serve(with, r, write))
				serve(with, r, write);
		}
	}
	if (how->load_buffering)
		serve_causes(with, write);
}

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

bool checker::may_serve(const graph &with, ref read, ref write) const
{
	const u32 since = with.at(read).stamp;
	const clock &causes = with.at(write).porf;

	for (unsigned c = 0; c < with.cpus; c++) {
		for (unsigned i = with.length(c); i > causes.at[c]; i--) {
			const event &e = with.sb[c][i - 1];
			if (e.stamp < since)
				break;
			if (!added_newest(with, e, causes))
				return false;
		}
	}
	return true;
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
	/* No write that gets here is known to break it; it is the rule. */
	if (with.gate[read.cpu] == read.index + 1 &&
	    !in_turn(*base, read.cpu, write)) {
		recycle(std::move(base));
		return;
	}
	const auto keep = [&](std::unique_ptr<graph> &&other) {
		other->insert(write, p);
		other->at(read).behind = p <= newest;
		if (p > newest && within_bounds(*other))
			work.push_back(std::move(other));
		else if (p <= newest)
			keep_if_sc(std::move(other));
		else
			recycle(std::move(other));
	};
	for (; p < to; p++)
		if (!splits_rmw(*base, place, p))
			keep(copy_of(*base));
	if (p == to && !splits_rmw(*base, place, p))
		keep(std::move(base));
	else
		recycle(std::move(base));
}

} // namespace model
