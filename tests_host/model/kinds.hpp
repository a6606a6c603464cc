/* SPDX-License-Identifier: MIT */
/*
 * kinds - a lock of any type, and all ways to take it, types erased
 *
 * A world takes a kind and knows no type, so that each world is compiled once.
 * A kind is made of a line of klock/selftest/locks.hpp, or of a type.
 */
#pragma once

#include "roles.hpp"

#include <klock/selftest/locks.hpp>

#include <model/model.hpp>

#include <new>
#include <string>
#include <type_traits>
#include <vector>

namespace worlds {

using klock::u64;
using klock::u8;
using klock::selftest::contender;
using klock::selftest::reader;

/*
 * The locks that tests visit are one of each algorithm; where the same files
 * are compiled for level full, the other widths.
 */
#ifdef KLOCK_OTHER_WIDTHS
inline constexpr bool visits_widths = true;
template <unsigned Cpus>
using tested_locks =
	klock::selftest::other_widths<klock::selftest::all_locks<Cpus>>;
template <unsigned Cpus>
using tested_shared_locks =
	klock::selftest::other_widths<klock::selftest::all_shared_locks<Cpus>>;
#else
inline constexpr bool visits_widths = false;
template <unsigned Cpus>
using tested_locks =
	klock::selftest::one_of_each<klock::selftest::all_locks<Cpus>>;
template <unsigned Cpus>
using tested_shared_locks =
	klock::selftest::one_of_each<klock::selftest::all_shared_locks<Cpus>>;
#endif

/* -- Facts about a type ---------------------------------------------------- */

/* A number of sections served: converts to any counter's type. */
struct served {
	u64 sections;
	template <klock::counter T>
	operator T() const
	{
		return static_cast<T>(sections);
	}
};

/* How many counts each counter of a lock is divided into, of so few bits;
 * mutants say it by their type. */
template <typename L>
inline constexpr unsigned counts_in_one = 1;
template <typename Counter>
inline constexpr unsigned counts_in_one<klock::rw_ticket_lock<Counter>> = 2;
template <typename L>
	requires requires { typename L::sections; }
inline constexpr unsigned counts_in_one<L> = 2;

/*
 * Whether a try_lock that decides over a word is right, too, field by field:
 * not where it changes two fields that others read together.
 */
template <typename L>
inline constexpr bool try_can_split = true;
template <typename Counter>
inline constexpr bool try_can_split<klock::phase_fair_lock<Counter>> = false;

/* The bug that is found first with one contender too many: two are inside. */
template <typename L>
inline constexpr model::bug one_too_many = model::bug::data_race;
/* Writers alone are counted by all the bits, and nothing goes wrong. */
template <typename Counter>
inline constexpr model::bug one_too_many<klock::rw_ticket_lock<Counter>> =
	model::bug::none;

/* -- Ways to take it ------------------------------------------------------- */

/* A contender with its type erased. */
struct taking {
	klock::usize bytes = 0;
	void (*make)(void *, unsigned number) = nullptr;
	void (*end)(void *) = nullptr;
	void (*lock)(void *lock, void *who) = nullptr;
	void (*unlock)(void *lock, void *who) = nullptr;
	/* null where the lock has no such way */
	bool (*try_lock)(void *lock, void *who) = nullptr;
	bool (*try_lock_until)(void *lock, void *who, u64 deadline) = nullptr;
	void (*lock_in_turn)(void *lock) = nullptr;
	void (*lock_serving)(void *lock) = nullptr;
	/* of a guard, which then releases what is read */
	void (*downgrade)(void *who) = nullptr;
};

/* A lock that serves meanwhile serves by this. */
inline void (*serve)() = [] {};

/* A contender that takes it by a guard, and supplies what the guard needs. */
template <typename L, typename Guard>
struct guarding {
	explicit guarding(unsigned number) : cpu(number) {}
	void lock(L &l)
	{
		if constexpr (klock::cpu_lock<L>)
			::new (room) Guard(l, cpu);
		else if constexpr (klock::node_lock<L> &&
				   !klock::stack_node_lock<L>)
			::new (room) Guard(l, node);
		else
			::new (room) Guard(l);
	}
	void unlock(L &)
	{
		std::launder(reinterpret_cast<Guard *>(room))->~Guard();
	}

