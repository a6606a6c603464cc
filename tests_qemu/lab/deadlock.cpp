/* SPDX-License-Identifier: MIT */
/*
 * deadlock - bugs of real kernels, each of several locks, or of one and a
 * handler
 *
 * Nothing hangs here but the shootdown, which the watchdog ends: the CPUs take
 * their turns. Each order is right alone; it is the second that is named,
 * before anybody waits.
 */
#include "jobs.hpp"

#include "context.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <klock/checked_lock.hpp>
#include <klock/cpu.hpp>
#include <klock/irq_guard.hpp>
#include <klock/order_calls.hpp>
#include <klock/ticket_lock.hpp>

namespace lab {

namespace {

constexpr bool debug = true;
constexpr klock::u8 vector = 0x43;

using byte_lock = klock::ticket_lock<klock::u8>;

constinit klock::checked_if<debug, byte_lock, "inode"> inode;
constinit klock::checked_if<debug, byte_lock, "buffer"> buffer;
constinit klock::checked_if<debug, byte_lock, "disk"> disk;
constinit klock::checked_if<debug, byte_lock, "console"> console;
constinit klock::checked_if<debug, byte_lock> runqueues[2];

/* what(cpu), on one CPU after another. */
template <typename What>
void in_turns(unsigned cpus, What what)
{
	static constinit klock::atomic<klock::u32> turn;

	boot::run_on_cpus(
		cpus,
		[](unsigned cpu, void *of) {
			turn.await_eq_acquire(cpu);
			(*static_cast<What *>(of))(cpu);
			turn.store_release(cpu + 1);
		},
		&what);
}

template <typename First, typename Second>
void nest(First &first, Second &second)
{
	klock::irq_guard outer(first);
	klock::irq_guard inner(second);
}

void two_orders()
{
	in_turns(2, [](unsigned cpu) {
		if (cpu == 0)
			nest(inode, buffer);
		else
			nest(buffer, inode);
	});
}

void three_cpus()
{
	in_turns(3, [](unsigned cpu) {
		if (cpu == 0)
			nest(inode, buffer);
		else if (cpu == 1)
			nest(buffer, disk);
		else
			nest(disk, inode);
	});
}

/* Each CPU takes its own first, to move a thread to the other's. */
void two_queues()
{
	klock::set_name(runqueues[0], "runqueue", 0);
	klock::set_name(runqueues[1], "runqueue", 1);
	in_turns(2, [](unsigned cpu) {
		nest(runqueues[cpu], runqueues[1 - cpu]);
	});
}

/* The disk's handler wakes who waits, and says so on the console. */
void handler_order()
{
	boot::set_interrupt_handler(vector, [](boot::interrupt_frame &) {
		const in_handler here(boot::this_cpu(),
				      klock::context::interrupt);
		klock::irq_guard held(disk);
	});
	boot::send_ipi(0, vector);
	boot::delay_us(1000);
	in_turns(2, [](unsigned cpu) {
		if (cpu == 1)
			nest(disk, console);
	});
	klock::guard held(console);
}

/* Prints a failing kernel's last words while it was printing. */
void console_in_panic()
{
	const auto print_last_words = [] { klock::irq_guard held(console); };

	klock::irq_guard held(console);
	print_last_words();
}

/* Waits for all others to flush their TLBs; one of them wants the inode. */
void sleeps()
{
	klock::irq_guard held(inode);

	klock::might_wait<debug>();
}

/* CPU 1's answers to CPU 0, in the IPI's handler or in lock(flush). */
constinit klock::atomic<klock::u32> rounds, asked, answered;

void flush()
{
	if (asked.exchange_acquire(0))
		answered.fetch_add_release(1);
}

/* CPU 0 waits for the answer and has the inode, which CPU 1 waits for. */
template <bool Serves>
void unmap_or_wait(unsigned cpu, void *)
{
	const boot::interrupts_off all_the_time;

	for (klock::u32 i = 1; i <= 100; i++) {
		if (cpu == 1) {
			rounds.await_eq_acquire(i);
			if (Serves)
				klock::irq_guard held(inode, flush);
			else
				klock::irq_guard held(inode);
			continue;
		}
		klock::irq_guard held(inode);
		asked.store_release(1);
		boot::send_ipi(1, vector);
		rounds.store_release(i);
		klock::might_wait_with(inode);
		answered.await_eq_acquire(i);
	}
}

template <bool Serves>
void shootdown()
{
	boot::set_interrupt_handler(vector,
				    [](boot::interrupt_frame &) { flush(); });
	run_watched({nullptr, "inode", 2,
		     [](const void *) { return answered.load_relaxed(); },
		     [](const void *, unsigned cpu) {
			     return cpu == 0 ? klock::selftest::doing_section
					     : klock::selftest::doing_wait;
		     },
		     [](const void *) { return describe(inode); },
		     stuck::is_a_bug},
		    unmap_or_wait<Serves>, nullptr);
}

struct deadlock {
	void (*run)();
	const char *picture;
};

constexpr deadlock deadlocks[] = {
	{two_orders, "CPU 0: inode -> buffer\n"
		     "# CPU 1: buffer -> inode\n"},
	{three_cpus, "CPU 0: inode -> buffer\n"
		     "# CPU 1:          buffer -> disk\n"
		     "# CPU 2: inode <----------- disk\n"},
	{two_queues, "CPU 0: runqueue[0] -> runqueue[1]\n"
		     "# CPU 1: runqueue[0] <- runqueue[1]\n"},
	{handler_order, "CPU 0: console, interrupts on -> handler -> disk\n"
			"# CPU 1: console  <------------------------  disk\n"},
	{console_in_panic, "CPU 0: console -> panic -> console\n"},
	{sleeps, "CPU 0: inode -> an answer of CPU 1\n"
		 "# CPU 1: inode <- that answer\n"},
	{shootdown<false>, "CPU 0: inode -> the answer to an IPI\n"
			   "# CPU 1: inode <- interrupts on\n"},
	{shootdown<true>, "CPU 0: inode -> the answer to an IPI\n"
			  "# CPU 1: inode, and answers meanwhile\n"},
};

/* Deadlocks of one lock, which misuse.cpp makes. */
struct picture_of {
	misuse what;
	const char *picture;
};
constexpr picture_of pictures[] = {
	{misuse::recursion, "CPU 0: runqueue -> runqueue\n"},
	{misuse::interrupted_waiter,
	 "CPU 0: waits for runqueue, interrupts on -> handler -> runqueue\n"
	 "# CPU 1: runqueue\n"},
	{misuse::reading_handler,
	 "CPU 0: reads routes, interrupts on -> handler -> reads routes\n"
	 "# CPU 1: waits to write routes between the two\n"},
};

void print_picture(misuse what)
{
	for (const picture_of &one : pictures)
		if (one.what == what)
			boot::print("# deadlock: %s\n# %s", name_of(what),
				    one.picture);
}

/* The first of `misuse` with several locks, behind those of one. */
constexpr klock::u32 first = static_cast<klock::u32>(misuse::two_orders);

} // namespace

int run_deadlock(const options &o)
{
	const misuse what = o.what;
	const klock::u32 number = static_cast<klock::u32>(what);

	if (number < first) {
		print_picture(what);
		return run_misuse(o);
	}
	const deadlock &one = deadlocks[number - first];

	boot::print("# deadlock: %s\n# %s", name_of(what), one.picture);
	one.run();
	if (what == misuse::served) {
		boot::print("# %u answers\nPASS\n", answered.load_relaxed());
		return 0;
	}
	boot::print("FAIL: deadlock %s was not noticed\n", name_of(what));
	return 1;
}

} // namespace lab
