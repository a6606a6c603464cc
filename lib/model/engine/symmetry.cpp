/* SPDX-License-Identifier: MIT */
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
#include "checker.hpp"

namespace model {

/* The CPUs that may change places: each with the next that is like it. */
void checker::start_symmetry(bool asked)
{
	const auto &sections = task.given->sections;

	gate_place = none;
	reduces = false;
	for (unsigned c = 0; c < sections.size(); c++) {
		before[c] = none;
		like[c] = 0;
		for (unsigned d = 0; d < sections.size(); d++) {
			const bool same = sections[c] == sections[d] &&
					  (task.given->patient >> c &
					   1) == (task.given->patient >> d & 1);
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
	return reduces && q.writes && like[cpus.current()] > 1 &&
	       !execution().gate[cpus.current()];
}

void checker::not_symmetric()
{
	asymmetric = true;
	cpus.stop();
}

/* Whether the CPU is held back: the one before it has not passed. */
bool checker::held(const reading &q)
{
	if (!enters(q))
		return false;
	if (q.expected || q.until)
		not_symmetric();
	return before[cpus.current()] != none &&
	       !execution().gate[before[cpus.current()]];
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
	if (exclusive && like[cpus.current()] > 1 && !in.gate[cpus.current()]) {
		in.gate[cpus.current()] = in.last_of(cpus.current()).index;
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
	for (unsigned c = 0; c < execution().cpus; c++) {
		unsigned first = c;
		while (before[first] != none)
			first = before[first];
		if (execution().gate[c])
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
	for (unsigned c = 0; c < task.given->sections.size(); c++)
		if (before[c] != none &&
		    !same_code(code.root(before[c]), code.root(c)))
			return false;
	return true;
}

} // namespace model
