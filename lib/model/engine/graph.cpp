/* SPDX-License-Identifier: MIT */
#include "graph.hpp"

namespace model {

void graph::reset(unsigned with_cpus, release_sequence by)
{
	cpus = with_cpus;
	sequence = by;
	next_stamp = 1;
	any_sc = any_sc_access = false;
	share = 1;
	std::memset(gate, 0, sizeof(gate));
	for (auto &events : sb)
		events.clear();
	counts.clear();
	orders.clear();
}

event &graph::append(unsigned cpu, kind what, order o)
{
	auto &mine = sb[cpu];
	event e;

	if (!mine.empty()) {
		e.hb = mine.back().hb;
		e.porf = mine.back().porf;
	}
	e.what = what;
	e.ord = o;
	e.stamp = next_stamp++;
	e.step = step;
	any_sc |= o == order::seq_cst;
	any_sc_access |= o == order::seq_cst && what != kind::fence;
	mine.push_back(e);

	const u8 index = static_cast<u8>(mine.size());
	mine.back().hb.at[cpu] = mine.back().porf.at[cpu] = index;
	return mine.back();
}

/*
 * sw into a read: from the release sequence that it reads (RC11, figure 2; its
 * rs with or without "sb|loc", which C++20 has no more).
 */
static void take_from(const graph &g, event &read)
{
	if (read.from.initial())
		return;

	const event &write = g.at(read.from);
	read.porf.join(write.porf);
	if (acquires(read.ord))
		read.hb.join(write.rel);
}

event &graph::add_read(unsigned cpu, unsigned place, order o, ref from,
		       u64 value)
{
	event &e = append(cpu, kind::read, o);

	e.place = static_cast<u16>(place);
	e.from = from;
	e.value = value;
	take_from(*this, e);
	return e;
}

void graph::redirect(ref read, ref from)
{
	event &e = at(read);
	const bool first = read.index == 1;
	const ref before{read.cpu, static_cast<u8>(read.index - 1)};

	e.hb = first ? clock{} : at(before).hb;
	e.porf = first ? clock{} : at(before).porf;
	e.hb.at[read.cpu] = e.porf.at[read.cpu] = read.index;
	any_sc |= e.ord == order::seq_cst;
	any_sc_access |= e.ord == order::seq_cst;
	e.from = from;
	e.value = at(from).value;
	at(from).revisits = true;
	take_from(*this, e);
}

/* What a relaxed write hands on: the last release fence's past. */
static clock fenced(const std::vector<event> &mine)
{
	for (auto e = mine.rbegin(); e != mine.rend(); ++e)
		if (e->what == kind::fence && releases(e->ord))
			return e->hb;
	return {};
}

event &graph::add_write(unsigned cpu, unsigned place, order o, u64 value,
			bool exclusive)
{
	event &e = append(cpu, kind::write, o);
	const auto &mine = sb[cpu];

	e.place = static_cast<u16>(place);
	e.value = value;
	e.exclusive = exclusive;
	e.own = releases(o) ? e.hb : fenced(mine);
	if (sequence == release_sequence::rc11 && !releases(o)) {
		for (std::size_t i = mine.size() - 1; i-- > 0;) {
			if (mine[i].what != kind::write ||
			    mine[i].place != place)
				continue;
			e.own.join(mine[i].own);
			break;
		}
	}
	e.rel = e.own;
	if (exclusive) {
		const ref from = mine[mine.size() - 2].from;
		if (!from.initial())
			e.rel.join(at(from).rel);
	}
	return e;
}

/* sw into an acquire fence: from all that the CPU read before it. */
event &graph::add_fence(unsigned cpu, order o)
{
	event &e = append(cpu, kind::fence, o);

	if (acquires(o))
		for (const event &read : sb[cpu])
			if (read.what == kind::read && !read.from.initial())
				e.hb.join(at(read.from).rel);
	return e;
}

event &graph::add_choice(unsigned cpu, u64 value)
{
	event &e = append(cpu, kind::choice, order::relaxed);

	e.value = value;
	return e;
}

void graph::make_room(unsigned place)
{
	if (place >= counts.size()) {
		counts.resize(place + 1);
		orders.resize((place + 1) * stride);
	}
	if (counts[place] < stride)
		return;

	std::vector<ref> wider(counts.size() * stride * 2);
	for (std::size_t p = 0; p < counts.size(); p++)
		for (unsigned i = 0; i < counts[p]; i++)
			wider[p * stride * 2 + i] = orders[p * stride + i];
	orders.swap(wider);
	stride *= 2;
}

void graph::insert(ref write, unsigned position)
{
	const unsigned place = at(write).place;

	make_room(place);
	ref *const mo = &orders[place * stride];
	for (unsigned i = counts[place]; i >= position; i--) {
		mo[i] = mo[i - 1];
		at(mo[i]).mo = static_cast<u16>(i + 1);
	}
	mo[position - 1] = write;
	at(write).mo = static_cast<u16>(position);
	counts[place]++;
}

void graph::copy_kept(const graph &from, const clock &kept)
{
	cpus = from.cpus;
	sequence = from.sequence;
	any_sc = from.any_sc;
	any_sc_access = from.any_sc_access;
	step = from.step;
	next_stamp = from.next_stamp;
	stride = from.stride;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		const auto first = from.sb[cpu].begin();
		sb[cpu].assign(first, first + kept.at[cpu]);
		gate[cpu] = from.gate[cpu] <= kept.at[cpu] ? from.gate[cpu] : 0;
	}
	counts.resize(from.counts.size());
	orders.resize(from.orders.size());
	for (std::size_t place = 0; place < counts.size(); place++) {
		const ref *const mo = &from.orders[place * stride];
		ref *const left = &orders[place * stride];
		u16 many = 0;

		for (unsigned i = 0; i < from.counts[place]; i++) {
			if (!kept.has(mo[i]))
				continue;
			left[many++] = mo[i];
			at(mo[i]).mo = many;
		}
		counts[place] = many;
	}
}

} // namespace model
