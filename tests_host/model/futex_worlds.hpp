/* SPDX-License-Identifier: MIT */
/*
 * futex_worlds - what threads do with a futex_table, for the checker
 *
 * A CPU's part is a word, of steps. A step is a letter and its digits, which
 * are keys; keys 0 and 2 have one bucket, key 1 another. In capitals a wait is
 * by a deadline.
 *
 *	w0	waits until word 0 is 1, and reads the data
 *	f0	as w0; the word's page is not there before the first wait
 *	s0	waits once, if word 0 is 0
 *	x0	waits once, whatever the word is
 *	a01	waits once for any of two, if both words are 0
 *	y01	waits once for any of two, whatever they are
 *	h0	waits until the data, under a lock, are 1: its look releases it
 *	g0	makes them 1 under that lock
 *	d0	writes the data, and then makes word 0 a 1
 *	c0	makes word 0 a 1
 *	k02	wakes at most 2 waiters of key 0
 *	i02	the same as d0 and k02, with the change inside of wake()
 *	r01	requeues a waiter of key 0 to key 1
 *	o01	the same for words 0 and 1, by wake_op(), one of each
 *	p0	unparks CPU 0, for nothing
 *
 * As the other worlds of locks that sleep, with a ticket_lock as inner lock.
 */
#pragma once

#include <klock/byte_mutex.hpp>
#include <klock/futex.hpp>

#include "sleep_worlds.hpp"

namespace sleeping {

/* After a wait returns, its node is dead: what touches it is found. */
template <typename Inner>
struct futex_world {
	using table = futex_table<2, Inner>;

	/* The first key of the bucket, and the second. */
	static constexpr futex_key key_in(usize bucket, unsigned skipped)
	{
		futex_key key = {1, 0};

		while (table::index_of(key) != bucket || skipped--)
			key.address++;
		return key;
	}
	static constexpr futex_key keys[] = {key_in(0, 0), key_in(1, 0),
					     key_in(0, 1)};
	static constexpr u64 late = 1;

	futex_look look(unsigned i) const
	{
		return words[i].load_relaxed() ? futex_look::changed
					       : futex_look::same;
	}
	/* Returns false if the wait ended without a wake. */
	template <typename Look>
	bool waits(unsigned i, bool timed, Look of)
	{
		const futex_result why =
			timed ? lot.wait_until(keys[i], of, late)
			      : lot.wait(keys[i], of);

		return why == futex_result::woken ||
		       why == futex_result::changed;
	}
	void reads_data(unsigned i, bool timed)
	{
		while (!words[i].load_acquire())
			if (!waits(i, timed, [&] { return look(i); }))
				return;
		check(data.get() == 1, "the data is not there");
	}
	/* The page is read in without the lock; what changes meanwhile, the
	 * next look sees. */
	void reads_data_paged_out(unsigned i)
	{
		bool is_there = false;
		auto why = futex_result::woken;

		while (why != futex_result::changed) {
			why = lot.wait(keys[i], [&] {
				return is_there ? look(i) : futex_look::faulted;
			});
			is_there = true;
		}
		/* A look that saw the change is a load as any. */
		(void)words[i].load_acquire();
		check(data.get() == 1, "the data is not there");
	}
	/* xv6's sleep(channel, lock). */
	void waits_with_lock(unsigned i)
	{
		lock.lock();
		while (!data.get()) {
			(void)lot.wait(keys[i], [&] {
				lock.unlock();
				return futex_look::same;
			});
			lock.lock();
		}
		lock.unlock();
	}
	void changes_with_lock()
	{
		const guard held(lock);

		data.set(1);
	}
	template <typename Look>
	futex_of_several waits_for_any(unsigned i, unsigned j, bool timed,
				       Look of)
	{
		typename table::waiter nodes[2];
		const futex_key both[] = {keys[i], keys[j]};

		return timed ? lot.wait_any_until(nodes, both, 2, of, late)
			     : lot.wait_any(nodes, both, 2, of);
	}
	void looks_at_any(unsigned i, unsigned j, bool timed)
	{
		const unsigned at[] = {i, j};
		const futex_of_several got = waits_for_any(
			i, j, timed, [&](u32 n) { return look(at[n]); });

		if (got.why == futex_result::woken ||
		    got.why == futex_result::changed)
			check(words[at[got.which]].load_relaxed() == 1,
			      "not that which was told");
		else
			check(timed, "ended for nothing");
	}

	/* Plays a step; returns how many characters it has. */
	unsigned act(const char *step)
	{
		const unsigned i = static_cast<unsigned>(step[1] - '0');
		const unsigned j =
			step[1] ? static_cast<unsigned>(step[2] - '0') : 0;
		const auto same = [](u32 = 0) { return futex_look::same; };

		switch (*step) {
		case 'w':
		case 'W':
			return reads_data(i, *step == 'W'), 2;
		case 'f':
			return reads_data_paged_out(i), 2;
		case 's':
		case 'S':
			(void)waits(i, *step == 'S', [&] { return look(i); });
			return 2;
		case 'x':
		case 'X':
			return (void)waits(i, *step == 'X', same), 2;
		case 'a':
		case 'A':
			return looks_at_any(i, j, *step == 'A'), 3;
		case 'y':
		case 'Y':
			(void)waits_for_any(i, j, *step == 'Y', same);
			return 3;
		case 'h':
			return waits_with_lock(i), 2;
		case 'g':
			return changes_with_lock(), 2;
		case 'd':
			data.set(1);
			[[fallthrough]];
		case 'c':
			return words[i].store_release(1), 2;
		case 'k':
			return lot.wake(keys[i], j), 3;
		case 'i':
			lot.wake(keys[i], j, ~0u, [&] {
				data.set(1);
				words[i].store_release(1);
			});
			return 3;
		case 'r':
			return lot.requeue(keys[i], keys[j], 0, 1, same), 3;
		case 'o':
			lot.wake_op(keys[i], 1, keys[j], 1, [&] {
				data.set(1);
				words[i].store_release(1);
				words[j].store_release(1);
				return futex_op::wakes_both;
			});
			return 3;
		case 'p':
			return model::unpark_for_nothing(i), 2;
		default:
			throw std::string("no such step: ") + step;
		}
	}

	table lot;
	atomic<u32> words[3];
	plain<u32> data;
	tickets lock;
};

/* words: each CPU's, with blanks between them. */
template <typename Inner = tickets>
result on_addresses(options how, const char *words)
{
	how.sections = worlds::one_section_each(words);
	return run<futex_world<Inner>>(
		how, [words](futex_world<Inner> &w, unsigned cpu) {
			const char *at = worlds::word_of(words, cpu);

			while (*at && *at != ' ')
				at += w.act(at);
		});
}

/* The table of the byte mutexes. */
inline constinit futex_table<2, tickets> lot;

template <u32 Patience>
using byte_mutex_of = patient_byte_mutex<lot, Patience, 0>;

using byte_ = byte_mutex_of<8>;
using byte_once = byte_mutex_of<1>;
using byte_fifo = byte_mutex_of<0>;

} // namespace sleeping
