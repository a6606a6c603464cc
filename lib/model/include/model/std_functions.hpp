/* SPDX-License-Identifier: MIT */
/*
 * std_functions - atomic_load(&x) and so on: the names that C has, too
 *
 * Included by std_atomic.hpp. The value is as the object has it, whatever is
 * given: atomic_store(&x, 1) for any integer.
 */
#pragma once

namespace std {

template <typename T>
using klock_model_value = typename type_identity<T>::type;
template <typename T>
using klock_model_by = typename type_identity<
	typename model::standard::difference<T>::type>::type;

template <typename T>
inline bool atomic_is_lock_free(const volatile atomic<T> *) noexcept
{
	return true;
}

template <typename T>
inline void atomic_init(volatile atomic<T> *x, klock_model_value<T> v,
			KLOCK_MODEL_HERE) noexcept
{
	x->store(v, memory_order::relaxed, s);
}

/* -- Loads and stores ------------------------------------------------------ */

template <typename T>
inline T atomic_load(const volatile atomic<T> *x, KLOCK_MODEL_HERE) noexcept
{
	return x->load(memory_order::seq_cst, s);
}
template <typename T>
inline T atomic_load_explicit(const volatile atomic<T> *x, memory_order o,
			      KLOCK_MODEL_HERE) noexcept
{
	return x->load(o, s);
}

template <typename T>
inline void atomic_store(volatile atomic<T> *x, klock_model_value<T> v,
			 KLOCK_MODEL_HERE) noexcept
{
	x->store(v, memory_order::seq_cst, s);
}
template <typename T>
inline void atomic_store_explicit(volatile atomic<T> *x, klock_model_value<T> v,
				  memory_order o, KLOCK_MODEL_HERE) noexcept
{
	x->store(v, o, s);
}

/* -- Read-modify-write ------------------------------------------------------
 */

template <typename T>
inline T atomic_exchange(volatile atomic<T> *x, klock_model_value<T> v,
			 KLOCK_MODEL_HERE) noexcept
{
	return x->exchange(v, memory_order::seq_cst, s);
}
template <typename T>
inline T atomic_exchange_explicit(volatile atomic<T> *x, klock_model_value<T> v,
				  memory_order o, KLOCK_MODEL_HERE) noexcept
{
	return x->exchange(v, o, s);
}

template <typename T>
inline T atomic_fetch_add(volatile atomic<T> *x, klock_model_by<T> v,
			  KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_add(v, memory_order::seq_cst, s);
}
template <typename T>
inline T atomic_fetch_add_explicit(volatile atomic<T> *x, klock_model_by<T> v,
				   memory_order o, KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_add(v, o, s);
}

template <typename T>
inline T atomic_fetch_sub(volatile atomic<T> *x, klock_model_by<T> v,
			  KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_sub(v, memory_order::seq_cst, s);
}
template <typename T>
inline T atomic_fetch_sub_explicit(volatile atomic<T> *x, klock_model_by<T> v,
				   memory_order o, KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_sub(v, o, s);
}

template <typename T>
inline T atomic_fetch_and(volatile atomic<T> *x, klock_model_value<T> v,
			  KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_and(v, memory_order::seq_cst, s);
}
template <typename T>
inline T atomic_fetch_and_explicit(volatile atomic<T> *x,
				   klock_model_value<T> v, memory_order o,
				   KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_and(v, o, s);
}

template <typename T>
inline T atomic_fetch_or(volatile atomic<T> *x, klock_model_value<T> v,
			 KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_or(v, memory_order::seq_cst, s);
}
template <typename T>
inline T atomic_fetch_or_explicit(volatile atomic<T> *x, klock_model_value<T> v,
				  memory_order o, KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_or(v, o, s);
}

template <typename T>
inline T atomic_fetch_xor(volatile atomic<T> *x, klock_model_value<T> v,
			  KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_xor(v, memory_order::seq_cst, s);
}
template <typename T>
inline T atomic_fetch_xor_explicit(volatile atomic<T> *x,
				   klock_model_value<T> v, memory_order o,
				   KLOCK_MODEL_HERE) noexcept
{
	return x->fetch_xor(v, o, s);
}

template <typename T>
inline bool atomic_compare_exchange_strong(volatile atomic<T> *x,
					   klock_model_value<T> *expected,
					   klock_model_value<T> v,
					   KLOCK_MODEL_HERE) noexcept
{
	return x->compare_exchange_strong(*expected, v, memory_order::seq_cst,
					  memory_order::seq_cst, s);
}
template <typename T>
inline bool atomic_compare_exchange_strong_explicit(
	volatile atomic<T> *x, klock_model_value<T> *expected,
	klock_model_value<T> v, memory_order o, memory_order failed,
	KLOCK_MODEL_HERE) noexcept
{
	return x->compare_exchange_strong(*expected, v, o, failed, s);
}

template <typename T>
inline bool atomic_compare_exchange_weak(volatile atomic<T> *x,
					 klock_model_value<T> *expected,
					 klock_model_value<T> v,
					 KLOCK_MODEL_HERE) noexcept
{
	return x->compare_exchange_weak(*expected, v, memory_order::seq_cst,
					memory_order::seq_cst, s);
}
template <typename T>
inline bool atomic_compare_exchange_weak_explicit(
	volatile atomic<T> *x, klock_model_value<T> *expected,
	klock_model_value<T> v, memory_order o, memory_order failed,
	KLOCK_MODEL_HERE) noexcept
{
	return x->compare_exchange_weak(*expected, v, o, failed, s);
}

/* -- Waits ------------------------------------------------------------------
 */

template <typename T>
inline void atomic_wait(const volatile atomic<T> *x, klock_model_value<T> old,
			KLOCK_MODEL_HERE) noexcept
{
	x->wait(old, memory_order::seq_cst, s);
}
template <typename T>
inline void atomic_wait_explicit(const volatile atomic<T> *x,
				 klock_model_value<T> old, memory_order o,
				 KLOCK_MODEL_HERE) noexcept
{
	x->wait(old, o, s);
}
template <typename T>
inline void atomic_notify_one(volatile atomic<T> *x, KLOCK_MODEL_HERE) noexcept
{
	x->notify_one(s);
}
template <typename T>
inline void atomic_notify_all(volatile atomic<T> *x, KLOCK_MODEL_HERE) noexcept
{
	x->notify_all(s);
}

/* -- The flag ---------------------------------------------------------------
 */

inline bool atomic_flag_test(const volatile atomic_flag *x,
			     KLOCK_MODEL_HERE) noexcept
{
	return x->test(memory_order::seq_cst, s);
}
inline bool atomic_flag_test_explicit(const volatile atomic_flag *x,
				      memory_order o, KLOCK_MODEL_HERE) noexcept
{
	return x->test(o, s);
}
inline bool atomic_flag_test_and_set(volatile atomic_flag *x,
				     KLOCK_MODEL_HERE) noexcept
{
	return x->test_and_set(memory_order::seq_cst, s);
}
inline bool atomic_flag_test_and_set_explicit(volatile atomic_flag *x,
					      memory_order o,
					      KLOCK_MODEL_HERE) noexcept
{
	return x->test_and_set(o, s);
}
inline void atomic_flag_clear(volatile atomic_flag *x,
			      KLOCK_MODEL_HERE) noexcept
{
	x->clear(memory_order::seq_cst, s);
}
inline void atomic_flag_clear_explicit(volatile atomic_flag *x, memory_order o,
				       KLOCK_MODEL_HERE) noexcept
{
	x->clear(o, s);
}
inline void atomic_flag_wait(const volatile atomic_flag *x, bool old,
			     KLOCK_MODEL_HERE) noexcept
{
	x->wait(old, memory_order::seq_cst, s);
}
inline void atomic_flag_wait_explicit(const volatile atomic_flag *x, bool old,
				      memory_order o, KLOCK_MODEL_HERE) noexcept
{
	x->wait(old, o, s);
}
inline void atomic_flag_notify_one(volatile atomic_flag *x,
				   KLOCK_MODEL_HERE) noexcept
{
	x->notify_one(s);
}
inline void atomic_flag_notify_all(volatile atomic_flag *x,
				   KLOCK_MODEL_HERE) noexcept
{
	x->notify_all(s);
}

} // namespace std
