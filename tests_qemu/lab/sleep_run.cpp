/* SPDX-License-Identifier: MIT */
/*
 * sleep_run - locks whose waiters sleep, on CPUs without a scheduler
 *
 * Each CPU is a thread. It sleeps by HLT or WFI, its permit is a word, and an
 * IPI wakes it. First klock's own test of the four functions below, then a row
 * for each lock, woken by threads and by timer interrupts: every wake-up is
 * accounted for. Then mistakes, in the functions and in their use, each of
 * which must be found.
 */
#include "jobs.hpp"

#include "faults.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/guard.hpp>
#include <klock/mutex.hpp>
#include <klock/os.hpp>
#include <klock/selftest/parking.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/wait_queue.hpp>

namespace lab {

namespace {

using namespace klock::selftest;
using klock::atomic;

struct row {
	const char *name;
	/* What each CPU does, turn by turn, and each handler. */
	void (*turn)(xorshift &dice, unsigned cpu);
	void (*in_interrupt)(unsigned cpu);
	const char *(*fault)();
};
constinit const row *running = nullptr;

/* -- The four functions -- */

constexpr klock::u8 wake_vector = 0x43;
constexpr u64 never = ~u64{0};

enum class mistake {
	none,
	looks_with_interrupts_on,
	sends_no_ipi,
	keeps_the_permit
};
constinit mistake made = mistake::none;

/* Its own to write but for the permit; `given` is of those that it gave. */
struct alignas(klock::cache_line) cpu_thread {
	atomic<u32> permit;
	u64 given = 0, taken = 0, sleeps = 0;
};
constinit cpu_thread threads[most_cpus];
constinit atomic<bool> slept; /* somebody has */

bool takes_permit(cpu_thread &mine)
{
	const bool found = made == mistake::keeps_the_permit
				   ? mine.permit.load_acquire()
				   : mine.permit.exchange_acquire(0);

	mine.taken += found;
	return found;
}

/* Behind STI, PAUSE alone lets QEMU take no interrupt: a clock between them. */
void wait_a_little()
{
	for (u32 i = 0; i < 20; i++) {
		(void)klock::cycles();
		klock::cpu_relax();
	}
}

/*
 * Interrupts are off from the look to the sleep: an IPI that comes between the
 * two stays pending, and ends the sleep.
 */
bool park_until(u64 deadline)
{
	cpu_thread &mine = threads[boot::this_cpu()];

	for (;;) {
		boot::disable_interrupts();
		const bool found = takes_permit(mine);
		const u64 now = klock::cycles();

		if (found || now >= deadline || give_up) {
			boot::enable_interrupts();
			return found || now < deadline;
		}
		mine.sleeps++;
		slept.store_relaxed(true);
		/* No fault's timer wakes it. */
		if (!running && deadline != never)
			boot::timer_start_one_shot(
				wake_vector,
				boot::cycles_to_ns(deadline - now));
		if (made == mistake::looks_with_interrupts_on) {
			boot::enable_interrupts();
			wait_a_little();
			boot::disable_interrupts();
		}
		boot::wait_for_interrupt();
	}
}

} // namespace
} // namespace lab

extern "C" {

klock::usize klock_os_thread(void) { return boot::this_cpu(); }

void klock_os_park(void) { (void)lab::park_until(lab::never); }

bool klock_os_park_until(klock::u64 deadline)
{
	return lab::park_until(deadline);
}

/* Not where the permit was there: its IPI is on the way, or was taken. What
 * the IPI finds is there before it: send_ipi() has the machine's barrier. */
void klock_os_unpark(klock::usize thread)
{
	using namespace lab;
	const unsigned cpu = static_cast<unsigned>(thread);

	if (threads[cpu].permit.exchange_release(1))
		return;
	threads[boot::this_cpu()].given++;
	if (cpu != boot::this_cpu() && made != mistake::sends_no_ipi)
		boot::send_ipi(cpu, wake_vector);
}
}

