/* SPDX-License-Identifier: MIT */
/*
 * sleep_run - locks whose waiters sleep, on CPUs without a scheduler
 *
 * Each CPU is a thread. It sleeps by HLT or WFI, its permit is a word, and an
 * IPI wakes it. First klock's own test of the four functions below, then a row
 * for each lock, woken by threads and by timer interrupts: every wake-up is
 * accounted for. Then mistakes, in the functions and in their use, each of
 * which must be found. At last, how long a wake keeps the inner lock, with the
 * IPI inside it and behind it: in instructions under icount.
 */
#include "options.hpp"

#include "faults.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <klock/os.hpp>
#include <klock/selftest/parking.hpp>
#include <klock/selftest/sleepers.hpp>

namespace lab {

namespace {

using namespace klock::selftest;
using klock::atomic;

using sleepers::here, sleepers::row;
constinit const row *running = nullptr;

/* -- The functions about threads -- */

constexpr klock::u8 wake_vector = 0x43;
constexpr u64 never = ~u64{0};

enum class mistake { none, looks_with_interrupts_on, sends_no_ipi };
constinit mistake made = mistake::none;
constinit bool spins = false;	     /* fault=nobody_sleeps */
constinit bool sends_inside = false; /* the IPI: in unpark(), not behind it */

/* Its own to write but for the permit; `given` is of those that it gave. */
struct alignas(klock::cache_line) cpu_thread {
	atomic<u32> permit;
	u64 given = 0, taken = 0, sleeps = 0;
	/* CPUs that it has woken and sends an IPI to, a bit each */
	atomic<u32> woken[(most_cpus + 31) / 32];
};
constinit cpu_thread threads[most_cpus];
constinit klock::inheriting_thread lenders[most_cpus];
constinit atomic<bool> slept; /* somebody has */

/*
 * Interrupts are off from the look to the sleep: an IPI that comes between the
 * two stays pending, and ends the sleep.
 */
bool park_until(u64 deadline)
{
	cpu_thread &mine = threads[boot::this_cpu()];

	for (;;) {
		boot::disable_interrupts();
		const bool found = mine.permit.exchange_acquire(0);
		const u64 now = klock::cycles();

		mine.taken += found;
		if (found || now >= deadline || give_up) {
			boot::enable_interrupts();
			return found || now < deadline;
		}
		if (spins) {
			boot::enable_interrupts();
			klock::cpu_relax();
			continue;
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
			sleepers::linger();
			boot::disable_interrupts();
		}
		boot::wait_for_interrupt();
	}
}

} // namespace
} // namespace lab

