/* SPDX-License-Identifier: MIT */
/*
 * std_atomic - std::atomic and its relatives as locations of the checker
 *
 * Found under the name <atomic> by who has lib/model/std on the include path:
 * see there. The types have a name of their own for the linker (an ABI tag):
 * one program may have objects that were compiled with either.
 */
#pragma once

#include <model/here.hpp>
#include <model/std_operations.hpp>

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

} // namespace std

/* The rest of the header, in the order of its parts. */
#include <model/std_functions.hpp>
#include <model/std_names.hpp>

#undef KLOCK_MODEL_HERE
