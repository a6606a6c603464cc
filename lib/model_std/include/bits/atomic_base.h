/* SPDX-License-Identifier: MIT */
/*
 * atomic_base.h - where libstdc++'s headers have their atomics from
 *
 * <memory>, <future> and others include this file of libstdc++ by its own
 * name. Its atomic and atomic_flag get other names, under which what libstdc++
 * made of them goes on to work; the checker's take theirs.
 */
#pragma once
#pragma GCC system_header

#ifdef _GLIBCXX_ATOMIC_BASE_H
#include <klock/error_lib_model_std_include_must_be_the_first_include_path.hpp>
#endif

/* The includes of the original, so that only its own names are replaced. */
#include <bits/c++config.h>
#include <bits/move.h>
#include <stdint.h>
#if __cplusplus > 201703L
#include <bits/atomic_wait.h>
#endif

#define atomic klock_native_atomic
#define atomic_flag klock_native_atomic_flag
#define atomic_thread_fence klock_native_thread_fence
#define atomic_signal_fence klock_native_signal_fence
#include_next <bits/atomic_base.h>
#undef atomic
#undef atomic_flag
#undef atomic_thread_fence
#undef atomic_signal_fence

#include <model/std_atomic.hpp>
