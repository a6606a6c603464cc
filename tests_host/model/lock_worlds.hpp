/* SPDX-License-Identifier: MIT */
/*
 * lock_worlds - what the lock tests explore: small clients of any lock
 *
 * Each world is a template over a subject of klock/selftest/locks.hpp and knows
 * no lock. Its body is one critical section of one CPU.
 */
#pragma once

#include <klock/plain.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/mortal.hpp>

#include <model/model.hpp>

#include <numeric>
#include <type_traits>

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

/* So many sections served: any counter's value, at its own width. */
struct served {
	u64 sections;
	template <klock::counter T>
	operator T() const
	{
		return static_cast<T>(sections);
	}
};

/* Made as it is after so many: a lock that counts its sections. */
template <typename Subject>
inline constexpr bool counts_sections =
	std::is_constructible_v<typename Subject::lock, served>;

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
 * So few bits for this subject's counters, if it has any: it counts sections,
 * or has room for as many contenders as a counter has values.
 */
template <typename Subject>
unsigned bits(unsigned few)
{
	const u64 capacity = Subject::capacity;
	const bool counts =
		counts_sections<Subject> || capacity == u64{1} << 8 ||
		capacity == u64{1} << 16 || capacity == u64{1} << 32;

	return counts && !*Subject::whole_because
		       ? few * counts_in_one<typename Subject::lock>
		       : 0;
}

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

/* What is found first of one contender too many: two inside. */
template <typename L>
inline constexpr model::bug one_too_many = model::bug::data_race;
/* Writers alone are counted by all the bits, and nothing goes wrong. */
template <typename Counter>
inline constexpr model::bug one_too_many<klock::rw_ticket_lock<Counter>> =
	model::bug::none;

/* A counter that the lock protects; a node for each CPU that lives on. */
template <typename Subject>
struct counted {
	using lock_type = typename Subject::lock;

	lock_type lock;
	contender<lock_type> who[most_cpus];
	klock::plain<unsigned> count;
	unsigned failed =
		0; /* try_lock()s; each CPU its own sum, on the host */

	counted() { number(); }
	template <typename Start>
	explicit counted(Start served) : lock(served)
	{
		number();
	}

	void number()
	{
		model::name(lock, "lock");
		model::name(count, "count");
		for (unsigned cpu = 0; cpu < most_cpus; cpu++) {
			who[cpu].renumber(cpu);
			model::name(who[cpu], "node");
		}
	}
	void add() { count.set(count.get() + 1); }
	void section(contender<lock_type> &with)
	{
		with.lock(lock);
		add();
		with.unlock(lock);
	}
};

/* Mutual exclusion and visibility: no update is lost, no access races. */
template <typename Subject>
result exclusion(const options &how)
{
	using world = counted<Subject>;
	const unsigned expected = sum(how.sections);

	return model::explore<world>(
		how, [](world &w, unsigned cpu) { w.section(w.who[cpu]); },
		[expected](world &w) {
			model::check(w.count.get() == expected,
				     "every section counted");
		});
}

/* The same, with nodes on the CPUs' stacks, new for each section. */
template <typename Subject>
result exclusion_on_stack(const options &how)
{
	using world = counted<Subject>;
	const unsigned expected = sum(how.sections);

	return model::explore<world>(
		how,
		[](world &w, unsigned cpu) {
			contender<typename Subject::lock> mine(cpu);
			model::name(mine, "own node");
			w.section(mine);
		},
		[expected](world &w) {
			model::check(w.count.get() == expected,
				     "every section counted");
		});
}

/* The same from a lock that has served so many sections already. */
template <typename Subject, typename Start>
result exclusion_from(const options &how, Start served)
{
	using world = counted<Subject>;
	const unsigned expected = sum(how.sections);

	return model::explore_from(
		how, [served] { return world(served); },
		[](world &w, unsigned cpu) { w.section(w.who[cpu]); },
		[expected](world &w) {
			model::check(w.count.get() == expected,
				     "every section counted");
		});
}

/*
 * CPU 0 only tries; the others wait. A try that fails does without. Whoever is
 * inside is alone.
 */
