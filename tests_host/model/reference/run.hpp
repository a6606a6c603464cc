/* SPDX-License-Identifier: MIT */
/*
 * run - a litmus program under the checker
 */
#pragma once

#include "rc11.hpp"

#include <klock/arch/atomic_ops.hpp>

namespace reference {

inline constexpr unsigned most_locations = 4;
inline constexpr unsigned most_threads = 4;
inline constexpr unsigned most_reads = 20;

struct litmus_world {
	klock::arch::cell<u64> x[most_locations] = {
		klock::arch::cell<u64>(0), klock::arch::cell<u64>(0),
		klock::arch::cell<u64>(0), klock::arch::cell<u64>(0)};

	/* What each has read. No heap: a loop's turn may not change one. */
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

/* What a CPU does with one operation, as in code of its own. */
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

/* What the checker finds: outcomes of the complete executions. */
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
			out[spell(w.all_read(threads), last)]++;
		});
	return out;
}

} // namespace reference
