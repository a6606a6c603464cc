/* SPDX-License-Identifier: MIT */
/*
 * random_sections - right programs stay silent, a mistake is named
 *
 *	random_sections [<seed> [<sections of a CPU>]]
 *
 * Threads are CPUs, signals are interrupts and NMIs: they come at any
 * instruction. Each CPU runs random critical sections by the rules of
 * lock_order.hpp: whatever is then said is a false alarm. After that the same
 * with one mistake among the sections, for each kind: its panic must come.
 */
#include "../tool.hpp"

#include <klock/checked_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/lock_order.hpp>
#include <klock/order_calls.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/print_held.hpp>
#include <klock/reader_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/guard.hpp>

#include <atomic>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using klock::u32;
using klock::u64;

constexpr unsigned cpus = 4;

thread_local constinit unsigned cpu = 0;
thread_local constinit volatile klock::context running_in =
	klock::context::thread;

/* -- Chance: a handler draws from its CPU's, too -- */

thread_local constinit volatile u64 drawn = 0;

/* 0 .. below - 1. */
unsigned chance(unsigned below)
{
	u64 x = drawn + 0x9e3779b97f4a7c15u;

	drawn = x;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return static_cast<unsigned>((x >> 33) % below);
}

/* -- Planted faults of a CPU ---------------------- */

enum class mistake { none, order, open, release, nested, recursion };

mistake made = mistake::none;

/* Returns true in one of twenty draws, if this mistake is the one to make. */
bool draw_mistake(mistake here) { return made == here && chance(20) == 0; }

/* -- Locks, in the order in which they are taken -- */

template <klock::lock_name Name, typename L = klock::ticket_lock<klock::u8>>
using named = klock::checked_lock<L, Name>;

/* Locks of threads alone */
constinit named<"table"> table;
constinit named<"inode", klock::tas_lock> inode[4];
constinit named<"directory"> directory[3];
constinit named<"left"> left_first;
constinit named<"right"> right[2];
constinit named<"left"> left_last;
constinit named<"element"> element[6];
constinit named<"map", klock::phase_fair_lock<klock::u16>> map;
/* Locks of handlers as well */
constinit named<"settings", klock::reader_lock<cpus>> settings;
constinit named<"device"> device[3];
constinit named<"log"> log_lock;

void work()
{
	for (unsigned i = chance(30); i > 0; i--)
		klock::cpu_relax();
}

/* -- Sections of threads -- */

void in_order()
{
	klock::guard one(table);
	work();
	klock::guard two(inode[chance(4)]);
	if (draw_mistake(mistake::recursion))
		table.lock();
	work();
	klock::guard three(map);
	work();
}

/* One of them alone, or the outer one last. */
void out_of_order()
{
	if (draw_mistake(mistake::order)) {
		klock::guard one(inode[chance(4)]);
		klock::guard two(table);
		return;
	}
	klock::guard one(map);
	work();
	if (klock::try_guard two{table})
		work();
}

void by_address()
{
	klock::pair_guard both(inode[chance(2)], inode[2 + chance(2)]);

	work();
}

/* Two names in both orders of their addresses. */
void two_names()
{
	auto &left = chance(2) ? left_first : left_last;
	klock::pair_guard both(right[chance(2)], left);

	work();
}

/* The parent is the one at the highest address. */
void parent_and_child()
{
	klock::guard parent(directory[2]);
	auto &child = directory[chance(2)];

	if (draw_mistake(mistake::nested)) {
		klock::guard without(child);
		return;
	}
	klock::nested one_down(child, 1);
	klock::guard inner(child);
	work();
}

/* The one that was the child is the parent next. */
void hand_over_hand()
{
	element[0].lock();
	for (unsigned i = 1; i < 6; i++) {
		{
			klock::nested next(element[i], 1);
			element[i].lock();
		}
		work();
		element[i - 1].unlock();
		klock::set_sub_rank(element[i], 0);
	}
	element[5].unlock();
}

void read_the_map()
{
	klock::shared_guard reads(map);

	work();
}

/* -- Sections of threads and of handlers -- */

void read_again()
{
	klock::irq_shared_guard reads(settings);
	klock::irq_guard between(device[chance(3)]);
	klock::irq_shared_guard nested(settings);

	work();
}

void write_settings()
{
	klock::irq_guard writes(settings);

	work();
}

void log_of_device()
{
	if (draw_mistake(mistake::open)) {
		klock::guard open(device[0]);
		work();
		return;
	}
	klock::irq_guard of(device[chance(3)]);
	work();
	klock::irq_guard line(log_lock);
	work();
}

void try_anything()
{
	if (klock::irq_try_guard held{log_lock}) {
		klock::irq_try_guard before{device[chance(3)]};
		work();
	}
}

/* An NMI handler tries, and nothing else. */
void in_nmi()
{
	if (log_lock.try_lock() || draw_mistake(mistake::release))
		log_lock.unlock();
}

using section = void();

section *const of_threads[] = {in_order,      out_of_order,	by_address,
			       two_names,     parent_and_child, hand_over_hand,
			       read_the_map,  read_again,	write_settings,
			       log_of_device, try_anything};
section *const of_handlers[] = {read_again, write_settings, log_of_device,
				try_anything};

template <klock::usize Size>
void run_one(section *const (&of)[Size])
{
	of[chance(Size)]();
}

/* -- Interrupts -- */

constexpr int interrupt = SIGUSR1, nmi = SIGUSR2;

