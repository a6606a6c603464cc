/* SPDX-License-Identifier: MIT */
/*
 * What executions have that are not one memory's: weak failures, sleepers,
 * choices, assumptions; and the heap.
 */
#include <atomic>
#include <memory>

#include <model/model.hpp>
#include <model/var.hpp>

#include <catch.hpp>

using enum std::memory_order;
using model::check;

TEST_CASE("std_atomic: weak may fail, so often as options.spurious says")
{
	struct world {
		std::atomic<int> x{0};
		int failures = 0;
	};
	const auto run = [](unsigned spurious, unsigned tries) {
		return model::explore<world>(
			{.sections = {1},
			 .spurious = spurious,
			 .every_turn = true},
			[tries](world &w, unsigned) {
				for (unsigned i = 0; i < tries; i++) {
					int v = 0;
					if (w.x.compare_exchange_weak(v, 1))
						return;
					check(v == 0, "what is there");
				}
				check(false, "never swapped");
			});
	};

	CHECK(run(0, 1).ok());
	CHECK(run(0, 1).complete == 1);
	CHECK(run(1, 1).found == model::bug::failed_check);
	CHECK(run(1, 2).ok());
	CHECK(run(1, 2).complete == 2);
	CHECK(run(2, 2).found == model::bug::failed_check);
	CHECK(run(3, 4).complete == 4);
}

TEST_CASE("std_atomic: who sleeps has to be told")
{
	struct world {
		std::atomic<int> x{0};
		int data = 0;
	};
	const auto run = [](bool tells, bool last) {
		return model::explore<world>(
			{.sections = {1, 1}}, [=](world &w, unsigned cpu) {
				if (cpu == 0) {
					w.x.wait(0, acquire);
					return;
				}
				if (tells && !last)
					w.x.notify_all();
				w.x.store(1, release);
				if (tells && last)
					w.x.notify_all();
			});
	};

	CHECK(run(false, false).found == model::bug::deadlock);
	CHECK(run(true, false).found == model::bug::deadlock);
	const auto told = run(true, true);
	INFO(told.timeline);
	CHECK(told.ok());
	CHECK(told.exhaustive);
	CHECK(told.complete >= 2);
}

TEST_CASE("std_atomic: sleeping orders no more than the wait's own order")
{
	struct world {
		std::atomic<int> x{0};
		model::var<int> data = 0;
	};
	const auto run = [](std::memory_order o) {
		return model::explore<world>({.sections = {1, 1}},
					     [=](world &w, unsigned cpu) {
						     if (cpu == 0) {
							     w.x.wait(0, o);
							     w.data = 2;
							     return;
						     }
						     w.data = 1;
						     w.x.store(1, release);
						     w.x.notify_one();
					     });
	};

	CHECK(run(relaxed).found == model::bug::data_race);
	CHECK(run(acquire).ok());
}

TEST_CASE("choose: each of its values, in executions of their own")
{
	struct world {
		std::atomic<unsigned> x{0};
	};
	unsigned seen = 0;
	const auto r = model::explore<world>(
		{.sections = {1, 1}},
		[](world &w, unsigned cpu) {
			if (cpu == 0)
				w.x = model::choose(5);
			else if (model::maybe())
				(void)w.x.load();
		},
		[&seen](world &w) { seen |= 1U << w.x.load(); });

	CHECK(r.exhaustive);
	CHECK(r.complete == 5 * (2 + 1));
	CHECK(seen == 31);
	CHECK(model::choose(3) == 0);
}

TEST_CASE("assume: other executions are none, and no deadlock")
{
	struct world {
		std::atomic<unsigned> x{0};
	};
	const auto r = model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			if (cpu == 0) {
				model::assume(w.x == 2);
				check(w.x == 2, "holds");
			} else {
				w.x = 1;
				w.x = 2;
			}
		});

	INFO(r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == 1);
	CHECK(r.blocked > 0);
}

