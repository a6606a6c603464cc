/* SPDX-License-Identifier: MIT */
/*
 * run - a litmus program under the checker
 */
#pragma once

#include "rc11.hpp"

#include <klock/arch/atomic_ops.hpp>

namespace reference {

inline constexpr unsigned most_locations = 4;

struct litmus_world {
	klock::arch::cell<u64> x[most_locations] = {
		klock::arch::cell<u64>(0), klock::arch::cell<u64>(0),
		klock::arch::cell<u64>(0), klock::arch::cell<u64>(0)};
	std::vector<std::vector<u64>> read;

	explicit litmus_world(std::size_t threads) : read(threads) {}
};

/* One operation; what it read, where it reads. */
inline bool perform(litmus_world &w, const op &o, u64 &found)
{
	namespace hooked = klock::arch::hooked;
	using klock::arch::site;
	hooked::engine &e = *hooked::running;
	const hooked::window at = w.x[o.location].whole();
	const site here{nullptr, 0};
	u64 wanted = o.value;
	const auto same = [](void *v, u64 now) {
		return *static_cast<u64 *>(v) == now;
	};

	switch (o.what) {
	case action::load:
		found = e.load(at, o.ord, here);
		return true;
	case action::store:
		e.store(at, o.value, o.ord, here);
		return false;
	case action::exchange:
		found = e.rmw(at, hooked::update::exchange, o.value, o.ord,
			      here);
		return true;
	case action::add:
		found = e.rmw(at, hooked::update::add, o.value, o.ord, here);
		return true;
	case action::cas:
		found = o.expected;
		e.compare_exchange_or(
			at, found, o.value, o.ord,
			o.failed.value_or(klock::without_store(o.ord)), false,
			here);
		return true;
	case action::fence:
		e.fence(o.ord, here);
		return false;
	case action::await:
		found = e.await(at, {same, &wanted}, {}, o.ord, here);
		return true;
	}
	return false;
}

/* What the checker finds: outcomes of the complete executions. */
inline outcomes run(const litmus &p, model::options how, model::result &r)
{
	outcomes out;
	const auto threads = p.threads.size();

	how.sections.assign(threads, 1);
	how.may_deadlock = true;
	r = model::explore_from(
		how, [threads] { return litmus_world(threads); },
		[&p](litmus_world &w, unsigned cpu) {
			for (const op &o : p.threads[cpu]) {
				u64 found;
				if (perform(w, o, found))
					w.read[cpu].push_back(found);
			}
		},
		[&p, &out](litmus_world &w) {
			std::vector<u64> last;
			for (unsigned l = 0; l < p.locations; l++)
				last.push_back(w.x[l].value);
			out[spell(w.read, last)]++;
		});
	return out;
}

} // namespace reference
