/* SPDX-License-Identifier: MIT */
/*
 * Loops that never end are found; what changes something is no turn in vain.
 */
#include <klock/arch/relax.hpp>
#include <klock/atomic.hpp>
#include <klock/plain.hpp>
#include <model/model.hpp>

#include <catch.hpp>

using klock::atomic;
using klock::plain;
using klock::u8;
using model::bug;
using model::result;

namespace {

struct message {
	atomic<u8> ready;
	plain<int> data;
};

constexpr auto is_set = [](u8 v) { return v != 0; };
constexpr auto is_even = [](u8 v) { return v % 2 == 0; };

void passes(const result &r, klock::u64 complete)
{
	INFO(r.timeline << r.limit);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == complete);
}

} // namespace

/* -- What never ends --------------------------------------------------------
 */

TEST_CASE("loop_findings: a wake-up that is lost is found")
{
	const auto wakes = [](bool lost) {
		return model::explore<message>(
			{.sections = {1, 1}}, [lost](message &m, unsigned cpu) {
				if (cpu == 0)
					m.ready.store_release(lost ? 2 : 1);
				while (cpu == 1 && m.ready.load_acquire() != 1)
					klock::arch::cpu_relax();
			});
	};
	const result r = wakes(true);

	passes(wakes(false), 1);
	CHECK(r.found == bug::deadlock);
	CHECK(r.message == "deadlock: an await that never ends, in a loop");
	INFO(r.timeline);
	CHECK(r.timeline.find("loops for ") != std::string::npos);
	CHECK(r.timeline.find("test_loop_findings.cpp") != std::string::npos);
}

TEST_CASE("loop_findings: two that wait for one another, by loop and by await")
{
	struct two {
		atomic<u8> a, b;
	};
	const auto meet = [](bool deadly) {
		return model::explore<two>(
			{.sections = {1, 1}}, [deadly](two &w, unsigned cpu) {
				if (cpu == 0 && !deadly)
					w.b.store_release(1);
				if (cpu == 0)
					while (!w.a.load_acquire())
						;
				else
					w.b.await_acquire(is_set);
				if (cpu == 0)
					w.b.store_release(1);
				else
					w.a.store_release(1);
			});
	};

	passes(meet(false), 1);
	CHECK(meet(true).found == bug::deadlock);
}

TEST_CASE("loop_findings: one that reads an old value is no deadlock")
{
	/* The last value is right, the one before it is not. */
	const auto ends = [](u8 last) {
		return model::explore<message>(
			{.sections = {1, 1}, .stale_waits = true},
			[last](message &m, unsigned cpu) {
				if (cpu == 0) {
					m.ready.store_release(1);
					m.ready.store_release(last);
				}
				while (cpu == 1 &&
				       !is_even(m.ready.load_acquire()))
					;
			});
	};

	passes(ends(2), 2); /* the start, or the last */
	CHECK(ends(3).found == bug::deadlock);
}

TEST_CASE("loop_findings: a loop around plain data ends, and is a race")
{
	const auto spins = [](bool written) {
		return model::explore<message>(
			{.sections = {1, 1}},
			[written](message &m, unsigned cpu) {
				if (cpu == 0 && written)
					m.data.set(1);
				while (cpu == 1 && !m.data.get())
					;
			});
	};

	CHECK(spins(true).found == bug::data_race);
	CHECK(spins(false).found == bug::deadlock);
}

/* One that writes them is in another state each turn, or has changed it. */
TEST_CASE("loop_findings: a loop that writes plain data ends, and is named")
{
	for (const unsigned by : {0u, 1u}) {
		const auto r = model::explore<message>(
			{.sections = {1}}, [by](message &m, unsigned) {
				for (;;)
					m.data.set(m.data.get() + by);
			});

		INFO(r.limit);
		CHECK(r.ok());
		CHECK_FALSE(r.exhaustive);
		CHECK(r.limit.find("plain data in a row") != r.limit.npos);
		CHECK(r.limit.find("test_loop_findings.cpp:") != r.limit.npos);
	}
}

/* -- What is no turn in vain -------------------------------------------------
 */

