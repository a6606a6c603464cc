/* SPDX-License-Identifier: MIT */
/*
 * Code that no compiler instruments: inline assembly, and functions of
 * libraries (klock::model_plain). A CPU that comes to it is refused, by name;
 * the program around it may do what it likes.
 */
#include "library.hpp"
#include "verdict.hpp"

#include <model/body.hpp>
#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>

namespace of_assembly {

namespace {

using model::bug;
using model::detail::imported;
using model::detail::what_is;

/* Locks and counters, as libraries for C have them. */

constexpr int first_line = __LINE__;

bool try_to_lock(volatile int *l)
{
	int was = 1;

#if defined(__x86_64__)
	__asm__ volatile("xchg %0, %1" : "+q"(was), "+m"(*l)::"memory");
#elif defined(__aarch64__)
	int failed;

	__asm__ volatile("1: ldaxr %w0, %2\n stxr %w1, %w3, %2\n cbnz %w1, 1b"
			 : "=&r"(was), "=&r"(failed), "+Q"(*l)
			 : "r"(1)
			 : "memory");
#endif
	return !was;
}

void add(int *to)
{
#if defined(__x86_64__)
	__asm__ volatile("lock; addl $1, %0" : "+m"(*to)::"memory", "cc");
#elif defined(__aarch64__)
	int now, failed;

	__asm__ volatile("1: ldxr %w0, %2\n add %w0, %w0, #1\n"
			 "stxr %w1, %w0, %2\n cbnz %w1, 1b"
			 : "=&r"(now), "=&r"(failed), "+Q"(*to)::"memory");
#endif
}

[[gnu::always_inline]] inline void fence_here()
{
#if defined(__x86_64__)
	__asm__ volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb ish" ::: "memory");
#endif
}

void store_past_caches(int *to)
{
#if defined(__x86_64__)
	__asm__ volatile("movnti %1, %0" : "=m"(*to) : "r"(1));
#else
	add(to);
#endif
}

/* Names like the checker's own, by which it knows those. */
extern "C" void klock_users_fence() { fence_here(); }
void fence_beside(std::atomic<int> &) { fence_here(); }

/* A function of a library that was compiled for no checker. */
[[gnu::noinline]] __attribute__((no_sanitize("thread"))) void
add_untold(int *to)
{
	__atomic_fetch_add(to, 1, __ATOMIC_RELAXED);
}

#if defined(__x86_64__) && !defined(__clang__)
/* It does not lock: the compiler makes such, too, and tells of them. */
int load(const int *from)
{
	int v;

	__asm__ volatile("movl %1, %0" : "=r"(v) : "m"(*from));
	return v;
}

/* Its first instruction is the access. */
[[gnu::noinline]] __attribute__((no_sanitize("thread"), optimize("O2"))) int
read_at_once(const int *from)
{
	return *from;
}
#endif

#if defined(__x86_64__)
[[gnu::noinline]] __attribute__((no_sanitize("thread"))) int
read_untold(const int *from)
{
	return *from;
}
#endif

constexpr int last_line = __LINE__;

/* These need not tell anything. */

struct large {
	long a, b, c, d;
};

large make(long a) { return {a, 2, 3, 4}; }

/* It compares registers, whose names have brackets. */
bool is_less(long double a, long double b) { return a < b; }

int days(int month)
{
	static const int table[] = {31, 28, 31, 30, 31, 30};

	switch (month) {
	case 0:
		return 31;
	case 1:
		return 28;
	case 2:
		return table[month];
	case 3:
		return 30;
	case 4:
		return 29;
	default:
		return "abcdef"[month % 6];
	}
}

struct shape {
	virtual ~shape() = default;
	virtual int corners() const { return 0; }
};

struct square : virtual shape {
	int corners() const override { return 4; }
};

struct counter {
	counter()
	{
		try_to_lock(&lock);
		lock = 0;
	}

