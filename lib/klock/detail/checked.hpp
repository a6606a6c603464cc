/* SPDX-License-Identifier: MIT */
/*
 * checked - a lock and what is known of its use: inside of checked_lock
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/detail/usage.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * checked_parts - the types that checked_lock is put together with
 */

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

template <typename T>
struct seq_lock;

namespace detail {
template <typename>
inline constexpr bool is_seq_lock = false;
template <typename T>
inline constexpr bool is_seq_lock<seq_lock<T>> = true;

template <typename L>
concept checkable = any_lock<L> || is_seq_lock<L> || sleeping<L>;
/* Nobody holds it. */
template <typename L>
concept awaited = sleeping<L> && !any_lock<L>;
} // namespace detail

/* With no name, one at run time (set_name), or one in its type. */
template <detail::checkable L, lock_name... Name>
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

/*
 * checked_calls - what is asked of any lock and known by a checked one
 *
 * Part of <klock/checked_lock.hpp>, and of <klock/counted_lock.hpp>, which has
 * a name as well: include those. The same line compiles with checks and
 * without, where it does nothing.
 */

/*
 * Names a lock at run time, before others use it; the name must live as long.
 * With a number it is an element of an array: "runqueue[3]". Any lock, one in
 * an irq_lock too: one that is not checked has no name, and this does nothing.
 */
template <typename L>
	requires any_lock<detail::inside<L>>
void set_name(L &lock, const char *name)
{
	if constexpr (requires { lock.set_name(name); })
		lock.set_name(name);
}
template <typename L>
	requires any_lock<detail::inside<L>>
void set_name(L &lock, const char *name, u32 element)
{
	if constexpr (requires { lock.set_name(name, element); })
		lock.set_name(name, element);
}

/*
 * A panic unless the caller holds the lock; of a lock that is not checked
 * nobody knows, and this does nothing. In any context.
 */
template <typename L>
	requires any_lock<detail::inside<L>>
void assert_held(const L &lock, call_site by = caller_site())
{
	if constexpr (requires { lock.assert_held(by); })
		lock.assert_held(by);
}

} // namespace klock

namespace klock::detail {

/* What each verb does before and after that of the lock inside. */
template <any_lock L>
struct checked_core {
	using lent_node = typename nodes_of<L>::lent_type;
	using shared = detail::shared_usage_for<L>;

	/* Reads that nest are as many as they like. */
	static constexpr u64 room_for_reads =
		shared::nests ? ~u32{0} : shared::readers;

	constexpr checked_core() = default;
	template <typename... From>
	constexpr explicit checked_core(const char *name, From... from)
	    : usage(name), inner(from...)
	{
	}

	/* What lock() and unlock() must have in common. */
	static usize key(unsigned number) { return number; }
	static usize key(const lent_node &with)
	{
		return reinterpret_cast<usize>(&with);
	}

	template <typename With, typename Lock>
	void take(With &&with, call_site by, Lock lock_inner)
	{
		check_context(by);
		check_may_sleep(by);
		if (readers.is_mine())
			usage.complain("upgrade: the caller reads it", by);
		usage.before_wait(by);
		const held_place mine = is_wanted(by);
		usage.count_in(L::max_contenders, by);
		lend(with, by);
		lock_inner();
		is_writer(key(with), by);
		is_held(mine);
	}

	template <typename With, typename Try>
	bool try_take(With &&with, call_site by, Try try_inner)
	{
		check_context(by);
		if (!usage.before_try_lock(L::max_contenders, by))
			return false;
		return taken_or_not(with, by, is_tried(by), try_inner);
	}

	/* Waits by tries, and may give up. */
	template <typename With, typename Again, typename Try>
	bool ask_inner(With &&with, call_site by, Again again, Try try_inner)
	{
		check_context(by);
		const held_place mine = is_wanted(by);

		if (again([&] {
			    return usage.before_try_lock(L::max_contenders, by);
		    }))
			return taken_or_not(with, by, mine,
					    [&] { return again(try_inner); });
		is_gone(mine);
		return false;
	}