void on_interrupt(int)
{
	if (!klock::arch::irqs_enabled())
		return;
	const klock::irq_state before = klock::irq_save();

	running_in = klock::context::interrupt;
	run_one(of_handlers);
	running_in = klock::context::thread;
	klock::irq_restore(before);
}

void on_nmi(int)
{
	const klock::context interrupted = running_in;

	running_in = klock::context::nmi;
	in_nmi();
	running_in = interrupted;
}

void handle(int number, void (*by)(int))
{
	struct sigaction action = {};

	action.sa_handler = by;
	action.sa_flags = SA_RESTART;
	sigaddset(&action.sa_mask, interrupt);
	sigaction(number, &action, nullptr);
}

/* -- CPUs, and whoever interrupts them -- */

std::atomic<unsigned> sections_done, cpus_done;

/* A thread begins as its creator is: not to be interrupted. */
void set_interruptible(int how)
{
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, interrupt);
	sigaddset(&both, nmi);
	pthread_sigmask(how, &both, nullptr);
}

void run_cpu(unsigned number, u64 seed, unsigned sections)
{
	cpu = number;
	drawn = seed * cpus + number;
	set_interruptible(SIG_UNBLOCK);
	for (unsigned i = 0; i < sections; i++) {
		run_one(of_threads);
		sections_done++;
	}
	cpus_done++;
}

/* Rounds in which nothing has moved: they sleep for 20 s and more. */
constexpr unsigned patience = 400000;

void stand_still()
{
	klock::print_held([](const char *line) { puts(line); });
	puts("random_sections: nobody goes on");
	fflush(stdout);
	_exit(4);
}

void interrupt_all(std::thread (&all)[cpus])
{
	unsigned seen = 0, rounds = 0;

	while (cpus_done < cpus) {
		pthread_kill(all[chance(cpus)].native_handle(),
			     chance(3) ? interrupt : nmi);
		usleep(20 + chance(60));
		rounds = sections_done == seen ? rounds + 1 : 0;
		seen = sections_done;
		if (rounds == patience)
			stand_still();
	}
}

void run_program(u64 seed, unsigned sections)
{
	std::thread all[cpus];

	handle(interrupt, on_interrupt);
	handle(nmi, on_nmi);
	drawn = seed;
	set_interruptible(SIG_BLOCK);
	for (unsigned i = 0; i < cpus; i++)
		all[i] = std::thread(run_cpu, i, seed, sections);
	interrupt_all(all);
	for (std::thread &one : all)
		one.join();
}

/* -- One program a process: a panic ends it -- */

/* Returns all that it said, "" if nothing. */
const char *said_by(mistake wrong, u64 seed, unsigned sections)
{
	static char text[4096];
	int ends[2];
	size_t size = 0;

	fflush(stdout);
	if (pipe(ends) != 0)
		return "no pipe";
	if (fork() == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		made = wrong;
		run_program(seed, sections);
		fflush(stdout);
		_exit(0);
	}
	close(ends[1]);
	for (ssize_t more;
	     (more = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0;)
		size += static_cast<size_t>(more);
	text[size] = '\0';
	close(ends[0]);
	int status = 0;
	wait(&status);
	if (size == 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return "it died without a word";
	return text;
}

struct wanted_panic {
	mistake wrong;
	const char *name, *says;
};

constexpr wanted_panic panics[] = {
	{mistake::order, "order", "lock order: "},
	{mistake::open, "open", "with interrupts on at "},
	{mistake::release, "release", "unlock"},
	{mistake::nested, "nested", "same class"},
	{mistake::recursion, "recursion",
	 "recursion: the caller already holds it"},
};

} // namespace

extern "C" unsigned klock_os_cpu_id(void) { return cpu; }

extern "C" int klock_os_context(void) { return static_cast<int>(running_in); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned on_cpu, const char *what)
{
	/* The first one ends the process: no other comes between, and no
	 * handler that has something to say itself. */
	static std::atomic<bool> said;

	set_interruptible(SIG_BLOCK);
	while (said.exchange(true))
		pause();
	dprintf(STDOUT_FILENO, "%s, CPU %u: %s\n", lock_name, on_cpu, what);
	_exit(3);
}

extern "C" void klock_os_note(const char *text)
{
	dprintf(STDOUT_FILENO, "%s\n", text);
}

extern "C" klock::lock_order *klock_os_lock_order(void)
{
	return klock::lock_order_of<32, cpus>();
}

int main(int count, char **arguments)
{
	tool::begin(count, arguments,
		    "usage: random_sections [SEED [SECTIONS]]\n");
	const u64 seed = count > 1 ? tool::number(arguments[1], 0, ~0ul)
				   : static_cast<u64>(time(nullptr));
	const auto sections = static_cast<unsigned>(
		count > 2 ? tool::number(arguments[2], 0, ~0u) : 200000);
	int failed = 0;

	printf("seed %lu, %u CPUs, %u sections each\n",
	       static_cast<unsigned long>(seed), cpus, sections);
	const char *said = said_by(mistake::none, seed, sections);

	if (*said) {
		printf("FAIL right sections: %s\n", said);
		failed = 1;
	}
	for (const wanted_panic &one : panics) {
		said = said_by(one.wrong, seed, sections);
		const bool named = strstr(said, one.says);

		printf("%s %s: %s", named ? "ok" : "FAIL", one.name,
		       *said ? said : "nothing was said\n");
		failed |= !named;
	}
	return tool::end(failed);
}
