/* SPDX-License-Identifier: MIT */
/*
 * synchronized - data that can be reached only while their lock is held
 *
 *	constinit klock::synchronized<table, klock::ticket_lock<klock::u8>>
 *		processes;
 *
 *	processes.with([&](table &t) { t.add(p); });
 *
 *	{
 *		auto held = processes.lock();	until the end of the block
 *		held->add(p);
 *		held->sort();
 *	}
 *
 *	if (auto held = processes.try_lock())
 *		held->add(p);
 *
 * Of a lock that readers share, several may look at once:
 *
 *	{
 *		auto seen = routes.lock_shared();	const: nobody writes
 *		return seen->next_hop;
 *	}
 *	routes.with_shared([](const table &t) { return t.next_hop; });
 *
 * The lock is any of klock's. Of an irq_lock (irq_lock.hpp) all turn
 * interrupts off first, as irq_guard and irq_shared_guard do; of any other they
 * are as guard and shared_guard. A lock that wants a node or a number is given
 * it, as guard: lock(node), try_lock(node), with(f, node), lock_shared(cpu).
 *
 * What is held has a name, and keeps it: *data.lock() and data.lock()->x do not
 * compile, as both would be free again before what they return is used. What is
 * read is const as far as C++ goes: not what is declared mutable, nor what a
 * pointer in the data points to. The data live in this object; a pointer to
 * them that outlives the block is the one mistake that no type of C++ can
 * refuse.
 *
 * Size:        T and the lock, no byte more but what aligns them; zero bytes: a
 *              free lock, where it has that, and T of zero bytes
 *                                      Checked: unit/synchronized: sizes
 * Context:     that of the lock inside.
 * Cost:        that of guard or irq_guard: no instruction is added
 *                                      Checked: codegen/guards
 */
#pragma once

#include <klock/shared_guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/guard.hpp>
#include <klock/detail/text.hpp>
#include <klock/os.hpp>

namespace klock {

namespace detail {

/* How a lock of this type is taken. */
template <typename L, typename... With>
struct guards_of {
	using wait = guard<guarded<L, With...>>;
	using attempt = try_guard<guarded<L, With...>>;
	using read = shared_guard<L>;
	using read_attempt = shared_try_guard<L>;
};
template <irq_only_lock L, typename... With>
struct guards_of<L, With...> {
	using wait = irq_guard<guarded<L, With...>>;
	using attempt = irq_try_guard<guarded<L, With...>>;
	using read = irq_shared_guard<L>;
	using read_attempt = irq_shared_try_guard<L>;
};

template <typename T>
inline constexpr bool is_reference = false;
template <typename T>
inline constexpr bool is_reference<T &> = true;
template <typename T>
inline constexpr bool is_reference<T &&> = true;

/* A guard that may hold nothing. */
template <typename Guard>
concept asked = requires(const Guard &guard) { static_cast<bool>(guard); };

/* Whether a checked lock's try was asked: it may have failed. */
template <bool>
struct asked_once {
	template <typename... With>
	explicit asked_once(const With &...)
	{
	}
	void note() const {}
	void check() const {}
};
template <>
struct asked_once<true> {
	template <typename At, typename... With>
	explicit asked_once(const At &at, const With &...)
	    : lock(&at.lock), by(at.by)
	{
	}
	void note() const { was = true; }
	void check() const
	{
		if (!was)
			panic("synchronized", lock, cpu_id(),
			      bounded_text<160>()
				      .add("try_lock() that nobody asked "
					   "whether it holds; at ")
				      .add(by)
				      .c_str());
	}

      private:
	const void *lock;
	call_site by;
	mutable bool was = false;
};
template <typename L>
constexpr bool is_checked_lock(const lock_and_caller<L> *)
{
	return asks_who<inside<L>>;
}
template <typename Guard>
using asked_once_of =
	asked_once<asked<Guard> &&
		   is_checked_lock(
			   static_cast<const typename Guard::lock_here *>(
				   nullptr))>;

/* The data, as long as the guard inside holds their lock. */
template <typename T, typename Guard>
struct [[nodiscard(
	"what is held without a name is released at once")]] held_data
    : in_a_block {
	template <typename... With>
	[[gnu::always_inline]] held_data(T &of, With &&...with)
	    : data(of), taken(with...), asking(with...)
	{
	}
	[[gnu::always_inline]] ~held_data() = default;
	held_data(const held_data &) = delete;
	held_data &operator=(const held_data &) = delete;

	T &operator*() const &
	{
		asking.check();
		return data;
	}
	T *operator->() const & { return &**this; }
	/* Released before what these return is used. */
	T &operator*() const && = delete;
	T *operator->() const && = delete;

	/* Whether the lock is held: of try_lock(). */
	explicit operator bool() const &
		requires asked<Guard>
	{
		asking.note();
		return static_cast<bool>(taken);
	}
	explicit operator bool() const && = delete;

      private:
	T &data;
	Guard taken;
	[[no_unique_address]] asked_once_of<Guard> asking;
};

} // namespace detail

template <typename T, detail::guardable L>
struct synchronized {
	constexpr synchronized() = default;

