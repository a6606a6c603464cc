/* SPDX-License-Identifier: MIT */
/* The words of programs.faults, and what faults.py makes of a program. */
#pragma once

#undef NDEBUG
#include <assert.h>
#include <emmintrin.h>
#include <pmmintrin.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __cplusplus
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

extern "C" {
#endif

struct program {
	void (*cpus[3])(void *world);
	void (*end)(void *world);
};

extern const struct program programs[];
extern const int number_of_programs;

/* Ends the execution if it does not hold. */
void must(int holds);

#ifdef __cplusplus
}
#endif

#define RELAXED __ATOMIC_RELAXED
#define ACQUIRE __ATOMIC_ACQUIRE
#define RELEASE __ATOMIC_RELEASE
#define ACQ_REL __ATOMIC_ACQ_REL
#define SEQ_CST __ATOMIC_SEQ_CST
#define LOAD(x, order) __atomic_load_n(&(x), order)
#define STORE(x, v, order) __atomic_store_n(&(x), v, order)
#define ADD(x, v, order) __atomic_fetch_add(&(x), v, order)
#define OR(x, v, order) __atomic_fetch_or(&(x), v, order)
#define SWAP(x, v, order) __atomic_exchange_n(&(x), v, order)
#define CAS_OR(x, expected, v, order, failed)                                  \
	__atomic_compare_exchange_n(&(x), expected, v, 0, order, failed)
#define CAS(x, expected, v, order) CAS_OR(x, expected, v, order, RELAXED)
#define CAS_WEAK(x, expected, v, order)                                        \
	__atomic_compare_exchange_n(&(x), expected, v, 1, order, RELAXED)
#define FENCE(order) __atomic_thread_fence(order)

static inline void sink(int value) { (void)value; }

/* A spin lock, right. */
static inline void take(int *lock)
{
	while (SWAP(*lock, 1, ACQUIRE))
		;
}

static inline void give(int *lock) { STORE(*lock, 0, RELEASE); }
