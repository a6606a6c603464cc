/* SPDX-License-Identifier: MIT */
/*
 * recursive_lock: who takes it again is alone inside, until its last unlock().
 */
#include <model/model.hpp>

#include <klock/preemptable_ticket_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include <string>

namespace {

using namespace klock;
using model::bug;
using model::check;

template <typename Lock>
struct world {
	/* Its life is not the world's. */
	union {
		Lock lock;
	};
	plain<unsigned> count, references;

	world() : lock() {}
	~world() {}

	void add() { count.set(count.get() + 1); }
};

/* Each takes it twice, the second time by a try, and adds in between. */
template <typename Lock>
model::result sections(const model::options &how)
{
	return model::explore<world<Lock>>(how, [](world<Lock> &w, unsigned) {
		w.lock.lock();
		w.add();
		check(w.lock.try_lock(), "the owner waits for nobody");
		w.add();
		w.lock.unlock();
		w.add();
		w.lock.unlock();
	});
}

/* The second of two ends the lock, right after its last unlock(). */
template <typename Lock>
model::result freed(const model::options &how)
{
	return model::explore<world<Lock>>(how, [](world<Lock> &w, unsigned) {
		w.lock.lock();
		w.lock.lock();
		const bool last = w.references.get() == 1;
		w.references.set(w.references.get() + 1);
		w.lock.unlock();
		w.lock.unlock();
		if (last)
			w.lock.~Lock();
	});
}

void right(const model::result &r)
{
	INFO(r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete);
}

const model::options one_each{.sections = {1, 1}}, two_one{.sections = {2, 1}};

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
	right(sections<recursive_lock<TestType>>(one_each));
	right(sections<recursive_lock<TestType>>(two_one));
}

TEMPLATE_TEST_CASE("recursive_lock: freed by the last who holds it", "",
		   ticket_lock<u8>, tas_lock)
{
	right(freed<recursive_lock<TestType>>(one_each));
}

TEST_CASE("recursive_lock: each mistake is found")
{
	CHECK_FALSE(sections<broken<mistake::owner_stays>>(two_one).ok());
	CHECK_FALSE(sections<broken<mistake::releases_first>>(two_one).ok());
	CHECK_FALSE(sections<broken<mistake::owner_before_lock>>(two_one).ok());
}

/* Counts them in lock() and unlock(), by the timeline. */
template <typename Lock>
static unsigned rmws()
{
	const std::string all =
		model::explore<world<Lock>>({.sections = {1}},
					    [](world<Lock> &w, unsigned) {
						    w.lock.lock();
						    w.lock.unlock();
						    check(false, "shown");
					    })
			.timeline;
	unsigned count = 0;

	for (const char *one : {" fetch_", " cas ", " exchange "})
		for (auto at = all.find(one); at != all.npos;
		     at = all.find(one, at + 1))
			count++;
	return count;
}

TEST_CASE("recursive_lock: cost")
{
	using lock = recursive_lock<ticket_lock<u8>>;

	CHECK(rmws<ticket_lock<u8>>() == 1);
	CHECK(rmws<lock>() == 1);

	const std::string again =
		model::explore<world<lock>>({.sections = {1}},
					    [](world<lock> &w, unsigned) {
						    w.lock.lock();
						    w.count.set(7);
						    w.lock.lock();
						    check(false, "shown");
					    })
			.timeline;

	INFO(again);
	const std::string second = again.substr(again.find("write"));
	CHECK(second.find("load") != std::string::npos);
	CHECK(second.find("add") == std::string::npos);
	CHECK(second.find("cas") == std::string::npos);
	CHECK(second.find("store") == std::string::npos);
}
