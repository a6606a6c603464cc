/* SPDX-License-Identifier: MIT */
/*
 * wrappers: what a lock is, it still is inside of each wrapper
 *
 * A guard, an irq_lock or a check asks a lock what it is: whether its waiters
 * sleep, whether readers share it, and so on. A wrapper that loses the answer
 * lets a debug build do what a release build refuses. Which verbs each wrapper
 * hands on, of the list in klock/detail/verbs.hpp, is a table of
 * lib/docs/verbs.md: tests_host/embed/verbs.py.
 */
#include <klock/anderson_lock.hpp>
#include <klock/annotated.hpp>
#include <klock/checked_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/irq_lock.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/leveled.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/queued_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/timeout_lock.hpp>
#include <klock/too_long.hpp>

#include <catch.hpp>

#include "pretended_kernel.hpp"

#include <string>

using namespace klock;

namespace wrappers_tests {

namespace {

using detail::inside;

constexpr struct property {
	const char *name;
	unsigned bit;
} properties[] = {
	{"sleeps", 1},	{"threads alone", 2},  {"plain", 4},
	{"node", 8},	{"node on stack", 16}, {"cpu", 32},
	{"serves", 64}, {"nodes of cpu", 128}, {"one capacity", 256},
};

template <typename L>
concept of_one_capacity = requires { requires L::readers_contend; };

/* A bit for each property of a lock. */
template <typename L>
constexpr unsigned properties_of()
{
	const bool has[] = {
		sleeping<L>,	 thread_only_lock<L>, plain_lock<L>,
		node_lock<L>,	 stack_node_lock<L>,  cpu_lock<L>,
		serving_lock<L>, per_cpu_lock<L>,     of_one_capacity<L>};
	unsigned found = 0;

	for (unsigned i = 0; i < sizeof(has); i++)
		found |= has[i] ? properties[i].bit : 0u;
	return found;
}

std::string names(unsigned set)
{
	std::string all;

	for (const property &one : properties)
		if (set & one.bit)
			all += std::string(all.empty() ? "" : ", ") + one.name;
	return all;
}

constinit section_maxima<4> maxima;

template <typename L, typename Wrapped>
void keeps(const char *wrapper)
{
	INFO(wrapper << ": " << __PRETTY_FUNCTION__);
	CHECK(names(properties_of<inside<Wrapped>>()) ==
	      names(properties_of<L>()));
}

/* Each wrapper of L, and each pair of wrappers that may stand together. */
template <typename L>
void survives()
{
	keeps<L, checked_lock<L>>("checked");
	keeps<L, checked_lock<L, "a">>("checked, with a name");
	keeps<L, counted_lock<L, "a">>("counted");
	keeps<L, counted_lock<hold_times<L>>>("counted, hold times");
	keeps<L, timed_lock<L, maxima>>("timed");
	keeps<L, leveled<L, 1>>("leveled");
	keeps<L, checked_lock<counted_lock<L>>>("checked, counted");
	keeps<L, timed_lock<checked_lock<counted_lock<L>>, maxima>>("all");
	keeps<L, leveled<checked_lock<L>, 1>>("leveled, checked");
	keeps<thread_lock<L>, checked_lock<thread_lock<L>>>("of threads");
	keeps<thread_lock<L>, counted_lock<thread_lock<L>>>("of threads");
	keeps<thread_lock<L>, timed_lock<checked_lock<thread_lock<L>>, maxima>>(
		"of threads");
	if constexpr (!sleeping<L>) {
		keeps<L, irq_lock<L>>("irq");
		keeps<L, irq_lock<checked_lock<L>>>("irq, checked");
		keeps<L, irq_lock<timed_lock<checked_lock<L>, maxima>>>(
			"irq, timed, checked");
		keeps<L, leveled<irq_lock<checked_lock<L>>, 1>>(
			"leveled, irq, checked");
	}
}

/*
 * The panic of a wrong use names this file twice if the lock was taken before,
 * and no header: a wrapper that keeps the site to itself has its own line said.
 */
template <typename L, typename Use>
void tells(const char *verb, bool held, Use use)
{
	L lock;

	forget_locks();
	INFO(verb << ": " << __PRETTY_FUNCTION__);
	if constexpr (requires { detail::told(lock, {}).lock(); })
		if (held)
			detail::told(lock, caller_site()).lock();
	const std::string said = panic_of([&] { use(lock); });

	has(said, shown(__FILE__));
	INFO(said);
	CHECK(said.find(".hpp:") == std::string::npos);
}

/* With verbs that each wrapper of L hands on. */
template <typename L>
void tells_of_writers()
{
	tells<L>("lock", true, [](L &l) { l.lock(); });
	tells<L>("lock(serve)", true, [](L &l) { l.lock([] {}); });
	tells<L>("lock_paced", true,
		 [](L &l) { l.lock_paced([](u8) { return 1u; }); });
	tells<L>("unlock", false, [](L &l) { l.unlock(); });
	tells<L>("told().lock", true,
		 [](L &l) { detail::told(l, caller_site()).lock(); });
	tells<L>("told().unlock", false,
		 [](L &l) { detail::told(l, caller_site()).unlock(); });
}

template <typename L>
void tells_of_readers()
{
	tells<L>("downgrade", false, [](L &l) { l.downgrade(); });
	tells<L>("lock_shared", true, [](L &l) { l.lock_shared(); });
	tells<L>("unlock_shared", false, [](L &l) { l.unlock_shared(); });
	tells<L>("lock_upgradable", true, [](L &l) { l.lock_upgradable(); });
	tells<L>("unlock_upgradable", false,
		 [](L &l) { l.unlock_upgradable(); });
	tells<L>("upgrade", false, [](L &l) { l.upgrade(); });
	tells<L>("try_upgrade", false, [](L &l) { (void)l.try_upgrade(); });
	tells<L>("told().downgrade", false,
		 [](L &l) { detail::told(l, caller_site()).downgrade(); });
}

template <typename L>
void tells_of_questions()
{
	tells<L>("is_queued", false, [](L &l) { (void)l.is_queued(99); });
}

/* An annotated lock has no other verbs than these and tries. */
template <typename L>
void tells_of_annotated()
{
	tells<L>("lock", true, [](L &l) { l.lock(); });
	tells<L>("unlock", false, [](L &l) { l.unlock(); });
	if constexpr (requires(L &l) { l.lock([] {}); })
		tells<L>("lock(serve)", true, [](L &l) { l.lock([] {}); });
	if constexpr (requires(L &l) { l.lock_shared(); }) {
		tells<L>("lock_shared", true, [](L &l) { l.lock_shared(); });
		tells<L>("unlock_shared", false,
			 [](L &l) { l.unlock_shared(); });
	}
}

/* The lock inside of an irq_shared_lock. */
template <typename L>
void tells_of_a_gate()
{
	tells<L>("lock", true,
		 [](L &l) { detail::told(l, caller_site()).lock(); });
	tells<L>("unlock", false,
		 [](L &l) { detail::told(l, caller_site()).unlock(); });
	tells<L>("downgrade", false,
		 [](L &l) { detail::told(l, caller_site()).downgrade(); });
	tells<L>("lock_shared", true,
		 [](L &l) { detail::told(l, caller_site()).lock_shared(); });
	tells<L>("unlock_shared", false,
		 [](L &l) { detail::told(l, caller_site()).unlock_shared(); });
}

/* A lock that is told its call site tells so through each wrapper. */
template <typename L>
constexpr bool is_told = detail::keeps_call_sites<inside<L>>;

} // namespace

TEST_CASE("wrappers: each property of a lock survives each wrapper")
{
	survives<tas_lock>();
	survives<mcs_lock>();
	survives<clh_lock>();
	survives<anderson_lock<4>>();
	survives<queued_lock<4>>();
	survives<timeout_lock<4>>();
	survives<rw_ticket_lock<u8>>();
	survives<phase_fair_lock<u8>>();
	survives<reader_lock<4>>();
	survives<mutex>();
	survives<inheriting_mutex>();
	survives<shared_mutex>();
	CHECK(names(properties_of<mutex>()) == "sleeps, plain");
	CHECK(names(properties_of<inheriting_mutex>()) ==
	      "sleeps, threads alone, plain");
}

TEST_CASE("wrappers: what is told the caller is told so inside of others")
{
	using checked = checked_lock<tas_lock>;

	CHECK(is_told<checked>);
	CHECK(is_told<timed_lock<checked, maxima>>);
	CHECK(is_told<irq_lock<checked>>);
	CHECK(is_told<leveled<irq_lock<checked>, 1>>);
	CHECK(is_told<irq_shared_lock<checked_lock<rw_ticket_lock<u8>>>>);
	CHECK_FALSE(is_told<tas_lock>);
	CHECK_FALSE(is_told<counted_lock<tas_lock>>);
}

TEST_CASE("wrappers: each tells a checked lock inside of it who asks")
{
	using ticket = ticket_lock<u8>;
	using routes = phase_fair_lock<u8>;

	tells_of_writers<checked_lock<ticket>>();
	tells_of_writers<checked_lock<counted_lock<ticket>>>();
	tells_of_writers<timed_lock<checked_lock<ticket>, maxima>>();
	tells_of_writers<
		timed_lock<checked_lock<counted_lock<ticket>>, maxima>>();
	tells_of_annotated<annotated_lock<checked_lock<ticket>>>();
	tells_of_questions<checked_lock<timeout_lock<4>>>();
	tells_of_questions<irq_lock<checked_lock<timeout_lock<4>>>>();
	tells_of_questions<timed_lock<checked_lock<timeout_lock<4>>, maxima>>();
	tells_of_readers<checked_lock<routes>>();
	tells_of_readers<checked_lock<counted_lock<routes>>>();
	tells_of_readers<timed_lock<checked_lock<routes>, maxima>>();
	tells_of_annotated<annotated_lock<checked_lock<routes>>>();
	tells_of_a_gate<inside<irq_shared_lock<checked_lock<routes>>>>();
	tells_of_a_gate<inside<irq_shared_lock<
		timed_lock<checked_lock<rw_ticket_lock<u8>>, maxima>>>>();
}

TEST_CASE("wrappers: what nobody holds sleeps in its checked form, too")
{
	CHECK(sleeping<checked_lock<semaphore, "jobs">>);
}

} // namespace wrappers_tests
