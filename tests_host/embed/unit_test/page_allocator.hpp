/* SPDX-License-Identifier: MIT */
/*
 * page_allocator - a piece of a kernel: up to 32 pages, for threads and
 * interrupt handlers
 *
 * What the lock protects is plain<T>: free of charge in the kernel, and the
 * checker proves that the lock does protect it.
 */
#pragma once

#include <klock/irq_guard.hpp>
#include <klock/plain.hpp>
#include <klock/ticket_lock.hpp>

template <unsigned Pages>
struct page_allocator {
	static_assert(Pages >= 1 && Pages <= 32);
	static constexpr unsigned none = Pages;

	/* A page that nobody else has, or none. */
	unsigned allocate()
	{
		klock::irq_guard held(lock);
		const klock::u32 map = free.get();

		if (map == 0)
			return none;
		free.set(map & (map - 1));
		return static_cast<unsigned>(__builtin_ctz(map));
	}

	void release(unsigned page)
	{
		klock::irq_guard held(lock);

		free.set(free.get() | 1u << page);
	}

	unsigned free_pages()
	{
		klock::irq_guard held(lock);

		return static_cast<unsigned>(__builtin_popcount(free.get()));
	}

      private:
	klock::ticket_lock<klock::u16> lock;
	/* One bit a page */
	klock::plain<klock::u32> free{~klock::u32{0} >> (32 - Pages)};
};
