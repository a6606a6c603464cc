/* SPDX-License-Identifier: MIT */
/*
 * checked_lock - any lock; each misuse of it is a panic instead of a hang
 *
 * Algorithm:   Wraps a lock. Notes its holder, the line that took it, how many
 *              contend, and the contexts in which it was waited for. A misuse
 *              calls klock_os_panic with the lock's name, the CPU, the holder
 *              and both call sites.
 * Source:      the idea of Linux's lockdep-design document: what matters is not
 *              that a deadlock happened but that it could. Order between locks:
 *              lock_order.hpp, if the kernel has one.
 * Use when:    in debug builds, around any other lock: checked_if<debug, L> is
 *              L itself if debug is false, and has L's members if it is true.
 *              All files of a program must see the same `debug` for one lock:
 *              the linker does not notice a difference.
 * Size:        before the lock inside, 96 bytes on 64 bits, 68 on 32 bits:
 *              detail/checked.hpp; first a pointer to the name.
 *              checked_if<false, L>: none. Two tables for all locks: 12 KiB,
 *              on 32 bits 7; a third for inheriting mutexes: 2.5 KiB, or 1.5
 *                                      Checked: unit/checked_lock: sizes
 * Zero bytes:  free and unnamed, where the lock inside is free when zero
 *                                      Checked: unit/checked_lock: zero bytes
 * Lifetime:    that of the lock inside: its release is unlock's last access
 *                              Checked: unit/checked_lock: unlock() writes,
 *                              unit/checked_lock: unlock() reads
 * Fairness:    that of the lock inside
 *                              Checked: unit/checked_lock: the lock inside
 * Capacity:    that of the lock inside; one contender more is a panic before
 *              the lock is touched. If the lock is full and its holder is
 *              already releasing, lock() waits for that, and try_lock()
 *              returns false.
 *                              Checked: unit/checked_lock: one more contender,
 *                              model/checked_lock: one more contender
 * Context:     that of the lock inside, and no other: see Misuse. The kernel
 *              supplies the functions of klock/os.hpp.
 * Assumes:     what the lock inside assumes, and an atomic add on 32 bits
 *
 * State (usage.arrivals, usage.departures):  (a, d leaving) --lock-->
 *              (a+1, d leaving) --taken--> (a+1, d inside) --unlock-->
 *              (a+1, d+1 leaving); a - d contend
 *
 * Ordering:    none of its own between holders: the holder writes, and the lock
 *              orders its writes. A CPU that asks whether it is the holder
 *              reads what it wrote itself. An arrival is ordered behind those
 *              before it: detail/checked.hpp.
 *                              Checked: unit/checked_lock: real threads,
 *                              model/checked_lock: the orders of its arrivals
 *
 * Misuse that ends in a panic:
 *	recursion	lock() by its holder; read() in a seq_lock's update()
 *	stray unlock	of a lock that is free, or that another holds; to a
 *			handler, the thread that it interrupted is another
 *	capacity	more contenders at once than max_contenders
 *	interrupts on	the lock is held or waited for with interrupts on in
 *			one place, and waited for by an interrupt handler in
 *			another, at any time: the handler would wait for the
 *			code that it interrupted. Also if that code is itself a
 *			handler, with interrupts on
 *	NMI		lock() in an NMI handler: only try_lock() is safe there;
 *			any use of a lock whose waiters sleep (mutex.hpp and the
 *			like), because of its inner lock
 *	sleep		a wait for such a lock in a handler, with interrupts off
 *			or with a checked spin lock held; more units than Most;
 *			a completion's reset() while a thread waits; a
 *			condition's sleep() without prepare(), or in another
 *			thread; a second prepare(); a predicate, look, change or
 *			klock_os_unpark() that uses the lock which called it
 *	handler		lock() or try_lock() of a thread_lock (irq_lock.hpp) in
 *			an interrupt or NMI handler
 *	number		not below max_contenders; in use already: another CPU
 *			waits or holds under it; unlock() with another than
 *			lock()'s
 *	no node		lock() of a queued_lock by a CPU without one left
 *	node		unlock() with another than lock()'s; a node that is lent
 *			already, to any checked lock (detail/owners.hpp)
 *	two holders	the lock inside is broken, or one number has two CPUs
 *	not held	assert_held() by another than the holder
 *	overwritten	the lock's memory: by the next verb, whoever calls it.
 *			Zero bytes, a lock made anew and an older copy look like
 *			a free lock, and let the next one in. With a lock order,
 *			the next writer finds it, but not of a copy. Then, and
 *			without an order if the lock spins, a release finds it,
 *			the first holder's, too. The report has no word out of
 *			the lock: its name and its holder are those that were
 *			noted apart from it. If the first pointer alone is
 *			overwritten, that is not found
 *	irq_lock's section	interrupts were turned on in it
 *	reader's number	of another CPU, which reads under it; unlock_shared()
 *			with another than lock_shared()'s
 *	read recursion	lock_shared() by a reader, where reads do not nest
 *	upgrade		lock() or upgrade() by a reader; upgrade() by another
 *			than the upgradable reader; unlock() by that one
 *	read in NMI	reading, even by try, a lock that must not be read from
 *			an NMI handler
 *	order		of several locks: lock_order.hpp, in a kernel with
 *			klock_os_lock_order()
 * Stray unlock, capacity, interrupts on, handler and number are checked for
 * readers as for writers. Readers and writers count together if both have one
 * capacity (readers_contend). If more than eight readers are inside at once,
 * recursion, upgrade and a stray unlock_shared() may not be found
 * (detail/owners.hpp). A lock that a thread takes and a handler releases, by
 * design, cannot be checked. After the first panic nothing more is reported:
 * os.hpp, checks_off.
 *
 * The holder of a spin lock is the CPU, and that of a lock whose waiters sleep
 * is the thread; with klock_os_owner_id(), the result of that for both. A
 * kernel must define it if it preempts or moves threads while they hold spin
 * locks. If one thread takes a lock and the next releases it, call
 * handed_over() (order_calls.hpp). If klock_os_context() can only answer
 * `thread`, "NMI" and "interrupts on" are never reported, and a handler that
 * waits for a lock *held* by the code that it interrupted is reported as
 * "recursion". Interrupts that are on inside a critical section and off at both
 * of its ends are not noticed.
 *
 * Cost:        uncontended: the lock inside and one RMW, without a lock order
 *              one more of a spin lock; checked_if<false, L>: nothing
 *                          Checked: unit/checked_lock: costs nothing when off
 */
