/* SPDX-License-Identifier: MIT */
/*
 * memory - the four functions that a compiler may call on its own account
 *
 * GCC manual, "Language Standards": a freestanding program brings memcpy,
 * memmove, memset and memcmp. String instructions instead of loops: a compiler
 * may turn a copying loop into a call of memcpy, that is, of itself.
 */
#include <boot/types.hpp>

using boot::u8;
using boot::usize;

extern "C" void *memcpy(void *to, const void *from, usize size)
{
	void *at = to;

	asm volatile("rep movsb"
		     : "+D"(at), "+S"(from), "+c"(size)
		     :
		     : "memory");
	return to;
}

extern "C" void *memmove(void *to, const void *from, usize size)
{
	/* Forwards is right unless `to` begins inside of the source. */
	if (reinterpret_cast<usize>(to) - reinterpret_cast<usize>(from) >= size)
		return memcpy(to, from, size);

	void *at = static_cast<u8 *>(to) + size - 1;
	const void *last = static_cast<const u8 *>(from) + size - 1;

	/* Interrupts may come while DF is set: their entry clears it. */
	asm volatile("std\n\trep movsb\n\tcld"
		     : "+D"(at), "+S"(last), "+c"(size)
		     :
		     : "memory", "cc");
	return to;
}

extern "C" void *memset(void *to, int value, usize size)
{
	void *at = to;

	asm volatile("rep stosb"
		     : "+D"(at), "+c"(size)
		     : "a"(value)
		     : "memory");
	return to;
}

extern "C" int memcmp(const void *left, const void *right, usize size)
{
	const u8 *l = static_cast<const u8 *>(left);
	const u8 *r = static_cast<const u8 *>(right);

	for (usize i = 0; i < size; i++) {
		if (l[i] != r[i])
			return l[i] < r[i] ? -1 : 1;
	}
	return 0;
}
