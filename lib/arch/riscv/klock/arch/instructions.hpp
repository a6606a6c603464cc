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

/* Extensions beside "A", as the compiler was told by -march. */
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

/* funct7 of LR. LR and SC are one operation together: LR acquires, ... */
constexpr int lr_funct7(order o)
{
	return static_cast<int>(amo::load_reserved) << 2 | acquires(o) << 1 |
	       (o == order::seq_cst);
}

/* funct7 of SC: ... and SC releases. */
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

/*
 * One instruction that reads and writes. It takes as much of its operand's
 * register as it stores, and leaves what was there sign-extended.
 */
template <amo Which, order O, typename W>
inline long modify_register(W *at, long v)
{
	long found;

	asm volatile(".insn r 0x2f, %3, %4, %0, %1, %2"
		     : "=r"(found)
		     : "r"(at), "r"(v), "i"(width<W>), "i"(funct7(Which, O))
		     : "memory");
	return found;
}

/* Returns what was there. */
template <amo Which, order O, typename W>
inline W modify(W *at, W v)
{
	return static_cast<W>(
		modify_register<Which, O>(at, static_cast<long>(v)));
}

/* Swaps if it finds what is expected; true if it did. Zacas. */
template <order O, typename W>
inline bool compare_and_swap(W *at, W &expected, W desired)
{
	const long wanted = in_register(expected);
	long found = wanted;

	asm volatile(".insn r 0x2f, %3, %4, %0, %1, %2"
		     : "+r"(found)
		     : "r"(at), "r"(desired), "i"(width<W>),
		       "i"(funct7(amo::compare_and_swap, O))
		     : "memory");
	expected = static_cast<W>(found);
	return found == wanted;
}

