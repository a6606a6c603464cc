/* SPDX-License-Identifier: MIT */
/*
 * percpu - one block and three stacks for each CPU (private to boot)
 */
#pragma once

#include <boot/types.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <machine/layout.h>
#include <machine/cpu.hpp>

namespace boot {

/* The stage of a CPU that starts up. */
enum cpu_state : u32 {
	cpu_absent,   /* no such CPU, or not called yet */
	cpu_expected, /* called */
	cpu_online,   /* has come: idle, or at work */
	cpu_given_up, /* did not come in time: if it still does, it sleeps */
};

struct alignas(klock::cache_line) percpu {
	u32 number = 0;		    /* this_cpu() */
	usize stack_top = 0;	    /* where assembly puts ap_main() */
	u64 hardware_id = 0;	    /* what IPIs to it are addressed to */
	klock::atomic<u32> state;   /* enum cpu_state */
	klock::atomic<u32> work;    /* the last round of work it is in */
	klock::atomic<u32> stopped; /* 1: stands still for a panic */
	percpu_part machine;
};

static_assert(offsetof(percpu, number) == PERCPU_NUMBER);
static_assert(offsetof(percpu, stack_top) == PERCPU_STACK_TOP);

/*
 * The stack of all ordinary code and of its interrupts, one for NMIs, and one
 * for what comes of a broken stack: as far as the machine changes stacks by
 * itself. In front, a page that is missing where there are page tables
 * (protect_memory()): an overflow faults and harms nobody.
 */
struct alignas(GUARD_SIZE) cpu_stacks {
	u8 guard[GUARD_SIZE];
	u8 thread[THREAD_STACK_SIZE];
	u8 nmi[NMI_STACK_SIZE];
	u8 fault[FAULT_STACK_SIZE];
};

static_assert(offsetof(cpu_stacks, thread) == GUARD_SIZE);

/* Block and stacks n belong together: slot n. Slot 0 is the first CPU's. */
extern percpu cpu_blocks[max_cpus];
extern "C" cpu_stacks stacks[max_cpus];

/* The blocks of the CPUs that are up, by CPU number. */
extern percpu *cpus[max_cpus];

/* The first CPU takes block 0. Before anything else: this_cpu() needs it. */
void adopt_first_cpu();

/* Makes the block of slot n ready for a CPU that is about to start. */
void prepare_cpu(unsigned slot, u32 number, u64 hardware_id);

/* How many entries of cpus[] are valid; written by the first CPU only. */
void set_cpu_count(unsigned count);

/* Sleeps until run_on_cpus(); a CPU with nothing to do runs this. */
[[noreturn]] void idle(percpu &self);

} // namespace boot
