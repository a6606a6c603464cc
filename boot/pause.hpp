/* SPDX-License-Identifier: MIT */
/*
 * pause - a look at CPUs that wait, on machines without NMIs
 *
 * A CPU that waits for a lock with interrupts off can be seen by an NMI; where
 * there are none (has_nmi()), only if it shows itself. Such machines
 * have a cpu_relax() of their own (<klock/arch/relax.hpp>, in front of the
 * port's), which calls visit_pause(). There it also stands still for a panic.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* `at`: the waiting code's address. */
using pause_visitor = void (*)(unsigned cpu, usize at);

/*
 * Each turn of a wait calls visit(cpu, at) from now on, on its own CPU, in
 * whatever context; null: no more. Never where there are NMIs. A visitor that
 * waits is called again, from within.
 */
void set_pause_visitor(pause_visitor visit);

/*
 * Whether a pause gives the host's core to the next vCPU, where the machine's
 * own does not: yes, unless somebody says that vCPUs run at once. There it
 * would cost each of them a lock of QEMU's.
 */
void let_pauses_yield(bool yes);
bool pauses_yield();

/* The machine's cpu_relax() calls it (private to boot). */
void visit_pause(usize at);

} // namespace boot
