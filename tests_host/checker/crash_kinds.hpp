/* SPDX-License-Identifier: MIT */
/*
 * crash_kinds - each kind of a crash, where a load is stale; with the order
 * that is missing there is none
 */
#pragma once

#include <model/model.hpp>

#include <atomic>
#undef NDEBUG
#include <cassert>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#ifdef CRASH_KLOCK
#include <klock/atomic.hpp>
#endif

namespace crashes {

using enum std::memory_order;

constexpr int first_line = __LINE__;

#ifdef CRASH_KLOCK
/* Without klock::model_std, its own are what is seen. */
template <typename T>
struct atomic : klock::atomic<T> {
	using klock::atomic<T>::atomic;

	T load(std::memory_order o) const
	{
		return o == relaxed ? this->load_relaxed()
				    : this->load_acquire();
	}
	void store(T v, std::memory_order o)
	{
		o == relaxed ? this->store_relaxed(v) : this->store_release(v);
	}
};
#else
using std::atomic;
#endif

struct node {
	int value = 0;
	atomic<int> count{0};
};

/* The pointee is there once the flag is set, not for a reader too soon. */
struct world {
	atomic<int> published{0};
	atomic<node *> to{nullptr};
	atomic<int> ready{0};
	node one;
};

inline std::memory_order order_of_flag = relaxed;
inline volatile int nothing = 0;

/* More and more of the stack. */
[[gnu::noinline]] inline int deep(int n)
{
	volatile char much[512] = {};

	much[n % 512] = 1;
	return n < 0 ? 0 : deep(n + 1) + much[(n + 1) % 512];
}

[[gnu::noinline]] inline void throws(int what) { throw what; }
inline void throws_through(int what) noexcept { throws(what); }

struct kind {
	const char *name, *told;
	void (*crash)(world &);
};

#define KIND(NAME, TOLD, ...)                                                  \
	{                                                                      \
		NAME, TOLD, [](world &w) {                                     \
			(void)w;                                               \
			__VA_ARGS__;                                           \
		}                                                              \
	}

/* An address that is not null to a compiler. */
template <typename T>
T *address(klock::usize at)
{
	volatile klock::usize hidden = at;

	return reinterpret_cast<T *>(hidden);
}

constexpr klock::usize poison = 0xdbdbdbdbdbdbdbdb;

/* A page of a file that is empty. */
inline const int file = ::memfd_create("empty", 0);
inline const volatile char *const no_file = static_cast<const volatile char *>(
	::mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0));

/* As a library calls it, which the linker has not told. */
inline void (*const exit_of_library)(int) =
	reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "exit"));

#if defined(CRASH_ADDRESSES)
static int table[4];

/* AddressSanitizer's library finds it, which ends the program. */
inline const kind deadly =
	KIND("a copy", "", char four[4], eight[8] = {};
	     std::memcpy(four, eight, 8 + w.published.load(relaxed));
	     nothing = four[0]);
#endif

inline const kind kinds[] = {
#if defined(CRASH_ADDRESSES)
	KIND("an index of a global", "AddressSanitizer: bad read of 4 bytes at",
	     nothing = const_cast<volatile int *>(
		     table)[4 + w.published.load(relaxed)]),
	KIND("an index of a stack", "AddressSanitizer: bad write of 1 byte at",
	     volatile char four[4];
	     four[4 + w.published.load(relaxed)] = 1),
#endif
#if defined(CRASH_UNDEFINED)
	KIND("a shift", "UndefinedBehaviorSanitizer: shift out of bounds",
	     nothing = 1 << (40 + w.published.load(relaxed))),
	KIND("an overflow", "UndefinedBehaviorSanitizer: add overflow",
	     nothing = 1;
	     nothing = 0x7fffffff + nothing),
	KIND("a null reference", "UndefinedBehaviorSanitizer: type mismatch",
	     nothing = w.to.load(relaxed)->value),
#else
	KIND("a null pointer that is read", "SIGSEGV at 0x0",
	     nothing = static_cast<volatile node *>(w.to.load(relaxed))->value),
	KIND("a null pointer that is written", "SIGSEGV at 0x0",
	     static_cast<volatile node *>(w.to.load(relaxed))->value = 1),
	KIND("an atomic at a null pointer", "SIGSEGV at 0x4",
	     w.to.load(relaxed)->count.store(1, relaxed)),
	KIND("a call of a null pointer", "SIGSEGV at 0x0",
	     if (!w.to.load(relaxed)) address<void()>(0)();
	     nothing = 0),
	KIND("a wild pointer", "SIGSEGV at 0x10",
	     nothing = *address<volatile int>(0x10)),
	KIND("a page that its file has not", "SIGBUS at 0x",
	     nothing = *no_file),
#if defined(__x86_64__)
	KIND("a poisoned pointer", "SIGSEGV at an address that no memory",
	     nothing = *address<volatile int>(poison)),
	KIND("a division by zero", "SIGFPE", nothing = 7 / nothing),
	KIND("a trap", "SIGILL", __builtin_trap()),
#endif
	KIND("a stack that is full", "SIGSEGV: the CPU's stack is full",
	     nothing = deep(0)),
	KIND("an assertion", "assert(w.published",
	     assert(w.published.load(relaxed) == 1)),
	KIND("abort()", "SIGABRT", std::abort()),
	KIND("a signal that is raised", "SIGBUS", std::raise(SIGBUS);
	     nothing = 0),
	KIND("an exception", "of an exception: std::runtime_error: too soon",
	     throw std::runtime_error("too soon")),
	KIND("an exception through noexcept", "of an exception: int",
	     throws_through(1)),
	KIND("terminate()", "std::terminate()", std::terminate()),
	KIND("exit()", "exit(0)", std::exit(0)),
	KIND("exit() of a library", "exit(), by a library", exit_of_library(0);
	     nothing = 0),
	KIND("_exit()", "_exit(0)", ::_exit(0)),
	KIND("_Exit()", "_Exit(0)", std::_Exit(0)),
	KIND("quick_exit()", "quick_exit(0)", std::quick_exit(0)),
#endif
};

constexpr int last_line = __LINE__;

inline void (*chosen)(world &) = nullptr;

inline void publish(world &w)
{
	w.to.store(&w.one, relaxed);
	w.published.store(1, relaxed);
	w.ready.store(1, order_of_flag);
}

inline void follow(world &w)
{
	if (!w.ready.load(acquire))
		return;
	/* Each of the two may be stale by itself. */
	if (w.published.load(relaxed) && w.to.load(relaxed))
		return;
	model::assume(!w.published.load(relaxed) && !w.to.load(relaxed));
	chosen(w);
}

inline model::result explore(const kind &k, std::memory_order o,
			     const model::options &how = {})
{
	chosen = k.crash;
	order_of_flag = o;
	return model::explore_threads<world>(
		how, [](world &) {}, publish, follow);
}

/* The line of the crash in the code, which the timeline names; 0: none. */
inline int line_of_crash(const model::result &r)
{
	const std::string file = "(crash_kinds.hpp:";
	const auto at = r.timeline.rfind(file, r.timeline.find("CAUSE: "));
	const int line = at == r.timeline.npos
				 ? 0
				 : std::atoi(&r.timeline[at + file.size()]);

	return line > first_line && line < last_line ? line : 0;
}

} // namespace crashes
