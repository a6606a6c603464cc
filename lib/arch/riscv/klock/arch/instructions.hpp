/* SPDX-License-Identifier: MIT */
/*
 * instructions - the atomic instructions of RISC-V, each a function
 *
 * Source: the unprivileged specification, "A", Zacas, Zabha, Zawrs. They are
 * written by their numbers, so that the order is a parameter as everywhere in
 * klock, and that no assembler need know the later ones. A disassembler shows
 * them as they are called there: lr.w.aq, amoadd.w.aqrl, ...
 *
 * Not the compiler's builtins: GCC 12 calls a library for one and two bytes,
 * and its compare-and-swap has no release order.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch::riscv {

/* What the machine has beside "A": as the compiler was told by -march. */
#if defined(__riscv_zacas)
inline constexpr bool has_cas = true;
#else
inline constexpr bool has_cas = false;
#endif
#if defined(__riscv_zabha)
inline constexpr bool has_narrow_amo = true;
#else
inline constexpr bool has_narrow_amo = false;
#endif
#if defined(__riscv_zawrs)
inline constexpr bool has_wait_on_reservation = true;
#else
inline constexpr bool has_wait_on_reservation = false;
#endif

/* The upper five bits of funct7; the lower two are the order. */
enum class amo : int {
	add = 0x00,
	swap = 0x01,
	load_reserved = 0x02,
	store_conditional = 0x03,
	bit_xor = 0x04,
	compare_and_swap = 0x05,
	bit_or = 0x08,
	bit_and = 0x0c,
};

constexpr bool acquires(order o)
{
	return o != order::relaxed && o != order::release;
}

constexpr bool releases(order o)
{
	return o != order::relaxed && o != order::acquire;
}

/* funct7 of an instruction that reads and writes: aq is bit 1, rl bit 0. */
constexpr int funct7(amo which, order o)
{
	return static_cast<int>(which) << 2 | acquires(o) << 1 | releases(o);
}

/* Of the two that are one operation together: the read acquires, ... */
constexpr int lr_funct7(order o)
{
	return static_cast<int>(amo::load_reserved) << 2 | acquires(o) << 1 |
	       (o == order::seq_cst);
}

/* ... and the write releases. */
constexpr int sc_funct7(order o)
{
	return static_cast<int>(amo::store_conditional) << 2 | releases(o);
}

/* funct3: the binary logarithm of the size. */
template <typename W>
inline constexpr int width = sizeof(W) == 8   ? 3
			     : sizeof(W) == 4 ? 2
			     : sizeof(W) == 2 ? 1
					      : 0;

/* An integer as a register holds it after a load: sign-extended. */
template <typename W>
constexpr long in_register(W v)
{
	if constexpr (sizeof(W) == 8)
		return static_cast<long>(v);
	else if constexpr (sizeof(W) == 4)
		return static_cast<int>(v);
	else if constexpr (sizeof(W) == 2)
		return static_cast<short>(v);
	else
		return static_cast<signed char>(v);
}

/* One instruction that reads and writes. Returns what was there. */
template <amo Which, order O, typename W>
inline W modify(W *at, W v)
{
	long found;

	asm volatile(".insn r 0x2f, %3, %4, %0, %1, %2"
		     : "=r"(found)
		     : "r"(at), "r"(in_register(v)), "i"(width<W>),
		       "i"(funct7(Which, O))
		     : "memory");
	return static_cast<W>(found);
}

/* Swaps if it finds what is expected; returns what it found. Zacas. */
template <order O, typename W>
inline W compare_and_swap(W *at, W expected, W desired)
{
	long found = in_register(expected);

	asm volatile(".insn r 0x2f, %3, %4, %0, %1, %2"
		     : "+r"(found)
		     : "r"(at), "r"(in_register(desired)), "i"(width<W>),
		       "i"(funct7(amo::compare_and_swap, O))
		     : "memory");
	return static_cast<W>(found);
}

/* The same by a reservation, of a whole word. */
template <order O, typename W>
inline W reserve_and_swap(W *at, W expected, W desired)
{
	long found, failed;

	asm volatile("1:\n\t"
		     ".insn r 0x2f, %5, %6, %0, %2, x0\n\t" /* lr */
		     "bne %0, %3, 2f\n\t"
		     ".insn r 0x2f, %5, %7, %1, %2, %4\n\t" /* sc */
		     "bnez %1, 1b\n"
		     "2:"
		     : "=&r"(found), "=&r"(failed)
		     : "r"(at), "r"(in_register(expected)),
		       "r"(in_register(desired)), "i"(width<W>),
		       "i"(lr_funct7(O)), "i"(sc_funct7(O))
		     : "memory");
	return static_cast<W>(found);
}

/* Reads and reserves: what wait_on_reservation() waits behind. */
template <order O>
inline u32 load_reserved(const u32 *at)
{
	long found;

	asm volatile(".insn r 0x2f, 2, %2, %0, %1, x0"
		     : "=r"(found)
		     : "r"(at), "i"(lr_funct7(O))
		     : "memory");
	return static_cast<u32>(found);
}

template <order O>
inline u64 load_reserved(const u64 *at)
{
	u64 found;

	asm volatile(".insn r 0x2f, 3, %2, %0, %1, x0"
		     : "=r"(found)
		     : "r"(at), "i"(lr_funct7(O))
		     : "memory");
	return found;
}

/* WRS.NTO: until the reservation is lost, or an interrupt is pending. */
inline void wait_on_reservation()
{
	asm volatile(".4byte 0x00d00073" ::: "memory");
}

} // namespace klock::arch::riscv
