/* SPDX-License-Identifier: MIT */
/*
 * Executions that are walked by what was learnt of the code come out as those
 * in which the code ran; what depends on more than was read is not learnt.
 */
#include "lock_cases.hpp"

using klock::atomic;
using klock::plain;
using klock::u8;
using model::bug;
using namespace worlds;

namespace {

/* Three CPUs add three times each: 9! / 3!^3 executions, most of them late. */
struct adders {
	atomic<u8> sum, flag;
	plain<unsigned> data;
	unsigned turns = 0; /* on the host */

	adders()
	{
		model::name(sum, "sum");
		model::name(flag, "flag");
		model::name(data, "data");
	}
};

constexpr u64 ways = 1680;

struct late_racers : adders {
	atomic<u8> early;
};

options thrice(bool run_all)
{
	return {.sections = {3, 3, 3}, .run_all = run_all};
}

/* Explores by what is learnt, and by running the code each time. */
template <typename Explore>
void same(Explore explore)
{
	const result learnt = explore(false), run = explore(true);

	INFO(learnt.timeline << run.timeline);
	CHECK(learnt.found == run.found);
	CHECK(learnt.message == run.message);
	CHECK(learnt.timeline == run.timeline);
	CHECK(learnt.complete == run.complete);
	CHECK(learnt.explored == run.explored);
	CHECK(learnt.blocked == run.blocked);
	CHECK(learnt.exhaustive == run.exhaustive);
	CHECK(learnt.ran < run.ran);
}

} // namespace

TEST_CASE("learnt: as many executions, though the code ran in a tenth of them")
{
	const auto add = [](bool run_all) {
		return model::explore<adders>(
			thrice(run_all), [](adders &w, unsigned) {
				(void)w.sum.fetch_add_relaxed(1);
			});
	};

	same(add);
	CHECK(add(false).complete == ways);
	CHECK(add(true).ran >= ways);
	CHECK(add(false).ran < ways / 5);
}

TEST_CASE("learnt: the end sees atomic and plain data as they were left")
{
	same([](bool run_all) {
		return model::explore<adders>(
			thrice(run_all),
			[](adders &w, unsigned) {
				const u8 ticket = w.sum.fetch_add_relaxed(1);
				w.flag.await_eq_acquire(ticket);
				w.data.set(w.data.get() + ticket);
				w.flag.store_release(ticket + 1);
			},
			[](adders &w) {
				model::check(w.sum.load_relaxed() == 9);
				model::check(w.data.get() == 36);
			});
	});
}

/* CPU 2's first turn comes first in late executions alone. */
template <typename Fault>
static void same_fault(bug expected, Fault fault)
{
	const auto explore = [fault](bool run_all) {
		(void)fault;
		return model::explore<adders>(
			thrice(run_all),
			[](adders &w, unsigned cpu) {
				const u8 sum = w.sum.fetch_add_acq_rel(1);
				if (cpu == 2 && sum == 0)
					Fault()(w);
			},
			[](adders &w) {
				model::check(w.flag.load_relaxed() != 9,
					     "nine");
			});
	};

	CHECK(explore(false).found == expected);
	same(explore);
}

TEST_CASE("learnt: what goes wrong in a late execution is found, and as well")
{
	same_fault(bug::none, [](adders &) {});
	same_fault(bug::failed_check,
		   [](adders &w) { w.flag.store_relaxed(9); });
	same_fault(bug::failed_check,
		   [](adders &) { model::check(false, "the last"); });
	same_fault(bug::deadlock,
		   [](adders &w) { w.flag.await_eq_acquire(7); });
	same_fault(bug::panic, [](adders &w) {
		klock::panic("a_lock", &w, 0, "the last");
	});
}

TEST_CASE("learnt: a race of two late accesses is found, and shown as well")
{
	const auto explore = [](bool run_all) {
		return model::explore<adders>(
			thrice(run_all), [](adders &w, unsigned cpu) {
				const u8 sum = w.sum.fetch_add_relaxed(1);
				if (cpu == 2 && sum == 0)
					w.data.set(0);
				if (cpu == 1 && sum == 8)
					(void)w.data.get();
			});
	};

	CHECK(explore(false).found == bug::data_race);
	same(explore);
}

/*
 * Two write the flag alike, one of them behind the data; whose write it is no
 * step shows. CPU 1 looks in late executions alone, in the first of them at the
 * right one: the race is in one whose every step is known, and no run is due.
 */
static result raced_late(bool run_all, void (*first)(adders &),
			 void (*second)(adders &))
{
	static void (*does[2])(adders &);

	does[0] = first;
	does[1] = second;
	return model::explore<late_racers>(
		{.sections = {1, 1, 1}, .run_all = run_all},
		[](late_racers &w, unsigned cpu) {
			if (cpu == 0) {
				w.early.store_relaxed(1);
				does[0](w);
				w.flag.store_release(1);
			} else if (cpu == 1 && w.early.load_relaxed() == 0) {
				if (w.flag.load_acquire() == 1)
					does[1](w);
			} else {
				for (unsigned i = 0; i < 4; i++)
					(void)w.sum.fetch_add_relaxed(1);
				if (cpu == 2)
					w.flag.store_relaxed(1);
			}
		});
}