	volatile int lock = 0;
	int count = 0;
	std::atomic<int> any{0};
};

template <typename Do>
model::result by_two(Do what)
{
	return model::explore<counter>(
		{.runs = {1, 1}}, [what](counter &c, unsigned) { what(c); },
		[](counter &c) { add(&c.count); });
}

int line(const std::string &timeline)
{
	const auto at = timeline.rfind("(test_assembly.cpp:");

	return at == timeline.npos ? 0 : std::atoi(&timeline[at + 19]);
}

template <typename Do>
void check_refused(Do what)
{
	const model::result r = by_two(what);

	INFO(r.timeline);
	CHECK(r.found == bug::unseen);
	CHECK(r.message.find("inline assembly") != std::string::npos);
	CHECK(r.message.find("does not tell") == std::string::npos);
	CHECK(line(r.timeline) > first_line);
	CHECK(line(r.timeline) < last_line);
}

} // namespace

/* Unseen, a lock that loses an update would be "ok". */
TEST_CASE("untold: inline assembly is refused, with its line")
{
	int mine = 0;

	check_refused([](counter &c) { store_past_caches(&c.count); });
#if defined(__x86_64__)
	verdict::right(by_two([](counter &c) {
		fence_here();
		klock_users_fence();
		fence_beside(c.any);
		add(&c.count);
		add_untold(&c.count);
	}));
#else
	check_refused([](counter &c) {
		while (!try_to_lock(&c.lock))
			;
		c.count++;
		c.lock = 0;
	});
	check_refused([](counter &c) { add(&c.count); });
	check_refused([](counter &) { fence_here(); });
	check_refused([](counter &) { klock_users_fence(); });
	check_refused([](counter &c) { fence_beside(c.any); });
	check_refused([](counter &c) { add_untold(&c.count); });
#endif
#if defined(__x86_64__) && !defined(__clang__) /* clang tells of its start */
	check_refused([](counter &c) { model::check(load(&c.count) < 2); });
	check_refused(
		[](counter &c) { model::check(read_at_once(&c.count) < 2); });
#endif
#if defined(__x86_64__)
	check_refused([](counter &c) { read_untold(&c.count); });
#endif
	/* Others may run it, before and after. */
	add(&mine);
	add_untold(&mine);
	CHECK(mine == 2);
	verdict::right_by(1, by_two([](counter &) {}));
	/* It emits nothing, and is the compiler's affair. */
	verdict::right_by(1, by_two([](counter &) {
				  __asm__ volatile("" ::: "memory");
			  }));
}

TEST_CASE("untold: what accesses nothing of others is not refused")
{
	const auto r = by_two([](counter &) {
		const square s;
		const shape &of = s;

		model::check(make(1).d == 4);
		model::check(days(2) == 31);
		model::check(is_less(1, 2));
		model::check(of.corners() == 4);
	});

	INFO(r.timeline);
	verdict::right_by(1, r);
}

#if defined(__x86_64__)

namespace {

volatile std::sig_atomic_t heard = 0;

__attribute__((no_sanitize("thread"))) void hear(int) { heard = heard + 1; }

[[gnu::noinline]] __attribute__((no_sanitize("thread"))) void
store_vector(int *to)
{
	__asm__ volatile("vmovss %%xmm0, (%0)" ::"r"(to) : "memory");
}

} // namespace

/* It interrupts a CPU anywhere. */
TEST_CASE("untold: a handler of a signal is no CPU's code")
{
	const auto before = std::signal(SIGUSR1, hear);
	const auto r = by_two([](counter &) { std::raise(SIGUSR1); });

	std::signal(SIGUSR1, before);
	INFO(r.timeline);
	verdict::right_by(1, r);
	CHECK(heard > 0);
}

TEST_CASE("untold: a function that only stores tells of it")
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx"))
		CHECK(by_two([](counter &c) {
			      store_vector(&c.count);
		      }).found == bug::data_race);
}

namespace {

/* Its functions have accesses that the compiler tells of, and others. */
struct seen {
	seen() { model::name(*this, "seen"); }

	int tell() { return ++told; }

	int told = 0, value = 0;
	char text[64] = {};
	std::atomic<unsigned> number{0};
	int *const heap = new int[2]{};
	~seen() { delete[] heap; }
};

struct first_base {
	virtual ~first_base() = default;
};

/* The base that is not the first has a thunk, which finds the object. */
struct by_virtual_base : first_base, virtual shape {
	by_virtual_base() = default;
	int corners() const override { return sides; }
	int sides = 3;
};

template <typename Do>
model::result alone(Do what)
{
	return model::explore<seen>({.runs = {1}},
				    [what](seen &s, unsigned) { what(s); });
}

template <typename Do>
void check_untold(const char *what, Do does, int at = __builtin_LINE())
{
	const model::result r = alone(does);
	const std::string whole =
		std::string("refused: the compiler does not tell of this ") +
		what;

	INFO("line " << at << "\n" << r.timeline);
	CHECK(r.found == bug::unseen);
	CHECK(r.message.starts_with(whole));
	CHECK(line(r.timeline) > last_line);
}

/* The checker does not know what these access. */
#define TEST_BIT(WORD) __asm__ volatile("btl $1, %0" ::"m"(WORD) : "cc")
#define SET_BIT(WORD) __asm__ volatile("btsl $1, %0" : "=m"(WORD)::"cc")

} // namespace

