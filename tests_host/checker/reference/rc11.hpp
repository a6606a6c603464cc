/* SPDX-License-Identifier: MIT */
/*
 * rc11 - RC11 once more, by brute force: what the checker is compared with;
 * with C++20's release sequences or the paper's
 *
 * Shares nothing with the checker. Writes every reads-from and every
 * modification order down and asks the axioms as the paper states them (Lahav
 * et al., PLDI 2017, section 3), by matrices over all events. Slow, and made to
 * be read beside the paper.
 */
#pragma once

#include <klock/arch/atomic_ops.hpp>

#include <model/model.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace reference {

using klock::order;
using klock::u64;
using model::machine;
using model::release_sequence;

/*
 * The axiom that orders SC operations: RC11's psc, or the single total order of
 * ISO 14882:2020, [atomics.order]/4. ISO's asks the same of fences, and more of
 * accesses: a coherence order by way of others' weaker accesses counts.
 */
enum class sc_axiom { rc11, iso };

/* Whether program order and reads-from may have a cycle: load buffering. */
enum class causality { acyclic, open };

/*
 * The last are loops of the code's own: loads until the value is there; swaps
 * until one succeeds; exchanges until one finds 0; loads of two locations, the
 * first before the second, until both hold the same.
 */
enum class action {
	load,
	store,
	exchange,
	add,
	subtract,
	bit_or,
	bit_and,
	bit_xor,
	cas,
	fence,
	await,
	loads,
	swaps,
	exchanges,
	pairs,
};

/* Loops of the code's own, of which the last turn counts. */
constexpr bool is_loop(action a)
{
	return a == action::loads || a == action::swaps ||
	       a == action::exchanges || a == action::pairs;
}

constexpr bool is_rmw(action a)
{
	return (a >= action::exchange && a <= action::cas) ||
	       a == action::swaps || a == action::exchanges;
}

struct op {
	action what;
	unsigned location;
	order ord;
	u64 value;    /* stored; the operand; of a wait: waited for */
	u64 expected; /* of a compare-and-swap; of a pair: the other location */
	std::optional<order> failed = {}; /* its read's order if it fails */
};

using thread = std::vector<op>;

struct litmus {
	unsigned locations;
	std::vector<thread> threads;
};

struct outcome {
	std::vector<std::vector<u64>> read; /* by each thread, in its order */
	std::vector<u64> last;		    /* of each location */

	auto operator<=>(const outcome &) const = default;
};

/* The number of executions of each. */
using outcomes = std::map<outcome, unsigned>;

/*
 * All consistent executions in which every wait ends. Gives up, and returns
 * false, at more than limit candidates.
 */
bool enumerate(const litmus &, release_sequence, u64 limit, outcomes &,
	       sc_axiom = sc_axiom::rc11, machine = machine::rc11,
	       causality = causality::acyclic);

/* For a failure's message. */
std::string text(const litmus &);
std::ostream &operator<<(std::ostream &, const outcome &);

/*
 * run - a litmus program under the checker
 */

inline constexpr unsigned most_locations = 4;
inline constexpr unsigned most_threads = 4;
inline constexpr unsigned most_reads = 20;

struct litmus_world {
	klock::arch::cell<u64> x[most_locations] = {
		klock::arch::cell<u64>(0), klock::arch::cell<u64>(0),
		klock::arch::cell<u64>(0), klock::arch::cell<u64>(0)};

	/*
	 * The values that each thread has read. There is no heap, as a loop's
	 * turn may not change one.
	 */
	u64 read[most_threads][most_reads] = {};
	unsigned reads[most_threads] = {};

	std::vector<std::vector<u64>> all_read(std::size_t threads) const
	{
		std::vector<std::vector<u64>> all;

		for (std::size_t t = 0; t < threads; t++)
			all.emplace_back(read[t], read[t] + reads[t]);
		return all;
	}
};

/* Carries out one operation on a CPU, as code of its own would. */
struct performer {
	litmus_world &w;
	unsigned cpu;
	int line; /* each operation has one */

	void perform(const op &o);

      private:
	void loop(const op &o);
	u64 load(unsigned location, order by)
	{
		return engine().load(at(location), by, here());
	}
	void found(u64 value) { w.read[cpu][w.reads[cpu]++] = value; }
	klock::arch::hooked::window at(unsigned location) const
	{
		return w.x[location].whole();
	}
	klock::arch::site here() const { return {nullptr, line}; }
	static klock::arch::hooked::engine &engine()
	{
		return *klock::arch::hooked::running;
	}
};

inline void performer::perform(const op &o)
{
	using klock::arch::hooked::update;
	static constexpr update how[] = {update::exchange, update::add,
					 update::subtract, update::bit_or,
					 update::bit_and,  update::bit_xor};
	u64 value = o.value;
	const auto same = [](void *v, u64 now) {
		return *static_cast<u64 *>(v) == now;
	};

	switch (o.what) {
	case action::load:
		return found(load(o.location, o.ord));
	case action::store:
		return engine().store(at(o.location), value, o.ord, here());
	case action::fence:
		return engine().fence(o.ord, here());
	case action::await:
		return found(engine().await(at(o.location), {same, &value}, {},
					    o.ord, here()));
	case action::cas:
		value = o.expected;
		engine().compare_exchange_or(
			at(o.location), value, o.value, o.ord,
			o.failed.value_or(klock::without_store(o.ord)), false,
			here());
		return found(value);
	case action::loads:
	case action::swaps:
	case action::exchanges:
	case action::pairs:
		return loop(o);
	default:
		return found(
			engine().rmw(at(o.location),
				     how[static_cast<int>(o.what) -
					 static_cast<int>(action::exchange)],
				     value, o.ord, here()));
	}
}

