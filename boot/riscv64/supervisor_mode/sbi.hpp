/* SPDX-License-Identifier: MIT */
/*
 * sbi - what supervisor mode asks of the firmware (private to boot/riscv64)
 *
 * Source: RISC-V Supervisor Binary Interface Specification 1.0: chapter 3
 * (calling convention), 4 (Base), 6 (Timer), 7 (IPI), 9 (Hart State
 * Management).
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

enum sbi_extension : u32 {
	sbi_base = 0x10,
	sbi_timer = 0x54494d45,
	sbi_ipi = 0x735049,
	sbi_harts = 0x48534d,
};

struct sbi_result {
	i64 error; /* 0: none */
	usize value;
};

inline sbi_result sbi_call(sbi_extension extension, usize function,
			   usize first = 0, usize second = 0, usize third = 0)
{
	register usize a0 asm("a0") = first;
	register usize a1 asm("a1") = second;
	register usize a2 asm("a2") = third;
	register usize a6 asm("a6") = function;
	register usize a7 asm("a7") = extension;

	asm volatile("ecall"
		     : "+r"(a0), "+r"(a1)
		     : "r"(a2), "r"(a6), "r"(a7)
		     : "memory");
	return {static_cast<i64>(a0), a1};
}

} // namespace boot
