/* SPDX-License-Identifier: MIT */
/*
 * As test_last_access.cpp, where readers and writers follow each other: as soon
 * as the next holder may be in, between any two instructions of an unlock, it
 * is in, releases, and ends the lock. What the unlock then still writes to it
 * is seen in the lock's place.
 */
#include "../unit/stepper.hpp"

#include <klock/selftest/busted_shared.hpp>

#include <catch.hpp>

#include <cstring>
#include <memory>

using namespace klock;
using namespace klock::selftest;

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
	all_shared_locks<cpus>::for_each([]<typename Subject>() {
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
