/* SPDX-License-Identifier: MIT */
/*
 * linux_atomic - atomic_t, atomic64_t and the atomic bit operations
 *
 * Included by linux.hpp, which says what orders they have.
 */
#pragma once

#include <model/here.hpp>

struct atomic_t {
	int counter;
};

struct atomic64_t {
	long long counter;
};

#define ATOMIC_INIT(v)                                                         \
	{                                                                      \
		v                                                              \
	}
#define ATOMIC64_INIT(v) ATOMIC_INIT(v)

namespace model::kernel {

template <typename T>
concept counts =
	std::is_same_v<T, ::atomic_t> || std::is_same_v<T, ::atomic64_t>;

template <counts A>
using number = decltype(A::counter);

/* The value after it. */
template <counts A>
inline number<A> changed(A *v, update how, number<A> by, strength with, site s)
{
	const number<A> found = rmw(&v->counter, how, by, with, s);

	return static_cast<number<A>>(access::hooked::updated(
		how, static_cast<u64>(found), static_cast<u64>(by)));
}

/* Adds, unless it finds that value; what it found. */
template <counts A>
inline number<A> add_unless(A *v, number<A> by, number<A> unless, site s)
{
	number<A> found = load(&v->counter, order::relaxed, s);

	while (found != unless &&
	       !try_swap(&v->counter, &found, found + by, full, s))
		;
	return found;
}

} // namespace model::kernel

/*
 * The operations of atomic_t, and the same of atomic64_t: KLOCK_MODEL_FAMILY
 * writes both down. E: what the name ends in, and the strength that it has.
 */
#define KLOCK_MODEL_N(A) ::model::kernel::number<A>

/* -- One that returns a value: what it found, what it made of it -- */

#define KLOCK_MODEL_FETCH(A, P, OP, HOW, END, BY)                              \
	inline KLOCK_MODEL_N(A) P##_fetch_##OP##END(KLOCK_MODEL_N(A) by, A *v, \
						    KLOCK_MODEL_HERE)          \
	{                                                                      \
		return ::model::kernel::rmw(&v->counter,                       \
					    ::model::kernel::update::HOW, by,  \
					    ::model::kernel::BY, s);           \
	}

#define KLOCK_MODEL_RETURN(A, P, OP, HOW, END, BY)                             \
	inline KLOCK_MODEL_N(A) P##_##OP##_return##END(KLOCK_MODEL_N(A) by,    \
						       A *v, KLOCK_MODEL_HERE) \
	{                                                                      \
		return ::model::kernel::changed(v,                             \
						::model::kernel::update::HOW,  \
						by, ::model::kernel::BY, s);   \
	}

#define KLOCK_MODEL_VOID(A, P, OP, HOW)                                        \
	inline void P##_##OP(KLOCK_MODEL_N(A) by, A *v, KLOCK_MODEL_HERE)      \
	{                                                                      \
		::model::kernel::rmw(&v->counter,                              \
				     ::model::kernel::update::HOW, by,         \
				     ::model::kernel::relaxed, s);             \
	}

/* inc and dec: by one. */

#define KLOCK_MODEL_STEP(A, P, STEP, HOW, END, BY)                             \
	inline KLOCK_MODEL_N(A)                                                \
		P##_##STEP##_return##END(A *v, KLOCK_MODEL_HERE)               \
	{                                                                      \
		return ::model::kernel::changed(v,                             \
						::model::kernel::update::HOW,  \
						1, ::model::kernel::BY, s);    \
	}                                                                      \
	inline KLOCK_MODEL_N(A) P##_fetch_##STEP##END(A *v, KLOCK_MODEL_HERE)  \
	{                                                                      \
		return ::model::kernel::rmw(&v->counter,                       \
					    ::model::kernel::update::HOW, 1,   \
					    ::model::kernel::BY, s);           \
	}

/* Each in its four strengths. */

#define KLOCK_MODEL_FOUR(WHICH, A, P, OP, HOW)                                 \
	WHICH(A, P, OP, HOW, , full)                                           \
	WHICH(A, P, OP, HOW, _relaxed, relaxed)                                \
	WHICH(A, P, OP, HOW, _acquire, acquire)                                \
	WHICH(A, P, OP, HOW, _release, release)

