/* SPDX-License-Identifier: MIT */
#include "engine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace sim {

namespace {

/* Whether nothing but a guard page is between the two. */
bool adjacent(const fiber &a, const fiber &b)
{
	constexpr std::ptrdiff_t most = 64 * 1024; /* a page, on any host */
	const std::ptrdiff_t below = a.low() - b.high();
	const std::ptrdiff_t above = b.low() - a.high();

	return (below > 0 && below <= most) || (above > 0 && above <= most);
}

[[noreturn]] void fail(const char *what)
{
	std::fprintf(stderr, "sim: %s\n", what);
	std::abort();
}

} // namespace

/* A stack that fell into a gap elsewhere fills it: the next one does not. */
simulated_memory::simulated_memory()
{
	constexpr usize most_elsewhere = 4096;
	const fiber *before = &block;

	while (stacks.size() < max_cpus) {
		auto stack = std::make_unique<fiber>(stack_bytes);

		if (!adjacent(*before, *stack)) {
			elsewhere.push_back(std::move(stack));
			if (elsewhere.size() > most_elsewhere)
				fail("the kernel scatters mappings: no run "
				     "would be like another");
			continue;
		}
		before = stack.get();
		stacks.push_back(std::move(stack));
	}
}

simulated_memory &simulated_memory::the()
{
	static simulated_memory one;

	return one;
}

/* Below each piece lies where it began, so that it can be given back. */
void *simulated_memory::lend(usize bytes, usize alignment)
{
	char *const base = const_cast<char *>(block.low());
	const usize room =
		alignment > line_alignment ? alignment : line_alignment;
	const usize start = (used + sizeof(usize) + room - 1) / room * room;

	if (start + bytes > block_bytes)
		fail("a world is larger than the simulated memory");
	*reinterpret_cast<usize *>(base + start - sizeof(usize)) = used;
	used = start + bytes;
	return base + start;
}

void simulated_memory::take_back(void *at)
{
	used = *reinterpret_cast<usize *>(static_cast<char *>(at) -
					  sizeof(usize));
}

/*
 * coherence - what a request to a line does to the caches, and how long it
 * takes: MESI (Papamarcos and Patel, ISCA 1984)
 *
 * States change when a request's service begins; the requester reads or writes
 * when it ends. Values are those of the host's memory, where each operation is
 * done at one moment of virtual time: they are sequentially consistent whatever
 * the states are, and the states decide on costs alone.
 */

const distance &engine::way(unsigned from, unsigned to) const
{
	return socket_of(from) == socket_of(to) ? on.near : on.far;
}

/* When it returns, it is this CPU's moment to read or write what is there. */
void engine::access(const void *where, bool to_write)
{
	settle();
	processor &p = me();
	line &l = lines.of(where);

	if (l.touched != round) {
		l.touched = round;
		touched++;
	}
	if (l.serves(current, to_write)) {
		l.written |= to_write;
		p.now += on.hit;
		return;
	}
	p.did.misses++;
	p.to_write = to_write;
	ask(l, current);
	fiber::suspend();
}

/* The CPU's request: served now, or after those that came before. */
void engine::ask(line &l, unsigned cpu)
{
	processor &p = cpus[cpu];

	p.behind = nobody;
	if (!l.busy) {
		serve(l, cpu, p.now);
		return;
	}
	if (l.first == nobody)
		l.first = cpu;
	else
		cpus[l.last].behind = cpu;
	l.last = cpu;
}

void engine::serve(line &l, unsigned cpu, u64 when)
{
	service s;

	l.busy = true;
	if (cpus[cpu].to_write)
		s.takes = s.keeps = take(l, cpu, when);
	else
		s = fetch(l, cpu, when);
	at(when + s.keeps, nobody, &l);
	at(when + s.takes, cpu);
}

/* A request is done: the next one's turn. */
void engine::hand_on(line &l, u64 when)
{
	l.busy = false;
	if (l.first == nobody)
		return;

	const unsigned next = l.first;
	l.first = cpus[next].behind;
	serve(l, next, when);
}

/* A copy to read: from its owner, from who shares it, or from memory. */
service engine::fetch(line &l, unsigned cpu, u64 when)
{
	counts &did = cpus[cpu].did;
	service s = {on.memory, on.memory};

	if (l.owner == nobody && !l.is_shared()) {
		did.memory++;
		l.owner = cpu;
		l.written = false;
		return s;
	}

	did.transfers++;
	if (l.owner != nobody) {
		const unsigned owner = std::exchange(l.owner, nobody);

		s.takes = s.keeps = way(owner, cpu).owned;
		l.copies.add(owner);
		l.copies_in[socket_of(owner)]++;
		/* It still reads; but to write it must ask. */
		if (cpus[owner].parked && cpus[owner].to_write)
			unpark(owner, when);
	} else {
		s.takes = l.copies_in[socket_of(cpu)] ? on.near.shared
						      : on.far.shared;
		s.keeps = std::min<u64>(s.takes, on.next_copy);
	}
	l.copies.add(cpu);
	l.copies_in[socket_of(cpu)]++;
	return s;
}

/* The line alone, to write to: everybody else loses it. */
u64 engine::take(line &l, unsigned cpu, u64 when)
{
	counts &did = cpus[cpu].did;
	u64 takes = on.memory;
	const bool had_copy = l.copies.has(cpu);

	if (l.owner != nobody) {
		takes = way(l.owner, cpu).owned + on.invalidate;
		did.transfers++;
		did.sent++;
		lose(l, l.owner, when);
	} else if (l.is_shared()) {
		u64 victims = 0;
		bool far = false;

		l.copies.for_each([&](unsigned c) {
			if (c == cpu)
				return;
			victims++;
			far |= socket_of(c) != socket_of(cpu);
			lose(l, c, when);
		});
		takes = (far ? on.far : on.near).shared +
			victims * on.invalidate;
		did.sent += victims;
		(had_copy ? did.upgrades : did.transfers)++;
		l.copies.clear();
		std::fill(std::begin(l.copies_in), std::end(l.copies_in), 0u);
	} else {
		did.memory++;
	}
	l.owner = cpu;
	l.written = true;
	return takes;
}

void engine::lose(line &l, unsigned cpu, u64 when)
{
	processor &p = cpus[cpu];

	p.did.received++;
	if (p.parked && (p.watched[0] == &l || p.watched[1] == &l))
		unpark(cpu, when);
}

} // namespace sim
