/* SPDX-License-Identifier: MIT */
/*
 * smp - brings the other CPUs up (private to boot)
 */
#pragma once

#include <boot/machine.hpp>

namespace boot {

/* Asks the firmware which CPUs there are. Before start_cpus(). */
void list_cpus(const boot_info &info);

/*
 * Starts all CPUs of the list and returns when they idle; says which ones did
 * not come. cpu_count() is final afterwards. Once, on the first CPU, interrupts
 * on or off.
 */
void start_cpus();

} // namespace boot
