/* SPDX-License-Identifier: MIT */
/*
 * symmetry - one execution for all that differ only in the CPUs' numbers
 *
 * If CPUs with one body and as many sections change places in an execution, the
 * result is an execution. One of these is explored. It is chosen by the CPUs'
 * *gates*: a CPU's gate is its first read-modify-write, if that always writes.
 * If all gates are of one word, and only read-modify-writes change that word,
 * its modification order is a chain of reads-from. It orders the gates; this
 * order is permuted with the CPUs, and is part of porf. The executions in which
 * it is the order of the CPUs' numbers are those of another program, in which
 * the gate of a CPU is created by the gate of the CPU before it, as a thread is
 * by another. To explore that program, it is enough to
 *
 *	hold a CPU back at its gate until the one before it has passed
 *	let a gate's read read only what has that gate in its past (or is it)
 *
 * both of which keep to what TruSt asks of a model: an execution less what
 * nothing in it depends on is one, and the newest write can always be read.
 *
 * If m of k CPUs come to their gates, each execution counts for all ways to
 * choose these m in order: k!/(k-m)!. The others have no order among them, and
 * all of their executions are explored.
 *
 * The exploration checks these conditions on the way. If one does not hold,
 * everything is explored once more without symmetry. The caller promises that
 * the CPUs' code is the same; what was learnt of them (learnt.hpp) may not
 * contradict it.
 */
#include "symmetry.hpp"

namespace model {

void symmetry::start(const options &given, bool asked)
{
	const auto &sections = given.sections;
	const auto is_patient = [&](unsigned c) {
		return (given.patient >> c & 1) != 0;
	};

	count = static_cast<unsigned>(sections.size());
	is_on = false;
	for (unsigned c = 0; c < count; c++) {
		predecessor[c] = none;
		alike[c] = 0;
		for (unsigned d = 0; d < count; d++) {
			const bool same = sections[c] == sections[d] &&
					  is_patient(c) == is_patient(d);
			alike[c] += same;
			if (same && d < c)
				predecessor[c] = d;
		}
		is_on |= asked && alike[c] > 1;
	}
}

void symmetry::start_over()
{
	is_refuted = false;
	gate_location = none;
}

bool symmetry::is_before_gate(const graph &g) const
{
	const unsigned cpu = cpus.current();

	return alike[cpu] > 1 && !g.gate[cpu];
}

void symmetry::fail()
{
	is_refuted = true;
	cpus.stop();
}

bool symmetry::waits_at_gate(const graph &g, const reading &q)
{
	if (q.expected || q.until)
		fail();
	const unsigned other = predecessor[cpus.current()];
	return other != none && !g.gate[other];
}

bool symmetry::in_turn(const graph &g, unsigned of, ref write) const
{
	const unsigned other = predecessor[of];

	if (other == none)
		return true;
	const ref passed{static_cast<u8>(other), g.gate[other]};
	return passed.index && !write.initial() &&
	       g.at(write).porf.contains(passed);
}

void symmetry::note_write(graph &g, unsigned location, bool exclusive)
{
	const unsigned cpu = cpus.current();

	if (exclusive && alike[cpu] > 1 && !g.gate[cpu]) {
		g.gate[cpu] = g.last_of(cpu).index;
		if (gate_location == none)
			gate_location = location;
		for (unsigned p = 1; p <= g.last(location); p++)
			if (!g.is_exclusive(location, p))
				fail();
		if (location != gate_location)
			fail();
	} else if (!exclusive && location == gate_location) {
		fail();
	}
}

u64 symmetry::stands_for(const graph &g) const
{
	unsigned passed[max_cpus] = {};
	u64 many = 1;

	if (!is_on)
		return 1;
	/* Each CPU that has passed might have been any of those like it. */
	for (unsigned c = 0; c < g.cpus; c++) {
		unsigned first = c;
		while (predecessor[first] != none)
			first = predecessor[first];
		if (g.gate[c])
			many *= alike[c] - passed[first]++;
	}
	return many;
}

/* -- Whether the code is the same --------------------------------------------
 */

namespace {

bool is_pointer(const step &s)
{
	return s.access.at.what == hooked::holds::other &&
	       s.access.at.bits == 64;
}

bool same_operation(const step &a, const step &b)
{
	const window &v = a.access.at, &w = b.access.at;
	using does = step::does;

	if (a.what != b.what)
		return false;
	if (a.what == does::fence)
		return a.access.ord == b.access.ord;
	if (a.what != does::read && a.what != does::write)
		return true;
	return v.bytes == w.bytes && v.shift == w.shift && v.bits == w.bits &&
	       a.access.ord == b.access.ord &&
	       a.access.store_ord == b.access.store_ord &&
	       a.access.writes == b.access.writes &&
	       a.access.by == b.access.by &&
	       !a.access.until == !b.access.until &&
	       (is_pointer(a) ||
		(a.access.operand == b.access.operand && a.value == b.value));
}

/* Whether they write the same: a value of a pointer's size may be a pointer. */
bool same_plain(const learnt &code, const step &a, const step &b)
{
	const usize bytes = code.plains[a.location].bytes;

	return bytes == code.plains[b.location].bytes &&
	       (bytes == sizeof(void *) || a.value == b.value);
}

/* Whether all that is known of two CPUs from here on is the same. */
bool same_code(const learnt &code, u32 a, u32 b)
{
	using does = step::does;
	const step &one = code.steps[a], &other = code.steps[b];

	if (one.what == does::unknown || other.what == does::unknown)
		return true;
	if (!same_operation(one, other) ||
	    (one.what == does::write_plain && !same_plain(code, one, other)))
		return false;
	for (const step::edge &e : one.next) {
		/* A pointer to a CPU's own data differs from the other's. */
		if (is_pointer(one) && e.value)
			continue;
		const u32 to = other.after(e.value);
		if (to && !same_code(code, e.to, to))
			return false;
	}
	return true;
}

} // namespace

bool symmetry::seems_right(const learnt &code) const
{
	if (!is_on || is_refuted)
		return true;
	for (unsigned c = 0; c < count; c++)
		if (predecessor[c] != none &&
		    !same_code(code, code.root(predecessor[c]), code.root(c)))
			return false;
	return true;
}

} // namespace model
