/* SPDX-License-Identifier: MIT */
/*
 * parking - tests a kernel's four functions about threads
 *
 * os.hpp has their contract: a thread has a permit or has none; an unpark that
 * comes first is not lost; a thread without a permit sleeps. The kernel
 * supplies three threads:
 *
 *	static constinit klock::selftest::parking_test test{};
 *	const char *wrong = test.run({start_thread, yield, 100000});
 *
 * The result is null, or says which function did what wrong. run_timed() tests
 * klock_os_park_until() in the same way, if there is one. Threads that a wrong
 * function never wakes stay asleep: end the run then.
 *
 * As klock does, it unparks with a spin lock held and interrupts off, and the
 * woken thread takes that lock next. Then, with lib/unparked, it calls
 * klock_os_unparked(): behind that lock with interrupts on, or inside another
 * section of the caller's.
 *
 * Not found: a missing memory order that this machine's CPUs do not show. Model
 * checking the functions finds those (model/README.md). On one CPU, an unpark
 * that spins until another thread has run hangs without a name.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/unparked.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>
#include <klock/selftest/parts.hpp>

namespace klock::selftest {

struct parking_world {
	/* Starts a thread of the kernel that calls body(of), and then ends. */
	void (*start)(void (*body)(void *of), void *of);
	/* Lets others run: a yield, or cpu_relax() if each has a CPU. It waits
	 * for no timer's tick: a park that returns at each looks busy then. */
	void (*pause)();
	/* pauses without progress after which it hangs: some seconds */
	u32 patience;
	u32 rounds = 2000; /* how often threads wake each other */
};

struct parking_test {
	/* Called by one thread of the kernel. Returns null, or what is wrong.
	 */
	const char *run(const parking_world &w) { return all_of(w, false); }

	const char *run_timed(const parking_world &w)
	{
		const char *const wrong = all_of(w, true);

		if (wrong)
			return wrong;
		at_work(1, &parking_test::by_deadlines);
		join("klock_os_park_until() does not end at its deadline");
		return fault();
	}

      private:
	using part = void (parking_test::*)(unsigned me);

	/* A thread of the test: its handle, and the words that it waits for. */
	struct alignas(cache_line) worker {
		parking_test *test = nullptr;
		atomic<usize> handle;
		atomic<u32> word;
		atomic<u32> other_word;
		/* the lock that it holds while it unparks */
		atomic<bool> inner;
		/* how often it has unparked */
		u32 given = 0;
	};

	/* More returns in a row than a correct park() makes. */
	static constexpr u32 too_many = 100'000;
	/* A thread that does not return for that many pauses sleeps. */
	static constexpr u32 pauses_asleep = 1000;
	/* Looks at the lock of a waker that may be on the same CPU: seconds. */
	static constexpr u32 too_long = 10'000'000;
	static constexpr const char *runs_first =
		"klock_os_unpark() switches to the thread that it wakes, or "
		"waits for it: it must return first";
	static constexpr const char *hook_switches =
		"klock_os_unparked() switches to a thread with interrupts off: "
		"the caller may hold a spin lock";

	const char *all_of(const parking_world &w, bool is_timed)
	{
		if (!w.patience)
			return "no patience: parking_world says after how many "
			       "pauses a thread hangs";
		world = w;
		timed = is_timed;
		found.store_relaxed(nullptr);
		giving.store_relaxed(0);
		telling.store_relaxed(0);
		at_work(2, &parking_test::park_after_unpark);
		hang_if([this] { return steps.load_acquire() == 2; },
			"a park sleeps although there is a permit: "
			"klock_os_unpark() came before it");
		see_it_sleep();
		join("klock_os_unpark() does not wake a thread that sleeps");

		at_work(2, &parking_test::wake_each_other);
		join("a permit is lost that is given while a park falls "
		     "asleep");
		at_work(3, &parking_test::wake_one);
		join("a permit is lost where two threads give it at once");
		return fault();
	}

	/* -- The threads' work  */

	void park_after_unpark(unsigned me)
	{
		if (me == 1)
			return unpark_twice();
		while (steps.load_acquire() != 1 && !fault())
			world.pause();
		rest_once(me);
		steps.store_release(2);
		while (!leaving.load_relaxed()) {
			rest_once(me);
			parks.fetch_add_relaxed(1);
		}
		while (steps.load_acquire() != 3 && !fault())
			world.pause();
	}

