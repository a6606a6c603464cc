/* SPDX-License-Identifier: MIT */
/*
 * No unlock touches a lock that it has released: another may have freed it.
 */
#include <klock/selftest/busted.hpp>
#include <klock/selftest/busted_shared.hpp>
#include <klock/selftest/mortal.hpp>

#include "../unit/stepper.hpp"
#include "../widths.hpp"

#include <catch.hpp>

#include <cstring>
#include <memory>
using namespace klock;
using namespace klock::selftest;

/*
 * Between any two instructions of an unlock: as soon as the lock is free,
 * another takes it, releases it and frees it. What the unlock then still does
 * to it is an access to freed memory, at every run. On the stepper's machines.
 */
using subjects = widths_of<all_locks<4>>;

namespace last_access_tests {

namespace {

/* The first and the last of the CPUs: from both halves of a tree of four. */
constexpr unsigned holder = 0;
template <typename Subject>
inline constexpr unsigned last = Subject::capacity < 4 ? 1 : 3;

/*
 * One holder's way out of an object with two references, with the other's
 * critical section after the n-th instruction if the lock is free by then.
 * end(object) is called by whoever was last. Whether there were n instructions.
 */
template <typename Subject, typename Object, typename End>
bool step(unsigned long n, Object *it, End end)
{
	using lock = typename Subject::lock;
	contender<lock> outside(holder);
	contender<lock> *with = &outside;
	bool ended = false;

	if constexpr (nodes_die_with_lock<lock>)
		with = &it->nodes.who[holder];
	with->lock(it->lock);
	it->references.set(1);
	const bool whole = unit::with_intrusion(
		n, [&] { with->unlock(it->lock); },
		[&] {
			if (it->lock.is_locked())
				return;
			ended = it->put(last<Subject>);
			if (ended)
				end(it);
		});
	if (!ended && it->put(last<Subject>))
		end(it);
	return whole;
}

template <typename Subject>
using object_of = mortal<typename Subject::lock, 4>;

/* Where an object lives that is not freed, but looked at after its end. */
template <typename Object>
struct grave {
	static constexpr int earth = 0xa5;

	Object *bear()
	{
		std::memset(room, 0, sizeof(room));
		return new (room) Object(2);
	}
	static void bury(Object *it)
	{
		it->~Object();
		std::memset(static_cast<void *>(it), earth, sizeof(*it));
	}
	bool untouched() const
	{
		for (unsigned char byte : room)
			if (byte != earth)
				return false;
		return true;
	}

      private:
	alignas(Object) unsigned char room[sizeof(Object)];
};

/* Whether no unlock, whenever it is interrupted, writes to what has ended. */
template <typename Subject>
bool rests_in_peace(unsigned long &steps)
{
	using object = object_of<Subject>;
	auto place = std::make_unique<grave<object>>();
	bool untouched = true;

	for (bool more = true; more && untouched; steps += more) {
		more = step<Subject>(steps + 1, place->bear(),
				     grave<object>::bury);
		untouched = place->untouched();
	}
	return untouched;
}

} // namespace

TEST_CASE("lifetime: no unlock touches the lock after it has released it")
{
	subjects::for_each([]<typename Subject>() {
		using object = object_of<Subject>;
		unsigned long steps = 0;

		INFO(Subject::name);
		for (bool more = true; more; steps += more)
			more = step<Subject>(steps + 1, new object(2),
					     [](object *it) { delete it; });
		CHECK((steps > 0 || !unit::can_step));
	});
}

TEST_CASE("lifetime: no unlock writes to the lock after it has released it")
{
	subjects::for_each([]<typename Subject>() {
		unsigned long steps = 0;

		INFO(Subject::name);
		CHECK(rests_in_peace<Subject>(steps));
		CHECK((steps > 0 || !unit::can_step));
	});
}

TEST_CASE("lifetime: an unlock that writes on after it has released is found")
{
	unsigned tried = 0;

	busted_locks::for_each([&tried]<typename Subject>() {
		if constexpr ((Subject::found_in & at_its_end) != 0) {
			unsigned long steps = 0;

			INFO(Subject::name << ": " << Subject::mistake);
			CHECK((!rests_in_peace<Subject>(steps) ||
			       !unit::can_step));
			tried++;
		}
	});
	CHECK(tried >= 1);
}

} // namespace last_access_tests

