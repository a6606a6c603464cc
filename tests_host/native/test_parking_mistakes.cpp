/* SPDX-License-Identifier: MIT */
/*
 * Each mistake in a kernel's functions about threads is named. Compiled with
 * lib/unparked in front.
 */
#include <klock/selftest/parking.hpp>

#include <catch.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

enum mistake {
	none,
	lost_where_nobody_sleeps,
	sleeps_at_once,
	not_taken,
	wakes_nobody,
	look_and_sleep_apart,
	busy_with_another,
	interrupts_on,
	interrupts_off,
	one_number_for_all,
	one_number_for_two,
	number_changes,
	until_never_ends,
	until_never_false,
	until_always_false,
	until_false_at_once,
	until_false_and_yields,
	switches_at_once,
	switches_on_one_cpu,
	waits_for_the_sleep,
	switches_behind, /* no mistake */
	switches_in_a_section,
	interrupts_off_behind,
};

mistake in_the_next_threads;
unsigned started;

/* A thread as a textbook has it: its permit under a lock of its own. Its
 * mistake stays: it may still run when the next one is tried. */
struct sleeper {
	const mistake made = in_the_next_threads;
	std::mutex lock;
	std::condition_variable woken;
	bool permit = false;
	std::atomic<bool> asleep{false};
	std::atomic<bool> busy{false};
	/* how often it gave its CPU away: in a pause or a park */
	std::atomic<unsigned> given_away{0};
	/* which thread of the test it is, in the order of their start */
	unsigned number = 0;
};
/* Stays: a waker may look at it when its thread has ended. */
thread_local sleeper &mine = *new sleeper;
sleeper &everybody = *new sleeper; /* outlives those who sleep */

/* The fifth thread and the seventh are the first and the third of three. */
bool is_everybody()
{
	if (mine.made == one_number_for_two)
		return mine.number == 5 || mine.number == 7;
	return mine.made == one_number_for_all;
}

sleeper &mine_or_all() { return is_everybody() ? everybody : mine; }

/* One CPU, with interrupts off: nobody runs but the woken thread. */
std::atomic<bool> only_one_runs{false};

/* Longer than a turn: threads that run have made progress by then. */
void rest_a_while()
{
	mine.given_away++;
	while (only_one_runs)
		std::this_thread::yield();
	std::this_thread::sleep_for(std::chrono::microseconds(100));
}

bool park_until(klock::u64 deadline)
{
	sleeper &me = mine_or_all();
	const mistake made = mine.made;
	std::unique_lock held(me.lock);

	me.given_away++;
	if (made == sleeps_at_once)
		me.permit = false;
	if (made == look_and_sleep_apart && !me.permit) {
		held.unlock();
		std::this_thread::yield();
		held.lock();
		me.permit = false;
	}
	me.asleep = true;
	while (!me.permit && klock::cycles() < deadline)
		me.woken.wait_for(held, std::chrono::milliseconds(1));
	me.asleep = false;
	if (made != not_taken)
		me.permit = false;
	klock::arch::fake::irq_flag = made != interrupts_off;
	return klock::cycles() < deadline;
}

/* As a kernel that does not hear of the second while it is at the first. */
void give_unless_busy(sleeper &to)
{
	if (to.busy.exchange(true))
		return;
	{
		std::lock_guard held(to.lock);
		to.permit = true;
		to.woken.notify_one();
	}
	rest_a_while();
	to.busy = false;
}

/* The thread that was woken last, or null; how often it had given its CPU away
 * by then. */
struct woken {
	sleeper *who = nullptr;
	unsigned given_away = 0;
};
thread_local woken last;

/* As where the woken thread runs at once, on the waker's CPU: the waker goes on
 * when that thread gives the CPU away. */
void switch_to_woken()
{
	only_one_runs = last.who && last.who->made != switches_at_once;
	while (last.who && last.who->given_away == last.given_away)
		std::this_thread::yield();
	only_one_runs = false;
}

void await_sleep(const sleeper &to)
{
	while (!to.asleep)
		std::this_thread::yield();
}