extern "C" {

klock::usize klock_os_thread(void) { return boot::this_cpu(); }

klock::inheriting_thread *klock_os_inheriting_thread(void)
{
	return &lab::lenders[boot::this_cpu()];
}

/* No thread waits for a CPU. */
void klock_os_run_with_priority(klock::inheriting_thread *, unsigned) {}

void klock_os_park(void) { (void)lab::park_until(lab::never); }

bool klock_os_park_until(klock::u64 deadline)
{
	return lab::park_until(deadline);
}

/* Not where the permit was there: its IPI is on the way, or was taken. */
void klock_os_unpark(klock::usize thread)
{
	using namespace lab;
	const unsigned cpu = static_cast<unsigned>(thread);
	cpu_thread &mine = threads[boot::this_cpu()];

	if (threads[cpu].permit.exchange_release(1))
		return;
	mine.given++;
	if (cpu == boot::this_cpu() || made == mistake::sends_no_ipi)
		return;
	if (sends_inside)
		return boot::send_ipi(cpu, wake_vector);
	mine.woken[cpu / 32].fetch_or_relaxed(1u << cpu % 32);
}

/* A handler may come in between. What the IPI finds is there before it:
 * send_ipi() has the machine's barrier. */
void klock_os_unparked(void)
{
	auto &words = lab::threads[boot::this_cpu()].woken;
	unsigned first = 0;

	for (auto &word : words) {
		klock::u32 left =
			word.load_relaxed() ? word.exchange_relaxed(0) : 0;

		for (unsigned cpu = first; left; cpu++, left >>= 1)
			if (left & 1)
				boot::send_ipi(cpu, lab::wake_vector);
		first += 32;
	}
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
	/* Each CPU has a priority, one of four. */
	for (unsigned i = 0; i < most_cpus; i++)
		klock::priority_changed(lenders[i], i % 4);
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

/* At the end, threads that a mistake left asleep are woken again and again. */
void test_functions(unsigned cpu, void *)
{
	if (cpu)
		return be_a_thread(orders[cpu]);
	/* Long where all is right: beside other work the host wakes late. */
	const u32 patience = made == mistake::none ? 10'000'000 : 20'000;
	const parking_world world = {start_thread, klock::cpu_relax, patience,
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

/* -- Rows -- */

/* A mistake's sleepers, once it is found; and a pause for who watches. */
void handle(unsigned cpu)
{
	klock::cpu_relax();
	if (running->bring)
		running->bring(cpu);
	if (give_up)
		sleepers::wake_all();
}

/* One more than is counted: an update that nobody makes, or a unit. */
void miscount()
{
	if (running->ends_wrong == sleepers::sections_fault ||
	    running->ends_wrong == sleepers::loans_fault)
		here.brought.fetch_add_relaxed(1);
	else if (running->ends_wrong == sleepers::semaphore_fault)
		sleepers::the_semaphore.release();
	else if (running->ends_wrong == sleepers::stock_fault)
		sleepers::put_one();
}

/* Before CPU 0's turns: what fault= asks for. */
void seed_fault()
{
	if (asks_for(seeded::lost_update))
		miscount();
	if (asks_for(seeded::lost_permit)) {
		klock_os_unpark(0); /* which does not wait */
		threads[0].permit.store_relaxed(0);
	}
}

void take_turns(unsigned cpu, void *seed)
{
	const bool enters = cpu == 0 && asks_for(seeded::no_exclusion);
	xorshift dice(*static_cast<u32 *>(seed) + cpu);

	if (cpu == 0)
		seed_fault();
	begin_faults(cpu);
	for (u32 i = 0; i < here.rounds && !give_up; i++) {
		/* Either of the two may be the one that sees the other. */
		if (enters)
			here.wrong.fetch_add_relaxed(!here.data.visit(4));
		running->turn(dice, cpu);
		here.steps.fetch_add_relaxed(1);
	}
	end_faults(cpu);
	sleepers::wake_all(); /* no handler does any more */
}

constexpr unsigned count_rows = sizeof(sleepers::rows) / sizeof(row);

/* After the rows comes the one that lends; null: it was the last. */
const row *row_after(const row *one)
{
	if (one == &sleepers::lends)
		return nullptr;
	return one == sleepers::rows + count_rows - 1 ? &sleepers::lends
						      : one + 1;
}

/* Null: nothing wrong. */
const char *run_row(const row &what, const options &o, u32 cpus,
		    stuck standstill)
{
	u32 seed = o.seed;

	reset_threads();
	running = &what;
	here.prepare(1 + o.acquisitions / cpus, cpus);
	here.somebody_sleeps = cpus > 1 && !spins
				       ? +[] { return slept.load_relaxed(); }
				       : nullptr;
	/* If a stand-still is expected, handlers come as often as ever. */
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
	return sleepers::fault(what);
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
		print_busted_row(o, name, what,
				 try_functions(asks_for(seeded::right_mutant)
						       ? mistake::none
						       : which));
}

/* Skips the row, and returns true, unless 2 to 16 CPUs run by turns. */
bool skipped(const options &o, const char *name)
{
	if (o.cpus[0] >= 2 && boot::cpu_count() <= many && !o.parallel)
		return false;
	print_skipped(o, name, "it takes 2 to 16 CPUs, by turns");
	return true;
}

/* Runs without a mistake the row that find_in_use() seeds mistakes in. */
void run_control(const options &o)
{
	if (skipped(o, "control"))
		return;
	const char *const wrong =
		run_row(sleepers::rows[3], o, o.cpus[0], stuck::is_control);

	note_row("control", wrong);
	print_verdict(o, "control", wrong);
}

/* Finds a mistake in a lock's use: the last wake-up never comes. */
void find_in_use(const options &o, const row &what, const char *mistake)
{
	const row &tried =
		asks_for(seeded::right_mutant) ? sleepers::rows[3] : what;
	const char *found = nullptr;

	if (skipped(o, what.name))
		return;
	for (u32 i = 0; i < busted_runs && !found; i++)
		found = run_row(tried, o, o.cpus[0], stuck::is_meant);
	print_busted_row(o, what.name, mistake, found);
}

void find_mistakes(const options &o)
{
	run_control(o);
	find_in_functions(o, "looks_with_interrupts_on",
			  mistake::looks_with_interrupts_on,
			  "the IPI is taken before the sleep");
	find_in_functions(o, "sends_no_ipi", mistake::sends_no_ipi,
			  "nobody is woken");
	find_in_use(o, sleepers::mistakes[0], "the look and the sleep apart");
	find_in_use(o, sleepers::mistakes[1], "wakes, then makes it true");
}

/* -- How long a wake keeps the inner lock -- */

/* Cycles for which each CPU's last section of an inner lock held it. */
constinit u64 kept[2];

using inner_lock = klock::detail::sleepers_lock;

struct timed_lock : inner_lock {
	void lock()
	{
		inner_lock::lock();
		since = klock::cycles();
	}
	void unlock()
	{
		kept[boot::this_cpu()] = klock::cycles() - since;
		inner_lock::unlock();
	}

      private:
	u64 since = 0;
};

using wakes = sleepers::wakes<timed_lock>;

constexpr u32 wakes_each = 100;
constinit const wakes::row *measured = nullptr;
constinit atomic<u32> begun, ended; /* waits */
constinit u64 shortest = 0;

/* CPU 0 wakes CPU 1. */
void wake_or_wait(unsigned cpu, void *)
{
	for (u32 i = 1; i <= wakes_each; i++) {
		if (cpu == 1) {
			begun.await_eq_acquire(i);
			measured->wait();
			ended.store_release(i);
			continue;
		}
		measured->prepare();
		slept.store_relaxed(false);
		begun.store_release(i);
		slept.await_eq_acquire(true);
		klock::relax_for(100); /* from the count to the sleep itself */
		measured->wake();
		if (kept[0] < shortest)
			shortest = kept[0];
		ended.await_eq_acquire(i);
	}
}

u64 shortest_section(const wakes::row &what, bool inside)
{
	reset_threads();
	begun.store_relaxed(0);
	ended.store_relaxed(0);
	measured = &what;
	shortest = never;
	sends_inside = inside;
	boot::run_on_cpus(2, wake_or_wait, nullptr);
	sends_inside = false;
	return shortest;
}

void measure_wakes(const options &o)
{
	const char *wrong = nullptr;

	if (boot::cpu_count() < 2 || spins)
		return print_skipped(o, "wakes", "it takes 2 CPUs that sleep");
	/* RISC-V's, too, of 100 instructions. */
	if (boot::coarse_step_ns() || boot::cycles_to_ns(1) > 20)
		return print_skipped(o, "wakes",
				     "the clock's steps are too long");
	/* `running` stays: a handler of a run that gave up may be late. */
	for (const wakes::row &one : wakes::rows) {
		const u64 inside = shortest_section(one, true);
		const u64 behind =
			shortest_section(one, asks_for(seeded::no_work));

		boot::print("%s%s: keeps the inner lock for %u cycles, with "
			    "the IPI behind it for %u\n",
			    o.output == mode::tap ? "# " : "", one.name, inside,
			    behind);
		if (behind >= inside)
			wrong = "the inner lock is kept for no less with the "
				"IPI behind it";
	}
	note_row("wakes", wrong);
	print_verdict(o, "wakes", wrong);
}

} // namespace

int run_sleep(const options &o)
{
	constexpr unsigned others = 7;

	spins = asks_for(seeded::nobody_sleeps);
	begin_report(o, o.counts * (count_rows + 1) + others);
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
		for (const row *one = sleepers::rows; one;
		     one = row_after(one)) {
			say_running(o, one->name);
			print_row(o, *one, o.cpus[i],
				  run_row(*one, o, o.cpus[i], stuck::is_a_bug));
		}
	find_mistakes(o);
	measure_wakes(o);
	return end_report();
}

} // namespace lab
