/* SPDX-License-Identifier: MIT */
/*
 * smp - starts the other CPUs (private to boot)
 */
#pragma once

#include <boot/machine.hpp>
#include <boot/cpus.hpp>

namespace boot {

/* Asks the firmware which CPUs there are. Before start_cpus(). */
void list_cpus(const boot_info &info);

/*
 * Starts all CPUs of the list and returns when they idle; says which ones did
 * not come. cpu_count() is final afterwards. Once, on the first CPU, interrupts
 * on or off.
 */
void start_cpus();

/*
 * -- Which CPUs take part, and in which order --
 *
 *	pin=cores	one of each core: the first
 *	pin=threads	all, those of one core behind each other
 *	pin=l3		those that share the last cache with the first CPU
 *	pin=0,2,4	these, as they are numbered without the word
 *
 * The first CPU, which runs kmain(), is always among them, and is CPU 0.
 */

/* A CPU's place by its hardware id; null: this machine does not say. */
using place_finder = cpu_place (*)(u64 hardware_id);

/* The list's first entry is the first CPU. Null, or what is wrong with how. */
const char *pin_cpus(cpu_list &cpus, const char *how, place_finder place);

} // namespace boot
