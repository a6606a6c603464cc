/* SPDX-License-Identifier: MIT */
/*
 * Between any two instructions of an unlock: as soon as the lock is free,
 * another takes it, releases it and frees it. What the unlock then still does
 * to it is an access to freed memory, at every run. On the stepper's machines.
 */
#include "../unit/stepper.hpp"

#include <klock/selftest/busted.hpp>
#include <klock/selftest/mortal.hpp>

#include <catch.hpp>

#include <cstring>
#include <memory>

using namespace klock;
using namespace klock::selftest;

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
	all_locks<4>::for_each([]<typename Subject>() {
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
	all_locks<4>::for_each([]<typename Subject>() {
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
