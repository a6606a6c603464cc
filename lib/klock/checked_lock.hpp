/* SPDX-License-Identifier: MIT */
/*
 * checked_lock - any lock, with every misuse of it named instead of hung
 *
 * Algorithm:   Wraps a lock. Notes who holds it, since which line, how many
 *              contend, and in which contexts it was taken; whoever breaks a
 *              rule gets klock_os_panic with the lock's name, the CPU, the
 *              holder and both call sites.
 * Source:      the idea of Linux's lockdep-design document: what matters is
 *              not that a deadlock happened but that it could; we differ: one
 *              lock at a time, no order between locks.
 * Use when:    in debug builds, around any other lock: checked_if<debug, L> is
 *              L itself where debug is false
 * Size:        56 bytes more on 64 bits, 32 on 32 bits; checked_if<false, L>:
 *              none                    Checked: unit/checked_lock: sizes
 * Fairness:    that of the lock inside
 *                              Checked: unit/checked_lock: the lock inside
 * Capacity:    that of the lock inside; one contender more is a panic before
 *              the lock is touched
 *                              Checked: unit/checked_lock: one more contender
 * Context:     that of the lock inside, and no other: see Misuse. The kernel
 *              supplies all three functions of klock/os.hpp.
 * Assumes:     what the lock inside assumes, and an atomic add on 32 bits
 *
 * State (usage.holder):  0 free --lock--> CPU + 1 --unlock--> 0
 *
 * Ordering:    none of its own: who holds the lock writes, and the lock orders
 *              that. A CPU that asks whether it is the holder itself reads
 *              what it wrote itself.
 *                              Checked: unit/checked_lock: real threads
 *
 * Misuse that ends in a panic:
 *	recursion	lock() on the CPU that holds it
 *	stray unlock	of a lock that is free, or that another CPU holds
 *	crowd		more contenders at once than max_contenders
 *	interrupts on	held with interrupts on here, and waited for in an
 *			interrupt handler there, now or ever: the handler would
 *			wait for the code that it interrupted
 *	NMI		lock() in an NMI handler: only try_lock() is safe there
 *	number		a CPU number that is not below max_contenders
 * A lock that one CPU takes and another releases, by design, cannot be checked.
 *
 * Cost:        uncontended: the lock inside and 2 RMWs; checked_if<false, L>:
 *              nothing     Checked: unit/checked_lock: costs nothing when off
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/lock_usage.hpp>

namespace klock {

/* A lock's name, as a template argument: it costs no byte of the lock. */
template <usize Size>
struct lock_name {
	char chars[Size];

	consteval lock_name(const char (&from)[Size])
	{
		for (usize i = 0; i < Size; i++)
			chars[i] = from[i];
	}
};

namespace detail {
struct no_node {};

template <typename L>
struct node_of {
	using type = no_node;
};
template <node_lock L>
struct node_of<L> {
	using type = typename L::node;
};
} // namespace detail

template <any_lock L, lock_name Name = "lock">
struct checked_lock {
	using node = typename detail::node_of<L>::type;
	static constexpr u64 max_contenders = L::max_contenders;
	static constexpr bool node_may_live_on_stack = stack_node_lock<L>;

	constexpr checked_lock() = default;

	/* What the lock inside is made of. */
	template <typename First, typename... Rest>
	constexpr explicit checked_lock(First first, Rest... rest)
	    : inner(first, rest...)
	{
	}

	/* -- As the lock inside; by: the caller, found out by itself -- */

	void lock(call_site by = {__builtin_FILE(),
				  __builtin_LINE()}) requires plain_lock<L>
	{
		take(by);
	}
	void lock(node &with,
		  call_site by = {__builtin_FILE(),
				  __builtin_LINE()}) requires node_lock<L>
	{
		take(by, with);
	}
	void lock(unsigned number,
		  call_site by = {__builtin_FILE(),
				  __builtin_LINE()}) requires cpu_lock<L>
	{
		check_number(number, by);
		take(by, number);
	}

	[[nodiscard]] bool
	try_lock(call_site by = {__builtin_FILE(),
				 __builtin_LINE()}) requires try_plain_lock<L>
	{
		return try_take(by);
	}
	[[nodiscard]] bool
	try_lock(node &with,
		 call_site by = {__builtin_FILE(),
				 __builtin_LINE()}) requires try_node_lock<L>
	{
		return try_take(by, with);
	}
	[[nodiscard]] bool
	try_lock(unsigned number,
		 call_site by = {__builtin_FILE(),
				 __builtin_LINE()}) requires try_cpu_lock<L>
	{
		check_number(number, by);
		return try_take(by, number);
	}

	void unlock(call_site by = {__builtin_FILE(),
				    __builtin_LINE()}) requires plain_lock<L>
	{
		leave(by);
	}
	void unlock(node &with,
		    call_site by = {__builtin_FILE(),
				    __builtin_LINE()}) requires node_lock<L>
	{
		leave(by, with);
	}
	void unlock(unsigned number,
		    call_site by = {__builtin_FILE(),
				    __builtin_LINE()}) requires cpu_lock<L>
	{
		leave(by, number);
	}

	/* Whether somebody holds it: a hint, old when it arrives. */
	[[nodiscard]] bool is_locked() const { return usage.is_held(); }

      private:
	static constexpr lock_usage::facts facts = {Name.chars, max_contenders};

	template <typename... With>
	void take(call_site by, With &...with)
	{
		usage.before_lock(facts, by);
		inner.lock(with...);
		usage.after_lock(facts, by);
	}

	template <typename... With>
	bool try_take(call_site by, With &...with)
	{
		usage.before_try_lock(facts, by);
		if (!inner.try_lock(with...)) {
			usage.gone();
			return false;
		}
		usage.after_lock(facts, by);
		return true;
	}

	template <typename... With>
	void leave(call_site by, With &...with)
	{
		usage.before_unlock(facts, by);
		inner.unlock(with...);
		usage.gone();
	}

	void check_number(unsigned number, call_site by)
	{
		if (number >= max_contenders)
			usage.complain(facts, "a CPU number beyond capacity",
				       by);
	}

	/* What is known of its use; first, so that its address is the lock's */
	lock_usage usage;
	L inner;
};

namespace detail {
template <bool Checks, any_lock L, lock_name Name>
struct checked_or_not {
	using type = L;
};
template <any_lock L, lock_name Name>
struct checked_or_not<true, L, Name> {
	using type = checked_lock<L, Name>;
};
} // namespace detail

/*
 * checked_lock<L, Name> in a debug build, L itself in any other: the same
 * type, not a byte and not an instruction more.
 *
 *	constinit klock::checked_if<debug, klock::ticket_lock<klock::u8>,
 *				    "runqueue"> lock;
 */
template <bool Checks, any_lock L, lock_name Name = "lock">
using checked_if = typename detail::checked_or_not<Checks, L, Name>::type;

} // namespace klock
