/* SPDX-License-Identifier: MIT */
/*
 * busted_sequences - sequences, once and barriers with one mistake each
 *
 * Each has the interface of the correct one, so that one client runs both. The
 * environments that find it stand beside it.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/plain.hpp>
#include <klock/seq_lock.hpp>

namespace klock::selftest {

/* A mistake of a seqlock. */
enum class seq_mistake {
	no_write_fence,	   /* model: words pass the odd sequence */
	no_read_fence,	   /* model: the second look passes the words */
	no_second_look,	   /* model, threads: whatever was read is returned */
	reads_while_odd,   /* model, threads: begins in the middle of a write */
	two_writers_enter, /* model, threads: no compare-and-swap */
};

template <typename T, seq_mistake Mistake>
struct busted_seq_lock {
	constexpr busted_seq_lock() = default;
	constexpr explicit busted_seq_lock(const T &first) : value(first) {}

	[[nodiscard]] T read() const
	{
		for (;;) {
			const u32 began = sequence.await_acquire([](u32 now) {
				return now % 2 == 0 || has(odd);
			});
			const T seen = value.load_relaxed();

			if (!has(seq_mistake::no_read_fence))
				fence_acquire();
			if (has(seq_mistake::no_second_look) ||
			    sequence.load_relaxed() == began)
				return seen;
		}
	}

	template <typename Change>
	void update(Change change)
	{
		const u32 began = begin();

		if (!has(seq_mistake::no_write_fence))
			fence_release();
		T v = value.load_relaxed();
		change(v);
		value.store_relaxed(v);
		sequence.store_release(began + 2);
	}

	void write(const T &v)
	{
		update([&v](T &old) { old = v; });
	}

      private:
	static constexpr seq_mistake odd = seq_mistake::reads_while_odd;
	static constexpr bool has(seq_mistake m) { return m == Mistake; }

	u32 begin()
	{
		u32 free;

		if (has(seq_mistake::two_writers_enter)) {
			free = sequence.await_acquire(
				[](u32 now) { return now % 2 == 0; });
			sequence.store_relaxed(free + 1);
			return free;
		}
		do
			free = sequence.await_relaxed(
				[](u32 now) { return now % 2 == 0; });
		while (!sequence.compare_exchange_acquire(free, free + 1));
		return free;
	}

	seq_words<T> value;
	atomic<u32> sequence;
};

/* The words are plain: right fences, and a data race all the same. */
template <typename T>
struct plain_seq_lock {
	[[nodiscard]] T read() const
	{
		for (;;) {
			const u32 began = sequence.await_acquire(
				[](u32 now) { return now % 2 == 0; });
			const T seen = value.get();

			fence_acquire();
			if (sequence.load_relaxed() == began)
				return seen;
		}
	}

	void write(const T &v)
	{
		const u32 began = sequence.load_relaxed();

		sequence.store_relaxed(began + 1);
		fence_release();
		value.set(v);
		sequence.store_release(began + 2);
	}

      private:
	plain<T> value;
	atomic<u32> sequence;
};

enum class once_mistake {
	published_relaxed, /* model: done is seen, and not what was done */
	looked_not_taken,  /* model, threads: two see "new", both run it */
	failure_is_final,  /* model: whoever waits for a failed one hangs */
};

template <once_mistake Mistake>
struct busted_once {
	template <typename What>
	bool call(What &&what)
	{
		u32 now = state.load_acquire();

		for (;;) {
			if (now == done)
				return true;
			if (now == fresh && take(now))
				return finish(what());
			if (now == done)
				return true;
			now = state.await_acquire([](u32 v) {
				return v == done ||
				       (v == fresh &&
					Mistake !=
						once_mistake::failure_is_final);
			});
		}
	}

	[[nodiscard]] bool is_done() const
	{
		return state.load_acquire() == done;
	}

      private:
	static constexpr u32 fresh = 0, running = 1, done = ~u32{0};

	bool take(u32 &now)
	{
		if (Mistake != once_mistake::looked_not_taken)
			return state.compare_exchange_acquire(now, running);
		state.store_relaxed(running);
		return true;
	}

	bool finish(bool succeeded)
	{
		if (Mistake == once_mistake::published_relaxed)
			state.store_relaxed(succeeded ? done : fresh);
		else
			state.store_release(succeeded ? done : fresh);
		return succeeded;
	}

	atomic<u32> state;
};

enum class barrier_mistake {
	resets_late, /* model, threads: an early arrival is lost, all hang */
	generation_late, /* model, threads: the next one is waited for */
	counts_relaxed, /* model: the last one has not seen what others wrote */
};

template <barrier_mistake Mistake>
struct busted_barrier {
	bool arrive_and_wait(u32 expected)
	{
		u32 now = generation.load_relaxed();
		const u32 before = Mistake == barrier_mistake::counts_relaxed
					   ? arrived.fetch_add_relaxed(1)
					   : arrived.fetch_add_acq_rel(1);

		if (Mistake == barrier_mistake::generation_late)
			now = generation.load_relaxed();
		if (before + 1 != expected) {
			generation.await_ne_acquire(now);
			return false;
		}
		if (Mistake != barrier_mistake::resets_late)
			arrived.store_relaxed(0);
		generation.store_release(now + 1);
		if (Mistake == barrier_mistake::resets_late)
			arrived.store_relaxed(0);
		return true;
	}

      private:
	atomic<u32> arrived;
	atomic<u32> generation;
};

} // namespace klock::selftest
