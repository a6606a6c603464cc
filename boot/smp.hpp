/* SPDX-License-Identifier: MIT */
/*
 * smp - brings the other CPUs up (private to boot)
 */
#pragma once

#include <boot/acpi.hpp>

namespace boot {

/*
 * Starts all CPUs of the list and returns when they idle; says which ones did
 * not come. cpu_count() is final afterwards. Once, on the first CPU, interrupts
 * on or off.
 */
void start_cpus(const cpu_list &found);

} // namespace boot
