/* SPDX-License-Identifier: MIT */
/*
 * watchdog - where a test stands, for the report if it stays there
 *
 * A lock that never lets go is found by a test that never returns. So each test
 * says which lock and which step it is at; where the process then spends
 * seconds of CPU time without another step, the watchdog (watchdog.cpp) names
 * test, lock, step and what each thread waits for, and ends the program. CPU
 * time, not wall time: on a busy host a step lasts longer, and costs hardly
 * more.
 *
 * It ends at once where no thread will ever get on: all sleep without a
 * deadline, or the only one that runs waits. Several that wait and look may
 * hand a lock on for long, so CPU time decides there.
 */
#pragma once

#include <atomic>
#include <typeinfo>

namespace watchdog {

/* The place that note() writes, and that the watchdog's thread reads. */
struct place {
	std::atomic<unsigned> steps{0};
	std::atomic<const char *> lock{nullptr};
	std::atomic<const std::type_info *> type{nullptr};
	std::atomic<const char *> step{nullptr};
	std::atomic<unsigned long> number{0};
};
inline constinit place here{};

/*
 * CPU time without a step that is too much; tests of it take less. FIFO locks
 * burn it at each handoff between more threads than cores, and sanitizers
 * tenfold.
 */
inline std::atomic<unsigned> patience_ms{20000};

/* Called before each test case, if a program sets it before main(). */
inline void (*before_each)() = nullptr;

/* One step is done, and the next begins. Any thread, any time. */
inline void step() { here.steps.fetch_add(1, std::memory_order_relaxed); }

/*
 * Begins a step with a name; the strings must last. The number is the step's
 * own.
 */
inline void note(const char *lock, const char *what, unsigned long number = 0)
{
	here.type = nullptr;
	here.lock = lock;
	here.step = what;
	here.number = number;
	step();
}

/* note() for a test that knows the type of its lock and not its name. */
inline void note(const std::type_info &type, const char *what,
		 unsigned long number = 0)
{
	note(nullptr, what, number);
	here.type = &type;
}
template <typename Lock>
inline void note(const char *what, unsigned long number = 0)
{
	note(typeid(Lock), what, number);
}

} // namespace watchdog
