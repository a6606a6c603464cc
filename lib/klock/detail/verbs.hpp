/* SPDX-License-Identifier: MIT */
/*
 * verbs - the list of what can be done with a lock
 *
 * A verb is a row in namespace verb, which says what it does to the lock's
 * state and calls it, and a member of verbs_of, which has its arguments and its
 * result. A wrapper has the members of all rows from verbs_of, and a function
 * for all of them:
 *
 *	template <typename L>
 *	struct wrapper : verbs_of<wrapper<L>, L> {
 *		template <typename Verb, typename... With>
 *		decltype(auto) pass(Verb verb, no_site, With &...with)
 *		{
 *			return verb.call(inner, with...);
 *		}
 *		L inner;
 *	};
 *
 * It has the verbs that L has. If it acts on some alone, it overloads pass() by
 * what they do: does<Verb, effect::takes>.
 *
 * To add a verb: a row and a member here. tests_host/embed/verbs.py says which
 * wrapper lacks it, makes C's headers of this list and of the kinds of lock in
 * lib/c/klock/verbs.h, and shows it in lib/docs/verbs.md.
 *
 * The verbs of semaphore, completion, condition and wait_queue are no rows. Of
 * their two wrappers, in checked_event.hpp, one checks each verb in another
 * way: rows would be more lines than the functions of the other.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/types.hpp>

namespace klock {

/* os.hpp defines it. */
enum class wait_result : int;

} // namespace klock

namespace klock::detail {

/* A verb's effect on the lock's state. */
enum class effect : u8 {
	/* the caller becomes the writer: waits; tries once; tries until a
	 * deadline */
	takes,
	tries,
	takes_until,
	/* the writer holds nothing any more, or becomes a reader */
	releases,
	downgrades,
	/* the caller becomes a reader: in the same three ways */
	reads,
	tries_to_read,
	reads_until,
	stops_reading,
	/* the caller becomes the upgradable reader; that one becomes the
	 * writer */
	reads_to_upgrade,
	tries_to_read_to_upgrade,
	stops_reading_to_upgrade,
	upgrades,
	tries_to_upgrade,
	/* none: it is a question */
	asks,
	/* none: it changes how others wait */
	sets,
};

template <effect Does>
struct row {
	static constexpr effect does = Does;
};

/*
 * The rows. Those without a result are inlined whatever is optimised for, as
 * guards are, which call them. Not the others: GCC would lay out a counted
 * lock's try in another way.
 */
namespace verb {

/* -- A writer -- */

struct lock : row<effect::takes> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.lock(with...); }
	{
		lock.lock(with...);
	}
};
struct lock_from : row<effect::takes> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.lock_from(with...); }
	{
		lock.lock_from(with...);
	}
};
struct lock_paced : row<effect::takes> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.lock_paced(with...); }
	{
		lock.lock_paced(with...);
	}
};
struct try_lock : row<effect::tries> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_lock(with...); }
	{
		return lock.try_lock(with...);
	}
};
struct try_lock_until : row<effect::takes_until> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_lock_until(with...); }
	{
		return lock.try_lock_until(with...);
	}
};
struct try_lock_for : row<effect::takes_until> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_lock_for(with...); }
	{
		return lock.try_lock_for(with...);
	}
};
struct lock_until : row<effect::takes_until> {
	static wait_result call(auto &lock, auto &...with)
		requires requires { lock.lock_until(with...); }
	{
		return lock.lock_until(with...);
	}
};
struct unlock : row<effect::releases> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.unlock(with...); }
	{
		lock.unlock(with...);
	}
};
struct downgrade : row<effect::downgrades> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.downgrade(with...); }
	{
		lock.downgrade(with...);
	}
};

/* -- Readers -- */

struct lock_shared : row<effect::reads> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.lock_shared(with...); }
	{
		lock.lock_shared(with...);
	}
};
struct try_lock_shared : row<effect::tries_to_read> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_lock_shared(with...); }
	{
		return lock.try_lock_shared(with...);
	}
};
struct try_lock_shared_until : row<effect::reads_until> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_lock_shared_until(with...); }
	{
		return lock.try_lock_shared_until(with...);
	}
};
struct try_lock_shared_for : row<effect::reads_until> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_lock_shared_for(with...); }
	{
		return lock.try_lock_shared_for(with...);
	}
};
struct unlock_shared : row<effect::stops_reading> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.unlock_shared(with...); }
	{
		lock.unlock_shared(with...);
	}
};

