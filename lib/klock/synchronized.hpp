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
 * If readers share the lock, several may read at once:
 *
 *	{
 *		auto seen = routes.lock_shared();	const: nobody writes
 *		return seen->next_hop;
 *	}
 *	routes.with_shared([](const table &t) { return t.next_hop; });
 *
 * The lock is any of klock's. With an irq_lock (irq_lock.hpp), all functions
 * turn interrupts off first, as irq_guard and irq_shared_guard do; with any
 * other, they work as guard and shared_guard. A node or number that the lock
 * needs is an argument, as for a guard: lock(node), try_lock(node),
 * with(f, node), lock_shared(cpu).
 *
 * The result of lock() needs a name: *data.lock() and data.lock()->x do not
 * compile, as the lock would be released before the data are used. A reader's
 * data are const, as far as C++ goes: mutable members are not, nor is the
 * target of a pointer in the data. The data are in this object. A pointer to
 * them that outlives the block is the one mistake that C++'s types cannot
 * refuse. If the lock is checked, with() panics if it returns such a pointer.
 * It does not look into anything else that it returns.
 *                      Checked: unit/synchronized: a pointer into the data
 *
 * Size:        T and the lock, plus padding for alignment; zero bytes: a free
 *              lock, if zero bytes are one, and T of zero bytes
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

/* The guards that take a lock of this type. */
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

template <typename T>
inline constexpr bool is_object_pointer = false;
template <typename T>
inline constexpr bool is_object_pointer<T *> =
	requires(T *at) { static_cast<const volatile void *>(at); };

/* Reports a pointer into the data of a checked lock that with() returns. */
inline void check_outside(const volatile void *pointer, const void *data,
			  usize size, const void *lock, call_site by)
{
	const usize at = reinterpret_cast<usize>(pointer);

	if (at - reinterpret_cast<usize>(data) < size)
		report_misuse("synchronized", lock,
			      misuse_at("with() returns a pointer into the "
					"data, which would be used after the "
					"lock is released",
					by)
				      .c_str());
}

/* A guard that may hold nothing. */
template <typename Guard>
concept asked = requires(const Guard &guard) { static_cast<bool>(guard); };

/* Panics if the caller uses the data of a checked lock's try_lock() without
 * testing whether it has succeeded, or though it has failed. */
template <bool>
struct asked_once {
	template <typename... With>
	explicit asked_once(const With &...)
	{
	}
	void note() const {}
	template <typename Taken>
	void check(const Taken &) const
	{
	}
};
template <>
struct asked_once<true> {
	template <typename At, typename... With>
	explicit asked_once(const At &at, const With &...)
	    : lock(&at.lock), by(at.by)
	{
	}
	void note() const { was = true; }
	template <typename Taken>
	void check(const Taken &taken) const
	{
		if (was && taken)
			return;
		report_misuse(
			"synchronized", lock,
			misuse_at(was ? "data used although try_lock() failed"
				      : "data used without asking whether "
					"try_lock() succeeded",
				  by)
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
	return keeps_call_sites<inside<L>>;
}
/* Used after the error about a guard that cannot be made. */
constexpr bool is_checked_lock(const anything *) { return false; }
template <typename Guard>
using asked_once_of =
	asked_once<asked<Guard> &&
		   is_checked_lock(
			   static_cast<const typename Guard::lock_here *>(
				   nullptr))>;

/* A pointer to the data, with the guard that holds their lock. */
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
		asking.check(taken);
		return data;
	}
	T *operator->() const & { return &**this; }
	/* Deleted: the lock would be released before the data are used. */
	T &operator*() const && = delete;
	T *operator->() const && = delete;

	/* Whether the lock is held, after try_lock(). */
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

	/* Waits for the lock; the result gives access to the data, and releases
	 * the lock at the end of its block. */
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

	/* lock() without waiting: the result must be tested before use. */
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

	/* Calls change(T &) with the lock held; returns its result, a value. */
	template <typename Change>
	[[gnu::always_inline]] auto with(Change &&change,
					 call_site by = caller_site())
		-> decltype(change(*static_cast<T *>(nullptr)))
	{
		return run(change, lock(by), by);
	}
	template <typename Change, typename With>
	[[gnu::always_inline]] auto with(Change &&change, With &&node,
					 call_site by = caller_site())
		-> decltype(change(*static_cast<T *>(nullptr)))
	{
		return run(change, lock(node, by), by);
	}

	/* -- For readers, which share the lock and cannot write -- */

	/*
	 * lock() for a reader. A template, so that the class compiles with a
	 * lock that readers do not share: only the call is an error then.
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

	/* try_lock() for a reader. */
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

	/* Calls look(const T &) as a reader; returns its result, a value. */
	template <typename Look>
	[[gnu::always_inline]] auto with_shared(Look &&look,
						call_site by = caller_site())
		-> decltype(look(*static_cast<const T *>(nullptr)))
	{
		return run(look, lock_shared(by), by);
	}
	template <typename Look, typename With>
	[[gnu::always_inline]] auto with_shared(Look &&look, With &&number,
						call_site by = caller_site())
		-> decltype(look(*static_cast<const T *>(nullptr)))
	{
		return run(look, lock_shared(number, by), by);
	}

	/*
	 * The data without the lock: before other CPUs run, and in a panic's
	 * report, when they have stopped.
	 */
	[[nodiscard]] T &without_lock() { return data; }

	/* For the holder: inheriting_mutex.hpp. A template, as clang would
	 * otherwise instantiate this for each L. */
	template <typename Lock = L>
	[[nodiscard]] bool owner_died() const
		requires requires(const Lock &l) { l.owner_died(); }
	{
		return inner.owner_died();
	}

	/* Names a checked lock (checked_lock.hpp); does nothing for another. */
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
	[[gnu::always_inline]] auto run(Change &change, const Held &now,
					[[maybe_unused]] call_site by)
		-> decltype(change(*now))
	{
		using result = decltype(change(*now));

		static_assert(!detail::is_reference<result>,
			      "with() returns a value: a reference would be "
			      "used after the lock is released");
		if constexpr (detail::is_object_pointer<result> &&
			      detail::keeps_call_sites<detail::inside<L>>) {
			const result found = change(*now);

			detail::check_outside(found, &data, sizeof(T), &inner,
					      by);
			return found;
		} else {
			return change(*now);
		}
	}

	L inner;
	T data = {};
};

} // namespace klock
