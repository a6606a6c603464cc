/* SPDX-License-Identifier: MIT */
/*
 * x86 - the privileged instructions that boot needs, one function each
 */
#pragma once

#include <boot/types.hpp>

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

} // namespace boot
