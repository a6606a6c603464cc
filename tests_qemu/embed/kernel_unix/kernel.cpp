/* SPDX-License-Identifier: MIT */
/*
 * A kernel of the shape of a teaching Unix, for RISC-V, with all of its locks
 * checked, ordered and counted: they must stay silent.
 *
 * Nothing of boot/ is in it. It starts in machine mode and goes to supervisor
 * mode by itself, with mcounteren = 0: there rdtime is an illegal instruction.
 * Its spin lock is acquire() and release(), which count how often interrupts
 * were turned off; its sleep locks are its own; locks lie in pages that it
 * frees; and its locks have a cycle that a reference count excludes:
 *
 *	inode table -> sleep lock	iput(), of an inode that nobody else has
 *	sleep lock -> process		who finds it taken sleeps, so nobody
 *	process -> inode table		fork()
 *
 * Each hart is a process. What its sleep locks are, when memory is freed and
 * that the cycle is harmless it says by klock/order_calls.hpp.
 *
 * Such kernels also give their CPUs half a second to come up. The last part
 * shows what that takes where CPUs share one core of the host: a FIFO lock
 * misses it.
 */
#include <klock/atomic.hpp>
#include <klock/checked_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/cpu.hpp>
#include <klock/irq.hpp>
#include <klock/lock_order.hpp>
#include <klock/order_calls.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/print_counts.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

namespace {

using klock::call_site;
using klock::caller_site;
using klock::u32;
using klock::u64;
using klock::u8;
using klock::usize;

constexpr unsigned harts = 2;
constexpr unsigned rounds = 300;

} // namespace

/* -- From reset to supervisor mode -- */

extern "C" {
[[gnu::aligned(4096)]] u8 stacks[harts][16384];
void supervisor_main();
void trap_entry();
void *memset(void *at, int value, usize size);
}

/* clang-format off */
asm(R"(
	.section .text.entry, "ax", @progbits
	.globl _start
_start:
	csrr tp, mhartid
	la sp, stacks
	li t0, 16384
	addi t1, tp, 1
	mul t0, t0, t1
	add sp, sp, t0
	li t0, 3 << 11		/* mstatus.MPP: the supervisor */
	csrc mstatus, t0
	li t0, 1 << 11
	csrs mstatus, t0
	la t0, supervisor_main
	csrw mepc, t0
	la t0, machine_trap
	csrw mtvec, t0
	li t0, 0xfdff		/* all but the supervisor's ecall */
	csrw medeleg, t0
	li t0, 0xffff
	csrw mideleg, t0
	li t0, -1		/* all memory is the supervisor's, too */
	srli t0, t0, 10
	csrw pmpaddr0, t0
	li t0, 0xf
	csrw pmpcfg0, t0
	csrw mcounteren, zero	/* as a kernel that does not know of it */
	la t0, trap_entry
	csrw stvec, t0
	csrw satp, zero
	csrwi sip, 2
	csrwi sie, 2
	mret

	/* ecall: the clock is the supervisor's from now on. */
	.balign 4
machine_trap:
	csrwi mcounteren, 2
	csrr t0, mepc
	addi t0, t0, 4
	csrw mepc, t0
	mret

	.globl trap_entry
	.balign 4
trap_entry:
	csrr a0, scause
	csrr a1, sepc
	call trapped
	.text
)");
/* clang-format on */

