/* SPDX-License-Identifier: MIT */
/*
 * std_atomic - std::atomic and its relatives as locations of the checker
 *
 * It is <atomic> for code with lib/model_std/include on the include path: see
 * there. The types have a name of their own for the linker (an ABI tag), so one
 * program may have objects that were compiled with either.
 */
#pragma once

#include <model/here.hpp>
#include <model/access.hpp>
#include <model/places.hpp>

#include <bits/move.h>
#include <stdint.h>
#include <type_traits>

namespace model::standard {

/*
 * std_operations - the operations of std::atomic<T> and std::atomic_ref<T>
 *
 * A timeline names the caller's line. Functions have it as a last argument with
 * a default. Operators cannot, so the conversion to their operand's type notes
 * the line. The conversion to T has neither an argument nor an operand: there
 * places.hpp reads the stack.
 */

using klock::order;
using klock::u64;
using std::memory_order;
using update = access::hooked::update;

constexpr order from(memory_order o)
{
	return o == memory_order::consume
		       ? order::acquire
		       : static_cast<order>(static_cast<int>(o));
}

/* The default order of a failure: that of success, less the store. */
constexpr memory_order failure_of(memory_order o)
{
	return static_cast<memory_order>(
		static_cast<int>(klock::without_store(from(o))));
}

/* -- Operands of operators --------------------------------------------------
 */

/* The object that an operator works on, and its line. */
template <typename Self>
struct here {
	const volatile Self &self;
	site s;

	here(const Self &of, site at = klock::caller_site<site>())
	    : self(of), s(at)
	{
	}
	here(const volatile Self &of, site at = klock::caller_site<site>())
	    : self(of), s(at)
	{
	}
};

/* The assigned value, and its line. */
template <typename T>
struct located {
	T v;
	site s;

	located(T value, site at = klock::caller_site<site>()) : v(value), s(at)
	{
	}
	template <typename U>
		requires(std::is_convertible_v<U, T> &&
			 !std::is_same_v<std::remove_cvref_t<U>, T>)
	located(U &&value, site at = klock::caller_site<site>())
	    : v(static_cast<T>(std::forward<U>(value))), s(at)
	{
	}
};

/* -- Arithmetic on a part of a word -----------------------------------------
 */

template <typename T>
concept number = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
concept pointer =
	std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>;
template <typename T>
concept real = std::is_floating_point_v<T>;
template <typename T>
concept adds = number<T> || pointer<T> || real<T>;

template <typename T>
struct difference {
	using type = T;
};
template <typename T>
struct difference<T *> {
	using type = std::ptrdiff_t;
};

template <adds T>
using difference_of = typename difference<T>::type;

template <typename T, typename By>
inline T changed(T *at, update how, By by, order o, site s)
{
	if constexpr (pointer<T>) {
		const auto bytes =
			by * static_cast<std::ptrdiff_t>(sizeof(*T{}));
		return access::from_word<T>(access::rmw_word(
			at, how, static_cast<u64>(bytes), o, s));
	} else if constexpr (real<T>) {
		T found = access::load(at, order::relaxed, s);
		while (!access::compare_exchange(
			at, found, how == update::add ? found + by : found - by,
			o, order::relaxed, true, s))
			;
		return found;
	} else {
		return access::rmw(at, how, static_cast<T>(by), o, s);
	}
}

/* -- The operations ---------------------------------------------------------
 *
 * Self::where() says where the value is. Const and volatile, all of them: a
 * reference changes what it does not own, and C code has volatile atomics.
 */

template <typename Self, typename T>
struct operations {
	using value_type = T;
	static constexpr bool is_always_lock_free = true;

	bool is_lock_free() const volatile noexcept { return true; }

	T load(memory_order o = memory_order::seq_cst, KLOCK_MODEL_HERE) const
		volatile noexcept
	{
		return access::load(at(), from(o), s);
	}

	void store(T v, memory_order o = memory_order::seq_cst,
		   KLOCK_MODEL_HERE) const volatile noexcept
	{
		access::store(at(), v, from(o), s);
	}

	T exchange(T v, memory_order o = memory_order::seq_cst,
		   KLOCK_MODEL_HERE) const volatile noexcept
	{
		return access::rmw(at(), update::exchange, v, from(o), s);
	}

