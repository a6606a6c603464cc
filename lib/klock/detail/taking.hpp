/* SPDX-License-Identifier: MIT */
/*
 * taking - what a guard brings along to take a lock: a node, a number, nothing
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

/* The kernel's, of klock/os.hpp: asked where a lock is indexed by CPU. */
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
	brought_number() : number(klock_os_cpu_id()) {}
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

/*
 * acquisition - a lock, what it was taken with, and where: inside of each guard
 *
 * What every guard has in common. A kernel includes guard.hpp and its like.
 *
 * The lock is known by a pointer that is null once it is released: no flag, so
 * that a guard that is never released early costs what lock() and unlock()
 * cost, and has the size of what it must remember. A checked lock is told the
 * guard's caller again by unlock(); for any other lock no caller is kept.
 *                      Checked: codegen/guards, unit/guard: sizes
 */

/* Says that the lock is taken already: guard held(lock, klock::adopt); */
struct adopting {
	explicit constexpr adopting() = default;
};
/* The argument itself. */
inline constexpr adopting adopt{};

namespace detail {

/* A lock and who asks for it: made of the lock, in the caller's own line. */
template <guardable L>
struct here {
	[[gnu::always_inline]] here(L &from, call_site caller = caller_site())
	    : lock(from), by(caller)
	{
	}

	L &lock;
	call_site by;
};

/* -- The verbs. A checked lock is told who; the others have no use for it -- */

struct locking {
	template <typename L, typename... With>
	[[gnu::always_inline]] static void call(call_site by, L &lock,
						With &...with)
	{
		if constexpr (requires { lock.lock(with..., by); })
			lock.lock(with..., by);
		else
			lock.lock(with...);
	}
};

struct asking {
	template <typename L, typename... With>
	[[gnu::always_inline]] static bool call(call_site by, L &lock,
						With &...with)
	{
		if constexpr (requires { lock.try_lock(with..., by); })
			return lock.try_lock(with..., by);
		else if constexpr (requires { lock.try_lock(with...); })
			return lock.try_lock(with...);
		else
			static_assert(never<L>, "this lock has no try_lock()");
		return false;
	}
};

struct unlocking {
	template <typename L, typename... With>
	[[gnu::always_inline]] static void call(call_site by, L &lock,
						With &...with)
	{
		if constexpr (requires { lock.unlock(with..., by); })
			lock.unlock(with..., by);
		else
			lock.unlock(with...);
	}
};

/* -- The same for a reader -- */

struct locking_shared {
	template <typename L, typename... With>
	[[gnu::always_inline]] static void call(call_site by, L &lock,
						With &...with)
	{
		if constexpr (requires { lock.lock_shared(with..., by); })
			lock.lock_shared(with..., by);
		else
			lock.lock_shared(with...);
	}
};

struct asking_shared {
	template <typename L, typename... With>
	[[gnu::always_inline]] static bool call(call_site by, L &lock,
						With &...with)
	{
		if constexpr (requires { lock.try_lock_shared(with..., by); })
			return lock.try_lock_shared(with..., by);
		else if constexpr (requires { lock.try_lock_shared(with...); })
			return lock.try_lock_shared(with...);
		else
			static_assert(never<L>,
				      "this lock has no try_lock_shared()");
		return false;
	}
};

struct unlocking_shared {
	template <typename L, typename... With>
	[[gnu::always_inline]] static void call(call_site by, L &lock,
						With &...with)
	{
		if constexpr (requires { lock.unlock_shared(with..., by); })
			lock.unlock_shared(with..., by);
		else
			lock.unlock_shared(with...);
	}
};

/* What a guard does with its lock, and what it brings along for that. */
struct to_write {
	using take = locking;
	using ask = asking;
	using release = unlocking;
	template <typename L>
	using brings = brought<L>;
};
struct to_read {
	using take = locking_shared;
	using ask = asking_shared;
	using release = unlocking_shared;
	template <typename L>
	using brings = brought_to_read<L>;
};

/* A lock whose unlock() asks who called: a checked one. */
template <typename L>
concept asks_who = requires(L &lock, call_site by) {
	lock.unlock(by);
} || requires(L &lock, unsigned cpu, call_site by) {
	lock.unlock(cpu, by);
} || requires(L &lock, typename L::node &node, call_site by) {
	lock.unlock(node, by);
};

/* The guard's caller, where the lock will ask for it. */
template <typename L>
struct kept_caller {
	void keep(call_site) {}
	call_site get() const { return {}; }
};
template <asks_who L>
struct kept_caller<L> {
	void keep(call_site from) { by = from; }
	call_site get() const { return by; }

