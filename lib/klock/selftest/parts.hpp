/* SPDX-License-Identifier: MIT */
/*
 * parts - the common parts of the self-tests: the invariant, numbers, a meeting
 * point of threads, doorways, results
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/plain.hpp>
#include <klock/types.hpp>
#include <klock/selftest/locks.hpp>

namespace klock::selftest {

/*
 * invariant - data that stay consistent only if critical sections do not
 * overlap
 *
 * It is several words that are equal whenever nobody is inside. A section
 * checks that, adds one to each with a pause in between, and checks again. If
 * two sections overlap, one of them sees it, or an update is lost.
 */

struct invariant {
	static constexpr unsigned words = 4;

	/* One section; false if it saw another. */
	[[nodiscard]] bool visit(u32 relaxes_a_word)
	{
		const u32 before = word[0].get();
		bool whole = all_are(before);

		for (unsigned i = 0; i < words; i++) {
			word[i].set(before + 1);
			/* A compiler barrier, so that no store is left out. */
			keep();
			relax_for(relaxes_a_word);
		}
		return all_are(before + 1) && whole;
	}

	/* A reader's section, which changes nothing; false if it saw a
	 * writer's.
	 */
	[[nodiscard]] bool look(u32 relaxes) const
	{
		const u32 before = word[0].get();
		const bool whole = all_are(before);

		keep();
		relax_for(relaxes);
		return all_are(before) && whole;
	}

	/* The number of updates that were lost in `made` visits. Both counts
	 * wrap at 2^32, which the difference allows. */
	[[nodiscard]] u32 lost(u64 made) const
	{
		return static_cast<u32>(made) - word[0].get();
	}

	/* Sets it as after `made` visits. */
	void reset(u64 made = 0)
	{
		for (unsigned i = 0; i < words; i++)
			word[i].set(static_cast<u32>(made));
	}

      private:
	static void keep() { asm volatile("" ::: "memory"); }

	bool all_are(u32 value) const
	{
		bool all = true;

		for (unsigned i = 0; i < words; i++)
			all &= word[i].get() == value;
		return all;
	}

	plain<u32> word[words];
};

/*
 * arithmetic - functions that a 32-bit machine without a library lacks
 */

/*
 * a / b by shift and subtract: a 64-bit division on a 32-bit CPU is a call
 * into the compiler's library, which a kernel does not link. 0 where b is 0.
 */
constexpr u64 divide(u64 a, u64 b)
{
	u64 quotient = 0;
	int shift = 0;

	if (b == 0)
		return 0;
	while (b <= a - b && a >= b && !(b >> 63)) {
		b <<= 1;
		shift++;
	}
	for (; shift >= 0; shift--, b >>= 1) {
		quotient <<= 1;
		if (a >= b) {
			a -= b;
			quotient |= 1;
		}
	}
	return quotient;
}

static_assert(divide(0, 3) == 0 && divide(7, 7) == 1 && divide(100, 7) == 14);
static_assert(divide(~u64{0}, 1) == ~u64{0} && divide(~u64{0}, ~u64{0}) == 1);
static_assert(divide(5, 9) == 0 &&
	      divide(u64{1} << 63, 3) == (u64{1} << 63) / 3);

/* Marsaglia, "Xorshift RNGs", J. Stat. Software 8(14), 2003: 13, 17, 5. */
struct xorshift {
	constexpr explicit xorshift(u32 seed) : state(seed * 2654435761u | 1) {}

	constexpr u32 next()
	{
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		return state;
	}

	/* 0 .. bound - 1 */
	constexpr u32 below(u32 bound)
	{
		return static_cast<u32>(u64{next()} * bound >> 32);
	}

      private:
	u32 state;
};

/*
 * Jain's fairness index in thousandths: (sum x)^2 / (n sum x^2). 1000: all
 * the same; 1000 / n: one has everything. Source: Jain, Chiu and Hawe, DEC
 * TR-301, 1984. Counts are scaled down so that the squares fit.
 */
template <typename Count>
constexpr u32 jain_permille(unsigned n, Count count)
{
	u64 most = 0, sum = 0, squares = 0;
	int scale = 0;

	for (unsigned i = 0; i < n; i++)
		most = count(i) > most ? count(i) : most;
	while (most >> scale > 0xffff)
		scale++;
	for (unsigned i = 0; i < n; i++) {
		const u64 x = count(i) >> scale;
		sum += x;
		squares += x * x;
	}
	/* sum < 2^24 and squares < 2^40 for 256 CPUs: all products fit. */
	return static_cast<u32>(divide(sum * sum * 1000, n * squares));
}

