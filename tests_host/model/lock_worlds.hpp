/* SPDX-License-Identifier: MIT */
/*
 * lock_worlds - what the lock tests explore: small clients of any lock
 *
 * A world takes a kind, made of a line of klock/selftest/locks.hpp, and knows
 * no lock. Its body is one critical section of one CPU.
 */
#pragma once

#include <klock/plain.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/mortal.hpp>

#include <model/model.hpp>

#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace worlds {

using klock::u64;
using klock::u8;
using klock::selftest::contender;
using model::options;
using model::result;

inline constexpr unsigned most_cpus = 9;

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

inline unsigned sum(const std::vector<unsigned> &sections)
{
	return std::accumulate(sections.begin(), sections.end(), 0u);
}

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

/* All CPUs of a world wait for their turn, however long it takes. */
inline constexpr unsigned everybody = ~0u;

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

/* -- A lock of any kind, types erased: each world is compiled once --------- */

/* The calls of a lock of this type. A caller is lent what it takes it with. */
template <klock::any_lock L>
struct calls {
	using mortal = klock::selftest::mortal<L, most_cpus>;

	template <typename T>
	static T &at(void *p)
	{
		return *static_cast<T *>(p);
	}
	template <typename T, typename... From>
	static void make(void *p, From... from)
	{
		::new (p) T(from...);
	}
	template <typename T>
	static void end(void *p)
	{
		at<T>(p).~T();
	}
	static void make_after(void *p, u64 sections)
	{
		if constexpr (std::is_constructible_v<L, served>)
			::new (p) L(served{sections});
	}
	template <template <typename> typename Who>
	static void lock(void *l, void *who)
	{
		at<Who<L>>(who).lock(at<L>(l));
	}
	template <template <typename> typename Who>
	static void unlock(void *l, void *who)
	{
		at<Who<L>>(who).unlock(at<L>(l));
	}
	template <template <typename> typename Who>
	static bool try_lock(void *l, void *who)
	{
		return at<Who<L>>(who).try_lock(at<L>(l));
	}
	static bool try_lock_until(void *l, void *who, u64 deadline)
	{
		if constexpr (klock::timed_lockable<L>)
			return at<contender<L>>(who).try_lock_until(at<L>(l),
								    deadline);
		return false;
	}
	static void make_mortal(void *p, unsigned references)
	{
		const mortal &it = *::new (p) mortal(references);

		model::name(it.lock, "lock");
		model::name(it.references, "references");
	}
	static bool put(void *p, unsigned cpu)
	{
		return at<mortal>(p).put(cpu);
	}
};

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

/* A contender with its type erased: a writer, or a reader. */
struct taking {
	klock::usize bytes = 0;
	void (*make)(void *, unsigned number) = nullptr;
	void (*end)(void *) = nullptr;
	void (*lock)(void *, void *) = nullptr;
	void (*unlock)(void *, void *) = nullptr;
	bool (*try_lock)(void *, void *) = nullptr; /* null: cannot be tried */
};

template <typename L, template <typename> typename Who, bool Tries>
constexpr taking taken_by()
{
	using of = calls<L>;
	taking t{sizeof(Who<L>),	   of::template make<Who<L>, unsigned>,
		 of::template end<Who<L>>, of::template lock<Who>,
		 of::template unlock<Who>, nullptr};

	if constexpr (Tries)
		t.try_lock = of::template try_lock<Who>;
	return t;
}

/* A line of a list of locks, and what its lock does. */
struct kind {
	const char *name;
	klock::selftest::service order_of_service;
	u64 capacity;
	const char *whole_because;

	bool plain, per_cpu, indexed, node_on_stack, timed;
	bool counts_sections; /* made as it is after so many */
	bool splits_tries;    /* try_can_split */
	unsigned counts_in_one;
	model::bug one_too_many;

