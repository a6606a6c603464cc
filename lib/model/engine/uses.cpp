/* SPDX-License-Identifier: MIT */
#include "uses.hpp"
#include "lines.hpp"

#include <algorithm>
#include <link.h>

namespace model {

/*
 * A site without a file has the lower half of an address in the code;
 * place_of_return() finds its line. The loaded part of the program that
 * contains it has the upper half.
 */
static const void *whole_address(int low)
{
	struct {
		u32 low;
		usize found;
	} of{static_cast<u32>(low), 0};
	const auto look = [](dl_phdr_info *part, std::size_t, void *in) {
		auto &asked = *static_cast<decltype(of) *>(in);

		for (unsigned i = 0; i < part->dlpi_phnum; i++) {
			const auto &p = part->dlpi_phdr[i];
			const usize start = part->dlpi_addr + p.p_vaddr;
			const usize at =
				start +
				static_cast<u32>(asked.low -
						 static_cast<u32>(start));

			if (p.p_type == PT_LOAD && (p.p_flags & PF_X) &&
			    at < start + p.p_memsz)
				asked.found = at;
		}
		return 0;
	};

	::dl_iterate_phdr(look, &of);
	return reinterpret_cast<const void *>(of.found);
}

/* The operations as the user knows them: one for each line, also in
 * templates. */
static std::vector<use> uses_of_code(const operation_table &operations)
{
	std::vector<use> all;

	for (usize i = 1; i < operations.all.size(); i++) {
		const operation_table::one &o = operations.all[i];
		site s = o.where;

		if (!s.file && s.line)
			if (const void *const at = whole_address(s.line))
				s = line_of_return(at);
		if (is_of_library(s))
			continue;
		const use u{s.file ? s.file : "", s.line, o.what, o.written};
		auto known = std::find(all.begin(), all.end(), u);
		if (known == all.end())
			known = all.insert(known, u);
		known->reads |= (o.seen & operation_table::read_another) != 0;
		known->is_read |=
			(o.seen & operation_table::read_by_another) != 0;
		known->acquires |= (o.seen & operation_table::acquired) != 0;
		known->releases |= (o.seen & operation_table::released) != 0;
	}
	return all;
}

namespace {

bool is_acquire(const use &u)
{
	return acquires(u.written) && u.what != operation::store;
}

bool is_release(const use &u)
{
	return releases(u.written) && u.what != operation::load;
}

} // namespace

/* Finds the orders that are not met; looked: whether data were in order by them
 * was recorded, too. */
static std::vector<use> unmet_of(const std::vector<use> &uses, bool looked)
{
	std::vector<use> all;

	for (const use &u : uses) {
		const bool fence = u.what == operation::fence;
		const bool read = looked ? u.acquires : u.reads || fence;
		const bool wrote = looked ? u.releases : u.is_read || fence;

		/* is_met() says the same: their next weaker order makes no
		 * difference for data. */
		if (u.written == order::seq_cst && (u.reads || u.is_read))
			continue;
		if ((is_acquire(u) && !read) || (is_release(u) && !wrote))
			all.push_back(u);
	}
	return all;
}

std::string text_of_unmet(const result &r)
{
	std::string all;
	const auto add = [&](const use &u, const std::string &why) {
		all += "NOT MET: " + text(u) + ": " + why + "\n";
	};

	for (const use &u : r.unmet) {
		const bool fence = u.what == operation::fence;

		if (is_acquire(u) && !u.acquires)
			add(u,
			    u.reads || fence
				    ? "what it reads orders no data: let data "
				      "be used again after it"
				    : "it never reads what another CPU wrote: "
				      "let another CPU write there before");
		if (is_release(u) && !u.releases)
			add(u, u.is_read || fence
				       ? "who reads it touches nothing of "
					 "before: let data be used again"
				       : "no other CPU reads what it wrote: "
					 "let another CPU read there after");
	}
	return all;
}

bool is_met(const weakening &w)
{
	const use &u = w.where;
	const bool acquire = is_acquire(u) && !acquires(w.to);
	const bool release = is_release(u) && !releases(w.to);

	if (acquire || release)
		return (acquire && u.acquires) || (release && u.releases);
	return u.reads || u.is_read || u.acquires || u.releases;
}

void order_uses::add_to(exploration &task) const
{
	const bool asked = task.given->record_uses;
	bool any = asked;

	for (const operation_table::one &o : operations.all)
		any |= o.written != order::relaxed &&
		       o.seen != (operation_table::read_another |
				  operation_table::read_by_another);
	if (!any || task.given->weaken)
		return;
	const std::vector<use> all = uses_of_code(operations);
	if (task.out.ok())
		task.out.unmet = unmet_of(all, asked);
	if (asked)
		task.out.uses = all;
}

/* -- Orders ---------------------------------------------------------------- */

u16 operation_of(const operation_table &operations, const graph &of, ref r)
{
	const event &e = of.at(r);
	const u16 fails = operations[e.op].fails;
	const bool last = r.index == of.length(r.cpu);

	if (!fails || e.what != kind::read ||
	    (!last && of.sb[r.cpu][r.index].exclusive))
		return e.op;
	return fails;
}

/* Notes the operations that acquire by this read, for an event with this
 * clock. */
bool order_uses::note_acquire(ref read, const clock &seen)
{
	const graph &g = work.running();
	bool any = acquires(g.at(read).ord);

	if (any)
		operations[operation_of(operations, g, read)].seen |=
			operation_table::acquired;
	for (unsigned i = read.index; i < seen.at[read.cpu]; i++) {
		const event &f = g.sb[read.cpu][i];
		if (f.what != kind::fence || !acquires(f.ord))
			continue;
		operations[f.op].seen |= operation_table::acquired;
		any = true;
	}
	return any;
}

/* Notes the operations that release, by this write, the accesses of CPU `of`
 * before its event `there`. */
void order_uses::note_release(ref write, unsigned of, unsigned there)
{
	const graph &g = work.running();
	const event &w = g.at(write);
	const auto note = [&](const event &e) {
		if (releases(e.ord) && e.hb.at[of] >= there)
			operations[e.op].seen |= operation_table::released;
	};

	note(w);
	for (unsigned i = 0; i + 1 < write.index; i++) {
		const event &e = g.sb[write.cpu][i];
		if (e.what == kind::fence ||
		    (e.what == kind::write && e.location == w.location &&
		     g.sequence == release_sequence::rc11))
			note(e);
	}
	if (!w.exclusive)
		return;
	const ref from = g.sb[write.cpu][write.index - 2u].from;
	if (!from.initial())
		note_release(from, of, there);
}

/*
 * Notes the orders by which a CPU's events up to `there` come before an event
 * with this clock; without the orders of one location.
 */
void order_uses::note_order(unsigned of, unsigned there, const clock &seen,
			    unsigned but_for)
{
	const graph &g = work.running();

	for (unsigned c = 0; c < g.cpus; c++) {
		for (unsigned i = 1; c != of && i <= seen.at[c]; i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = g.at(r);

			if (e.what != kind::read || e.from.initial() ||
			    e.from.cpu == c || e.location == but_for ||
			    g.at(e.from).rel.at[of] < there)
				continue;
			if (note_acquire(r, seen))
				note_release(e.from, of, there);
		}
	}
}

void order_uses::in_order(unsigned of, u8 epoch, const actor &by)
{
	note_order(of, epoch, by.seen, none);
}

/* The accesses of atomics that a CPU's event comes after. */
void order_uses::note_orders_before(ref later)
{
	const graph &g = work.running();
	const event &b = g.at(later);
	const clock seen = g.seen_before(later);
	const auto writer = [](const event &e, ref r) {
		return e.what == kind::write ? r : e.from;
	};

	for (unsigned c = 0; c < g.cpus; c++) {
		for (unsigned i = 1; c != later.cpu && i <= seen.at[c]; i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &a = g.at(r);

			if ((a.what != kind::read && a.what != kind::write) ||
			    a.location != b.location)
				continue;
			const ref w = writer(a, r);
			if (!w.initial() && w.cpu != later.cpu)
				note_order(c, i, seen, b.location);
		}
	}
}

/* Fences of seq_cst are met if another CPU has an event of that order. */
void order_uses::note_sc_fences()
{
	const graph &g = work.running();
	unsigned had = 0;
	u64 cpus_with = 0;

	for (unsigned c = 0; c < g.cpus; c++)
		for (const event &e : g.sb[c])
			if (e.ord == order::seq_cst)
				cpus_with |= u64{1} << c;
	for (unsigned c = 0; c < g.cpus; c++)
		had += cpus_with >> c & 1;
	for (unsigned c = 0; had > 1 && c < g.cpus; c++)
		for (const event &e : g.sb[c])
			if (e.what == kind::fence && e.ord == order::seq_cst)
				operations[e.op].seen |=
					operation_table::read_another;
}

void order_uses::note_run()
{
	const graph &g = work.running();
	bool any = false;

	for (const operation_table::one &o : operations.all)
		any |= o.written != order::relaxed &&
		       (o.seen >> 2 & 3) != (o.what == operation::load	  ? 1
					     : o.what == operation::store ? 2
									  : 3);
	if (!any)
		return;
	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = 1; i <= g.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const kind is = g.at(r).what;
			if (is == kind::read || is == kind::write)
				note_orders_before(r);
		}
	note_sc_fences();
}

} // namespace model