#pragma once

#include <klock/detail/checked.hpp>
#include <klock/detail/checked_event.hpp>
#include <klock/detail/verbs.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>

namespace klock {

/*
 * The base of a checked L of any name: the type of a function's parameter that
 * takes all of them.
 */
template <any_lock L>
struct checked_lock<L> : detail::nodes_of<L>,
			 detail::constants_of<L>,
			 detail::reader_constants_of<L>,
			 detail::contends_of<L>,
			 detail::sleeps_of<L>,
			 detail::recursive_of<L>,
			 detail::threads_of<L>,
			 detail::cpus_of<L>,
			 detail::verbs_of<checked_lock<L>, L, call_site>,
			 private detail::checked_core<L> {
	static_assert(!detail::notes_times<L>,
		      "timed_lock<checked_lock<L>, maxima>: inside of it, each "
		      "line is that of checks");

      private:
	using lent_node = typename detail::nodes_of<L>::lent_type;
	using core = detail::checked_core<L>;
	using core::ask_inner, core::check_node, core::check_number,
		core::check_reader, core::read, core::release, core::lock_inner,
		core::release_shared, core::take, core::take_until,
		core::take_until_told, core::try_read, core::try_take;
	using core::inner, core::readers, core::usage;
	using typename core::may_upgrade;

      public:
	using core::forget_counts, core::list_counts;
	/* This name and these checks around another lock type. */
	template <any_lock Other>
	using like = checked_lock<Other>;
	/* For pair_guard. */
	using core::after_lower;
	static constexpr u64 max_contenders = L::max_contenders;

	constexpr checked_lock() = default;
	checked_lock(const checked_lock &) = delete;
	checked_lock &operator=(const checked_lock &) = delete;

	/* The arguments are those of the lock inside. */
	template <typename First, typename... Rest>
		requires detail::made_of<L, First, Rest...>
	constexpr explicit checked_lock(First first, Rest... rest)
	    : core(detail::named{}, first, rest...)
	{
	}

	/* For try_lock_until.hpp: tries again and again, as one wait. */
	template <typename Again>
	[[nodiscard]] bool ask(Again again, call_site by)
		requires try_plain_lock<L>
	{
		if (this->takes_again(by))
			return inner.try_lock();
		return ask_inner(0u, by, again,
				 [this] { return inner.try_lock(); });
	}
	template <typename Again>
	[[nodiscard]] bool ask(Again again, lent_node &with, call_site by)
		requires try_node_lock<L>
	{
		return ask_inner(with, by, again,
				 [&] { return inner.try_lock(with); });
	}

	/* Sets the pause for each waiter ahead. */
	template <typename Counter>
		requires requires(Counter ahead) { L::turns_for(ahead, u32{}); }
	static constexpr u32 turns_for(Counter ahead, u32 base)
	{
		return L::turns_for(ahead, base);
	}

	/* -- Members of checked locks alone; detail/checked.hpp has functions
	 * for any lock -- */

	/* Whether the caller holds it, or the code that it has interrupted.
	 * Exact: nobody else can change that. */
	[[nodiscard]] bool is_held_by_me() const { return this->is_mine(); }

	/* Called by an irq_lock's guard, at its end. */
	void check_irqs_off(call_site by) const { usage.check_irqs_off(by); }
	void assert_held(call_site by = caller_site()) const
	{
		detail::checked_core<L>::assert_held(by);
	}

	/* Called by handed_over(): order_calls.hpp. */
	void note_handed_over(call_site by)
	{
		usage.check_memory(by, sleeping<L>);
		if constexpr (sleeping<L>)
			usage.note_handed_over(by, readers.is_read());
		else
			take_over(usage, by, readers.is_read());
	}

	/* Called by a guard that is used while it holds nothing. */
	static void complain_of_guard(const char *what, call_site by)
	{
		detail::complain_of_guard("guard", what, by);
	}

	void set_name(const char *name) { this->name_it(name); }
	void set_name(const char *name, u32 element)
	{
		this->name_it(name, element);
	}

	/* klock::named(). */
	template <typename... From>
	constexpr explicit checked_lock(detail::named of, From... from)
	    : core(of, from...)
	{
	}

      private:
	using effect = detail::effect;
	friend typename checked_lock::verbs_of;
	friend typename checked_lock::questions_of;

	/* -- Verbs of the lock inside; with: their arguments -- */

	template <detail::does<effect::takes> Verb, typename... With>
	void pass(Verb verb, call_site by, With &...with)
	{
		if (!check_own(by, with...))
			return;
		if (this->takes_again(by))
			return verb.call(inner, with...);
		take(own(with...), by, [&] { lock_inner(verb, by, with...); });
	}
	/* serve() is called once before the wait, too, so that the order learns
	 * what it takes. */
	template <serves Serve>
	void pass(detail::verb::lock verb, call_site by, Serve &serve)
		requires serving_lock<L>
	{
		if (this->takes_again(by))
			return verb.call(inner, serve);
		take(0u, by, [&] {
			if (kernel_lock_order())
				serve();
			verb.call(inner, serve);
		});
	}
	void pass(detail::verb::lock, call_site by)
		requires per_cpu_lock<L>
	{
		pass(detail::verb::lock_from{}, by, cpu_id());
	}
	void pass(detail::verb::lock_from verb, call_site by, unsigned cpu)
		requires per_cpu_lock<L>
	{
		if (check_node(cpu, by))
			take(0u, by, [&] { verb.call(inner, cpu); });
	}

	template <detail::does<effect::tries> Verb, typename... With>
	bool pass(Verb verb, call_site by, With &...with)
	{
		const auto once = [&] { return verb.call(inner, with...); };

		if (this->takes_again(by))
			return once();
		return check_own(by, with...) &&
		       try_take(own(with...), by, once);
	}

	template <detail::does<effect::takes_until> Verb, typename... With>
	bool pass(Verb verb, call_site by, With &...with)
	{
		const auto wait = [&] { return verb.call(inner, with...); };

		if (this->takes_again(by))
			return wait();
		return check_own(by, with...) &&
		       take_until(own(with...), by, wait);
	}
	template <typename... With>
	wait_result pass(detail::verb::lock_until verb, call_site by,
			 With &...with)
	{
		const auto wait = [&] { return verb.call(inner, with...); };

		return this->takes_again(by) ? wait()
					     : take_until_told(by, wait);
	}
	/* link() is told of the checked mutexes. */
	template <typename Link>
	wait_result pass(detail::verb::lock_until verb, call_site by,
			 u64 &deadline, Link &link)
	{
		auto outer = detail::wanted_mutex::with_outer(link, by);
		const auto wait = [&] {
			return verb.call(inner, deadline, outer);
		};

		return this->takes_again(by) ? wait()
					     : take_until_told(by, wait);
	}

	template <detail::does<effect::releases> Verb, typename... With>
	void pass(Verb verb, call_site by, With &...with)
	{
		if (this->stays_held())
			return verb.call(inner, with...);
		if (check_own(by, with...))
			release(own(with...), by,
				[&] { verb.call(inner, with...); });
	}
	template <detail::does<effect::downgrades> Verb>
	void pass(Verb verb, call_site by)
	{
		this->check_context(by);
		this->before_leaving(0u, by, "downgrade()");
		if constexpr (core::shared::contends)
			usage.note_downgraded();
		else
			this->count_reader_in(by);
		this->note_reader(0u, by);
		this->note_mode(by, true);
		this->over_inner(by, [&] { verb.call(inner); });
	}

	template <detail::does<effect::reads> Verb, typename... Number>
	void pass(Verb verb, call_site by, Number... number)
	{
		if (check_own_read(by, number...))
			read(own_read(number...), by,
			     [&] { verb.call(inner, number...); });
	}
	template <detail::does<effect::tries_to_read> Verb, typename... Number>
	bool pass(Verb verb, call_site by, Number... number)
	{
		return check_own_read(by, number...) &&
		       try_read(own_read(number...), by,
				[&] { return verb.call(inner, number...); });
	}
	template <detail::does<effect::reads_until> Verb, typename... With>
	bool pass(Verb verb, call_site by, With &...with)
	{
		const auto wait = [&] { return verb.call(inner, with...); };

		this->check_read_recursion(by);
		return try_read(0u, by, wait, true);
	}
	template <detail::does<effect::stops_reading> Verb, typename... Number>
	void pass(Verb verb, call_site by, Number... number)
	{
		if (check_own_read(by, number...))
			release_shared(own_read(number...), by,
				       [&] { verb.call(inner, number...); });
	}

	template <detail::does<effect::reads_to_upgrade> Verb>
	void pass(Verb, call_site by)
	{
		this->take_upgradable(by);
	}
	template <detail::does<effect::tries_to_read_to_upgrade> Verb>
	bool pass(Verb, call_site by)
	{
		return this->try_take_upgradable(by);
	}
	template <detail::does<effect::upgrades> Verb>
	void pass(Verb verb, call_site by)
	{
		this->upgrade_by(by, [&] { return verb.call(inner), true; });
	}
	template <detail::does<effect::tries_to_upgrade> Verb>
	bool pass(Verb verb, call_site by)
	{
		return this->upgrade_by(by, [&] { return verb.call(inner); });
	}
	template <detail::does<effect::stops_reading_to_upgrade> Verb>
	void pass(Verb verb, call_site by)
	{
		release(may_upgrade{}, by, [&] {
			usage.count_out();
			verb.call(inner);
		});
	}

	template <detail::does<effect::asks> Verb, typename... With>
	auto pass(Verb verb, call_site by, With &...with) const
	{
		using result = decltype(verb.call(inner, with...));

		if constexpr (sizeof...(With) > 0)
			if (!check_own(by, with...))
				return result();
		return verb.call(inner, with...);
	}
	template <detail::does<effect::sets> Verb, typename... With>
	void pass(Verb verb, call_site, With &...with)
	{
		verb.call(inner, with...);
	}

	/* The argument of a verb that L uses: the node, the number, or none. */
	template <typename... With>
	static decltype(auto) own(With &...with)
	{
		if constexpr (node_lock<L>)
			return detail::first_of(with...);
		else if constexpr (cpu_lock<L>)
			return static_cast<unsigned>(detail::first_of(with...));
		else
			return 0u;
	}
	template <typename... With>
	bool check_own(call_site by, With &...with) const
	{
		if constexpr (cpu_lock<L>)
			return check_number(own(with...), by);
		else
			return true;
	}
	/* A reader's number, or none. */
	static unsigned own_read() { return 0; }
	static unsigned own_read(unsigned number) { return number; }
	static bool check_own_read(call_site) { return true; }
	bool check_own_read(call_site by, unsigned number) const
	{
		return check_reader(number, by);
	}
};

template <any_lock L, lock_name Name>
struct checked_lock<L, Name> : checked_lock<L> {
	template <any_lock Other>
	using like = checked_lock<Other, Name>;

