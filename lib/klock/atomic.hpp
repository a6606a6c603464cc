/* SPDX-License-Identifier: MIT */
/*
 * atomic - shared values whose every operation says its memory order
 *
 * The only way in which klock's locks touch memory that several CPUs write.
 * An order is part of the operation's name and has no default:
 *
 *	klock::atomic<klock::u32> ready{0};
 *	ready.store_release(1);
 *	ready.await_eq_acquire(1);
 *
 * What an operation is made of comes from the port on the include path
 * (arch/CONTRACT.md): a machine instruction, an event in the model checker, a
 * cost in the coherence simulator. The code above it does not change.
 *
 * Context: any (thread, interrupt, NMI); the await operations wait and belong
 * only where the awaited CPU is sure to go on.
 */
#pragma once

#include <klock/arch/atomic_ops.hpp>
#include <klock/atomic_waits.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * atomic<T> - one shared value
 *
 * T is a bool, an enum, a signed or unsigned integer, or a pointer; no wider
 * than a pointer, which is what every CPU reads and writes whole. Any other T
 * is refused. It cannot be copied or moved; constinit works. The waits are in
 * <klock/atomic_waits.hpp>.
 */
template <typename T>
struct atomic : atomic_waits<T> {
	constexpr atomic() : atomic_waits<T>(T{}) {}
	constexpr explicit atomic(T v) : atomic_waits<T>(v) {}

	/* -- Loads and stores -- */

	T load_relaxed(site s = caller_site<site>()) const
	{
		return arch::load<order::relaxed>(at, s);
	}

	T load_acquire(site s = caller_site<site>()) const
	{
		return arch::load<order::acquire>(at, s);
	}

	T load_seq_cst(site s = caller_site<site>()) const
	{
		return arch::load<order::seq_cst>(at, s);
	}

	void store_relaxed(T v, site s = caller_site<site>())
	{
		arch::store<order::relaxed>(at, v, s);
	}

	void store_release(T v, site s = caller_site<site>())
	{
		arch::store<order::release>(at, v, s);
	}

	void store_seq_cst(T v, site s = caller_site<site>())
	{
		arch::store<order::seq_cst>(at, v, s);
	}

	/* -- Read-modify-write: each returns the value it found -- */

	T exchange_relaxed(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::relaxed>(at, v, s);
	}

	T exchange_acquire(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::acquire>(at, v, s);
	}

	T exchange_release(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::release>(at, v, s);
	}

	T exchange_acq_rel(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::acq_rel>(at, v, s);
	}

	T exchange_seq_cst(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::seq_cst>(at, v, s);
	}

	/* Integers alone; modulo 2^bits, signed ones too. */
	T fetch_add_relaxed(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::relaxed>(at, v, s);
	}

	T fetch_add_acquire(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::acquire>(at, v, s);
	}

	T fetch_add_release(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::release>(at, v, s);
	}

	T fetch_add_acq_rel(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::acq_rel>(at, v, s);
	}

	T fetch_add_seq_cst(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::seq_cst>(at, v, s);
	}

	T fetch_sub_relaxed(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::relaxed>(at, v, s);
	}

	T fetch_sub_acquire(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::acquire>(at, v, s);
	}

	T fetch_sub_release(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::release>(at, v, s);
	}

	T fetch_sub_acq_rel(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::acq_rel>(at, v, s);
	}

	T fetch_sub_seq_cst(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::seq_cst>(at, v, s);
	}

	/* Integers, enums and bool. */
	T fetch_or_relaxed(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::relaxed>(at, v, s);
	}

	T fetch_or_acquire(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::acquire>(at, v, s);
	}

	T fetch_or_release(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::release>(at, v, s);
	}

	T fetch_or_acq_rel(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::acq_rel>(at, v, s);
	}

	T fetch_or_seq_cst(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::seq_cst>(at, v, s);
	}

	T fetch_and_relaxed(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::relaxed>(at, v, s);
	}

	T fetch_and_acquire(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::acquire>(at, v, s);
	}

	T fetch_and_release(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::release>(at, v, s);
	}

	T fetch_and_acq_rel(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::acq_rel>(at, v, s);
	}

	T fetch_and_seq_cst(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::seq_cst>(at, v, s);
	}

	T fetch_xor_relaxed(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::relaxed>(at, v, s);
	}

	T fetch_xor_acquire(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::acquire>(at, v, s);
	}

	T fetch_xor_release(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::release>(at, v, s);
	}

	T fetch_xor_acq_rel(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::acq_rel>(at, v, s);
	}

	T fetch_xor_seq_cst(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::seq_cst>(at, v, s);
	}

	/*
	 * Stores desired if the value is expected; true if it was. Never fails
	 * spuriously; where it fails, expected is what was found, and that read
	 * has the order of the operation's name less its release.
	 */
	[[nodiscard]] bool
	compare_exchange_relaxed(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::relaxed>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_acquire(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::acquire>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_release(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::release>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_acq_rel(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::acq_rel>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_seq_cst(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::seq_cst>(at, expected,
							      desired, s);
	}

      private:
	using atomic_waits<T>::at;
};

/* Orders this CPU's own accesses; needed only by locks without RMW. */
inline void fence_seq_cst(site s = caller_site<site>())
{
	arch::fence<order::seq_cst>(s);
}

inline void fence_acquire(site s = caller_site<site>())
{
	arch::fence<order::acquire>(s);
}

inline void fence_release(site s = caller_site<site>())
{
	arch::fence<order::release>(s);
}

inline void fence_acq_rel(site s = caller_site<site>())
{
	arch::fence<order::acq_rel>(s);
}

} // namespace klock