	/* Before the first park, and when the second has slept for long. */
	void unpark_twice()
	{
		give(1, 0);
		steps.store_release(1);
		while (!leaving.load_relaxed() && !fault())
			world.pause();
		give(1, 0);
		steps.store_release(3);
	}

	/* Nobody unparks it: returns are rare, or the permit is still there. */
	void see_it_sleep()
	{
		u32 seen = 0, idle = 0, moved = 0;

		for (u32 i = 0; i < world.patience && !fault(); i++) {
			const u32 now = parks.load_relaxed();

			if (now >= too_many)
				note("a park does not take the permit: it "
				     "returns again and again");
			idle = now == seen ? idle + 1 : 0;
			moved += now != seen;
			if (idle > pauses_asleep)
				break;
			seen = now;
			world.pause();
		}
		if (moved > world.patience / 2)
			note("a park does not sleep: it returns again and "
			     "again");
		leaving.store_relaxed(true);
	}

	/* Waits until the word is the turn. Only the permit orders it. */
	void wait_for(unsigned me, atomic<u32> &word, u32 turn)
	{
		while (word.load_relaxed() != turn && !fault())
			rest_once(me);
		steps.fetch_add_relaxed(1);
	}

	void wake_each_other(unsigned me)
	{
		xorshift dice(me + 1);

		for (u32 turn = 1; turn <= world.rounds && !fault(); turn++) {
			if (me)
				wait_for(me, workers[1].word, turn);
			relax_for(dice.below(30));
			workers[!me].word.store_relaxed(turn);
			give(me, !me);
			if (!me)
				wait_for(me, workers[0].word, turn);
		}
	}

	/* Two wake the third, which waits for both in turn. */
	void wake_one(unsigned me)
	{
		worker &third = workers[2];

		for (u32 turn = 1; turn <= world.rounds && !fault(); turn++) {
			if (me == 2) {
				wait_for(me, third.word, turn);
				wait_for(me, third.other_word, turn);
				workers[0].word.store_relaxed(turn);
				workers[1].word.store_relaxed(turn);
				continue;
			}
			(me ? third.word : third.other_word)
				.store_relaxed(turn);
			give(me, 2);
			while (workers[me].word.load_relaxed() != turn &&
			       !fault())
				world.pause();
		}
	}

	void by_deadlines(unsigned)
	{
		u32 parked = 0;

		while (klock_os_park_until(cycles()))
			if (++parked == too_many)
				return note("klock_os_park_until() is never "
					    "false, though its time has come");
		const u64 begun = cycles();
		constexpr u64 short_time = 100'000;

		while (klock_os_park_until(begun + short_time))
			steps.fetch_add_relaxed(1);
		/* Half, as another CPU's clock may be read here. */
		if (cycles() - begun < short_time / 2)
			note("klock_os_park_until() is false before its time");
	}

	/* -- Threads -- */

	/* Does nothing after a fault: earlier threads may still run. */
	void at_work(u32 threads, part todo)
	{
		if (fault())
			return;
		count = threads;
		work = todo;
		steps.store_relaxed(0);
		parks.store_relaxed(0);
		leaving.store_relaxed(false);
		ready.store_relaxed(0);
		finished.store_relaxed(0);
		gone.store_relaxed(0);
		for (u32 i = 0; i < threads; i++) {
			workers[i].test = this;
			workers[i].word.store_relaxed(0);
			workers[i].other_word.store_relaxed(0);
			workers[i].inner.store_relaxed(false);
			world.start(body, &workers[i]);
		}
		hang_if([this] { return ready.load_acquire() == count; },
			"a thread does not start");
		for (u32 i = 0; i < threads; i++)
			for (u32 j = 0; j < i; j++)
				if (workers[i].handle.load_relaxed() ==
				    workers[j].handle.load_relaxed())
					note("klock_os_thread() is the same "
					     "for two");
	}

