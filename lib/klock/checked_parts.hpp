/* SPDX-License-Identifier: MIT */
/*
 * checked_parts - the types that checked_lock is put together with
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/types.hpp>

namespace klock {

/* A lock's name, as a template argument. */
template <usize Size>
struct lock_name {
	char chars[Size];

	consteval lock_name(const char (&from)[Size])
	{
		for (usize i = 0; i < Size; i++)
			chars[i] = from[i];
	}
};

/* With no name, one at run time (set_name), or one in its type. */
template <any_lock L, lock_name... Name>
struct checked_lock;

namespace detail {
/* What some locks have besides, and a checked one then, too. */
struct no_node {};

template <typename L>
struct nodes_of {
	using lent_type = no_node;

      protected:
	using lent_node = no_node;
};
template <node_lock L>
struct nodes_of<L> {
	using node = typename L::node;
	using lent_type = node;
	static constexpr bool node_may_live_on_stack = stack_node_lock<L>;

      protected:
	using lent_node = node;
};

template <typename L>
struct constants_of {};
template <typename L>
	requires requires { L::default_base; }
struct constants_of<L> {
	static constexpr auto default_base = L::default_base;
};

/* One of two types: the second where checks are on. */
template <bool Checks, typename Unchecked, typename Checked>
struct chosen {
	using type = Unchecked;
};
template <typename Unchecked, typename Checked>
struct chosen<true, Unchecked, Checked> {
	using type = Checked;
};

template <typename L>
struct contends_of {};
template <typename L>
	requires requires { L::readers_contend; }
struct contends_of<L> {
	static constexpr bool readers_contend = L::readers_contend;
};

/* What CPUs have for all locks of a type. */
template <typename L>
struct cpus_of {};
template <per_cpu_lock L>
struct cpus_of<L> {
	[[nodiscard]] static bool has_node(unsigned cpu)
	{
		return L::has_node(cpu);
	}
	[[nodiscard]] static bool is_clean(unsigned cpu)
	{
		return L::is_clean(cpu);
	}
	static void forget_waits(unsigned cpu) { L::forget_waits(cpu); }
};

/* A name for a constructor, which no lock inside has an argument of. */
struct named {
	const char *name;
};

template <typename L, typename... From>
concept made_of = requires(From... from) { L(from...); };
} // namespace detail

} // namespace klock
