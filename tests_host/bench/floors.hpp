/* SPDX-License-Identifier: MIT */
/*
 * floors - what no lock can beat: measured as rows, in the same rounds
 */
#pragma once

#include "bed.hpp"

namespace bench {

/* One locked instruction after another: the least that a lock() costs. */
struct bare_xadd final : bed {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("lock xadd %0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
	void contend(unsigned, const load &, whistle &, tally &) override {}
	void observe(unsigned, const load &, whistle &, tally &) override {}

      private:
	alignas(128) u32 word = 0;
};

struct bare_exchange final : bed {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("xchg %0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
	void contend(unsigned, const load &, whistle &, tally &) override {}
	void observe(unsigned, const load &, whistle &, tally &) override {}

      private:
	alignas(128) u32 word = 0;
};

/* And back by a plain store, which the next exchange has to wait for. */
struct exchange_and_store final : bed {
	void alone(u64 turns) override
	{
		for (; turns; turns--) {
			u32 one = 1;
			asm volatile("xchg %0, %1\n\tmovl $0, %1"
				     : "+r"(one), "+m"(word)::"memory");
		}
	}
	void contend(unsigned, const load &, whistle &, tally &) override {}
	void observe(unsigned, const load &, whistle &, tally &) override {}

      private:
	alignas(128) u32 word = 0;
};

/*
 * Two threads that write one word in turn: a handoff, and nothing else. An
 * acquisition is one thread's turn.
 */
struct ping_pong final : bed {
	void alone(u64) override {}

	void contend(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		until(end, l, thread, seen, [&] {
			u32 now;
			while (((now = word.load(std::memory_order_acquire)) &
				1) != thread &&
			       !end.blown.load(std::memory_order_relaxed))
				klock::cpu_relax();
			word.store(now + 1, std::memory_order_release);
		});
	}

	void observe(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		contend(thread, l, end, seen);
		seen.handoffs = seen.acquisitions;
		seen.max_consecutive = 1;
	}

      private:
	alignas(128) std::atomic<u32> word{0};
};

} // namespace bench
