/* SPDX-License-Identifier: MIT */
/*
 * A library that a program opens while it runs (test_parts.cpp). It is compiled
 * for the checker, and depends on one that is not: part_beyond.cpp.
 */

extern "C" void beyond(int *to);
extern "C" void other(int *to);
extern "C" void part_calls(int *to);
extern "C" void part_calls_other(int *to);
extern "C" void part_reads_time(int *to);

void part_calls(int *to) { beyond(to); }

/* The library is linked without the one that has it: the program has that. */
void part_calls_other(int *to)
{
	void (*volatile const call)(int *) = other;

	call(to);
}

void part_reads_time(int *)
{
#if defined(__x86_64__)
	__asm__ volatile("rdtsc" ::: "rax", "rdx", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb ish" ::: "memory");
#endif
}
