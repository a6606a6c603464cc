/* SPDX-License-Identifier: MIT */
/*
 * Executions that are walked by what was learnt of the code come out as those
 * in which the code ran; what depends on more than was read is not learnt.
 */
#include "../model/lock_counts.hpp"
#include "verdict.hpp"

#include <set>
#include <utility>

using klock::atomic;
using klock::plain;
using klock::u8;
using model::bug;
using namespace worlds;
using verdict::client;
using verdict::good;

namespace of_learnt {

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

constexpr auto adds = [](adders &w, unsigned) {
	(void)w.sum.fetch_add_relaxed(1);
};
constexpr u64 ways = 1680;

struct late_racers : adders {
	atomic<u8> early;
};

const options thrice{.sections = {3, 3, 3}};
const options once{.sections = {1, 1, 1}};

/* Explores by what is learnt, and by running the code each time. */
template <typename Explore>
std::pair<result, result> same(options how, Explore explore)
{
	const result learnt = explore(how);
	how.run_all = true;
	const result run = explore(how);

	verdict::alike(learnt, run);
	CHECK(learnt.explored == run.explored);
	CHECK(learnt.ran < run.ran);
	return {learnt, run};
}

} // namespace

TEST_CASE("learnt: as many executions, though the code ran in a tenth of them")
{
	const auto [learnt, run] = same(thrice, client<adders>(adds));

	CHECK(learnt.complete == ways);
	CHECK(run.ran >= ways);
	CHECK(learnt.ran < ways / 5);
}

TEST_CASE("learnt: the end sees atomic and plain data as they were left")
{
	const auto body = [](adders &w, unsigned) {
		const u8 ticket = w.sum.fetch_add_relaxed(1);
		w.flag.await_eq_acquire(ticket);
		w.data.set(w.data.get() + ticket);
		w.flag.store_release(ticket + 1);
	};
	const auto end = [](adders &w) {
		model::check(w.sum.load_relaxed() == 9);
		model::check(w.data.get() == 36);
	};

	same(thrice, client<adders>(body, end));
}

/* CPU 2's first turn comes first in late executions alone. */
template <typename Fault>
static void same_fault(bug expected, Fault)
{
	const auto body = [](adders &w, unsigned cpu) {
		const u8 sum = w.sum.fetch_add_acq_rel(1);
		if (cpu == 2 && sum == 0)
			Fault()(w);
	};
	const auto end = [](adders &w) {
		model::check(w.flag.load_relaxed() != 9, "nine");
	};
	const auto both = same(thrice, client<adders>(body, end));

	CHECK(both.first.found == expected);
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
	const auto body = [](adders &w, unsigned cpu) {
		const u8 sum = w.sum.fetch_add_relaxed(1);
		if (cpu == 2 && sum == 0)
			w.data.set(0);
		if (cpu == 1 && sum == 8)
			(void)w.data.get();
	};
	const auto both = same(thrice, client<adders>(body));

	CHECK(both.first.found == bug::data_race);
}

/*
 * Two write the flag alike, one of them behind the data; whose write it is no
 * step shows. CPU 1 looks in late executions alone, in the first of them at the
 * right one: the race is in one whose every step is known, and no run is due.
 */
