/* SPDX-License-Identifier: MIT */
/*
 * Types and numbers that do not fit: an atomic of what no machine's one
 * instruction changes, a lock of fewer contenders than there are, a strict
 * order that spins.
 */
#include <klock/atomic.hpp>
#include <klock/mutex.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/ticket_lock.hpp>

using namespace klock;

constexpr unsigned cpus = 200;
ticket_lock<u16> wide_enough;
static_assert(2 * cpus <= decltype(wide_enough)::max_contenders);
enum class colour { red, green };
using inner = detail::sleepers_lock;
patient_mutex<0> in_order;
patient_shared_mutex<0, inner, 0> in_order_too;
struct two_ints {
	int a, b;
};

/* One case a line. */
// clang-format off
#if WRONG == 1
// says-error@*:* 3 {{klock::atomic<T>: T is a bool, an enum, an integer or a pointer}}
atomic<double> fraction; // says-note{{here}}
// says-note@+1{{here}}
two_ints x(atomic<two_ints> &a) { return a.exchange_relaxed({1, 2}); }
// says-note@+1{{here}}
int x(atomic<const int> &a) { return a.load_relaxed(); }
// says-error@+1{{fetch_add}}
colour x(atomic<colour> &a) { return a.fetch_add_relaxed(colour::green); }
// says-error@+1{{fetch_sub}}
bool x(atomic<bool> &a) { return a.fetch_sub_relaxed(true); }
// says-error@+1{{fetch_or}}
int *x(atomic<int *> &a) { return a.fetch_or_relaxed(0); }
// says-error@*:*{{over 2^32 contenders}} says-note@+1{{here}}
ticket_lock_for<(1ull << 32) + 1> huge;
// says-error@*:* 2 {{Patience 0, strict order, has no Spins: they overtake}}
patient_mutex<0, inner, 1> in_no_order; // says-note{{here}}
patient_shared_mutex<0, inner, 16> in_none_either; // says-note{{here}}
ticket_lock<u8> byte;
// says-error@+1{{two contexts a CPU}}
static_assert(2 * cpus <= decltype(byte)::max_contenders, "two contexts a CPU");
#endif

#if WRONG == 2 /* -m32 */
// says-error@*:*{{klock::atomic<T>: T is a bool, an enum, an integer or a pointer}}
// says-note@+1{{here}}
void x(atomic<u64> &a) { a.store_relaxed(a.fetch_add_relaxed(1) + 1); }
#endif
