/* SPDX-License-Identifier: MIT */
/*
 * part_of_word - a byte or two of a word, changed by what changes a word
 *
 * A reservation, and but for Zabha every atomic instruction, is of 4 or 8
 * bytes. So a smaller value is changed within the aligned word that holds it;
 * its neighbours are written as they were read, or not at all.
 *
 * A register has 64 bits, and a branch looks at all of them: every operand of
 * 32 bits goes through in_register(), as lr.w leaves what it has read. The ABI
 * promises that of arguments, the compilers promise nothing for asm.
 */
#pragma once

#include <klock/arch/instructions.hpp>

namespace klock::arch::riscv {

template <typename W>
concept narrow = sizeof(W) < 4;

/* The word that holds it, */
template <narrow W>
inline u32 *word_around(const W *at)
{
	return reinterpret_cast<u32 *>(reinterpret_cast<usize>(at) & ~usize{3});
}

/* and how many of its bits lie below. */
template <narrow W>
inline unsigned bits_below(const W *at)
{
	return 8 * (reinterpret_cast<usize>(at) & 3);
}

template <narrow W>
inline constexpr u32 all_bits = static_cast<W>(~W{});

/* By one instruction on the word: of bits that leave the others alone. */
template <amo Which, order O, narrow W>
inline W modify_bits(W *at, W v)
{
	const unsigned below = bits_below(at);
	u32 bits = u32{v} << below;

	if constexpr (Which == amo::bit_and)
		bits |= ~(all_bits<W> << below);
	return static_cast<W>(modify<Which, O>(word_around(at), bits) >> below);
}

template <order O, narrow W>
inline W exchange_part(W *at, W v)
{
	const unsigned below = bits_below(at);
	long found, made;

	asm volatile("1:\n\t"
		     ".insn r 0x2f, 2, %5, %0, %2, x0\n\t" /* lr.w */
		     "and %1, %0, %4\n\t"
		     "or %1, %1, %3\n\t"
		     ".insn r 0x2f, 2, %6, %1, %2, %1\n\t" /* sc.w */
		     "bnez %1, 1b"
		     : "=&r"(found), "=&r"(made)
		     : "r"(word_around(at)), "r"(in_register(u32{v} << below)),
		       "r"(in_register(~(all_bits<W> << below))),
		       "i"(lr_funct7(O)), "i"(sc_funct7(O))
		     : "memory");
	return static_cast<W>(static_cast<u32>(found) >> below);
}

/* The carry out of it is masked away. */
template <order O, narrow W>
inline W add_to_part(W *at, W v)
{
	const unsigned below = bits_below(at);
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
		     : "r"(word_around(at)), "r"(in_register(u32{v} << below)),
		       "r"(in_register(all_bits<W> << below)),
		       "i"(lr_funct7(O)), "i"(sc_funct7(O))
		     : "memory");
	return static_cast<W>(static_cast<u32>(found) >> below);
}

/* Swaps if it finds what is expected; returns what it found. */
template <order O, narrow W>
inline W swap_part(W *at, W expected, W desired)
{
	const unsigned below = bits_below(at);
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
		     : "r"(word_around(at)),
		       "r"(in_register(u32{expected} << below)),
		       "r"(in_register(u32{static_cast<W>(expected ^ desired)}
				       << below)),
		       "r"(in_register(all_bits<W> << below)),
		       "i"(lr_funct7(O)), "i"(sc_funct7(O))
		     : "memory");
	return static_cast<W>(static_cast<u32>(found) >> below);
}

/* A word is read and reserved, whatever part of it is asked for. */
template <order O, typename W>
inline W read_and_reserve(const W *at)
{
	if constexpr (narrow<W>)
		return static_cast<W>(load_reserved<O>(word_around(at)) >>
				      bits_below(at));
	else
		return load_reserved<O>(at);
}

} // namespace klock::arch::riscv
