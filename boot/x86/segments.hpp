/* SPDX-License-Identifier: MIT */
/*
 * segments - GDT, TSS and IDT, by architecture (private to boot)
 */
#pragma once

#include <room/layout.h>
#include <boot/types.hpp>

#if defined(__x86_64__)
#include <boot/x86/x86_64/segments.hpp>
#elif defined(__i386__)
#include <boot/x86/i686/segments.hpp>
#endif

namespace boot {

struct percpu;
struct cpu_stacks;

/*
 * Fills and loads the running CPU's GDT and TSS, and makes GS point to its
 * block. Once for each CPU, by itself, before it may take an interrupt.
 */
void load_segments(percpu &cpu, cpu_stacks &own);

/* Fills the IDT, which all CPUs share: all 256 vectors. Once. */
void make_idt();

/* Loads it on the running CPU. */
void load_idt();

} // namespace boot