/* -- One reader at a time that may write -- */

struct lock_upgradable : row<effect::reads_to_upgrade> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.lock_upgradable(with...); }
	{
		lock.lock_upgradable(with...);
	}
};
struct try_lock_upgradable : row<effect::tries_to_read_to_upgrade> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_lock_upgradable(with...); }
	{
		return lock.try_lock_upgradable(with...);
	}
};
struct unlock_upgradable : row<effect::stops_reading_to_upgrade> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.unlock_upgradable(with...); }
	{
		lock.unlock_upgradable(with...);
	}
};
struct upgrade : row<effect::upgrades> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.upgrade(with...); }
	{
		lock.upgrade(with...);
	}
};
struct try_upgrade : row<effect::tries_to_upgrade> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_upgrade(with...); }
	{
		return lock.try_upgrade(with...);
	}
};

/* -- Readers in a handler: irq_shared_lock.hpp -- */

struct lock_in_handler : row<effect::reads> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.lock_in_handler(with...); }
	{
		lock.lock_in_handler(with...);
	}
};
struct try_lock_in_handler : row<effect::tries_to_read> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.try_lock_in_handler(with...); }
	{
		return lock.try_lock_in_handler(with...);
	}
};
struct unlock_in_handler : row<effect::stops_reading> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.unlock_in_handler(with...); }
	{
		lock.unlock_in_handler(with...);
	}
};

/* -- Questions, whose answers are hints -- */

struct is_locked : row<effect::asks> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.is_locked(with...); }
	{
		return lock.is_locked(with...);
	}
};
struct is_contended : row<effect::asks> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.is_contended(with...); }
	{
		return lock.is_contended(with...);
	}
};
struct is_queued : row<effect::asks> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.is_queued(with...); }
	{
		return lock.is_queued(with...);
	}
};
struct owner_died : row<effect::asks> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.owner_died(with...); }
	{
		return lock.owner_died(with...);
	}
};
struct is_owned_by_me : row<effect::asks> {
	static bool call(auto &lock, auto &...with)
		requires requires { lock.is_owned_by_me(with...); }
	{
		return lock.is_owned_by_me(with...);
	}
};
struct depth : row<effect::asks> {
	static u32 call(auto &lock, auto &...with)
		requires requires { lock.depth(with...); }
	{
		return lock.depth(with...);
	}
};

/* -- Besides -- */

struct await_left : row<effect::asks> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.await_left(with...); }
	{
		lock.await_left(with...);
	}
};
struct set_base : row<effect::sets> {
	[[gnu::always_inline]] static void call(auto &lock, auto &...with)
		requires requires { lock.set_base(with...); }
	{
		lock.set_base(with...);
	}
};

} // namespace verb

/* Whether L has the verb, with these arguments. */
template <typename Verb, typename L, typename... With>
concept offers =
	requires(L &lock, With &...with) { Verb::call(lock, with...); };

/* Its effect is one of these. */
template <typename Verb, effect... Any>
concept does = ((Verb::does == Any) || ...);

/* A function, or a node that outlives the call. */
template <typename With, typename L>
concept by_reference = !requires(With &with, void take(unsigned)) {
	take(with);
} && !requires { requires same_as<With, typename L::node>; };

/* A wrapper of L hands the verb on: Which::has<Verb>. */
template <typename Which, typename Verb, typename L, typename... With>
concept handed_on = Which::template has<Verb> && offers<Verb, L, With...>;

struct every_verb {
	template <typename>
	static constexpr bool has = true;
};

/* Stands for a call site in a wrapper that needs none. */
struct no_site {
	constexpr no_site(const char *, int) {}
};

/* Guards' way to the lock inside of a wrapper: taking.hpp. */
struct opening;

/* The base of a wrapper that contains its lock. */
template <typename Self>
struct nothing_below {};

/*
 * The questions of Self, a wrapper of L: the verbs that leave the lock's state
 * alone, whose answers are hints. An irq_lock has these and no others. See
 * verbs_of.
 */
template <typename Self, typename L, typename Site = no_site,
	  typename Which = every_verb, typename Base = nothing_below<Self>>
