/* SPDX-License-Identifier: MIT */
/*
 * atomic_ops - memory operations on RISC-V, 64 bits
 *
 * Source: the unprivileged specification, RVWMO, and its table of mappings
 * from C++. Loads and stores have fences beside them, all else has its order
 * in the instruction. Each function here has a constraint that always holds:
 * so it is taken before builtin_ops.hpp's of the same name.
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/arch/instructions.hpp>
#include <klock/detail/builtin_ops.hpp>

namespace klock::arch {

/* Even with Zabha, so that files with another -march have the same layout. */
using flag_word = u32;

namespace riscv {

/* The bits of a value: what instructions.hpp takes. */
template <typename T>
inline word_of<sizeof(T)> bits_from(T v)
{
	return __builtin_bit_cast(word_of<sizeof(T)>, v);
}

/* A cell as a word. may_alias: two views of one place. */
template <typename C>
inline auto word_at(C &at)
{
	using word [[gnu::may_alias]] = word_of<sizeof(C)>;

	return reinterpret_cast<word *>(&at);
}

template <typename C>
inline auto word_at(const C &at)
{
	return const_cast<const word_of<sizeof(C)> *>(
		word_at(const_cast<C &>(at)));
}

template <amo Which, order O, typename W>
inline W modify_any(W *at, W v)
{
	if constexpr (!narrow<W> || has_narrow_amo)
		return modify<Which, O>(at, v);
	else if constexpr (Which == amo::swap)
		return exchange_part<O>(at, v);
	else if constexpr (Which == amo::add)
		return add_to_part<O>(at, v);
	else
		return modify_bits<Which, O>(at, v);
}

template <order O, typename W>
inline bool swap_any(W *at, W &expected, W desired)
{
	if constexpr (has_cas && (!narrow<W> || has_narrow_amo))
		return compare_and_swap<O>(at, expected, desired);
	else if constexpr (narrow<W>)
		return swap_part<O>(at, expected, desired);
	else
		return reserve_and_swap<O>(at, expected, desired);
}

template <amo Which, order O, typename T>
inline T modify_cell(cell<T> &at, T v)
{
	return __builtin_bit_cast(
		T, modify_any<Which, O>(word_at(at), bits_from(v)));
}

} // namespace riscv

template <order O>
	requires(O != order::relaxed)
inline void fence(site)
{
	if constexpr (O == order::acquire)
		asm volatile("fence r, rw" ::: "memory");
	else if constexpr (O == order::release)
		asm volatile("fence rw, w" ::: "memory");
	else if constexpr (O == order::acq_rel)
		asm volatile("fence.tso" ::: "memory");
	else
		asm volatile("fence rw, rw" ::: "memory");
}

template <order O, typename T>
	requires atomic_value<T>
inline T load(const cell<T> &at, site s)
{
	if constexpr (O == order::seq_cst)
		fence<order::seq_cst>(s);

	const T v =
		from_stored<T>(__atomic_load_n(&at.value, __ATOMIC_RELAXED));
	if constexpr (O != order::relaxed)
		fence<order::acquire>(s);
	return v;
}

/* volatile: GCC 12 has a swap for a relaxed builtin, which is no store. */
template <order O, typename T>
	requires atomic_value<T>
inline void store(cell<T> &at, T v, site s)
{
	if constexpr (O != order::relaxed)
		fence<order::release>(s);
	*static_cast<volatile stored_as<T> *>(&at.value) = to_stored(v);
	if constexpr (O == order::seq_cst)
		fence<order::seq_cst>(s);
}

template <order O, typename T>
	requires atomic_value<T>
inline T exchange(cell<T> &at, T v, site)
{
	if constexpr (__is_same(T, bool) && !riscv::has_narrow_amo)
		return riscv::exchange_bool<O>(riscv::word_at(at), v);
	else
		return riscv::modify_cell<riscv::amo::swap, O>(at, v);
}