TEST_CASE("loop_findings: a turn that changes something is no turn in vain")
{
	struct counting {
		atomic<u8> ready;
		plain<unsigned> turns;
		unsigned looks = 0;
	};
	enum class how { stack, world, data };
	const auto spins = [](how what, unsigned limit) {
		return model::explore<counting>(
			{.sections = {1, 1},
			 .max_events = 40,
			 .cut_loops = true},
			[=](counting &w, unsigned cpu) {
				unsigned i = 0;

				if (cpu == 0) {
					w.ready.store_release(1);
					return;
				}
				while (!w.ready.load_acquire()) {
					i++;
					if (what == how::world)
						i = ++w.looks;
					if (what == how::data)
						w.turns.set(w.turns.get() + 1);
					if (what == how::data)
						i = w.turns.get();
					if (i == limit)
						return;
				}
			});
	};

	for (how what : {how::stack, how::world, how::data}) {
		const result counted = spins(what, 3), endless = spins(what, 0);

		/* Three in vain; or it ended before. */
		passes(counted, what == how::data ? 4 : 2);
		CHECK_FALSE(endless.exhaustive);
		CHECK(endless.limit.find("max_events: ") == 0);
		INFO(endless.limit);
		CHECK(endless.limit.find("test_loop_findings.cpp:") !=
		      std::string::npos);
	}
}

/* What a CPU has counted in the world, unseen by the checker, is looked at. */
TEST_CASE("loop_findings: a turn in vain that was counted is checked, if not "
	  "counted")
{
	struct counting {
		atomic<u8> ready;
		unsigned looks = 0;
	};
	const auto looks_once = [](unsigned at_most) {
		return model::explore<counting>(
			{.sections = {1, 1}, .cut_loops = true},
			[](counting &w, unsigned cpu) {
				if (cpu == 0) {
					w.ready.store_release(1);
					return;
				}
				while (!w.ready.load_acquire())
					if (++w.looks == 2)
						return;
			},
			[at_most](counting &w) {
				model::check(w.looks <= at_most);
			});
	};

	passes(looks_once(2), 2);
	CHECK(looks_once(2).in_vain == 1);
	CHECK(looks_once(1).found == bug::failed_check);
	CHECK(looks_once(0).found == bug::failed_check);
}

TEST_CASE(
	"loop_findings: an exchange that changes the value is no turn in vain")
{
	const auto r = model::explore<message>(
		{.sections = {1}, .max_events = 40}, [](message &m, unsigned) {
			u8 mine = 1;
			while ((mine = m.ready.exchange_relaxed(
					static_cast<u8>(mine ^ 3))) != 9)
				;
		});

	CHECK_FALSE(r.exhaustive);
	CHECK(r.limit.find("a loop that writes") != std::string::npos);
}

/* -- Interrupts --------------------------------------------------------------
 */

TEST_CASE("loop_findings: an interrupt ends the loop that it comes into")
{
	const auto spins = [](bool handler_tells) {
		return model::explore<message>(
			{.sections = {1}, .interrupts = 1},
			[](message &m, unsigned) {
				while (!m.ready.load_relaxed())
					klock::arch::cpu_relax();
			},
			[](message &) {},
			[handler_tells](message &m, unsigned) {
				if (handler_tells)
					m.ready.store_relaxed(1);
			});
	};

	passes(spins(true), 1);
	CHECK(spins(false).found == bug::deadlock);
}

TEST_CASE("loop_findings: a handler that waits for its own CPU waits for ever")
{
	const auto r = model::explore<message>(
		{.sections = {1}, .interrupts = 1},
		[](message &m, unsigned) {
			m.ready.store_relaxed(1);
			m.ready.store_relaxed(0);
		},
		[](message &) {},
		[](message &m, unsigned) {
			while (m.ready.load_relaxed())
				;
		});

	CHECK(r.found == bug::deadlock);
}

/* -- Awaits in loops ---------------------------------------------------------
 */

TEST_CASE("loop_findings: a loop around an await ends when it reads the same "
	  "twice")
{
	struct two {
		atomic<u8> a, b;
	};
	const auto both = [](u8 b) {
		return model::explore<two>(
			{.sections = {1, 1}}, [b](two &w, unsigned cpu) {
				if (cpu == 0) {
					w.a.store_release(1);
					w.b.store_release(b);
					return;
				}
				do
					w.a.await_acquire(is_set);
				while (!w.b.load_acquire());
			});
	};

	passes(both(1), 2);
	CHECK(both(0).found == bug::deadlock);
}
