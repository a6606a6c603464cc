/* SPDX-License-Identifier: MIT */
/*
 * deadlock - bugs of real kernels, on real CPUs, which checked locks name: a
 * misuse of one lock, a deadlock of several, or of one and a handler
 *
 * An unchecked lock hangs or lets two CPUs in. Nothing hangs here but the
 * shootdown, which the watchdog ends: where there are several locks, the CPUs
 * take their turns, and each order is right alone; it is the second that is
 * named, before anybody waits. tests_host/unit has all misuse that is named.
 */
#include "options.hpp"

#include "context.hpp"
#include "faults.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <klock/atomic.hpp>
#include <klock/checked_lock.hpp>
#include <klock/cpu.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/order_calls.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/print_held.hpp>
#include <klock/shared_guard.hpp>
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
constinit klock::checked_if<debug, byte_lock, "runqueue"> runqueue;
constinit klock::checked_if<debug, klock::phase_fair_lock<klock::u8>, "routes">
	routes;
/* The other CPU's part has begun. */
constinit klock::atomic<klock::u8> taken;

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

} // namespace

/* -- One lock, and its context -- */

/* The last CPU gives back what CPU 0 took. */
void foreign_unlock()
{
	runqueue.lock();
	boot::run_on_cpus(
		boot::cpu_count(),
		[](unsigned cpu, void *) {
			if (cpu == boot::cpu_count() - 1)
				runqueue.unlock();
		},
		nullptr);
}

void nmi_lock()
{
	set_nmi_visitor([](unsigned) { klock::guard held(runqueue); });
	boot::send_nmi(0);
	boot::delay_us(10000);
}

/*
 * CPU 1 holds it, with interrupts off, as it should. CPU 0 waits with
 * interrupts on: its handler would queue behind its own CPU's ticket, for ever.
 */
void interrupted_waiter()
{
	boot::set_interrupt_handler(vector, [](boot::interrupt_frame &) {
		const in_handler here(boot::this_cpu(),
				      klock::context::interrupt);
		klock::guard held(runqueue);
	});
	boot::run_on_cpus(
		2,
		[](unsigned cpu, void *) {
			if (cpu == 0) {
				taken.await_eq_acquire(1);
				klock::guard held(runqueue);
				return;
			}
			klock::irq_guard held(runqueue);
			taken.store_release(1);
			boot::delay_us(100000);
			boot::send_ipi(0, vector);
			boot::delay_us(100000);
		},
		nullptr);
}

/*
 * CPU 0's thread reads with interrupts on, a writer waits for it on CPU 1, and
 * the handler over the thread reads behind the writer: all wait for ever.
 */
void reading_handler()
{
	boot::set_interrupt_handler(vector, [](boot::interrupt_frame &) {
		const in_handler here(boot::this_cpu(),
				      klock::context::interrupt);
		klock::shared_guard held(routes);
	});
	boot::run_on_cpus(
		boot::cpu_count() > 1 ? 2 : 1,
		[](unsigned cpu, void *) {
			if (cpu == 1) {
				taken.await_eq_acquire(1);
				klock::irq_guard held(routes);
				return;
			}
			klock::shared_guard held(routes);
			taken.store_release(1);
			boot::delay_us(100000);
			klock::print_held([](const char *line) {
				boot::print("# %s\n", line);
			});
			boot::send_ipi(0, vector);
			boot::delay_us(10000);
		},
		nullptr);
}

/* -- Several locks -- */

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

namespace {

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
void shoot_down()
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

} // namespace

void shootdown() { shoot_down<false>(); }

void served()
{
	shoot_down<true>();
	boot::print("# %u answers\n", answered.load_relaxed());
}

int run_deadlock(const options &o)
{
	const named_bug &bug = *o.what.read();

	if (bug.kind == named_bug::wants_nmis && !boot::has_nmi()) {
		boot::print("FAIL: %s: this machine has no NMIs\n", bug.name);
		return 1;
	}
	boot::print("# deadlock: %s\n# %s", bug.name, bug.picture);
	bug.run();
	if (bug.kind == named_bug::is_right) {
		boot::print("PASS\n");
		return 0;
	}
	boot::print("FAIL: deadlock %s was not noticed\n", bug.name);
	return 1;
}

} // namespace lab
