/* SPDX-License-Identifier: MIT */
/*
 * preempt: a kernel that switches threads in klock_os_preempt_on() and wherever
 * a timer's interrupt finds preemption on. The other thread takes the lock,
 * too, on the CPU of the one that it preempts. Compiled with lib/preempted in
 * front.
 *
 * It is code, as the kernel's calls run a section of the other thread inside of
 * a section, where no role has anything.
 */
#include <model/model.hpp>

#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/mutex.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

namespace {

using spinlock = klock::ticket_lock<klock::u8>;

struct world {
	spinlock lock;
	klock::plain<unsigned> count;
	klock::plain<unsigned> off[2];
	bool switched[2] = {};	/* each CPU once, in klock_os_preempt_on() */
	unsigned preempted = 0; /* on the host */
	void (*other)(world &) = nullptr;

	world() { now = this; }
	static inline world *now;

	/* The other thread of this CPU, whole. */
	void run_other()
	{
		preempted++;
		other(*this);
	}
};

/* The number of calls outside of an exploration. */
unsigned calls_off, calls_on;

/* The order of the four, right or wrong. */
struct by_guard {
	static void section(world &w)
	{
		klock::guard held(w.lock);
		w.count.set(w.count.get() + 1);
	}
};
template <bool Off, bool Early, bool OnEarly>
struct by_hand {
	static void section(world &w)
	{
		if (Off && Early)
			klock_os_preempt_off();
		w.lock.lock();
		if (Off && !Early)
			klock_os_preempt_off();
		w.count.set(w.count.get() + 1);
		if (Off && OnEarly)
			klock_os_preempt_on();
		w.lock.unlock();
		if (Off && !OnEarly)
			klock_os_preempt_on();
	}
};

template <typename Way>
model::result two_threads_a_cpu(bool timer)
{
	return model::explore<world>(
		{.sections = {1, 1}, .interrupts = timer ? 1u : 0u},
		[timer](world &w, unsigned cpu) {
			w.other = Way::section;
			w.switched[cpu] = timer; /* one of the two at a time */
			Way::section(w);
		},
		[](world &w) {
			model::check(w.count.get() == 2 + w.preempted,
				     "every section counted");
			model::check(w.off[0].get() + w.off[1].get() == 0,
				     "preemption is on again");
		},
		[](world &w, unsigned cpu) {
			w.other = Way::section;
			if (w.off[cpu].get() == 0)
				w.run_other();
		});
}

} // namespace

extern "C" void klock_os_preempt_off()
{
	calls_off++;
	if (world *w = world::now) {
		auto &off = w->off[model::cpu()];

		off.set(off.get() + 1);
	}
}

extern "C" void klock_os_preempt_on()
{
	calls_on++;
	world *w = world::now;
	if (w == nullptr)
		return;
	const unsigned cpu = model::cpu();
	w->off[cpu].set(w->off[cpu].get() - 1);
	if (w->off[cpu].get() != 0 || w->switched[cpu])
		return;
	w->switched[cpu] = true;
	w->run_other();
}

/* The mutex below is free: nobody parks. */
extern "C" klock::usize klock_os_thread() { return 1; }
extern "C" void klock_os_park() { FAIL(); }
extern "C" bool klock_os_park_until(klock::u64) { return false; }
extern "C" void klock_os_unpark(klock::usize) { FAIL(); }

TEST_CASE("preempt: a guard is off before the ticket, on after the release")
{
	for (const bool timer : {false, true}) {
		const auto r = two_threads_a_cpu<by_guard>(timer);

		INFO(r.message << r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		CHECK(r.complete > 1);
	}
	world::now = nullptr;
}

TEST_CASE("preempt: never off, off after the ticket, on before the release")
{
	using model::bug;

	CHECK(two_threads_a_cpu<by_hand<true, true, false>>(true).ok());
	CHECK(two_threads_a_cpu<by_hand<false, false, false>>(true).found ==
	      bug::deadlock);
	CHECK(two_threads_a_cpu<by_hand<true, false, false>>(true).found ==
	      bug::deadlock);
	CHECK(two_threads_a_cpu<by_hand<true, true, true>>(false).found ==
	      bug::deadlock);
	world::now = nullptr;
}

namespace {

/* How often a block turns it off, and on again. */
template <typename Block>
bool off_and_on(unsigned times, Block block)
{
	calls_off = calls_on = 0;
	block();
	return calls_off == times && calls_on == times;
}

} // namespace

TEST_CASE("preempt: which guards turn it off, and once each")
{
	spinlock a, b;
	klock::phase_fair_lock<klock::u8> readers;
	klock::mutex sleeps;

	CHECK(off_and_on(1, [&] { klock::guard held(a); }));
	CHECK(off_and_on(1, [&] {
		klock::guard held(a);
		held.unlock();
		CHECK(calls_on == 1);
	}));
	CHECK(off_and_on(2, [&] {
		klock::guard held(a);
		klock::try_guard failed(a);
		CHECK(calls_on == 1);
		CHECK_FALSE(failed);
	}));
	CHECK(off_and_on(1, [&] { klock::pair_guard held(a, b); }));
	CHECK(off_and_on(1, [&] { klock::shared_guard held(readers); }));
	CHECK(off_and_on(2, [&] {
		klock::guard held(a);
		spinlock *const let_go = held.let_go();
		CHECK(calls_on == 1);
		held.take_back(let_go);
	}));
	CHECK(off_and_on(0, [&] { klock::guard held(sleeps); }));
	CHECK(off_and_on(0, [&] { klock::irq_guard held(a); }));
}
