/* SPDX-License-Identifier: MIT */
/*
 * taking - how a guard takes a lock, and what it is taken with
 *
 * What a lock is taken with:
 *	plain_lock		nothing
 *	serving_lock		nothing, or a function to call while it waits
 *	cpu_lock		the CPU's number: given, asked of a function, or
 *				of the kernel (klock/os.hpp)
 *	node_lock		a node of the caller's: given, or asked for
 *	stack_node_lock		a node inside the guard, or one of the caller's
 *	to read			nothing; cpu_shared_lock: the CPU's number
 *
 * A function is asked when the guard is made: of an irq_guard, after interrupts
 * went off. What cannot be right is one error, which says what would be.
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

/* L, and what its waiter calls: guard<serving<tas_lock, void (&)()>> */
template <typename L, serves Serve>
	requires serving_lock<detail::inside<L>>
struct serving {
	/* The lock without it. */
	using lock_type = L;
};

namespace detail {

/* The kernel's, of klock/os.hpp: asked where a lock is indexed by CPU. */
extern "C" unsigned klock_os_cpu_id(void);

template <typename>
inline constexpr bool never = false;

struct locking;
struct asking;

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
struct no_argument {
	no_argument() = default;
	template <typename Wrong>
	explicit no_argument(Wrong &)
	{
		static_assert(serves<Wrong>,
			      "this lock takes neither a node nor a number: "
			      "guard held(lock)");
		static_assert(
			!serves<Wrong>,
			"no wait of this lock serves: that of ticket_lock "
			"does, and of those in lib/docs/take-a-lock.md");
	}

	template <typename Verb, typename L>
	[[gnu::always_inline]] auto pass_to(call_site by, L &lock)
	{
		return Verb::call(by, lock);
	}
};

/* For a lock whose wait serves: F, the guard's own, or F &, the caller's. */
template <typename Serve>
struct serve_argument {
	explicit serve_argument(Serve &given)
	    : serve(static_cast<Serve &&>(given))
	{
	}

	template <typename Verb, typename L>
	[[gnu::always_inline]] auto pass_to(call_site by, L &lock)
	{
		static_assert(!same_as<Verb, asking>,
			      "a try does not wait: without serve");
		if constexpr (same_as<Verb, locking>)
			return Verb::call(by, lock, serve);
		else
			return Verb::call(by, lock);
	}

      private:
	[[no_unique_address]] Serve serve;
};

struct cpu_argument {
	cpu_argument() : number(klock_os_cpu_id()) {}
	template <typename Given>
	explicit cpu_argument(Given &given) : number(number_of(given))
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

	unsigned number;
};

/* The caller's node. */
template <typename Node>
struct node_argument {
	template <typename Nothing = Node>
	node_argument() : node(reinterpret_cast<Node &>(*this))
	{
		static_assert(never<Nothing>,
			      "this lock's node must outlive the guard, bring "
			      "one: guard held(lock, node)");
	}
	explicit node_argument(Node &given) : node(given) {}
	template <asks_for_node<Node> Ask>
	explicit node_argument(Ask &ask) : node(ask())
	{
	}
	template <typename Wrong>
	explicit node_argument(Wrong &wrong)
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
struct own_node {
	own_node() = default;
	template <typename Wrong>
	explicit own_node(Wrong &)
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

/* What a reader needs: no lock wants a node of it. */
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

/* The guard's argument, made of what it is given: L, or one of the two above */
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

/* Says that the lock is taken already: guard held(lock, klock::adopt); */
struct adopting {
	explicit constexpr adopting() = default;
};
/* The argument itself. */
inline constexpr adopting adopt{};

namespace detail {

/* A lock and who asks for it: made of the lock, in the caller's own line. */
template <guardable L>
struct lock_and_caller {
	[[gnu::always_inline]] lock_and_caller(L &from,
					       call_site caller = caller_site())
	    : lock(from), by(caller)
	{
	}

