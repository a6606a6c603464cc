/* SPDX-License-Identifier: MIT */
/*
 * atomic_ops - memory operations on any host: the compiler's builtins
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/detail/builtin_ops.hpp>

#ifdef __riscv
namespace klock::arch {
/* As in a kernel: the CPU is the same. */
using flag_word = u32;
} // namespace klock::arch
#endif

#if defined(__SANITIZE_THREAD__)
#define KLOCK_TELL_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KLOCK_TELL_TSAN
#endif
#endif

#if defined(KLOCK_TELL_TSAN)
#undef KLOCK_TELL_TSAN

/* ThreadSanitizer's interface (sanitizer/tsan_interface.h). */
extern "C" void __tsan_acquire(void *addr);
extern "C" void __tsan_release(void *addr);

namespace klock::arch {

/*
 * ThreadSanitizer takes a word and the fields inside of it for different
 * objects: it does not see that an acquire of one sees a release of the other.
 * So it is told that an operation on the whole is one on each field.
 */
template <typename T, usize N>
concept fields_under_tsan = N >= 2;

/* An access to two fields is two accesses: ThreadSanitizer then sees each. */
template <>
inline constexpr bool reaches_both<u8> = false;
template <>
inline constexpr bool reaches_both<u16> = false;

template <typename T, usize N>
inline void release_each(field_cell<T, N> &at)
{
	for (cell<T> &field : at.at)
		__tsan_release(&field);
}

/*
 * An acquire of a field acquires what operations on the whole released, too.
 * Their own write would race with the end of the object otherwise.
 */
template <order O, typename T, usize N>
inline void acquire_whole(const field_cell<T, N> &at)
{
	if (O != order::relaxed && O != order::release)
		__tsan_acquire(const_cast<field_cell<T, N> *>(&at));
}

template <usize I, order O, typename T, usize N>
	requires fields_under_tsan<T, N>
inline T load_field(const field_cell<T, N> &at, site s)
{
	const T seen = load<O>(at.at[I], s);

	acquire_whole<O>(at);
	return seen;
}

template <usize I, order O, typename T, usize N>
	requires fields_under_tsan<T, N>
inline T exchange_field(field_cell<T, N> &at, T v, site s)
{
	const T before = exchange<O>(at.at[I], v, s);

	acquire_whole<O>(at);
	return before;
}

template <usize I, order O, typename T, usize N>
	requires fields_under_tsan<T, N>
inline T fetch_add_field(field_cell<T, N> &at, T v, site s)
{
	const T before = fetch_add<O>(at.at[I], v, s);

	acquire_whole<O>(at);
	return before;
}

template <usize I, order O, typename T, usize N, typename Predicate>
	requires fields_under_tsan<T, N>
inline T await_field(const field_cell<T, N> &at, Predicate done, site s)
{
	const T seen = await<O>(at.at[I], done, s);

	acquire_whole<O>(at);
	return seen;
}

template <usize I, order O, typename T, usize N, typename Predicate>
	requires fields_under_tsan<T, N>
inline T await_exchange_field(field_cell<T, N> &at, T desired, Predicate done,
			      site s)
{
	const T before = await_exchange<O>(at.at[I], desired, done, s);

	acquire_whole<O>(at);
	return before;
}

template <order O, typename T, usize N>
	requires fields_under_tsan<T, N>
inline bool compare_exchange_fields(field_cell<T, N> &at, fields<T, N> expected,
				    fields<T, N> desired, site)
{
	using word [[gnu::may_alias]] = word_of<sizeof(at)>;
	word old = word_from(expected);

	if (O == order::acq_rel)
		release_each(at);
	const bool swapped = __atomic_compare_exchange_n(
		reinterpret_cast<word *>(&at), &old, word_from(desired), false,
		static_cast<int>(O), static_cast<int>(without_store(O)));
	if (O != order::relaxed)
		for (cell<T> &field : at.at)
			__tsan_acquire(&field);
	return swapped;
}

template <order O, typename T, usize N>
	requires fields_under_tsan<T, N>
inline void advance_fields(field_cell<T, N> &at, fields<T, N> from,
			   fields<T, N> to, site)
{
	using word [[gnu::may_alias]] = word_of<sizeof(at)>;
	const word by = static_cast<word>(word_from(to) - word_from(from));

	if (O != order::relaxed)
		release_each(at);
	(void)__atomic_fetch_add(reinterpret_cast<word *>(&at), by,
				 static_cast<int>(O));
}

} // namespace klock::arch
#endif
