/* SPDX-License-Identifier: MIT */
#include "graph.hpp"

#include <klock/types.hpp>

#include <type_traits>

namespace model {

void graph::reset(unsigned with_cpus, release_sequence by)
{
	cpus = with_cpus;
	sequence = by;
	next_stamp = 1;
	any_sc = any_sc_access = false;
	step = 0;
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
	event &e = mine.emplace_back();
	const u8 index = static_cast<u8>(mine.size());

	if (index > 1) {
		e.hb = mine[index - 2u].hb;
		e.porf = mine[index - 2u].porf;
	}
	e.hb.at[cpu] = e.porf.at[cpu] = index;
	e.what = what;
	e.ord = o;
	e.stamp = next_stamp++;
	e.step = step;
	e.op = op;
	any_sc |= o == order::seq_cst;
	any_sc_access |= o == order::seq_cst && what != kind::fence;
	return e;
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

event &graph::add_read(unsigned cpu, unsigned location, order o, ref from,
		       u64 value)
{
	event &e = append(cpu, kind::read, o);

	e.location = static_cast<u16>(location);
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

/* The clock that a relaxed write passes on: that of the last release fence. */
static clock fenced(const std::vector<event> &mine, std::size_t before)
{
	while (before-- > 0)
		if (mine[before].what == kind::fence &&
		    releases(mine[before].ord))
			return mine[before].hb;
	return {};
}

/* The clock that a write passes on, less that of the write its RMW has read. */
clock graph::own_of(unsigned cpu, std::size_t i) const
{
	const auto &mine = sb[cpu];

	if (releases(mine[i].ord))
		return mine[i].hb;
	clock own = fenced(mine, i);
	if (sequence == release_sequence::cxx20)
		return own;
	for (std::size_t before = i; before-- > 0;) {
		if (mine[before].what != kind::write ||
		    mine[before].location != mine[i].location)
			continue;
		own.join(own_of(cpu, before));
		break;
	}
	return own;
}

/* Sets the clock that a read gets by acquiring from this write. */
void graph::hand_on(unsigned cpu, std::size_t i)
{
	event &e = sb[cpu][i];

	e.rel = own_of(cpu, i);
	if (e.exclusive) {
		const ref from = sb[cpu][i - 1].from;
		if (!from.initial())
			e.rel.join(at(from).rel);
	}
}

event &graph::add_write(unsigned cpu, unsigned location, order o, u64 value,
			bool exclusive)
{
	event &e = append(cpu, kind::write, o);

	e.location = static_cast<u16>(location);
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

/* Computes the clock before an event from the clocks known so far. */
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

/* The clocks only grow, round by round, until they do not change. */
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
			e.hb = e.rel = {};
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

void graph::make_room(unsigned location)
{
	if (location >= counts.size()) {
		counts.resize(location + 1);
		orders.resize((location + 1) * stride);
	}
	if (counts[location] < stride)
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
	const unsigned location = at(write).location;

	make_room(location);
	ref *const mo = &orders[location * stride];
	for (unsigned i = counts[location]; i >= position; i--) {
		mo[i] = mo[i - 1];
		at(mo[i]).mo = static_cast<u16>(i + 1);
	}
	mo[position - 1] = write;
	at(write).mo = static_cast<u16>(position);
	counts[location]++;
}

void graph::copy_kept(const graph &from, const clock &kept)
{
	cpus = from.cpus;
	sequence = from.sequence;
	any_sc = from.any_sc;
	any_sc_access = from.any_sc_access;
	step = from.step;
	op = from.op;
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
	for (std::size_t location = 0; location < counts.size(); location++) {
		const ref *const mo = &from.orders[location * stride];
		ref *const left = &orders[location * stride];
		u16 many = 0;

		for (unsigned i = 0; i < from.counts[location]; i++) {
			if (!kept.contains(mo[i]))
				continue;
			left[many++] = mo[i];
			at(mo[i]).mo = many;
		}
		counts[location] = many;
	}
}

/*
 * packed - a graph as bytes, for another process forked from the same one
 */

namespace {

struct writer {
	std::vector<u8> bytes;

	template <typename T>
	void put(const T *from, std::size_t many)
	{
		static_assert(std::is_trivially_copyable_v<T>);
		const auto *const first = reinterpret_cast<const u8 *>(from);
		bytes.insert(bytes.end(), first, first + many * sizeof(T));
	}
	template <typename T>
	void put(const std::vector<T> &all)
	{
		const std::size_t many = all.size();
		put(&many, 1);
		put(all.data(), many);
	}
};

struct reader {
	const u8 *at;

	template <typename T>
	void get(T *to, std::size_t many)
	{
		if (many)
			std::memcpy(static_cast<void *>(to), at,
				    many * sizeof(T));
		at += many * sizeof(T);
	}
	template <typename T>
	void get(std::vector<T> &all)
	{
		std::size_t many;
		get(&many, 1);
		all.resize(many);
		get(all.data(), many);
	}
};

} // namespace

std::vector<u8> graph::packed() const
{
	writer to;

	to.put(&cpus, 1);
	to.put(&sequence, 1);
	to.put(&any_sc, 1);
	to.put(&any_sc_access, 1);
	to.put(&share, 1);
	to.put(gate, max_cpus);
	to.put(&next_stamp, 1);
	to.put(&stride, 1);
	for (unsigned c = 0; c < cpus; c++)
		to.put(sb[c]);
	to.put(counts);
	to.put(orders);
	return std::move(to.bytes);
}

void graph::unpack(const u8 *bytes)
{
	reader from{bytes};

	from.get(&cpus, 1);
	from.get(&sequence, 1);
	from.get(&any_sc, 1);
	from.get(&any_sc_access, 1);
	from.get(&share, 1);
	from.get(gate, max_cpus);
	from.get(&next_stamp, 1);
	from.get(&stride, 1);
	for (unsigned c = 0; c < cpus; c++) {
		from.get(sb[c]);
		for (event &e : sb[c])
			e.step = e.op = 0;
	}
	from.get(counts);
	from.get(orders);
}

} // namespace model
