/* SPDX-License-Identifier: MIT */
/*
 * linux - the Linux kernel's accesses and barriers, by their documented orders
 *
 *	#include <model/linux.hpp>
 *	#include "the_code_under_test.h"
 *
 * READ_ONCE(), smp_store_release(), cmpxchg(), smp_mb() and so on, on ordinary
 * variables; atomic_t and atomic64_t; the bit operations that are atomic. The
 * orders are those of the kernel's atomic_t.txt and memory-barriers.txt: an
 * operation that returns a value of its variable is a full barrier before and
 * after, one that returns none is relaxed, and a conditional one that fails
 * orders nothing.
 *
 * The kernel's memory model is not C++'s. What is stronger here, so that a
 * mistake can be missed: smp_wmb() is a release fence and smp_rmb() an acquire
 * fence, which order loads before later stores, too; rcu_dereference() is an
 * acquire load. What is weaker, so that a finding can be none: an address that
 * was read orders nothing but by rcu_dereference().
 *
 * Variables are looked at by these operations alone while bodies run: who reads
 * one plainly finds what it started with.
 */
#pragma once

#include <model/access.hpp>
#include <model/model.hpp>

#include <type_traits>

namespace model::kernel {

using klock::order;
using klock::u64;
using update = access::hooked::update;

template <typename T>
using bare = std::remove_cv_t<T>;

template <typename T>
inline bare<T> *variable(T *at)
{
	return const_cast<bare<T> *>(at);
}

inline void mb(site s) { access::fence(order::seq_cst, s); }

template <typename T>
inline bare<T> load(T *at, order o, site s)
{
	return access::load(variable(at), o, s);
}

template <typename T>
inline void store(T *at, std::type_identity_t<bare<T>> v, order o, site s)
{
	access::store(variable(at), v, o, s);
}

/* Full: with a barrier on either side. */
struct strength {
	order o;
	bool full;
};

inline constexpr strength full{order::relaxed, true};
inline constexpr strength relaxed{order::relaxed, false};
inline constexpr strength acquire{order::acquire, false};
inline constexpr strength release{order::release, false};

template <typename T>
inline bare<T> rmw(T *at, update how, std::type_identity_t<bare<T>> v,
		   strength by, site s)
{
	if (by.full)
		mb(s);
	const bare<T> found = access::rmw(variable(at), how, v, by.o, s);
	if (by.full)
		mb(s);
	return found;
}

/*
 * The barriers of a full one are there if it succeeds: both are explored,
 * executions that were to succeed and those that were to fail, and those that
 * then do not are none.
 */
template <typename T>
inline bool try_swap_fully(T *at, T &expected, T v, site s)
{
	T found = expected;

	if (!model::choose(2)) {
		found = access::load(at, order::relaxed, s);
		model::assume(access::to_word(found) !=
			      access::to_word(expected));
		expected = found;
		return false;
	}
	mb(s);
	model::assume(access::compare_exchange(at, found, v, order::relaxed,
					       order::relaxed, false, s));
	mb(s);
	return true;
}

template <typename T>
inline bool try_swap(T *at, bare<T> *expected, std::type_identity_t<bare<T>> v,
		     strength by, site s)
{
	if (by.full && access::hooked::running)
		return try_swap_fully(variable(at), *expected, v, s);
	return access::compare_exchange(variable(at), *expected, v, by.o,
					order::relaxed, false, s);
}

/* What was found. */
template <typename T>
inline bare<T> swap_if(T *at, std::type_identity_t<bare<T>> expected,
		       std::type_identity_t<bare<T>> v, strength by, site s)
{
	bare<T> found = expected;

	try_swap(at, &found, v, by, s);
	return found;
}

template <typename T, typename Done>
inline bare<T> await(T *at, Done done, order o, site s)
{
	return access::await(variable(at), done, o, s);
}

inline void relax()
{
	if (access::hooked::running)
		access::hooked::running->relax(1);
}

} // namespace model::kernel

#define KLOCK_MODEL_SITE                                                       \
	::model::site { __FILE__, __LINE__ }

/* -- Accesses -------------------------------------------------------------- */

#define READ_ONCE(x)                                                           \
	::model::kernel::load(&(x), ::klock::order::relaxed, KLOCK_MODEL_SITE)
