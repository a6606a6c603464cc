/* SPDX-License-Identifier: MIT */
/*
 * layout - every number that assembly and C++ must agree on: RISC-V, 64 bits
 *
 * Whatever stands here is either used by both under this name, or asserted
 * beside the C++ struct that it describes: boot/percpu.hpp, machine/cpu.hpp.
 */
#pragma once

#define MAX_CPUS 512

/* The exit status after a panic (boot/panic.hpp) */
#define EXIT_CODE_PANIC 0x2c

/* struct percpu, and the stacks of one CPU (boot/percpu.hpp) */
#define WORD_SIZE 8
#define PERCPU_NUMBER 0
#define PERCPU_STACK_TOP WORD_SIZE
#define GUARD_SIZE 0x1000
#define THREAD_STACK_SIZE 0x4000
#define NMI_STACK_SIZE 0x1000 /* nobody's: there are no NMIs */
#define FAULT_STACK_SIZE 0x2000

/* {caller's frame pointer, return address} lie so far below S0 (psABI) */
#define FRAME_LINK_BELOW 16

/* struct percpu_part, to which the scratch register points */
#define PART_T0 0
#define PART_T1 8
#define PART_SP 16
#define PART_BLOCK 24
#define PART_STACK_LOW 32
#define PART_STACK_SPAN 40
#define PART_FAULT_STACK_TOP 48

/* struct interrupt_frame: what a handler is shown; register xn */
#define FRAME_X(n) (((n)-1) * WORD_SIZE)
#define FRAME_IP 248
#define FRAME_STATUS 256
#define FRAME_CAUSE 264
#define FRAME_VALUE 272
#define FRAME_UNUSED 280
#define FRAME_SIZE 288