struct questions_of : Base {
	using Base::Base;
	constexpr questions_of() = default;

	/* Whether it is held. */
	[[nodiscard]] bool is_locked(Site by = caller_site<Site>()) const
		requires handed_on<Which, verb::is_locked, const L>
	{
		return self().pass(verb::is_locked{}, by);
	}
	/*
	 * Whether somebody waits behind the holder. with: the holder's node, or
	 * a CPU's number.
	 */
	[[nodiscard]] bool is_contended(Site by = caller_site<Site>()) const
		requires handed_on<Which, verb::is_contended, const L>
	{
		return self().pass(verb::is_contended{}, by);
	}
	[[nodiscard]] bool is_contended(unsigned cpu,
					Site by = caller_site<Site>()) const
		requires handed_on<Which, verb::is_contended, const L, unsigned>
	{
		return self().pass(verb::is_contended{}, by, cpu);
	}
	template <by_reference<L> With>
		requires handed_on<Which, verb::is_contended, const L, With>
	[[nodiscard]] bool is_contended(With &&with,
					Site by = caller_site<Site>()) const
	{
		return self().pass(verb::is_contended{}, by, with);
	}
	/* Whether that CPU waits or holds. */
	[[nodiscard]] bool is_queued(unsigned cpu,
				     Site by = caller_site<Site>()) const
		requires handed_on<Which, verb::is_queued, const L, unsigned>
	{
		return self().pass(verb::is_queued{}, by, cpu);
	}
	/* For the holder: whether it got the lock from a thread that ended. */
	[[nodiscard]] bool owner_died(Site by = caller_site<Site>()) const
		requires handed_on<Which, verb::owner_died, const L>
	{
		return self().pass(verb::owner_died{}, by);
	}
	/* Whether the calling thread is the owner. */
	[[nodiscard]] bool is_owned_by_me(Site by = caller_site<Site>()) const
		requires handed_on<Which, verb::is_owned_by_me, const L>
	{
		return self().pass(verb::is_owned_by_me{}, by);
	}
	/* How often the caller has taken it, less how often it has released
	 * it. */
	[[nodiscard]] u32 depth(Site by = caller_site<Site>()) const
		requires handed_on<Which, verb::depth, const L>
	{
		return self().pass(verb::depth{}, by);
	}
	/* Waits until that CPU has left its unlock(). */
	void await_left(unsigned cpu, Site by = caller_site<Site>()) const
		requires handed_on<Which, verb::await_left, const L, unsigned>
	{
		self().pass(verb::await_left{}, by, cpu);
	}

      private:
	const Self &self() const { return static_cast<const Self &>(*this); }
};

/*
 * The members of Self, a wrapper of L: each calls self().pass(verb, by,
 * arguments...). Site: call_site, if the wrapper wants to know its caller's
 * line. Which: the verbs that it hands on. Base: L, if the wrapper is derived
 * from its lock.
 */
template <typename Self, typename L, typename Site = no_site,
	  typename Which = every_verb, typename Base = nothing_below<Self>>
struct verbs_of : questions_of<Self, L, Site, Which, Base> {
	using verbs_of::questions_of::questions_of;
	constexpr verbs_of() = default;

	/* -- A writer -- */