      private:
	struct none {};
	template <typename Of>
	struct node_of {
		using type = none;
	};
	template <klock::node_lock Of>
	struct node_of<Of> {
		using type = typename Of::node;
	};

	alignas(Guard) unsigned char room[sizeof(Guard)];
	[[no_unique_address]] typename node_of<L>::type node;
	[[maybe_unused]] unsigned cpu;
};

/* The calls of a contender Who of a lock L. */
template <typename L, typename Who>
struct calls {
	static Who &is(void *who) { return *static_cast<Who *>(who); }
	static L &of(void *lock) { return *static_cast<L *>(lock); }

	static void make(void *at, unsigned number) { ::new (at) Who(number); }
	static void end(void *at) { is(at).~Who(); }
	static void lock(void *l, void *who) { is(who).lock(of(l)); }
	static void unlock(void *l, void *who) { is(who).unlock(of(l)); }
	static bool try_lock(void *l, void *who)
	{
		return is(who).try_lock(of(l));
	}
	static bool by_deadline(void *l, void *who, u64 deadline)
	{
		return is(who).try_lock_until(of(l), deadline);
	}
	static bool lock_by_deadline(void *l, void *, u64 deadline)
	{
		return of(l).try_lock_until(deadline);
	}
	static bool read_by_deadline(void *l, void *, u64 deadline)
	{
		return of(l).try_lock_shared_until(deadline);
	}
	static void in_turn(void *l) { of(l).lock_without_try(); }
	static void serving(void *l) { of(l).lock(serve); }
	static void downgrade(void *who) { is(who).downgrade(); }
};

template <typename L, typename Who, bool Reads = false>
constexpr taking taken_by()
{
	using by = calls<L, Who>;
	taking t{sizeof(Who), by::make, by::end, by::lock, by::unlock};

	if constexpr (requires(Who w, L l) { (void)w.try_lock(l); })
		t.try_lock = by::try_lock;
	if constexpr (requires(Who w, L l) { (void)w.try_lock_until(l, 0); })
		t.try_lock_until = by::by_deadline;
	else if constexpr (!Reads &&
			   requires(L l) { (void)l.try_lock_until(u64{0}); })
		t.try_lock_until = by::lock_by_deadline;
	else if constexpr (Reads && requires(L l) {
				   (void)l.try_lock_shared_until(u64{0});
			   })
		t.try_lock_until = by::read_by_deadline;
	if constexpr (!Reads && requires(L l) { l.lock_without_try(); })
		t.lock_in_turn = by::in_turn;
	if constexpr (!Reads && klock::serving_lock<L>)
		t.lock_serving = by::serving;
	if constexpr (requires(Who w) { w.downgrade(); })
		t.downgrade = by::downgrade;
	return t;
}

/* Other calls that a reader or a writer may make. */
enum class change {
	lock_upgradable,
	try_lock_upgradable,
	unlock_upgradable,
	upgrade,
	try_upgrade,
	downgrade,
};

template <typename L>
concept downgradable = requires(L &l) { l.downgrade(); };
template <typename L>
concept try_upgradable = requires(L &l) { l.try_upgrade(); };

template <typename L>
bool changes(void *p, change to)
{
	[[maybe_unused]] L &l = *static_cast<L *>(p);

	if constexpr (klock::upgradable_lock<L>) {
		if (to == change::lock_upgradable)
			l.lock_upgradable();
		else if (to == change::upgrade)
			l.upgrade();
		else if (to == change::unlock_upgradable)
			l.unlock_upgradable();
	}
	if constexpr (try_upgradable<L>) {
		if (to == change::try_lock_upgradable)
			return l.try_lock_upgradable();
		if (to == change::try_upgrade)
			return l.try_upgrade();
	}
	if constexpr (downgradable<L>)
		if (to == change::downgrade)
			l.downgrade();
	return true;
}

/* -- The kind ---------------------------------------------------------------
 */

struct kind {
	const char *name;
	klock::selftest::service order_of_service{};
	u64 capacity = ~u64{0};
	const char *whole_because = "";

