/* SPDX-License-Identifier: MIT */
/*
 * as_shipped - hides from the code that its accesses are told of
 *
 * Code that asks for ThreadSanitizer may choose an order by it, which never
 * ships. The compiler is told to include this before each file of the code
 * (-include). Only __has_extension(thread_sanitizer), which nobody asks, still
 * says 1.
 */
#ifndef KLOCK_MODEL_PLAIN
#define KLOCK_MODEL_PLAIN 1
#pragma GCC system_header
#undef __SANITIZE_THREAD__
/* libstdc++: shared_ptr's two counts are not loaded at once, as one word. */
#define _GLIBCXX_TSAN 1
#ifdef __has_feature
#undef __has_feature
/* Its argument is expanded before the compiler sees it. */
#define __has_feature(what) __has_extension(what)
#define thread_sanitizer klock_hidden_thread_sanitizer
#endif
#endif