/*
 * barrier - all CPUs of a test meet, and leave together
 *
 * Here is also the flag that ends a test early: waits in the self-tests, and in
 * the locks that are meant to fail, end when give_up is set.
 */

/*
 * Set by a watchdog that sees no progress. volatile and not atomic<>: it is
 * read inside the waits' predicates, where a checker allows no operation.
 */
inline constinit volatile bool give_up = false;

/* A reusable barrier; all CPUs call meet() with the same number. */
struct barrier {
	void meet(u32 cpus)
	{
		meet_unless(cpus, [] { return bool{give_up}; });
	}
	/* meet(), also with give_up set: for what all CPUs get to. */
	void meet_all(u32 cpus)
	{
		meet_unless(cpus, [] { return false; });
	}

	void reset() { arrived.store_release(0); }

      private:
	template <typename Ends>
	void meet_unless(u32 cpus, Ends ends)
	{
		const u32 mine = arrived.fetch_add_acq_rel(1);
		const u32 full = mine - mine % cpus + cpus;

		arrived.await_acquire([full, ends](u32 now) {
			return now - full < (1u << 31) || ends();
		});
	}

	/* arrivals since reset(): the k-th meeting is full at k x cpus */
	atomic<u32> arrived;
};

/*
 * doorway - shows from outside that a CPU has entered the queue
 *
 * First come, first served is defined by the doorway: the bounded first part of
 * lock(), before the wait (Lamport, CACM 17(8), 1974). To know which CPU came
 * first, a test must know when a doorway is done. A lock may tell
 * (is_queued(cpu)). In other locks, the bytes show it: a doorway is one atomic
 * operation that changes them, and nothing else does while the holder stays
 * inside.
 */

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
 * A hash of a lock's first line, which a doorway's operation changes. The bytes
 * behind it (a line for each CPU, a cell that goes round in clh_lock) are left
 * out, as a CPU may write to them before that operation: a test that hashed
 * them, too, would call the next CPU early and see a bypass that was none. Not
 * inlined, so that fifty locks share one copy.
 */
[[gnu::noinline]] inline u64 fingerprint(const void *lock, usize size)
{
	return hash(static_cast<const u8 *>(lock),
		    size < cache_line ? size : cache_line);
}

template <typename L>
struct doorway {
	explicit doorway(const L &watched) : lock(watched), before(seen_now())
	{
	}

	/* Whether this CPU passed the doorway since this object was made. */
	[[nodiscard]] bool passed(unsigned cpu) const
	{
		if constexpr (tells_queued<L>)
			return lock.is_queued(cpu);
		else
			return print() != before;
	}

      private:
	/* A lock that tells is not hashed: it may have plain stores. */
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

/*
 * result - what a torture run saw, and whether that is a pass
 */

struct result {
	const char *lock;     /* its name in the list */
	service promised;     /* its order of service */
	unsigned cpus;	      /* that took part */
	u32 bytes;	      /* sizeof the lock */
	u64 acquisitions;     /* critical sections entered, all CPUs */
	u64 handoffs;	      /* of them: after another CPU's section */
	u64 forced;	      /* handoffs that the convoys forced */
	u64 exclusion_errors; /* sections that saw another inside */
	u64 lost_updates;     /* increments that vanished */
	u64 fifo_violations;  /* entries out of the order of arrival */
	u64 try_failures;     /* try_lock() that found it taken */
	u64 visits;	      /* of NMI handlers, by try_lock() */
	u32 jain_permille;    /* fairness: 1000 is even */
	u32 max_consecutive;  /* consecutive sections of one CPU */
	u64 cycles;	      /* an acquisition, contended */
	u64 longest_wait;     /* cycles from lock() to the section */
	bool gave_up;	      /* no progress: the watchdog ended it */

	/* -- shared_torture.hpp alone -- */
	bool shared;	       /* readers were among them */
	u64 reads;	       /* acquisitions to read */
	u32 most_together;     /* readers inside at once */
	u64 longest_read_wait; /* cycles from lock_shared() to the section */
};

/* A null pointer: passed. Else what is wrong, in words. */
constexpr const char *fault(const result &r)
{
	if (r.exclusion_errors)
		return "two CPUs were in the section at once";
	if (r.lost_updates)
		return "an update made under the lock was lost";
	if (r.promised == service::fifo && r.fifo_violations)
		return "served out of the order of arrival";
	if (r.gave_up)
		return "no progress: everybody waits";
	if (r.handoffs < r.forced)
		return "vacuous: the lock did not go from CPU to CPU";
	if (r.shared && r.most_together < (r.cpus < 2 ? r.cpus : 2))
		return "vacuous: no two readers were inside at once";
	return nullptr;
}

} // namespace klock::selftest