namespace {

/* Each locks: the CPU's own two steps are made one. */
#define LOCKED(CODE, ...) __asm__ volatile("lock " CODE : __VA_ARGS__)

struct words {
	int n = 0, data = 0, left = 2;
	unsigned bits = 0;
	unsigned long wide = 0, two = 1;
	unsigned short half = 0;
	unsigned char byte = 0;
	int table[4] = {};
	volatile int wants[2] = {};
	int read[2] = {};
};

bool takes(int *l)
{
	int was = 1;

	__asm__ volatile("xchgl %0, %1" : "+r"(was), "+m"(*l)::"memory");
	return !was;
}

int fetch_add(int *at, int n)
{
	LOCKED("xaddl %0, %1", "+r"(n), "+m"(*at)::"memory", "cc");
	return n;
}

bool swaps(int *at, int expected, int desired)
{
	bool swapped;

	LOCKED("cmpxchgl %3, %1\n\tsete %0", "=q"(swapped), "+m"(*at),
	       "+a"(expected)
	       : "r"(desired)
	       : "memory", "cc");
	return swapped;
}

/* Both want to go in: Dekker's first step. */
template <typename Fence>
void wants(words &w, unsigned cpu, Fence fence)
{
	__atomic_store_n(&w.wants[cpu], 1, __ATOMIC_RELAXED);
	fence(w);
	w.read[cpu] = __atomic_load_n(&w.wants[!cpu], __ATOMIC_RELAXED);
}

const struct {
	const char *name;
	void (*does)(words &, unsigned cpu);
	void (*end)(words &);
	bug found = bug::none;
} atomics[] = {
	{"a counter", [](words &w, unsigned) { LOCKED("incl %0", "+m"(w.n)); },
	 [](words &w) { model::check(w.n == 2); }},
	{"a counter that is read beside",
	 [](words &w, unsigned) {
		 LOCKED("incl %0", "+m"(w.n));
		 model::check(__atomic_load_n(&w.n, __ATOMIC_RELAXED) > 0);
	 },
	 [](words &w) { model::check(w.n == 2); }},
	{"a spin lock",
	 [](words &w, unsigned) {
		 int mine = 0;
		 while (!takes(&w.n))
			 ;
		 w.data++;
		 __asm__ volatile("xchgl %0, %1"
				  : "+r"(mine), "+m"(w.n)::"memory");
	 },
	 [](words &w) { model::check(w.data == 2 && w.n == 0); }},
	{"a lock by cmpxchg",
	 [](words &w, unsigned) {
		 while (!swaps(&w.n, 0, 1))
			 ;
		 w.data++;
		 LOCKED("decl %0", "+m"(w.n)::"memory");
	 },
	 [](words &w) { model::check(w.data == 2 && w.n == 0); }},
	{"a ticket lock",
	 [](words &w, unsigned) {
		 const int mine = fetch_add(&w.n, 1);
		 while (__atomic_load_n(&w.read[0], __ATOMIC_ACQUIRE) != mine)
			 ;
		 w.data++;
		 __atomic_store_n(&w.read[0], mine + 1, __ATOMIC_RELEASE);
	 },
	 [](words &w) { model::check(w.data == 2 && w.n == 2); }},
	{"the last one sees the flag",
	 [](words &w, unsigned cpu) {
		 bool last;
		 LOCKED("subl $1, %1\n\tsete %0", "=q"(last),
			"+m"(w.left)::"memory", "cc");
		 w.read[cpu] = last;
	 },
	 [](words &w) {
		 model::check(w.read[0] + w.read[1] == 1 && w.left == 0);
	 }},
	{"one has the bit",
	 [](words &w, unsigned cpu) {
		 bool had;
		 LOCKED("btsl $3, %1\n\tsetc %0", "=q"(had),
			"+m"(w.bits)::"memory", "cc");
		 w.read[cpu] = had;
	 },
	 [](words &w) {
		 model::check(w.read[0] + w.read[1] == 1 && w.bits == 8);
	 }},
	{"a bit of a table",
	 [](words &w, unsigned cpu) {
		 const long bit = 64 + cpu;
		 LOCKED("btsq %1, %0", "+m"(w.wide) : "r"(bit) : "memory");
		 const int beside = -30;
		 LOCKED("btsl %1, %0", "+m"(w.table[3])
			: "r"(beside)
			: "memory");
		 LOCKED("btcl $1, %0", "+m"(w.bits)::"memory");
		 LOCKED("btrl $0, %0", "+m"(w.table[2])::"memory");
	 },
	 [](words &w) {
		 model::check(w.wide == 0 && w.two == 3 && w.bits == 0 &&
			      w.table[3] == 0 && w.table[2] == 4);
	 }},
	{"other sizes and operations",
	 [](words &w, unsigned cpu) {
		 const unsigned char high = 0x40;
		 unsigned long old = cpu + 1;
		 LOCKED("xaddq %0, %1", "+r"(old), "+m"(w.wide)::"memory");
		 LOCKED("addw $0x101, %0", "+m"(w.half)::"memory");
		 LOCKED("orb %1, %0", "+m"(w.byte) : "q"(high) : "memory");
		 LOCKED("xorl %1, %0", "+m"(w.bits) : "r"(3) : "memory");
		 LOCKED("andl $-2, %0", "+m"(w.left)::"memory");
		 LOCKED("notl %0", "+m"(w.table[0])::"memory");
		 LOCKED("andl %1, %0", "+m"(w.table[1]) : "r"(7) : "memory");
		 LOCKED("addl $1000, %0", "+m"(w.table[2])::"memory");
		 __asm__ volatile("movb $2, %%ah\n\tlock xaddb %%ah, %0"
				  : "+m"(w.read[1])::"rax", "memory");
		 LOCKED("cmpxchg8b %0", "+m"(w.two)
			: "a"(1), "d"(0), "b"(7), "c"(1)
			: "memory");
	 },
	 [](words &w) {
		 model::check(w.wide == 3 && w.half == 0x202 &&
			      w.byte == 0x40 && w.bits == 0 && w.left == 2 &&
			      w.table[0] == 0 && w.table[1] == 0 &&
			      w.table[2] == 2000 && w.read[1] == 4);
	 }},
	{"mfence between a store and a load",
	 [](words &w, unsigned cpu) {
		 wants(w, cpu, [](words &) { __asm__ volatile("mfence"); });
	 },
	 [](words &w) { model::check(w.read[0] + w.read[1] > 0); }},
	{"sfence is not enough",
	 [](words &w, unsigned cpu) {
		 wants(w, cpu, [](words &) { __asm__ volatile("sfence"); });
	 },
	 [](words &w) { model::check(w.read[0] + w.read[1] > 0); },
	 bug::failed_check},
	{"lock add to the stack",
	 [](words &w, unsigned cpu) {
		 wants(w, cpu, [](words &) { LOCKED("addl $0, (%%rsp)", ); });
	 },
	 [](words &w) { model::check(w.read[0] + w.read[1] > 0); }},
	{"lock add to another word",
	 [](words &w, unsigned cpu) {
		 wants(w, cpu, [](words &o) { LOCKED("incl %0", "+m"(o.n)); });
	 },
	 [](words &w) { model::check(w.read[0] + w.read[1] > 0); }},
	{"sfence and lfence publish",
	 [](words &w, unsigned cpu) {
		 if (cpu == 0) {
			 w.data = 1;
			 __asm__ volatile("sfence" ::: "memory");
			 __atomic_store_n(&w.n, 1, __ATOMIC_RELAXED);
		 } else if (__atomic_load_n(&w.n, __ATOMIC_RELAXED)) {
			 __asm__ volatile("lfence" ::: "memory");
			 model::check(w.data == 1);
		 }
	 },
	 [](words &) {}},
	{"what is not known is refused",
	 [](words &w, unsigned) {
		 LOCKED("negl %0", "+m"(w.n)::"memory", "cc");
	 },
	 [](words &) {}, bug::unseen},
};

} // namespace

