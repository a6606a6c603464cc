/* SPDX-License-Identifier: MIT */
/*
 * shared_usage - what a checked lock knows of its readers
 *
 * How many contend to read, and who of them are in, as far as there is room to
 * note them: of more than noted_readers at once, some are counted and no more,
 * and their misuse is then not named. All relaxed, as in lock_usage.hpp: who
 * asks whether it reads itself, reads what it wrote itself.
 *
 * As there: what is noted of a reader is taken back before the lock inside is
 * released, so that unlock_shared() may be a lock's last use.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/lock_usage.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/* All zero bytes: nobody reads. */
struct shared_usage {
	/* Readers that a panic can name; more are counted only. */
	static constexpr unsigned noted_readers = 8;

	/* Counts the caller in, who is about to read; false: one too many. */
	[[nodiscard]] bool count_in(u64 capacity)
	{
		if (contend.fetch_add_relaxed(1) < capacity)
			return true;
		count_out();
		return false;
	}
	void count_out() { (void)contend.fetch_add_relaxed(~u32{0}); }

	/* The caller is in. */
	void note()
	{
		for (atomic<usize> &one : in) {
			usize nobody = 0;

			if (one.compare_exchange_relaxed(nobody,
							 owner_id() + 1))
				return;
		}
		(void)not_noted.fetch_add_relaxed(1);
	}

	/* Takes that back; false: it was not in. */
	[[nodiscard]] bool forget()
	{
		for (atomic<usize> &one : in) {
			if (one.load_relaxed() != owner_id() + 1)
				continue;
			one.store_relaxed(0);
			return true;
		}
		if (not_noted.load_relaxed() == 0)
			return false;
		(void)not_noted.fetch_add_relaxed(~u32{0});
		return true;
	}

	/* Whether the caller is known to be in. */
	[[nodiscard]] bool is_mine() const
	{
		bool mine = false;

		for (const atomic<usize> &one : in)
			mine |= one.load_relaxed() == owner_id() + 1;
		return mine;
	}

	/* Whether anybody is known to be. */
	[[nodiscard]] bool is_read() const
	{
		bool any = false;

		for (const atomic<usize> &one : in)
			any |= one.load_relaxed() != 0;
		return any;
	}

      private:
	/* Readers that wait or are in, if their capacity is their own. */
	atomic<u32> contend;
	/* Those in for whom there was no room below. */
	atomic<u32> not_noted;
	/* Who is in, + 1; 0: nobody. */
	atomic<usize> in[noted_readers];
};

namespace detail {
/* Of a lock that nobody shares: nothing. */
struct no_shared_usage {
	bool is_mine() const { return false; }
	bool is_read() const { return false; }
};

template <typename L>
struct shared_usage_for {
	using type = no_shared_usage;
	static constexpr u64 readers = 0;
	static constexpr bool nests = false;
	static constexpr bool contends = false;
};
/* Readers of a lock that is indexed by CPU nest. */
template <shared_lockable L>
struct shared_usage_for<L> {
	using type = shared_usage;
	static constexpr u64 readers = L::max_readers;
	static constexpr bool nests = cpu_shared_lock<L>;
	/* Whether readers and writers have one capacity. */
	static constexpr bool contends =
		requires { requires L::readers_contend; };
};
} // namespace detail

} // namespace klock