namespace lab {
namespace {

void reset_threads()
{
	for (cpu_thread &t : threads) {
		t.permit.store_relaxed(0);
		t.given = t.taken = t.sleeps = 0;
	}
	slept.store_relaxed(false);
	give_up = false;
}

/* -- klock's test of them: three CPUs are its threads -- */

constexpr unsigned players = 4;
/* A hang is seen by pauses: of more CPUs they take minutes. */
constexpr unsigned many = 16;

struct order {
	atomic<void (*)(void *)> body;
	void *of = nullptr;
};
constinit order orders[players];
constinit atomic<u32> back; /* threads that have seen it end */
constinit parking_test conformance{};
constinit const char *named = nullptr;

void start_thread(void (*body)(void *), void *of)
{
	for (unsigned i = 0;; i = (i + 1) % (players - 1)) {
		order &mine = orders[i + 1];

		if (!mine.body.load_acquire()) {
			mine.of = of;
			return mine.body.store_release(body);
		}
		klock::cpu_relax();
	}
}

void be_a_thread(order &mine)
{
	while (!give_up) {
		if (const auto body = mine.body.load_acquire()) {
			body(mine.of);
			mine.body.store_release(nullptr);
		}
		klock::cpu_relax();
	}
	back.fetch_add_release(1);
}

/* Who sleeps for ever by a mistake is woken by all means. */
void test_functions(unsigned cpu, void *)
{
	if (cpu)
		return be_a_thread(orders[cpu]);
	const parking_world world = {start_thread, klock::cpu_relax, 20'000,
				     300};

	named = conformance.run(world);
	if (!named)
		named = conformance.run_timed(world);
	give_up = true;
	while (back.load_acquire() != players - 1) {
		boot::send_ipi_to_others(wake_vector);
		klock::relax_for(1000);
	}
}

/* Null: all is right. */
const char *try_functions(mistake which)
{
	reset_threads();
	running = nullptr;
	made = which;
	back.store_relaxed(0);
	boot::run_on_cpus(players, test_functions, nullptr);
	made = mistake::none;
	return named;
}

/* -- Locks -- */

/* What a row's threads and handlers share. */
struct shared_state {
	atomic<u32> steps;   /* for who watches */
	atomic<u32> brought; /* units, or sections that write, so far */
	atomic<u32> stock;   /* units that nobody has taken */
	atomic<u32> wrong;
	u32 rounds = 0, cpus = 0;