static result raced_late(void (*first)(adders &), void (*second)(adders &),
			 const options &how = once)
{
	static void (*does[2])(adders &);

	does[0] = first;
	does[1] = second;
	return model::explore<late_racers>(
		how, [](late_racers &w, unsigned cpu) {
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

	verdict::found(bug::data_race, raced_late(writes, reads));
	verdict::found(bug::data_race, raced_late(reads, writes));
	verdict::found(bug::data_race, raced_late(writes, writes));
	same(once, [&](const options &how) {
		return raced_late(writes, reads, how);
	});

	/*
	 * More than 64 executions, so that some are walked, but too few for one
	 * that is run again as a check.
	 */
	const result none = raced_late(reads, reads);
	good(none);
	CHECK(none.complete > 64 + 8);
	CHECK(none.complete + none.blocked < 256);
}

/* The last value of the flag is the fault, as late as the race. */
TEST_CASE("learnt: an end that is walked to and fails is counted once")
{
	const auto body = [](late_racers &w, unsigned cpu) {
		if (cpu == 0) {
			w.early.store_relaxed(1);
			w.flag.store_relaxed(1);
		} else if (cpu == 1 && w.early.load_relaxed() == 0) {
			w.data.set(1);
		} else {
			for (unsigned i = 0; i < 4; i++)
				(void)w.sum.fetch_add_relaxed(1);
			if (cpu == 2)
				w.flag.store_relaxed(2);
		}
	};
	const auto end = [](late_racers &w) {
		model::check(w.data.get() == 0 || w.flag.load_relaxed() == 2,
			     "late");
	};

	same(once, client<late_racers>(body, end));
}

TEST_CASE("learnt: what ends by an assumption, or may by an interrupt")
{
	same(thrice, client<adders>([](adders &w, unsigned cpu) {
		     const u8 sum = w.sum.fetch_add_relaxed(1);
		     model::assume(cpu != 1 || sum != 4);
	     }));

	const auto waits = [](adders &w, unsigned cpu) {
		(void)w.sum.fetch_add_relaxed(1);
		if (cpu == 1)
			w.flag.await_eq_relaxed(1);
	};
	const auto handler = [](adders &w, unsigned cpu) {
		if (cpu == 1)
			w.flag.store_relaxed(1);
	};
	same({.sections = {1, 1, 1}, .interrupts = 1},
	     client<adders>(
		     waits, [](adders &) {}, handler));
}

TEST_CASE("learnt: a world that counts on the host is run in every execution")
{
	const auto r = model::explore<adders>(thrice, [](adders &w, unsigned) {
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
	const auto r =
		model::explore<adders>(thrice, [&turns](adders &w, unsigned) {
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
	const auto r = model::explore<adders>(thrice, [](adders &w, unsigned) {
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
		return model::explore<adders>(thrice, [](adders &w, unsigned) {
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
			thrice,
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

} // namespace of_learnt

namespace of_symmetry {

/*
 * Executions that differ only by a renaming of CPUs: one is explored, all are
 * counted.
 */

using klock::u64;

namespace {

struct world {
	atomic<u8> first, second;
	plain<u8> data;
};

options alike(std::vector<unsigned> sections)
{
	return {.sections = sections, .patient = everybody, .symmetric = true};
}

/* A lock whose words say which CPU it is of: that is told, and no result. */
bool told(const result &r)
{
	return r.ok() && !r.exhaustive && r.limit.starts_with("not symmetric");
}

/*
 * Checks that exploring one execution of each class counts as many as exploring
 * all; returns that result.
 */
template <typename Explore>
result as_many(options how, Explore explore)
{
	how.symmetric = false;
	const result all = explore(how);
	how.symmetric = true;
	const result one = explore(how);

	INFO(one.timeline << one.limit);
	CHECK(one.ok() == all.ok());
	CHECK(one.exhaustive);
	CHECK(one.complete == all.complete);
	CHECK(all.explored == all.complete);
	return one;
}

} // namespace

TEST_CASE("symmetry: every lock has as many executions as are pinned")
{
	unsigned reduced = 0;
	std::set<std::string> by_number;
	const auto counted = [&](const char *name, const result &r,
				 u64 expected, u64 alike_in) {
		if (told(r)) {
			by_number.insert(name);
			return;
		}
		good(r);
		CHECK(r.complete == expected);
		reduced += r.explored * alike_in == r.complete;
	};

	for (const kind &k : tested_by<3>()) {
		INFO(k.name << ", 3 CPUs");
		const pinned *const p = pinned_of(k.name);
		if (!p || p->three > 20'000)
			continue;
		counted(p->name, exclusion(k, alike({2, 2, 2})), p->three, 6);
	}
	for (const kind &k : tested_by<4>()) {
		INFO(k.name << ", 4 CPUs");
		const pinned *const p = pinned_of(k.name);
		if (!p || p->four > 4'000)
			continue;
		counted(p->name, exclusion(k, alike({1, 1, 1, 1})), p->four,
			24);
	}
	CHECK(reduced >= 10);
	CHECK(by_number ==
	      std::set<std::string>{"graunke_thakkar_lock", "tournament_lock"});
}

TEST_CASE("symmetry: CPUs of as many sections are alike, no others")
{
	const auto add = client<world>([](world &w, unsigned) {
		(void)w.first.fetch_add_relaxed(1);
		if (w.second.load_relaxed() == 0)
			w.second.store_relaxed(1);
	});

	CHECK(as_many({.sections = {1, 1, 2}}, add).explored <
	      add({.sections = {1, 1, 2}}).complete);
	const result none = as_many({.sections = {1, 2, 3}}, add);
	CHECK(none.explored == none.complete);
	const result two = as_many({.sections = {1, 2, 1, 2}}, add);
	CHECK(two.complete == two.explored * 4);
}

TEST_CASE("symmetry: CPUs that do not come to the gate have no order")
{
	const auto some = client<world>([](world &w, unsigned) {
		if (model::choose(2))
			(void)w.second.load_relaxed();
		else if (w.first.fetch_add_relaxed(1) == 1)
			w.second.store_relaxed(1);
	});
	const result r = as_many({.sections = {1, 1, 1}}, some);

	CHECK(r.explored < r.complete);
	CHECK(r.explored * 6 > r.complete);
}

/* Held back is then who does not wait, in executions that are walked, too. */
TEST_CASE("symmetry: CPUs that wait before the gate for those behind it")
{
	const auto wait = client<world>([](world &w, unsigned) {
		if (model::choose(2))
			w.second.await_eq_acquire(1);
		(void)w.first.fetch_add_relaxed(1);
		(void)w.first.fetch_add_relaxed(1);
		w.second.store_relaxed(1);
	});
	const result r =
		as_many({.sections = {1, 1, 1}, .may_deadlock = true}, wait);

	CHECK(r.explored < r.complete);
	CHECK(r.explored > 64);
	CHECK(r.blocked == 1);
}

TEST_CASE("symmetry: where the order is none, all is explored")
{
	const auto all = [](const char *what, std::vector<unsigned> sections,
			    auto body) {
		INFO(what);
		const result r =
			as_many({.sections = sections}, client<world>(body));

		CHECK(r.explored == r.complete);
	};

	all("an exchange", {2, 2}, [](world &w, unsigned) {
		if (w.first.exchange_acquire(1) == 0)
			w.first.store_release(0);
	});
	all("a swap", {1, 1, 1}, [](world &w, unsigned) {
		u8 seen = 0;
		(void)w.first.compare_exchange_acq_rel(seen, 1);
		(void)w.second.fetch_add_relaxed(1);
	});
	all("one of two gates", {1, 1, 1}, [](world &w, unsigned) {
		if (w.first.load_relaxed())
			(void)w.second.fetch_add_relaxed(1);
		else
			(void)w.first.fetch_add_relaxed(1);
	});
	all("a store before", {1, 1, 1}, [](world &w, unsigned) {
		w.first.store_relaxed(1);
		(void)w.first.fetch_add_relaxed(1);
	});
	all("a store behind", {1, 1, 1}, [](world &w, unsigned) {
		if (w.first.fetch_add_relaxed(1) == 2)
			w.first.store_relaxed(0);
	});
}

TEST_CASE("symmetry: code that tells its CPUs apart is told")
{
	const auto loads = client<world>([](world &w, unsigned cpu) {
		if (cpu == 1)
			(void)w.second.load_relaxed();
		(void)w.first.fetch_add_relaxed(1);
	});
	const auto orders = client<world>([](world &w, unsigned cpu) {
		if (cpu == 1)
			w.second.store_release(1);
		else
			w.second.store_relaxed(1);
		(void)w.first.fetch_add_relaxed(1);
	});

	CHECK(told(loads(alike({1, 1, 1}))));
	CHECK(told(orders(alike({1, 1, 1}))));
}

/* The fault is CPU 0's alone, in executions that its like do not stand for. */
TEST_CASE("symmetry: plain data that tell the CPUs apart are told, too")
{
	struct marked : world {
		plain<u8> mine[3];
	};
	const auto last_is = client<marked>([](marked &w, unsigned cpu) {
		w.mine[cpu].set(cpu == 0 ? 1 : 2);
		if (w.first.fetch_add_relaxed(1) == 2)
			model::check(w.mine[cpu].get() == 2);
	});

	verdict::found(bug::failed_check, last_is({.sections = {1, 1, 1}}));
	CHECK(told(last_is(alike({1, 1, 1}))));
}

TEST_CASE("symmetry: a fault of two CPUs among three is found")
{
	const auto race = client<world>([](world &w, unsigned) {
		const u8 at = w.first.fetch_add_relaxed(1);
		if (at == 0)
			w.data.set(1);
		if (at == 2)
			(void)w.data.get();
	});

	verdict::found(bug::data_race, race(alike({1, 1, 1})));
	verdict::found(bug::data_race, race({.sections = {1, 1, 1}}));
}

TEST_CASE("symmetry: a deadlock is found, and a wait for one to come is none")
{
	const auto wait_for = [](u8 many, const options &how) {
		static u8 until;
		until = many;
		return model::explore<world>(how, [](world &w, unsigned) {
			if (w.first.fetch_add_relaxed(1) == 0)
				w.first.await_eq_acquire(until);
		});
	};

	CHECK(wait_for(4, alike({1, 1, 1})).found == bug::deadlock);
	const result r = wait_for(3, alike({1, 1, 1}));
	good(r);
	CHECK(r.complete == wait_for(3, {.sections = {1, 1, 1}}).complete);
	CHECK(r.explored * 6 == r.complete);
}

TEST_CASE("symmetry: panics that are allowed stand for others, too")
{
	const auto panics = [](options how) {
		how.may_panic = true;
		return model::explore<world>(how, [](world &w, unsigned) {
			if (w.first.fetch_add_relaxed(1) == 2)
				klock::panic("no_lock", &w, 0, "the third");
		});
	};
	const result all = panics({.sections = {1, 1, 1}});
	const result one = panics(alike({1, 1, 1}));

	CHECK(all.panicked == 6);
	CHECK(one.panicked == 6);
	CHECK(one.exhaustive);
}

TEST_CASE("symmetry: shared by workers, and with RC11's release sequences")
{
	using klock::selftest::service;
	using mcs = klock::selftest::subject<"mcs_lock", klock::mcs_lock,
					     service::fifo>;
	options how = alike({2, 2, 2});

	how.workers = 2;
	how.sequence = model::release_sequence::rc11;
	const result r = exclusion(kind_of<mcs>, how);
	good(r);
	CHECK(r.complete == 17'670);
	CHECK(r.explored == 17'670 / 6);
}

} // namespace of_symmetry

namespace model {
std::string progress_text(u64 executions, double seconds, double share);
}

namespace of_workers {

/*
 * Work that processes share comes to what one of them comes to alone.
 */

namespace {

/* Three CPUs add four times each: 12! / 4!^3 executions. */
struct adders {
	atomic<u8> sum;
	plain<u8> data;
};

constexpr auto adds = [](adders &w, unsigned) {
	(void)w.sum.fetch_add_relaxed(1);
};
constexpr u64 ways = 34'650;

const options four_times{.sections = {4, 4, 4}};

/*
 * Checks that two, three, and all cores' processes find what one finds, and
 * returns what two found.
 */
template <typename Explore>
result same_by_any(options how, Explore explore)
{
	how.workers = 1;
	const result alone = explore(how);
	std::vector<result> shared;

	for (unsigned workers : {2u, 3u, 0u}) {
		INFO(workers << " workers");
		how.workers = workers;
		shared.push_back(explore(how));
		verdict::alike(shared.back(), alone);
	}
	return shared.front();
}

} // namespace

TEST_CASE("workers: as many executions, whoever explores them")
{
	CHECK(same_by_any(four_times, client<adders>(adds)).complete == ways);
}

TEST_CASE("workers: as many of a lock's executions, complete and blocked")
{
	using klock::selftest::service;
	using mcs = klock::selftest::subject<"mcs_lock", klock::mcs_lock,
					     service::fifo>;

	const result r =
		same_by_any({.sections = {2, 2, 2}}, [](const options &how) {
			return exclusion(kind_of<mcs>, how);
		});

	CHECK(r.complete == 17'670);
}

TEST_CASE("workers: code that is run in every execution")
{
	unsigned turns = 0;

	same_by_any(four_times, client<adders>([&turns](adders &w, unsigned) {
			    (void)w.sum.fetch_add_relaxed(1);
			    turns++;
		    }));
}

TEST_CASE("workers: a late fault is found as by one, and shown as well")
{
	const auto fault = client<adders>([](adders &w, unsigned cpu) {
		const u8 sum = w.sum.fetch_add_relaxed(1);
		if (cpu == 1 && sum == 0)
			w.data.set(0);
		if (cpu == 0 && sum == 9)
			(void)w.data.get();
	});
	const result r = same_by_any(four_times, fault);

	CHECK(r.found == bug::data_race);
	CHECK(r.ran > 0);
	CHECK(r.complete > 2'000);
}

TEST_CASE("workers: panics that are allowed are counted")
{
	const auto panics = client<adders>([](adders &w, unsigned cpu) {
		if (w.sum.fetch_add_relaxed(1) == 8 && cpu == 1)
			klock::panic("no_lock", &w, cpu, "the ninth");
	});
	const result r =
		same_by_any({.sections = {4, 4, 4}, .may_panic = true}, panics);

	CHECK(r.panicked > 2'000);
}

TEST_CASE("workers: what is left out of any worker's share is told")
{
	const result r = same_by_any({.sections = {4, 4, 4}, .preemptions = 4},
				     client<adders>(adds));

	CHECK(r.complete > 2'000);
	CHECK(r.left_out > 0);
}

TEST_CASE("workers: a limit of executions ends all of them, and says so")
{
	const result r = model::explore<adders>(
		{.sections = {4, 4, 4}, .max_executions = 10'000, .workers = 2},
		adds);

	CHECK(r.ok());
	CHECK_FALSE(r.exhaustive);
	CHECK(r.limit == "max_executions");
	CHECK(r.complete >= 10'000);
	CHECK(r.complete < ways);
}

TEST_CASE("workers: progress says how many, how fast, and what is left")
{
	CHECK(model::progress_text(1'234'567, 4, 0.0001) ==
	      "1,234,567 executions, 308,641 per second, under 0.1 %");
	CHECK(model::progress_text(900, 3, 0.05) ==
	      "900 executions, 300 per second, about 5.0 %, 57 s left");
	CHECK(model::progress_text(1'000, 2, 0.5) ==
	      "1,000 executions, 500 per second, about 50 %, 2 s left");
}

} // namespace of_workers
