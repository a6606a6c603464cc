/* SPDX-License-Identifier: MIT */
/*
 * nmi_clock_init - what the NMI clock must know of the machine (private to
 * boot)
 */
#pragma once

#include <boot/acpi.hpp>

namespace boot {

/* Remembers where the old timer's interrupt comes in. Starts nothing. */
void nmi_clock_init(const cpu_list &found);

} // namespace boot
