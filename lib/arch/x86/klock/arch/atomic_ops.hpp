/* SPDX-License-Identifier: MIT */
/*
 * atomic_ops - memory operations on x86: the compiler's builtins
 *
 * x86 is TSO (Intel SDM volume 3A, 9.2): every load acquires, every store
 * releases, every locked operation is a full fence. Only a seq_cst store or
 * fence costs more than its relaxed form.
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/detail/builtin_ops.hpp>

#if defined(__i386__)
namespace klock::arch {

/*
 * On 32 bits GCC makes a library call of an 8-byte builtin, unless it may use
 * the FPU to load such a value; a kernel has neither the library nor the FPU.
 * Needs CMPXCHG8B: i586 and later (Intel SDM volume 2A).
 */
template <typename T, usize N>
concept fields_of_8_bytes = sizeof(field_cell<T, N>) == 8;

template <order O, typename T, usize N>
	requires fields_of_8_bytes<T, N>
inline bool compare_exchange_fields(field_cell<T, N> &at, fields<T, N> expected,
				    fields<T, N> desired, site)
{
	using word [[gnu::may_alias]] = u64;
	using halves = fields<u32, 2>;
	halves old = __builtin_bit_cast(halves, word_from(expected));
	const halves made = __builtin_bit_cast(halves, word_from(desired));
	bool swapped;

	asm volatile("lock cmpxchg8b %1"
		     : "=@ccz"(swapped), "+m"(*reinterpret_cast<word *>(&at)),
		       "+a"(old.at[0]), "+d"(old.at[1])
		     : "b"(made.at[0]), "c"(made.at[1])
		     : "memory");
	return swapped;
}

/* There is no add of 8 bytes: swaps until nobody came between. */
template <order O, typename T, usize N>
	requires fields_of_8_bytes<T, N>
inline void advance_fields(field_cell<T, N> &at, fields<T, N> from,
			   fields<T, N> to, site s)
{
	using half [[gnu::may_alias]] = u32;
	using all = fields<T, 8 / sizeof(T)>;
	const half *const now = reinterpret_cast<half *>(&at);
	const u64 by = word_from(to) - word_from(from);
	u64 old;

	do {
		old = u64{__atomic_load_n(&now[1], __ATOMIC_RELAXED)} << 32 |
		      __atomic_load_n(&now[0], __ATOMIC_RELAXED);
	} while (!compare_exchange_fields<O>(
		reinterpret_cast<field_cell<T, 8 / sizeof(T)> &>(at),
		__builtin_bit_cast(all, old), __builtin_bit_cast(all, old + by),
		s));
}

} // namespace klock::arch
#endif