	/* Whether one more unit is to be brought. */
	[[nodiscard]] bool bring()
	{
		const u32 all = rounds * cpus;

		return brought.load_relaxed() < all &&
		       brought.fetch_add_relaxed(1) < all;
	}
	[[nodiscard]] bool take()
	{
		u32 there = stock.load_relaxed();

		while (there)
			if (stock.compare_exchange_relaxed(there, there - 1))
				return true;
		return false;
	}
};
constinit shared_state here{};
constinit invariant data{};

constinit klock::mutex the_mutex;
constinit klock::shared_mutex the_shared_mutex;
constinit klock::semaphore the_semaphore;
constinit klock::wait_queue the_queue;
constinit klock::condition arrived;
constinit atomic<klock::completion *> asked[most_cpus];

/* One time in four by deadlines that may pass. */
template <typename Wait, typename Timed>
void sleep_until_done(xorshift &dice, Wait wait, Timed done_by)
{
	if (dice.below(4))
		return wait();
	while (!done_by(klock::cycles() + dice.below(100000)))
		;
}

/* So that somebody is seen to sleep, wherever vCPUs run. */
void wait_for_a_sleeper()
{
	while (!here.steps.load_relaxed() && here.cpus > 1 &&
	       !slept.load_relaxed() && !give_up)
		klock::cpu_relax();
}

template <typename Lock>
void take_and_visit(xorshift &dice, Lock &lock)
{
	sleep_until_done(
		dice, [&] { lock.lock(); },
		[&](u64 by) { return lock.try_lock_until(by); });
	wait_for_a_sleeper();
	here.brought.fetch_add_relaxed(1);
	here.wrong.fetch_add_relaxed(!data.visit(1));
}

void use_mutex(xorshift &dice, unsigned)
{
	take_and_visit(dice, the_mutex);
	the_mutex.unlock();
}

/* The first writes, then one in four, and some of those go on to read. */
void use_shared_mutex(xorshift &dice, unsigned)
{
	auto &lock = the_shared_mutex;

	if (!here.steps.load_relaxed() || dice.below(4) == 0) {
		take_and_visit(dice, lock);
		if (dice.below(2))
			return lock.unlock();
		lock.downgrade();
	} else {
		sleep_until_done(
			dice, [&] { lock.lock_shared(); },
			[&](u64 by) { return lock.try_lock_shared_until(by); });
	}
	here.wrong.fetch_add_relaxed(!data.look(1));
	lock.unlock_shared();
}

const char *sections_fault()
{
	return data.lost(here.brought.load_relaxed())
		       ? "an update made under the lock was lost"
		       : nullptr;
}

void use_semaphore(xorshift &dice, unsigned)
{
	sleep_until_done(
		dice, [] { the_semaphore.acquire(); },
		[](u64 by) { return the_semaphore.try_acquire_until(by); });
}

void release_semaphore(unsigned)
{
	for (unsigned i = 0; i < 4 && here.bring(); i++)
		the_semaphore.release();
}

const char *semaphore_fault()
{
	return the_semaphore.try_acquire() ? "a unit too many" : nullptr;
}

bool takes_or_gives_up() { return here.take() || give_up; }

void use_queue(xorshift &dice, unsigned)
{
	sleep_until_done(
		dice, [] { the_queue.wait(takes_or_gives_up); },
		[](u64 by) {
			return the_queue.wait_until(takes_or_gives_up, by);
		});
}

void put_one() { here.stock.fetch_add_relaxed(1); }

void wake_queue(unsigned cpu)
{
	for (unsigned i = 0; i < 4 && here.bring(); i++)
		if ((i + cpu) % 8)
			the_queue.wake_one(put_one);
		else
			the_queue.wake_all(put_one);
}

const char *stock_fault() { return here.take() ? "a unit too many" : nullptr; }

/* A completion on the stack, which a handler of any CPU sets. */
void use_completion(xorshift &dice, unsigned cpu)
{
	klock::completion done;

	asked[cpu].store_release(&done);
	if (dice.below(4) == 0 && !done.wait_for(dice.below(100000)) &&
	    asked[cpu].exchange_acquire(nullptr))
		return;
	done.wait(); /* or a handler has it already */
}

void set_completions(unsigned cpu)
{
	unsigned at = cpu;

	for (u32 i = 0; i < here.cpus && i < 16; i++) {
		at = at + 1 == here.cpus ? 0 : at + 1;
		if (auto *of = asked[at].exchange_acquire(nullptr))
			of->set();
	}
}

/* The stock under a lock of its own, which a handler takes by a try. */
void use_condition(xorshift &dice, unsigned)
{
	klock::guard held(the_mutex);

	sleep_until_done(
		dice, [&] { arrived.wait(held, takes_or_gives_up); },
		[&](u64 by) {
			return arrived.wait_until(held, by, takes_or_gives_up);
		});
}

void notify_condition(unsigned)
{
	if (!the_mutex.try_lock())
		return;
	for (unsigned i = 0; i < 4 && here.bring(); i++) {
		put_one();
		arrived.notify_one();
	}
	the_mutex.unlock();
}

/* -- Mistakes in their use -- */

/* The look and the sleep apart: what comes between wakes nobody. */
void look_outside(xorshift &, unsigned)
{
	while (!takes_or_gives_up()) {
		bool woken = false;

		wait_a_little();
		the_queue.wait([&] {
			const bool ready = woken || give_up;

			woken = true;
			return ready;
		});
	}
}

void wait_for_one(xorshift &, unsigned) { the_queue.wait(takes_or_gives_up); }

/* Who was woken looks before there is anything to be seen. */
void wake_too_early(unsigned)
{
	if (!here.bring())
		return;
	the_queue.wake_one([] {});
	klock::relax_for(50);
	put_one();
}

/* -- Rows -- */

constexpr row rows[] = {
	{"mutex", use_mutex, nullptr, sections_fault},
	{"shared_mutex", use_shared_mutex, nullptr, sections_fault},
	{"semaphore", use_semaphore, release_semaphore, semaphore_fault},
	{"wait_queue", use_queue, wake_queue, stock_fault},
	{"completion", use_completion, set_completions, nullptr},
	{"condition", use_condition, notify_condition, stock_fault},
};
constexpr row control = {"control", use_queue, wake_queue, stock_fault};

/* A mistake's sleepers, once it is found; and a pause for who watches. */
void handle(unsigned cpu)
{
	klock::cpu_relax();
	if (running->in_interrupt)
		running->in_interrupt(cpu);
	if (!give_up)
		return;
	the_queue.wake_all([] {});
	arrived.notify_all();
}

void take_turns(unsigned cpu, void *seed)
{
	xorshift dice(*static_cast<u32 *>(seed) + cpu);

	begin_faults(cpu);
	for (u32 i = 0; i < here.rounds && !give_up; i++) {
		running->turn(dice, cpu);
		here.steps.fetch_add_relaxed(1);
	}
	end_faults(cpu);
	the_queue.wake_all([] {}); /* no handler does any more */
}

/* Null: nothing wrong. */
const char *run_row(const row &what, const options &o, u32 cpus,
		    stuck standstill)
{
	u32 seed = o.seed;

	reset_threads();
	running = &what;
	here.rounds = 1 + o.acquisitions / cpus;
	here.cpus = cpus;
	here.steps.store_relaxed(0);
	here.brought.store_relaxed(0);
	here.stock.store_relaxed(0);
	here.wrong.store_relaxed(0);
	data.reset();
	/* Where a stand-still is waited for, handlers come as often as ever. */
	prepare_faults(
		cpus, seed,
		{handle, nullptr,
		 standstill == stuck::is_meant
			 ? [] { return static_cast<u32>(klock::cycles()); }
			 : [] { return here.steps.load_relaxed(); }});
	run_watched({&here, what.name, cpus,
		     [](const void *) { return here.steps.load_relaxed(); },
		     [](const void *, unsigned) { return doing_wait; },
		     [](const void *) { return lock_state{}; }, standstill},
		    take_turns, &seed);
	all_totals.acquisitions += here.steps.load_relaxed();
	all_totals.interrupts += faults_so_far().interrupts();
	if (give_up)
		return "no progress: a wake-up was lost";
	if (here.wrong.load_relaxed())
		return "two CPUs were in the section at once";
	return what.fault ? what.fault() : nullptr;
}

/* Every permit that was given has been taken, or is there. */
void print_row(const options &o, const row &what, u32 cpus, const char *wrong)
{
	u64 given = 0, taken = 0, sleeps = 0, over = 0;

	for (const cpu_thread &t : threads) {
		given += t.given;
		taken += t.taken;
		sleeps += t.sleeps;
		over += t.permit.load_relaxed();
	}
	if (!wrong && given != taken + over)
		wrong = "a permit was lost";
	if (!wrong && !sleeps && cpus > 1)
		wrong = "vacuous: nobody slept";
	note_row(what.name, wrong);
	boot::print("%s%s: cpus %u, turns %u, slept %u times; permits given "
		    "%u, taken %u, left %u%s%s\n",
		    o.output == mode::tap ? "# " : "", what.name, cpus,
		    here.steps.load_relaxed(), sleeps, given, taken, over,
		    wrong ? ": " : "", wrong ? wrong : "");
	print_verdict(o, what.name, wrong);
}

/* A mistake in the four functions is named by klock's own test of them. */
void find_in_functions(const options &o, const char *name, mistake which,
		       const char *what)
{
	if (boot::cpu_count() < players || boot::cpu_count() > many)
		print_skipped(o, name, "it takes 4 to 16 CPUs");
	else
		print_busted_row(o, name, what, try_functions(which));
}

/* One in the use of a lock, by the last wake-up, which is not there. */
void find_in_use(const options &o, const row &what, const char *mistake)
{
	const char *found = nullptr;

	if (o.cpus[0] < 2 || boot::cpu_count() > many || o.parallel)
		return print_skipped(o, what.name,
				     "it takes 2 to 16 CPUs, by turns");
	for (u32 i = 0; i < busted_runs && !found; i++)
		found = run_row(what, o, o.cpus[0], stuck::is_meant);
	print_busted_row(o, what.name, mistake, found);
}

void find_mistakes(const options &o)
{
	const char *wrong = run_row(control, o, o.cpus[0], stuck::is_control);

	note_row(control.name, wrong);
	print_verdict(o, control.name, wrong);
	find_in_functions(o, "looks_with_interrupts_on",
			  mistake::looks_with_interrupts_on,
			  "the IPI is taken before the sleep");
	find_in_functions(o, "sends_no_ipi", mistake::sends_no_ipi,
			  "nobody is woken");
	find_in_functions(o, "keeps_the_permit", mistake::keeps_the_permit,
			  "nobody sleeps");
	find_in_use(o, {"looks_outside", look_outside, wake_queue, nullptr},
		    "the look and the sleep apart");
	find_in_use(o,
		    {"wakes_too_early", wait_for_one, wake_too_early, nullptr},
		    "wakes, then makes it true");
}

} // namespace

int run_sleep(const options &o)
{
	constexpr unsigned others = 7;

	begin_report(o, o.counts * static_cast<unsigned>(sizeof(rows) /
							 sizeof(rows[0])) +
				others);
	boot::set_interrupt_handler(wake_vector,
				    [](boot::interrupt_frame &) {});
	if (boot::cpu_count() < players) {
		print_skipped(o, "parking", "it takes 4 CPUs");
	} else {
		const char *const wrong = try_functions(mistake::none);

		note_row("parking", wrong);
		print_verdict(o, "parking", wrong);
	}
	for (u32 i = 0; i < o.counts; i++)
		for (const row &one : rows) {
			say_running(o, one.name);
			print_row(o, one, o.cpus[i],
				  run_row(one, o, o.cpus[i], stuck::is_a_bug));
		}
	find_mistakes(o);
	return end_report();
}

} // namespace lab
