/* SPDX-License-Identifier: MIT */
/*
 * lock_classes - a number for each lock name, found by loads alone
 *
 * Locks of one name are one class. A name is found by its address, then, once
 * for each address, by its text: two files that say "inode" mean one class. So
 * a name must stay what it is for ever, as a literal does.
 *
 * find() is for any context. Who adds holds the lock of lock_order.hpp; what
 * others find of it meanwhile is the whole number or none.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/plain.hpp>
#include <klock/types.hpp>

namespace klock {

/* The class of one name's address; the name is written last. */
struct class_slot {
	/* 0: none yet */
	atomic<u32> class_plus_1;
	/* null: nobody's */
	atomic<const char *> name;
};

struct lock_classes {
	static constexpr u32 none = ~u32{0};

	[[nodiscard]] u32 find(const char *name) const
	{
		for (u32 i = 0; i < slots; i++) {
			const class_slot &one = slot(name, i);
			const char *const found = one.name.load_relaxed();

			if (found == name)
				return one.class_plus_1.load_relaxed() - 1;
			if (!found)
				return none;
		}
		return none;
	}

	/* none: there is no room. name: not null */
	[[nodiscard]] u32 add(const char *name) const
	{
		for (u32 i = 0; i < slots; i++) {
			class_slot &one = slot(name, i);
			const char *const found = one.name.load_relaxed();

			if (found == name)
				return one.class_plus_1.load_relaxed() - 1;
			if (found)
				continue;
			const u32 number = by_text(name);
			if (number == none)
				return none;
			one.class_plus_1.store_relaxed(number + 1);
			one.name.store_relaxed(name);
			return number;
		}
		return none;
	}

	[[nodiscard]] const char *name(u32 number) const
	{
		return names[number].get();
	}

	/* A power of two, of them. */
	class_slot *at;
	u32 slots;
	/* Of each class, its first name. */
	plain<const char *> *names;
	u32 most;

      private:
	class_slot &slot(const char *name, u32 i) const
	{
		const usize address = reinterpret_cast<usize>(name);
		/* Names are a few bytes apart. */
		const usize hash = address ^ address >> 5 ^ address >> 11;

		return at[(hash + i) & (slots - 1)];
	}

	u32 by_text(const char *name) const
	{
		for (u32 i = 0; i < most; i++) {
			if (!names[i].get()) {
				names[i].set(name);
				return i;
			}
			if (is_same(names[i].get(), name))
				return i;
		}
		return none;
	}

	static bool is_same(const char *a, const char *b)
	{
		while (*a && *a == *b)
			a++, b++;
		return *a == *b;
	}
};

} // namespace klock