TEST_CASE("untold: an instruction that locks is an atomic access, and a fence")
{
	for (const auto &row : atomics) {
		const auto r = model::explore<words>({.runs = {1, 1}}, row.does,
						     row.end);

		INFO(row.name << "\n" << r.timeline << r.limit);
		CHECK(r.found == row.found);
		CHECK(r.ok() == r.proved());
	}
}

TEST_CASE("untold: an access that only the memory's protection shows")
{
	check_untold("write: seen.value", [](seen &s) {
		s.tell();
		SET_BIT(s.value);
	});
	/* An access to that byte was told, which is over. */
	check_untold("read: seen.value", [](seen &s) {
		const int v = s.value;
		__asm__ volatile("addl %0, %0" ::"r"(v), "m"(s.value));
		TEST_BIT(s.value);
	});
	check_untold("write: seen.value", [](seen &s) {
		const volatile int v = s.value;
		(void)v;
		SET_BIT(s.value);
	});
	/* The next one begins where that one ends. */
	check_untold("write: seen.value", [](seen &s) {
		s.told = 1;
		SET_BIT(s.value);
	});
	check_untold("write: seen.text[8]", [](seen &s) {
		std::memcpy(s.text, "texts and", 9);
		SET_BIT(s.text[8]);
	});
	check_untold("write: ", [](seen &s) {
		int *const mine = s.heap;
		SET_BIT(mine[1]);
	});
	check_untold("write: ", [](seen &s) {
		int *const mine = new int[2];
		mine[0] = s.told;
		SET_BIT(mine[1]);
		delete[] mine;
	});
	/* Only one value of twenty leads there. */
	check_untold("write: seen.value", [](seen &s) {
		s.number.store(model::choose(20));
		if (s.number.load() == 13)
			SET_BIT(s.value);
	});
}

