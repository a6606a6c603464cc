/* SPDX-License-Identifier: MIT */
/*
 * layout - every number that assembly and C++ must agree on: x86
 *
 * The one header that both sides include. Whatever stands here is either used
 * by both under this name, or asserted beside the C++ struct that it describes:
 * boot/percpu.hpp, x86_64/cpu.hpp, i686/cpu.hpp.
 */
#pragma once

/* Segment selectors: the same in the first GDT (entry.S) and in each CPU's. */
#define SELECTOR_CODE32 0x08
#define SELECTOR_DATA 0x10
#define SELECTOR_CODE64 0x18 /* x86-64 only */
#define SELECTOR_PERCPU 0x18 /* i686 only: the base of GS */
#define SELECTOR_TSS 0x20
#define SELECTOR_FAULT_TSS 0x28 /* i686 only: the task for double faults */

/*
 * How many CPUs boot has blocks and stacks for, unless the build says another
 * number (KLOCK_MAX_CPUS in toolchain/freestanding.cmake).
 */
#ifndef MAX_CPUS
#define MAX_CPUS 256
#endif

/* APIC ids are below this: a table is indexed by them. */
#define APIC_IDS 4096

/* struct percpu, and the stacks of one CPU (boot/percpu.hpp) */
#if defined(__x86_64__)
#define WORD_SIZE 8
#define SELECTOR_CODE SELECTOR_CODE64
#else
#define WORD_SIZE 4
#define SELECTOR_CODE SELECTOR_CODE32
#endif
#define PERCPU_NUMBER 0
#define PERCPU_STACK_TOP WORD_SIZE
#define GUARD_SIZE 0x1000
#define THREAD_STACK_SIZE 0x4000
#define NMI_STACK_SIZE 0x2000
#define FAULT_STACK_SIZE 0x1000

/*
 * So far below the frame pointer lie the caller's and the return address
 * (System V ABI, AMD64 supplement, The Stack Frame; i386: the same).
 */
#define FRAME_LINK_BELOW 0

/* struct interrupt_frame: what a handler is shown */
#if defined(__x86_64__)
#define FRAME_RAX 0
#define FRAME_RBX 8
#define FRAME_RCX 16
#define FRAME_RDX 24
#define FRAME_RSI 32
#define FRAME_RDI 40
#define FRAME_RBP 48
#define FRAME_R8 56
#define FRAME_R9 64
#define FRAME_R10 72
#define FRAME_R11 80
#define FRAME_R12 88
#define FRAME_R13 96
#define FRAME_R14 104
#define FRAME_R15 112
#define FRAME_VECTOR 120
#define FRAME_ERROR_CODE 128
#define FRAME_IP 136
#define FRAME_SIZE 176
#else
#define FRAME_EAX 0
#define FRAME_EBX 4
#define FRAME_ECX 8
#define FRAME_EDX 12
#define FRAME_ESI 16
#define FRAME_EDI 20
#define FRAME_EBP 24
#define FRAME_VECTOR 28
#define FRAME_ERROR_CODE 32
#define FRAME_IP 36
#define FRAME_SIZE 48
#endif

/*
 * One entry stub for each vector, this many bytes apart. Bit n of the mask:
 * the CPU pushes an error code for exception n (Intel SDM volume 3A, Exception
 * and Interrupt Reference; AMD APM volume 2, Vectors, for 29 and 30).
 */
#define INTERRUPT_STUB_SIZE 16
#define ERROR_CODE_VECTORS 0x60227d00

/*
 * The page where other CPUs start: it is free and below 1 MiB, and the SIPI
 * vector is page / 4096. It is another page if the loader says that this one is
 * not free.
 */
#define TRAMPOLINE_ADDRESS 0x8000

/* QEMU's isa-debug-exit, and what a panic writes to it (panic.hpp) */
#define EXIT_PORT 0xf4
#define EXIT_CODE_PANIC 0x2c

/* The first serial port */
#define COM1_PORT 0x3f8

/* Multiboot Specification 0.6.96, 3.1.1 and 3.2 */
#define MULTIBOOT_HEADER_MAGIC 0x1badb002
#define MULTIBOOT_LOADER_MAGIC 0x2badb002

/* Multiboot2 Specification 2.0, 3.1.1 and 3.5 */
#define MULTIBOOT2_HEADER_MAGIC 0xe85250d6
#define MULTIBOOT2_LOADER_MAGIC 0x36d76289

/* Intel SDM volume 3A, Control Registers; volume 4, IA32_EFER */
#define CR0_PE 0x00000001
#define CR0_MP 0x00000002
#define CR0_NE 0x00000020
#define CR0_WP 0x00010000
#define CR0_NW 0x20000000
#define CR0_CD 0x40000000
#define CR0_PG 0x80000000
#define CR4_PAE 0x20
#define MSR_EFER 0xc0000080
#define EFER_LME 0x100