#define KLOCK_MODEL_SWAPS(A, P, END, BY)                                       \
	inline KLOCK_MODEL_N(A)                                                \
		P##_xchg##END(A *v, KLOCK_MODEL_N(A) to, KLOCK_MODEL_HERE)     \
	{                                                                      \
		return ::model::kernel::rmw(&v->counter,                       \
					    ::model::kernel::update::exchange, \
					    to, ::model::kernel::BY, s);       \
	}                                                                      \
	inline KLOCK_MODEL_N(A)                                                \
		P##_cmpxchg##END(A *v, KLOCK_MODEL_N(A) from,                  \
				 KLOCK_MODEL_N(A) to, KLOCK_MODEL_HERE)        \
	{                                                                      \
		return ::model::kernel::swap_if(&v->counter, from, to,         \
						::model::kernel::BY, s);       \
	}                                                                      \
	inline bool P##_try_cmpxchg##END(A *v, KLOCK_MODEL_N(A) * from,        \
					 KLOCK_MODEL_N(A) to,                  \
					 KLOCK_MODEL_HERE)                     \
	{                                                                      \
		return ::model::kernel::try_swap(&v->counter, from, to,        \
						 ::model::kernel::BY, s);      \
	}

#define KLOCK_MODEL_FAMILY(A, P)                                               \
	inline KLOCK_MODEL_N(A) P##_read(const A *v, KLOCK_MODEL_HERE)         \
	{                                                                      \
		return ::model::kernel::load(&v->counter,                      \
					     ::klock::order::relaxed, s);      \
	}                                                                      \
	inline KLOCK_MODEL_N(A) P##_read_acquire(const A *v, KLOCK_MODEL_HERE) \
	{                                                                      \
		return ::model::kernel::load(&v->counter,                      \
					     ::klock::order::acquire, s);      \
	}                                                                      \
	inline void P##_set(A *v, KLOCK_MODEL_N(A) to, KLOCK_MODEL_HERE)       \
	{                                                                      \
		::model::kernel::store(&v->counter, to,                        \
				       ::klock::order::relaxed, s);            \
	}                                                                      \
	inline void P##_set_release(A *v, KLOCK_MODEL_N(A) to,                 \
				    KLOCK_MODEL_HERE)                          \
	{                                                                      \
		::model::kernel::store(&v->counter, to,                        \
				       ::klock::order::release, s);            \
	}                                                                      \
	KLOCK_MODEL_VOID(A, P, add, add)                                       \
	KLOCK_MODEL_VOID(A, P, sub, subtract)                                  \
	KLOCK_MODEL_VOID(A, P, and, bit_and)                                   \
	KLOCK_MODEL_VOID(A, P, or, bit_or)                                     \
	KLOCK_MODEL_VOID(A, P, xor, bit_xor)                                   \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_FETCH, A, P, add, add)                    \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_FETCH, A, P, sub, subtract)               \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_FETCH, A, P, and, bit_and)                \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_FETCH, A, P, or, bit_or)                  \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_FETCH, A, P, xor, bit_xor)                \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_RETURN, A, P, add, add)                   \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_RETURN, A, P, sub, subtract)              \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_STEP, A, P, inc, add)                     \
	KLOCK_MODEL_FOUR(KLOCK_MODEL_STEP, A, P, dec, subtract)                \
	KLOCK_MODEL_SWAPS(A, P, , full)                                        \
	KLOCK_MODEL_SWAPS(A, P, _relaxed, relaxed)                             \
	KLOCK_MODEL_SWAPS(A, P, _acquire, acquire)                             \
	KLOCK_MODEL_SWAPS(A, P, _release, release)                             \
	inline void P##_inc(A *v, KLOCK_MODEL_HERE) { P##_add(1, v, s); }      \
	inline void P##_dec(A *v, KLOCK_MODEL_HERE) { P##_sub(1, v, s); }      \
	inline void P##_andnot(KLOCK_MODEL_N(A) bits, A *v, KLOCK_MODEL_HERE)  \
	{                                                                      \
		P##_and(~bits, v, s);                                          \
	}                                                                      \
	inline bool P##_sub_and_test(KLOCK_MODEL_N(A) by, A *v,                \
				     KLOCK_MODEL_HERE)                         \
	{                                                                      \
		return P##_sub_return(by, v, s) == 0;                          \
	}                                                                      \
	inline bool P##_dec_and_test(A *v, KLOCK_MODEL_HERE)                   \
	{                                                                      \
		return P##_dec_return(v, s) == 0;                              \
	}                                                                      \
	inline bool P##_inc_and_test(A *v, KLOCK_MODEL_HERE)                   \
	{                                                                      \
		return P##_inc_return(v, s) == 0;                              \
	}                                                                      \
	inline bool P##_add_negative(KLOCK_MODEL_N(A) by, A *v,                \
				     KLOCK_MODEL_HERE)                         \
	{                                                                      \
		return P##_add_return(by, v, s) < 0;                           \
	}                                                                      \
	inline KLOCK_MODEL_N(A) P##_fetch_add_unless(                          \
		A *v, KLOCK_MODEL_N(A) by, KLOCK_MODEL_N(A) unless,            \
		KLOCK_MODEL_HERE)                                              \
	{                                                                      \
		return ::model::kernel::add_unless(v, by, unless, s);          \
	}                                                                      \
	inline bool P##_add_unless(A *v, KLOCK_MODEL_N(A) by,                  \
				   KLOCK_MODEL_N(A) unless, KLOCK_MODEL_HERE)  \
	{                                                                      \
		return ::model::kernel::add_unless(v, by, unless, s) !=        \
		       unless;                                                 \
	}                                                                      \
	inline bool P##_inc_not_zero(A *v, KLOCK_MODEL_HERE)                   \
	{                                                                      \
		return P##_add_unless(v, 1, 0, s);                             \
	}

