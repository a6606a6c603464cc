/* SPDX-License-Identifier: MIT */
/*
 * registers - control and status registers by number: machine mode
 *
 * Source: RISC-V Instruction Set Manual, volume II, Privileged Architecture,
 * CSR Listing; Machine-Level CSRs. Assembly and C++; supervisor_mode has the
 * same names.
 */
#pragma once

#define CSR_STATUS 0x300  /* mstatus */
#define CSR_ENABLE 0x304  /* mie */
#define CSR_VECTOR 0x305  /* mtvec */
#define CSR_SCRATCH 0x340 /* mscratch */
#define CSR_EPC 0x341	  /* mepc */
#define CSR_CAUSE 0x342	  /* mcause */
#define CSR_TVAL 0x343	  /* mtval */
#define CSR_PENDING 0x344 /* mip */
#define TRAP_RETURN mret

#define STATUS_INTERRUPTS 0x8 /* MIE */

/* Bits of CSR_ENABLE and CSR_PENDING by these; codes of interrupts, too. */
#define INTERRUPT_SOFTWARE 3
#define INTERRUPT_TIMER 7

/* Machine mode's alone */
#define CSR_MIDELEG 0x303
#define CSR_PMPCFG0 0x3a0
#define CSR_PMPADDR0 0x3b0
#define INTERRUPT_SUPERVISOR_SOFTWARE 1

/* struct called_hart: what entry.S and mode.cpp agree on */
#define CALLED_HART 0
#define CALLED_BLOCK 8
#define CALLED_SIZE 16