namespace {

/* -- The end, and a line for who reads -- */

/* QEMU's, as runner/output.py wants them. */
enum class ending : u32 { pass = 85, fail = 87, panic = 89 };

[[noreturn]] void exit(ending how)
{
	auto *const device = reinterpret_cast<volatile u32 *>(0x100000);

	for (;;)
		*device = static_cast<u32>(how) << 16 | 0x3333;
}

void put(const char *text)
{
	auto *const uart = reinterpret_cast<volatile u8 *>(0x10000000);

	for (; *text; text++)
		*uart = static_cast<u8>(*text);
}

void put_decimal(u64 number)
{
	char digit[2] = {static_cast<char>('0' + number % 10)};

	if (number >= 10)
		put_decimal(number / 10);
	put(digit);
}

void put_hex(u64 number)
{
	char digits[2] = {};

	for (int at = 60; at >= 0; at -= 4) {
		digits[0] = "0123456789abcdef"[number >> at & 15];
		put(digits);
	}
}

[[noreturn]] void fail(const char *why)
{
	put("FAIL: ");
	put(why);
	put("\n");
	exit(ending::fail);
}

void expect(bool is_so, const char *otherwise)
{
	if (!is_so)
		fail(otherwise);
}

bool has(const char *text, const char *part)
{
	for (; *text; text++) {
		usize i = 0;

		while (part[i] && text[i] == part[i])
			i++;
		if (!part[i])
			return true;
	}
	return false;
}

unsigned this_hart()
{
	usize number;

	asm volatile("mv %0, tp" : "=r"(number));
	return static_cast<unsigned>(number);
}

/* -- Spin locks -- */

/* Interrupts, turned off once more. A hart's own. */
struct off_count {
	unsigned depth;
	klock::irq_state before;
};
constinit off_count offs[harts] = {};

void push_off()
{
	const klock::irq_state before = klock::irq_save();
	off_count &mine = offs[this_hart()];

	if (mine.depth++ == 0)
		mine.before = before;
}

void pop_off()
{
	off_count &mine = offs[this_hart()];

	if (--mine.depth == 0)
		klock::irq_restore(mine.before);
}

using spinlock =
	klock::checked_lock<klock::counted_lock<klock::ticket_lock<u8>>>;

/* Over whatever the memory held: there is no call that ends it. */
void init_lock(spinlock &lock, const char *name)
{
	memset(&lock, 0, sizeof(lock));
	lock.set_name(name);
}

template <typename Lock>
void acquire(Lock &lock, call_site by = caller_site())
{
	push_off();
	lock.lock(by);
}

template <typename Lock>
void release(Lock &lock, call_site by = caller_site())
{
	lock.unlock(by);
	pop_off();
}

/* -- Pages -- */

struct page {
	page *next;
	u8 rest[4096 - sizeof(page *)];
};
alignas(4096) constinit page memory[16] = {};
constinit spinlock kmem_lock;
constinit page *free_pages = nullptr;

/* Filled, so that nobody lives on what he has freed. */
void kfree(void *freed)
{
	auto *const one = static_cast<page *>(freed);

	klock::none_held_in(freed, sizeof(page));
	memset(freed, 1, sizeof(page));
	acquire(kmem_lock);
	one->next = free_pages;
	free_pages = one;
	release(kmem_lock);
}

void *kalloc()
{
	acquire(kmem_lock);
	page *const taken = free_pages;

	if (taken)
		free_pages = taken->next;
	release(kmem_lock);
	expect(taken, "no page is left");
	return taken;
}

/* -- Processes: one a hart, which spins where it would be switched -- */

struct process {
	spinlock lock;
	/* The address that it sleeps for; null if it runs. */
	const void *volatile sleeps_for;
};
constinit process processes[harts] = {};
/* How often somebody slept. */
constinit klock::atomic<u32> sleeps{0};

/* Returns whether the process sleeps, as seen under its lock. */
bool looks_asleep(process &p)
{
	acquire(p.lock);
	const bool asleep = p.sleeps_for;
	release(p.lock);
	return asleep;
}

/* Lets go of the lock meanwhile, not before others see that it sleeps. */
void sleep(const void *what, spinlock &lock)
{
	process &mine = processes[this_hart()];

	acquire(mine.lock);
	release(lock);
	mine.sleeps_for = what;
	release(mine.lock);
	sleeps.fetch_add_relaxed(1);
	while (looks_asleep(mine))
		klock::cpu_relax();
	acquire(lock);
}

void wake_up(const void *what)
{
	for (process &p : processes) {
		acquire(p.lock);
		if (p.sleeps_for == what)
			p.sleeps_for = nullptr;
		release(p.lock);
	}
}

/* -- Sleep locks: their order is seen by their spin locks alone -- */

struct sleep_lock {
	spinlock lock;
	bool is_taken;
};

void acquire_sleep(sleep_lock &wanted)
{
	acquire(wanted.lock);
	while (wanted.is_taken)
		sleep(&wanted, wanted.lock);
	wanted.is_taken = true;
	release(wanted.lock);
}

void release_sleep(sleep_lock &held)
{
	klock::released(&held);
	acquire(held.lock);
	held.is_taken = false;
	wake_up(&held);
	release(held.lock);
}

/* -- Inodes -- */

struct inode {
	sleep_lock lock;
	unsigned references;
	unsigned links;
	u64 writes;
};
constinit spinlock inode_table;
constinit inode inodes[2] = {};

inode &idup(inode &one)
{
	acquire(inode_table);
	one.references++;
	release(inode_table);
	return one;
}

/* The last one frees what no folder names. Nobody else has it: nobody sleeps
 * for its lock, and this does not. */
void iput(inode &one)
{
	acquire(inode_table);
	if (one.references == 1 && one.links == 0) {
		acquire_sleep(one.lock);
		klock::acquired(&one.lock, "inode");
		release(inode_table);
		one.writes = 0;
		release_sleep(one.lock);
		acquire(inode_table);
	}
	one.references--;
	release(inode_table);
}

void write_inode(inode &one)
{
	acquire_sleep(one.lock);
	klock::acquired(&one.lock, "inode");
	const u64 before = one.writes;

	klock::relax_for(20);
	one.writes = before + 1;
	release_sleep(one.lock);
}

/* -- Pipes, each in a page of its own -- */

struct pipe {
	spinlock lock;
	unsigned written, read;
	unsigned open_ends;
	u8 data[64];
};

pipe &make_pipe()
{
	pipe &made = *static_cast<pipe *>(kalloc());

	init_lock(made.lock, "pipe");
	made.written = made.read = 0;
	made.open_ends = 2;
	return made;
}

void write_pipe(pipe &to, u8 byte)
{
	acquire(to.lock);
	while (to.written == to.read + sizeof(to.data)) {
		wake_up(&to.read);
		sleep(&to.written, to.lock);
	}
	to.data[to.written++ % sizeof(to.data)] = byte;
	wake_up(&to.read);
	release(to.lock);
}

u8 read_pipe(pipe &from)
{
	acquire(from.lock);
	while (from.written == from.read)
		sleep(&from.read, from.lock);
	const u8 byte = from.data[from.read++ % sizeof(from.data)];

	wake_up(&from.written);
	release(from.lock);
	return byte;
}

void close_pipe(pipe &one)
{
	acquire(one.lock);
	const bool is_last = --one.open_ends == 0;
	release(one.lock);
	if (!is_last)
		return;
	/* Goes, where the table of counts finds out by itself (item 13). */
	klock::forget_counts(one.lock);
	kfree(&one);
}

/* -- What the harts do -- */

constinit klock::atomic<u32> started{0};
constinit klock::atomic<pipe *> offered{nullptr};
constinit klock::atomic<u32> finished{0};

void init()
{
	init_lock(kmem_lock, "kmem");
	init_lock(inode_table, "itable");
	for (process &p : processes)
		init_lock(p.lock, "proc");
	for (inode &one : inodes) {
		init_lock(one.lock.lock, "sleep lock");
		one.references = one.links = 1;
	}
	for (page &each : memory)
		kfree(&each);
	/* iput() takes the sleep lock of what nobody else has: nobody sleeps.
	 */
	static constexpr klock::declared_order orders[] = {
		klock::harmless("itable", "sleep lock"),
		klock::harmless("itable", "inode")};
	klock::declare(orders);
}

/* The first hart holds a lock until another waits for it. */
void wait_once(unsigned hart, spinlock &lock, u32 turn)
{
	if (hart == 0) {
		acquire(lock);
		started.store_release(turn);
		while (!lock.is_contended())
			klock::cpu_relax();
	} else {
		started.await_eq_acquire(turn);
		acquire(lock);
	}
	release(lock);
}

/* One pipe a round: the first hart writes, the second reads. */
void work(unsigned hart, unsigned round)
{
	pipe *p = nullptr;

	if (hart == 0) {
		p = &make_pipe();
		offered.store_release(p);
	} else {
		while (!(p = offered.exchange_acquire(nullptr)))
			klock::cpu_relax();
	}
	/* Counted, and so in the table, and then freed. */
	if (round == 0)
		wait_once(hart, p->lock, 2);
	for (unsigned i = 0; i < 100; i++) {
		const u8 byte = static_cast<u8>(round + i);

		if (hart == 0)
			write_pipe(*p, byte);
		else
			expect(read_pipe(*p) == byte, "a byte is another");
	}
	close_pipe(*p);
	write_inode(idup(inodes[0]));
	iput(inodes[0]);
}

/* A new process gets its parent's folder, with its lock held. */
void fork()
{
	acquire(processes[1].lock);
	(void)idup(inodes[1]);
	release(processes[1].lock);
	iput(inodes[1]);
}

/* cycles_usable() asks by a trap, which must leave no trace. */
bool clock_is_usable()
{
	usize before[5], after[5];

	const auto look = [](usize(&all)[5]) {
		asm volatile("csrr %0, sstatus" : "=r"(all[0]));
		asm volatile("csrr %0, stvec" : "=r"(all[1]));
		asm volatile("csrr %0, sepc" : "=r"(all[2]));
		asm volatile("csrr %0, scause" : "=r"(all[3]));
		asm volatile("csrr %0, stval" : "=r"(all[4]));
	};
	/* Registers as they are in a trap's handler. */
	asm volatile("csrw stvec, %0" ::"r"(trap_entry));
	asm volatile("csrw sepc, %0" ::"r"(trap_entry));
	asm volatile("csrwi scause, 13\n\tcsrwi stval, 21");
	look(before);
	const bool usable = klock::arch::cycles_usable();

	look(after);
	for (int i = 0; i < 5; i++)
		expect(before[i] == after[i], "cycles_usable() leaves a trace");
	return usable;
}

void check_clock()
{
	usize there = 0;

	asm volatile("csrw sie, zero\n\tcsrsi sstatus, 2" ::: "memory");
	expect(!clock_is_usable(), "a clock that faults is usable");
	asm volatile("ecall" ::: "t0", "memory");
	expect(clock_is_usable(), "a clock that works is not usable");
	asm volatile("csrci sstatus, 2\n\trdtime %0" : "=r"(there)::"memory");
	expect(there != 0, "the clock stands still");
	asm volatile("csrwi sie, 2" ::: "memory");
}

constinit bool table_is_right = false;

void finish()
{
	expect(inodes[0].writes == 2 * rounds, "a write is lost");
	expect(inodes[0].references == 1, "a reference is lost");
	expect(sleeps.load_relaxed() > 0, "nobody slept");
	klock::print_counts([](const char *line) {
		table_is_right |= has(line, "itable");
		put("# ");
		put(line);
		put("\n");
	});
	expect(table_is_right, "nobody waited for the inode table");
	check_clock();
	/* The cycle that is declared harmless. */
	inodes[1].links = 0;
	iput(idup(inodes[1]));
	inodes[1].references = 1;
	iput(inodes[1]);
	inodes[1].references = 1;
	fork();
}

/*
 * -- Start-up in time --
 *
 * The boot hart goes on to take and give pages, each under the lock of the free
 * list, while the other takes pages of its own, and is up when it has them.
 *
 * Harts run by turns of 4 ms, one at a time, as vCPUs do that share a host
 * core. A turn ends inside a critical section in odd rounds, and between two of
 * them in even ones. A hart that waits for a lock is held in its wait while it
 * is another's turn (boot_relax()). With time counted in instructions every
 * boot is the same.
 */

constexpr u64 ticks_per_us = 10; /* rdtime, on QEMU's board */
constexpr u64 turn = 4'000 * ticks_per_us;
constexpr u64 time_out = 500'000 * ticks_per_us;
constexpr unsigned pages_each = 256;

/* Each hart's own: it runs by turns. */
constinit bool by_turns[harts] = {};

u64 turns_so_far() { return klock::cycles() / turn; }

bool is_odd_round() { return turns_so_far() / harts % 2; }

bool is_my_turn() { return turns_so_far() % harts == this_hart(); }

void wait_for_turn()
{
	while (!is_my_turn())
		asm volatile("wfi" ::: "memory");
}

/*
 * From this hart's turn in the next odd round on. The boot hart is the first in
 * a round: the other finds the lock taken.
 */
void run_by_turns(unsigned hart)
{
	while (is_odd_round())
		klock::cpu_relax();
	while (!is_odd_round() || !is_my_turn())
		klock::cpu_relax();
	by_turns[hart] = true;
}

/* A place where this hart's turn ends if it is over. */
void turn_may_end(bool in_section)
{
	if (is_odd_round() == in_section)
		wait_for_turn();
}

constinit klock::atomic<u32> start_up_begun{0};
constinit klock::atomic<u32> start_up_done{0};
/* When the other hart was up. */
constinit u64 last_up = 0;

/* The free list, of which the length is enough. */
template <typename Lock>
struct page_list {
	klock::checked_lock<Lock, "pages"> lock;
	unsigned length;
};
template <typename Lock>
constinit page_list<Lock> pages = {};

/* One more, or one less. */
template <typename Lock>
void change_pages(unsigned by)
{
	turn_may_end(false);
	acquire(pages<Lock>.lock);
	const unsigned before = pages<Lock>.length;

	turn_may_end(true);
	pages<Lock>.length = before + by;
	release(pages<Lock>.lock);
}

/*
 * What the boot hart does until the other is up, or its patience ends. Returns
 * whether the other was in time.
 */
template <typename Lock>
bool boot_on(u32 run, const char *name)
{
	const u64 begun = klock::cycles();

	start_up_begun.store_release(run);
	do {
		change_pages<Lock>(1u);
		change_pages<Lock>(-1u);
	} while (start_up_done.load_acquire() != run &&
		 klock::cycles() - begun < time_out);
	by_turns[0] = false;
	start_up_done.await_eq_acquire(run);
	expect(pages<Lock>.length == -pages_each, "pages are lost");
	put("# start-up, ");
	put(name);
	put(": both harts are up after ");
	put_decimal((last_up - begun) / ticks_per_us);
	put(" us\n");
	return last_up - begun <= time_out;
}

template <typename Lock>
void come_up(u32 run)
{
	for (unsigned i = 0; i < pages_each; i++)
		change_pages<Lock>(-1u);
	by_turns[1] = false;
	last_up = klock::cycles();
	start_up_done.store_release(run);
}

template <typename Lock>
void start_with(unsigned hart, u32 run, const char *name, bool is_to_be_in_time)
{
	if (hart == 0) {
		run_by_turns(hart);
		expect(boot_on<Lock>(run, name) == is_to_be_in_time,
		       is_to_be_in_time ? "not all harts came up in time"
					: "a FIFO lock was in time: this "
					  "proves nothing");
	} else {
		start_up_begun.await_eq_acquire(run);
		run_by_turns(hart);
		come_up<Lock>(run);
	}
}

void start_up(unsigned hart)
{
	/* The clock: the first hart has it. */
	asm volatile("ecall" ::: "t0", "memory");
	start_with<klock::ticket_lock<u8>>(hart, 1, "ticket", false);
	start_with<klock::preemptable_ticket_lock<u8>>(hart, 2, "preemptable",
						       true);
	start_with<klock::backoff_ttas_lock>(hart, 3, "backoff", true);
}

} // namespace