	/* Waits, and may give up. */
	template <typename With, typename Try>
	bool take_until(With &&with, call_site by, Try try_inner)
	{
		check_context(by);
		check_may_sleep(by);
		usage.before_wait(by);
		const held_place mine = is_wanted(by);
		usage.count_in(L::max_contenders, by);
		return taken_or_not(with, by, mine, try_inner);
	}

	template <typename With, typename Try>
	bool taken_or_not(With &with, call_site by, held_place mine,
			  Try try_inner)
	{
		lend(with, by);
		if (try_inner()) {
			is_writer(key(with), by);
			is_held(mine);
			return true;
		}
		give_back(with);
		usage.count_out();
		is_gone(mine);
		return false;
	}

	/* After unlock_inner() the lock may be gone. */
	template <typename With, typename Unlock>
	void release(With &&with, call_site by, Unlock unlock_inner)
	{
		usage.before_unlock(key(with), by);
		const held_place mine = is_leaving();
		unlock_inner();
		give_back(with);
		is_gone(mine);
	}

	void check_context(call_site by) const
	{
		if constexpr (thread_only_lock<L>)
			usage.before_taken_in_thread(by);
	}

	/* As the lock inside, and with a node of this CPU's. */
	void lock_from(unsigned cpu, call_site by = caller_site())
		requires per_cpu_lock<L>
	{
		if (check_node(cpu, by))
			take(0u, by, [&] { inner.lock_from(cpu); });
	}

	void check_may_sleep(call_site by) const
	{
		if constexpr (sleeping<L>)
			usage.before_sleep(by);
	}

	/* -- What would touch memory that is not the lock's: false, also where
	 * others have reported before. -- */

	/* Who is about to wait with what its CPU has. */
	bool check_node(unsigned cpu, call_site by) const
	{
		const bool right = L::has_node(cpu);

		if (!right)
			usage.complain("a CPU number beyond capacity, or more "
				       "waits at once than a CPU has nodes",
				       by);
		return right;
	}

	bool check_number(unsigned number, call_site by) const
	{
		return is_below(L::max_contenders, number, by);
	}

	bool check_reader(unsigned number, call_site by) const
	{
		return is_below(shared::readers, number, by);
	}

	bool is_below(u64 limit, unsigned number, call_site by) const
	{
		if (number >= limit)
			usage.complain("a CPU number beyond capacity", by);
		return number < limit;
	}

	void is_writer(usize with, call_site by)
	{
		if (readers.is_read())
			usage.complain("a reader is in: the lock is broken",
				       by);
		usage.after_lock(with, by, cpu_lock<L>);
	}

	template <typename Lock>
	void read(unsigned number, call_site by, Lock lock_inner)
	{
		check_context(by);
		check_may_sleep(by);
		check_read_number(number, by);
		usage.before_wait(by, !shared::nests);
		if (!shared::nests && readers.is_mine())
			usage.complain("read recursion: the caller reads it",
				       by);
		const held_place mine = is_wanted(by, true);
		if constexpr (shared::contends)
			usage.count_in(L::max_contenders, by);
		else
			count_reader_in(by);
		lock_inner();
		is_reader(number);
		is_held(mine);
	}

	/* waits: until a deadline. */
	template <typename Try>
	bool try_read(unsigned number, call_site by, Try try_inner,
		      bool waits = false)
	{
		check_context(by);
		if (waits)
			check_may_sleep(by);
		check_read_number(number, by);
		if (cpu_shared_lock<L> && current_context() == context::nmi)
			usage.complain("read in an NMI handler, where this "
				       "lock is not read",
				       by);
		if constexpr (shared::contends) {
			if (!usage.before_try_lock(L::max_contenders, by,
						   !shared::nests))
				return false;
		} else {
			usage.before_try(by, !shared::nests);
			count_reader_in(by);
		}
		const held_place mine =
			waits ? is_wanted(by, true) : is_tried(by, true);
		if (!try_inner()) {
			count_reader_out();
			is_gone(mine);
			return false;
		}
		is_reader(number);
		is_held(mine);
		return true;
	}

