/* SPDX-License-Identifier: MIT */
/*
 * irq_depth: two locks that are released in the order they were taken, and a
 * handler that takes the second, wherever the interrupt flag lets it in.
 *
 * It is code, as push_off() and pop_off() come between the locks' calls, where
 * no role has anything.
 */
#include <model/model.hpp>

#include <klock/guard.hpp>
#include <klock/irq_depth.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

namespace of_irq_depth {

namespace {

struct world {
	klock::ticket_lock<klock::u8> first, second;
	klock::irq_depth depths[2];
	klock::plain<klock::usize> before[2];
	klock::plain<klock::u32> depth[2];
	klock::plain<unsigned> count;
	unsigned handled = 0; /* on the host */
	bool one_for_all = false;

	world() { now = this; }
	static inline world *now;
};

/*
 * Pairs of push_off() and pop_off(): the right one, then faulty ones. push()
 * returns the state that it found, and pop() is given it.
 */
struct right {
	static bool push(world &)
	{
		klock::push_off();
		return true;
	}
	static void pop(world &, bool) { klock::pop_off(); }
};
/* As irq_guard does. */
struct each_restores {
	static bool push(world &) { return klock::arch::irq_save(); }
	static void pop(world &, bool found)
	{
		klock::arch::irq_restore(found);
	}
};
/* The CPU is asked for before interrupts are off: another one's, at times. */
struct another_cpus : right {
	static bool push(world &w)
	{
		w.one_for_all = true;
		return right::push(w);
	}
};
/* Notes what interrupts were each time, before they are off, or never. */
template <bool Always, bool Early>
struct noted {
	static bool push(world &w)
	{
		const unsigned cpu = model::cpu();
		const bool on = model::interrupts_on();

		if (Early && w.depth[cpu].get() == 0)
			w.before[cpu].set(on);
		(void)klock::arch::irq_save();
		if (Always)
			w.before[cpu].set(on);
		w.depth[cpu].set(w.depth[cpu].get() + 1);
		return true;
	}
	static void pop(world &w, bool)
	{
		const unsigned cpu = model::cpu();
		const klock::u32 open = w.depth[cpu].get() - 1;

		w.depth[cpu].set(open);
		if (open == 0)
			klock::arch::irq_restore(w.before[cpu].get());
	}
};

template <typename Rules>
model::result released_in_order()
{
	return model::explore<world>(
		{.sections = {1, 1}, .interrupts = 1},
		[](world &w, unsigned) {
			const bool a = Rules::push(w);
			w.first.lock();
			const bool b = Rules::push(w);
			w.second.lock();
			w.first.unlock();
			Rules::pop(w, a);
			w.count.set(w.count.get() + 1);
			w.second.unlock();
			Rules::pop(w, b);
			model::check(model::interrupts_on(),
				     "interrupts are as they were");
		},
		[](world &w) {
			model::check(w.count.get() == 2 + w.handled,
				     "every section counted");
		},
		[](world &w, unsigned) {
			const bool found = Rules::push(w);
			w.second.lock();
			w.count.set(w.count.get() + 1);
			w.second.unlock();
			Rules::pop(w, found);
			w.handled++;
		});
}

} // namespace

extern "C" klock::irq_depth *klock_os_irq_depth()
{
	world &w = *world::now;

	return &w.depths[w.one_for_all ? 0 : model::cpu()];
}

TEST_CASE("irq_depth: out of order, with a handler at every instruction")
{
	const auto r = released_in_order<right>();

	INFO(r.message << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete > 100);
}

TEST_CASE("irq_depth: each way to note and restore too early is found")
{
	using model::bug;

	CHECK(released_in_order<each_restores>().found == bug::deadlock);
	CHECK(released_in_order<noted<false, false>>().found ==
	      bug::failed_check);
	CHECK(released_in_order<noted<true, false>>().found ==
	      bug::failed_check);
	CHECK(released_in_order<noted<false, true>>().found ==
	      bug::failed_check);
	CHECK(released_in_order<another_cpus>().found == bug::data_race);
}

} // namespace of_irq_depth
