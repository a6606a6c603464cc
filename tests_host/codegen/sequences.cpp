/* SPDX-License-Identifier: MIT */
/*
 * sequences - sequences, once and barrier as a kernel calls them: guards.py
 * looks at the code. wrong_NAME: one that must be found to differ from its row.
 */
#include <klock/barrier.hpp>
#include <klock/once.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>
#include <klock/ticket_lock.hpp>

using namespace klock;

/* Two words: what a clock is made of. */
struct moment {
	usize seconds;
	usize parts;
};

moment make_moment();
void work();

struct guarded_moment {
	ticket_lock<u8> lock;
	moment at;
};

extern "C" {

void seq_read(const seq_lock<moment> &lock, moment &to) { to = lock.read(); }

bool seq_try_read(const seq_lock<moment> &lock, moment &to)
{
	return lock.try_read(to);
}

void seq_write(seq_lock<moment> &lock, const moment &from) { lock.write(from); }

void seq_update(seq_lock<moment> &lock)
{
	lock.update([](moment &m) { m.parts++; });
}

u32 count_read_begin(const seq_count &count) { return count.read_begin(); }

bool count_read_retry(const seq_count &count, u32 began)
{
	return count.read_retry(began);
}

void count_write(seq_count &count, atomic<usize> &a, usize v)
{
	count.write_begin();
	a.store_relaxed(v);
	count.write_end();
}

void latch_read(const seq_latch<moment> &latch, moment &to)
{
	to = latch.read();
}

void latch_write(seq_latch<moment> &latch, const moment &from)
{
	latch.write(from);
}

bool once_call(once &it) { return it.call(work); }

bool once_is_done(const once &it) { return it.is_done(); }

moment *lazy_get(lazy<moment> &it) { return &it.get(make_moment); }

bool barrier_wait(spin_barrier &it, u32 cpus)
{
	return it.arrive_and_wait(cpus);
}

/* -- Faults that must be found  */

void wrong_seq_read(guarded_moment &its, moment &to)
{
	its.lock.lock();
	to = its.at;
	its.lock.unlock();
}

void wrong_latch_write(seq_lock<moment> &lock, const moment &from)
{
	lock.write(from);
}

bool wrong_once_is_done(atomic<u32> &state)
{
	return state.fetch_add_acquire(1) == ~u32{0};
}

void wrong_barrier_wait(seq_count &count) { count.write_end(); }
}