	bool plain, per_cpu, indexed, node_on_stack, timed;
	bool nodes_end_with_lock;
	bool counts_sections; /* made as it is after so many */
	bool splits_tries;    /* try_can_split */
	unsigned counts_in_one;
	model::bug one_too_many;

	klock::usize bytes;
	void (*make)(void *);
	void (*make_after)(void *, u64 sections);
	void (*end)(void *);
	taking by;
	bool (*is_locked)(const void *) = nullptr;

	/* Locks that readers share */
	taking read_by{};
	u64 reader_capacity = 0;
	bool reads_by_number = false;
	klock::selftest::sharing order_of_sharing{};
	bool upgrades = false, tries_to_upgrade = false, downgrades = false;
	bool (*change_to)(void *, change) = nullptr;
	/* Wrong locks */
	unsigned found_in = 0;
	const char *mistake = nullptr;
};

template <typename L>
struct life {
	static void make(void *at) { model::name(*::new (at) L(), "lock"); }
	static void make_after(void *at, u64 sections)
	{
		if constexpr (std::is_constructible_v<L, served>)
			model::name(*::new (at) L(served{sections}), "lock");
	}
	static void end(void *at) { static_cast<L *>(at)->~L(); }
};

/* A lock, and those who take it to write and to read, if by other ways than
 * those of klock/selftest. */
template <typename L, typename Writer = contender<L>, typename Reader = void>
constexpr kind describe(const char *name)
{
	using of = life<L>;
	static_assert(alignof(L) <= 128);
	kind k{.name = name,
	       .plain = klock::plain_lock<L>,
	       .per_cpu = klock::per_cpu_lock<L>,
	       .indexed = klock::cpu_lock<L>,
	       .node_on_stack = klock::stack_node_lock<L>,
	       .timed = klock::timed_lockable<L>,
	       .nodes_end_with_lock =
		       klock::node_lock<L> && !klock::stack_node_lock<L>,
	       .counts_sections = std::is_constructible_v<L, served>,
	       .splits_tries = try_can_split<L>,
	       .counts_in_one = counts_in_one<L>,
	       .one_too_many = one_too_many<L>,
	       .bytes = sizeof(L),
	       .make = of::make,
	       .make_after = of::make_after,
	       .end = of::end,
	       .by = taken_by<L, Writer>()};

	if constexpr (requires { L::max_contenders; })
		k.capacity = L::max_contenders;
	if constexpr (requires(const L &l) { l.is_locked(); })
		k.is_locked = [](const void *at) {
			return static_cast<const L *>(at)->is_locked();
		};
	if constexpr (klock::shared_lockable<L> || !std::is_void_v<Reader>) {
		if constexpr (std::is_void_v<Reader>)
			k.read_by = taken_by<L, reader<L>, true>();
		else
			k.read_by = taken_by<L, Reader, true>();
		if constexpr (requires { L::max_readers; })
			k.reader_capacity = L::max_readers;
		k.reads_by_number = klock::cpu_shared_lock<L>;
		k.upgrades = klock::upgradable_lock<L>;
		k.tries_to_upgrade = try_upgradable<L>;
		k.downgrades = downgradable<L>;
		k.change_to = changes<L>;
	}
	return k;
}

/* A line of a list. */
template <typename Subject>
constexpr kind describe_line()
{
	kind k = describe<typename Subject::lock>(Subject::name);

	k.order_of_service = Subject::order_of_service;
	k.capacity = Subject::capacity;
	k.whole_because = Subject::whole_because;
	if constexpr (requires { Subject::order_of_sharing; })
		k.order_of_sharing = Subject::order_of_sharing;
	if constexpr (requires { Subject::mistake; }) {
		k.found_in = Subject::found_in;
		k.mistake = Subject::mistake;
	}
	return k;
}

template <typename Subject>
inline constexpr kind kind_of = describe_line<Subject>();

template <typename List>
const std::vector<kind> &kinds_of()
{
	static const std::vector<kind> all = [] {
		std::vector<kind> made;
		List::for_each([&made]<typename Subject>() {
			made.push_back(kind_of<Subject>);
		});
		return made;
	}();

	return all;
}

/* The locks that tests visit, made for that number of CPUs. */
template <unsigned Cpus>
const std::vector<kind> &tested()
{
	return kinds_of<tested_locks<Cpus>>();
}
/* The locks of tested() whose capacity is at least that number. */
template <unsigned Cpus>
const std::vector<kind> &tested_by()
{
	static const std::vector<kind> all = [] {
		std::vector<kind> some = tested<Cpus>();
		std::erase_if(some,
			      [](const kind &k) { return k.capacity < Cpus; });
		return some;
	}();

	return all;
}
template <unsigned Cpus>
const std::vector<kind> &tested_shared()
{
	return kinds_of<tested_shared_locks<Cpus>>();
}

/*
 * So few bits for this lock's counters, if it has any: it counts sections, or
 * has room for as many contenders as a counter has values.
 */
inline unsigned bits(const kind &k, unsigned few)
{
	const bool counts = k.counts_sections || k.capacity == u64{1} << 8 ||
			    k.capacity == u64{1} << 16 ||
			    k.capacity == u64{1} << 32;

	return counts && !*k.whole_because ? few * k.counts_in_one : 0;
}

/* -- A lock, and contenders, of a kind ------------------------------------- */

/*
 * Where they are: one behind the other in so many bytes, as the checker
 * compares all of a world in each step that it learns.
 */
template <klock::usize Bytes>
struct space {
	void *take(klock::usize bytes)
	{
		unsigned char *const at = room + used;

		used += (bytes + 63) / 64 * 64;
		if (used > Bytes)
			throw std::string("a world has too little space");
		return at;
	}

