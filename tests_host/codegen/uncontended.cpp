/* SPDX-License-Identifier: MIT */
/*
 * uncontended - a section without a contender: uncontended.py counts it
 *
 * owner_NAME costs at most what plain_NAME does; wrong_NAME is found to cost
 * more. At -Os a compiler may call a lock() that is used twice: not in flatten.
 */
#include <klock/os.hpp>

/* As a kernel may define it: what its CPU keeps for the thread that runs. */
extern "C" inline klock::inheriting_thread *klock_os_inheriting_thread(void)
{
	klock::inheriting_thread *mine;

#if defined(__aarch64__)
	asm("mrs %0, tpidr_el1" : "=r"(mine));
#elif defined(__arm__)
	asm("mrc p15, 0, %0, c13, c0, 4" : "=r"(mine));
#elif defined(__riscv)
	asm("mv %0, tp" : "=r"(mine));
#else
	asm("mov %%gs:0, %0" : "=r"(mine));
#endif
	return mine;
}

#include <klock/inheriting_mutex.hpp>
#include <klock/mutex.hpp>

using namespace klock;

extern "C" {
[[gnu::flatten]] void plain_lock(mutex &m) { m.lock(); }
[[gnu::flatten]] void owner_lock(inheriting_mutex &m) { m.lock(); }

[[gnu::flatten]] void plain_unlock(mutex &m) { m.unlock(); }
[[gnu::flatten]] void owner_unlock(inheriting_mutex &m) { m.unlock(); }

[[gnu::flatten]] void wrong_lock(inheriting_mutex &m)
{
	m.lock();
	asm volatile("nop\n\tnop\n\tnop\n\tnop");
}
/* One swap more. */
[[gnu::flatten]] void wrong_unlock(inheriting_mutex &m)
{
	m.unlock();
	(void)m.try_lock();
}
}