namespace {

int of_program;
thread_local char of_cpu[2];

struct shown {
	std::atomic<char *> at{nullptr};
};

/* A CPU shows what is its own; the other one accesses that. */
template <typename Own>
model::result others(Own own)
{
	return model::explore_threads<shown>(
		{}, [](shown &) {},
		[own](shown &s) {
			char mine[2] = {};

			s.at = own(mine);
			while (s.at)
				;
		},
		[](shown &s) {
			char *const other = s.at;

			if (other)
				SET_BIT(other[1]);
			s.at = nullptr;
		});
}

void check_others(const model::result &r, const char *what)
{
	INFO(r.timeline);
	CHECK(r.found == bug::unseen);
	CHECK(verdict::has(r.message, what));
}

} // namespace

TEST_CASE("untold: what lies outside of the world is looked at")
{
	check_untold("write: of_program", [](seen &s) {
		s.told = 1;
		SET_BIT(of_program);
	});
	check_untold("write: of_program", [](seen &) { SET_BIT(of_program); });
	check_others(others([](char *mine) { return mine; }), "stack0-");
	check_others(others([](char *) { return of_cpu; }),
		     "cpu0's of_cpu+0x1");
}

namespace {

/* Sixteen bytes in front, and more behind than any access has. */
struct touched {
	alignas(64) char bytes[128] = {};
};

constexpr int first_byte = 64;

enum class how { reads, writes };

/* An instruction reads or writes so many bytes from there on. */
struct access {
	how does;
	int bytes;
	const char *text;
	void (*by)(char *at);
};

/* A function in which the compiler tells of nothing is refused. */
#define BY(TEXT, ...)                                                          \
	TEXT, [](char *at) {                                                   \
		at[-first_byte] = 1;                                           \
		__asm__ volatile(TEXT ::"r"(at) : "memory" __VA_ARGS__);       \
	}

const access of_instructions[] = {
	{how::writes, 1, BY("movb $1, (%0)")},
	{how::writes, 2, BY("movw $1, (%0)")},
	{how::writes, 4, BY("movl $1, (%0)")},
	{how::writes, 8, BY("movq $1, (%0)")},
	{how::reads, 4,
	 BY("mov $8, %%r10d; mov -16(%0, %%r10, 2), %%eax", , "r10", "rax")},
	{how::reads, 8, BY("mov %0, %%r12; mov (%%r12), %%r9", , "r9", "r12")},
	{how::writes, 8,
	 BY("lea -300(%0), %%r13; mov %%rax, 300(%%r13)", , "r13")},
	{how::reads, 1, BY("movzbl (%0), %%eax", , "rax")},
	{how::reads, 2, BY("movswq (%0), %%rax", , "rax")},
	{how::reads, 4, BY("movslq (%0), %%rax", , "rax")},
	{how::reads, 4, BY("cmovc (%0), %%eax", , "rax")},
	{how::writes, 1, BY("setc (%0)")},
	{how::reads, 8, BY("pushq (%0); pop %%rax", , "rax")},
	{how::writes, 4, BY("addl $1000, (%0)", , "cc")},
	{how::writes, 2, BY("addw $1000, (%0)", , "cc")},
	{how::writes, 8, BY("orq $1, (%0)", , "cc")},
	{how::reads, 8, BY("cmpq $1, (%0)", , "cc")},
	{how::reads, 1, BY("cmpb %%al, (%0)", , "cc")},
	{how::reads, 8, BY("xor (%0), %%rax", , "cc", "rax")},
	{how::writes, 4, BY("xor %%eax, (%0)", , "cc")},
	{how::reads, 4, BY("testl $1, (%0)", , "cc")},
	{how::reads, 1, BY("testb %%al, (%0)", , "cc")},
	{how::writes, 2, BY("incw (%0)", , "cc")},
	{how::writes, 8, BY("negq (%0)", , "cc")},
	{how::reads, 4, BY("imul (%0), %%eax", , "cc", "rax")},
	{how::writes, 24,
	 BY("mov %0, %%rdi; mov $3, %%ecx; rep stosq", , "rdi", "rcx")},
	{how::writes, 2, BY("mov %0, %%rdi; stosw", , "rdi")},
	{how::reads, 3,
	 BY("mov %0, %%rsi; lea 32(%0), %%rdi; mov $3, %%ecx; rep movsb", ,
	    "rsi", "rdi", "rcx")},
	{how::writes, 16,
	 BY("mov %0, %%rdi; lea 32(%0), %%rsi; mov $2, %%ecx; rep movsq", ,
	    "rsi", "rdi", "rcx")},
	{how::reads, 4, BY("mov %0, %%rsi; lodsl", , "rsi", "rax")},
	{how::reads, 4, BY("movss (%0), %%xmm0", , "xmm0")},
	{how::writes, 8, BY("movsd %%xmm0, (%0)")},
	{how::reads, 16, BY("movups (%0), %%xmm9", , "xmm9")},
	{how::writes, 16, BY("movaps %%xmm0, (%0)")},
	{how::reads, 16, BY("movdqa (%0), %%xmm0", , "xmm0")},
	{how::writes, 16, BY("movdqu %%xmm0, (%0)")},
	{how::reads, 8, BY("movhps (%0), %%xmm0", , "xmm0")},
	{how::writes, 8, BY("movlps %%xmm0, (%0)")},
	{how::reads, 4, BY("movd (%0), %%xmm0", , "xmm0")},
	{how::reads, 8, BY("movq (%0), %%xmm0", , "xmm0")},
	{how::writes, 8, BY("movq %%xmm0, (%0)")},
	{how::reads, 10, BY("fldt (%0); fstp %%st")},
	{how::writes, 10, BY("fldz; fstpt (%0)")},
	{how::writes, 4, BY("fldz; fstps (%0)")},
	{how::reads, 8, BY("fldl (%0); fstp %%st")},
};

/* A machine need not have vectors of 32 bytes. */
const access of_long_instructions[] = {
	{how::reads, 32, BY("vmovdqu (%0), %%ymm0", , "xmm0")},
	{how::writes, 32, BY("vmovaps %%ymm0, (%0)")},
	{how::writes, 16,
	 BY("mov %0, %%r11; vmovdqu %%xmm9, (%%r11)", , "r11")},
	{how::reads, 4, BY("vmovss (%0), %%xmm0", , "xmm0")},
};
#undef BY

void check_told(const access &a)
{
	const auto beside = [&a](int byte, bool reads) {
		return model::explore_threads<touched>(
			{}, [](touched &) {},
			[by = a.by](touched &t) { by(t.bytes + first_byte); },
			[=](touched &t) {
				volatile char *const at = t.bytes + byte;
				if (reads)
					model::check(*at != 'x');
				else
					*at = 1;
			});
	};
	const int last = first_byte + a.bytes - 1;

	INFO(a.text);
	CHECK(beside(first_byte, false).found == bug::data_race);
	CHECK(beside(last, false).found == bug::data_race);
	CHECK(beside(first_byte - 1, false).ok());
	CHECK(beside(last + 1, false).ok());
	CHECK((beside(last, true).found == bug::data_race) ==
	      (a.does == how::writes));
}

} // namespace

