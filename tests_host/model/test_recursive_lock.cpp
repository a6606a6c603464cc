/* SPDX-License-Identifier: MIT */
/*
 * recursive_lock: who takes it again is alone inside, until its last unlock().
 */
#include "../checker/verdict.hpp"
#include "lock_worlds.hpp"

#include <klock/preemptable_ticket_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <string>

namespace {

using namespace klock;
using namespace worlds;

/* Each takes it twice, the second time by a try, and adds in between. */
template <typename Lock>
result sections(const options &how)
{
	return all_are('g', describe<Lock>("lock"), how);
}

/* The second of two ends the lock, right after its last unlock(). */
template <typename Lock>
result freed(const options &how)
{
	return play({describe<Lock>("lock"), "gg", &world::freed}, how);
}

const options one_each{.sections = {1, 1}}, two_one{.sections = {2, 1}};

/* As recursive_lock, with one mistake. */
enum class mistake { owner_stays, releases_first, owner_before_lock };
template <mistake Which>
struct broken {
	void lock()
	{
		if (owner.load_relaxed() == me())
			return deep.set(deep.get() + 1);
		if (Which == mistake::owner_before_lock)
			owner.store_relaxed(me());
		inner.lock();
		owner.store_relaxed(me());
		deep.set(1);
	}
	bool try_lock() { return lock(), true; }
	void unlock()
	{
		deep.set(deep.get() - 1);
		if (deep.get() && Which != mistake::releases_first)
			return;
		if (Which != mistake::owner_stays)
			owner.store_relaxed(0);
		inner.unlock();
	}
	static usize me() { return model::cpu() + 1; }

	ticket_lock<u8> inner;
	plain<u32> deep;
	atomic<usize> owner;
};

} // namespace

TEMPLATE_TEST_CASE("recursive_lock: sections", "", ticket_lock<u8>,
		   preemptable_ticket_lock<u8>, tas_lock)
{
	verdict::good(sections<recursive_lock<TestType>>(one_each));
	verdict::good(sections<recursive_lock<TestType>>(two_one));
}

TEMPLATE_TEST_CASE("recursive_lock: freed by the last who holds it", "",
		   ticket_lock<u8>, tas_lock)
{
	verdict::good(freed<recursive_lock<TestType>>(one_each));
}

TEST_CASE("recursive_lock: each mistake is found")
{
	CHECK_FALSE(sections<broken<mistake::owner_stays>>(two_one).ok());
	CHECK_FALSE(sections<broken<mistake::releases_first>>(two_one).ok());
	CHECK_FALSE(sections<broken<mistake::owner_before_lock>>(two_one).ok());
}

TEST_CASE("recursive_lock: cost")
{
	using tickets = ticket_lock<u8>;
	using verdict::operations;
	const auto both = [](auto &lock) { lock.lock(), lock.unlock(); };

	CHECK(verdict::rmws(operations<tickets>(both)) == 1);
	CHECK(verdict::rmws(operations<recursive_lock<tickets>>(both)) == 1);

	struct taken_twice {
		recursive_lock<tickets> lock;
		plain<unsigned> count;
	};
	const std::string again = operations<taken_twice>([](taken_twice &w) {
		w.lock.lock();
		w.count.set(7);
		w.lock.lock();
	});

	INFO(again);
	const std::string second = again.substr(again.find("write"));
	CHECK(second.find("load") != std::string::npos);
	CHECK(second.find("add") == std::string::npos);
	CHECK(second.find("cas") == std::string::npos);
	CHECK(second.find("store") == std::string::npos);
}
