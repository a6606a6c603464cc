/* SPDX-License-Identifier: MIT */
/*
 * plain - data that a lock protects, or that its owner alone touches
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

/*
 * plain<T> - a value that one CPU at a time touches: the lock's holder, or the
 * owner of a node. Costs what T costs; the model checker proves the claim.
 */
template <typename T>
struct plain {
	constexpr plain() : at(T{}) {}
	constexpr explicit plain(T initial_value) : at(initial_value) {}
	plain(const plain &) = delete;
	plain &operator=(const plain &) = delete;

	T get(site s = caller_site<site>()) const
	{
		return arch::load_plain(at, s);
	}

	void set(T v, site s = caller_site<site>())
	{
		arch::store_plain(at, v, s);
	}

      private:
	arch::plain_cell<T> at;
};

} // namespace klock