	/* The arguments are those of the data; the lock is free. */
	template <typename First, typename... Rest>
		requires requires(First first, Rest... rest) {
			T{first, rest...};
		}
	constexpr explicit synchronized(First first, Rest... rest)
	    : data{first, rest...}
	{
	}
	synchronized(const synchronized &) = delete;
	synchronized &operator=(const synchronized &) = delete;

	/* Waits; then auto held = .. is the data, and releases at its end. */
	[[gnu::always_inline]] auto lock(call_site by = caller_site())
	{
		return held<>(data, at(inner, by));
	}
	template <typename With>
	[[gnu::always_inline]] auto lock(With &&with,
					 call_site by = caller_site())
	{
		return held<With &>(data, at(inner, by), with);
	}

	/* The same without waiting: ask it whether it holds anything. */
	[[gnu::always_inline]] auto try_lock(call_site by = caller_site())
	{
		return tried<>(data, at(inner, by));
	}
	template <typename With>
	[[gnu::always_inline]] auto try_lock(With &&with,
					     call_site by = caller_site())
	{
		return tried<With &>(data, at(inner, by), with);
	}

	/* change(T &) with the lock held; returns what it returns, a value. */
	template <typename Change>
	[[gnu::always_inline]] auto with(Change &&change,
					 call_site by = caller_site())
		-> decltype(change(*static_cast<T *>(nullptr)))
	{
		return run(change, lock(by));
	}
	template <typename Change, typename With>
	[[gnu::always_inline]] auto with(Change &&change, With &&node,
					 call_site by = caller_site())
		-> decltype(change(*static_cast<T *>(nullptr)))
	{
		return run(change, lock(node, by));
	}

	/* -- To read: with others, and nothing can be written -- */

	/*
	 * As lock(), of a lock that readers share. A template, so that the type
	 * is whole with any other lock; of that, only the call is an error.
	 */
	template <typename Of = L>
	[[gnu::always_inline]] auto lock_shared(call_site by = caller_site())
	{
		return seen<Of>(data, at(inner, by));
	}
	template <typename With>
	[[gnu::always_inline]] auto lock_shared(With &&with,
						call_site by = caller_site())
	{
		return seen<L>(data, at(inner, by), with);
	}

	/* As try_lock(). */
	template <typename Of = L>
	[[gnu::always_inline]] auto
	try_lock_shared(call_site by = caller_site())
	{
		return tried_to_see<Of>(data, at(inner, by));
	}
	template <typename With>
	[[gnu::always_inline]] auto
	try_lock_shared(With &&with, call_site by = caller_site())
	{
		return tried_to_see<L>(data, at(inner, by), with);
	}

	/* look(const T &) among readers; returns what it returns, a value. */
	template <typename Look>
	[[gnu::always_inline]] auto with_shared(Look &&look,
						call_site by = caller_site())
		-> decltype(look(*static_cast<const T *>(nullptr)))
	{
		return run(look, lock_shared(by));
	}
	template <typename Look, typename With>
	[[gnu::always_inline]] auto with_shared(Look &&look, With &&number,
						call_site by = caller_site())
		-> decltype(look(*static_cast<const T *>(nullptr)))
	{
		return run(look, lock_shared(number, by));
	}

	/*
	 * For who is alone: before other CPUs run, and in a panic's report,
	 * when they run no more.
	 */
	[[nodiscard]] T &without_lock() { return data; }

	/* Of a checked lock: its name (checked_lock.hpp); else nothing. */
	template <typename... Name>
	void set_name(Name... name)
	{
		if constexpr (requires { inner.set_name(name...); })
			inner.set_name(name...);
	}

      private:
	template <typename... With>
	using held =
		detail::held_data<T,
				  typename detail::guards_of<L, With...>::wait>;
	template <typename... With>
	using tried = detail::held_data<
		T, typename detail::guards_of<L, With...>::attempt>;
	template <typename Of>
	using seen = detail::held_data<const T,
				       typename detail::guards_of<Of>::read>;
	template <typename Of>
	using tried_to_see =
		detail::held_data<const T,
				  typename detail::guards_of<Of>::read_attempt>;

	template <typename Change, typename Held>
	[[gnu::always_inline]] static auto run(Change &change, const Held &now)
		-> decltype(change(*now))
	{
		static_assert(!detail::is_reference<decltype(change(*now))>,
			      "with() returns a value: a reference would be "
			      "used after the lock is released");
		return change(*now);
	}

	L inner;
	T data = {};
};

} // namespace klock