	klock::usize bytes;
	void (*make)(void *);
	void (*make_after)(void *, u64 sections);
	void (*end)(void *);
	taking by;
	bool (*try_lock_until)(void *, void *, u64 deadline);
	void (*make_mortal)(void *, unsigned references);
	void (*end_mortal)(void *);
	bool (*put)(void *, unsigned cpu);

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

/* The largest sizes of locks, contenders, objects that end with a lock. */
inline constexpr klock::usize most_lock = 1024, most_who = 192,
			      most_mortal = most_lock + most_cpus * most_who;

template <typename Subject>
constexpr kind describe()
{
	using L = typename Subject::lock;
	using of = calls<L>;
	using mortal = typename of::mortal;
	static_assert(sizeof(L) <= most_lock && alignof(L) <= 128);
	static_assert(sizeof(contender<L>) <= most_who);
	static_assert(sizeof(mortal) <= most_mortal);
	kind k{Subject::name,
	       Subject::order_of_service,
	       Subject::capacity,
	       Subject::whole_because,
	       klock::plain_lock<L>,
	       klock::per_cpu_lock<L>,
	       klock::cpu_lock<L>,
	       klock::stack_node_lock<L>,
	       klock::timed_lockable<L>,
	       std::is_constructible_v<L, served>,
	       try_can_split<L>,
	       counts_in_one<L>,
	       one_too_many<L>,
	       sizeof(L),
	       of::template make<L>,
	       of::make_after,
	       of::template end<L>,
	       taken_by<L, contender, klock::try_lockable<L>>(),
	       of::try_lock_until,
	       of::make_mortal,
	       of::template end<mortal>,
	       of::put};

	if constexpr (klock::shared_lockable<L>) {
		using klock::selftest::reader;
		k.read_by =
			taken_by<L, reader, klock::try_shared_lockable<L>>();
		k.reader_capacity = L::max_readers;
		k.reads_by_number = klock::cpu_shared_lock<L>;
		k.upgrades = klock::upgradable_lock<L>;
		k.tries_to_upgrade = try_upgradable<L>;
		k.downgrades = downgradable<L>;
		k.change_to = changes<L>;
	}
	if constexpr (requires { Subject::order_of_sharing; })
		k.order_of_sharing = Subject::order_of_sharing;
	if constexpr (requires { Subject::mistake; }) {
		k.found_in = Subject::found_in;
		k.mistake = Subject::mistake;
	}
	return k;
}

template <typename Subject>
inline constexpr kind kind_of = describe<Subject>();

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

struct lock_of_kind {
	const kind &of;
	alignas(128) unsigned char room[most_lock];

	explicit lock_of_kind(const kind &k) : of(k) { of.make(room); }
	lock_of_kind(const kind &k, served by) : of(k)
	{
		of.make_after(room, by.sections);
	}
	~lock_of_kind() { of.end(room); }
	lock_of_kind(const lock_of_kind &) = delete;

	template <typename L>
	L &as()
	{
		return *std::launder(reinterpret_cast<L *>(room));
	}
};

/* One of those that take it. */
struct taker {
	const kind &of;
	const taking &by;
	void *who;

	void lock(lock_of_kind &l) { by.lock(l.room, who); }
	void unlock(lock_of_kind &l) { by.unlock(l.room, who); }
	[[nodiscard]] bool try_lock(lock_of_kind &l)
	{
		return by.try_lock(l.room, who);
	}
	[[nodiscard]] bool try_lock_until(lock_of_kind &l, u64 deadline)
	{
		return of.try_lock_until(l.room, who, deadline);
	}
};

/* That number of contenders, numbered from first. */
template <unsigned Number>
struct takers {
	const taking &by;
	const kind &of;
	alignas(128) unsigned char room[Number * most_who];

	takers(const kind &k, const taking &t, unsigned first = 0)
	    : by(t), of(k)
	{
		for (unsigned i = 0; i < Number; i++)
			by.make(room + i * by.bytes, first + i);
	}
	~takers()
	{
		for (unsigned i = Number; i-- > 0;)
			by.end(room + i * by.bytes);
	}
	takers(const takers &) = delete;

