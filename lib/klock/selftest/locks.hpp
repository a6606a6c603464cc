/* SPDX-License-Identifier: MIT */
/*
 * locks - THE list of locks, and one way to take any of them
 *
 * Host tests, lab, model checker, simulator and benchmarks all read this list
 * and name no lock themselves. To add a lock: its header, one line here. A lock
 * that readers share has a line in each of the two lists.
 * Freestanding: a kernel can run the same tests on itself.
 */
#pragma once

#include <klock/anderson_lock.hpp>
#include <klock/bakery_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/concepts.hpp>
#include <klock/graunke_thakkar_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/narrow_ticket_lock.hpp>
#include <klock/padded_ticket_lock.hpp>
#include <klock/peterson_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/proportional_ticket_lock.hpp>
#include <klock/queued_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/timeout_lock.hpp>
#include <klock/tournament_lock.hpp>
#include <klock/ttas_lock.hpp>
#include <klock/types.hpp>

namespace klock::selftest {

/*
 * A lock's promise to its waiters, weakest first. fifo_if_all_run: first come,
 * first served, except that a waiter which does not run when its turn comes is
 * passed over.
 */
enum class service { none, bounded, starvation_free, fifo_if_all_run, fifo };

/* Whether waiters queue, as long as all of them run. */
constexpr bool queues(service s) { return s >= service::fifo_if_all_run; }

/* Text as a template argument. */
template <usize Size>
struct text {
	char chars[Size];

	consteval text(const char (&from)[Size])
	{
		for (usize i = 0; i < Size; i++)
			chars[i] = from[i];
	}
};
template <usize Size>
text(const char (&)[Size]) -> text<Size>;

/*
 * A line of the list. The model checker makes a lock's counters wrap at a few
 * bits. For a lock whose integers are no such counters, Whole says why: it is
 * tested with whole integers alone.
 */
template <text Name, any_lock L, service Service, text Whole = "">
struct subject {
	using lock = L;
	static constexpr const char *name = Name.chars;
	static constexpr service order_of_service = Service;
	static constexpr u64 capacity = L::max_contenders;
	static constexpr const char *whole_because = Whole.chars;
};

template <typename... Subjects>
struct list {
	static constexpr unsigned size = sizeof...(Subjects);

