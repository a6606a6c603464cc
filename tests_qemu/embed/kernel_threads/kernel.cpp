/* SPDX-License-Identifier: MIT */
/*
 * A kernel with threads: a run queue, one scheduler lock, timer preemption, and
 * klock's four functions about threads made of it.
 *
 * 64 threads on all CPUs use each of the locks that sleep (the lab's turns,
 * klock/selftest/sleepers.hpp; the timer's handler brings what they wait for).
 * Half of them are urgent. Where nobody can run any more although not all are
 * done, it says who waits for what.
 *
 * A wake-up preempts: an urgent thread runs before its waker goes on. At last,
 * each lock shows that on one CPU. Without lib/unparked on the include path it
 * does not, and the last line says so. Word:
 *
 *	park=no_look	park() sleeps without a look at the permit: that must be
 *			found, and is
 */
#include <boot/kernel.hpp>

#include <klock/atomic.hpp>
#include <klock/irq_guard.hpp>
#include <klock/os.hpp>
#include <klock/selftest/parking.hpp>
#include <klock/selftest/sleepers.hpp>
#include <klock/ticket_lock.hpp>

namespace {

using boot::u32;
using boot::u64;
using boot::u8;
using klock::usize;
using klock::selftest::sleepers::here;
namespace sleepers = klock::selftest::sleepers;

constexpr unsigned most_threads = 64;
constexpr u8 tick_vector = boot::first_free_vector;
constexpr u8 wake_vector = tick_vector + 1;
constexpr u64 tick_ns = 2'000'000;

/* -- Threads -- */

enum class state : u8 { unused, runnable, running, sleeping };

struct thread : klock::inheriting_thread {
	usize stack_pointer = 0; /* while it does not run */
	usize preempted_at = 0;
	thread *next = nullptr; /* in the run queue */
	state now = state::unused;
	bool permit = false;
	bool urgent = false; /* first in the run queue, and preempts: of
			      * priority 1, its own or lent */
	u64 deadline = 0;    /* while it sleeps; ~0: none */
	void (*body)(void *) = nullptr;
	void *of = nullptr;
};

/* A CPU's current thread, and the thread to which the CPU comes back. */
struct alignas(klock::cache_line) per_cpu {
	thread *current = nullptr;
	thread idle;
};

/* Protects all that is in threads and CPUs. */
constinit klock::ticket_lock<u8> scheduler_lock;
constinit thread threads[most_threads];
alignas(16) constinit u8 thread_stacks[most_threads][16384] = {};
constinit per_cpu cpus[boot::max_cpus];
constinit thread *first_runnable = nullptr, *last_runnable = nullptr;
constinit unsigned idle_cpus = 0, alive = 0;
constinit u64 switches = 0;
constinit klock::atomic<u32> preemptions;
constinit bool ticks = true;			  /* the timer preempts */
constinit bool looks = true;			  /* park() does */
constinit const sleepers::row *running = nullptr; /* null: none of them */

/* Asked anew each time: after a switch it may be another one. */
[[gnu::noinline]] per_cpu &this_one()
{
	asm volatile("" ::: "memory");
	return cpus[boot::this_cpu()];
}

thread &current()
{
	const boot::interrupts_off here;

	return *this_one().current;
}

void make_runnable(thread &one)
{
	one.now = state::runnable;
	one.next = one.urgent ? first_runnable : nullptr;
	(one.urgent || !first_runnable ? first_runnable : last_runnable->next) =
		&one;
	if (!one.next)
		last_runnable = &one;
	if (idle_cpus)
		boot::send_ipi_to_others(wake_vector);
}

/* A runnable one becomes urgent, or is it no more. */
void move_in_queue(thread &one)
{
	thread *before = nullptr;

	for (thread *at = first_runnable; at != &one; at = at->next)
		before = at;
	(before ? before->next : first_runnable) = one.next;
	if (last_runnable == &one)
		last_runnable = before;
	make_runnable(one);
}

/* Saves what a function keeps, on the old stack; goes on where the new one
 * was. */
extern "C" void switch_stacks(usize *from, usize to);
/* clang-format off */
asm(R"(
	.globl switch_stacks
switch_stacks:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret

	/* Where a preempted thread goes on, with interrupts off. Behind what
	 * is saved is room for the address that it was at. */
	.globl preempted
preempted:
	pushq $0
	pushfq
	orq $0x200, (%rsp)
	pushq %rax
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %rbp
	movq %rsp, %rbp
	andq $-16, %rsp
	cld
	call be_preempted
	movq %rax, 88(%rbp)
	movq %rbp, %rsp
	popq %rbp
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rax
	popfq
	ret
)");
/* clang-format on */
extern "C" void preempted();

/* The scheduler lock is held, before and after. */
void switch_away()
{
	thread &me = *this_one().current;

	switches++;
	switch_stacks(&me.stack_pointer, this_one().idle.stack_pointer);
}

void wake_late()
{
	const u64 now = klock::cycles();

	for (thread &one : threads)
		if (one.now == state::sleeping && one.deadline <= now)
			make_runnable(one);
}

extern "C" void give_way()
{
	const klock::irq_guard held(scheduler_lock);

	wake_late();
	make_runnable(*this_one().current);
	switch_away();
}

/* Interrupts are off. Returns where the thread goes on. */
extern "C" usize be_preempted()
{
	const usize at = this_one().current->preempted_at;

	give_way();
	return at;
}

extern "C" void begin_thread()
{
	thread &me = *this_one().current;

	scheduler_lock.unlock(); /* whoever switched to it has taken it */
	boot::enable_interrupts();
	me.body(me.of);
	boot::disable_interrupts();
	scheduler_lock.lock();
	me.now = state::unused;
	alive--;
	switch_away();
}

thread &start_new(void (*body)(void *), void *of, bool urgent)
{
	const klock::irq_guard held(scheduler_lock);
	thread *one = threads;

	while (one->now != state::unused)
		one++;
	auto *top = reinterpret_cast<usize *>(thread_stacks[one - threads + 1]);

	*--top = 0; /* nobody to return to; the stack is as after a call */
	*--top = reinterpret_cast<usize>(begin_thread);
	one->stack_pointer = reinterpret_cast<usize>(top - 6);
	one->body = body;
	one->of = of;
	one->permit = false;
	one->urgent = urgent;
	alive++;
	make_runnable(*one);
	return *one;
}

thread &start(void (*body)(void *), void *of, bool urgent)
{
	thread &one = start_new(body, of, urgent);

	klock::priority_changed(one, urgent);
	return one;
}

void start_thread(void (*body)(void *), void *of) { start(body, of, false); }

/* -- The functions that klock asks of the kernel  */

bool park_until(u64 deadline)
{
	if (!looks)
		klock::relax_for(3); /* a longer way to the lock */
	const klock::irq_guard held(scheduler_lock);
	thread &me = *this_one().current;

	if (!me.permit || !looks) {
		me.deadline = deadline;
		me.now = state::sleeping;
		switch_away();
	}
	me.permit = false;
	return klock::cycles() < deadline;
}

} // namespace

