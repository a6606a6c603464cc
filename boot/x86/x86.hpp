/* SPDX-License-Identifier: MIT */
/*
 * x86 - the privileged instructions that boot needs, one function each, and
 * what x86-64 and i686 do each in its own way (private to boot)
 */
#pragma once

#include <boot/types.hpp>
#include <machine/cpu.hpp>

namespace boot {

inline u8 in8(u16 port)
{
	u8 value;

	asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

inline u32 in32(u16 port)
{
	u32 value;

	asm volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

inline void out8(u16 port, u8 value)
{
	asm volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

inline u64 read_msr(u32 number)
{
	u32 low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number));
	return static_cast<u64>(high) << 32 | low;
}

inline void write_msr(u32 number, u64 value)
{
	asm volatile("wrmsr" ::"c"(number), "a"(static_cast<u32>(value)),
		     "d"(static_cast<u32>(value >> 32))
		     : "memory");
}

struct cpuid_result {
	u32 eax;
	u32 ebx;
	u32 ecx;
	u32 edx;
};

inline cpuid_result cpuid(u32 leaf, u32 subleaf = 0)
{
	cpuid_result r;

	asm volatile("cpuid"
		     : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
		     : "a"(leaf), "c"(subleaf));
	return r;
}

inline usize read_cr0()
{
	usize value;

	asm volatile("mov %%cr0, %0" : "=r"(value));
	return value;
}

/* The address that the last page fault was about. */
inline usize read_cr2()
{
	usize value;

	asm volatile("mov %%cr2, %0" : "=r"(value));
	return value;
}

inline usize read_cr3()
{
	usize value;

	asm volatile("mov %%cr3, %0" : "=r"(value));
	return value;
}

inline void write_cr3(usize value)
{
	asm volatile("mov %0, %%cr3" ::"r"(value) : "memory");
}

inline usize read_cr4()
{
	usize value;

	asm volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

/*
 * A physical address as a pointer: boot maps memory one to one. The compiler
 * must not see where the number comes from: it takes a small constant for a
 * member of a null object.
 */
template <typename T>
inline T *physical(usize address)
{
	asm("" : "+r"(address));
	return reinterpret_cast<T *>(address);
}

/* -- GDT, TSS and IDT, by architecture -- */

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

/* -- Other memory that must be mapped --- */

/* The running CPU's part; each CPU, by itself. */
void memory_types_init();

/*
 * A framebuffer that lies there can be written, at the rate of one. Null, or
 * why it cannot. Once.
 */
const char *map_screen(u64 address, u64 size);

/* -- The report of what nobody handles -- */

/*
 * Stops all CPUs, prints what happened where, and leaves with
 * exit_code::panic. stack_pointer: the interrupted code's; the frame of an i686
 * double fault does not know it. Any context.
 */
[[noreturn]] void report_exception(const interrupt_frame &frame,
				   usize stack_pointer);

/* The general registers, in several lines; by architecture. */
void print_registers(const interrupt_frame &frame, usize stack_pointer);

} // namespace boot