TEST_CASE("learnt: a race in executions that are walked alone is found")
{
	const auto reads = [](adders &w) { (void)w.data.get(); };
	const auto writes = [](adders &w) { w.data.set(1); };

	CHECK(raced_late(false, writes, reads).found == bug::data_race);
	CHECK(raced_late(false, reads, writes).found == bug::data_race);
	CHECK(raced_late(false, writes, writes).found == bug::data_race);
	same([&](bool all) { return raced_late(all, writes, reads); });

	/* So many that 64 were run before, so few that none was due after. */
	const result none = raced_late(false, reads, reads);
	good(none);
	CHECK(none.complete > 64 + 8);
	CHECK(none.complete + none.blocked < 256);
}

/* The last value of the flag is the fault, as late as the race. */
TEST_CASE("learnt: an end that is walked to and fails is counted once")
{
	same([](bool run_all) {
		return model::explore<late_racers>(
			{.sections = {1, 1, 1}, .run_all = run_all},
			[](late_racers &w, unsigned cpu) {
				if (cpu == 0) {
					w.early.store_relaxed(1);
					w.flag.store_relaxed(1);
				} else if (cpu == 1 &&
					   w.early.load_relaxed() == 0) {
					w.data.set(1);
				} else {
					for (unsigned i = 0; i < 4; i++)
						(void)w.sum.fetch_add_relaxed(
							1);
					if (cpu == 2)
						w.flag.store_relaxed(2);
				}
			},
			[](late_racers &w) {
				model::check(w.data.get() == 0 ||
						     w.flag.load_relaxed() == 2,
					     "late");
			});
	});
}

TEST_CASE("learnt: what ends by an assumption, or may by an interrupt")
{
	same([](bool run_all) {
		return model::explore<adders>(
			thrice(run_all), [](adders &w, unsigned cpu) {
				const u8 sum = w.sum.fetch_add_relaxed(1);
				model::assume(cpu != 1 || sum != 4);
			});
	});
	same([](bool run_all) {
		return model::explore<adders>(
			{.sections = {1, 1, 1},
			 .interrupts = 1,
			 .run_all = run_all},
			[](adders &w, unsigned cpu) {
				(void)w.sum.fetch_add_relaxed(1);
				if (cpu == 1)
					w.flag.await_eq_relaxed(1);
			},
			[](adders &) {},
			[](adders &w, unsigned cpu) {
				if (cpu == 1)
					w.flag.store_relaxed(1);
			});
	});
}

TEST_CASE("learnt: a world that counts on the host is run in every execution")
{
	const auto r =
		model::explore<adders>(thrice(false), [](adders &w, unsigned) {
			(void)w.sum.fetch_add_relaxed(1);
			w.turns++;
		});

	good(r);
	CHECK(r.complete == ways);
	CHECK(r.ran >= ways);
}

TEST_CASE("learnt: a body with state of its own is run in every execution")
{
	unsigned turns = 0;
	const auto r = model::explore<adders>(
		thrice(false), [&turns](adders &w, unsigned) {
			(void)w.sum.fetch_add_relaxed(1);
			turns++;
		});

	good(r);
	CHECK(r.ran >= ways);
	CHECK(turns == 9 * r.ran);
}

TEST_CASE("learnt: code that changes after many executions is found out")
{
	static unsigned turns;
	turns = 0;
	const auto r =
		model::explore<adders>(thrice(false), [](adders &w, unsigned) {
			if (turns++ < 9 * 100)
				(void)w.sum.fetch_add_relaxed(1);
			else
				w.flag.store_relaxed(1);
		});

	CHECK(r.found == bug::not_repeatable);
}

TEST_CASE("learnt: code that changes when all is known is found out, too")
{
	static klock::u64 turns, until;
	const auto explore = [](klock::u64 runs) {
		turns = 0;
		until = 9 * runs;
		return model::explore<adders>(
			thrice(false), [](adders &w, unsigned) {
				if (turns++ < until)
					w.sum.store_relaxed(1);
				else
					(void)w.sum.load_relaxed();
			});
	};
	const result never = explore(ways);

	/* The first, and then those that are run all the same. */
	good(never);
	CHECK(never.complete == ways);
	CHECK(never.ran < 64 + ways / 128);
	for (klock::u64 runs : {klock::u64{64}, never.ran - 1})
		CHECK(explore(runs).found == bug::not_repeatable);
}

/*
 * A heap that the CPUs write is not seen: a walk may find a fault where there
 * is none, and miss one. The first is noticed, and all is run.
 */
TEST_CASE("learnt: a fault in a walk alone is none, and nothing is believed")
{
	struct hoarder : adders {
		std::vector<unsigned> seen = std::vector<unsigned>(3);
		atomic<u8> first;
	};
	const auto explore = [](auto at_end) {
		return model::explore<hoarder>(
			thrice(false),
			[](hoarder &w, unsigned cpu) {
				const u8 sum = w.sum.fetch_add_relaxed(1);
				w.seen[cpu] += sum;
				if (sum == 0)
					w.first.store_relaxed(u8(cpu));
			},
			at_end);
	};
	const auto all = [](const hoarder &w) {
		return w.seen[0] + w.seen[1] + w.seen[2] == 36;
	};
	const result none = explore([all](hoarder &w) {
		model::check(w.first.load_relaxed() != 2 || all(w));
	});
	const result late = explore([all](hoarder &w) {
		model::check(w.first.load_relaxed() != 2 || all(w));
		model::check(w.first.load_relaxed() != 1 || !all(w), "late");
	});

	good(none);
	CHECK(none.complete == ways);
	CHECK(none.ran >= ways);
	CHECK(late.message == "failed: late");
}