	void count_reader_in(call_site by)
	{
		if (!readers.count_in(room_for_reads))
			usage.complain("more readers than its capacity", by);
	}

	void count_reader_out()
	{
		if constexpr (shared::contends)
			usage.count_out();
		else
			readers.count_out();
	}

	void is_reader(unsigned number)
	{
		if constexpr (shared::contends)
			usage.is_read();
		readers.note(number);
	}

	/* After unlock_inner() the lock may be gone. */
	template <typename Unlock>
	void release_shared(unsigned number, call_site by, Unlock unlock_inner)
	{
		if (const char *const wrong = readers.forget(number))
			usage.complain(wrong, by);
		count_reader_out();
		usage.before_try(by, !shared::nests);
		const held_place mine = is_leaving();
		unlock_inner();
		is_gone(mine);
	}

	/* -- Its place among other locks: lock_order.hpp, where there is one -
	 */

	held_place is_wanted(call_site by, bool reads = false,
			     bool takes = true) const
	{
		lock_order *const order = kernel_lock_order();

		if (!order)
			return {};
		wanted_lock want = wanted(by, reads);
		want.looks = !takes;
		return order->on_wait(*order, want);
	}

	held_place is_tried(call_site by, bool reads = false) const
	{
		lock_order *const order = kernel_lock_order();

		return order ? order->on_try(*order, wanted(by, reads))
			     : held_place{};
	}

	static void is_held(held_place mine)
	{
		if (mine.at)
			kernel_lock_order()->on_taken(mine);
	}

	/* Its release begins; it may be gone with that. */
	held_place is_leaving() const
	{
		lock_order *const order = kernel_lock_order();

		return order ? order->on_leave(*order, &usage) : held_place{};
	}

	/* Released, or not taken. */
	static void is_gone(held_place mine)
	{
		if (mine.at)
			kernel_lock_order()->on_gone(mine);
	}

	wanted_lock wanted(call_site by, bool reads) const
	{
		const lock_label label = usage.label();

		if constexpr (requires { requires L::is_gate; })
			return {&usage,
				{label.name, lock_label::gate},
				by,
				reads,
				shared::nests};
		else
			return {&usage, label,	       by,
				reads,	shared::nests, sleeping<L>};
	}

	/* What is taken in it is taken behind `lower`, by address. */
	template <typename Take>
	void after_lower(const void *lower, Take take_it) const
	{
		lock_order *const order = kernel_lock_order();

		if (!order)
			return take_it();
		const address_pair before = order->on_pair(
			*order, {reinterpret_cast<usize>(lower),
				 reinterpret_cast<usize>(&usage)});
		take_it();
		(void)order->on_pair(*order, before);
	}

	/* The number of a reader is that of one CPU. */
	void check_read_number([[maybe_unused]] unsigned number,
			       [[maybe_unused]] call_site by) const
	{
		if constexpr (cpu_shared_lock<L>)
			if (readers.is_of_another(number))
				usage.complain("a number that another CPU "
					       "reads under",
					       by);
	}

	void lend(unsigned, call_site) {}
	void lend(const lent_node &with, call_site by)
	{
		if (!nodes_in_use.lend(&with))
			usage.complain("a node that is in use already", by);
	}

	void give_back(unsigned) {}
	void give_back(const lent_node &with) { nodes_in_use.give_back(&with); }

	/* -- Of a counted lock inside: counted_lock.hpp; else nothing -- */

	void list_counts()
	{
		if constexpr (requires { inner.list_counts(); })
			inner.list_counts();
	}
	void forget_counts()
	{
		if constexpr (requires { inner.forget_counts(); })
			inner.forget_counts();
	}
	template <typename... Element>
	void name_it(const char *name, Element... element)
	{
		usage.set_name(name, element...);
		if constexpr (requires { inner.set_name(name, element...); })
			inner.set_name(name, element...);
	}

	/* What is known of its use; first, so that its address is the lock's */
	lock_usage usage;
	[[no_unique_address]] typename shared::type readers;
	L inner;
};

} // namespace klock::detail
