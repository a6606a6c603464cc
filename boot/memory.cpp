/* SPDX-License-Identifier: MIT */
/*
 * memory - the four functions that a compiler may call on its own account
 *
 * GCC manual, "Language Standards": a freestanding program brings memcpy,
 * memmove, memset and memcmp. A compiler may turn a copying loop into a call of
 * memcpy, that is, of itself: keep() is what no such loop has in it. Whole
 * words where both ends are aligned.
 */
#include <boot/types.hpp>

using boot::u8;
using boot::usize;

namespace {

/* A word of whatever the program has stored there. */
using word [[gnu::may_alias]] = usize;

void keep() { asm volatile("" ::: "memory"); }

bool is_aligned(const void *left, const void *right, usize size)
{
	return ((reinterpret_cast<usize>(left) |
		 reinterpret_cast<usize>(right) | size) %
		sizeof(word)) == 0;
}

template <typename T>
void copy_forwards(void *to, const void *from, usize size)
{
	for (usize i = 0; i < size / sizeof(T); i++, keep())
		static_cast<T *>(to)[i] = static_cast<const T *>(from)[i];
}

template <typename T>
void copy_backwards(void *to, const void *from, usize size)
{
	for (usize i = size / sizeof(T); i-- > 0; keep())
		static_cast<T *>(to)[i] = static_cast<const T *>(from)[i];
}

template <typename T>
void fill(void *to, T value, usize size)
{
	for (usize i = 0; i < size / sizeof(T); i++, keep())
		static_cast<T *>(to)[i] = value;
}

} // namespace

extern "C" void *memcpy(void *to, const void *from, usize size)
{
	if (is_aligned(to, from, size))
		copy_forwards<word>(to, from, size);
	else
		copy_forwards<u8>(to, from, size);
	return to;
}

extern "C" void *memmove(void *to, const void *from, usize size)
{
	/* Forwards is right unless `to` begins inside of the source. */
	if (reinterpret_cast<usize>(to) - reinterpret_cast<usize>(from) >= size)
		return memcpy(to, from, size);
	if (is_aligned(to, from, size))
		copy_backwards<word>(to, from, size);
	else
		copy_backwards<u8>(to, from, size);
	return to;
}

extern "C" void *memset(void *to, int value, usize size)
{
	const u8 byte = static_cast<u8>(value);

	if (is_aligned(to, nullptr, size))
		fill<word>(to, ~word{0} / 0xff * byte, size);
	else
		fill<u8>(to, byte, size);
	return to;
}

extern "C" int memcmp(const void *left, const void *right, usize size)
{
	const u8 *l = static_cast<const u8 *>(left);
	const u8 *r = static_cast<const u8 *>(right);

	for (usize i = 0; i < size; i++, keep()) {
		if (l[i] != r[i])
			return l[i] < r[i] ? -1 : 1;
	}
	return 0;
}