inline void performer::loop(const op &o)
{
	using klock::arch::hooked::update;
	u64 value = 0;

	if (o.what == action::loads) {
		do
			value = load(o.location, o.ord);
		while (value != o.value);
		found(value);
	} else if (o.what == action::swaps) {
		do
			value = o.expected;
		while (!engine().compare_exchange(at(o.location), value,
						  o.value, o.ord, here()));
		found(o.expected);
	} else if (o.what == action::exchanges) {
		while (engine().rmw(at(o.location), update::exchange, o.value,
				    o.ord, here()))
			;
		found(0);
	} else {
		u64 other;

		do {
			value = load(o.location, o.ord);
			other = load(static_cast<unsigned>(o.expected), o.ord);
		} while (value != other);
		found(value);
		found(other);
	}
}

/* Returns the outcomes of the complete executions that the checker finds. */
inline outcomes run(const litmus &p, model::options how, model::result &r)
{
	outcomes out;
	const auto threads = p.threads.size();

	how.sections.assign(threads, 1);
	how.may_deadlock = true;
	/* The enumerator has a loop's last turn alone. */
	for (const auto &thread : p.threads)
		for (const op &o : thread)
			how.cut_loops |= is_loop(o.what);
	r = model::explore<litmus_world>(
		how,
		[&p](litmus_world &w, unsigned cpu) {
			performer by{w, cpu, 0};
			for (const op &o : p.threads[cpu]) {
				by.line++;
				by.perform(o);
			}
		},
		[&p, &out, threads](litmus_world &w) {
			std::vector<u64> last;
			for (unsigned l = 0; l < p.locations; l++)
				last.push_back(w.x[l].value);
			out[{w.all_read(threads), last}]++;
		});
	return out;
}

/*
 * relation - a set of pairs of events, as a matrix, with the paper's operators
 */

inline constexpr unsigned most = 20;

/* A relation over at most so many events. */
struct relation {
	std::array<std::uint32_t, most> row{};

	bool has(unsigned a, unsigned b) const { return row[a] >> b & 1; }
	void add(unsigned a, unsigned b) { row[a] |= 1u << b; }

	friend relation operator|(relation a, const relation &b)
	{
		for (unsigned i = 0; i < most; i++)
			a.row[i] |= b.row[i];
		return a;
	}
	friend relation operator&(relation a, const relation &b)
	{
		for (unsigned i = 0; i < most; i++)
			a.row[i] &= b.row[i];
		return a;
	}
	/* a; b */
	friend relation operator*(const relation &a, const relation &b)
	{
		relation c;
		for (unsigned i = 0; i < most; i++)
			for (std::uint32_t m = a.row[i]; m; m &= m - 1)
				c.row[i] |= b.row[__builtin_ctz(m)];
		return c;
	}
	relation inverse() const
	{
		relation c;
		for (unsigned i = 0; i < most; i++)
			for (unsigned j = 0; j < most; j++)
				if (has(i, j))
					c.add(j, i);
		return c;
	}
	relation maybe() const /* r? */
	{
		relation c = *this;
		for (unsigned i = 0; i < most; i++)
			c.add(i, i);
		return c;
	}
	relation plus() const /* r+ */
	{
		relation c = *this;
		for (unsigned k = 0; k < most; k++)
			for (unsigned i = 0; i < most; i++)
				if (c.has(i, k))
					c.row[i] |= c.row[k];
		return c;
	}
	bool irreflexive() const
	{
		for (unsigned i = 0; i < most; i++)
			if (has(i, i))
				return false;
		return true;
	}
	bool empty() const
	{
		for (std::uint32_t r : row)
			if (r)
				return false;
		return true;
	}
	bool acyclic() const { return plus().irreflexive(); }
};

/*
 * candidate - events, who reads what, and the orders of the writes: perhaps an
 * execution
 */

enum class type { read, write, fence };

struct event {
	type what;
	int thread; /* -1: initial write */
	unsigned location;
	order ord;
	u64 value = 0;
	bool known = false;
	bool there = true; /* a compare-and-swap's write may not be */
	const op *by = nullptr;
	int half = -1; /* an RMW's other half */
	int pair = -1; /* of a pair's second read: the first */
	int from = -1; /* a read's write */
};

struct candidate {
	std::vector<event> events;
	std::vector<std::vector<int>> mo; /* of each location, initial first */

	bool consistent(release_sequence, sc_axiom, causality) const;
	bool has(machine) const;

	/* [A], for the events of which test holds */
	template <typename Test>
	relation only(Test test) const
	{
		relation r;
		for (unsigned i = 0; i < events.size(); i++)
			if (events[i].there && test(events[i]))
				r.add(i, i);
		return r;
	}
	/* pairs for which test holds */
	template <typename Test>
	relation pairs(Test test) const
	{
		relation r;
		for (unsigned i = 0; i < events.size(); i++)
			for (unsigned j = 0; j < events.size(); j++)
				if (i != j && events[i].there &&
				    events[j].there &&
				    test(events[i], events[j], i, j))
					r.add(i, j);
		return r;
	}
};

} // namespace reference