	constexpr checked_lock() : checked_lock<L>(detail::named{Name}) {}

	static void complain_of_guard(const char *what, call_site by)
	{
		detail::complain_of_guard(Name.chars, what, by);
	}

	/* The arguments are those of the lock inside. */
	template <typename First, typename... Rest>
		requires detail::made_of<L, First, Rest...>
	constexpr explicit checked_lock(First first, Rest... rest)
	    : checked_lock<L>(detail::named{Name}, first, rest...)
	{
	}
};

namespace detail {
/* A seq_lock as a lock, which its writers take. */
template <typename T>
struct seq_writers : seq_lock<T> {
	static constexpr u64 max_contenders = ~u64{0};
	using seq_lock<T>::seq_lock;
	using seq_lock<T>::value;

	void lock() { began = this->begin(); }
	void unlock() { this->end(began); }

      private:
	u32 began = 0;
};
} // namespace detail

/*
 * A checked seq_lock (seq_lock.hpp). Writers are checked as those of any lock.
 * A reader holds nothing, but waits for the writer: for ever if that is the
 * reader itself, or waits for a lock that the reader holds.
 */
template <typename T, lock_name... Name>
struct checked_lock<seq_lock<T>, Name...> {
	constexpr checked_lock() : core(name()) {}
	constexpr explicit checked_lock(const T &first) : core(name(), first) {}
	constexpr checked_lock(const T &first, u32 writes)
	    : core(name(), first, writes)
	{
	}

