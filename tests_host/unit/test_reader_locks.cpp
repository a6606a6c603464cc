/* SPDX-License-Identifier: MIT */
/*
 * Locks that readers share, each by a script.
 */
#include <klock/phase_fair_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <memory>
#include <mutex>
#include <shared_mutex>
using namespace klock;
using namespace unit;

/* Writers that have their tickets, and will wait later. */
template <typename L>
struct drawn_for : L {
	void draw()
	{
		struct waits {};

		CHECK_THROWS_AS(this->lock_watched([](auto has_to) {
			if (has_to())
				throw waits();
		}),
				waits);
	}
};

/*
 * rw_ticket_lock: the wrap of its counts, its capacity, its tries.
 */
namespace rw_ticket_tests {

TEST_CASE("rw_ticket_lock: sizes are two counts of two halves")
{
	static_assert(sizeof(rw_ticket_lock<u8>) == 4);
	static_assert(sizeof(rw_ticket_lock<u16>) == 8);
	static_assert(alignof(rw_ticket_lock<u8>) == 4);
	static_assert(alignof(rw_ticket_lock<u16>) == 8);
	static_assert(same_as<rw_ticket_lock_for<1>, rw_ticket_lock<u8>>);
	static_assert(same_as<rw_ticket_lock_for<256>, rw_ticket_lock<u8>>);
	static_assert(same_as<rw_ticket_lock_for<257>, rw_ticket_lock<u16>>);

	static constinit rw_ticket_lock<u8> small;
	static constinit rw_ticket_lock<u16> large;
	CHECK(all_zero(small));
	CHECK(all_zero(large));
}

TEMPLATE_TEST_CASE("rw_ticket_lock: alone, at every value of its counts",
		   "[wrap]", u8, u16)
{
	using lock_type = rw_ticket_lock<TestType>;
	using sections = word_of<2 * sizeof(TestType)>;
	const unsigned end = 1u << 8 * sizeof(TestType);

	/* The writers' half carries, the readers' is lost at the top. */
	for (unsigned at = 0; at<end; at += end> 256 && at > 300 ? 97 : 1) {
		const auto served = static_cast<sections>(at + end - 150);
		const lock_type after(static_cast<sections>(served + 1));
		CAPTURE(served);

		lock_type taken(served);
		taken.lock();
		REQUIRE(taken.is_locked());
		REQUIRE_FALSE(taken.try_lock());
		REQUIRE_FALSE(taken.try_lock_shared());
		taken.unlock();
		REQUIRE_FALSE(taken.is_locked());
		taken.lock_shared();
		REQUIRE(taken.is_locked());
		REQUIRE_FALSE(taken.try_lock());
		taken.unlock_shared();
		REQUIRE(bytes_of(taken) == bytes_of(after));

		lock_type tried(served);
		REQUIRE(tried.try_lock_shared());
		REQUIRE_FALSE(tried.try_lock());
		tried.unlock_shared();
		REQUIRE(tried.try_lock());
		REQUIRE_FALSE(tried.try_lock_shared());
		REQUIRE_FALSE(tried.try_lock());
		tried.unlock();
		REQUIRE(bytes_of(tried) == bytes_of(after));

		lock_type less(served);
		less.lock();
		less.downgrade();
		REQUIRE(less.try_lock_shared());
		less.unlock_shared();
		REQUIRE(less.is_locked());
		REQUIRE_FALSE(less.try_lock());
		less.unlock_shared();
		REQUIRE(bytes_of(less) == bytes_of(after));

		lock_type shared(served);
		REQUIRE(shared.try_lock_shared());
		shared.lock_shared();
		REQUIRE_FALSE(shared.try_lock());
		shared.unlock_shared();
		REQUIRE(shared.is_locked());
		shared.unlock_shared();
		REQUIRE_FALSE(shared.is_locked());
	}
}

TEST_CASE("rw_ticket_lock: writers wait and go, and readers, over the carry")
{
	/* At each count of writers: two are in line, then a reader is let in
	 * beside one that has been in for as long as the carry lasts. */
	for (unsigned served = 0; served < 256; served++) {
		rw_ticket_lock<u8> lock(static_cast<u16>(served));
		line<rw_ticket_lock<u8>> others(lock);

		lock.lock();
		if (served % 16 == 15)
			others.add(2);
		lock.unlock();
		others.leave();
		REQUIRE_FALSE(lock.is_locked());
		lock.lock_shared();
		REQUIRE(lock.try_lock_shared());
		lock.unlock_shared();
		lock.unlock_shared();
		REQUIRE_FALSE(lock.is_locked());
		REQUIRE(lock.try_lock());
		REQUIRE_FALSE(lock.try_lock_shared());
		lock.unlock();
	}
}

TEST_CASE("rw_ticket_lock: 256 contend for 8-bit counts, and read together")
{
	rw_ticket_lock<u8> lock(77);

	static_assert(rw_ticket_lock<u8>::max_contenders == 256);
	for (unsigned reader = 0; reader < 255; reader++)
		REQUIRE(lock.try_lock_shared());
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());