	L &lock;
	call_site by;
};

/* How a guard comes by its lock; the third way is adopting. */
struct waiting {};
struct trying {};
struct later {};

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

struct downgrading {
	template <typename L>
	[[gnu::always_inline]] static void call(call_site by, L &lock)
	{
		if constexpr (requires { lock.downgrade(by); })
			lock.downgrade(by);
		else
			lock.downgrade();
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

/* What a guard does with its lock, and what it needs for that. */
struct to_write {
	using take = locking;
	using ask = asking;
	using release = unlocking;
	template <typename L>
	using needs = argument<L>;

	/* Of an irq_lock: one error, and what to write instead. */
	template <typename L, typename Irqs>
	static constexpr bool refuses = irq_only_lock<L> && !Irqs::disables;
	template <typename L, typename How>
	struct refusal {
		static_assert(same_as<How, trying>,
			      "an irq_lock is taken by irq_guard: an interrupt "
			      "handler takes it, too");
		static_assert(same_as<How, waiting>,
			      "an irq_lock is taken by irq_try_guard: an "
			      "interrupt handler takes it, too");
	};
};
struct to_read {
	using take = locking_shared;
	using ask = asking_shared;
	using release = unlocking_shared;
	template <typename L>
	using needs = argument_to_read<L>;

	/* Of a lock without readers, or of an irq_lock. */
	template <typename L, typename Irqs>
	static constexpr bool refuses =
		!shared_lockable<inside<L>> ||
		(irq_only_lock<L> && !interruptible_shared_lock<L> &&
		 !Irqs::disables);
	template <typename L, typename>
	struct refusal {
		static_assert(shared_lockable<inside<L>>,
			      "this lock has no lock_shared(): one alone can "
			      "hold it");
		static_assert(!shared_lockable<inside<L>>,
			      "an irq_lock is read by irq_shared_guard: an "
			      "interrupt handler takes it, too");
	};
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

/* -- The same for a reader that may upgrade: it knows whether it has -- */

struct upgradable_argument {
	template <typename Verb, typename L>
	[[gnu::always_inline]] auto pass_to(call_site by, L &lock)
	{
		return Verb::call(by, lock, writes);
	}

      private:
	bool writes = false;
};

/* A checked lock is told who, as above. */
struct locking_upgradable {
	template <typename L>
	[[gnu::always_inline]] static void call(call_site by, L &lock,
						bool &writes)
	{
		writes = false;
		if constexpr (requires { lock.lock_upgradable(by); })
			lock.lock_upgradable(by);
		else
			lock.lock_upgradable();
	}
};

struct upgrading {
	template <typename L>
	[[gnu::always_inline]] static void call(call_site by, L &lock,
						bool &writes)
	{
		if constexpr (requires { lock.upgrade(by); })
			lock.upgrade(by);
		else
			lock.upgrade();
		writes = true;
	}
};

struct asking_to_upgrade {
	template <typename L>
	[[gnu::always_inline]] static bool call(call_site by, L &lock,
						bool &writes)
	{
		if constexpr (requires { lock.try_upgrade(by); })
			writes = lock.try_upgrade(by);
		else
			writes = lock.try_upgrade();
		return writes;
	}
};

struct unlocking_upgradable {
	template <typename L>
	[[gnu::always_inline]] static void call(call_site by, L &lock,
						bool &writes)
	{
		if (writes)
			unlocking::call(by, lock);
		else if constexpr (requires { lock.unlock_upgradable(by); })
			lock.unlock_upgradable(by);
		else
			lock.unlock_upgradable();
	}
};

struct to_upgrade {
	using take = locking_upgradable;
	using release = unlocking_upgradable;
	template <typename L>
	using needs = upgradable_argument;

	template <typename L, typename Irqs>
	static constexpr bool refuses = !upgradable_lock<inside<L>> ||
					(irq_only_lock<L> && !Irqs::disables);
	template <typename L, typename>
	struct refusal {
		static_assert(upgradable_lock<inside<L>>,
			      "this lock has no lock_upgradable(): its readers "
			      "cannot upgrade");
		static_assert(!upgradable_lock<inside<L>>,
			      "an irq_lock is read by irq_upgradable_guard: an "
			      "interrupt handler takes it, too");
	};
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

/*
 * A lock, what it was taken with, and by whom: inside of each guard
 *
 * The lock is known by a pointer that is null once it is released: no flag, so
 * that a guard that is never released early costs what lock() and unlock()
 * cost, and has the size of what it must remember. A checked lock is told the
 * guard's caller again by unlock(); for any other lock no caller is kept.
 *                      Checked: codegen/guards, unit/guard: sizes
 *
 * Inlined whatever is optimised for: a call_site that is handed on in memory,
 * and a pointer that is tested, cost more than what they surround.
 */
template <typename L, typename Verbs = to_write>
struct taking {
	using lock_type = lock_of<L>;

	/* lock() may throw, in a test's panic: then nothing is released. */
	template <typename... With>
	[[gnu::always_inline]] taking(waiting, lock_and_caller<lock_type> at,
				      With &...given)
	    : held(&at.lock), with(given...)
	{
		take(at);
		known();
	}
	template <typename... With>
	[[gnu::always_inline]] taking(trying, lock_and_caller<lock_type> at,
				      With &...given)
	    : with(given...)
	{
		if (with.template pass_to<typename Verbs::ask>(
			    at.by, opening::inside_of(at.lock)))
			adopt(at);
	}
	template <typename... With>
	[[gnu::always_inline]] taking(adopting, lock_and_caller<lock_type> at,
				      With &...given)
	    : with(given...)
	{
		adopt(at);
	}
	/* Holds nothing until lock(). */
	template <typename... With>
	explicit taking(later, With &...given) : with(given...)
	{
	}
	[[gnu::always_inline]] ~taking()
	{
		if (held != nullptr)
			release(*held, by.get());
	}
	taking(const taking &) = delete;
	taking &operator=(const taking &) = delete;

	void lock(lock_and_caller<lock_type> at)
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

	/* Of what is held, by another verb. */
	template <typename Verb>
	[[gnu::always_inline]] auto change(call_site caller)
	{
		return with.template pass_to<Verb>(caller,
						   opening::inside_of(*held));
	}

	/* For as long as a condition is waited for; what is held then. */
	lock_type *let_go()
	{
		lock_type *const lock = held;

		unlock(by.get());
		return lock;
	}
	void take_back(lock_type &lock) { this->lock({lock, by.get()}); }

      private:
	[[gnu::always_inline]] void take(lock_and_caller<lock_type> at)
	{
		by.keep(at.by);
		with.template pass_to<typename Verbs::take>(
			at.by, opening::inside_of(at.lock));
	}

	[[gnu::always_inline]] void adopt(lock_and_caller<lock_type> at)
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
		if constexpr (irq_only_lock<lock_type> &&
			      requires { lock.check_irqs_off(caller); })
			lock.check_irqs_off(caller);
		with.template pass_to<typename Verbs::release>(
			caller, opening::inside_of(lock));
	}

	/* null: nothing is held */
	lock_type *held = nullptr;
	/* the node, the CPU's number, or nothing */
	[[no_unique_address]] typename Verbs::template needs<L> with;
	[[no_unique_address]] kept_caller<inside<lock_type>> by;
};

/* What a guard does to interrupts: nothing. irq_guard.hpp has the other. */
struct irqs_left {
	static constexpr bool disables = false;

	void restore() {}
	void disable() {}
};

/*
 * And to preemption: nothing. A kernel that preempts its threads has another
 * answer in front of this file (lib/preempted).
 */
struct of_guards;
template <typename>
struct preemption {
	using type = irqs_left;
};

/* Where the lock spins: whoever sleeps is not preempted, but switched. */
template <typename L>
struct left_by_guard : preemption<of_guards> {};
template <typename L>
	requires sleeping<inside<lock_of<L>>>
struct left_by_guard<L> {
	using type = irqs_left;
};
template <typename L>
using left_on = typename left_by_guard<L>::type;

/* Its end is a block's: new is refused. */
struct in_a_block {
	static void *operator new(usize) = delete;
	static void *operator new[](usize) = delete;
};

/*
 * The body of every guard of one lock: a contract, a name and deduction guides
 * are all that each adds.
 */
template <typename L, typename Verbs, typename How, typename Irqs>
struct guard_of : in_a_block {
      private:
	static constexpr bool tries = same_as<How, trying>;
	static constexpr bool writes = same_as<Verbs, to_write>;

      public:
	/* The lock, and the line it is named in. */
	using lock_here = lock_and_caller<lock_of<L>>;

	/* with: nothing, the node, the CPU's number, or a function. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit guard_of(lock_here at, With &&...with)
	    : taken(How{}, at, with...)
	{
		if constexpr (tries)
			if (!taken.is_held())
				irqs.restore();
	}
	/* Nothing is left to try; what interrupts were, it could not know. */
	guard_of(lock_here at, adopting)
		requires(writes && (tries || Irqs::disables)) //
	= delete;
	template <typename With>
		requires(writes && (tries || Irqs::disables)) //
	guard_of(lock_here at, With &&with, adopting) = delete;
	[[gnu::always_inline]] ~guard_of() = default;
	guard_of(const guard_of &) = delete;
	guard_of &operator=(const guard_of &) = delete;

	/* Whether the lock is held. */
	explicit operator bool() const &
		requires tries
	{
		return taken.is_held();
	}
	explicit operator bool() const &&
		requires tries
	= delete;

	/*
	 * Before the block ends; interrupts are then as they were. Does nothing
	 * where it holds nothing. by: the caller, found out by itself.
	 */
	void unlock(call_site by = caller_site())
	{
		if (!taken.is_held())
			return;
		taken.unlock(by);
		irqs.restore();
	}

	/* For condition.hpp: not held, interrupts as they were, until it is
	 * taken back. */
	[[nodiscard]] lock_of<L> *let_go()
	{
		lock_of<L> *const lock = taken.let_go();

		irqs.restore();
		return lock;
	}
	void take_back(lock_of<L> &lock)
	{
		irqs.disable();
		taken.take_back(lock);
	}

      protected:
	bool is_held() const { return taken.is_held(); }
	template <typename Verb>
	[[gnu::always_inline]] auto change(call_site by)
	{
		return taken.template change<Verb>(by);
	}
	template <typename... With>
	[[gnu::always_inline]] guard_of(adopting, lock_here at, With &...with)
	    : taken(adopt, at, with...)
	{
	}

      private:
	/* First: made before the lock is touched, restored when it is free. */
	[[no_unique_address]] Irqs irqs;
	taking<L, Verbs> taken;
};

/* Of a lock that it is not for: the error, and no other. */
template <typename L, typename Verbs, typename How, typename Irqs>
	requires(Verbs::template refuses<lock_of<L>, Irqs>)
struct guard_of<L, Verbs, How, Irqs> {
	using lock_here = lock_and_caller<lock_of<L>>;

	template <typename... Given>
	explicit guard_of(Given &&...)
	{
		(void)sizeof(typename Verbs::template refusal<lock_of<L>, How>);
	}
	explicit operator bool() const;
	void unlock();

      protected:
	bool is_held() const;
	template <typename Verb>
	bool change(call_site);
};

} // namespace detail

/*
 * A lock, and who is said to take it: for a kernel's own function around a
 * guard, which knows its caller. guard held(klock::at(lock, by));
 */
template <detail::guardable L>
[[nodiscard]] detail::lock_and_caller<L> at(L &lock, call_site by)
{
	return {lock, by};
}

} // namespace klock
