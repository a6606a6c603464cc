/* SPDX-License-Identifier: MIT */
/*
 * machine - what each machine supplies (private to boot)
 *
 * The folder boot/ itself knows no machine. A machine is a folder
 * boot/<machine>/: the functions below, those of interrupts.hpp that are
 * about timers and IPIs, those of cpus.hpp that are about what CPUs share (but
 * place_of()), and on the include path (-I boot/<machine>) two headers:
 *
 *	machine/layout.h	numbers that assembly shares: MAX_CPUS, the
 *				stacks' sizes, PERCPU_*, FRAME_LINK_BELOW
 *	machine/cpu.hpp		this_cpu(): any context; enable_interrupts(),
 *				disable_interrupts(), wait_for_interrupt(),
 *				halt(); struct interrupt_frame: ip,
 *				stack_pointer(), frame_pointer(); vector_nmi,
 *				first_ and last_free_vector, is_own_vector();
 *				struct percpu_part: the machine's own in each
 *				CPU's block; hardware_id_name
 *
 * In the order in which kmain() calls them. Thread, first CPU, interrupts off,
 * unless it is said otherwise.
 */
#pragma once

#include <boot/panic.hpp>
#include <boot/cpus.hpp>
#include <boot/types.hpp>

namespace boot {

struct percpu;
struct cpu_stacks;

/* Whether the kernel's file name is the first of the command line's words. */
enum class file_name : u8 {
	none,
	if_path, /* the first word, if it has a slash */
	of_qemu, /* up to the last word that has one, or the first word */
};

/* The loader's information, in a form for every machine. */
struct boot_info {
	const char *trouble = nullptr;	    /* why boot cannot go on */
	const char *command_line = nullptr; /* none: null */
	file_name names_file = file_name::none;
	const void *machine =
		nullptr; /* what only the machine's code understands */
};

/* The CPUs' hardware ids in the firmware's order, including the first CPU's. */
struct cpu_list {
	unsigned count = 0;
	u64 ids[max_cpus] = {};
};

/* How often klock::cycles() counts in a second, and whether that is known. */
struct clock_found {
	u64 hz;
	bool known;
};

/* The running CPU's this_cpu() and its exceptions. Each CPU, first of all. */
void cpu_init(percpu &cpu, cpu_stacks &own);

/* Exceptions are reported from now on, on this CPU and those that follow. */
void interrupts_init();

/* Reads the two words that the entry code has passed to kmain(). */
boot_info read_boot_info(usize first, usize second);

/* -- The console's other end. The console's lock is held. -- */

void output_init(const boot_info &info);

/* '\n' comes as '\r' and '\n'. */
void output_put(char c);

/* A text is complete. */
void output_shown();

/* Waits until all is sent. Any context. */
void output_drain();

/* -- Interrupts, clock, CPUs -- */

/* Timers and IPIs, and the first CPU's part of them; says what is missing. */
void controller_init(const boot_info &info);

/* The part of each other CPU, by itself. */
void controller_init_cpu();

/* Says what it has found, and how. delay_us() is right after it. */
clock_found find_clock();

/* Timers of another clock, if there are any: their rate, by delay_us(). */
void measure_timer();

/* Says which CPUs cannot be used; at least one is left. */
cpu_list find_cpus(const boot_info &info);

/*
 * The CPU's place, which shows what it shares with others; all 0 if
 * topology_is_known() is false.
 */
cpu_place find_place(u64 hardware_id);

/*
 * If there are page tables, sets up guard pages and write-protects read-only
 * memory.
 */
void protect_memory();

/* Starts cpu_blocks[1] to [slots - 1], each of which comes to ap_main(). */
void call_cpus(unsigned slots);

/* An interrupt that only ends its sleep. Thread or interrupt. */
void wake_cpu(unsigned cpu);

/*
 * The CPU is to look whether somebody reports: by an NMI where there is one,
 * else by an interrupt. Any context.
 */
void stop_cpu(unsigned cpu);

/* -- For the machine: what a payload asks of IPIs is checked first. -- */

/* Panics unless a timer or an IPI may have it. */
void check_free_vector(u8 vector);

/* Panics unless there is such a CPU, and a way to send to it. */
void check_ipi_target(unsigned cpu);

/* -- The end. Any context. -- */

/* Returns where there is nobody who takes the code. */
void machine_exit(exit_code code);

/* Sets the machine back, as its reset button does. */
[[noreturn]] void machine_reset();

/* The part of the last line about the keys that still work. */
const char *after_exit_hint();
[[noreturn]] void after_exit();

} // namespace boot