#define WRITE_ONCE(x, v)                                                       \
	::model::kernel::store(&(x), v, ::klock::order::relaxed,               \
			       KLOCK_MODEL_SITE)
#define smp_load_acquire(p)                                                    \
	::model::kernel::load(p, ::klock::order::acquire, KLOCK_MODEL_SITE)
#define smp_store_release(p, v)                                                \
	::model::kernel::store(p, v, ::klock::order::release, KLOCK_MODEL_SITE)
#define smp_store_mb(x, v)                                                     \
	do {                                                                   \
		WRITE_ONCE(x, v);                                              \
		smp_mb();                                                      \
	} while (0)
#define rcu_dereference(p) smp_load_acquire(&(p))
#define rcu_assign_pointer(p, v) smp_store_release(&(p), v)

/* -- Barriers ---------------------------------------------------------------
 */

#define smp_mb() ::model::kernel::mb(KLOCK_MODEL_SITE)
#define smp_rmb()                                                              \
	::model::access::fence(::klock::order::acquire, KLOCK_MODEL_SITE)
#define smp_wmb()                                                              \
	::model::access::fence(::klock::order::release, KLOCK_MODEL_SITE)
#define smp_mb__before_atomic() smp_mb()
#define smp_mb__after_atomic() smp_mb()
#define smp_acquire__after_ctrl_dep() smp_rmb()
#define barrier() __asm__ __volatile__("" ::: "memory")

/* -- Waits -------------------------------------------------------------------
 */

#define cpu_relax() ::model::kernel::relax()
#define smp_cond_load_relaxed(p, condition)                                    \
	::model::kernel::await(                                                \
		p, [&](auto VAL) { return static_cast<bool>(condition); },     \
		::klock::order::relaxed, KLOCK_MODEL_SITE)
#define smp_cond_load_acquire(p, condition)                                    \
	::model::kernel::await(                                                \
		p, [&](auto VAL) { return static_cast<bool>(condition); },     \
		::klock::order::acquire, KLOCK_MODEL_SITE)

/* -- Read-modify-write -------------------------------------------------------
 */

#define KLOCK_MODEL_XCHG(p, v, by)                                             \
	::model::kernel::rmw(p, ::model::kernel::update::exchange, v,          \
			     ::model::kernel::by, KLOCK_MODEL_SITE)
#define xchg(p, v) KLOCK_MODEL_XCHG(p, v, full)
#define xchg_relaxed(p, v) KLOCK_MODEL_XCHG(p, v, relaxed)
#define xchg_acquire(p, v) KLOCK_MODEL_XCHG(p, v, acquire)
#define xchg_release(p, v) KLOCK_MODEL_XCHG(p, v, release)

#define KLOCK_MODEL_CMPXCHG(p, o, v, by)                                       \
	::model::kernel::swap_if(p, o, v, ::model::kernel::by, KLOCK_MODEL_SITE)
#define cmpxchg(p, o, v) KLOCK_MODEL_CMPXCHG(p, o, v, full)
#define cmpxchg_relaxed(p, o, v) KLOCK_MODEL_CMPXCHG(p, o, v, relaxed)
#define cmpxchg_acquire(p, o, v) KLOCK_MODEL_CMPXCHG(p, o, v, acquire)
#define cmpxchg_release(p, o, v) KLOCK_MODEL_CMPXCHG(p, o, v, release)

#define KLOCK_MODEL_TRY_CMPXCHG(p, o, v, by)                                   \
	::model::kernel::try_swap(p, o, v, ::model::kernel::by,                \
				  KLOCK_MODEL_SITE)
#define try_cmpxchg(p, o, v) KLOCK_MODEL_TRY_CMPXCHG(p, o, v, full)
#define try_cmpxchg_relaxed(p, o, v) KLOCK_MODEL_TRY_CMPXCHG(p, o, v, relaxed)
#define try_cmpxchg_acquire(p, o, v) KLOCK_MODEL_TRY_CMPXCHG(p, o, v, acquire)
#define try_cmpxchg_release(p, o, v) KLOCK_MODEL_TRY_CMPXCHG(p, o, v, release)

#include <model/linux_atomic.hpp>