	alignas(128) unsigned char room[Bytes];
	klock::usize used = 0;
};

/* A world may end it before its own end. */
struct lock_of_kind {
	const kind &of;
	void *room;
	bool ended = false;

	lock_of_kind(const kind &k, void *at, u64 sections_before = 0)
	    : of(k), room(at)
	{
		if (sections_before)
			of.make_after(room, sections_before);
		else
			of.make(room);
	}
	~lock_of_kind()
	{
		if (!ended)
			of.end(room);
	}
	lock_of_kind(const lock_of_kind &) = delete;
	void end()
	{
		ended = true;
		of.end(room);
	}

	bool change_to(change to) { return of.change_to(room, to); }
	template <typename L>
	L &as()
	{
		return *static_cast<L *>(room);
	}
};

/* One of those that take it. */
struct taker {
	const taking &by;
	void *who;

	void lock(lock_of_kind &l) const { by.lock(l.room, who); }
	void unlock(lock_of_kind &l) const { by.unlock(l.room, who); }
	[[nodiscard]] bool try_lock(lock_of_kind &l) const
	{
		return by.try_lock(l.room, who);
	}
	[[nodiscard]] bool try_lock_until(lock_of_kind &l, u64 deadline) const
	{
		return by.try_lock_until(l.room, who, deadline);
	}
	void lock_in_turn(lock_of_kind &l) const { by.lock_in_turn(l.room); }
	void lock_serving(lock_of_kind &l) const { by.lock_serving(l.room); }
};

/* Contenders, numbered from first. */
struct takers {
	const taking &by;
	unsigned number;
	unsigned char *room;

	template <typename Space>
	takers(const taking &t, Space &in, unsigned count, unsigned first = 0)
	    : by(t), number(count),
	      room(static_cast<unsigned char *>(in.take(count * t.bytes)))
	{
		for (unsigned i = 0; i < number; i++) {
			by.make(room + i * by.bytes, first + i);
			model::name(room + i * by.bytes, by.bytes, "node");
		}
	}
	~takers() { end(); }
	void end()
	{
		while (number > 0)
			by.end(room + --number * by.bytes);
	}
	takers(const takers &) = delete;

	taker operator[](unsigned i) { return {by, room + i * by.bytes}; }
};

} // namespace worlds
