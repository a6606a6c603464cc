/* SPDX-License-Identifier: MIT */
/*
 * preemption - what each lock still does with more threads than cores
 *
 * The x86 port: a wait is PAUSE and never gives the core away, as in a kernel.
 * A first come, first served lock then hands over to a thread that does not
 * run, and everybody waits until the host runs it: for a time slice.
 *
 * Run: preemption [milliseconds a measurement [rounds]]; the best round counts,
 * as what else the host does can only disturb.
 */
#include <klock/cpu.hpp>
#include <klock/selftest/locks.hpp>

#include "../native/cores.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

using namespace klock;
using namespace klock::selftest;

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct setting {
	unsigned threads;
	unsigned cores;
};

constexpr unsigned most_threads = 4;
constexpr setting settings[] = {{2, 2}, {2, 1}, {4, 2}};

template <typename L>
struct crowded {
	explicit crowded(setting s) : threads(s.threads)
	{
		for (unsigned i = 0; i < threads; i++)
			who.emplace_back(i);
		for (unsigned i = 0; i < threads; i++) {
			running.emplace_back([this, i] { contend(i); });
			native::pin_to_core(running.back(), i % s.cores,
					    native::cores());
		}
	}

	/* Sections per second; of 1 at least, so that it is never 0. */
	double measure(milliseconds length)
	{
		while (came.load() < threads)
			std::this_thread::sleep_for(milliseconds(1));
		const u64 before = sections.load();
		const clock::time_point start = clock::now();
		do
			std::this_thread::sleep_for(length);
		while (sections.load() == before);
		const std::chrono::duration<double> took = clock::now() - start;
		const u64 done = sections.load() - before;

		stop.store(true);
		for (std::thread &thread : running)
			thread.join();
		return static_cast<double>(done) / took.count();
	}

      private:
	/*
	 * Wants the lock all the time. The first one in stays until all others
	 * have come; else it may have done its part before they run.
	 */
	void contend(unsigned me)
	{
		came.fetch_add(1);
		while (!stop.load(std::memory_order_relaxed)) {
			who[me].lock(lock);
			while (came.load(std::memory_order_relaxed) < threads)
				std::this_thread::yield();
			relax_for(8);
			sections.store(
				sections.load(std::memory_order_relaxed) + 1,
				std::memory_order_relaxed);
			who[me].unlock(lock);
		}
	}

	const unsigned threads;
	std::deque<contender<L>> who;
	std::vector<std::thread> running;
	alignas(128) L lock;
	/* The holder's. */
	alignas(128) std::atomic<u64> sections{0};
	alignas(128) std::atomic<unsigned> came{0};
	std::atomic<bool> stop{false};
};

/* The best of some rounds; 0: the lock does not serve so many. */
template <typename Subject>
double rate(setting s, milliseconds length, int rounds)
{
	double best = 0;

	if (s.threads > Subject::capacity)
		return 0;
	for (int i = 0; i < rounds; i++) {
		auto c = std::make_unique<crowded<typename Subject::lock>>(s);
		best = std::max(best, c->measure(length));
	}
	return best;
}

template <typename Subject>
void print_row(milliseconds length, int rounds)
{
	double first = 0;

	std::printf("%-30s", Subject::name);
	for (const setting &s : settings) {
		const double found = rate<Subject>(s, length, rounds);

		if (found == 0)
			std::printf("%11s", "-");
		else
			std::printf("%11.0f", found);
		if (first == 0)
			first = found;
		else if (found == 0)
			std::printf("%10s", "-");
		else
			std::printf("%10.5f", found / first);
	}
	std::printf("\n");
}

} // namespace

int main(int argc, char **argv)
{
	const milliseconds length(argc > 1 ? std::atoi(argv[1]) : 50);
	const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
	unsigned rows = 0;

	if (length.count() < 1 || rounds < 1)
		return 2;
	std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
	std::printf("preemption: sections per second, and their ratio to those "
		    "with a core for each\n"
		    "host: %u cores\n\n%-30s%11s%21s%21s\n"
		    "%-30s%11s%11s%10s%11s%10s\n",
		    std::thread::hardware_concurrency(), "threads on cores",
		    "2 on 2", "2 on 1", "4 on 2", "lock", "rate", "rate",
		    "ratio", "rate", "ratio");
	all_locks<most_threads>::for_each([&]<typename Subject>() {
		print_row<Subject>(length, rounds);
		rows++;
	});
	std::printf("%u of %u locks\n", rows, all_locks<most_threads>::size);
	return rows == all_locks<most_threads>::size ? 0 : 1;
}
