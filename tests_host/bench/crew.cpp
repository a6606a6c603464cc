/* SPDX-License-Identifier: MIT */
#include "crew.hpp"
#include "machine.hpp"

#include <sched.h>
#include <sys/resource.h>

namespace bench {

namespace {

/* How often the calling thread lost its core to another. */
long involuntary_switches()
{
	rusage used;

	return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
}

} // namespace

crew::crew(unsigned number, double clock) : cycles_a_second(clock)
{
	for (unsigned i = 0; i < number; i++)
		threads.emplace_back([this, i] { serve(i); });
}

crew::~crew()
{
	{
		std::lock_guard hold(mutex);
		closing = true;
	}
	wake.notify_all();
	for (auto &thread : threads)
		thread.join();
}

bool crew::run(unsigned number, std::chrono::microseconds length,
	       const job &what)
{
	std::unique_lock hold(mutex);

	todo = &what;
	wanted = running = number;
	preempted = 0;
	length_left = static_cast<klock::u64>(
		static_cast<double>(length.count()) * 1e-6 * cycles_a_second);
	referee.start = 0;
	referee.blown = false;
	arrived = 0;
	trial++;
	wake.notify_all();
	/* Where a turn takes long, nobody looks at the clock for long. */
	if (!finished.wait_for(hold, 2 * length + std::chrono::milliseconds(2),
			       [this] { return running == 0; })) {
		referee.blown = true;
		finished.wait(hold, [this] { return running == 0; });
	}
	return preempted == 0;
}

void crew::serve(unsigned thread)
{
	unsigned done = 0;

	pin_to_core(thread);
	std::unique_lock hold(mutex);
	for (;;) {
		wake.wait(hold, [&] { return closing || trial != done; });
		if (closing)
			return;
		done = trial;
		if (thread >= wanted)
			continue;
		const job &what = *todo;
		const unsigned number = wanted;
		hold.unlock();
		const long before = meet(number);
		what(thread, referee);
		const long after = involuntary_switches();
		hold.lock();
		preempted += after - before;
		if (--running == 0)
			finished.notify_one();
	}
}

/*
 * Yields, so that all can come; the last one sets a time a little ahead, so
 * that all leave together. Returns involuntary_switches() of the start.
 */
long crew::meet(unsigned number)
{
	constexpr klock::u64 ahead = 20000;

	if (++arrived == number) {
		const klock::u64 start = klock::cycles() + ahead;
		referee.end = start + length_left;
		referee.start = start;
	}
	while (referee.start == 0)
		sched_yield();
	const long switches = involuntary_switches();
	while (klock::cycles() < referee.start)
		klock::cpu_relax();
	return switches;
}

} // namespace bench