template <order O, typename T>
	requires atomic_value<T>
inline bool compare_exchange(cell<T> &at, T &expected, T desired, site)
{
	auto found = riscv::bits_from(expected);
	const bool swapped = riscv::swap_any<O>(riscv::word_at(at), found,
						riscv::bits_from(desired));

	expected = __builtin_bit_cast(T, found);
	return swapped;
}

template <order O, typename T>
	requires atomic_value<T>
inline T fetch_add(cell<T> &at, T v, site)
{
	return riscv::modify_cell<riscv::amo::add, O>(at, v);
}

template <order O, typename T>
	requires atomic_value<T>
inline T fetch_sub(cell<T> &at, T v, site)
{
	using word = word_of<sizeof(T)>;

	return riscv::modify_cell<riscv::amo::add, O>(
		at, static_cast<T>(word{} - static_cast<word>(v)));
}

template <order O, typename T>
	requires atomic_value<T>
inline T fetch_or(cell<T> &at, T v, site)
{
	return riscv::modify_cell<riscv::amo::bit_or, O>(at, v);
}

template <order O, typename T>
	requires atomic_value<T>
inline T fetch_and(cell<T> &at, T v, site)
{
	return riscv::modify_cell<riscv::amo::bit_and, O>(at, v);
}

template <order O, typename T>
	requires atomic_value<T>
inline T fetch_xor(cell<T> &at, T v, site)
{
	return riscv::modify_cell<riscv::amo::bit_xor, O>(at, v);
}

/* -- Waiting -------------------------------------------------------------- */

template <atomic_value T>
inline constexpr bool has_sleep_until<T> = riscv::has_wait_on_reservation;

/*
 * With Zawrs: asleep between two looks. From a read to WRS.NTO there may be
 * nothing but `done`, and it reserves nothing: what changes the location ends
 * the reservation, and that ends the sleep.
 */
template <order O, typename T, typename Predicate>
inline T sleep_until(const cell<T> &at, Predicate done)
{
	for (;;) {
		const T v = __builtin_bit_cast(
			T, riscv::read_and_reserve<O>(riscv::word_at(at)));
		if (done(v))
			return v;
		riscv::wait_on_reservation();
	}
}

/* -- Several values in one word ------------------------------------------ */

/* Whether nothing lies above the field in its aligned word of 4 bytes. */
template <usize I, typename T, usize N>
concept field_at_the_top =
	sizeof(T) < 4 && alignof(field_cell<T, N>) >= 4 &&
	(I + 1) * sizeof(T) % 4 == 0 && !riscv::has_narrow_amo;

/* Its carry leaves the word: one instruction. */
template <usize I, order O, typename T, usize N>
	requires field_at_the_top<I, T, N>
inline T fetch_add_field(field_cell<T, N> &at, T v, site)
{
	using word [[gnu::may_alias]] = u32;
	constexpr unsigned up = 32 - 8 * sizeof(T);
	word *const holds_it =
		reinterpret_cast<word *>(&at) + I * sizeof(T) / sizeof(word);

	return static_cast<T>(
		riscv::modify<riscv::amo::add, O>(holds_it, word{v} << up) >>
		up);
}

template <order O, typename T, usize N>
	requires atomic_value<T>
inline bool compare_exchange_fields(field_cell<T, N> &at, fields<T, N> expected,
				    fields<T, N> desired, site)
{
	auto found = word_from(expected);

	return riscv::swap_any<O>(riscv::word_at(at), found,
				  word_from(desired));
}

template <order O, typename T, usize N>
	requires atomic_value<T>
inline void advance_fields(field_cell<T, N> &at, fields<T, N> from,
			   fields<T, N> to, site)
{
	using word = word_of<sizeof(at)>;

	(void)riscv::modify_any<riscv::amo::add, O>(
		riscv::word_at(at),
		static_cast<word>(word_from(to) - word_from(from)));
}

} // namespace klock::arch
