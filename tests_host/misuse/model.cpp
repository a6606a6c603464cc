/* SPDX-License-Identifier: MIT */
/*
 * The model checker's std::atomic and var: what they refuse, and what they
 * take.
 */
#include <atomic>
#include <stdatomic.h>
#include <klock/atomic.hpp>
#include <model/var.hpp>

struct large {
	long a, b;
};
struct owner {
	owner();
	owner(const owner &);
	~owner();
	int it;
};
struct point {
	short x, y;
};
enum class colour : char { red };
std::atomic<int> x;
std::atomic<bool> b;
std::atomic<colour> c;
std::atomic<point> p;
std::atomic<int *> q;
std::atomic<double> d;
std::atomic_flag f = ATOMIC_FLAG_INIT;
model::var<point> v;
int raw;

/* One case a line. */
// clang-format off
void right_ones()
{
	x = 1; x += 2; (void)x++; int now = x; x = now;
	if (x == 3 && x > 1) x--;
	(void)x.load(std::memory_order_acquire); x.wait(1); x.notify_one();
	int e = 0;
	(void)x.compare_exchange_weak(e, 1, std::memory_order_acq_rel,
				      std::memory_order_relaxed);
	b = true; if (b) c = colour::red;
	p = point{1, 2}; q = &raw; ++q; d += 1;
	if (!f.test_and_set()) f.clear();
	std::atomic_ref r(raw); r++; r.store(2); (void)atomic_load(&x);
	v = point{1, 2}; point here = v; (void)here;
	const klock::u8 all = klock::distance<klock::u8>(1, 0); (void)all;
}

#if WRONG == 1
void errors()
{
	// says-error@*:*{{klock::model: std::atomic<T> takes a T that is trivially copyable and has at most 8 bytes}}
	{ std::atomic<large> y; } // says-note{{here}}
	// says-error@*:*{{klock::model: std::atomic_ref<T> takes a T that is trivially copyable and has at most 8 bytes}}
	{ large l{}; std::atomic_ref y(l); } // says-note{{here}}
	// says-error@*:*{{klock::model: var<T> takes a T that is trivially copyable}}
	{ (void)sizeof(model::var<owner>); } // says-note{{here}}
	// How narrow a counter is, is known when the program runs.
	{ constexpr auto all = klock::distance<klock::u8>(1, 0); (void)all; } // says-error{{must be initialized by a constant expression}}
}
#endif