	bool compare_exchange_strong(T &expected, T v, memory_order o,
				     memory_order failed,
				     KLOCK_MODEL_HERE) const volatile noexcept
	{
		return access::compare_exchange(at(), expected, v, from(o),
						from(failed), false, s);
	}
	bool compare_exchange_strong(T &expected, T v,
				     memory_order o = memory_order::seq_cst,
				     KLOCK_MODEL_HERE) const volatile noexcept
	{
		return compare_exchange_strong(expected, v, o, failure_of(o),
					       s);
	}

	bool compare_exchange_weak(T &expected, T v, memory_order o,
				   memory_order failed, KLOCK_MODEL_HERE) const
		volatile noexcept
	{
		return access::compare_exchange(at(), expected, v, from(o),
						from(failed), true, s);
	}
	bool compare_exchange_weak(T &expected, T v,
				   memory_order o = memory_order::seq_cst,
				   KLOCK_MODEL_HERE) const volatile noexcept
	{
		return compare_exchange_weak(expected, v, o, failure_of(o), s);
	}

	void wait(T old, memory_order o = memory_order::seq_cst,
		  KLOCK_MODEL_HERE) const volatile noexcept
	{
		access::wait_while(at(), old, from(o), s);
	}
	void notify_one(KLOCK_MODEL_HERE) const volatile noexcept
	{
		access::notify(at(), false, s);
	}
	void notify_all(KLOCK_MODEL_HERE) const volatile noexcept
	{
		access::notify(at(), true, s);
	}

	/* -- Numbers and pointers -- */

	template <adds N = T>
	T fetch_add(difference_of<N> by, memory_order o = memory_order::seq_cst,
		    KLOCK_MODEL_HERE) const volatile noexcept
	{
		return changed(at(), update::add, by, from(o), s);
	}
	template <adds N = T>
	T fetch_sub(difference_of<N> by, memory_order o = memory_order::seq_cst,
		    KLOCK_MODEL_HERE) const volatile noexcept
	{
		return changed(at(), update::subtract, by, from(o), s);
	}
	T fetch_and(T bits, memory_order o = memory_order::seq_cst,
		    KLOCK_MODEL_HERE) const volatile noexcept
		requires number<T>
	{
		return access::rmw(at(), update::bit_and, bits, from(o), s);
	}
	T fetch_or(T bits, memory_order o = memory_order::seq_cst,
		   KLOCK_MODEL_HERE) const volatile noexcept
		requires number<T>
	{
		return access::rmw(at(), update::bit_or, bits, from(o), s);
	}
	T fetch_xor(T bits, memory_order o = memory_order::seq_cst,
		    KLOCK_MODEL_HERE) const volatile noexcept
		requires number<T>
	{
		return access::rmw(at(), update::bit_xor, bits, from(o), s);
	}

	/* -- Operators: seq_cst, each one RMW -- */

	friend T operator++(here<Self> x) noexcept
		requires adds<T>
	{
		return static_cast<T>(operations::moved(x, update::add, 1) + 1);
	}
	friend T operator++(here<Self> x, int) noexcept
		requires adds<T>
	{
		return operations::moved(x, update::add, 1);
	}
	friend T operator--(here<Self> x) noexcept
		requires adds<T>
	{
		return static_cast<T>(
			operations::moved(x, update::subtract, 1) - 1);
	}
	friend T operator--(here<Self> x, int) noexcept
		requires adds<T>
	{
		return operations::moved(x, update::subtract, 1);
	}
	template <adds N = T>
	T operator+=(located<difference_of<N>> by) const volatile noexcept
	{
		return static_cast<T>(
			changed(at(), update::add, by.v, order::seq_cst, by.s) +
			by.v);
	}
	template <adds N = T>
	T operator-=(located<difference_of<N>> by) const volatile noexcept
	{
		return static_cast<T>(changed(at(), update::subtract, by.v,
					      order::seq_cst, by.s) -
				      by.v);
	}
	T operator&=(located<T> by) const volatile noexcept
		requires number<T>
	{
		return static_cast<T>(
			fetch_and(by.v, memory_order::seq_cst, by.s) & by.v);
	}
	T operator|=(located<T> by) const volatile noexcept
		requires number<T>
	{
		return static_cast<T>(
			fetch_or(by.v, memory_order::seq_cst, by.s) | by.v);
	}
	T operator^=(located<T> by) const volatile noexcept
		requires number<T>
	{
		return static_cast<T>(
			fetch_xor(by.v, memory_order::seq_cst, by.s) ^ by.v);
	}

	/* Not inlined, so that it returns into the line that reads. */
	[[gnu::noinline]] operator T() const volatile noexcept
	{
		return access::load(at(), order::seq_cst, called_from());
	}