KLOCK_MODEL_FAMILY(atomic_t, atomic)
KLOCK_MODEL_FAMILY(atomic64_t, atomic64)

/* -- Bits of words ----------------------------------------------------------
 */

namespace model::kernel {

inline constexpr unsigned word_bits = 8 * sizeof(unsigned long);

inline unsigned long *word_of(unsigned long nr, volatile unsigned long *at)
{
	return variable(at) + nr / word_bits;
}

inline unsigned long bit(unsigned long nr) { return 1UL << nr % word_bits; }

/* Whether it was set. */
inline bool set(unsigned long nr, volatile unsigned long *at, strength by,
		site s)
{
	return rmw(word_of(nr, at), update::bit_or, bit(nr), by, s) & bit(nr);
}

inline bool clear(unsigned long nr, volatile unsigned long *at, strength by,
		  site s)
{
	return rmw(word_of(nr, at), update::bit_and, ~bit(nr), by, s) & bit(nr);
}

inline bool flip(unsigned long nr, volatile unsigned long *at, strength by,
		 site s)
{
	return rmw(word_of(nr, at), update::bit_xor, bit(nr), by, s) & bit(nr);
}

} // namespace model::kernel

inline void set_bit(unsigned long nr, volatile unsigned long *at,
		    KLOCK_MODEL_HERE)
{
	::model::kernel::set(nr, at, ::model::kernel::relaxed, s);
}
inline bool test_and_set_bit(unsigned long nr, volatile unsigned long *at,
			     KLOCK_MODEL_HERE)
{
	return ::model::kernel::set(nr, at, ::model::kernel::full, s);
}
inline void clear_bit(unsigned long nr, volatile unsigned long *at,
		      KLOCK_MODEL_HERE)
{
	::model::kernel::clear(nr, at, ::model::kernel::relaxed, s);
}
inline bool test_and_clear_bit(unsigned long nr, volatile unsigned long *at,
			       KLOCK_MODEL_HERE)
{
	return ::model::kernel::clear(nr, at, ::model::kernel::full, s);
}
inline void change_bit(unsigned long nr, volatile unsigned long *at,
		       KLOCK_MODEL_HERE)
{
	::model::kernel::flip(nr, at, ::model::kernel::relaxed, s);
}
inline bool test_and_change_bit(unsigned long nr, volatile unsigned long *at,
				KLOCK_MODEL_HERE)
{
	return ::model::kernel::flip(nr, at, ::model::kernel::full, s);
}
inline bool test_and_set_bit_lock(unsigned long nr, volatile unsigned long *at,
				  KLOCK_MODEL_HERE)
{
	return ::model::kernel::set(nr, at, ::model::kernel::acquire, s);
}
inline void clear_bit_unlock(unsigned long nr, volatile unsigned long *at,
			     KLOCK_MODEL_HERE)
{
	::model::kernel::clear(nr, at, ::model::kernel::release, s);
}
inline bool test_bit(unsigned long nr, const volatile unsigned long *at,
		     KLOCK_MODEL_HERE)
{
	using namespace ::model::kernel;

	return load(at + nr / word_bits, order::relaxed, s) & bit(nr);
}
inline bool test_bit_acquire(unsigned long nr, const volatile unsigned long *at,
			     KLOCK_MODEL_HERE)
{
	using namespace ::model::kernel;

	return load(at + nr / word_bits, order::acquire, s) & bit(nr);
}

#undef KLOCK_MODEL_N
#undef KLOCK_MODEL_FETCH
#undef KLOCK_MODEL_RETURN
#undef KLOCK_MODEL_VOID
#undef KLOCK_MODEL_STEP
#undef KLOCK_MODEL_FOUR
#undef KLOCK_MODEL_SWAPS
#undef KLOCK_MODEL_FAMILY
#undef KLOCK_MODEL_HERE
