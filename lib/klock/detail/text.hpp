/* SPDX-License-Identifier: MIT */
/*
 * text - builds the text of a panic where the misuse was found
 *
 * It lies on that CPU's stack: there is no heap, and no buffer that two CPUs
 * could share.
 */
#pragma once

#include <klock/types.hpp>

namespace klock {

/* A lock's name, and its index if it is in an array. */
struct lock_label {
	/* Values of element_plus_1 for a part of a lock, which has the lock's
	 * name: its gate (irq_shared_lock.hpp), or the inner lock of one whose
	 * waiters sleep.
	 */
	static constexpr u32 gate = ~u32{0};
	static constexpr u32 inner = gate - 1;

	/* Returns the part that it names; 0: the lock itself. */
	[[nodiscard]] constexpr u32 part() const
	{
		return element_plus_1 >= inner ? element_plus_1 : 0;
	}

	/* FNV-1a of a text, which may be null; never 0. */
	static constexpr u32 hash_of(const char *text)
	{
		return hash_of_chars(text ? text : "");
	}
	/* For a text that is not null. */
	static constexpr u32 hash_of_chars(const char *text)
	{
		u32 hash = 2166136261;

		for (; *text; text++)
			hash = (hash ^ static_cast<u8>(*text)) * 16777619;
		return hash + !hash;
	}

	const char *name;   /* null: "lock" */
	u32 element_plus_1; /* its index in an array + 1; 0: none */
};

/* A text that grows up to a size, and is then cut. */
template <usize Size>
struct bounded_text {
	/* Longer paths lose their beginning, which says less. */
	static constexpr usize longest_path = 60;

	bounded_text &add(const char *more)
	{
		while (*more && length < Size - 1)
			chars[length++] = *more++;
		chars[length] = 0;
		return *this;
	}

	bounded_text &add(u32 number)
	{
		char digits[11];
		char *at = digits + sizeof(digits) - 1;

		*at = 0;
		do {
			*--at = static_cast<char>('0' + number % 10);
			number /= 10;
		} while (number);
		return add(at);
	}

	bounded_text &add_hex(usize number)
	{
		char digits[2 * sizeof(number) + 1];
		char *at = digits + sizeof(digits) - 1;

		*at = 0;
		do {
			*--at = "0123456789abcdef"[number % 16];
			number /= 16;
		} while (number);
		return add("0x").add(at);
	}

	/*
	 * Adds file:line. Without a line, as functions for C note it, `file` is
	 * a return address: adds the address before it, which is in the call,
	 * for addr2line.
	 */
	bounded_text &add(call_site at)
	{
		if (!at.file)
			return add("(nowhere)");
		if (at.line < 0)
			return add_hex(reinterpret_cast<usize>(at.file) - 1);
		return add_path(at.file).add(":").add(
			static_cast<u32>(at.line));
	}

	/* Adds "runqueue", "runqueue[3]", "routes (gate)", "jobs (inner)". */
	bounded_text &add(lock_label of)
	{
		add(of.name ? of.name : "lock");
		if (of.element_plus_1 == 0)
			return *this;
		if (of.element_plus_1 == lock_label::gate)
			return add(" (gate)");
		if (of.element_plus_1 == lock_label::inner)
			return add(" (inner)");
		return add("[").add(of.element_plus_1 - 1).add("]");
	}

	const char *c_str() const { return chars; }

      private:
	/* Shortens a long path to "..." and its last folders. */
	bounded_text &add_path(const char *path)
	{
		usize size = 0;

		while (path[size])
			size++;
		if (size <= longest_path)
			return add(path);
		path += size - (longest_path - 3);
		for (const char *at = path; *at; at++)
			if (*at == '/')
				return add("...").add(at);
		return add("...").add(path);
	}

	usize length = 0;
	char chars[Size] = {};
};

/* The report of a wait that sleeps with a spinning lock held. */
inline constexpr const char *sleeps_with_a_spin =
	"may sleep, but the caller holds a spinlock";

/* The reports of a wait that max_chain forbids. */
inline constexpr const char *waits_too_deep =
	"more threads wait for each other in a row than max_chain";

/* Fits three call sites and the words between them. */
using misuse_text = bounded_text<320>;

/* How the text of most reports begins: the misuse, perhaps with its verb in
 * front, and its call site. */
inline misuse_text misuse_at(const char *what, call_site by,
			     const char *verb = "")
{
	misuse_text text;

	text.add(verb).add(what).add("; at ").add(by);
	return text;
}

} // namespace klock