const char *named(mistake which)
{
	/* Threads that sleep for ever look at theirs. */
	auto &test = *new klock::selftest::parking_test;
	const klock::selftest::parking_world world = {
		/* Detached: one that is never woken stays. */
		[](void (*body)(void *), void *of) {
			std::thread([body, of, number = ++started] {
				mine.number = number;
				body(of);
				mine.given_away++;
			}).detach();
		},
		rest_a_while, which == none ? 20000u : 1000u, 300};

	in_the_next_threads = which;
	started = 0;
	if (const char *wrong = test.run(world))
		return wrong;
	return test.run_timed(world);
}

} // namespace

extern "C" {

klock::usize klock_os_thread(void)
{
	thread_local unsigned asked;

	return reinterpret_cast<klock::usize>(&mine_or_all()) +
	       (mine.made == number_changes && asked++);
}

void klock_os_park(void) { (void)park_until(~klock::u64{0}); }

bool klock_os_park_until(klock::u64 deadline)
{
	const mistake made = mine.made;

	if (made == until_always_false && ~deadline != 0)
		return false;
	if (made == until_false_and_yields)
		rest_a_while();
	if (made == until_false_at_once || made == until_false_and_yields)
		return false;
	return park_until(made == until_never_ends ? ~klock::u64{0}
						   : deadline) ||
	       made == until_never_false;
}

void klock_os_unpark(klock::usize thread)
{
	sleeper &to = *reinterpret_cast<sleeper *>(thread & ~klock::usize{1});
	const mistake made = to.made;

	if (made == busy_with_another)
		return give_unless_busy(to);
	if (made == waits_for_the_sleep)
		await_sleep(to);
	std::unique_lock held(to.lock);

	last = {to.asleep ? &to : nullptr, to.given_away};
	if (made == wakes_nobody
		    ? !to.asleep
		    : made != lost_where_nobody_sleeps || to.asleep)
		to.permit = true;
	if (made == interrupts_on)
		klock::arch::fake::irq_flag = true;
	to.woken.notify_one();
	held.unlock();
	if (made == switches_at_once || made == switches_on_one_cpu)
		switch_to_woken();
}

void klock_os_unparked(void)
{
	if (mine.made == switches_in_a_section ||
	    (mine.made == switches_behind && klock::irqs_enabled()))
		switch_to_woken();
	if (mine.made == interrupts_off_behind)
		klock::arch::fake::irq_flag = false;
}
}

TEST_CASE("parking: each mistake in a kernel's functions is named", "[parking]")
{
	static const struct {
		mistake which;
		const char *name;
	} all[] = {
		{lost_where_nobody_sleeps, "a park sleeps although there is"},
		{sleeps_at_once, "a park sleeps although there is"},
		{not_taken, "a park does not take the permit"},
		{wakes_nobody, "does not wake a thread that sleeps"},
		{look_and_sleep_apart, "while a park falls asleep"},
		{busy_with_another, "where two threads give it at once"},
		{interrupts_on, "klock_os_unpark() turns interrupts on"},
		{interrupts_off, "a park leaves interrupts off"},
		{one_number_for_all, "klock_os_thread() is the same for two"},
		{one_number_for_two, "klock_os_thread() is the same for two"},
		{number_changes, "klock_os_thread() changes"},
		{until_never_ends, "does not end at its deadline"},
		{until_never_false, "is never false"},
		{until_always_false, "is false before its time"},
		{until_false_at_once, "is false before its time"},
		{until_false_and_yields, "is false before its time"},
		{switches_at_once, "switches to the thread that it wakes"},
		{switches_on_one_cpu, "switches to the thread that it wakes"},
		{waits_for_the_sleep, "or waits for it"},
		{switches_in_a_section, "klock_os_unparked() switches"},
		{interrupts_off_behind, "klock_os_unparked() turns interrupts"},
	};

	CHECK(named(none) == nullptr);
	CHECK(named(switches_behind) == nullptr);
	for (const auto &one : all) {
		const char *const said = named(one.which);

		CAPTURE(one.name, said);
		CHECK((said && std::strstr(said, one.name)));
	}
}

TEST_CASE("parking: a world without patience is named, and not the kernel",
	  "[parking]")
{
	auto &test = *new klock::selftest::parking_test;
	const auto starts = [](void (*body)(void *), void *of) {
		std::thread(body, of).detach();
	};

	in_the_next_threads = none;
	const char *const said = test.run({starts, rest_a_while, 0});

	CHECK((said && std::strstr(said, "no patience")));
}
