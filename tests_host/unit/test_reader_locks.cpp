/* SPDX-License-Identifier: MIT */
/*
 * Locks that readers share: what is special to each. What their writers have in
 * common with other locks: test_every_lock.cpp, test_waiters.cpp.
 */
#include <klock/phase_fair_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>

#include "line.hpp"
#include "script.hpp"

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

		const auto watch = [](auto has_to, auto...) {
			if (has_to())
				throw waits();
		};

		CHECK_THROWS_AS(this->lock_watched(watch), waits);
	}
};

/* -- rw_ticket_lock and phase_fair_lock: the wrap of their counters ---------
 */

namespace {

/* One section of a writer and one of a reader: the counters go on by one. */
const char *const one_of_each[] = {
	"lock is_locked !try_lock !try_lock_shared unlock !is_locked "
	"lock_shared is_locked !try_lock unlock_shared !is_locked",
	"try_lock_shared !try_lock unlock_shared !is_locked "
	"try_lock !try_lock_shared !try_lock unlock !is_locked",
	"lock downgrade try_lock_shared unlock_shared is_locked !try_lock "
	"unlock_shared !is_locked",
};

const char *const two_readers =
	"try_lock_shared lock_shared !try_lock unlock_shared is_locked "
	"unlock_shared !is_locked";

template <typename Counter>
void alone_at_every_value()
{
	using lock_type = rw_ticket_lock<Counter>;
	using sections = word_of<2 * sizeof(Counter)>;
	const unsigned end = 1u << 8 * sizeof(Counter);
	std::vector<script> scripts;
	const script two = parsed(two_readers);

	for (const char *text : one_of_each)
		scripts.push_back(parsed(text));

	/* The writers' half carries, the readers' is lost at the top. */
	for (unsigned at = 0; at<end; at += end> 256 && at > 300 ? 97 : 1) {
		const auto served = static_cast<sections>(at + end - 150);
		const lock_type after(static_cast<sections>(served + 1));

		CAPTURE(served);
		for (usize i = 0; i < scripts.size(); i++) {
			lock_type lock(served);
			scripted verbs(lock);

			INFO(one_of_each[i]);
			plays(verbs, scripts[i]);
			REQUIRE(bytes_of(lock) == bytes_of(after));
		}
		lock_type lock(served);
		scripted verbs(lock);

		plays(verbs, two);
	}
}

} // namespace

TEST_CASE("rw_ticket_lock: alone, at every value of its counts", "[wrap]")
{
	alone_at_every_value<u8>();
	alone_at_every_value<u16>();
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

namespace {

/* Upgrades and downgrades, with a reader inside as another one arrives. */
const char *const upgrades[] = {
	"lock_shared try_lock_upgradable try_lock_shared !try_lock "
	"!try_lock_upgradable unlock_shared !try_upgrade unlock_shared "
	"is_locked unlock_upgradable !is_locked",
	"lock_upgradable upgrade !try_lock_shared !try_lock_upgradable unlock "
	"!is_locked",
	"lock_upgradable try_upgrade !try_lock_shared !try_lock_upgradable "
	"unlock !is_locked",
	"lock_upgradable try_upgrade downgrade try_lock_shared !try_lock "
	"unlock_shared is_locked unlock_shared !is_locked",
	/* An odd number of tickets: the phases are others in the next turn. */
	"lock unlock",
};

/* Each of them again and again, until its counters have wrapped. */
template <typename L, usize Count>
void turns_round(const char *const (&texts)[Count])
{
	const unsigned turns = sizeof(L) == 4 ? 1000 : 70000;
	std::vector<script> scripts;
	L lock;
	scripted verbs(lock);

	for (const char *text : texts)
		scripts.push_back(parsed(text));
	for (unsigned turn = 0; turn < turns; turn++)
		for (const script &steps : scripts) {
			CAPTURE(turn);
			plays(verbs, steps);
		}
}

} // namespace

TEST_CASE("phase_fair_lock: alone, at every value of its counters", "[wrap]")
{
	turns_round<phase_fair_lock<u8>>(one_of_each);
	turns_round<phase_fair_lock<u16>>(one_of_each);
}

TEST_CASE("phase_fair_lock: upgrade and downgrade, at every value", "[wrap]")
{
	turns_round<phase_fair_lock<u8>>(upgrades);
	turns_round<phase_fair_lock<u16>>(upgrades);
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

namespace {

/* That many readers, of whom the last makes it look as if it were free. */
template <typename L>
void one_reader_too_many(L &lock, unsigned most)
{
	for (unsigned reader = 1; reader < most; reader++)
		REQUIRE(lock.try_lock_shared());
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());

	/* That is what Capacity warns of: a writer walks in beside them. */
	CHECK(lock.try_lock_shared());
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.try_lock());
	lock.unlock();
	for (unsigned reader = 0; reader < most; reader++)
		lock.unlock_shared();
	CHECK_FALSE(lock.is_locked());
}

} // namespace

TEST_CASE("rw_ticket_lock: 256 contend for 8-bit counts, and read together")
{
	rw_ticket_lock<u8> lock(77);

	static_assert(rw_ticket_lock<u8>::max_contenders == 256);
	one_reader_too_many(lock, 256);
}

TEST_CASE("phase_fair_lock: 63 readers of 8-bit counters; 64 look like none")
{
	phase_fair_lock<u8> lock(200);

	static_assert(phase_fair_lock<u8>::max_readers == 63);
	static_assert(phase_fair_lock<u16>::max_readers == 16383);
	one_reader_too_many(lock, 64);
}

/*
 * reader_lock: its lines, all its CPUs, nested reads, the writers' wrap.
 */
namespace reader_tests {

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

template <typename L>
static void locked_from_a_ticket_on()
{
	drawn_for<L> lock;

	/* The second has its ticket, and no reader has been told yet. */
	lock.lock();
	lock.draw();
	lock.unlock();
	CHECK(lock.is_locked());
}

TEST_CASE("phase fair: locked from a writer's ticket on")
{
	locked_from_a_ticket_on<phase_fair_lock<u8>>();
	locked_from_a_ticket_on<phase_fair_lock<u16>>();
}

template <typename L>
static void taken_by_std()
{
	L lock;

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

TEST_CASE("readers: std::shared_lock and std::unique_lock take them")
{
	taken_by_std<rw_ticket_lock<u8>>();
	taken_by_std<phase_fair_lock<u16>>();
}