TEST_CASE("untold: an instruction whose accesses are known tells of them")
{
	for (const access &a : of_instructions)
		check_told(a);
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx"))
		for (const access &a : of_long_instructions)
			check_told(a);
}

TEST_CASE("untold: a struct by value is told, and its race is named")
{
	struct pairs {
		pairs() { model::name(both, "both"); }

		large both{}, other{};
		std::atomic<bool> full{false};
	};
	const auto copies = [](bool waits) {
		return model::explore_threads<pairs>(
			{}, [](pairs &) {},
			[](pairs &p) {
				p.both = make(1);
				p.full.store(true, std::memory_order_release);
			},
			[=](pairs &p) {
				const auto sum = [](large l) {
					return l.a + l.d;
				};
				const auto acquire = std::memory_order_acquire;
				if (!p.full.load(acquire) && waits)
					return;
				model::check(sum(p.both) == 5);
			});
	};
	const auto right = copies(true), wrong = copies(false);

	INFO(wrong.timeline);
	verdict::right_by(2, right);
	CHECK(wrong.found == bug::data_race);
	CHECK(verdict::has(wrong.message, ": both"));
	CHECK(line(wrong.timeline) > last_line);
}

/* An access that is told leads to as many executions. */
TEST_CASE("untold: what tells of an instruction leaves nothing behind")
{
	const auto states = [](seen &s) {
		int carry = 0, mask = 0;
		long kept = 0;

		__asm__ volatile("mov $77, %%r11d\n"
				 "pcmpeqd %%xmm0, %%xmm0\n"
				 "stc\n"
				 "movl $1, %3\n"
				 "setc %b0\n"
				 "movmskps %%xmm0, %1\n"
				 "mov %%r11, %2\n"
				 : "+r"(carry), "=r"(mask), "=r"(kept),
				   "=m"(s.value)::"r11", "xmm0", "cc");
		model::check(carry == 1 && mask == 15 && kept == 77);
		model::check(s.value == 1);
	};
	const auto waits = [](bool told) {
		return model::explore<seen>(
			{.runs = {1, 1}, .interrupts = 1},
			[=](seen &s, unsigned cpu) {
				if (cpu == 1)
					s.number.store(1);
				while (cpu == 0 && !s.number.load()) {
					if (told)
						s.value = 1;
					else
						__asm__ volatile(
							"movl $1, %0"
							: "=m"(s.value));
				}
			},
			[](seen &) {}, [](seen &, unsigned) {});
	};

	verdict::right_by(1, alone(states));
	verdict::right_by(waits(true).complete, waits(false));
}

