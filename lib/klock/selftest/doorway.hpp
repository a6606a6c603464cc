/* SPDX-License-Identifier: MIT */
/*
 * doorway - seeing from outside that a CPU has taken its place in the queue
 *
 * First come, first served speaks of the doorway: the bounded first part of
 * lock(), before the wait (Lamport, CACM 17(8), 1974). To say who came first,
 * a test must know when a doorway is done. A lock may tell (is_queued(cpu)).
 * For the others its bytes do: a doorway is one atomic operation that changes
 * them, and while the holder stays inside nothing else does.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/types.hpp>

namespace klock::selftest {

template <typename L>
concept tells_queued = requires(const L &lock, unsigned cpu) {
	{
		lock.is_queued(cpu)
	} -> same_as<bool>;
};

/* FNV-1a, each byte read atomically. */
inline u64 hash(const u8 *bytes, usize count)
{
	u64 sum = 0xcbf29ce484222325u;

	for (usize i = 0; i < count; i++) {
		sum ^= __atomic_load_n(bytes + i,
				       static_cast<int>(order::relaxed));
		sum *= 0x100000001b3u;
	}
	return sum;
}

/*
 * What a doorway changes lies on a lock's first or last lines: what is between
 * them, in a lock with a line for each CPU, is not looked at. Not inlined: once
 * is enough for fifty locks.
 */
[[gnu::noinline]] inline u64 fingerprint(const void *lock, usize size)
{
	constexpr usize most_seen = 128;
	const usize seen = size < most_seen ? size : most_seen;
	const u8 *bytes = static_cast<const u8 *>(lock);

	return hash(bytes, seen) * 31 + hash(bytes + size - seen, seen);
}

template <typename L>
struct doorway {
	explicit doorway(const L &watched) : lock(watched), before(seen_now())
	{
	}

	/* Whether this CPU came in after the doorway object was made. */
	[[nodiscard]] bool passed(unsigned cpu) const
	{
		if constexpr (tells_queued<L>)
			return lock.is_queued(cpu);
		else
			return print() != before;
	}

      private:
	/* What others write plainly is not looked at where the lock tells. */
	u64 seen_now() const
	{
		if constexpr (tells_queued<L>)
			return 0;
		else
			return print();
	}

	u64 print() const { return fingerprint(&lock, sizeof(L)); }

	const L &lock;
	u64 before;
};

} // namespace klock::selftest