	[[nodiscard]] T read(call_site by = caller_site()) const
	{
		core.usage.check_memory(by, false);
		core.usage.before_wait(by, true, false);
		const noted_place mine = core.note_wanted(by, true, false);
		const T seen = core.inner.read();

		note_gone(mine);
		return seen;
	}
	[[nodiscard]] bool try_read(T &to) const
	{
		return core.inner.try_read(to);
	}
	void write(const T &v, call_site by = caller_site())
	{
		core.take(0u, by, [this] { core.inner.lock(); });
		core.inner.value.store_relaxed(v);
		core.release(0u, by, [this] { core.inner.unlock(); });
	}
	template <typename Change>
	void update(Change change, call_site by = caller_site())
	{
		core.take(0u, by, [this] { core.inner.lock(); });
		T v = core.inner.value.load_relaxed();

		change(v);
		core.inner.value.store_relaxed(v);
		core.release(0u, by, [this] { core.inner.unlock(); });
	}
	[[nodiscard]] bool is_locked() const { return core.inner.is_locked(); }

      private:
	static constexpr detail::named name()
	{
		return detail::name_in<Name...>();
	}

	/* mutable: readers are noted in it. */
	mutable detail::checked_core<detail::seq_writers<T>> core;
};

/*
 * checked_lock<L, Name> if Checks, as in a debug build; else L itself, without
 * a byte or an instruction more. The name may be left out.
 *
 *	constinit klock::checked_if<debug, klock::ticket_lock<klock::u8>,
 *				    "runqueue"> lock;
 *
 * A parameter of type checked_if<debug, L> & takes any of them, whatever its
 * name.
 */
template <bool Checks, detail::checkable L, lock_name... Name>
using checked_if =
	typename detail::chosen<Checks, L, checked_lock<L, Name...>>::type;

/*
 * Constructs a free lock with a name that is not in its type, before any code
 * runs; without checks, the name is dropped. The text must live as long as the
 * lock. Takes any lock, also one in an irq_lock, and a semaphore, completion,
 * condition or wait_queue; behind the name, what it is made of.
 *
 *	constinit auto pipe_lock =
 *		klock::named<klock::checked_if<debug, klock::tas_lock>>("pipe");
 */
template <typename L, typename... From>
	requires(any_lock<detail::inside<L>> || sleeping<L>)
[[nodiscard]] constexpr L named([[maybe_unused]] const char *name, From... from)
{
	if constexpr (requires { L(detail::named{name}, from...); })
		return L(detail::named{name}, from...);
	else
		return L(from...);
}

} // namespace klock