namespace {

/* Turns of its loops are alike by what is on the CPU's stack. */
struct seqlock {
	std::atomic<unsigned> version{0};
	std::atomic<long> first{0}, second{0};

	void write()
	{
		unsigned v = version.load(relaxed);

		for (;;) {
			while (v & 1)
				v = version.load(relaxed);
			if (version.compare_exchange_weak(v, v + 1, acquire,
							  relaxed))
				break;
		}
		first.store(1, release);
		second.store(1, release);
		version.store(v + 2, release);
	}

	bool reads_whole()
	{
		unsigned v = version.load(acquire);

		for (;;) {
			while (v & 1)
				v = version.load(acquire);
			const long a = first.load(acquire);
			const long b = second.load(acquire);
			const unsigned now = version.load(acquire);
			if (v == now)
				return a == b;
			v = now;
		}
	}

	static constexpr auto relaxed = std::memory_order_relaxed;
	static constexpr auto acquire = std::memory_order_acquire;
	static constexpr auto release = std::memory_order_release;
};

} // namespace

TEST_CASE("untold: looking leaves nothing on a CPU's stack")
{
	const auto r = model::explore_threads<seqlock>(
		{}, [](seqlock &) {}, [](seqlock &s) { s.write(); },
		[](seqlock &s) { model::check(s.reads_whole()); });

	verdict::right_by(11, r);
}

/* With what else a compiler or the C library does to the memory. */
TEST_CASE("untold: right code is not refused")
{
	struct parts {
		by_virtual_base three;
		const shape *of = &three;
		std::string text = "a text that is not short enough";
		unsigned low : 3, high : 13;
		long double wide = 1;
		struct {
			char c[3];
		} odd{};
		large big = make(1), copy{};
		char line[64] = "a line", other[64] = "";
		volatile int flag = 0;
		timespec time{};
	};
	const auto r =
		model::explore<parts>({.runs = {1}}, [](parts &p, unsigned) {
			const auto odd = p.odd;

			model::check(p.of->corners() == 3);
			p.text += p.text;
			p.low = 3;
			p.high = p.low + 1u;
			p.wide += 1;
			p.odd = odd;
			p.copy = p.big;
			p.big.a = p.big.b++;
			p.flag = p.flag + 1;
			std::strcpy(p.other, p.line);
			std::memmove(p.line + 1, p.line, 32);
			std::memset(p.other, 0, sizeof(p.other));
			std::fputs(p.other, stderr);
			model::check(std::strlen(p.line) == 7);
			model::check(nanosleep(&p.time, &p.time) == 0);
			delete new parts(p);
			std::free(std::calloc(100, 100));
			try {
				throw std::runtime_error(p.text);
			} catch (const std::exception &e) {
				model::check(e.what()[0] == 'a');
			}
		});

	INFO(r.timeline);
	verdict::right_by(1, r);
}
#endif

/* Each execution's constructor runs into it, a CPU in some alone. */
#if defined(__x86_64__)
/* Its type stands before its code, as clang's -fsanitize=function has it: four
 * bytes that read as "lock lea". It returns them. */
extern "C" int klock_test_has_a_type();
__asm__(".pushsection .text\n"
	".type klock_test_has_a_type, @function\n"
	"klock_test_has_a_type:\n"
	"\t.byte 0xeb, 0x06, 0x76, 0x32, 0xf0, 0x8d, 0x0c, 0x00\n"
	"\tmovl klock_test_has_a_type+4(%rip), %eax\n"
	"\tret\n"
	".size klock_test_has_a_type, . - klock_test_has_a_type\n"
	".popsection");

TEST_CASE("untold: a function's type is no instruction")
{
	struct none {};

	const auto r =
		model::explore<none>({.runs = {1}}, [](none &, unsigned) {
			model::check(klock_test_has_a_type() == 0x000c8df0,
				     "a trap is in it");
		});

	INFO(r.message);
	CHECK(r.ok());
}
#endif

TEST_CASE("untold: a trap that was lifted is set again")
{
	struct late : counter {
		late() { store_past_caches(&count); }
		std::atomic<int> first{0};
	};
	const auto r = model::explore<late>(
		{.runs = {1, 1}}, [](late &l, unsigned cpu) {
			if (cpu == 0)
				l.first.store(1, std::memory_order_relaxed);
			else if (l.first.load(std::memory_order_relaxed))
				store_past_caches(&l.count);
		});

	INFO(r.timeline);
	CHECK(r.found == bug::unseen);
	CHECK(r.message.find("does not tell") == std::string::npos);
	CHECK(line(r.timeline) > first_line);
}

