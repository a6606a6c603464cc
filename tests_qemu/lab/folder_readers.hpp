/* SPDX-License-Identifier: MIT */
/*
 * folder_readers - irq_shared_lock, one more trial of folder.hpp
 */
#pragma once

#include "folder.hpp"

#include <klock/irq_guard.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/shared_guard.hpp>

namespace lab {

/*
 * Threads write with interrupts off and read with interrupts on, handlers read
 * over them, NMI handlers try to.
 */
struct handlers_read_trial {
	static constexpr bool wants_handlers = true;

	void prepare(unsigned)
	{
		for (u32 &n : writes)
			n = 0;
		data = all(0);
	}

	bool look(looker who, unsigned cpu, xorshift &dice, u32 &last)
	{
		if (who == by_nmi) {
			klock::handler_shared_try_guard held(lock);
			return !held || fits(data, last);
		}
		if (who == by_handler) {
			klock::handler_shared_guard held(lock);
			return fits(data, last);
		}
		if (dice.below(4) != 0) {
			klock::shared_guard held(lock);
			return fits(data, last);
		}
		klock::irq_guard held(lock);
		writes[cpu]++;
		for (u32 &v : data.at) {
			v++;
			/* Where vCPUs take turns, another's is now. */
			if (dice.below(64) == 0)
				klock::cpu_relax();
		}
		return true;
	}

	[[nodiscard]] u64 lost(unsigned cpus) const
	{
		u32 made = 0;

		for (unsigned cpu = 0; cpu < cpus; cpu++)
			made += writes[cpu];
		return made - data.at[0];
	}

	[[nodiscard]] const auto &watched() const { return lock; }

      private:
	klock::irq_shared_lock<klock::phase_fair_lock<klock::u16>> lock;
	words data = {};
	u32 writes[boot::max_cpus] = {};
};

} // namespace lab
