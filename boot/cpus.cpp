/* SPDX-License-Identifier: MIT */
/*
 * cpus - blocks, stacks, and work for all
 */
#include <boot/cpus.hpp>
#include <boot/interrupts.hpp>
#include <boot/panic.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>
#include <klock/os.hpp>

namespace boot {

constinit percpu cpu_blocks[max_cpus];
constinit percpu *cpus[max_cpus];

extern "C" {
cpu_stacks stacks[max_cpus];
}

namespace {

constinit unsigned count_up = 0;

/* The work of all CPUs in a round. Only CPU 0 writes it, between rounds. */
struct round_of_work {
	void (*fn)(unsigned cpu, void *arg) = nullptr;
	void *arg = nullptr;
	bool under_way = false;
	u32 number = 0;		      /* of this round, from 1 */
	klock::atomic<u32> awake;     /* CPUs that wait for the start */
	klock::atomic<u32> started;   /* the last round that has started */
	klock::atomic<u32> completed; /* CPUs whose call has returned */
};

constinit round_of_work work;

void take_part(unsigned cpu, u32 round)
{
	work.awake.fetch_add_acq_rel(1);
	work.started.await_eq_acquire(round);
	work.fn(cpu, work.arg);
	work.completed.fetch_add_acq_rel(1);
}

void wake_others(unsigned count, u32 round)
{
	for (unsigned cpu = 1; cpu < count; cpu++)
		cpus[cpu]->work.store_release(round);
	for (unsigned cpu = 1; cpu < count; cpu++)
		wake_cpu(cpu);
}

} // namespace

unsigned cpu_count() { return count_up; }

u64 hardware_id_of(unsigned cpu) { return cpus[cpu]->hardware_id; }

void set_cpu_count(unsigned count) { count_up = count; }

void prepare_cpu(unsigned slot, u32 number, u64 hardware_id)
{
	percpu &block = cpu_blocks[slot];

	block.number = number;
	block.hardware_id = hardware_id;
	block.stack_top = reinterpret_cast<usize>(stacks[slot].thread +
						  THREAD_STACK_SIZE);
	cpus[number] = &block;
}

void adopt_first_cpu()
{
	prepare_cpu(0, 0, 0);
	cpu_blocks[0].state.store_relaxed(cpu_online);
	cpu_init(cpu_blocks[0], stacks[0]);
	set_cpu_count(1);
}

void idle(percpu &self)
{
	u32 round = 0;

	for (;;) {
		disable_interrupts();
		const u32 asked_for = self.work.load_acquire();

		if (asked_for == round) {
			wait_for_interrupt();
			continue;
		}
		round = asked_for;
		enable_interrupts();
		take_part(self.number, round);
	}
}

void run_on_cpus(unsigned count, void (*fn)(unsigned cpu, void *arg), void *arg)
{
	if (this_cpu() != 0)
		panic("run_on_cpus: called on CPU %u", this_cpu());
	if (work.under_way)
		panic("run_on_cpus: called within a call");
	if (count == 0 || count > cpu_count())
		panic("run_on_cpus: %u CPUs wanted, there are %u", count,
		      cpu_count());

	work.under_way = true;
	work.fn = fn;
	work.arg = arg;
	work.number++;
	work.awake.store_relaxed(0);
	work.completed.store_relaxed(0);
	wake_others(count, work.number);

	work.awake.await_eq_acquire(count - 1);
	work.started.store_release(work.number);
	fn(0, arg);
	work.completed.await_eq_acquire(count - 1);
	work.under_way = false;
}

} // namespace boot

/* klock calls it; panic.cpp has the other function that a kernel supplies. */
extern "C" unsigned klock_os_cpu_id(void) { return boot::this_cpu(); }