      protected:
	T *at() const volatile
	{
		return static_cast<const volatile Self *>(this)->where();
	}

      private:
	static T moved(here<Self> x, update how, int by)
	{
		const volatile operations &self = x.self;
		return changed(self.at(), how, by, order::seq_cst, x.s);
	}
};

} // namespace model::standard

namespace std {

template <typename T>
struct [[gnu::abi_tag("klock_model")]] atomic
    : model::standard::operations<atomic<T>, T> {
	static_assert(model::access::allowed<T>,
		      "klock::model: std::atomic<T> takes a T that is "
		      "trivially copyable and has at most 8 bytes");

	constexpr atomic() noexcept(noexcept(T())) : atomic(T()) {}
	constexpr atomic(T v) noexcept : value(v)
	{
		if (!__builtin_is_constant_evaluated())
			model::access::born(this, sizeof(*this));
	}
	constexpr ~atomic()
	{
		if (!__builtin_is_constant_evaluated())
			model::access::dead(this, sizeof(*this));
	}
	atomic(const atomic &) = delete;
	atomic &operator=(const atomic &) = delete;

	[[gnu::noinline]] T operator=(T v) noexcept
	{
		this->store(v, memory_order::seq_cst, model::called_from());
		return v;
	}
	[[gnu::noinline]] T operator=(T v) volatile noexcept
	{
		this->store(v, memory_order::seq_cst, model::called_from());
		return v;
	}

	T *where() const volatile { return const_cast<T *>(&value); }

      private:
	static constexpr size_t alone =
		model::access::one_access<T> ? sizeof(T) : alignof(T);

	alignas(alone > alignof(T) ? alone : alignof(T)) T value;
};

/* To what it refers to nobody else may reach but by such a reference. */
template <typename T>
struct [[gnu::abi_tag("klock_model")]] atomic_ref
    : model::standard::operations<atomic_ref<T>, T> {
	static_assert(model::access::allowed<T>,
		      "klock::model: std::atomic_ref<T> takes a T that is "
		      "trivially copyable and has at most 8 bytes");

	static constexpr size_t
		required_alignment = model::access::one_access<T> &&
						     sizeof(T) > alignof(T)
					     ? sizeof(T)
					     : alignof(T);

	explicit atomic_ref(T &to) : of(&to) {}
	atomic_ref(const atomic_ref &) = default;
	atomic_ref &operator=(const atomic_ref &) = delete;

	[[gnu::noinline]] T operator=(T v) const noexcept
	{
		this->store(v, memory_order::seq_cst, model::called_from());
		return v;
	}

	T *where() const volatile { return of; }

      private:
	T *of;
};
template <typename T>
atomic_ref(T &) -> atomic_ref<T>;

struct [[gnu::abi_tag("klock_model")]] atomic_flag {
	constexpr atomic_flag() noexcept = default;
	constexpr atomic_flag(bool set) noexcept : is_set(set) {}
	atomic_flag(const atomic_flag &) = delete;
	atomic_flag &operator=(const atomic_flag &) = delete;

	bool test_and_set(memory_order o = memory_order::seq_cst,
			  KLOCK_MODEL_HERE) volatile noexcept
	{
		return is_set.exchange(true, o, s);
	}
	void clear(memory_order o = memory_order::seq_cst,
		   KLOCK_MODEL_HERE) volatile noexcept
	{
		is_set.store(false, o, s);
	}
	bool test(memory_order o = memory_order::seq_cst,
		  KLOCK_MODEL_HERE) const volatile noexcept
	{
		return is_set.load(o, s);
	}
	void wait(bool old, memory_order o = memory_order::seq_cst,
		  KLOCK_MODEL_HERE) const volatile noexcept
	{
		is_set.wait(old, o, s);
	}
	void notify_one(KLOCK_MODEL_HERE) volatile noexcept
	{
		is_set.notify_one(s);
	}
	void notify_all(KLOCK_MODEL_HERE) volatile noexcept
	{
		is_set.notify_all(s);
	}

