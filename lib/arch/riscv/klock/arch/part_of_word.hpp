/* SPDX-License-Identifier: MIT */
/*
 * part_of_word - a byte or two of a word, changed by what changes a word
 *
 * A reservation, and but for Zabha every atomic instruction, is of 4 or 8
 * bytes. So a smaller value is changed within the aligned word that holds it;
 * its neighbours are written as they were read, or not at all.
 */
#pragma once

#include <klock/arch/instructions.hpp>

namespace klock::arch::riscv {

template <typename W>
concept narrow = sizeof(W) < 4;

/* Where in which word it lies. */
template <narrow W>
struct part_of_word {
	u32 *word;
	unsigned shift;

	explicit part_of_word(const W *at)
	    : word(reinterpret_cast<u32 *>(reinterpret_cast<usize>(at) &
					   ~usize{3})),
	      shift(8 * (reinterpret_cast<usize>(at) & 3))
	{
	}

	u32 mask() const { return u32{static_cast<W>(~W{})} << shift; }
	u32 up(W v) const { return u32{v} << shift; }
	W down(u32 v) const { return static_cast<W>(v >> shift); }
};

/* By one instruction on the word: of bits that leave the others alone. */
template <amo Which, order O, narrow W>
inline W modify_bits(W *at, W v)
{
	const part_of_word part(at);
	u32 bits = part.up(v);

	if constexpr (Which == amo::bit_and)
		bits |= ~part.mask();
	return part.down(modify<Which, O>(part.word, bits));
}

template <order O, narrow W>
inline W exchange_part(W *at, W v)
{
	const part_of_word part(at);
	long found, made;

	asm volatile("1:\n\t"
		     ".insn r 0x2f, 2, %5, %0, %2, x0\n\t" /* lr.w */
		     "and %1, %0, %4\n\t"
		     "or %1, %1, %3\n\t"
		     ".insn r 0x2f, 2, %6, %1, %2, %1\n\t" /* sc.w */
		     "bnez %1, 1b"
		     : "=&r"(found), "=&r"(made)
		     : "r"(part.word), "r"(part.up(v)), "r"(~part.mask()),
		       "i"(lr_funct7(O)), "i"(sc_funct7(O))
		     : "memory");
	return part.down(static_cast<u32>(found));
}

/* The carry out of it is masked away. */
template <order O, narrow W>
inline W add_to_part(W *at, W v)
{
	const part_of_word part(at);
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
		     : "r"(part.word), "r"(part.up(v)), "r"(part.mask()),
		       "i"(lr_funct7(O)), "i"(sc_funct7(O))
		     : "memory");
	return part.down(static_cast<u32>(found));
}

/* Swaps if it finds what is expected; returns what it found. */
template <order O, narrow W>
inline W swap_part(W *at, W expected, W desired)
{
	const part_of_word part(at);
	long found, made;

	asm volatile("1:\n\t"
		     ".insn r 0x2f, 2, %6, %0, %2, x0\n\t" /* lr.w */
		     "xor %1, %0, %3\n\t"
		     "and %1, %1, %5\n\t"
		     "bnez %1, 2f\n\t"
		     "xor %1, %0, %4\n\t"
		     ".insn r 0x2f, 2, %7, %1, %2, %1\n\t" /* sc.w */
		     "bnez %1, 1b\n"
		     "2:"
		     : "=&r"(found), "=&r"(made)
		     : "r"(part.word), "r"(part.up(expected)),
		       "r"(part.up(static_cast<W>(expected ^ desired))),
		       "r"(part.mask()), "i"(lr_funct7(O)), "i"(sc_funct7(O))
		     : "memory");
	return part.down(static_cast<u32>(found));
}

} // namespace klock::arch::riscv