extern "C" {

usize klock_os_thread(void) { return reinterpret_cast<usize>(&current()); }

klock::inheriting_thread *klock_os_inheriting_thread(void)
{
	return &current();
}

void klock_os_run_with_priority(klock::inheriting_thread *who, unsigned to)
{
	thread &one = static_cast<thread &>(*who);
	const klock::irq_guard held(scheduler_lock);

	one.urgent = to != 0;
	if (one.now == state::runnable)
		move_in_queue(one);
}

void klock_os_park(void) { (void)park_until(~u64{0}); }

bool klock_os_park_until(u64 deadline) { return park_until(deadline); }

void klock_os_unpark(usize handle)
{
	thread &one = *reinterpret_cast<thread *>(handle);
	const klock::irq_guard held(scheduler_lock);

	one.permit = true;
	if (one.now == state::sleeping)
		make_runnable(one);
}

/* With interrupts off, in a handler or in a section of the caller's, it must
 * not switch; the timer's handler does, when it is over. */
void klock_os_unparked(void)
{
	if (!klock::irqs_enabled())
		return;
	const klock::irq_guard held(scheduler_lock);
	thread *const me = this_one().current;

	if (first_runnable && first_runnable->urgent && !me->urgent) {
		make_runnable(*me);
		switch_away();
	}
}
}

