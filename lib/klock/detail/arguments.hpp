/* SPDX-License-Identifier: MIT */
/*
 * arguments - the arguments with which a guard takes a lock
 *
 *	plain_lock		nothing
 *	serving_lock		nothing, or a function to call while it waits
 *	cpu_lock		the CPU's number: given, asked of a function, or
 *				of the kernel (klock/os.hpp)
 *	node_lock		a node of the caller's: given, or asked for
 *	stack_node_lock		a node inside the guard, or one of the caller's
 *	to read			nothing; cpu_shared_lock: the CPU's number
 *
 * A function is called when the guard is made; in an irq_guard, after
 * interrupts went off. A wrong argument gives exactly one error, with the
 * correct form.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/types.hpp>

namespace klock {

/* L, with a node of the caller's: guard<lent_node<mcs_lock>> */
template <typename L>
	requires stack_node_lock<detail::inside<L>>
struct lent_node {
	/* The lock type, without that. */
	using lock_type = L;
};

/* L, and what its waiter calls: guard<serving<tas_lock, void (&)()>> */
template <typename L, serves Serve>
	requires serving_lock<detail::inside<L>>
struct serving {
	/* The lock type, without that. */
	using lock_type = L;
};

namespace detail {

/* The kernel's function (klock/os.hpp), called for a lock that is indexed by
 * CPU. */
extern "C" unsigned klock_os_cpu_id(void);

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
template <typename L, typename Serve>
struct lock_of_type<serving<L, Serve>> {
	using type = L;
};
template <typename L>
using lock_of = typename lock_of_type<L>::type;

/* L without const. */
template <typename L>
struct mutable_type {
	using type = L;
};
template <typename L>
struct mutable_type<const L> {
	using type = L;
};
template <typename L>
using mutable_of = typename mutable_type<L>::type;

/*
 * The locks for which a guard can be made. const must be tested here: the type
 * of the lock inside an irq_lock has no const, even if the irq_lock is const.
 */
template <typename L>
concept guardable = any_lock<inside<lock_of<L>>> && !annotated<lock_of<L>> &&
		    !(irq_only_lock<L> && same_as<L, const L>);

template <typename Ask, typename Node>
concept asks_for_node = requires(Ask &ask) {
	{
		ask()
	} -> same_as<Node &>;
};

/* For a lock that takes nothing. */
struct no_argument {
	no_argument() = default;
	template <typename Wrong>
	explicit no_argument(Wrong &)
	{
		if constexpr (serves<Wrong>)
			static_assert(never<Wrong>,
				      "no wait of this lock serves: that of "
				      "ticket_lock does, and of those in "
				      "lib/docs/take-a-lock.md");
		else
			static_assert(never<Wrong>,
				      "this lock takes neither a node nor a "
				      "number: guard held(lock)");
	}
};

/* A lock's argument if its wait serves: F is a copy in the guard, F & refers to
 * the caller's function. */
template <typename Serve>
struct serve_argument {
	explicit serve_argument(Serve &given)
	    : serve(static_cast<Serve &&>(given))
	{
	}

	[[no_unique_address]] Serve serve;
};

struct cpu_argument {
	cpu_argument() : value(klock_os_cpu_id()) {}
	template <typename Given>
	explicit cpu_argument(Given &given) : value(number_of(given))
	{
	}

	/* For a condition's wait, which may end on another CPU: if the number
	 * is this CPU's, it is asked for again after the wait. */
	bool is_of_this_cpu() const { return value == klock_os_cpu_id(); }
	void ask_later() { value = not_asked; }
	void ask_now()
	{
		if (value == not_asked)
			value = klock_os_cpu_id();
	}

      private:
	static constexpr unsigned not_asked = ~0u;

	/* The number itself, or what a function returns. */
	template <typename Given>
	static unsigned number_of(Given &given)
	{
		if constexpr (same_as<const Given, const unsigned>) {
			return given;
		} else if constexpr (requires {
					     static_cast<unsigned>(given());
				     }) {
			return static_cast<unsigned>(given());
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

      public:
	unsigned value;
};

/* The caller's node. */
template <typename Node>
struct node_argument {
	template <typename Nothing = Node>
	node_argument() : value(reinterpret_cast<Node &>(*this))
	{
		static_assert(never<Nothing>,
			      "this lock's node must outlive the guard, bring "
			      "one: guard held(lock, node)");
	}
	explicit node_argument(Node &given) : value(given) {}
	template <asks_for_node<Node> Ask>
	explicit node_argument(Ask &ask) : value(ask())
	{
	}
	template <typename Wrong>
	explicit node_argument(Wrong &wrong)
	    : value(reinterpret_cast<Node &>(wrong))
	{
		static_assert(never<Wrong>,
			      "not a node of this lock, nor a function that "
			      "returns a reference to one");
	}

	Node &value;
};

/* The guard's own node. */
template <typename Node>
struct own_node {
	own_node() = default;
	template <typename Wrong>
	explicit own_node(Wrong &)
	{
		static_assert(never<Wrong>,
			      "not a node of this lock; to lend one, leave the "
			      "guard's type out: guard held(lock, node)");
	}

	Node value;
};

template <typename L>
struct argument_for;
template <plain_lock L>
struct argument_for<L> {
	using type = no_argument;
};
template <cpu_lock L>
struct argument_for<L> {
	using type = cpu_argument;
};
template <node_lock L>
struct argument_for<L> {
	using type = node_argument<typename L::node>;
};
template <stack_node_lock L>
struct argument_for<L> {
	using type = own_node<typename L::node>;
};
template <irq_only_lock L>
struct argument_for<L> : argument_for<inside<L>> {};
template <typename L>
struct argument_for<lent_node<L>> {
	using type = node_argument<typename inside<L>::node>;
};
template <typename L, typename Serve>
struct argument_for<serving<L, Serve>> {
	using type = serve_argument<Serve>;
};
template <typename L>
using argument = typename argument_for<L>::type;

/* A reader's argument. No lock takes a node from a reader. */
template <typename L>
struct argument_to_read_for {
	static_assert(shared_lockable<L>, "this lock has no lock_shared()");
	using type = no_argument;
};
template <cpu_shared_lock L>
struct argument_to_read_for<L> {
	using type = cpu_argument;
};
template <irq_only_lock L>
struct argument_to_read_for<L> : argument_to_read_for<inside<L>> {};
template <typename L>
using argument_to_read = typename argument_to_read_for<L>::type;

/* The type of a guard's lock, from its arguments: L, or one of the two above */
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
template <typename L, typename First, typename... Rest>
	requires(serving_lock<inside<L>> && serves<First>) //
struct guarded_type<L, First, Rest...> {
	using type = serving<L, First>;
};
template <typename L, typename... Given>
using guarded = typename guarded_type<L, Given...>::type;

} // namespace detail

} // namespace klock
