/* SPDX-License-Identifier: MIT */
/*
 * seq_words - a value that is read while it is written, word by word
 *
 * What seq_lock and seq_latch keep their data in. Each word is an atomic of
 * its own, so that a read of a half-written value is no data race; whether the
 * words belong together is what the sequence says. A word is as large as the
 * value's alignment allows, at most a register.
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

namespace detail {

/* The widest word that a value of this alignment is made of. */
template <usize Align>
constexpr auto word_of()
{
	if constexpr (Align >= sizeof(usize))
		return usize{};
	else if constexpr (Align >= sizeof(u32))
		return u32{};
	else if constexpr (Align >= sizeof(u16))
		return u16{};
	else
		return u8{};
}

/* indices_to<N>::type is indices<0, 1, .. N - 1> */
template <usize...>
struct indices {};
template <typename, typename>
struct joined;
template <usize... A, usize... B>
struct joined<indices<A...>, indices<B...>> {
	using type = indices<A..., (sizeof...(A) + B)...>;
};
template <usize N>
struct indices_to : joined<typename indices_to<N / 2>::type,
			   typename indices_to<N - N / 2>::type> {};
template <>
struct indices_to<0> {
	using type = indices<>;
};
template <>
struct indices_to<1> {
	using type = indices<0>;
};

} // namespace detail

/* T is trivially copyable. */
template <typename T>
struct seq_words {
	static_assert(__is_trivially_copyable(T),
		      "a value that is copied word by word must be trivially "
		      "copyable");

	/* Zero bytes, whatever T{} is. */
	constexpr seq_words() = default;

	/* A constant only where T has no padding: constinit says so. */
	constexpr explicit seq_words(const T &v)
	    : seq_words(__builtin_bit_cast(image, v),
			typename detail::indices_to<count>::type{})
	{
	}

	void store_relaxed(const T &v)
	{
		const part *const from = reinterpret_cast<const part *>(&v);

		for (usize i = 0; i < count; i++)
			words[i].store_relaxed(from[i]);
	}

	[[nodiscard]] T load_relaxed() const
	{
		room to;
		part *const into = reinterpret_cast<part *>(&to.value);

		for (usize i = 0; i < count; i++)
			into[i] = words[i].load_relaxed();
		return to.value;
	}

      private:
	using word = decltype(detail::word_of<alignof(T)>());
	static constexpr usize count = sizeof(T) / sizeof(word);

	/*
	 * A word of a T, whatever T is made of. Not an array of words beside
	 * it: GCC would copy that to T through memory, in wider pieces than it
	 * was written in, which waits for the store buffer.
	 */
	using part [[gnu::may_alias]] = word;

	/* Where a T is put together; no T is made before that. */
	union room {
		room() {}
		T value;
	};

	/* All the words of a constant. */
	struct image {
		word at[count];
	};

	template <usize... I>
	constexpr seq_words(const image &from, detail::indices<I...>)
	    : words{atomic<word>(from.at[I])...}
	{
	}

	/* Each is read and written by itself, in this order. */
	atomic<word> words[count];
};

} // namespace klock