namespace {

/* -- The scheduler: each CPU's own stack -- */

/*
 * Reports that no thread can run: all sleepers wait for each other, or for a
 * wake-up that was lost.
 */
[[noreturn]] void report_standstill()
{
	boot::print("FAIL: %u threads sleep, and nobody is left to wake them\n",
		    alive);
	for (thread &one : threads)
		if (one.now == state::sleeping)
			boot::print("  thread %u waits for %s%s\n",
				    static_cast<unsigned>(&one - threads),
				    running ? running->name : "a permit",
				    one.permit ? "; it has a permit: its "
						 "park() did not look"
					       : "");
	boot::exit(boot::exit_code::fail);
}

/*
 * All threads wait, and the timer's handler releases nothing that they wait
 * for.
 */
bool is_standstill()
{
	if (!alive || idle_cpus < boot::cpu_count() ||
	    (running && running->bring))
		return false;
	for (thread &one : threads)
		if (one.now == state::sleeping && ~one.deadline)
			return false;
	return true;
}

void sleep_until_work()
{
	idle_cpus++;
	if (is_standstill())
		report_standstill();
	scheduler_lock.unlock();
	boot::wait_for_interrupt(); /* comes to the lock at the latest */
	boot::disable_interrupts();
	scheduler_lock.lock();
	idle_cpus--;
	wake_late();
}

void schedule(unsigned, void *)
{
	const klock::irq_guard held(scheduler_lock);

	boot::timer_start_periodic(tick_vector, tick_ns);
	while (alive) {
		thread *const one = first_runnable;

		if (!one) {
			sleep_until_work();
			continue;
		}
		first_runnable = one->next;
		one->now = state::running;
		this_one().current = one;
		switch_stacks(&this_one().idle.stack_pointer,
			      one->stack_pointer);
		this_one().current = nullptr;
	}
	boot::send_ipi_to_others(wake_vector); /* they are done, too */
	boot::timer_stop();
}

/* Brings what others wait for. The thread goes on in be_preempted(), when the
 * interrupt is over. */
void tick(boot::interrupt_frame &frame)
{
	if (running && running->bring)
		running->bring(boot::this_cpu());
	if (!this_one().current || !ticks)
		return;
	preemptions.fetch_add_relaxed(1);
	this_one().current->preempted_at = frame.ip;
	frame.ip = reinterpret_cast<usize>(preempted);
	frame.flags &= ~u64{0x200};
}

/* Runs until no thread is left. */
void run_threads() { boot::run_on_cpus(boot::cpu_count(), schedule, nullptr); }

/* -- The threads' work -------------- */

void take_turns(void *number)
{
	const auto me = static_cast<unsigned>(reinterpret_cast<usize>(number));
	klock::selftest::xorshift dice(me + 1);

	for (u32 i = 0; i < here.rounds; i++) {
		running->turn(dice, me);
		here.steps.fetch_add_relaxed(1);
	}
}

/* Null: all is right. */
const char *run_row(const sleepers::row &one)
{
	running = &one;
	here.prepare(20, most_threads);
	for (usize i = 0; i < here.threads; i++)
		start(take_turns, reinterpret_cast<void *>(i), i % 2);
	run_threads();
	running = nullptr;
	return sleepers::fault(one);
}

/* -- An urgent thread runs before its waker goes on -- */

using wakes = sleepers::wakes<klock::detail::sleepers_lock>;

constinit klock::semaphore turns;
constinit u32 ran = 0; /* turns that have ended */

bool is_asleep(const thread &one)
{
	const klock::irq_guard held(scheduler_lock);

	return one.now == state::sleeping;
}

void be_woken(void *)
{
	for (const wakes::row &one : wakes::rows) {
		turns.acquire();
		one.wait();
		ran++;
	}
}

void wake_and_look(void *first)
{
	thread &urgent = start(be_woken, nullptr, true);

	for (const wakes::row &one : wakes::rows) {
		const u32 before = ran;

		one.prepare();
		turns.release();
		while (!is_asleep(urgent))
			give_way();
		one.wake();
		*static_cast<u32 *>(first) += ran != before;
		while (ran == before)
			give_way();
	}
}

/* On one CPU without ticks: nothing but the wake-up preempts the waker. */
const char *test_urgent_wakes()
{
	u32 first = 0;
	constexpr u32 all = sizeof(wakes::rows) / sizeof(wakes::rows[0]);

	ticks = false;
	start_thread(wake_and_look, &first);
	boot::run_on_cpus(1, schedule, nullptr);
	boot::print("%u of %u urgent threads ran before their wakers went on\n",
		    first, all);
	return first == all ? nullptr
			    : "a waker went on before the urgent thread that "
			      "it had woken";
}

/* -- A thread is urgent while an urgent one waits for what it holds -- */

void take_and_release(void *since)
{
	*static_cast<u64 *>(since) = klock::cycles();
	const klock::guard held(sleepers::the_inheriting_mutex);
}

/* The delay of an inversion: how long the urgent one spins before its CPU is
 * the holder's again, in spin iterations. */
void print_delay(u64 cycles)
{
	constexpr u32 turns = 1000;
	const u64 start = klock::cycles();

	klock::relax_for(turns);
	const u64 all = klock::cycles() - start;
	boot::print("the holder went on %u spin iterations after an urgent "
		    "thread wanted its lock\n",
		    static_cast<u32>(cycles * turns / (all ? all : 1)));
}

void hold_and_look(void *was_lent)
{
	auto &lock = sleepers::the_inheriting_mutex;
	u64 since = 0;

	lock.lock();
	thread &urgent = start(take_and_release, &since, true);

	while (!is_asleep(urgent))
		give_way();
	print_delay(klock::cycles() - since);
	const bool is_lent = current().urgent;

	lock.unlock();
	*static_cast<bool *>(was_lent) = is_lent && !current().urgent;
}

const char *test_lending()
{
	bool was_lent = false;

	start_thread(hold_and_look, &was_lent);
	boot::run_on_cpus(1, schedule, nullptr);
	return was_lent ? nullptr
			: "a priority was not lent, or not given back";
}

/* -- klock's own test of this kernel's functions -- */

constinit klock::selftest::parking_test parking{};
constinit const char *wrong = nullptr;

void test_parking(void *)
{
	const klock::selftest::parking_world world = {
		start_thread,
		[] {
			give_way();
			klock::cpu_relax();
		},
		2'000'000, 300};

	wrong = parking.run(world);
	if (!wrong)
		wrong = parking.run_timed(world);
}

} // namespace

int payload_main()
{
	const char *const park = boot::command_line().find("park");

	boot::set_interrupt_handler(tick_vector, tick);
	boot::set_interrupt_handler(wake_vector,
				    [](boot::interrupt_frame &) {});
	looks = !park || !boot::same_text(park, "no_look");
	if (looks) {
		start_thread(test_parking, nullptr);
		run_threads();
	}
	for (const sleepers::row &one : sleepers::rows)
		if (!wrong)
			wrong = run_row(one);
	if (!wrong)
		wrong = run_row(sleepers::lends);
	if (!wrong && !preemptions.load_relaxed())
		wrong = "nobody was preempted";
	if (!wrong)
		wrong = test_urgent_wakes();
	if (!wrong)
		wrong = test_lending();
	boot::print("%u switches, %u preemptions\n%s%s\n", switches,
		    preemptions.load_relaxed(), wrong ? "FAIL: " : "PASS",
		    wrong ? wrong : "");
	return wrong ? 1 : 0;
}
