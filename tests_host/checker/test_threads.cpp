/* SPDX-License-Identifier: MIT */
/*
 * A thread's own data, and how threads wait for each other, as code has them
 * that was written for threads (klock::model_plain). Locks: test_plain.cpp.
 */
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <utility>

namespace of_threads {

namespace {

using enum std::memory_order;
using model::bug;
using model::check;

thread_local int own, first = 3;

struct world {
	int before = own++; /* of the thread that makes it */
	std::atomic<int *> shown{nullptr};
	std::atomic<int> flag{0}, ended{0};
};

/* It is made when it is used first, and ends with its CPU. */
struct made_late {
	made_late() { own = 7; }
	~made_late()
	{
		if (of)
			of->ended.fetch_add(1, relaxed);
	}
	world *of = nullptr;
};
thread_local made_late late;
thread_local std::atomic<int> number{0};

void nothing(world &) {}

void counts(world &w)
{
	static thread_local int in_function = 1;

	check(own++ == 0 && first++ == 3 && in_function++ == 1);
	check(own == 1 && w.before == 0);
}

void shows(world &w)
{
	own = 1;
	w.shown.store(&own, release);
	while (!w.flag.load(acquire))
		;
}

void shows_and_goes(world &w)
{
	own = 1;
	w.shown.store(&own, release);
}

void reads(world &w)
{
	if (const int *const of_other = w.shown.load(acquire))
		check(*of_other >= 0 && &own != of_other && own == 0);
	w.flag.store(1, release);
}

const struct {
	const char *name;
	void (*one)(world &), (*other)(world &);
	void (*end)(world &);
	bug found;
	const char *says = "", *of = "";
} rows[] = {
	{"each CPU has one, which begins anew", counts, counts,
	 [](world &) { check(own == 1 && first == 3); }, bug::none},
	{"its constructor and its destructor run",
	 [](world &w) { late.of = &w; },
	 [](world &w) {
		 late.of = &w;
		 check(own == 7);
	 },
	 [](world &w) { check(w.ended == 2 && own == 1); }, bug::none},
	{"a destructor's access races", [](world &w) { late.of = &w; },
	 [](world &w) { *reinterpret_cast<int *>(&w.ended) = 1; }, nothing,
	 bug::data_race},
	{"an atomic one is each CPU's",
	 [](world &) { check(number.fetch_add(1, relaxed) == 0); },
	 [](world &) { check(number.fetch_add(1, relaxed) == 0); },
	 [](world &) { check(number == 0); }, bug::none},
	{"another CPU may access it, in order", shows, reads, nothing,
	 bug::none},
	{"a race with another CPU",
	 [](world &w) {
		 w.shown.store(&own, release);
		 own = 1;
		 while (!w.flag.load(acquire))
			 ;
	 },
	 [](world &w) {
		 if (int *const of_other = w.shown.load(acquire))
			 *of_other = 1;
		 w.flag.store(1, release);
	 },
	 nothing, bug::data_race,
	 "data race with the access by cpu0 at test_threads.cpp:",
	 ": cpu0's own"},
	{"its CPU may have ended", shows_and_goes, reads, nothing,
	 bug::dead_object},
	{"its CPU waits for another, and is not ordered",
	 [](world &w) {
		 w.shown.store(&own, release);
		 while (!w.flag.load(relaxed))
			 ;
	 },
	 reads, nothing, bug::dead_object, "end of an object that is in use"},
	{"its CPU has ended", shows_and_goes,
	 [](world &w) {
		 while (!w.shown.load(acquire))
			 ;
		 *w.shown.load(relaxed) = 2;
	 },
	 nothing, bug::dead_object},
};

} // namespace

TEST_CASE("threads: a thread_local is its CPU's own")
{
	own = 5;
	for (const auto &row : rows) {
		const auto r = model::explore_threads<world>(
			{}, row.end, row.one, row.other);

		INFO(row.name << "\n" << r.timeline << r.limit);
		CHECK(r.found == row.found);
		CHECK(r.message.starts_with(row.says));
		CHECK(r.ok() == r.proved());
		CHECK(r.message.ends_with(row.of));
	}
	CHECK(own == 5);
}

/* It does not begin anew, and is no CPU's. */
TEST_CASE("threads: what is of the test's thread is refused")
{
	static int *of_test;

	of_test = &own;
	verdict::found(
		bug::unseen,
		model::explore_threads<world>({}, nothing, nothing,
					      [](world &) { ++*of_test; }),
		"refused: a thread_local that is one for all CPUs (it is "
		"of the thread that explores): ");
}

/* -- Waiting, and the rest of the library ---------------------------------- */

namespace {

struct shared;
void key_ends(void *of);

pthread_key_t made_key()
{
	pthread_key_t key;

	pthread_key_create(&key, key_ends);
	return key;
}

struct shared {
	std::mutex m, other;
	std::condition_variable c;
	std::condition_variable_any any;
	pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t plain_c = PTHREAD_COND_INITIALIZER;
	std::condition_variable *made = new std::condition_variable;
	std::recursive_mutex recursive;
	std::once_flag once;
	std::thread::id ids[2];
	std::map<int, int> map{{1, 1}, {5, 5}};
	std::list<int> list{1, 5};
	std::map<int, int>::iterator in_map = map.begin();
	std::list<int>::iterator in_list = --list.end();
	int state = 0, count = 0;
	std::atomic<int> flag{0};
	unsigned noted[3] = {};
	std::timed_mutex timed;
	std::exception_ptr thrown;
	pthread_key_t key = made_key();
	std::chrono::steady_clock::time_point at;
};

void idle(shared &) {}

void sets(shared &s)
{
	{
		const std::lock_guard held(s.m);
		s.state = 1;
	}
	s.c.notify_one();
}

void waits(shared &s)
{
	std::unique_lock held(s.m);

	s.c.wait(held, [&] { return s.state == 1; });
	s.count++;
}

template <bool Loops>
void waits_if(shared &s)
{
	std::unique_lock held(s.m);

	if (Loops)
		while (!s.state)
			s.c.wait(held);
	else if (!s.state)
		s.c.wait(held);
	check(s.state == 1, "woken for nothing");
}

void both(shared &s)
{
	const std::scoped_lock held(s.m, s.other);
	s.count++;
}

void both_in_the_other_order(shared &s)
{
	std::unique_lock one(s.other, std::defer_lock),
		two(s.m, std::defer_lock);

	std::lock(one, two);
	s.count++;
}

void calls_once(shared &s)
{
	std::call_once(s.once, [&] { s.count++; });
	check(s.count == 1);
}

void goes_deeper(shared &s)
{
	const std::lock_guard held(s.recursive);
	check(s.recursive.try_lock());
	s.count++;
	s.recursive.unlock();
	s.count++;
}

void notes_its_id(shared &s)
{
	const std::thread::id mine = std::this_thread::get_id();

	check(mine == std::this_thread::get_id() && mine != std::thread::id());
	s.ids[model::cpu()] = mine;
}

void sets_errno(shared &)
{
	check(errno == 0);
	errno = static_cast<int>(model::cpu()) + 1;
	check(errno == static_cast<int>(model::cpu()) + 1);
}

template <bool Locks>
void changes_map(shared &s)
{
	std::unique_lock held(s.m, std::defer_lock);

	if (Locks)
		held.lock();
	s.map.emplace(static_cast<int>(model::cpu()) + 2, 0);
	s.map.erase(1);
	int before = 0;
	for (const auto &one : s.map) {
		check(one.first > before);
		before = one.first;
	}
	check(before == 5 && (--s.map.end())->first == 5);
}

template <bool Locks>
void changes_list(shared &s)
{
	std::unique_lock held(s.m, std::defer_lock);

	if (Locks)
		held.lock();
	s.list.push_back(7);
	s.list.reverse();
	check(s.list.front() == 7);
	s.list.pop_front();
	s.list.sort();
	check(s.list.front() == 1 && s.list.back() == 5);
}

/* Bits of what an execution has come to, of any of them. */
unsigned reached;

void notes(shared &s, unsigned what) { s.noted[model::cpu()] = 1u << what; }

void looks(shared &s)
{
	for (const unsigned one : s.noted)
		reached |= one;
}

template <unsigned Bit>
void notes_waking(shared &s)
{
	std::unique_lock held(s.m);

	s.flag.fetch_add(1, relaxed);
	s.c.wait(held);
	if (!s.state)
		notes(s, Bit);
	s.state = 1;
	s.c.notify_one();
}

void wakes_one_of_two(shared &s)
{
	while (s.flag.load(relaxed) < 2)
		;
	/* The second has let it go. */
	s.m.lock();
	s.m.unlock();
	s.c.notify_one();
}

void wakes_no_sleeper(shared &s) { s.c.notify_one(); }

void waits_with_a_deadline(shared &s)
{
	std::unique_lock held(s.m);

	notes(s, s.c.wait_for(held, std::chrono::seconds(1),
			      [&] { return s.state == 1; }));
}

void takes_until(shared &s)
{
	const timespec deadline{};

	if (pthread_mutex_timedlock(&s.plain, &deadline))
		return notes(s, 0);
	notes(s, 1);
	s.count++;
	pthread_mutex_unlock(&s.plain);
}

template <bool All, bool Late = false>
void sets_for_made(shared &s)
{
	std::unique_lock held(s.m);

	s.state = 1;
	if (Late)
		held.unlock();
	All ? s.made->notify_all() : s.made->notify_one();
}

/* The first that is woken deletes it, behind others that are woken. */
template <bool HasDeadline>
void waits_and_deletes(shared &s)
{
	std::unique_lock held(s.m);

	if (HasDeadline && !s.state)
		s.made->wait_for(held, std::chrono::seconds(1),
				 [&] { return s.state == 1; });
	while (!HasDeadline && !s.state)
		s.made->wait(held);
	if (s.state && !s.count++)
		delete s.made;
}

/* Its place is another's at once, which nobody waits with. */
template <bool Makes>
void waits_and_makes_anew(shared &s)
{
	pthread_mutex_lock(&s.plain);
	while (!s.state)
		pthread_cond_wait(&s.plain_c, &s.plain);
	if (!s.count++) {
		pthread_cond_destroy(&s.plain_c);
		if (Makes)
			pthread_cond_init(&s.plain_c, nullptr);
	}
	pthread_mutex_unlock(&s.plain);
	if (Makes)
		pthread_cond_signal(&s.plain_c);
}

void wakes_all(shared &s)
{
	pthread_mutex_lock(&s.plain);
	s.state = 1;
	pthread_cond_broadcast(&s.plain_c);
	pthread_mutex_unlock(&s.plain);
}

void key_ends(void *of) { static_cast<shared *>(of)->flag.fetch_add(1); }

void keeps_a_value(shared &s)
{
	pthread_setspecific(s.key, &s);
	s.flag.store(1, release);
	while (s.flag.load(acquire) != 2)
		;
	check(pthread_getspecific(s.key) == &s);
}

void keeps_none(shared &s)
{
	while (s.flag.load(acquire) != 1)
		;
	check(pthread_getspecific(s.key) == nullptr);
	s.flag.store(2, release);
}

void tries_for_a_second(shared &s)
{
	const bool has = s.timed.try_lock_for(std::chrono::seconds(1));

	notes(s, has);
	if (!has)
		return;
	s.count++;
	s.timed.unlock();
}

void waits_by_the_clock(shared &s)
{
	using clock = std::chrono::steady_clock;
	const auto end = clock::now() + std::chrono::seconds(1);

	while (!s.flag.load(acquire))
		if (clock::now() >= end)
			return notes(s, 0);
	notes(s, 1);
	check(s.count == 1);
}

void sleeps(shared &)
{
	using clock = std::chrono::steady_clock;
	const auto start = clock::now();

	std::this_thread::sleep_for(std::chrono::nanoseconds(5));
	check(clock::now() - start >= std::chrono::nanoseconds(5));
}

struct failure {
	explicit failure(int n) : number(n) {}
	failure(const failure &) = default;
	~failure() { number = 0; }
	int number;
};

/* It keeps the exception only for as long as the other takes it. */
void throws_to_other(shared &s)
{
	std::exception_ptr mine;

	try {
		throw failure(3);
	} catch (...) {
		mine = std::current_exception();
	}
	s.thrown = mine;
	s.flag.store(1, release);
	try {
		std::rethrow_exception(mine);
	} catch (const failure &f) {
		check(f.number == 3);
	}
}

void catches_from_other(shared &s)
{
	if (!s.flag.load(acquire))
		return;
	try {
		std::rethrow_exception(std::exchange(s.thrown, nullptr));
	} catch (const failure &f) {
		check(f.number == 3);
	}
}

using part = void (*)(shared &);

const struct {
	const char *name;
	part one, other, third;
	part end;
	bug found;
	unsigned reaches = 0;
	unsigned spurious = 1;
	const char *says = "";
} with_others[] = {
	{"a wait with a predicate", sets, waits, nullptr,
	 [](shared &s) { check(s.count == 1); }, bug::none},
	{"a loop around the wait", sets, waits_if<true>, nullptr, idle,
	 bug::none},
	{"a wait may end for no reason", sets, waits_if<false>, nullptr, idle,
	 bug::failed_check, 0, 1, "failed: woken for nothing"},
	{"it does not, by the option", sets, waits_if<false>, nullptr, idle,
	 bug::none, 0, 0},
	{"a state that is set outside of the lock",
	 [](shared &s) {
		 s.flag.store(1, relaxed);
		 s.c.notify_one();
	 },
	 [](shared &s) {
		 std::unique_lock held(s.m);
		 while (!s.flag.load(relaxed))
			 s.c.wait(held);
	 },
	 nullptr, idle, bug::deadlock},
	{"one is woken, two wait", sets, waits, waits, idle, bug::deadlock},
	{"all are woken",
	 [](shared &s) {
		 const std::lock_guard held(s.m);
		 s.state = 1;
		 s.c.notify_all();
	 },
	 waits, waits, [](shared &s) { check(s.count == 2); }, bug::none},
	{"each of two may be the one", wakes_one_of_two, notes_waking<0>,
	 notes_waking<1>, looks, bug::none, 3, 0},
	{"one that comes too late is not woken", wakes_no_sleeper,
	 notes_waking<0>, nullptr, idle, bug::deadlock, 0, 0},
	{"a notification orders nothing",
	 [](shared &s) {
		 s.count = 1;
		 s.c.notify_one();
	 },
	 [](shared &s) {
		 std::unique_lock held(s.m);
		 if (s.c.wait_for(held, std::chrono::seconds(1)) ==
		     std::cv_status::no_timeout)
			 check(s.count == 1);
	 },
	 nullptr, idle, bug::data_race},
	{"a deadline passes, or does not", sets, waits_with_a_deadline, nullptr,
	 looks, bug::none, 3},
	{"with any lock",
	 [](shared &s) {
		 const std::lock_guard held(s.m);
		 s.state = 1;
		 s.any.notify_one();
	 },
	 [](shared &s) {
		 const std::lock_guard held(s.m);
		 while (!s.state)
			 s.any.wait(s.m);
	 },
	 nullptr, idle, bug::none},
	{"POSIX's",
	 [](shared &s) {
		 pthread_mutex_lock(&s.plain);
		 s.state = 1;
		 pthread_cond_signal(&s.plain_c);
		 pthread_mutex_unlock(&s.plain);
	 },
	 [](shared &s) {
		 pthread_mutex_lock(&s.plain);
		 while (!s.state)
			 pthread_cond_wait(&s.plain_c, &s.plain);
		 pthread_mutex_unlock(&s.plain);
	 },
	 nullptr, idle, bug::none},
	{"POSIX's, of which one is woken",
	 [](shared &s) { pthread_cond_signal(&s.plain_c); },
	 [](shared &s) {
		 pthread_mutex_lock(&s.plain);
		 pthread_cond_wait(&s.plain_c, &s.plain);
		 pthread_mutex_unlock(&s.plain);
	 },
	 nullptr, idle, bug::deadlock},
	{"who is woken first may delete it", sets_for_made<true>,
	 waits_and_deletes<false>, waits_and_deletes<false>,
	 [](shared &s) { check(s.count == 2); }, bug::none},
	{"with a deadline, too", sets_for_made<true>, waits_and_deletes<true>,
	 waits_and_deletes<false>, [](shared &s) { check(s.count > 0); },
	 bug::none},
	{"it may not while another waits", sets_for_made<false>,
	 waits_and_deletes<false>, waits_and_deletes<false>, idle,
	 bug::failed_check, 0, 1,
	 "failed: a condition variable is destroyed while a CPU waits with it"},
	{"nor before it was told", sets_for_made<true, true>,
	 waits_and_deletes<false>, nullptr, idle, bug::dead_object},
	{"POSIX's is made anew where it was", wakes_all,
	 waits_and_makes_anew<true>, waits_and_makes_anew<true>, idle,
	 bug::none},
	{"POSIX's is not", wakes_all, waits_and_makes_anew<false>,
	 [](shared &s) {
		 waits_and_makes_anew<false>(s);
		 pthread_cond_signal(&s.plain_c);
	 },
	 idle, bug::dead_object},
	{"a value of a key is each CPU's, and ends with it", keeps_a_value,
	 keeps_none, nullptr, [](shared &s) { check(s.flag == 3); }, bug::none},
	{"a lock for a second", tries_for_a_second, tries_for_a_second, nullptr,
	 [](shared &s) {
		 check(s.count > 0);
		 looks(s);
	 },
	 bug::none, 3},
	{"a wait by the clock",
	 [](shared &s) {
		 s.count = 1;
		 s.flag.store(1, release);
	 },
	 waits_by_the_clock, nullptr, looks, bug::none, 3},
	{"time passes in a sleep", sleeps, idle, nullptr, idle, bug::none},
	{"clocks that are read into one place",
	 [](shared &s) { s.at = std::chrono::steady_clock::now(); },
	 [](shared &s) { s.at = std::chrono::steady_clock::now(); }, nullptr,
	 idle, bug::data_race},
	{"an exception goes to another CPU", throws_to_other,
	 catches_from_other, nullptr, [](shared &s) { s.thrown = nullptr; },
	 bug::none},
	{"its pointer has no lock",
	 [](shared &s) {
		 try {
			 throw failure(1);
		 } catch (...) {
			 new (&s.thrown)
				 std::exception_ptr(std::current_exception());
		 }
	 },
	 [](shared &s) { check(!s.thrown); }, nullptr, idle, bug::data_race},
	{"an exception that changes",
	 [](shared &s) {
		 try {
			 throw failure(1);
		 } catch (failure &f) {
			 s.thrown = std::current_exception();
			 s.flag.store(1, release);
			 f.number = 2;
		 }
	 },
	 catches_from_other, nullptr, idle, bug::data_race},
	{"a lock with a deadline", takes_until, takes_until, nullptr, looks,
	 bug::none, 3},
	{"two locks, in both orders", both, both_in_the_other_order, nullptr,
	 [](shared &s) { check(s.count == 2); }, bug::none},
	{"two locks, by hand",
	 [](shared &s) {
		 const std::lock_guard one(s.m), two(s.other);
		 s.count++;
	 },
	 [](shared &s) {
		 const std::lock_guard one(s.other), two(s.m);
		 s.count++;
	 },
	 nullptr, idle, bug::deadlock},
	{"two locks, of which one is never free",
	 [](shared &s) { s.other.lock(); }, both, nullptr, idle, bug::deadlock},
	{"a lock that is taken again", goes_deeper, goes_deeper, nullptr,
	 [](shared &s) { check(s.count == 4); }, bug::none},
	{"a lock that another has", goes_deeper,
	 [](shared &s) {
		 const bool has = s.recursive.try_lock();
		 notes(s, has);
		 if (has)
			 s.recursive.unlock();
	 },
	 nullptr, looks, bug::none, 3},
	{"a lock that is let go once too often",
	 [](shared &s) {
		 s.recursive.lock();
		 s.recursive.unlock();
		 s.recursive.unlock();
	 },
	 idle, nullptr, idle, bug::failed_check, 0, 1,
	 "failed: unlock of a lock that is not held"},
	{"once", calls_once, calls_once, nullptr, idle, bug::none},
	{"once more after an exception",
	 [](shared &s) {
		 try {
			 std::call_once(s.once, [] {
				 throw std::runtime_error("not yet");
			 });
		 } catch (const std::runtime_error &) {
		 }
	 },
	 calls_once, nullptr, idle, bug::none},
	{"once, and a look beside it", calls_once,
	 [](shared &s) { check(s.count < 2); }, nullptr, idle, bug::data_race},
	{"each has a number of its own", notes_its_id, notes_its_id, nullptr,
	 [](shared &s) { check(s.ids[0] != s.ids[1]); }, bug::none},
	{"each has an errno of its own", sets_errno, sets_errno, nullptr, idle,
	 bug::none},
	{"a map with its lock", changes_map<true>, changes_map<true>, nullptr,
	 [](shared &s) { check(s.map.size() == 3); }, bug::none},
	{"a map without", changes_map<false>, changes_map<false>, nullptr, idle,
	 bug::data_race},
	{"a map that is only read",
	 [](shared &s) { check((++s.map.begin())->first == 5); },
	 [](shared &s) { check((--s.map.end())->first == 5); }, nullptr, idle,
	 bug::none},
	{"a map that is read while it changes",
	 [](shared &s) { s.map.emplace(2, 0); },
	 [](shared &s) { (void)++s.map.begin(); }, nullptr, idle,
	 bug::data_race},
	{"a node of it that is left while it changes",
	 [](shared &s) { s.map.emplace(7, 0); }, [](shared &s) { ++s.in_map; },
	 nullptr, idle, bug::data_race},
	{"a node of a list that is left while it changes",
	 [](shared &s) { s.list.push_back(7); }, [](shared &s) { ++s.in_list; },
	 nullptr, idle, bug::data_race},
	{"a list with its lock", changes_list<true>, changes_list<true>,
	 nullptr, idle, bug::none},
	{"a list without", changes_list<false>, changes_list<false>, nullptr,
	 idle, bug::data_race},
};

model::result explored(const model::options &how, part end, part one,
		       part other, part third)
{
	return third ? model::explore_threads<shared>(how, end, one, other,
						      third)
		     : model::explore_threads<shared>(how, end, one, other);
}

} // namespace

TEST_CASE("threads: they wait, and the library's containers are seen")
{
	for (const auto &row : with_others) {
		reached = 0;
		const auto r = explored({.spurious = row.spurious}, row.end,
					row.one, row.other, row.third);

		INFO(row.name << "\n" << r.timeline << r.limit);
		CHECK(r.found == row.found);
		CHECK(r.message.starts_with(row.says));
		CHECK(r.ok() == r.proved());
		CHECK((reached & row.reaches) == row.reaches);
	}
}

/* libstdc++ 12's unlocks by a relaxed operation. */
TEST_CASE("threads: a race within the library is said to be the library's")
{
	struct pointer {
		std::atomic<std::shared_ptr<int>> p{std::make_shared<int>(1)};
	};
	const auto r = model::explore_threads<pointer>(
		{}, [](pointer &) {},
		[](pointer &o) { o.p.store(std::make_shared<int>(2)); },
		[](pointer &o) { check(*o.p.load() > 0); });

	INFO(r.timeline);
	if (_GLIBCXX_RELEASE == 12)
		CHECK(r.found == bug::data_race);
	if (!r.ok())
		CHECK(r.message.ends_with(
			": p, within std::atomic<std::shared_ptr>: the C++ "
			"library's own fault"));
}

} // namespace of_threads
