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
#include <new>
#include <type_traits>
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

/*
 * The place of an object whose memory is looked at after its end, when it is
 * filled with `earth`.
 */
constexpr int earth = 0xa5;
alignas(4096) unsigned char grave[4096];

template <typename Object>
Object *bear()
{
	static_assert(sizeof(Object) <= sizeof(grave));
	std::memset(grave, 0, sizeof(Object));
	if constexpr (std::is_default_constructible_v<Object>)
		return new (grave) Object;
	else
		return new (grave) Object(2);
}

template <typename Object>
void bury(Object *it)
{
	it->~Object();
	std::memset(grave, earth, sizeof(Object));
}

bool untouched(std::size_t size)
{
	for (std::size_t i = 0; i < size; i++)
		if (grave[i] != earth)
			return false;
	return true;
}

enum class ending { freed, buried };

/*
 * One holder's way out of an object with two references, of a lock of some
 * type: the steps are compiled once, and not for each lock.
 */
struct way_out {
	virtual void enter() = 0;
	virtual void leave() = 0;
	/* The other's section, if that is not to wait. True: it was the last,
	 * and ends the object. */
	virtual bool come_and_go() = 0;
	virtual void end() = 0;

      protected:
	~way_out() = default;
};

template <typename Subject>
using object_of = mortal<typename Subject::lock, 4>;

template <typename Subject>
struct way_out_of final : way_out {
	using lock = typename Subject::lock;
	using object = object_of<Subject>;
	/* The other of the CPUs: from the other half of a tree of four. */
	static constexpr unsigned last = Subject::capacity < 4 ? 1 : 3;

	explicit way_out_of(ending by_)
	    : by(by_), it(by == ending::freed ? new object(2) : bear<object>())
	{
		if constexpr (nodes_die_with_lock<lock>)
			with = &it->nodes.who[0];
	}

	void enter() override
	{
		with->lock(it->lock);
		it->references.set(1);
	}
	void leave() override { with->unlock(it->lock); }
	bool come_and_go() override
	{
		return !it->lock.is_locked() && it->put(last);
	}
	void end() override
	{
		if (by == ending::freed)
			delete it;
		else
			bury(it);
	}

      private:
	const ending by;
	object *const it;
	contender<lock> outside{0};
	contender<lock> *with = &outside;
};

/* The counts of an unlock that was interrupted at every instruction. */
struct steps {
	unsigned long taken = 0;
	bool others_came = false; /* before its end */
	bool rests_in_peace = true;
};

/*
 * The other's section comes after the n-th instruction if the lock is free by
 * then; whoever is last ends the object. Whether there were n instructions.
 */
bool step(unsigned long n, way_out &of, steps &seen)
{
	bool ended = false;

	of.enter();
	const bool whole = unit::with_intrusion(
		n, [&] { of.leave(); },
		[&] {
			ended = of.come_and_go();
			if (ended)
				of.end();
		});
	seen.others_came |= ended;
	if (!ended && of.come_and_go())
		of.end();
	return whole;
}

/* A lock of a list, by its steps. */
struct kind {
	const char *name;
	std::size_t size;
	bool (*step)(unsigned long n, ending by, steps &seen);
};

template <typename Subject>
constexpr kind kind_of()
{
	return {Subject::name, sizeof(object_of<Subject>),
		[](unsigned long n, ending by, steps &seen) {
			way_out_of<Subject> of(by);

			return step(n, of, seen);
		}};
}

/* Each instruction of an unlock; until one writes to what has ended. */
steps interrupt(const kind &of, ending by)
{
	steps seen;

	for (bool more = true; more && seen.rests_in_peace;
	     seen.taken += more) {
		more = of.step(seen.taken + 1, by, seen);
		if (by == ending::buried)
			seen.rests_in_peace = untouched(of.size);
	}
	return seen;
}

void for_each_kind(void (*test)(const kind &))
{
	subjects::for_each([test]<typename Subject>() {
		INFO(Subject::name);
		test(kind_of<Subject>());
	});
}

} // namespace

TEST_CASE("lifetime: no unlock touches the lock after it has released it")
{
	for_each_kind([](const kind &of) {
		const steps seen = interrupt(of, ending::freed);

		CHECK((seen.taken > 0 || !unit::can_step));
	});
}

TEST_CASE("lifetime: no unlock writes to the lock after it has released it")
{
	for_each_kind([](const kind &of) {
		const steps seen = interrupt(of, ending::buried);

		CHECK(seen.rests_in_peace);
		CHECK((seen.others_came || !unit::can_step));
	});
}

TEST_CASE("lifetime: an unlock that writes on after it has released is found")
{
	unsigned tried = 0;

	busted_locks::for_each([&tried]<typename Subject>() {
		if constexpr ((Subject::found_in & at_its_end) != 0) {
			INFO(Subject::name << ": " << Subject::mistake);
			const steps seen =
				interrupt(kind_of<Subject>(), ending::buried);
			CHECK((!seen.rests_in_peace || !unit::can_step));
			tried++;
		}
	});
	CHECK(tried >= 1);
}

/*
 * Readers and writers that follow each other. Between any two instructions of
 * an unlock, the next holder gets in if it may, releases, and ends the lock. If
 * the unlock still writes to the lock then, that is seen in its memory.
 */
namespace {

constexpr unsigned cpus = 4;

/* Takes the lock if that needs no wait. */
template <typename L>
bool get_in(L &lock, contender<L> &writer)
{
	if constexpr (try_lockable<L>)
		return writer.try_lock(lock);
	if (lock.is_locked())
		return false;
	writer.lock(lock);
	return true;
}

template <typename L>
bool get_in(L &lock, reader<L> &who)
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

/* First leaves, and Second ends the lock if it may be in by then. */
template <typename L, typename First, typename Second>
struct followed_by final : way_out {
	void enter() override { first.lock(lock); }
	void leave() override { first.unlock(lock); }
	bool come_and_go() override
	{
		if (!get_in(lock, second))
			return false;
		second.unlock(lock);
		return true;
	}
	void end() override { bury(&lock); }

      private:
	L &lock = *bear<L>();
	First first{0};
	Second second{cpus - 1};
};

/* Whether some unlock of First, interrupted somewhere, writes to a grave. */
template <typename L, typename First, typename Second>
bool haunts()
{
	const kind of = {nullptr, sizeof(L),
			 [](unsigned long n, ending, steps &seen) {
				 followed_by<L, First, Second> out;

				 return step(n, out, seen);
			 }};
	const steps seen = interrupt(of, ending::buried);

	/* It was in, once: else nothing was tried. */
	CHECK((seen.others_came || !unit::can_step));
	return !seen.rests_in_peace;
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

} // namespace last_access_tests