	/* No thread ends while another may still unpark it. */
	static void body(void *of)
	{
		worker &mine = *static_cast<worker *>(of);
		parking_test &t = *mine.test;

		mine.handle.store_relaxed(klock_os_thread());
		t.ready.fetch_add_acq_rel(1);
		while (t.ready.load_acquire() != t.count && !t.fault())
			t.world.pause();
		(t.*t.work)(static_cast<unsigned>(&mine - t.workers));
		if (klock_os_thread() != mine.handle.load_relaxed())
			t.note("klock_os_thread() changes for one thread");
		t.finished.fetch_add_release(1);
		while (t.finished.load_acquire() != t.count && !t.fault())
			t.world.pause();
		t.gone.fetch_add_release(1);
	}

	void join(const char *otherwise)
	{
		hang_if([this] { return gone.load_acquire() == count; },
			otherwise);
	}

	/* Waits until done(), or until nothing has moved for too long. */
	template <typename Done>
	void hang_if(Done done, const char *otherwise)
	{
		u32 before = 0, idle = 0;

		while (!done() && !fault()) {
			const u32 now = steps.load_relaxed() +
					parks.load_relaxed() +
					finished.load_relaxed();

			idle = now == before ? idle + 1 : 0;
			before = now;
			if (idle == world.patience)
				note(giving.load_relaxed()    ? runs_first
				     : telling.load_relaxed() ? hook_switches
							      : otherwise);
			world.pause();
		}
	}

	/*
	 * Unparks with interrupts off and a spin lock held, as klock does. What
	 * the kernel does behind that lock, it does every other time in a
	 * section of the caller's, which the lock stands for.
	 */
	void give(unsigned me, unsigned to)
	{
		const irq_state before = irq_save();
		atomic<bool> &mine = workers[me].inner;
		const bool in_a_section = workers[me].given++ % 2;

		if (take(mine)) {
			giving.fetch_add_relaxed(1);
			klock_os_unpark(workers[to].handle.load_relaxed());
			giving.fetch_add_relaxed(~u32{0});
			if (irqs_enabled())
				note("klock_os_unpark() turns interrupts on");
			if (in_a_section) {
				telling.fetch_add_relaxed(1);
				call_hook();
				telling.fetch_add_relaxed(~u32{0});
			}
			mine.store_relaxed(false);
		}
		irq_restore(before);
		if (!in_a_section)
			call_hook();
	}

	/* klock_os_unparked(), if it is called here. */
	void call_hook()
	{
		const bool on = irqs_enabled();
		const irq_state as_they_are = irq_save();

		irq_restore(as_they_are);
		arch::unparked(as_they_are);
		if (irqs_enabled() != on)
			note("klock_os_unparked() turns interrupts on or off");
	}

	/* Parks once, and then takes its waker's lock. The third thread does
	 * not: it must be able to look between its two wakers' calls. */
	void rest_once(unsigned me)
	{
		if (!timed)
			klock_os_park();
		else if (!klock_os_park_until(~u64{0}))
			note("klock_os_park_until() is false before its time");
		if (!irqs_enabled())
			note("a park leaves interrupts off");
		const irq_state before = irq_save();

		if (me < 2 && take(workers[!me].inner))
			workers[!me].inner.store_relaxed(false);
		irq_restore(before);
	}

	/*
	 * False after a fault. Relaxed: the permit alone orders what the
	 * threads tell each other. A holder on the same CPU, with interrupts
	 * off, runs no more while this spins.
	 */
	bool take(atomic<bool> &inner)
	{
		for (u32 looks = 0; !fault(); looks++) {
			if (!inner.load_relaxed() &&
			    !inner.exchange_relaxed(true))
				return true;
			if (looks == too_long)
				note(telling.load_relaxed() ? hook_switches
							    : runs_first);
			cpu_relax();
		}
		return false;
	}

	/* Notes the first fault; later ones may follow from it. */
	void note(const char *wrong)
	{
		const char *none = nullptr;

		(void)found.compare_exchange_relaxed(none, wrong);
	}
	const char *fault() const { return found.load_relaxed(); }

	parking_world world{};
	/* parks by klock_os_park_until() */
	bool timed = false;
	part work = nullptr;
	u32 count = 0;
	atomic<const char *> found;
	atomic<u32> steps, parks, ready, finished, gone;
	/* calls of klock_os_unpark() that have not returned */
	atomic<u32> giving;
	/* calls of klock_os_unparked() in a section that have not returned */
	atomic<u32> telling;
	atomic<bool> leaving;
	worker workers[3];
};

} // namespace klock::selftest
