/* SPDX-License-Identifier: MIT */
/*
 * reader_unlock - a reader that leaves without publishing that it has read
 *
 * The writer finds no reader and writes; but the reader's last reads are not
 * before its count goes down, as seen from there: it may yet read what the
 * writer writes. What a reader's unlock needs is release, though it has written
 * nothing.
 */
#pragma once

#include <atomic>
#include <model/var.hpp>

template <std::memory_order Unlock>
struct reader_unlock {
	std::atomic<int> readers{0}; /* -1: a writer */
	model::var<int> table = 1;

	bool read_lock()
	{
		int now = readers.load(std::memory_order_relaxed);

		while (now >= 0)
			if (readers.compare_exchange_weak(
				    now, now + 1, std::memory_order_acquire,
				    std::memory_order_relaxed))
				return true;
		return false;
	}
	void read_unlock() { readers.fetch_sub(1, Unlock); }

	bool write_lock()
	{
		int nobody = 0;

		return readers.compare_exchange_strong(
			nobody, -1, std::memory_order_acquire,
			std::memory_order_relaxed);
	}
	void write_unlock() { readers.store(0, std::memory_order_release); }

	void cpu(unsigned which)
	{
		if (which == 0 && write_lock()) {
			table = 2;
			write_unlock();
		} else if (which != 0 && read_lock()) {
			(void)table.get();
			read_unlock();
		}
	}
	bool holds() const { return true; }
};