/*
 * As test_last_access.cpp, where readers and writers follow each other: as soon
 * as the next holder may be in, between any two instructions of an unlock, it
 * is in, releases, and ends the lock. What the unlock then still writes to it
 * is seen in the lock's place.
 */
namespace last_access_shared_tests {

namespace {

constexpr unsigned cpus = 4;

/* Where a lock lives, and what is there after its end. */
template <typename L>
struct place {
	static constexpr int earth = 0xa5;

	L &bear()
	{
		std::memset(room, 0, sizeof(room));
		return *new (room) L;
	}
	void bury()
	{
		std::memset(room, earth, sizeof(room));
		buried = true;
	}
	bool is_touched() const
	{
		bool touched = false;

		for (unsigned char byte : room)
			touched |= byte != earth;
		return buried && touched;
	}

	bool buried = false;

      private:
	alignas(L) unsigned char room[sizeof(L)];
};

/* Takes the lock if that is not to wait. */
template <typename L>
bool enter(L &lock, contender<L> &writer)
{
	if constexpr (try_lockable<L>)
		return writer.try_lock(lock);
	if (lock.is_locked())
		return false;
	writer.lock(lock);
	return true;
}

template <typename L>
bool enter(L &lock, reader<L> &who)
{
	if constexpr (try_shared_lockable<L>) {
		return who.try_lock(lock);
	} else {
		if (!lock.is_readable())
			return false;
		who.lock(lock);
		return true;
	}
}

/*
 * First leaves, and after its n-th instruction Second comes and ends the lock,
 * if it may be in by then. Whether there were n instructions.
 */
template <typename L, typename First, typename Second>
bool step(unsigned long n, place<L> &where)
{
	L &lock = where.bear();
	First first(0);
	Second second(cpus - 1);

	first.lock(lock);
	return unit::with_intrusion(
		n, [&] { first.unlock(lock); },
		[&] {
			if (!enter(lock, second))
				return;
			second.unlock(lock);
			where.bury();
		});
}

/* Whether some unlock of First, interrupted somewhere, writes to a grave. */
template <typename L, typename First, typename Second>
bool haunts()
{
	auto where = std::make_unique<place<L>>();
	unsigned long steps = 0;
	bool ended = false, touched = false;

	for (bool more = true; more && !touched; steps++) {
		*where = {};
		more = step<L, First, Second>(steps + 1, *where);
		touched = where->is_touched();
		ended |= where->buried;
	}
	/* It was in, once: else nothing was tried. */
	CHECK((ended || !unit::can_step));
	return touched;
}

} // namespace

TEST_CASE("lifetime: a reader or a writer that follows may end the lock")
{
	widths_of<all_shared_locks<cpus>>::for_each([]<typename Subject>() {
		using lock = typename Subject::lock;
		using writes = contender<lock>;
		using reads = reader<lock>;

		INFO(Subject::name);
		CHECK_FALSE(haunts<lock, writes, writes>());
		CHECK_FALSE(haunts<lock, writes, reads>());
		CHECK_FALSE(haunts<lock, reads, writes>());
	});
}

TEST_CASE("lifetime: an unlock that goes on after it let readers in is found")
{
	unsigned tried = 0;

	busted_shared_locks::for_each([&tried]<typename Subject>() {
		if constexpr ((Subject::found_in & at_its_end) != 0) {
			using lock = typename Subject::lock;

			INFO(Subject::name << ": " << Subject::mistake);
			CHECK((haunts<lock, contender<lock>, reader<lock>>() ||
			       !unit::can_step));
			tried++;
		}
	});
	CHECK(tried >= 1);
}

} // namespace last_access_shared_tests
