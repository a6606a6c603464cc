/* SPDX-License-Identifier: MIT */
/*
 * layout - every number that assembly and C++ must agree on: AArch64
 *
 * The one header that both sides include. Whatever stands here is either used
 * by both under this name, or asserted beside the C++ struct that it describes:
 * boot/percpu.hpp, machine/cpu.hpp.
 */
#pragma once

/* How many CPUs boot has blocks and stacks for: what QEMU's virt can have. */
#define MAX_CPUS 512

/* struct percpu, and the stacks of one CPU (boot/percpu.hpp) */
#define PERCPU_NUMBER 0
#define PERCPU_STACK_TOP 8
#define GUARD_SIZE 0x1000
#define THREAD_STACK_SIZE 0x4000
#define NMI_STACK_SIZE 0x2000
#define FAULT_STACK_SIZE 0x1000

/*
 * So far below the frame pointer lie the caller's and the return address
 * (Procedure Call Standard for the Arm 64-bit Architecture, The Frame Pointer).
 */
#define FRAME_LINK_BELOW 0

/* struct interrupt_frame: what a handler is shown */
#define FRAME_X 0 /* x0 to x30 */
#define FRAME_SP 248
#define FRAME_IP 256
#define FRAME_STATUS 264
#define FRAME_SYNDROME 272
#define FRAME_FAULT_ADDRESS 280
#define FRAME_KIND 288
#define FRAME_SIZE 304

/* The kind of a vector table's entry: four for each state (Arm ARM, D1.3.1) */
#define KIND_MASK 3
#define KIND_SYNCHRONOUS 0
#define KIND_IRQ 1
#define KIND_FIQ 2
#define KIND_SERROR 3

/* QEMU leaves the device tree here, at the start of RAM, for an ELF kernel. */
#define QEMU_TREE_ADDRESS 0x40000000

/* Semihosting for AArch32 and AArch64 2.0: HLT's number, and operations */
#define SEMIHOSTING_HLT 0xf000
#define SEMIHOSTING_WRITE0 0x04
#define SEMIHOSTING_EXIT 0x18
#define SEMIHOSTING_APPLICATION_EXIT 0x20026

/* QEMU's exit status after a panic (boot/panic.hpp) */
#define EXIT_CODE_PANIC 0x2c
#define EXIT_STATUS_PANIC 89

/*
 * Memory attributes: by number, MAIR_EL1's fields; and a block of 1 GiB or of
 * 2 MiB, a page (Arm ARM, D8.3, VMSAv8-64 descriptors).
 */
#define MAIR_VALUE 0x04ff /* 0: write-back; 1: device, nGnRE */
#define MAP_TABLE 0x3
#define MAP_BLOCK 0x1
#define MAP_PAGE 0x3
#define MAP_NORMAL 0x700 /* accessed, inner shareable, attribute 0 */
#define MAP_DEVICE 0x404 /* accessed, attribute 1 */
#define MAP_READ_ONLY 0x80
#define MAP_NO_EXECUTE 0x0060000000000000

/*
 * 39 bits of address: a table of 512 blocks of 1 GiB. Walks are write-back and
 * inner shareable; no second half; 40 bits of physical address, which the
 * smallest core has.
 */
#define TCR_VALUE 0x200803519
/* Reserved ones; instruction cache, data cache, MMU (Arm ARM, SCTLR_EL1) */
#define SCTLR_OFF 0x30d00800
#define SCTLR_ON 0x30d01805