TEST_CASE("untold: a function that is not known is refused by name")
{
	const auto refused = [](auto call, const char *name) {
		const auto r = by_two([call](counter &) { call(); });

		INFO(r.message);
		return r.found == bug::unseen &&
		       r.message.find(std::string("refused: ") + name) == 0;
	};
	char text[64] = "1 2";

	CHECK(refused([] { (void)std::get_terminate(); },
		      "std::get_terminate()"));
	CHECK(refused([] { std::ostringstream(); },
		      "std::__cxx11::basic_ostringstream"));
	CHECK(refused([] { (void)std::rand(); }, "rand()"));
	CHECK(refused([&] { (void)std::strtok(text, " "); }, "strtok()"));
	/* The checker's own reads for that report are not the code's. */
	CHECK(by_two([](counter &) {
		      (void)std::rand();
	      }).timeline.find("read") == std::string::npos);
	/* It is called by its address. */
	char *(*volatile const find)(char *, const char *) = std::strpbrk;
	CHECK(refused([=] { find(const_cast<char *>("a"), "a"); },
		      "strpbrk()"));
	/* Others may call them. */
	std::ostringstream out;
	out << std::strtok(text, " ") << std::strtod("2.5", nullptr);
	std::snprintf(text, sizeof(text), "%s %d %.1f", out.str().c_str(), 3,
		      4.5);
	CHECK(std::string(text) == "12.5 3 4.5");
}

TEST_CASE("untold: a shared library that is compiled for the checker is seen")
{
	struct shared {
		int count = 0;
		char text[8] = "text", other[8] = "";
	};
	const auto found = [](auto call) {
		return model::explore<shared>(
			{.runs = {1, 1}},
			[call](shared &s, unsigned) { call(s); });
	};
	shared mine;

	CHECK(found([](shared &s) { library::add(s.count); }).found ==
	      bug::data_race);
	CHECK(found([](shared &s) {
		      library::copy(s.text, s.other, 8);
	      }).found == bug::data_race);
	CHECK(found([](shared &s) { library::print(s.text, 8, 1); }).found ==
	      bug::data_race);
	library::print(mine.text, sizeof(mine.text), 12);
	CHECK(!std::strcmp(mine.text, "12"));
}

TEST_CASE("untold: a function that is harmless, or seen, is none")
{
	struct nothing {};
	struct shared {
		std::unordered_map<int, int> map{{0, 0}};
		std::string text = "text";
	};
	const auto r =
		model::explore<nothing>({.runs = {1}}, [](nothing &, unsigned) {
			try {
				throw std::runtime_error("thrown");
			} catch (const std::exception &e) {
				model::check(!std::strcmp(e.what(), "thrown"));
			}
			model::check(std::toupper('a') == 'A');
			std::cout << 1 << ' ' << 2.5 << std::endl;
			std::this_thread::yield();
			std::unordered_map<int, int> own;
			for (int i = 0; i < 20; i++)
				own[i] = i;
			delete[] new int[4];
		});

	INFO(r.timeline);
	CHECK(r.ok());
	CHECK(model::explore<shared>({.runs = {1, 1}}, [](shared &s,
							  unsigned cpu) {
		      if (cpu == 0)
			      s.text[0] = 'n';
		      else
			      throw std::runtime_error(s.text);
	      }).found == bug::data_race);
	CHECK(model::explore<shared>({.runs = {1, 1}}, [](shared &s,
							  unsigned cpu) {
		      s.map[static_cast<int>(cpu) + 1];
	      }).found == bug::data_race);
}

/* Also what this system's libraries do not have. */
TEST_CASE("untold: each name is harmless, seen or refused")
{
	CHECK(what_is("memcpy") == imported::seen);
	CHECK(what_is("puts") == imported::seen);
	CHECK(what_is("_ZNSolsEi") == imported::seen);
	CHECK(what_is("sinf") == imported::harmless);
	CHECK(what_is("ceil") == imported::harmless);
	CHECK(what_is("f32xaddf64") == imported::harmless);
	CHECK(what_is("__pow_finite") == imported::harmless);
	CHECK(what_is("__udivti3") == imported::harmless);
	CHECK(what_is("_ZSt20__throw_length_errorPKc") == imported::harmless);
	for (const char *const name :
	     {"__isoc23_sscanf", "__memcpy_chk", "__printf_chk", "frexp",
	      "sincos", "nan", "lgamma", "strcoll", "strfry", "pthread_join",
	      "__gnu_of_2030",
	      "_ZSt20_Rb_tree_black_countPKSt18_Rb_tree_node_baseS1_",
	      "_ZNSt18condition_variable10notify_oneEv", "__atomic_load_16",
	      "atomic_flag_test_and_set_explicit", "std", "f", ""})
		CHECK(what_is(name) == imported::refused);
}

} // namespace of_assembly