	/* Calls visit.operator()<Subject>() for each, in the list's order. */
	template <typename Visit>
	static constexpr void for_each([[maybe_unused]] Visit visit)
	{
		(visit.template operator()<Subjects>(), ...);
	}
};

/*
 * Every lock of klock, by family, for up to Cpus contenders where the type asks
 * for their number.
 */
template <unsigned Cpus>
using all_locks = list<
	/* tickets */
	subject<"ticket_lock<u8>", ticket_lock<u8>, service::fifo>,
	subject<"ticket_lock<u16>", ticket_lock<u16>, service::fifo>,
	subject<"ticket_lock<u32>", ticket_lock<u32>, service::fifo>,
	subject<"preemptable_ticket_lock<u8>", preemptable_ticket_lock<u8>,
		service::fifo_if_all_run>,
	subject<"preemptable_ticket_lock<u16>", preemptable_ticket_lock<u16>,
		service::fifo_if_all_run>,
	subject<"narrow_ticket_lock<2>", narrow_ticket_lock<2>, service::fifo,
		"both counters share one byte">,
	subject<"narrow_ticket_lock<3>", narrow_ticket_lock<3>, service::fifo,
		"both counters share one byte">,
	subject<"narrow_ticket_lock<4>", narrow_ticket_lock<4>, service::fifo,
		"both counters share one byte">,
	subject<"padded_ticket_lock<u8>", padded_ticket_lock<u8>,
		service::fifo>,
	subject<"padded_ticket_lock<u32>", padded_ticket_lock<u32>,
		service::fifo>,
	subject<"proportional_ticket_lock<u8>", proportional_ticket_lock<u8>,
		service::fifo>,
	subject<"proportional_ticket_lock<u32>", proportional_ticket_lock<u32>,
		service::fifo>,
	/* test-and-set */
	subject<"tas_lock", tas_lock, service::none>,
	subject<"ttas_lock", ttas_lock, service::none>,
	subject<"backoff_ttas_lock", backoff_ttas_lock, service::none>,
	/* arrays */
	subject<"anderson_lock", anderson_lock<Cpus>, service::fifo>,
	subject<"graunke_thakkar_lock", graunke_thakkar_lock<Cpus>,
		service::fifo>,
	subject<"timeout_lock", timeout_lock<Cpus>, service::fifo>,
	/* lists */
	subject<"mcs_lock", mcs_lock, service::fifo>,
	subject<"clh_lock", clh_lock, service::fifo>,
	subject<"queued_lock", queued_lock<Cpus>, service::fifo,
		"a tail is a node's number, and counts nothing">,
	/* loads, stores and fences only */
	subject<"peterson_lock", peterson_lock, service::bounded>,
	subject<"tournament_lock", tournament_lock<(Cpus < 2 ? 2 : Cpus)>,
		service::starvation_free>,
	subject<"bakery_lock", bakery_lock<Cpus>, service::fifo>,
	/* readers and writers, as their writers have them */
	subject<"rw_ticket_lock<u8>", rw_ticket_lock<u8>, service::fifo>,
	subject<"rw_ticket_lock<u16>", rw_ticket_lock<u16>, service::fifo>,
	subject<"phase_fair_lock<u8>", phase_fair_lock<u8>, service::fifo>,
	subject<"phase_fair_lock<u16>", phase_fair_lock<u16>, service::fifo>,
	subject<"reader_lock", reader_lock<Cpus>, service::fifo,
		"both counters share one word">>;

/* -- Locks that readers share -------------------------------------------- */

/* The order of service when both readers and writers wait. */
enum class sharing {
	in_order,      /* the order of arrival */
	by_phases,     /* a reader waits for one writer at most */
	writers_first, /* readers wait as long as writers arrive */
};

/* A line of the second list. The name is that of the line in the first. */
template <text Name, shared_lockable L, sharing Sharing, text Whole = "">
struct shared_subject : subject<Name, L, service::fifo, Whole> {
	static constexpr sharing order_of_sharing = Sharing;
	static constexpr u64 reader_capacity = L::max_readers;
};

/* Every lock of all_locks that readers can share. */
template <unsigned Cpus>
using all_shared_locks = list<
	shared_subject<"rw_ticket_lock<u8>", rw_ticket_lock<u8>,
		       sharing::in_order>,
	shared_subject<"rw_ticket_lock<u16>", rw_ticket_lock<u16>,
		       sharing::in_order>,
	shared_subject<"phase_fair_lock<u8>", phase_fair_lock<u8>,
		       sharing::by_phases>,
	shared_subject<"phase_fair_lock<u16>", phase_fair_lock<u16>,
		       sharing::by_phases>,
	shared_subject<"reader_lock", reader_lock<Cpus>, sharing::writers_first,
		       "both counters share one word">>;

/* -- One way to take any of them ----------------------------------------- */

/* A lock whose holder can see that somebody waits. */
template <typename L>
concept tells_contended =
	requires(const L &l) { l.is_contended(); } ||
	requires(const L &l, unsigned cpu) { l.is_contended(cpu); } ||
	requires(const L &l, const typename L::node &n) { l.is_contended(n); };

/*
 * A contender, with the argument that it takes the lock by: nothing, a node, or
 * its number. There is one object for each contender; it must outlive the
 * lock's use (CLH).
 */
template <any_lock L>
struct contender;

template <plain_lock L>
struct contender<L> {
	constexpr explicit contender(unsigned = 0) {}
	constexpr void renumber(unsigned) {}
	void lock(L &l) { l.lock(); }
	void unlock(L &l) { l.unlock(); }
	[[nodiscard]] bool try_lock(L &l)
		requires try_lockable<L>
	{
		return l.try_lock();
	}
	[[nodiscard]] bool is_contended(const L &l) const
		requires tells_contended<L>
	{
		return l.is_contended();
	}
};

/* The CPU's number is passed in, so tests need no klock_os_cpu_id(). */
template <per_cpu_lock L>
struct contender<L> {
	constexpr explicit contender(unsigned number = 0) : cpu(number) {}
	constexpr void renumber(unsigned number) { cpu = number; }
	void lock(L &l) { l.lock_from(cpu); }
	void unlock(L &l) { l.unlock(); }
	[[nodiscard]] bool try_lock(L &l)
		requires try_lockable<L>
	{
		return l.try_lock();
	}
	[[nodiscard]] bool is_contended(const L &l) const
		requires tells_contended<L>
	{
		return l.is_contended();
	}