/* A name of its own: what it allocates in, its address is the same again. */
TEST_CASE("heap: bodies have their own, which ends with the execution")
{
	struct box {
		std::atomic<int> v{0};
	};
	struct world {
		std::atomic<box *> shared{new box};
		std::unique_ptr<box> mine = std::make_unique<box>();
		box *last = nullptr;
	};
	const auto run = [](auto body) {
		return model::explore<world>({.sections = {1, 1}}, body);
	};
	const auto swaps = run([](world &w, unsigned cpu) {
		box *const b = new box;
		b->v = static_cast<int>(cpu) + 1;
		box *const was = w.shared.exchange(b);
		check(was->v < 3, "one of the three");
		delete was;
	});
	INFO(swaps.timeline);
	CHECK(swaps.ok());
	CHECK(swaps.exhaustive);
	CHECK(swaps.complete == 2);

	const auto used = run([](world &w, unsigned cpu) {
		box *const b = w.shared.load();
		if (cpu == 0)
			delete b;
		else
			(void)b->v.load();
	});
	INFO(used.timeline);
	CHECK(used.found == model::bug::dead_object);
	CHECK(used.timeline.find("made.0") != std::string::npos);

	const auto twice = run([](world &w, unsigned cpu) {
		if (cpu == 0) {
			/* Of no destructor's making. */
			w.last = static_cast<box *>(::operator new(8));
			::operator delete(w.last);
			::operator delete(w.last);
		}
	});
	INFO(twice.timeline);
	CHECK(twice.message == "failed: memory is freed twice");

	/* No expression of new, which a compiler may leave out. */
	const auto large = run([](world &, unsigned) {
		::operator delete(::operator new(2000000));
	});
	CHECK(large.message == "failed: a CPU's operator new has 1 MiB in one "
			       "execution");
}

TEST_CASE("explore: names for code that is no lock, a function for each CPU")
{
	struct mail {
		std::atomic<bool> full{false};
		model::var<int> letter = 0;
		int read = 0;
	};
	const auto run = [](std::memory_order puts, model::options how) {
		return model::explore_threads<mail>(
			how, [](mail &m) { check(m.read == 7 || !m.read); },
			[=](mail &m) {
				m.letter = 7;
				m.full.store(true, puts);
			},
			[](mail &m) {
				if (m.full.load(acquire))
					m.read = m.letter;
			});
	};

	CHECK(run(release, {}).ok());
	CHECK(run(release, {}).complete == 2);
	CHECK(run(relaxed, {}).found == model::bug::data_race);
	/* One CPU alone. */
	CHECK(run(release, {.runs = {1}}).complete == 1);
	CHECK(model::explore<mail>({.runs = {1, 1}}, [](mail &m, unsigned) {
		      m.letter = 1;
	      }).found == model::bug::data_race);
}

TEST_CASE("bounds: what is near is found, and it is said what is left out")
{
	struct lock {
		std::atomic<bool> taken{false};
		model::var<int> data = 0;
	};
	struct buffering {
		std::atomic<int> x{0}, y{0};
		int r0 = 0, r1 = 0;
	};
	const auto two_steps = [](unsigned preemptions, unsigned reorder) {
		return model::explore<lock>({.runs = {1, 1},
					     .preemptions = preemptions,
					     .max_reorder = reorder},
					    [](lock &l, unsigned) {
						    if (l.taken.load())
							    return;
						    l.taken = true;
						    l.data = 1;
						    l.taken = false;
					    });
	};
	const auto sb = [](unsigned preemptions, unsigned reorder) {
		return model::explore_threads<buffering>(
			{.preemptions = preemptions, .max_reorder = reorder},
			[](buffering &b) { check(b.r0 || b.r1); },
			[](buffering &b) {
				b.x.store(1, relaxed);
				b.r0 = b.y.load(relaxed);
			},
			[](buffering &b) {
				b.y.store(1, relaxed);
				b.r1 = b.x.load(relaxed);
			});
	};

	for (const model::result &r :
	     {two_steps(0, 0), sb(0, 0), sb(model::unbounded, 0)}) {
		CHECK(r.ok());
		CHECK(r.left_out > 0);
		CHECK_FALSE(r.exhaustive);
		CHECK(r.timeline.find("NOT EXHAUSTIVE: preemptions") == 0);
	}
	CHECK(sb(0, 0).complete == 1);
	CHECK(two_steps(0, 1).found == model::bug::data_race);
	CHECK(sb(0, 1).found == model::bug::failed_check);
	CHECK(sb(1, 0).complete == 2);
}

TEST_CASE("bounds: nothing left out is exhaustive")
{
	struct count {
		std::atomic<int> x{0};
	};
	const auto r = model::explore<count>(
		{.runs = {1, 1, 1}, .preemptions = 3, .max_reorder = 3},
		[](count &c, unsigned) { c.x++; });

	CHECK(r.exhaustive);
	CHECK(r.left_out == 0);
	CHECK(r.complete == 6);
}
