/* SPDX-License-Identifier: MIT */
/*
 * A kernel whose CPUs must come up in time, as those of xv6 and its likes do.
 *
 * The boot CPU works on, page by page, each under the lock of the free list,
 * while the others start; each of them takes pages of its own, and is up when
 * it has them. The boot CPU waits for them for half a second, and then goes on
 * without them: too late is a failure. Words:
 *
 *	lock=	ticket, preemptable or backoff
 *	slice=	CPUs run by turns of so many microseconds, one at a time, as
 *		vCPUs do that share a host core; 0: as the host runs them
 *
 * A slice is the guest's own, and so is the place where it ends: inside a
 * critical section in one round, between two of them in the next. A CPU that
 * waits for the lock is held by its timer while it is another's turn. No
 * compiler and no emulator changes that; under -icount every boot is the same.
 */
#include <boot/kernel.hpp>

#include <klock/atomic.hpp>
#include <klock/guard.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

namespace {

using boot::u64;
using boot::u8;

constexpr u64 time_out_us = 500'000;
/* Of each CPU: a stack, page tables, what its drivers keep. */
constexpr unsigned pages_each = 128;
constexpr u8 timer_vector = boot::first_free_vector;

struct page {
	page *next;
};
constinit page memory[2 * boot::max_cpus * pages_each];

/* -- CPUs by turns -- */

constinit u64 slice = 0; /* cycles; 0: none */

/* Each CPU's own, and its timer's: it waits for the lock. */
constinit klock::atomic<bool> waits[boot::max_cpus] = {};

void note_waiting(bool now) { waits[boot::this_cpu()].store_relaxed(now); }

u64 slices_so_far() { return boot::div_u64(klock::cycles(), slice); }

u64 round_of(u64 slices) { return boot::div_u64(slices, boot::cpu_count()); }

bool is_my_turn()
{
	const u64 slices = slices_so_far();

	return slices - round_of(slices) * boot::cpu_count() ==
	       boot::this_cpu();
}

void wait_for_turn()
{
	while (!is_my_turn())
		klock::cpu_relax();
}

/*
 * In odd rounds slices end inside a section. The boot CPU begins in one, on
 * every machine: all others find the lock taken.
 */
bool is_odd_round() { return round_of(slices_so_far()) % 2; }

/* From this CPU's next slice on. */
void run_by_turns(u64 slice_us)
{
	while (!boot::this_cpu() && is_odd_round())
		klock::cpu_relax();
	while (is_my_turn())
		klock::cpu_relax();
	wait_for_turn();
	boot::timer_start_periodic(timer_vector, slice_us * 1000 / 16);
}

void timer_came(boot::interrupt_frame &)
{
	if (waits[boot::this_cpu()].load_relaxed())
		wait_for_turn();
}

/* A place where this CPU's slice ends if it is over. */
void slice_may_end(bool in_section)
{
	if (slice && is_odd_round() == in_section)
		wait_for_turn();
}

/* -- The free pages, under the kernel's lock -- */

template <typename Lock>
struct free_list {
	page *take()
	{
		slice_may_end(false);
		take_lock();
		klock::guard held(lock, klock::adopt);
		page *const taken = first;

		slice_may_end(true);
		/* Whoever is let in here takes it, too. */
		if (++sections % 16 == 0)
			klock::cpu_relax();
		first = taken->next;
		return taken;
	}

	void give(page *freed)
	{
		take_lock();
		klock::guard held(lock, klock::adopt);

		freed->next = first;
		first = freed;
	}

	/* Where nobody has it, no timer finds this CPU at it. */
	void take_lock()
	{
		if (lock.try_lock())
			return;
		note_waiting(true);
		lock.lock();
		note_waiting(false);
	}

	unsigned size() const
	{
		unsigned n = 0;

		for (const page *at = first; at; at = at->next)
			n++;
		return n;
	}

	Lock lock;
	page *first = nullptr;
	unsigned sections = 0;
};

template <typename Lock>
constinit free_list<Lock> pages = {};

/* The boot CPU's time runs. */
constinit klock::atomic<boot::u32> begun{0};
constinit klock::atomic<boot::u32> cpus_up{1};

/* -- Start-up -- */

struct start_up {
	u64 slice_us;
	u64 begun;   /* of klock::cycles() */
	u64 last_up; /* the same; so far */
};

template <typename Lock>
void come_up(start_up &s)
{
	for (unsigned i = 0; i < pages_each; i++)
		(void)pages<Lock>.take();

	klock::guard held(pages<Lock>.lock);
	s.last_up = klock::cycles();
	cpus_up.fetch_add_release(1);
}

/* What the boot CPU does until all others are up, or its patience ends. */
template <typename Lock>
void boot_on(start_up &s)
{
	const u64 limit = boot::ns_to_cycles(time_out_us * 1000);

	s.begun = klock::cycles();
	begun.store_release(1);
	do
		pages<Lock>.give(pages<Lock>.take());
	while (klock::cycles() - s.begun < limit &&
	       cpus_up.load_acquire() < boot::cpu_count());
	boot::print("%u of %u CPUs are up when the boot CPU goes on\n",
		    cpus_up.load_acquire(), boot::cpu_count());
}

template <typename Lock>
void start_cpu(unsigned cpu, void *arg)
{
	start_up &s = *static_cast<start_up *>(arg);

	if (cpu)
		begun.await_eq_acquire(1);
	if (s.slice_us)
		run_by_turns(s.slice_us);
	if (cpu)
		come_up<Lock>(s);
	else
		boot_on<Lock>(s);
	boot::timer_stop();
}

template <typename Lock>
bool start_all(u64 slice_us)
{
	const unsigned taken = (boot::cpu_count() - 1) * pages_each;
	start_up s = {slice_us, 0, 0};

	for (page &each : memory)
		pages<Lock>.give(&each);
	boot::run_on_cpus(boot::cpu_count(), start_cpu<Lock>, &s);
	if (pages<Lock>.size() + taken != sizeof(memory) / sizeof(page)) {
		boot::print("FAIL: pages were lost, or given twice\n");
		return false;
	}
	const u64 us =
		boot::div_u64(boot::cycles_to_ns(s.last_up - s.begun), 1000);

	boot::print("the last one is up after %u us\n", us);
	if (us > time_out_us)
		boot::print("FAIL: not all CPUs came up in time\n");
	return us <= time_out_us;
}

bool start_with(const char *lock, u64 slice_us)
{
	if (boot::same_text(lock, "ticket"))
		return start_all<klock::ticket_lock<u8>>(slice_us);
	if (boot::same_text(lock, "preemptable"))
		return start_all<klock::preemptable_ticket_lock<u8>>(slice_us);
	if (boot::same_text(lock, "backoff"))
		return start_all<klock::backoff_ttas_lock>(slice_us);
	boot::print("FAIL: lock=%s is unknown\n", lock);
	return false;
}

} // namespace

int payload_main()
{
	const char *const lock = boot::command_line().find("lock");
	const char *const asked = boot::command_line().find("slice");
	u64 slice_us = 0;

	if (asked && !boot::parse_u64(asked, slice_us))
		return 1;
	slice = boot::ns_to_cycles(slice_us * 1000);
	boot::set_interrupt_handler(timer_vector, timer_came);
	if (!start_with(lock ? lock : "preemptable", slice_us))
		return 1;
	boot::print("PASS\n");
	return 0;
}
