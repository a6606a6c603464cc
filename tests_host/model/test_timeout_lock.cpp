/* SPDX-License-Identifier: MIT */
/*
 * timeout_lock: who gives up, comes back, tries; who waits on behind them; a
 * holder that never leaves; tickets that wrap.
 */
#include "lock_cases.hpp"
#include "timed_clients.hpp"

using klock::timeout_lock;
using klock::selftest::service;
using klock::selftest::subject;
using namespace worlds;

namespace {

template <unsigned Cpus>
using whole = subject<"lock", timeout_lock<Cpus>, service::fifo>;

/* Complete executions; passes under both rules of release sequences. */
template <typename Explore>
u64 counted_by(Explore explore, options how)
{
	how.every_turn = true; /* who gives up and comes back */
	const result r = explore(how);

	good(r);
	how.sequence = model::release_sequence::rc11;
	good(explore(how));
	return r.complete;
}

template <unsigned Cpus>
u64 deadlines(std::vector<unsigned> sections, unsigned patient,
	      unsigned bits = 0)
{
	return counted_by(gives_up<whole<Cpus>>, {.sections = sections,
						  .patient = patient,
						  .counter_bits = bits});
}

template <unsigned Cpus>
u64 and_tries(std::vector<unsigned> sections, unsigned bits = 0)
{
	return counted_by(gives_up_and_tries<whole<Cpus>>,
			  {.sections = sections, .counter_bits = bits});
}

} // namespace

TEST_CASE("timeout_lock: deadlines of nobody, of one, of all; and tries")
{
	CHECK(deadlines<2>({2, 2}, everybody) == 78);
	CHECK(deadlines<2>({2, 2}, 0) == 560);
	CHECK(deadlines<2>({3, 3}, ~1u) == 7964);
	CHECK(and_tries<2>({4, 3}) == 30331);
	CHECK(deadlines<3>({1, 1, 1}, everybody) == 54);
	CHECK(deadlines<3>({1, 1, 1}, 0) == 216);
	CHECK(deadlines<3>({2, 1, 1}, 0) == 1872);
	CHECK(deadlines<3>({2, 2, 1}, ~1u) == 4830);
	CHECK(and_tries<3>({3, 1, 1}) == 2150);
}

TEST_CASE("timeout_lock: three CPUs by two sections", "[.large]")
{
	CHECK(deadlines<3>({2, 2, 2}, everybody) == 10746);
	CHECK(deadlines<3>({2, 2, 2}, ~1u) == 39150);
	CHECK(deadlines<3>({2, 2, 2}, ~3u) == 131218);
	CHECK(deadlines<3>({2, 2, 2}, 0) == 371586);
}

TEST_CASE("timeout_lock: tickets wrap, and so does the ring")
{
	CHECK(deadlines<2>({4, 1}, everybody, 2) == 33);
	CHECK(deadlines<2>({4, 2}, 0, 2) == 26240);
	CHECK(deadlines<2>({1, 5}, ~1u, 2) == 65);
	CHECK(deadlines<2>({5, 1}, ~1u, 2) == 7144);
	CHECK(and_tries<2>({1, 4}, 2) == 91);
	CHECK(and_tries<2>({2, 4}, 2) == 1501);
}

TEST_CASE("timeout_lock: a holder that never leaves holds up nobody for ever")
{
	CHECK(counted_by(holder_stays<whole<2>>, {.sections = {1, 3}}) == 10);
	CHECK(counted_by(holder_stays<whole<3>>, {.sections = {1, 2, 1}}) ==
	      239);
	/* As it does whoever waits without a deadline. */
	CHECK(holder_stays<whole<2>>({.sections = {1, 1}, .patient = 2})
		      .found == model::bug::deadlock);
}

/* -- In turn ----------------------------------------------------------------
 */

namespace {

/*
 * As first_come_first_served(), but CPU 2 gives up at any look, and comes back.
 * CPU 1 does not lose its place by that, nor does CPU 0 get ahead.
 */
result in_turn_behind_who_gives_up(const options &how)
{
	struct world : queue<whole<3>> {};

	return model::explore<world>(how, [](world &w, unsigned cpu) {
		if (cpu == 1) {
			w.come(cpu);
		} else if (cpu == 2) {
			if (w.who[2].try_lock_until(w.lock, 1))
				w.who[2].unlock(w.lock);
		} else {
			w.came.await_eq_acquire(1);
			w.who[0].lock(w.lock);
			model::check(w.served.get(),
				     "who came first was served first");
			w.who[0].unlock(w.lock);
		}
	});
}

} // namespace

TEST_CASE("timeout_lock: in turn, behind one that gives up and comes back")
{
	const u64 counts[] = {48, 450, 3408};

	for (unsigned times = 1; times <= 3; times++)
		CHECK(counted_by(in_turn_behind_who_gives_up,
				 {.sections = {1, 1, times}, .patient = ~4u}) ==
		      counts[times - 1]);
}