extern "C" {

[[noreturn, gnu::used]] void trapped(usize cause, usize at)
{
	put("FAIL: trap ");
	put_hex(cause);
	put(" at ");
	put_hex(at);
	put("\n");
	exit(ending::fail);
}

/* The compiler's, too. */
[[gnu::used]] void *memset(void *at, int value, usize size)
{
	auto *const bytes = static_cast<volatile u8 *>(at);

	for (usize i = 0; i < size; i++)
		bytes[i] = static_cast<u8>(value);
	return at;
}

unsigned klock_os_cpu_id(void) { return this_hart(); }

/*
 * The lab's relax.hpp: QEMU has another hart run at WFI, which returns at once:
 * a software interrupt is always pending, and never taken.
 */
void boot_relax()
{
	asm volatile("wfi" ::: "memory");
	if (by_turns[this_hart()])
		wait_for_turn();
}

/* No interrupt comes here. */
int klock_os_context(void) { return 0; }

klock::lock_order *klock_os_lock_order(void)
{
	return klock::lock_order_of<16, harts>();
}

void klock_os_panic(const char *lock_name, const void *, unsigned,
		    const char *what)
{
	put("panic: lock ");
	put(lock_name);
	put(": ");
	put(what);
	put("\n");
	exit(ending::panic);
}

[[gnu::used]] void supervisor_main()
{
	const unsigned hart = this_hart();

	if (hart == 0) {
		put("# boot: 2 CPUs\n");
		init();
	}
	wait_once(hart, inode_table, 1);
	for (unsigned round = 0; round < rounds; round++)
		work(hart, round);
	finished.fetch_add_release(1);
	finished.await_eq_acquire(harts);
	if (hart == 0)
		finish();
	start_up(hart);
	if (hart == 0) {
		put("PASS\n");
		exit(ending::pass);
	}
	for (;;)
		asm volatile("wfi");
}
}