      private:
	atomic<bool> is_set{false};
};

#undef ATOMIC_FLAG_INIT
#define ATOMIC_FLAG_INIT                                                       \
	{                                                                      \
		false                                                          \
	}
#undef ATOMIC_VAR_INIT
#define ATOMIC_VAR_INIT(value)                                                 \
	{                                                                      \
		value                                                          \
	}

inline void atomic_thread_fence(memory_order o, KLOCK_MODEL_HERE) noexcept
{
	model::access::fence(model::standard::from(o), s);
}

/* Between a CPU and its own handlers, which program order orders here. */
inline void atomic_signal_fence(memory_order) noexcept
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * std_functions - atomic_load(&x) and so on: the names that C has, too
 *
 * The value is as the object has it, whatever is
 * given: atomic_store(&x, 1) for any integer.
 */

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

/* Each in two forms: the order is said, or seq_cst. */
#define KLOCK_MODEL_CHANGE(name, given)                                        \
	template <typename T>                                                  \
	inline T atomic_##name(volatile atomic<T> *x, given<T> v,              \
			       KLOCK_MODEL_HERE) noexcept                      \
	{                                                                      \
		return x->name(v, memory_order::seq_cst, s);                   \
	}                                                                      \
	template <typename T>                                                  \
	inline T atomic_##name##_explicit(volatile atomic<T> *x, given<T> v,   \
					  memory_order o,                      \
					  KLOCK_MODEL_HERE) noexcept           \
	{                                                                      \
		return x->name(v, o, s);                                       \
	}

KLOCK_MODEL_CHANGE(exchange, klock_model_value)
KLOCK_MODEL_CHANGE(fetch_add, klock_model_by)
KLOCK_MODEL_CHANGE(fetch_sub, klock_model_by)
KLOCK_MODEL_CHANGE(fetch_and, klock_model_value)
KLOCK_MODEL_CHANGE(fetch_or, klock_model_value)
KLOCK_MODEL_CHANGE(fetch_xor, klock_model_value)
#undef KLOCK_MODEL_CHANGE

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

/* -- atomic_int and the other names of atomics --------------------------- */

using atomic_bool = atomic<bool>;
using atomic_char = atomic<char>;
using atomic_schar = atomic<signed char>;
using atomic_uchar = atomic<unsigned char>;
using atomic_short = atomic<short>;
using atomic_ushort = atomic<unsigned short>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<unsigned>;
using atomic_long = atomic<long>;
using atomic_ulong = atomic<unsigned long>;
using atomic_llong = atomic<long long>;
using atomic_ullong = atomic<unsigned long long>;
using atomic_char8_t = atomic<char8_t>;
using atomic_char16_t = atomic<char16_t>;
using atomic_char32_t = atomic<char32_t>;
using atomic_wchar_t = atomic<wchar_t>;
using atomic_int8_t = atomic<::int8_t>;
using atomic_uint8_t = atomic<::uint8_t>;
using atomic_int16_t = atomic<::int16_t>;
using atomic_uint16_t = atomic<::uint16_t>;
using atomic_int32_t = atomic<::int32_t>;
using atomic_uint32_t = atomic<::uint32_t>;
using atomic_int64_t = atomic<::int64_t>;
using atomic_uint64_t = atomic<::uint64_t>;
using atomic_int_least8_t = atomic<::int_least8_t>;
using atomic_uint_least8_t = atomic<::uint_least8_t>;
using atomic_int_least16_t = atomic<::int_least16_t>;
using atomic_uint_least16_t = atomic<::uint_least16_t>;
using atomic_int_least32_t = atomic<::int_least32_t>;
using atomic_uint_least32_t = atomic<::uint_least32_t>;
using atomic_int_least64_t = atomic<::int_least64_t>;
using atomic_uint_least64_t = atomic<::uint_least64_t>;
using atomic_int_fast8_t = atomic<::int_fast8_t>;
using atomic_uint_fast8_t = atomic<::uint_fast8_t>;
using atomic_int_fast16_t = atomic<::int_fast16_t>;
using atomic_uint_fast16_t = atomic<::uint_fast16_t>;
using atomic_int_fast32_t = atomic<::int_fast32_t>;
using atomic_uint_fast32_t = atomic<::uint_fast32_t>;
using atomic_int_fast64_t = atomic<::int_fast64_t>;
using atomic_uint_fast64_t = atomic<::uint_fast64_t>;
using atomic_intptr_t = atomic<::intptr_t>;
using atomic_uintptr_t = atomic<::uintptr_t>;
using atomic_intmax_t = atomic<::intmax_t>;
using atomic_uintmax_t = atomic<::uintmax_t>;
using atomic_size_t = atomic<std::size_t>;
using atomic_ptrdiff_t = atomic<std::ptrdiff_t>;
using atomic_signed_lock_free = atomic<int>;
using atomic_unsigned_lock_free = atomic<unsigned>;

} // namespace std

#define KLOCK_MODEL_END
#include <model/here.hpp>