	taker operator[](unsigned i) { return {of, by, room + i * by.bytes}; }
	template <typename Who>
	Who &as(unsigned i)
	{
		return *std::launder(
			reinterpret_cast<Who *>(room + i * by.bytes));
	}

	void name(const char *text)
	{
		for (unsigned i = 0; i < Number; i++)
			model::name(room + i * by.bytes, by.bytes, text);
	}
};
using contenders = takers<most_cpus>;

/* World(k) is made anew for each execution. */
template <typename World, typename Body, typename... Rest>
result explore(const kind &k, const options &how, Body body, Rest... rest)
{
	const auto make = [&k] { return World(k); };

	if constexpr (sizeof...(Rest) == 0)
		return model::explore_from(how, make, body, [](World &) {});
	else
		return model::explore_from(how, make, body, rest...);
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

/* A counter that the lock protects; a node for each CPU that lives on. */
struct counted {
	lock_of_kind lock;
	contenders who;
	klock::plain<unsigned> count;
	unsigned failed = 0; /* try_lock()s; each its own sum, on the host */

	explicit counted(const kind &k) : lock(k), who(k, k.by) { number(); }
	counted(const kind &k, served by) : lock(k, by), who(k, k.by)
	{
		number();
	}

	void number()
	{
		model::name(lock.room, lock.of.bytes, "lock");
		model::name(count, "count");
		who.name("node");
	}
	void add() { count.set(count.get() + 1); }
	void section(taker with)
	{
		with.lock(lock);
		add();
		with.unlock(lock);
	}
	void section(unsigned cpu) { section(who[cpu]); }
	bool section_by_try(taker with)
	{
		if (!with.try_lock(lock))
			return false;
		add();
		with.unlock(lock);
		return true;
	}
	/* Looked at when all have ended: with those that did without. */
	void all_counted(unsigned expected)
	{
		model::check(count.get() + failed == expected,
			     "every section counted");
	}
};

/* Mutual exclusion and visibility: no update is lost, no access races. */
inline result exclusion(const kind &k, const options &how)
{
	const unsigned expected = sum(how.sections);

	return explore<counted>(
		k, how, [](counted &w, unsigned cpu) { w.section(cpu); },
		[expected](counted &w) { w.all_counted(expected); });
}

/* As exclusion(), with nodes on the CPUs' stacks, new for each section. */
inline result exclusion_on_stack(const kind &k, const options &how)
{
	const unsigned expected = sum(how.sections);

	return explore<counted>(
		k, how,
		[](counted &w, unsigned cpu) {
			takers<1> mine(w.lock.of, w.lock.of.by, cpu);
			mine.name("own node");
			w.section(mine[0]);
		},
		[expected](counted &w) { w.all_counted(expected); });
}

/* As exclusion(), from a lock that has already served `by` sections. */
inline result exclusion_from(const kind &k, const options &how, served by)
{
	const unsigned expected = sum(how.sections);

	return model::explore_from(
		how, [&k, by] { return counted(k, by); },
		[](counted &w, unsigned cpu) { w.section(cpu); },
		[expected](counted &w) { w.all_counted(expected); });
}

/*
 * CPU 0 only tries; the others wait. A try that fails does without. Whoever is
 * inside is alone.
 */
inline result tries_mixed_in(const kind &k, const options &how)
{
	const unsigned expected = sum(how.sections);

	return explore<counted>(
		k, how,
		[](counted &w, unsigned cpu) {
			if (cpu != 0)
				w.section(cpu);
			else
				w.failed += !w.section_by_try(w.who[cpu]);
		},
		[expected](counted &w) { w.all_counted(expected); });
}

/* All only try: of those who find it free throughout, one gets it. */
inline result tries_only(const kind &k, const options &how)
{
	return explore<counted>(
		k, how,
		[](counted &w, unsigned cpu) {
			(void)w.section_by_try(w.who[cpu]);
		},
		[](counted &w) {
			model::check(w.count.get() > 0,
				     "somebody's try succeeds");
		});
}

/* CPU 1 tries after CPU 0 has left, and knows that: it must succeed. */
inline result try_after_unlock(const kind &k, const options &how)
{
	struct world : counted {
		using counted::counted;
		klock::atomic<u8> left;
	};

	return explore<world>(k, how, [](world &w, unsigned cpu) {
		if (cpu == 0) {
			w.section(0u);
			w.left.store_release(1);
			return;
		}
		w.left.await_eq_acquire(1);
		model::check(w.who[1].try_lock(w.lock),
			     "the lock is free: a try succeeds");
		w.add();
		w.who[1].unlock(w.lock);
	});
}

/*
 * Two locks, one after the other, as far as a CPU has sections: what a lock has
 * of its CPUs it has for both.
 */
inline result two_in_turn(const kind &k, const options &how)
{
	struct world : counted {
		counted other;
		unsigned done[most_cpus] = {}; /* on the host */

		explicit world(const kind &of) : counted(of), other(of) {}
	};

	return explore<world>(k, how, [](world &w, unsigned cpu) {
		if (w.done[cpu]++ % 2 == 0)
			w.section(cpu);
		else
			w.other.section(cpu);
	});
}

/*
 * CPU 1's doorway is over when it begins to wait, or has the lock; it then says
 * so.
 */
struct queue : counted {
	klock::atomic<u8> came;
	klock::plain<bool> served;
	unsigned bypassed = 0; /* on the host: one CPU's alone */

	explicit queue(const kind &k) : counted(k)
	{
		model::name(came, "came");
	}

	/* The section of the CPU that must not be bypassed. */
	void come(unsigned cpu)
	{
		auto tell = [this] { came.store_release(1); };
		model::before_waits hook(tell);

		who[cpu].lock(lock);
		served.set(true);
		came.store_release(1);
		who[cpu].unlock(lock);
	}
	/* CPU 0's, when it knows that the other has come. */
	void come_after()
	{
		came.await_eq_acquire(1);
		who[0].lock(lock);
		model::check(served.get(), "who came first was served first");
		who[0].unlock(lock);
	}
	/* CPU 0 takes the lock, and counts if CPU 1 arrived before and waits.
	 */
	void try_to_bypass()
	{
		who[0].lock(lock);
		if (came.load_acquire() && !served.get())
			bypassed++;
		who[0].unlock(lock);
	}
};

/*
 * First come, first served: CPU 0 comes when it knows that CPU 1's doorway is
 * over; CPU 2 is there so that CPU 1 has somebody to wait for. All of them run:
 * nobody's patience ends.
 */
inline result first_come_first_served(const kind &k, options how = {})
{
	how.sections = {1, 1, 1};
	how.patient = everybody;
	return explore<queue>(k, how, [](queue &w, unsigned cpu) {
		if (cpu == 1)
			w.come(cpu);
		else if (cpu == 2)
			w.section(cpu);
		else
			w.come_after();
	});
}

/* The last to leave ends the lock: nobody else is still at it. */
inline result ended_by_the_last(const kind &k, const options &how)
{
	struct world {
		const kind &of;
		/* Its life is not the world's. */
		alignas(128) unsigned char it[most_mortal];
		unsigned ends = 0; /* on the host */

		world(const kind &of_it, unsigned references) : of(of_it)
		{
			of.make_mortal(it, references);
		}
		void section(unsigned cpu)
		{
			if (!of.put(it, cpu))
				return;
			of.end_mortal(it);
			ends++;
		}
	};
	const unsigned references = sum(how.sections);

	return model::explore_from(
		how, [&k, references] { return world(k, references); },
		[](world &w, unsigned cpu) { w.section(cpu); },
		[](world &w) { model::check(w.ends == 1, "ended once"); });
}

/*
 * timed_clients - locks that can be given up, and whoever gives up
 *
 * The checker ends a wait with a deadline at any look, or never where the CPU
 * is in options.patient: one client is all deadlines.
 */

/* counted, and who gave up; each CPU its own number, on the host. */
struct timed : counted {
	using counted::counted;
	unsigned gave_up[most_cpus] = {};
	bool tries[most_cpus] = {}; /* the next time */

	void section_by_deadline(unsigned cpu)
	{
		if (!who[cpu].try_lock_until(lock, 1)) {
			gave_up[cpu]++;
			return;
		}
		add();
		who[cpu].unlock(lock);
	}

	/* At rest: every section is accounted for, and the lock is free. */
	void at_rest(const options &how)
	{
		unsigned without = 0;

		for (unsigned cpu = 0; cpu < how.sections.size(); cpu++) {
			without += gave_up[cpu];
			if (how.patient >> cpu & 1)
				model::check(gave_up[cpu] == 0,
					     "the patient get in");
		}
		all_counted(sum(how.sections) - without);
		for (unsigned cpu = 0; cpu < how.sections.size(); cpu++) {
			model::check(who[cpu].try_lock(lock),
				     "the lock is free");
			who[cpu].unlock(lock);
		}
	}
};

/* All by a deadline; those in options.patient wait for ever. */
inline result gives_up(const kind &k, options how)
{
	return explore<timed>(
		k, how,
		[](timed &w, unsigned cpu) { w.section_by_deadline(cpu); },
		[how](timed &w) { w.at_rest(how); });
}

/* CPU 0 tries and gives up, turn by turn; the others wait. */
inline result gives_up_and_tries(const kind &k, options how)
{
	how.patient = ~1u;
	return explore<timed>(
		k, how,
		[](timed &w, unsigned cpu) {
			if (cpu == 0 && (w.tries[0] = !w.tries[0]))
				w.gave_up[0] += !w.section_by_try(w.who[0]);
			else
				w.section_by_deadline(cpu);
		},
		[how](timed &w) { w.at_rest(how); });
}

/* CPU 0 never unlocks: others do not get in, but their timed tries end. */
inline result holder_stays(const kind &k, options how)
{
	return explore<timed>(k, how, [](timed &w, unsigned cpu) {
		if (cpu == 0)
			w.who[0].lock(w.lock);
		else if (w.who[cpu].try_lock_until(w.lock, 1))
			w.who[cpu].unlock(w.lock);
	});
}

/* Looks at a result; true means that it has seen enough. */
using visit = std::function<bool(const result &)>;

/*
 * Explores clients with deadlines until enough(result) returns true, and
 * returns whether it did. There are clients of two CPUs and of three, each with
 * a lock made for that number: some faults show in a full ring alone.
 */
inline bool each_timed_client(const kind &k, const options &how,
			      const visit &enough)
{
	const auto with = [&how](std::vector<unsigned> sections,
				 unsigned patient) {
		options o = how;
		o.sections = sections;
		o.patient = patient;
		return o;
	};

	if (k.capacity == 2)
		return enough(gives_up(k, with({2, 2}, 0))) ||
		       enough(gives_up(k, with({2, 2}, 1))) ||
		       enough(gives_up_and_tries(k, with({4, 3}, 0))) ||
		       enough(gives_up(k, with({3, 3}, 0)));
	return enough(gives_up(k, with({1, 1, 1}, 0))) ||
	       enough(gives_up(k, with({2, 1, 1}, 1))) ||
	       enough(gives_up_and_tries(k, with({3, 1, 1}, 0)));
}

/* each_timed_client() of the lock made for two CPUs, and of k itself. */
inline bool timed_clients_of_two_and_three(const kind &k, const options &how,
					   const visit &enough)
{
	for (const kind &two : kinds_of<klock::selftest::all_locks<2>>())
		if (std::string(two.name) == k.name &&
		    each_timed_client(two, how, enough))
			return true;
	return each_timed_client(k, how, enough);
}

} // namespace worlds
