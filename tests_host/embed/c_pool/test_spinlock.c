/* SPDX-License-Identifier: MIT */
/*
 * Threads for CPUs, and processes that they run by turns, each on a stack of
 * its own: a process's lock is taken on one stack and released on another, and
 * locks of a list are held hand over hand. First both by hand, so that a node
 * that is lent twice, or has died, is found each time and not by luck.
 */
#define _XOPEN_SOURCE 700
#include "spinlock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>

enum {
	cpus = 4,
	processes = 8,
	rounds = 500,
	elements = 5,
	patience = 60, /* s of CPU time, until a test that hangs is ended */
};

static struct process {
	struct spinlock lock;
	enum { ready, running, done } state; /* under the lock */
	ucontext_t context;
	_Alignas(16) char stack[64 * 1024];
} table[processes];

static struct element {
	struct spinlock lock;
	unsigned visits; /* under the lock */
} list[elements];

static ucontext_t schedulers[cpus];
static _Thread_local unsigned this_cpu;

/* Asked anew each time: a process goes on where another CPU took it up. */
__attribute__((noinline)) unsigned cpu_id(void)
{
	__asm__ volatile("" ::: "memory");
	return this_cpu;
}

void panic(const char *why)
{
	printf("panic: %s\n", why);
	exit(1);
}

/* klock_pop_off() may ask for this (klock/os.hpp). */
unsigned klock_os_cpu_id(void) { return cpu_id(); }
void klock_os_panic(const char *name, const void *address, unsigned cpu,
		    const char *what)
{
	printf("%s at %p, CPU %u: ", name, address, cpu);
	panic(what);
}

static struct spinlock a, b, c;

static void expect(int holds, const char *what)
{
	if (holds)
		return;
	printf("not so: %s\n", what);
	exit(1);
}

static void out_of_order(void)
{
	acquire(&a);
	acquire(&b);
	release(&a);
	acquire(&c);
	expect(b.held != c.held, "two locks that are held have two nodes");
	release(&b);
	release(&c);
	expect(klock_irqs_enabled(), "interrupts are on after the last");
}

static void *take_a(void *number)
{
	this_cpu = *(unsigned *)number;
	acquire(&a);
	release(&a);
	return 0;
}

__attribute__((noinline)) static void take_and_return(void) { acquire(&a); }

/* Overwrites the stack, as another process does after a switch. */
__attribute__((noinline)) static void overwrite_the_stack(void)
{
	char used[4096];

	memset(used, 0, sizeof(used));
	__asm__ volatile("" ::"r"(used) : "memory");
}

static void on_another_stack(void)
{
	unsigned other = 1;
	pthread_t id;

	take_and_return();
	pthread_create(&id, 0, take_a, &other);
	while (!klock_is_contended(&a.queue, &a.held->node))
		;
	overwrite_the_stack();
	release(&a);
	pthread_join(id, 0);
}

/* Along the list, always holding one or two. */
static void walk(void)
{
	acquire(&list[0].lock);
	for (unsigned i = 0; i < elements; i++) {
		list[i].visits++;
		if (i + 1 < elements)
			acquire(&list[i + 1].lock);
		release(&list[i].lock);
	}
}

/* To this CPU's scheduler, which releases the lock that is taken here. */
static void leave(struct process *p, int state)
{
	acquire(&p->lock);
	p->state = state;
	swapcontext(&p->context, &schedulers[cpu_id()]);
	release(&p->lock); /* another scheduler's, maybe on another CPU */
}

static void body(int number)
{
	struct process *p = &table[number];

	release(&p->lock); /* the scheduler's */
	for (int i = 0; i < rounds; i++) {
		walk();
		leave(p, ready);
	}
	leave(p, done);
}

static void *schedule(void *number)
{
	unsigned finished;

	this_cpu = *(unsigned *)number;
	do {
		finished = 0;
		for (unsigned i = 0; i < processes; i++) {
			struct process *p = &table[i];

			acquire(&p->lock);
			if (p->state == ready) {
				p->state = running;
				swapcontext(&schedulers[this_cpu], &p->context);
			}
			finished += p->state == done;
			release(&p->lock);
		}
	} while (finished < processes);
	return 0;
}

/* A wait that never ends costs CPU time; a machine that stands still does not.
 */
static void limit_cpu_time(void)
{
	const struct rlimit most = {patience, patience};

	setrlimit(RLIMIT_CPU, &most);
}

int main(void)
{
	pthread_t ids[cpus];
	unsigned numbers[cpus], visits = 0;

	limit_cpu_time();
	out_of_order();
	on_another_stack();
	for (int i = 0; i < processes; i++) {
		getcontext(&table[i].context);
		table[i].context.uc_stack.ss_sp = table[i].stack;
		table[i].context.uc_stack.ss_size = sizeof(table[i].stack);
		makecontext(&table[i].context, (void (*)(void))body, 1, i);
	}
	for (unsigned i = 0; i < cpus; i++) {
		numbers[i] = i;
		pthread_create(&ids[i], 0, schedule, &numbers[i]);
	}
	for (unsigned i = 0; i < cpus; i++)
		pthread_join(ids[i], 0);
	for (unsigned i = 0; i < elements; i++)
		visits += list[i].visits;
	if (visits != elements * processes * rounds) {
		printf("%u visits are lost\n",
		       elements * processes * rounds - visits);
		return 1;
	}
	printf("%u processes on %u CPUs: no visit is lost\n", processes, cpus);
	return 0;
}