/* compare_and_swap() by LR and SC, of a whole word. */
template <order O, typename W>
inline bool reserve_and_swap(W *at, W &expected, W desired)
{
	const long wanted = in_register(expected);
	long found, failed;

	asm volatile("1:\n\t"
		     ".insn r 0x2f, %5, %6, %0, %2, x0\n\t" /* lr */
		     "bne %0, %3, 2f\n\t"
		     ".insn r 0x2f, %5, %7, %1, %2, %4\n\t" /* sc */
		     "bnez %1, 1b\n"
		     "2:"
		     : "=&r"(found), "=&r"(failed)
		     : "r"(at), "r"(wanted), "r"(desired), "i"(width<W>),
		       "i"(lr_funct7(O)), "i"(sc_funct7(O))
		     : "memory");
	expected = static_cast<W>(found);
	return found == wanted;
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

/*
 * -- A byte or two of a word, changed by what changes a word --
 *
 * A reservation, and but for Zabha every atomic instruction, is of 4 or 8
 * bytes. So a smaller value is changed within the aligned word that holds it;
 * its neighbours are written as they were read, or not at all.
 */

template <typename W>
concept narrow = sizeof(W) < 4;

/* The word that holds it, */
template <narrow W>
inline u32 *word_around(const W *at)
{
	return reinterpret_cast<u32 *>(reinterpret_cast<usize>(at) & ~usize{3});
}

/* and how many of its bits lie below, in the five bits that a shift takes. */
template <narrow W>
inline usize bits_below(const W *at)
{
	return 8 * reinterpret_cast<usize>(at);
}

/* Shifts of a word: by asm, as C++ needs the other bits of the count off. */
inline long shift_up(long bits, usize count)
{
	long up;

	asm("sllw %0, %1, %2" : "=r"(up) : "r"(bits), "r"(count));
	return up;
}

inline long shift_down(long bits, usize count)
{
	long down;

	asm("srlw %0, %1, %2" : "=r"(down) : "r"(bits), "r"(count));
	return down;
}

template <narrow W>
inline constexpr u32 all_bits = static_cast<W>(~W{});

/* Changes bits by one instruction on the word, as the other bits stay. */
template <amo Which, order O, narrow W>
inline W modify_bits(W *at, W v)
{
	const usize below = bits_below(at);
	long bits = shift_up(v, below);

	if constexpr (Which == amo::bit_and)
		bits |= ~shift_up(all_bits<W>, below);
	return static_cast<W>(shift_down(
		modify_register<Which, O>(word_around(at), bits), below));
}

/* A bool's: or of 1 for true, and of 0 for false. */
template <order O>
inline bool exchange_bool(u8 *at, bool v)
{
	const long bit = shift_up(1, bits_below(at));
	u32 *const word = word_around(at);

	return bit & (v ? modify_register<amo::bit_or, O>(word, bit)
			: modify_register<amo::bit_and, O>(word, ~bit));
}

template <order O, narrow W>
inline W exchange_part(W *at, W v)
{
	const usize below = bits_below(at);
	long found, made;

	asm volatile("1:\n\t"
		     ".insn r 0x2f, 2, %5, %0, %2, x0\n\t" /* lr.w */
		     "and %1, %0, %4\n\t"
		     "or %1, %1, %3\n\t"
		     ".insn r 0x2f, 2, %6, %1, %2, %1\n\t" /* sc.w */
		     "bnez %1, 1b"
		     : "=&r"(found), "=&r"(made)
		     : "r"(word_around(at)), "r"(shift_up(v, below)),
		       "r"(~shift_up(all_bits<W>, below)), "i"(lr_funct7(O)),
		       "i"(sc_funct7(O))
		     : "memory");
	return static_cast<W>(shift_down(found, below));
}

/*
 * A counter that wraps carries into the bits above it: an amoadd.w is right
 * only where there are none (atomic_ops.hpp, field_at_the_top). So the carry is
 * masked away.
 */
template <order O, narrow W>
inline W add_to_part(W *at, W v)
{
	const usize below = bits_below(at);
	long found, made;

	asm volatile("1:\n\t"
		     ".insn r 0x2f, 2, %5, %0, %2, x0\n\t" /* lr.w */
		     "add %1, %0, %3\n\t"
		     "xor %1, %1, %0\n\t"
		     "and %1, %1, %4\n\t"
		     "xor %1, %1, %0\n\t"
		     ".insn r 0x2f, 2, %6, %1, %2, %1\n\t" /* sc.w */
		     "bnez %1, 1b"
		     : "=&r"(found), "=&r"(made)
		     : "r"(word_around(at)), "r"(shift_up(v, below)),
		       "r"(shift_up(all_bits<W>, below)), "i"(lr_funct7(O)),
		       "i"(sc_funct7(O))
		     : "memory");
	return static_cast<W>(shift_down(found, below));
}

/*
 * compare_and_swap() of a part of a word. `made` is what differs from what is
 * expected, or what SC says: 0 if it swapped.
 */
template <order O, narrow W>
inline bool swap_part(W *at, W &expected, W desired)
{
	const usize below = bits_below(at);
	long found, made;

	asm volatile("1:\n\t"
		     ".insn r 0x2f, 2, %7, %0, %2, x0\n\t" /* lr.w */
		     "srlw %1, %0, %3\n\t"
		     "xor %1, %1, %4\n\t"
		     "and %1, %1, %6\n\t"
		     "bnez %1, 2f\n\t"
		     "xor %1, %0, %5\n\t"
		     ".insn r 0x2f, 2, %8, %1, %2, %1\n\t" /* sc.w */
		     "bnez %1, 1b\n"
		     "2:"
		     : "=&r"(found), "=&r"(made)
		     : "r"(word_around(at)), "r"(below), "r"(expected),
		       "r"(shift_up(expected ^ desired, below)),
		       "rI"(long{all_bits<W>}), "i"(lr_funct7(O)),
		       "i"(sc_funct7(O))
		     : "memory");
	expected = static_cast<W>(shift_down(found, below));
	return made == 0;
}

/* A word is read and reserved, whatever part of it is asked for. */
template <order O, typename W>
inline W read_and_reserve(const W *at)
{
	if constexpr (narrow<W>)
		return static_cast<W>(shift_down(
			load_reserved<O>(word_around(at)), bits_below(at)));
	else
		return load_reserved<O>(at);
}

} // namespace klock::arch::riscv