      private:
	call_site by;
};

/* What only guards may do: reach the lock inside of an irq_lock. */
struct opening {
	template <typename L>
	[[gnu::always_inline]] static L &inside_of(L &lock)
	{
		return lock;
	}
	template <irq_only_lock L>
	[[gnu::always_inline]] static inside<L> &inside_of(L &lock)
	{
		return lock.inner;
	}
};

/* How a guard comes by its lock; the third way is adopting. */
struct waiting {};
struct trying {};
struct later {};

/*
 * Inlined whatever is optimised for: a call_site that is handed on in memory,
 * and a pointer that is tested, cost more than what they surround.
 */
template <typename L, typename Verbs = to_write>
struct acquisition {
	using lock_type = lock_of<L>;

	/* lock() may throw, in a test's panic: then nothing is released. */
	template <typename... With>
	[[gnu::always_inline]] acquisition(waiting, here<lock_type> at,
					   With &...given)
	    : held(&at.lock), with(given...)
	{
		take(at);
		known();
	}
	template <typename... With>
	[[gnu::always_inline]] acquisition(trying, here<lock_type> at,
					   With &...given)
	    : with(given...)
	{
		if (with.template pass_to<typename Verbs::ask>(
			    at.by, opening::inside_of(at.lock)))
			adopt(at);
	}
	template <typename... With>
	[[gnu::always_inline]] acquisition(adopting, here<lock_type> at,
					   With &...given)
	    : with(given...)
	{
		adopt(at);
	}
	/* Holds nothing until lock(). */
	template <typename... With>
	explicit acquisition(later, With &...given) : with(given...)
	{
	}
	[[gnu::always_inline]] ~acquisition()
	{
		if (held != nullptr)
			release(*held, by.get());
	}
	acquisition(const acquisition &) = delete;
	acquisition &operator=(const acquisition &) = delete;

	void lock(here<lock_type> at)
	{
		take(at);
		held = &at.lock;
	}

	/* Where it holds nothing, does nothing. */
	[[gnu::always_inline]] void unlock(call_site caller)
	{
		lock_type *const lock = held;

		if (lock == nullptr)
			return;
		held = nullptr;
		release(*lock, caller);
	}

	bool is_held() const { return held != nullptr; }

      private:
	[[gnu::always_inline]] void take(here<lock_type> at)
	{
		by.keep(at.by);
		with.template pass_to<typename Verbs::take>(
			at.by, opening::inside_of(at.lock));
	}

	[[gnu::always_inline]] void adopt(here<lock_type> at)
	{
		by.keep(at.by);
		held = &at.lock;
		known();
	}

	/* Not null: said, as a kernel's flags may let an object lie there. */
	[[gnu::always_inline]] void known() const
	{
		if (held == nullptr)
			__builtin_unreachable();
	}

	[[gnu::always_inline]] void release(lock_type &lock, call_site caller)
	{
		with.template pass_to<typename Verbs::release>(
			caller, opening::inside_of(lock));
	}

	/* null: nothing is held */
	lock_type *held = nullptr;
	/* the node, the CPU's number, or nothing */
	[[no_unique_address]] typename Verbs::template brings<L> with;
	[[no_unique_address]] kept_caller<inside<lock_type>> by;
};

} // namespace detail

/*
 * A lock, and who is said to take it: for a kernel's own function around a
 * guard, which knows its caller. guard held(klock::at(lock, by));
 */
template <detail::guardable L>
[[nodiscard]] detail::here<L> at(L &lock, call_site by)
{
	return {lock, by};
}

} // namespace klock
