/* SPDX-License-Identifier: MIT */
/*
 * Code by somebody who has never heard of klock (foreign/, which includes
 * <atomic> and the like): checked as it is, its plain variables, too.
 * native/test_foreign.cpp runs the same files with threads. And that the
 * checker sees into it: each of its orders that can be missed is reported.
 */
#include "foreign/hazard_stack.hpp"
#include "foreign/queue.hpp"
#include "foreign/seqlock.hpp"
#include "foreign/spin_lock.hpp"
#include "foreign/ttas_lock.hpp"

#include <model/model.hpp>

#include <catch.hpp>

namespace {

using model::check;

struct queues {
	queue<int> q;
	int sum = 0;

	/* In order, as far as one thread sees it; and all that was put in. */
	void cpu(unsigned which)
	{
		if (which < 2) {
			q.push(1 + static_cast<int>(which) * 10);
			q.push(2 + static_cast<int>(which) * 10);
			return;
		}
		int last[2] = {0, 10};
		for (int i = 0; i < 2; i++) {
			if (const auto v = q.pop()) {
				check(*v > last[*v > 10], "in order");
				last[*v > 10] = *v;
				sum += *v;
			}
		}
	}
	void end()
	{
		while (const auto v = q.pop())
			sum += *v;
		check(sum == 26, "each once");
	}
};

struct takers {
	queue<int> q;
	int got[2] = {};

	takers()
	{
		q.push(1);
		q.push(2);
	}
	void cpu(unsigned which) { got[which] = q.pop().value_or(0); }
	void end() { check(got[0] + got[1] == 3, "each once"); }
};

struct sequences {
	seqlock s;
	unsigned seen = 0;

	void cpu(unsigned which)
	{
		pair_of_ints v;

		if (which == 0) {
			s.write({1, 1});
			s.write({2, 2});
			return;
		}
		if (which == 1 && !s.try_read(v))
			return;
		if (which == 2)
			v = s.read();
		check(v.left == v.right, "whole");
	}
	void end() {}
};

/* Whose reader tries until nobody disturbs it. */
struct spinning_reader : sequences {
	void cpu(unsigned which) { sequences::cpu(which ? 2 : 0); }
};

struct spinning {
	ttas_lock l;
	int count = 0;

	void cpu(unsigned)
	{
		l.lock();
		count++;
		l.unlock();
	}
	void end() { check(count == 2, "each has counted"); }
};

struct locks {
	spin_lock l;
	int count = 0;

	void cpu(unsigned which)
	{
		if (which == 2 && !l.try_lock())
			return;
		if (which != 2)
			l.lock();
		count++;
		l.unlock();
	}
	void end() { check(count >= 2, "each has counted"); }
};

struct stacks {
	hazard_stack<int, 2> s;
	int sum[2] = {};

	stacks() { s.push(1); }
	void cpu(unsigned which)
	{
		int v;

		if (which == 0)
			s.push(2);
		while (s.pop(v, which))
			sum[which] += v;
	}
	void end()
	{
		int v;

		while (s.pop(v, 0))
			sum[0] += v;
		check(sum[0] + sum[1] == 3, "each once");
	}
};

template <typename World>
model::result explore(model::options how)
{
	return model::explore<World>(
		how, [](World &w, unsigned which) { w.cpu(which); },
		[](World &w) { w.end(); });
}

/* How many of the weaker orders are reported. */
template <typename World>
unsigned reported(model::options how)
{
	how.record_uses = true;
	const model::result whole = explore<World>(how);
	unsigned found = 0;

	how.record_uses = false;
	for (const model::use &u : whole.uses) {
		for (const model::weakening &w : model::weakenings(u)) {
			how.weaken = w;
			found += !explore<World>(how).ok();
		}
	}
	return found;
}

template <typename World>
void is_right(std::vector<unsigned> cpus, model::u64 least, unsigned needed,
	      unsigned spurious = 0)
{
	const model::options how{.sections = cpus, .spurious = spurious};
	const model::result r = explore<World>(how);

	INFO(r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete >= least);
	CHECK(reported<World>(how) >= needed);
}

} // namespace

TEST_CASE("foreign: a lock-free queue")
{
	is_right<queues>({1, 1, 1}, 300, 5);
	is_right<takers>({1, 1}, 4, 0, 1);
}

TEST_CASE("foreign: a seqlock") { is_right<sequences>({1, 1}, 50, 4); }

TEST_CASE("foreign: a spin lock") { is_right<locks>({1, 1, 1}, 800, 3); }

/* The loops are the code's own: waits, as they are. */
TEST_CASE("foreign: a lock that spins, a reader that tries again")
{
	is_right<spinning>({1, 1}, 2, 2);
	is_right<spinning_reader>({1, 1}, 3, 4);
}

TEST_CASE("foreign: a stack with hazard pointers")
{
	is_right<stacks>({1, 1}, 900, 6);
}