	/*
	 * Waits until the caller is the holder. with: its node, its CPU's
	 * number, or a function to call while it waits.
	 */
	void lock(Site by = caller_site<Site>())
		requires handed_on<Which, verb::lock, L>
	{
		self().pass(verb::lock{}, by);
	}
	void lock(unsigned cpu, Site by = caller_site<Site>())
		requires handed_on<Which, verb::lock, L, unsigned>
	{
		self().pass(verb::lock{}, by, cpu);
	}
	template <by_reference<L> With>
		requires handed_on<Which, verb::lock, L, With>
	void lock(With &&with, Site by = caller_site<Site>())
	{
		self().pass(verb::lock{}, by, with);
	}
	/* Waits with a node of this CPU. */
	void lock_from(unsigned cpu, Site by = caller_site<Site>())
		requires handed_on<Which, verb::lock_from, L, unsigned>
	{
		self().pass(verb::lock_from{}, by, cpu);
	}
	/* Waits, and pauses as pace() says. */
	template <by_reference<L> With>
		requires handed_on<Which, verb::lock_paced, L, With>
	void lock_paced(With &&pace, Site by = caller_site<Site>())
	{
		self().pass(verb::lock_paced{}, by, pace);
	}
	/* Takes the lock if it is free; never waits. */
	[[nodiscard]] bool try_lock(Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock, L>
	{
		return self().pass(verb::try_lock{}, by);
	}
	[[nodiscard]] bool try_lock(unsigned cpu, Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock, L, unsigned>
	{
		return self().pass(verb::try_lock{}, by, cpu);
	}
	template <by_reference<L> With>
		requires handed_on<Which, verb::try_lock, L, With>
	[[nodiscard]] bool try_lock(With &&with, Site by = caller_site<Site>())
	{
		return self().pass(verb::try_lock{}, by, with);
	}
	/* Waits in the queue until a deadline. */
	[[nodiscard]] bool try_lock_until(u64 deadline,
					  Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_until, L, u64>
	{
		return self().pass(verb::try_lock_until{}, by, deadline);
	}
	[[nodiscard]] bool try_lock_until(unsigned cpu, u64 deadline,
					  Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_until, L, unsigned,
				   u64>
	{
		return self().pass(verb::try_lock_until{}, by, cpu, deadline);
	}
	/* Waits for that many cycles from now. */
	[[nodiscard]] bool try_lock_for(u64 how_long,
					Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_for, L, u64>
	{
		return self().pass(verb::try_lock_for{}, by, how_long);
	}
	[[nodiscard]] bool try_lock_for(unsigned cpu, u64 how_long,
					Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_for, L, unsigned, u64>
	{
		return self().pass(verb::try_lock_for{}, by, cpu, how_long);
	}
	/* Deleted: the deadline and the number in the other order. */
	template <same_as<u64> Time, same_as<unsigned> Cpu>
		requires handed_on<Which, verb::try_lock_until, L, unsigned,
				   u64>
	bool try_lock_until(Time deadline, Cpu cpu) = delete;
	template <same_as<u64> Time, same_as<unsigned> Cpu>
		requires handed_on<Which, verb::try_lock_for, L, unsigned, u64>
	bool try_lock_for(Time how_long, Cpu cpu) = delete;
	/*
	 * Waits, and returns why the wait ended. If the wait is refused, link()
	 * is called for each link of the chain.
	 */
	[[nodiscard]] wait_result lock_until(u64 deadline,
					     Site by = caller_site<Site>())
		requires handed_on<Which, verb::lock_until, L, u64>
	{
		return self().pass(verb::lock_until{}, by, deadline);
	}
	template <by_reference<L> With>
		requires handed_on<Which, verb::lock_until, L, u64, With>
	[[nodiscard]] wait_result lock_until(u64 deadline, With &&link,
					     Site by = caller_site<Site>())
	{
		return self().pass(verb::lock_until{}, by, deadline, link);
	}
	/* Called by the holder. */
	void unlock(Site by = caller_site<Site>())
		requires handed_on<Which, verb::unlock, L>
	{
		self().pass(verb::unlock{}, by);
	}
	void unlock(unsigned cpu, Site by = caller_site<Site>())
		requires handed_on<Which, verb::unlock, L, unsigned>
	{
		self().pass(verb::unlock{}, by, cpu);
	}
	template <by_reference<L> With>
		requires handed_on<Which, verb::unlock, L, With>
	void unlock(With &&with, Site by = caller_site<Site>())
	{
		self().pass(verb::unlock{}, by, with);
	}
	/* Makes the writer a reader; no writer comes between. */
	void downgrade(Site by = caller_site<Site>())
		requires handed_on<Which, verb::downgrade, L>
	{
		self().pass(verb::downgrade{}, by);
	}

	/* -- Readers -- */

	/* Waits for writers. */
	void lock_shared(Site by = caller_site<Site>())
		requires handed_on<Which, verb::lock_shared, L>
	{
		self().pass(verb::lock_shared{}, by);
	}
	void lock_shared(unsigned cpu, Site by = caller_site<Site>())
		requires handed_on<Which, verb::lock_shared, L, unsigned>
	{
		self().pass(verb::lock_shared{}, by, cpu);
	}
	/* Reads if no writer holds it or waits; never waits. */
	[[nodiscard]] bool try_lock_shared(Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_shared, L>
	{
		return self().pass(verb::try_lock_shared{}, by);
	}
	[[nodiscard]] bool try_lock_shared(unsigned cpu,
					   Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_shared, L, unsigned>
	{
		return self().pass(verb::try_lock_shared{}, by, cpu);
	}
	/* Waits for writers until a deadline. */
	[[nodiscard]] bool try_lock_shared_until(u64 deadline,
						 Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_shared_until, L, u64>
	{
		return self().pass(verb::try_lock_shared_until{}, by, deadline);
	}
	/* Waits for that many cycles from now. */
	[[nodiscard]] bool try_lock_shared_for(u64 how_long,
					       Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_shared_for, L, u64>
	{
		return self().pass(verb::try_lock_shared_for{}, by, how_long);
	}
	/* Called by a reader. */
	void unlock_shared(Site by = caller_site<Site>())
		requires handed_on<Which, verb::unlock_shared, L>
	{
		self().pass(verb::unlock_shared{}, by);
	}
	void unlock_shared(unsigned cpu, Site by = caller_site<Site>())
		requires handed_on<Which, verb::unlock_shared, L, unsigned>
	{
		self().pass(verb::unlock_shared{}, by, cpu);
	}

	/* -- One reader at a time that may write -- */

	/* Waits for writers, and for another upgradable reader. */
	void lock_upgradable(Site by = caller_site<Site>())
		requires handed_on<Which, verb::lock_upgradable, L>
	{
		self().pass(verb::lock_upgradable{}, by);
	}
	/* Becomes the upgradable reader if no writer and no other one holds it
	 * or waits; never waits. */
	[[nodiscard]] bool try_lock_upgradable(Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_upgradable, L>
	{
		return self().pass(verb::try_lock_upgradable{}, by);
	}
	/* Called by the upgradable reader, if it has not upgraded. */
	void unlock_upgradable(Site by = caller_site<Site>())
		requires handed_on<Which, verb::unlock_upgradable, L>
	{
		self().pass(verb::unlock_upgradable{}, by);
	}
	/* Waits for the readers inside, and becomes the writer. */
	void upgrade(Site by = caller_site<Site>())
		requires handed_on<Which, verb::upgrade, L>
	{
		self().pass(verb::upgrade{}, by);
	}
	/* Becomes the writer if no reader is inside; never waits. */
	[[nodiscard]] bool try_upgrade(Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_upgrade, L>
	{
		return self().pass(verb::try_upgrade{}, by);
	}

	/* -- Readers in a handler: irq_shared_lock.hpp -- */

	/* Waits for the writer that is inside. */
	void lock_in_handler(Site by = caller_site<Site>())
		requires handed_on<Which, verb::lock_in_handler, L>
	{
		self().pass(verb::lock_in_handler{}, by);
	}
	/* Reads if no writer is inside; never waits. */
	[[nodiscard]] bool try_lock_in_handler(Site by = caller_site<Site>())
		requires handed_on<Which, verb::try_lock_in_handler, L>
	{
		return self().pass(verb::try_lock_in_handler{}, by);
	}
	/* Called by a handler that reads. */
	void unlock_in_handler(Site by = caller_site<Site>())
		requires handed_on<Which, verb::unlock_in_handler, L>
	{
		self().pass(verb::unlock_in_handler{}, by);
	}

	/* -- Besides -- */

	/* Sets the pause of each waiter ahead. */
	void set_base(u32 turns, Site by = caller_site<Site>())
		requires handed_on<Which, verb::set_base, L, u32>
	{
		self().pass(verb::set_base{}, by, turns);
	}

      private:
	Self &self() { return static_cast<Self &>(*this); }
};

/* A lock whose unlock() takes the call site: a checked one, for instance. */
template <typename L>
concept keeps_call_sites = requires(L &lock, call_site by) {
	lock.unlock(by);
} || requires(L &lock, unsigned cpu, call_site by) {
	lock.unlock(cpu, by);
} || requires(L &lock, typename L::node &node, call_site by) {
	lock.unlock(node, by);
};

/* A lock that takes the call site, perhaps by lock() alone. */
template <typename L>
concept takes_call_sites =
	keeps_call_sites<L> ||
	requires(L &lock, call_site by) { lock.lock(by); } ||
	requires(L &lock, unsigned cpu, call_site by) { lock.lock(cpu, by); } ||
	requires(L &lock, typename L::node &node, call_site by) {
		lock.lock(node, by);
	};

/* call_site, or no_site for a lock that takes none. */
template <typename L>
struct site_of_type {
	using type = no_site;
};
template <takes_call_sites L>
struct site_of_type<L> {
	using type = call_site;
};
template <typename L>
struct site_of_type<const L> : site_of_type<L> {};
template <typename L>
using site_of = typename site_of_type<L>::type;

/* Calls the verb of a lock, with the call site if the lock takes one. */
template <typename Verb, typename L, typename... With>
[[gnu::always_inline]] inline decltype(auto)
hand_on(Verb verb, L &lock, call_site by, With &...with)
{
	/* A template of another lock would take it for what it is called with:
	 * lock_until() for its link. */
	if constexpr (same_as<site_of<L>, call_site> &&
		      offers<Verb, L, With..., call_site>)
		return verb.call(lock, with..., by);
	else
		return verb.call(lock, with...);
}
template <typename Verb, typename L, typename... With>
[[gnu::always_inline]] inline decltype(auto) hand_on(Verb verb, L &lock,
						     no_site, With &...with)
{
	return verb.call(lock, with...);
}

/* The first of a verb's arguments: what the lock is taken with. */
template <typename First, typename... Rest>
First &first_of(First &first, Rest &...)
{
	return first;
}

template <typename L>
concept is_checked = requires(const L &lock) { lock.is_held_by_me(); };

/*
 * The base of a wrapper that contains its lock: what it is made of, and what
 * klock's own functions ask of a checked or counted lock inside. These do
 * nothing for another.
 */
template <typename L>
struct around {
	constexpr around() = default;
	around(const around &) = delete;
	around &operator=(const around &) = delete;

	/* The arguments are those of the lock inside. */
	template <typename First, typename... Rest>
		requires requires(First first, Rest... rest) {
			L(first, rest...);
		}
	constexpr explicit around(First first, Rest... rest)
	    : inner(first, rest...)
	{
	}

	template <typename... Name>
	void set_name(Name... name)
	{
		if constexpr (requires { inner.set_name(name...); })
			inner.set_name(name...);
	}
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
	void assert_held(call_site by = caller_site()) const
	{
		if constexpr (requires { inner.assert_held(by); })
			inner.assert_held(by);
	}

	/* Called at a guard's end: checks that interrupts are still off. */
	void check_irqs_off(call_site by) const
		requires requires(const L &of) { of.check_irqs_off(by); }
	{
		if constexpr (requires(const L &of) { of.check_irqs_off(by); })
			inner.check_irqs_off(by);
	}

	/* For handed_over(). Asked twice, as above: clang 14 makes it of each
	 * lock where the whole type is instantiated. */
	void note_handed_over(call_site by)
		requires requires(L &of) { of.note_handed_over(by); }
	{
		if constexpr (requires { inner.note_handed_over(by); })
			inner.note_handed_over(by);
	}

	/* For pair_guard. */
	template <typename Take>
		requires is_checked<L>
	void after_lower(const void *lower, Take take_it) const
	{
		inner.after_lower(lower, take_it);
	}

      protected:
	friend struct opening;

	L inner;
};

/*
 * told(lock, by) - the lock, with `by` as the call site of what it does next
 *
 *	told(lock, by).lock_shared(cpu);
 *
 * Returns the lock itself if it takes no call sites. For any other lock it
 * returns an object with the same functions, which pass `by` on as the last
 * argument where the lock takes one.
 */
template <typename L>
struct told_lock : verbs_of<told_lock<L>, L> {
	told_lock(L &lock, call_site caller) : inner(lock), by(caller) {}

	template <typename Verb, typename... With>
	decltype(auto) pass(Verb verb, no_site, With &...with) const
	{
		return hand_on(verb, inner, by, with...);
	}

	L &inner;
	call_site by;
};

template <typename L>
[[gnu::always_inline]] inline L &told(L &lock, call_site)
{
	return lock;
}
template <takes_call_sites L>
[[gnu::always_inline]] inline told_lock<L> told(L &lock, call_site by)
{
	return {lock, by};
}

} // namespace klock::detail
