/* SPDX-License-Identifier: MIT */
/*
 * Runs checker/foreign.hpp with threads and the system's <atomic>: so the model
 * checker's findings hold for the code that runs.
 */
#include "../checker/foreign.hpp"

#include <catch.hpp>

#include <thread>
#include <vector>

namespace {

constexpr unsigned threads = 3, rounds = 2000;

template <typename Body>
void together(Body body)
{
	std::vector<std::thread> crew;

	for (unsigned i = 0; i < threads; i++)
		crew.emplace_back([&body, i] { body(i); });
	for (std::thread &t : crew)
		t.join();
}

} // namespace

TEST_CASE("foreign: a lock-free queue, with threads")
{
	queue<unsigned> q;
	std::atomic<unsigned> sum{0};

	together([&](unsigned) {
		for (unsigned i = 0; i < rounds; i++) {
			q.push(1);
			if (const auto v = q.pop())
				sum += *v;
		}
	});
	CHECK(sum == threads * rounds);
}

TEST_CASE("foreign: a seqlock, with threads")
{
	seqlock s;
	std::atomic<unsigned> torn{0};

	together([&](unsigned which) {
		pair_of_ints v;
		for (unsigned i = 0; i < rounds; i++) {
			const int now = static_cast<int>(i);
			if (which == 0)
				s.write({now, now});
			else if (s.try_read(v))
				torn += v.left != v.right;
		}
	});
	CHECK(torn == 0);
}

namespace {

template <typename Lock>
void each_counts()
{
	Lock l;
	unsigned count = 0;

	together([&](unsigned) {
		for (unsigned i = 0; i < rounds; i++) {
			l.lock();
			count++;
			l.unlock();
		}
	});
	CHECK(count == threads * rounds);
}

} // namespace

TEST_CASE("foreign: locks, with threads")
{
	each_counts<spin_lock>();
	each_counts<ttas_lock>();
}

TEST_CASE("foreign: a stack with hazard pointers, with threads")
{
	hazard_stack<unsigned, threads> s;
	std::atomic<unsigned> sum{0};

	together([&](unsigned me) {
		for (unsigned i = 0; i < rounds; i++) {
			unsigned v;
			s.push(1);
			while (!s.pop(v, me))
				;
			sum += v;
		}
	});
	CHECK(sum == threads * rounds);
}