	/* The 256th closes the ring: it looks free. One more walks in. */
	CHECK(lock.try_lock_shared());
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.try_lock());
	lock.unlock();
	for (unsigned reader = 0; reader < 256; reader++)
		lock.unlock_shared();
	CHECK_FALSE(lock.is_locked());
}

} // namespace rw_ticket_tests

/*
 * phase_fair_lock: the wrap of its counters, its capacity, its tries.
 */
namespace phase_fair_tests {

TEST_CASE("phase_fair_lock: sizes are four counters")
{
	static_assert(sizeof(phase_fair_lock<u8>) == 4);
	static_assert(sizeof(phase_fair_lock<u16>) == 8);
	static_assert(alignof(phase_fair_lock<u8>) == 4);
	static_assert(alignof(phase_fair_lock<u16>) == 8);

	static constinit phase_fair_lock<u8> small;
	static constinit phase_fair_lock<u16> large;
	CHECK(all_zero(small));
	CHECK(all_zero(large));
}

TEMPLATE_TEST_CASE("phase_fair_lock: alone, at every value of its counters",
		   "[wrap]", u8, u16)
{
	using lock_type = phase_fair_lock<TestType>;
	lock_type lock;
	const unsigned turns = sizeof(TestType) == 1 ? 1000 : 70000;

	for (unsigned turn = 0; turn < turns; turn++) {
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.try_lock());
		REQUIRE_FALSE(lock.try_lock_shared());
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());

		lock.lock_shared();
		REQUIRE(lock.try_lock_shared());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock_shared();
		REQUIRE(lock.is_locked());
		lock.unlock_shared();
		REQUIRE_FALSE(lock.is_locked());

		if (turn % 3 == 0) {
			REQUIRE(lock.try_lock());
			REQUIRE_FALSE(lock.try_lock_shared());
			lock.unlock();
		}
	}
}

TEMPLATE_TEST_CASE("phase_fair_lock: upgrade and downgrade, at every value",
		   "[wrap]", u8, u16)
{
	phase_fair_lock<TestType> lock;
	const unsigned turns = sizeof(TestType) == 1 ? 1000 : 70000;

	for (unsigned turn = 0; turn < turns; turn++) {
		/* There is a reader inside, and one more arrives. */
		lock.lock_shared();
		REQUIRE(lock.try_lock_upgradable());
		REQUIRE(lock.try_lock_shared());
		REQUIRE_FALSE(lock.try_lock());
		REQUIRE_FALSE(lock.try_lock_upgradable());
		lock.unlock_shared();
		REQUIRE_FALSE(lock.try_upgrade());
		lock.unlock_shared();
		REQUIRE(lock.is_locked());
		lock.unlock_upgradable();
		REQUIRE_FALSE(lock.is_locked());

		lock.lock_upgradable();
		if (turn % 2 == 0)
			lock.upgrade();
		else
			REQUIRE(lock.try_upgrade());
		REQUIRE_FALSE(lock.try_lock_shared());
		REQUIRE_FALSE(lock.try_lock_upgradable());
		if (turn % 3 != 0) {
			lock.unlock();
			REQUIRE_FALSE(lock.is_locked());
			continue;
		}
		lock.downgrade();
		REQUIRE(lock.try_lock_shared());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock_shared();
		REQUIRE(lock.is_locked());
		lock.unlock_shared();
		/* An odd number of tickets: the phases are others now. */
		lock.lock();
		lock.unlock();
	}
	REQUIRE_FALSE(lock.is_locked());
}

TEST_CASE("phase_fair_lock: at every start it is as it would be by use")
{
	phase_fair_lock<u8> used;

	for (unsigned served = 0; served < 256; served++) {
		REQUIRE(bytes_of(used) ==
			bytes_of(phase_fair_lock<u8>(static_cast<u8>(served))));
		used.lock();
		used.unlock();
		used.lock_shared();
		used.unlock_shared();
	}
}

TEST_CASE("phase_fair_lock: 63 readers of 8-bit counters; 64 look like none")
{
	phase_fair_lock<u8> lock(200);

	static_assert(phase_fair_lock<u8>::max_readers == 63);
	static_assert(phase_fair_lock<u16>::max_readers == 16383);
	for (unsigned reader = 0; reader < 63; reader++)
		REQUIRE(lock.try_lock_shared());
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());

	/* That is what Capacity warns of. */
	CHECK(lock.try_lock_shared());
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.try_lock());
	lock.unlock();
	for (unsigned reader = 0; reader < 64; reader++)
		lock.unlock_shared();
	CHECK_FALSE(lock.is_locked());
}

} // namespace phase_fair_tests