      private:
	unsigned cpu;
};

template <node_lock L>
struct contender<L> {
	constexpr explicit contender(unsigned = 0) {}
	constexpr void renumber(unsigned) {}
	void lock(L &l) { l.lock(node); }
	void unlock(L &l) { l.unlock(node); }
	[[nodiscard]] bool try_lock(L &l)
		requires try_lockable<L>
	{
		return l.try_lock(node);
	}
	[[nodiscard]] bool is_contended(const L &l) const
	{
		return l.is_contended(node);
	}

      private:
	typename L::node node;
};

template <cpu_lock L>
struct contender<L> {
	constexpr explicit contender(unsigned number = 0) : cpu(number) {}
	constexpr void renumber(unsigned number) { cpu = number; }
	void lock(L &l) { l.lock(cpu); }
	void unlock(L &l) { l.unlock(cpu); }
	[[nodiscard]] bool try_lock(L &l)
		requires try_lockable<L>
	{
		return l.try_lock(cpu);
	}
	[[nodiscard]] bool try_lock_until(L &l, u64 deadline)
		requires timed_lockable<L>
	{
		return l.try_lock_until(cpu, deadline);
	}
	[[nodiscard]] bool is_contended(const L &l) const
		requires tells_contended<L>
	{
		if constexpr (requires { l.is_contended(cpu); })
			return l.is_contended(cpu);
		else
			return l.is_contended();
	}

      private:
	unsigned cpu;
};

/* A contender that reads; it needs nothing, or its number. */
template <shared_lockable L>
struct reader {
	constexpr explicit reader(unsigned number = 0) : cpu(number) {}
	constexpr void renumber(unsigned number) { cpu = number; }

	void lock(L &l)
	{
		if constexpr (cpu_shared_lock<L>)
			l.lock_shared(cpu);
		else
			l.lock_shared();
	}
	void unlock(L &l)
	{
		if constexpr (cpu_shared_lock<L>)
			l.unlock_shared(cpu);
		else
			l.unlock_shared();
	}
	[[nodiscard]] bool try_lock(L &l)
		requires try_shared_lockable<L>
	{
		if constexpr (cpu_shared_lock<L>)
			return l.try_lock_shared(cpu);
		else
			return l.try_lock_shared();
	}

      private:
	unsigned cpu;
};

/* -- One lock of each algorithm -------------------------------------------- */

/* Whether two names are of one algorithm: they are equal before '<'. */
constexpr bool same_algorithm(const char *a, const char *b)
{
	for (; *a == *b && *a && *a != '<'; a++)
		b++;
	return *a == *b;
}

/* Whether a line is the first of its algorithm in the list. */
template <typename Subject, typename... All>
constexpr bool is_first(list<All...>)
{
	const char *first = nullptr;

	((first || !same_algorithm(All::name, Subject::name)
		  ? void()
		  : void(first = All::name)),
	 ...);
	return first == Subject::name;
}

/* The lines of a list that are the first of their algorithm, or the others. */
template <typename List, bool First>
struct by_width {
	template <typename Visit>
	static constexpr void for_each(Visit visit)
	{
		List::for_each([&visit]<typename Subject>() {
			if constexpr (is_first<Subject>(List{}) == First)
				visit.template operator()<Subject>();
		});
	}
};

template <typename List>
using one_of_each = by_width<List, true>;
template <typename List>
using other_widths = by_width<List, false>;

} // namespace klock::selftest
