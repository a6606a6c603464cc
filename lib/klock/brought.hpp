/* SPDX-License-Identifier: MIT */
/*
 * brought - what a guard brings along to take a lock: a node, a number, nothing
 *
 *	plain_lock		nothing
 *	cpu_lock		the CPU's number: given, asked of a function, or
 *				of the kernel (klock/os.hpp)
 *	node_lock		a node of the caller's: given, or asked for
 *	stack_node_lock		a node inside the guard, or one of the caller's
 *	to read			nothing; cpu_shared_lock: the CPU's number
 *
 * A function is asked when this is made: in an irq_guard, after interrupts went
 * off. What cannot be right is one error, which says what would be.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/* L, with a node that is lent to the guard: guard<lent_node<mcs_lock>> */
template <typename L>
	requires stack_node_lock<detail::inside<L>>
struct lent_node {
	/* The lock without it. */
	using lock_type = L;
};

namespace detail {

template <typename>
inline constexpr bool never = false;

/* The lock's type: of a lock itself, and of one with a lent node. */
template <typename L>
struct lock_of_type {
	using type = L;
};
template <typename L>
struct lock_of_type<lent_node<L>> {
	using type = L;
};
template <typename L>
using lock_of = typename lock_of_type<L>::type;

/* What a guard can be made for. */
template <typename L>
concept guardable = any_lock<inside<lock_of<L>>>;

template <typename Ask, typename Node>
concept asks_for_node = requires(Ask &ask) {
	{
		ask()
	} -> same_as<Node &>;
};

/* For a lock that takes nothing. */
struct brought_nothing {
	brought_nothing() = default;
	template <typename Wrong>
	explicit brought_nothing(Wrong &)
	{
		static_assert(never<Wrong>, "this lock takes neither a node "
					    "nor a number: guard held(lock)");
	}

	template <typename Verb, typename L>
	[[gnu::always_inline]] auto pass_to(call_site by, L &lock)
	{
		return Verb::call(by, lock);
	}
};

struct brought_number {
	brought_number() : number(cpu_id()) {}
	template <typename Given>
	explicit brought_number(Given &given) : number(number_of(given))
	{
	}

	template <typename Verb, typename L>
	[[gnu::always_inline]] auto pass_to(call_site by, L &lock)
	{
		return Verb::call(by, lock, number);
	}

      private:
	/* Of a number, or of a function that returns one. */
	template <typename Given>
	static unsigned number_of(Given &given)
	{
		if constexpr (same_as<const Given, const unsigned>) {
			return given;
		} else if constexpr (requires { given(); }) {
			auto answer = given();
			return number_of(answer);
		} else if constexpr (requires {
					     static_cast<unsigned>(given);
				     }) {
			return static_cast<unsigned>(given);
		} else {
			static_assert(never<Given>,
				      "neither a CPU's number nor a function "
				      "that returns one");
			return 0;
		}
	}

	unsigned number;
};

/* The caller's node. */
template <typename Node>
struct brought_node {
	template <typename Nothing = Node>
	brought_node() : node(reinterpret_cast<Node &>(*this))
	{
		static_assert(never<Nothing>,
			      "this lock's node must outlive the guard, bring "
			      "one: guard held(lock, node)");
	}
	explicit brought_node(Node &given) : node(given) {}
	template <asks_for_node<Node> Ask>
	explicit brought_node(Ask &ask) : node(ask())
	{
	}
	template <typename Wrong>
	explicit brought_node(Wrong &wrong)
	    : node(reinterpret_cast<Node &>(wrong))
	{
		static_assert(never<Wrong>,
			      "not a node of this lock, nor a function that "
			      "returns a reference to one");
	}

	template <typename Verb, typename L>
	[[gnu::always_inline]] auto pass_to(call_site by, L &lock)
	{
		return Verb::call(by, lock, node);
	}

      private:
	Node &node;
};

/* The guard's own node. */
template <typename Node>
struct brought_own_node {
	brought_own_node() = default;
	template <typename Wrong>
	explicit brought_own_node(Wrong &)
	{
		static_assert(never<Wrong>,
			      "not a node of this lock; to lend one, leave the "
			      "guard's type out: guard held(lock, node)");
	}

	template <typename Verb, typename L>
	[[gnu::always_inline]] auto pass_to(call_site by, L &lock)
	{
		return Verb::call(by, lock, node);
	}

      private:
	Node node;
};

template <typename L>
struct brought_for;
template <plain_lock L>
struct brought_for<L> {
	using type = brought_nothing;
};
template <cpu_lock L>
struct brought_for<L> {
	using type = brought_number;
};
template <node_lock L>
struct brought_for<L> {
	using type = brought_node<typename L::node>;
};
template <stack_node_lock L>
struct brought_for<L> {
	using type = brought_own_node<typename L::node>;
};
template <irq_only_lock L>
struct brought_for<L> : brought_for<inside<L>> {};
template <typename L>
struct brought_for<lent_node<L>> {
	using type = brought_node<typename inside<L>::node>;
};
template <typename L>
using brought = typename brought_for<L>::type;

/* What a reader brings: no lock wants a node of it. */
template <typename L>
struct brought_to_read_for {
	static_assert(shared_lockable<L>, "this lock has no lock_shared()");
	using type = brought_nothing;
};
template <cpu_shared_lock L>
struct brought_to_read_for<L> {
	using type = brought_number;
};
template <irq_only_lock L>
struct brought_to_read_for<L> : brought_to_read_for<inside<L>> {};
template <typename L>
using brought_to_read = typename brought_to_read_for<L>::type;

/* The guard's argument, made of what it is given: L, or lent_node<L>. */
template <typename L, typename... Given>
struct guarded_type {
	using type = L;
};
template <typename L, typename First, typename... Rest>
	requires(stack_node_lock<inside<L>> &&
		 (same_as<First, typename inside<L>::node &> ||
		  asks_for_node<First, typename inside<L>::node>)) //
struct guarded_type<L, First, Rest...> {
	using type = lent_node<L>;
};
template <typename L, typename... Given>
using guarded = typename guarded_type<L, Given...>::type;

} // namespace detail
} // namespace klock
