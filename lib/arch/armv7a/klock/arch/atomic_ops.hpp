/* SPDX-License-Identifier: MIT */
/*
 * atomic_ops - memory operations on ARMv7-A: the compiler's builtins
 *
 * LDREX and STREX, of 8 bytes LDREXD and STREXD, and DMB for the orders: there
 * is no load that acquires before Armv8. They need memory that is mapped as
 * normal and shareable: before the MMU is on, no read-modify-write works on
 * real CPUs.
 *
 * A wait spins. WFE would sleep, but here no store is an event: every change
 * of an atomic, an unlock above all, would need a DSB and an SEV behind it.
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/detail/builtin_ops.hpp>
