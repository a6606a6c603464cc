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
	core = 0;
	unsure = false;
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

/* What a relaxed write hands on: the past of the last release fence. */
static clock fenced(const std::vector<event> &mine, std::size_t before)
{
	while (before-- > 0)
		if (mine[before].what == kind::fence &&
		    releases(mine[before].ord))
			return mine[before].hb;
	return {};
}

/* What acquiring from a write brings. */
void graph::hand_on(unsigned cpu, std::size_t i)
{
	const auto &mine = sb[cpu];
	event &e = sb[cpu][i];

	e.own = releases(e.ord) ? e.hb : fenced(mine, i);
	if (sequence == release_sequence::rc11 && !releases(e.ord)) {
		for (std::size_t before = i; before-- > 0;) {
			if (mine[before].what != kind::write ||
			    mine[before].place != e.place)
				continue;
			e.own.join(mine[before].own);
			break;
		}
	}
	e.rel = e.own;
	if (e.exclusive) {
		const ref from = mine[i - 1].from;
		if (!from.initial())
			e.rel.join(at(from).rel);
	}
}

event &graph::add_write(unsigned cpu, unsigned place, order o, u64 value,
			bool exclusive)
{
	event &e = append(cpu, kind::write, o);

	e.place = static_cast<u16>(place);
	e.value = value;
	e.exclusive = exclusive;
	hand_on(cpu, sb[cpu].size() - 1);
	return e;
}

/* sw into an acquire fence: from all that the CPU read before it. */
static void take_from_all(const graph &g, unsigned cpu, std::size_t fence,
			  clock &hb)
{
	for (std::size_t i = 0; i < fence; i++) {
		const event &read = g.sb[cpu][i];
		if (read.what == kind::read && !read.from.initial())
			hb.join(g.at(read.from).rel);
	}
}

event &graph::add_fence(unsigned cpu, order o)
{
	event &e = append(cpu, kind::fence, o);

	if (acquires(o))
		take_from_all(*this, cpu, sb[cpu].size() - 1, e.hb);
	return e;
}

event &graph::add_choice(unsigned cpu, u64 value)
{
	event &e = append(cpu, kind::choice, order::relaxed);

	e.value = value;
	return e;
}

/* What is before an event, as far as the others' pasts are known. */
void graph::find_past(unsigned cpu, std::size_t i)
{
	event &e = sb[cpu][i];

	if (i)
		e.hb.join(sb[cpu][i - 1].hb);
	if (e.hb.at[cpu] <= i)
		e.hb.at[cpu] = static_cast<u8>(i + 1);
	if (e.what == kind::read && acquires(e.ord) && !e.from.initial())
		e.hb.join(at(e.from).rel);
	if (e.what == kind::fence && acquires(e.ord))
		take_from_all(*this, cpu, i, e.hb);
	if (e.what == kind::write)
		hand_on(cpu, i);
}

/* The pasts only grow, round by round, until they say the same. */
bool graph::settle()
{
	const auto size_of = [this] {
		unsigned all = 0;
		for (unsigned c = 0; c < cpus; c++)
			for (const event &e : sb[c])
				for (unsigned i = 0; i < cpus; i++)
					all += e.hb.at[i] + e.rel.at[i];
		return all;
	};

	for (unsigned c = 0; c < cpus; c++)
		for (event &e : sb[c])
			e.hb = e.own = e.rel = {};
	for (unsigned had = 0, has = 1; had != has;) {
		had = size_of();
		for (unsigned c = 0; c < cpus; c++)
			for (std::size_t i = 0; i < sb[c].size(); i++)
				find_past(c, i);
		has = size_of();
	}
	for (unsigned c = 0; c < cpus; c++)
		for (std::size_t i = 0; i < sb[c].size(); i++)
			if (sb[c][i].hb.at[c] != i + 1)
				return false;
	return true;
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
	core = from.core;
	unsure = from.unsure;
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