/*
 * reader_lock: its lines, all its CPUs, nested reads, the writers' wrap.
 */
namespace reader_tests {

TEST_CASE("reader_lock: sizes are a line, and one for each CPU")
{
	static_assert(sizeof(reader_lock<1>) == 2 * cache_line);
	static_assert(sizeof(reader_lock<4>) == 5 * cache_line);
	static_assert(alignof(reader_lock<4>) == cache_line);

	static constinit reader_lock<3> lock;
	CHECK(all_zero(lock));
}

TEST_CASE("reader_lock: all CPUs read at once, and a writer waits for each")
{
	static reader_lock<5> lock;

	for (unsigned cpu = 0; cpu < 5; cpu++)
		lock.lock_shared(cpu);
	CHECK(lock.is_locked());
	for (unsigned cpu = 0; cpu < 5; cpu++) {
		line<reader_lock<5>> writer(lock);

		if (cpu < 4)
			lock.unlock_shared(cpu);
	}
	CHECK(lock.is_locked());
	lock.unlock_shared(4);
	CHECK_FALSE(lock.is_locked());
	lock.lock();
	for (unsigned cpu = 0; cpu < 5; cpu++)
		CHECK_FALSE(lock.try_lock_shared(cpu));
	lock.unlock();
	CHECK(lock.try_lock_shared(2));
	lock.unlock_shared(2);
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("reader_lock: reads of one CPU nest, 255 of them")
{
	static reader_lock<2> lock;

	for (unsigned depth = 0; depth < 255; depth++)
		lock.lock_shared(1);
	for (unsigned depth = 0; depth < 255; depth++) {
		CHECK(lock.is_locked());
		lock.unlock_shared(1);
	}
	CHECK_FALSE(lock.is_locked());

	/* Inside of a read, one more is no matter of a writer that waits. */
	lock.lock_shared(0);
	line<reader_lock<2>> writer(lock);
	writer.add(1);
	CHECK_FALSE(lock.try_lock_shared(1));
	CHECK(lock.try_lock_shared(0));
	lock.unlock_shared(0);
	lock.unlock_shared(0);
	writer.leave();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("reader_lock: whichever CPU reads alone, it is locked")
{
	static reader_lock<5> lock;

	for (unsigned cpu = 0; cpu < 5; cpu++) {
		lock.lock_shared(cpu);
		CHECK(lock.is_locked());
		lock.unlock_shared(cpu);
		CHECK_FALSE(lock.is_locked());
	}
}

TEST_CASE("reader_lock: at capacity, readers stay out")
{
	static drawn_for<reader_lock<1>> lock;
	u64 writers = 1;

	for (lock.lock(); writers < lock.max_contenders; writers++) {
		lock.draw();
		REQUIRE_FALSE(lock.try_lock_shared(0));
	}
	CHECK(lock.is_locked());
	/* The bound is no smaller than it need be. */
	lock.draw();
	CHECK(lock.try_lock_shared(0));
}

TEST_CASE("reader_lock: the writers' tickets wrap, and readers see it")
{
	static reader_lock<1> lock;

	for (unsigned writes = 0; writes < 70000; writes++) {
		lock.lock();
		REQUIRE_FALSE(lock.try_lock_shared(0));
		lock.unlock();
		REQUIRE(lock.try_lock_shared(0));
		lock.unlock_shared(0);
	}
	CHECK_FALSE(lock.is_locked());
}

} // namespace reader_tests

TEMPLATE_TEST_CASE("phase fair: locked from a writer's ticket on", "",
		   phase_fair_lock<u8>, phase_fair_lock<u16>)
{
	drawn_for<TestType> lock;

	/* The second has its ticket, and no reader has been told yet. */
	lock.lock();
	lock.draw();
	lock.unlock();
	CHECK(lock.is_locked());
}

TEMPLATE_TEST_CASE("readers: std::shared_lock and std::unique_lock take them",
		   "", rw_ticket_lock<u8>, phase_fair_lock<u16>)
{
	TestType lock;

	{
		std::shared_lock one(lock);
		std::shared_lock two(lock, std::try_to_lock);
		CHECK(two.owns_lock());
		std::unique_lock writer(lock, std::try_to_lock);
		CHECK_FALSE(writer.owns_lock());
	}
	std::unique_lock writer(lock);
	std::shared_lock reader(lock, std::try_to_lock);
	CHECK_FALSE(reader.owns_lock());
}
