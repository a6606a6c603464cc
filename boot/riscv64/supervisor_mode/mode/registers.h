/* SPDX-License-Identifier: MIT */
/*
 * registers - control and status registers by number: supervisor mode
 *
 * Source: RISC-V Instruction Set Manual, volume II, Privileged Architecture,
 * CSR Listing; Supervisor-Level CSRs. Assembly and C++; machine_mode has the
 * same names.
 */
#pragma once

#define CSR_STATUS 0x100  /* sstatus */
#define CSR_ENABLE 0x104  /* sie */
#define CSR_VECTOR 0x105  /* stvec */
#define CSR_SCRATCH 0x140 /* sscratch */
#define CSR_EPC 0x141	  /* sepc */
#define CSR_CAUSE 0x142	  /* scause */
#define CSR_TVAL 0x143	  /* stval */
#define CSR_PENDING 0x144 /* sip */
#define TRAP_RETURN sret

#define STATUS_INTERRUPTS 0x2 /* SIE */

/* Bits of CSR_ENABLE and CSR_PENDING by these; codes of interrupts, too. */
#define INTERRUPT_SOFTWARE 1
#define INTERRUPT_TIMER 5
