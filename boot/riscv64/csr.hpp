/* SPDX-License-Identifier: MIT */
/*
 * csr - control and status registers by number (private to boot/riscv64)
 */
#pragma once

#include <boot/types.hpp>
#include <mode/registers.h>

namespace boot {

template <u32 number>
inline usize read_csr()
{
	usize value;

	asm volatile("csrr %0, %1" : "=r"(value) : "i"(number) : "memory");
	return value;
}

template <u32 number>
inline void write_csr(usize value)
{
	asm volatile("csrw %0, %1" ::"i"(number), "r"(value) : "memory");
}

template <u32 number>
inline void set_csr_bits(usize bits)
{
	asm volatile("csrs %0, %1" ::"i"(number), "r"(bits) : "memory");
}

template <u32 number>
inline void clear_csr_bits(usize bits)
{
	asm volatile("csrc %0, %1" ::"i"(number), "r"(bits) : "memory");
}

inline constexpr usize software_bit = usize{1} << INTERRUPT_SOFTWARE;
inline constexpr usize timer_bit = usize{1} << INTERRUPT_TIMER;

/*
 * A register of a device. Whatever was written before, to memory or to a
 * device, is seen before, and nothing after it begins before it (RISC-V ISA
 * manual, volume I, FENCE: devices are ordered by I and O).
 */
template <typename T>
inline T read_device(usize address)
{
	const T value = *reinterpret_cast<const volatile T *>(address);

	asm volatile("fence i, rw" ::: "memory");
	return value;
}

template <typename T>
inline void write_device(usize address, T value)
{
	asm volatile("fence rw, o" ::: "memory");
	*reinterpret_cast<volatile T *>(address) = value;
}

} // namespace boot
