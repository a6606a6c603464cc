/* SPDX-License-Identifier: MIT */
/*
 * When a run is said to stand still: never because a thread is slow.
 */
#include "threads.hpp"

#include <catch.hpp>

using namespace native;

namespace {

/* A run of three threads, played: the test takes their turns. */
struct played {
	/* True if it was said to stand still, asked after each of them. */
	bool turns(std::initializer_list<unsigned> who, unsigned rounds)
	{
		bool said = false;

		for (unsigned i = 0; i < rounds; i++) {
			for (unsigned thread : who)
				for (u64 n = 0; n < run.turns_a_round; n++)
					run.of(thread).turn();
			said |= run.evident();
		}
		return said;
	}

	u64 shared = 0;
	standstill run{3, true, &shared, sizeof(shared)};
};

constexpr unsigned many = 20;

/* Its first holder stays off its core, inside, for a long while. */
struct with_slow_holder : klock::ticket_lock<u8> {
	void unlock()
	{
		if (!slept.exchange(true))
			std::this_thread::sleep_for(std::chrono::seconds(1));
		klock::ticket_lock<u8>::unlock();
	}
	std::atomic<bool> slept{false};
};

} // namespace

TEST_CASE("standstill: all look again and again, and nothing changes",
	  "[standstill]")
{
	played p;

	CHECK(p.turns({0, 1, 2}, many));
}

TEST_CASE("standstill: not while one of them is off its core", "[standstill]")
{
	played p;

	CHECK_FALSE(p.turns({0, 1}, many));
	/* It is back, looks once, and goes on. */
	CHECK_FALSE(p.turns({2}, 1));
	p.shared++;
	CHECK_FALSE(p.turns({0, 1}, many));
}

TEST_CASE("standstill: not while anything changes", "[standstill]")
{
	played p;

	for (unsigned i = 0; i < many; i++, p.shared++)
		CHECK_FALSE(p.turns({0, 1, 2}, 2));
}

TEST_CASE("standstill: who is done need not look", "[standstill]")
{
	played p;

	p.run.of(1).finish();
	CHECK(p.turns({0, 2}, many));
}

TEST_CASE("standstill: not once all are done", "[standstill]")
{
	played p;

	for (unsigned thread : {0, 1, 2})
		p.run.of(thread).finish();
	CHECK_FALSE(p.turns({}, many));
}

TEST_CASE("standstill: a holder that is slow for a second is right",
	  "[standstill]")
{
	using subject_of_it =
		subject<"with_slow_holder", with_slow_holder, service::fifo>;
	using torture_of_it = torture<subject_of_it, 2>;
	const plan p = {.cpus = 2,
			.convoys = 1,
			.sections = 10,
			.relaxes_a_word = 0,
			.relaxes_outside = 0,
			.try_one_in = 0,
			.seed = 1};

	CHECK(fault(run_fresh<subject_of_it, torture_of_it>(
		      p, stuck::is_meant)) == nullptr);
}