template <typename Subject>
result tries_mixed_in(const options &how)
{
	using world = counted<Subject>;
	const unsigned expected = sum(how.sections);

	return model::explore<world>(
		how,
		[](world &w, unsigned cpu) {
			if (cpu != 0) {
				w.section(w.who[cpu]);
			} else if (w.who[cpu].try_lock(w.lock)) {
				w.add();
				w.who[cpu].unlock(w.lock);
			} else {
				w.failed++;
			}
		},
		[expected](world &w) {
			model::check(w.count.get() + w.failed == expected,
				     "every section counted");
		});
}

/* All only try: of those who find it free throughout, one gets it. */
template <typename Subject>
result tries_only(const options &how)
{
	using world = counted<Subject>;

	return model::explore<world>(
		how,
		[](world &w, unsigned cpu) {
			if (w.who[cpu].try_lock(w.lock)) {
				w.add();
				w.who[cpu].unlock(w.lock);
			}
		},
		[](world &w) {
			model::check(w.count.get() > 0,
				     "somebody's try succeeds");
		});
}

/* CPU 1 tries after CPU 0 has left, and knows that: it must succeed. */
template <typename Subject>
result try_after_unlock(const options &how)
{
	struct world : counted<Subject> {
		klock::atomic<u8> left;
	};

	return model::explore<world>(how, [](world &w, unsigned cpu) {
		if (cpu == 0) {
			w.section(w.who[0]);
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
template <typename Subject>
result two_in_turn(options how)
{
	struct world : counted<Subject> {
		counted<Subject> other;
		unsigned done[most_cpus] = {}; /* on the host */
	};

	return model::explore<world>(how, [](world &w, unsigned cpu) {
		counted<Subject> &first = w;

		if (w.done[cpu]++ % 2 == 0)
			first.section(w.who[cpu]);
		else
			w.other.section(w.other.who[cpu]);
	});
}

/*
 * CPU 1's doorway is over when it begins to wait, or has the lock; it then says
 * so.
 */
template <typename Subject>
struct queue : counted<Subject> {
	klock::atomic<u8> came;
	klock::plain<bool> served;
	unsigned bypassed = 0; /* on the host: one CPU's alone */

	queue() { model::name(came, "came"); }

	/* The section of the CPU that must not be bypassed. */
	void come(unsigned cpu)
	{
		auto tell = [this] { came.store_release(1); };
		model::before_waits hook(tell);

		this->who[cpu].lock(this->lock);
		served.set(true);
		came.store_release(1);
		this->who[cpu].unlock(this->lock);
	}
};

/*
 * First come, first served: CPU 0 comes when it knows that CPU 1's doorway is
 * over; CPU 2 is there so that CPU 1 has somebody to wait for. All of them run:
 * nobody's patience ends.
 */
template <typename Subject>
result first_come_first_served(options how = {})
{
	using world = queue<Subject>;

	how.sections = {1, 1, 1};
	how.patient = everybody;
	return model::explore<world>(how, [](world &w, unsigned cpu) {
		if (cpu == 1)
			w.come(cpu);
		else if (cpu == 2)
			w.section(w.who[cpu]);
		else {
			w.came.await_eq_acquire(1);
			w.who[cpu].lock(w.lock);
			model::check(w.served.get(),
				     "who came first was served first");
			w.who[cpu].unlock(w.lock);
		}
	});
}

/*
 * mortal_world - a lock that whoever leaves last ends
 */

template <typename Subject>
struct mortal_world {
	using object =
		klock::selftest::mortal<typename Subject::lock, most_cpus>;

	/* Its life is not the world's. */
	union {
		object it;
	};
	unsigned ends = 0; /* on the host */

	explicit mortal_world(unsigned references) : it(references)
	{
		model::name(it.lock, "lock");
		model::name(it.references, "references");
	}
	~mortal_world() {}

	void section(unsigned cpu)
	{
		if (!it.put(cpu))
			return;
		it.~object();
		ends++;
	}
};

/* The last to leave ends the lock: nobody else is still at it. */
template <typename Subject>
result ended_by_the_last(const options &how)
{
	using world = mortal_world<Subject>;
	const unsigned references = sum(how.sections);

	return model::explore_from(
		how, [references] { return world(references); },
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
template <typename Subject>
struct timed : counted<Subject> {
	unsigned gave_up[most_cpus] = {};

	/* True: was inside. */
	bool section_by_deadline(unsigned cpu)
	{
		auto &who = this->who[cpu];

		if (!who.try_lock_until(this->lock, 1)) {
			gave_up[cpu]++;
			return false;
		}
		this->add();
		who.unlock(this->lock);
		return true;
	}

	void section_by_try(unsigned cpu)
	{
		auto &who = this->who[cpu];

		if (!who.try_lock(this->lock)) {
			gave_up[cpu]++;
			return;
		}
		this->add();
		who.unlock(this->lock);
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
		model::check(this->count.get() + without == sum(how.sections),
			     "every section counted");
		for (unsigned cpu = 0; cpu < how.sections.size(); cpu++) {
			model::check(this->who[cpu].try_lock(this->lock),
				     "the lock is free");
			this->who[cpu].unlock(this->lock);
		}
	}
};

/* All by a deadline; those in options.patient wait for ever. */
template <typename Subject>
result gives_up(const options &how)
{
	using world = timed<Subject>;

	return model::explore<world>(
		how,
		[](world &w, unsigned cpu) {
			(void)w.section_by_deadline(cpu);
		},
		[how](world &w) { w.at_rest(how); });
}

/* CPU 0 tries and gives up, turn by turn; the others wait. */
template <typename Subject>
result gives_up_and_tries(options how)
{
	using world = timed<Subject>;
	struct turns : world {
		bool tries[most_cpus] = {};
	};

	how.patient = ~1u;
	return model::explore<turns>(
		how,
		[](turns &w, unsigned cpu) {
			if (cpu == 0 && (w.tries[0] = !w.tries[0]))
				w.section_by_try(cpu);
			else
				(void)w.section_by_deadline(cpu);
		},
		[how](turns &w) { w.at_rest(how); });
}

/* Who never leaves keeps out the others, and none of them for ever. */
template <typename Subject>
result holder_stays(const options &how)
{
	using world = timed<Subject>;

	return model::explore<world>(how, [](world &w, unsigned cpu) {
		if (cpu == 0)
			w.who[0].lock(w.lock);
		else if (w.who[cpu].try_lock_until(w.lock, 1))
			w.who[cpu].unlock(w.lock);
	});
}

/*
 * Until enough(result) says so: true if it did. Of two CPUs and of three, each
 * with a lock made for so many: what a full ring needs shows in no other.
 */
template <typename Subject, typename Enough>
bool each_timed_client(const options &how, Enough enough)
{
	constexpr bool two = Subject::capacity == 2;
	const auto with = [&how](std::vector<unsigned> sections,
				 unsigned patient) {
		options o = how;
		o.sections = sections;
		o.patient = patient;
		return o;
	};

	if (two)
		return enough(gives_up<Subject>(with({2, 2}, 0))) ||
		       enough(gives_up<Subject>(with({2, 2}, 1))) ||
		       enough(gives_up_and_tries<Subject>(with({4, 3}, 0))) ||
		       enough(gives_up<Subject>(with({3, 3}, 0)));
	return enough(gives_up<Subject>(with({1, 1, 1}, 0))) ||
	       enough(gives_up<Subject>(with({2, 1, 1}, 1))) ||
	       enough(gives_up_and_tries<Subject>(with({3, 1, 1}, 0)));
}

/* The same lock of the list, made for two CPUs, and as it is. */
template <typename Subject, typename Enough>
bool timed_clients_of_two_and_three(const options &how, Enough enough)
{
	bool found = false;

	klock::selftest::all_locks<2>::for_each([&]<typename Two>() {
		if constexpr (klock::timed_lockable<typename Two::lock>)
			if (!found && Two::name == std::string(Subject::name))
				found = each_timed_client<Two>(how, enough);
	});
	return found || each_timed_client<Subject>(how, enough);
}

} // namespace worlds
