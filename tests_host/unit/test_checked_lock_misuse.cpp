/* SPDX-License-Identifier: MIT */
/*
 * checked_lock: what is wrong is named.
 */
#include <klock/anderson_lock.hpp>
#include <klock/bakery_lock.hpp>
#include <klock/checked_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/graunke_thakkar_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/leveled.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/narrow_ticket_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/timeout_lock.hpp>
#include <klock/try_lock_until.hpp>

#include "pretended_kernel.hpp"
#include "hooked_lock.hpp"
#include "script.hpp"

#include <thread>
using namespace klock;
using namespace unit;

/*
 * checked_lock: numbers and nodes. What is released must be what was taken, and
 * a node serves one acquisition at a time.
 */
namespace checked_misuse_tests {

TEST_CASE("checked_lock: a CPU number beyond the lock's capacity is named")
{
	struct {
		checked_lock<bakery_lock<4>, "bakery"> lock;
		u32 neighbours[4] = {7, 7, 7, 7};
	} w;

	has(panic_of([&] { w.lock.lock(4); }),
	    "a CPU number beyond the lock's capacity");
	w.lock.lock(3);
	has(panic_of([&] { w.lock.unlock(6); }),
	    "a CPU number beyond the lock's capacity; at " +
		    at_line(__LINE__ - 2));
	for (u32 neighbour : w.neighbours)
		CHECK(neighbour == 7);
	w.lock.unlock(3);
}

namespace {

/* As a lock of one's own: indexed, can be tried, has no deadline. */
struct tried_by_number {
	static constexpr u64 max_contenders = 2;
	unsigned holder = 2;

	void lock(unsigned cpu) { holder = cpu; }
	[[nodiscard]] bool try_lock(unsigned cpu)
	{
		if (holder != 2)
			return false;
		holder = cpu;
		return true;
	}
	void unlock(unsigned) { holder = 2; }
};

} // namespace

TEST_CASE("checked_lock: the same number by try_lock()")
{
	checked_lock<tried_by_number, "tried"> lock;

	has(panic_of([&] { (void)lock.try_lock(2); }),
	    "a CPU number beyond the lock's capacity; at " +
		    at_line(__LINE__ - 2));
	CHECK(lock.try_lock(1));
	CHECK_FALSE(lock.try_lock(0));
	lock.unlock(1);
}

TEST_CASE("checked_lock: unlock() by another number than lock()'s is named")
{
	checked_lock<bakery_lock<4>, "bakery"> lock;
	const int taken = __LINE__ + 1;
	lock.lock(1);
	const std::string said = panic_of([&] { lock.unlock(2); });

	has(said, "bakery, CPU 0: unlock() does not match lock()");
	has(said, "at " + at_line(__LINE__ - 3));
	has(said, "taken at " + at_line(taken));
	lock.unlock(1);
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: unlock() by another node than lock()'s is named")
{
	checked_lock<mcs_lock, "queue"> lock;
	mcs_node a, b;
	const int taken = __LINE__ + 1;
	lock.lock(a);

	const std::string said = panic_of([&] { lock.unlock(b); });
	has(said, "queue, CPU 0: unlock() does not match lock()");
	has(said, "taken at " + at_line(taken));
	lock.unlock(a);
	CHECK(lock.try_lock(b));
	has(panic_of([&] { lock.unlock(a); }), "another CPU number, node");
	lock.unlock(b);
}

TEST_CASE("checked_lock: one node in two locks at once is named")
{
	checked_lock<mcs_lock, "outer"> outer;
	checked_lock<mcs_lock, "inner"> inner;
	mcs_node node;

	outer.lock(node);
	has(panic_of([&] { inner.lock(node); }),
	    "inner, CPU 0: this node is already in use; at " +
		    at_line(__LINE__ - 2));
	has(panic_of([&] { (void)inner.try_lock(node); }), "already in use");
	outer.unlock(node);
	CHECK(inner.is_locked() == false);
	outer.lock(node);
	outer.unlock(node);
}

TEST_CASE("checked_lock: one node of two contenders is named")
{
	checked_lock<mcs_lock, "queue"> lock;
	mcs_node node, of_waiter;
	atomic<u8> waits;

	lock.lock(node);
	has(panic_of([&] { as(1, context::thread, [&] { lock.lock(node); }); }),
	    "queue, CPU 1: this node is already in use");

	/* A waiter's, with the lock held and other waiters behind it. */
	std::thread waiter([&] {
		running here(2, context::thread);
		waits.store_release(1);
		lock.lock(of_waiter);
		lock.unlock(of_waiter);
	});
	waits.await_eq_acquire(1);
	std::string said;
	while (said.empty())
		said = panic_of([&] {
			running here(3, context::thread);
			if (lock.is_contended(node))
				lock.lock(of_waiter);
		});
	has(said, "queue, CPU 3: this node is already in use");
	lock.unlock(node);
	waiter.join();
}

TEST_CASE("checked_lock: a node that was given back serves again")
{
	checked_lock<clh_lock, "first"> first;
	checked_lock<mcs_lock, "second"> second;
	static clh_node clh[600];
	mcs_node mcs, other;

	CHECK(panic_of([&] {
		      for (clh_node &node : clh)
			      for (int i = 0; i < 2; i++)
				      guard held(first, node);
		      for (int i = 0; i < 600; i++) {
			      second.lock(mcs);
			      CHECK_FALSE(second.try_lock(other));
			      second.unlock(mcs);
			      CHECK(second.try_lock(other));
			      second.unlock(other);
		      }
	      }) == "");
}

TEST_CASE("checked_lock: a try_lock() in vain is a contender no more")
{
	checked_lock<narrow_ticket_lock<2>, "tiny"> lock;

	CHECK(panic_of([&] {
		      lock.lock();
		      for (int i = 0; i < 20; i++)
			      CHECK_FALSE(lock.try_lock());
		      lock.unlock();
		      for (int i = 0; i < 20; i++) {
			      CHECK(lock.try_lock());
			      CHECK_FALSE(lock.try_lock());
			      lock.unlock();
		      }
	      }) == "");
}

namespace {

/* No lock at all. */
struct open_door {
	static constexpr u64 max_contenders = 8;

	void lock() {}
	void unlock() {}
};

/* No lock at all, for readers, too. */
struct open_gate : open_door {
	static constexpr u64 max_readers = 8;

	void lock_shared() {}
	void unlock_shared() {}
	void lock_upgradable() {}
	bool try_lock_upgradable() { return true; }
	void unlock_upgradable() {}
	void upgrade() {}
	bool try_upgrade() { return true; }
};

} // namespace

TEST_CASE("checked_lock: a lock that lets two in is named")
{
	checked_lock<open_door, "door"> lock;

	lock.lock();
	has(panic_of([&] { as(1, context::thread, [&] { lock.lock(); }); }),
	    "door, CPU 1: two holders: the lock let a second one in");
}

TEST_CASE("checked_lock: a lock that lets a writer in beside a reader is named")
{
	checked_lock<open_gate, "gate"> lock, other;

	as(1, context::thread, [&] {
		lock.lock_shared();
		other.lock_shared();
	});
	has(panic_of([&] { lock.lock(); }),
	    "gate, CPU 0: a reader is inside, too: the lock is broken");
	other.lock_upgradable();
	has(panic_of([&] { other.upgrade(); }),
	    "gate, CPU 0: a reader is inside, too: the lock is broken");
}

namespace {

struct numbered_door {
	static constexpr u64 max_contenders = 1000;

	void lock(unsigned) {}
	void unlock(unsigned) {}
};

} // namespace

TEST_CASE("checked_lock: two CPUs that hold it under one number are named")
{
	/* Numbers stay in use, of which the table keeps the address. */
	static checked_lock<numbered_door, "door"> lock;

	/* Beyond its bytes: not known before the lock has let it in. */
	lock.lock(500);
	as(1, context::thread, [&] {
		has(panic_of([&] { lock.lock(3); }), "let a second one in");
		has(panic_of([&] { lock.lock(500); }),
		    "door, CPU 1: two holders with the same CPU number");
	});
}

namespace {

constexpr const char *number_in_use = "this CPU number is already in use; at ";

/* Each use of a number that CPU 0 holds L with; it does not get that far. */
template <typename L>
void expect_number_in_use()
{
	checked_lock<L, "door"> lock, another;

	for (unsigned turn = 0; turn < 3; turn++)
		for (unsigned cpu = 0; cpu < L::max_contenders; cpu++)
			as(cpu, context::thread, [&] {
				guard held(lock, cpu);
				guard also(another, cpu);
			});
	lock.lock(1);
	as(0, context::thread, [&] { guard held(another, 1u); });
	if constexpr (try_cpu_lock<L>) {
		has(panic_of([&] {
			    as(1, context::thread,
			       [&] { (void)lock.try_lock(1); });
		    }),
		    number_in_use);
	}
	as(1, context::thread, [&] {
		has(panic_of([&] { lock.lock(1); }),
		    std::string("door, CPU 1: ") + number_in_use);
	});
	lock.unlock(1);
}

} // namespace

TEST_CASE("checked_lock: a number that two CPUs use is named where it is taken")
{
	int tested = 0;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		if constexpr (cpu_lock<L>) {
			INFO(Subject::name);
			expect_number_in_use<L>();
			tested++;
		}
	});
	CHECK(tested > 3);
}

TEST_CASE("checked_lock: a number that a waiter uses is named")
{
	checked_lock<graunke_thakkar_lock<8>, "door"> lock;

	lock.lock(0);
	std::thread waiter(
		[&] { as(5, context::thread, [&] { guard held(lock, 5u); }); });
	while (!lock.is_contended(0))
		std::this_thread::yield();
	as(1, context::thread,
	   [&] { has(panic_of([&] { lock.lock(5); }), number_in_use); });
	lock.unlock(0);
	waiter.join();
	as(5, context::thread, [&] { CHECK_FALSE(lock.is_locked()); });
}

TEST_CASE("checked_lock: a handler that releases what its thread holds")
{
	checked_if<true, ticket_lock<u8>, "list"> lock;
	const int taken = __LINE__ + 1;
	lock.lock();

	for (const context handler : {context::interrupt, context::nmi})
		as(0, handler, [&] {
			CHECK_FALSE(lock.try_lock());
			const std::string said =
				panic_of([&] { lock.unlock(); });

			has(said, "list, CPU 0: unlock() in another context "
				  "(thread, handler) than its lock(); at ");
			has(said, at_line(__LINE__ - 4));
			has(said, "taken at " + at_line(taken));
			has(panic_of([&] { assert_held(lock); }),
			    "held in another context of this CPU, not by the "
			    "caller");
		});
	assert_held(lock);
	lock.unlock();
	as(0, context::nmi, [&] {
		CHECK(lock.try_lock());
		assert_held(lock);
		lock.unlock();
	});
}

TEST_CASE("checked_lock: assert_held() names who does not hold it")
{
	checked_if<true, ticket_lock<u8>, "list"> lock;
	checked_if<false, ticket_lock<u8>> unchecked;

	has(panic_of([&] { assert_held(lock); }),
	    "list, CPU 0: the caller does not hold it; at " +
		    at_line(__LINE__ - 2));
	CHECK_FALSE(lock.is_held_by_me());
	const int taken = __LINE__ + 1;
	guard held(lock);
	assert_held(lock);
	CHECK(lock.is_held_by_me());
	const std::string said = panic_of(
		[&] { as(1, context::thread, [&] { assert_held(lock); }); });
	has(said, "list, CPU 1: the caller does not hold it; at ");
	has(said, "held by CPU 0, taken at " + at_line(taken));
	as(1, context::thread, [&] { CHECK_FALSE(lock.is_held_by_me()); });
	assert_held(unchecked);
}

/* -- Texts ------------------------------------------------------------------
 */

TEST_CASE("checked_lock: long paths leave room for both lines")
{
	checked_lock<ticket_lock<u8>, "deep"> lock;
	const std::string tail = "/one/two/three/four/file.cpp";
	const std::string taken = "/a" + std::string(200, 'x') + tail;
	const std::string wanted = "/b" + std::string(200, 'y') + tail;
	const std::string bare(250, 'z');

	lock.lock({taken.c_str(), 1111111111});
	std::string said = panic_of([&] {
		lock.lock({wanted.c_str(), 1222222222});
	});
	has(said, "at ..." + tail + ":1222222222; held by CPU 0");
	has(said, "taken at ..." + tail + ":1111111111");
	lock.unlock();

	said = panic_of([&] {
		as(4294967295, context::interrupt, [&] {
			lock.lock({bare.c_str(), 1222222222});
		});
	});
	has(said, "with interrupts on at ..." + tail + ":1111111111");
	has(said, "handler at ..." + std::string(57, 'z') + ":1222222222");
	has(said, "found at ..." + std::string(57, 'z') + ":1222222222");
}

TEST_CASE("checked_lock: short paths are printed whole")
{
	const std::string sixty = "/" + std::string(59, 's');

	CHECK(misuse_text().add(call_site{sixty.c_str(), 7}).c_str() ==
	      sixty + ":7");
	CHECK(misuse_text().add(call_site{(sixty + "s").c_str(), 7}).c_str() ==
	      "..." + std::string(57, 's') + ":7");
	CHECK(misuse_text().add_hex(0xbeef).c_str() == std::string("0xbeef"));
}

TEST_CASE("checked_lock: rescue_guard gives its own CPU's lock up at once")
{
	checked_lock<ticket_lock<u8>, "console"> lock;
	const irqs off(false);
	constexpr u32 minutes = ~u32{0};

	lock.lock();
	CHECK(panic_of([&] {
		      rescue_guard held(lock, minutes);
		      CHECK_FALSE(held);
	      }) == "");
	CHECK(lock.is_held_by_me());
	lock.unlock();
	CHECK(panic_of([&] {
		      rescue_guard held(lock);
		      CHECK(lock.is_held_by_me());
	      }) == "");
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: a wait with a deadline is a wait, and named as one")
{
	constexpr u64 passed = 0;
	checked_lock<timeout_lock<2>, "timed"> lock;

	has(panic_of([&] { (void)lock.try_lock_until(2, passed); }),
	    "a CPU number beyond the lock's capacity; at " +
		    at_line(__LINE__ - 2));
	has(panic_of([&] { (void)lock.try_lock_for(2, 1); }),
	    "a CPU number beyond the lock's capacity");
	CHECK(lock.try_lock_until(0, passed));
	CHECK(lock.is_held_by_me());
	has(panic_of([&] { (void)lock.try_lock_for(0, 1); }),
	    "recursion: the caller already holds it; at " +
		    at_line(__LINE__ - 2));
	as(1, context::nmi, [&] {
		has(panic_of([&] { (void)lock.try_lock_until(1, passed); }),
		    "lock() in an NMI handler");
	});

	/* A CPU that gave up is no contender: it may try again and again. */
	as(1, context::thread, [&] {
		for (unsigned times = 0; times < 5; times++) {
			CHECK_FALSE(lock.try_lock_until(1, passed));
			CHECK_FALSE(lock.try_lock_for(1, 1));
			CHECK_FALSE(lock.is_held_by_me());
		}
	});
	lock.unlock(0);
	as(1, context::thread, [&] {
		REQUIRE(lock.try_lock_for(1, ~u64{0}));
		const guard held(lock, 1u, adopt);
		CHECK(lock.is_held_by_me());
	});
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: try_lock_until gives its own CPU's lock up at once")
{
	checked_lock<ticket_lock<u8>, "plain"> lock;

	CHECK(try_lock_until(lock, 0));
	/* No time is enough: it would not come back. */
	CHECK_FALSE(try_lock_until(lock, ~u64{0}));
	CHECK_FALSE(try_lock_for(lock, ~u64{0}));
	CHECK(lock.is_held_by_me());
	lock.unlock();
	CHECK(try_lock_for(lock, 0));
	lock.unlock();
}

TEST_CASE("checked_lock: try_lock_until: the caller's line, whatever it takes")
{
	const auto taken_at = [](auto &lock, int line) {
		return has(panic_of([&] { lock.assert_held(); }),
			   "test_checked_lock_misuse.cpp:" +
				   std::to_string(line));
	};
	checked_lock<ticket_lock<u8>, "plain"> plain;
	checked_lock<mcs_lock, "queued"> queued;
	mcs_node node;

	CHECK(try_lock_until(plain, 0));
	as(1, context::thread, [&] { taken_at(plain, __LINE__ - 1); });
	plain.unlock();
	CHECK(try_lock_for(plain, 1));
	as(1, context::thread, [&] { taken_at(plain, __LINE__ - 1); });
	plain.unlock();
	CHECK(try_lock_until(queued, node, 0));
	as(1, context::thread, [&] { taken_at(queued, __LINE__ - 1); });
	queued.unlock(node);
}

} // namespace checked_misuse_tests

/*
 * checked_lock and interrupts: whatever a handler interrupts, in the critical
 * section, in the wait or between two instructions around them, a wait for the
 * code that was interrupted is named.
 */
namespace checked_interrupts_tests {

using byte_lock = checked_lock<ticket_lock<u8>, "runqueue">;
using interrupted_lock = checked_lock<hooked_lock, "runqueue">;

static int handler_line;

/* Returns the finding on a section on CPU 0 that is interrupted there. */
template <typename Section>
static std::string interrupted_at(place where, interrupted_lock &lock,
				  Section section)
{
	std::string said = "(no handler ran)";

	next_hook = {where, [&] {
			     as(0, context::interrupt, [&] {
				     said = panic_of([&] {
					     handler_line = __LINE__ + 1;
					     lock.lock();
					     lock.unlock();
				     });
			     });
		     }};
	/* It would have ended there; what it says later does not count. */
	(void)panic_of(section);
	CHECK_FALSE(next_hook.run);
	next_hook.run = nullptr;
	return said;
}

TEST_CASE("checked_lock: interrupts on where a handler takes it too")
{
	byte_lock lock;
	const int open = __LINE__ + 1;
	lock.lock();
	lock.unlock();
	const int handler = __LINE__ + 2;
	const std::string said = panic_of(
		[&] { as(1, context::interrupt, [&] { lock.lock(); }); });

	has(said, "with interrupts on at " + at_line(open));
	has(said, "waited for in an interrupt handler at " + at_line(handler));
}

TEST_CASE("checked_lock: the same the other way round: the handler was first")
{
	byte_lock lock;
	const int handler = __LINE__ + 1;
	as(1, context::interrupt, [&] { guard held(lock); });
	{
		irq_guard held(lock);
	}
	const int open = __LINE__ + 1;
	const std::string said = panic_of([&] { lock.lock(); });

	has(said, "with interrupts on at " + at_line(open));
	has(said, "waited for in an interrupt handler at " + at_line(handler));
}

TEST_CASE("checked_lock: an interrupted waiter is named before it hangs")
{
	interrupted_lock lock;
	const int open = __LINE__ + 2;
	const auto section = [&] {
		lock.lock();
		lock.unlock();
	};
	const std::string said =
		interrupted_at(place::before_ticket, lock, section);

	has(said, "with interrupts on at " + at_line(open));
	has(said, "but waited for in an interrupt handler at " +
			  at_line(handler_line));
}

TEST_CASE("checked_lock: interrupted between taking it and noting that")
{
	for (place where : {place::taken, place::before_release}) {
		interrupted_lock lock;

		forget_locks();
		has(interrupted_at(where, lock,
				   [&] {
					   lock.lock();
					   lock.unlock();
				   }),
		    "but waited for in an interrupt handler at");
	}
}

TEST_CASE("checked_lock: interrupted in try_lock()")
{
	interrupted_lock lock;

	has(interrupted_at(place::taken, lock,
			   [&] {
				   CHECK(lock.try_lock());
				   lock.unlock();
			   }),
	    "but waited for in an interrupt handler at");
}

TEST_CASE("checked_lock: interrupted by a handler that only tries")
{
	for (place where : {place::before_ticket, place::taken,
			    place::before_release, place::released}) {
		interrupted_lock lock;
		int tries = 0;

		next_hook = {where, [&] {
				     as(0, context::nmi, [&] {
					     tries++;
					     if (lock.try_lock())
						     lock.unlock();
				     });
			     }};
		CHECK(panic_of([&] {
			      lock.lock();
			      lock.unlock();
		      }) == "");
		CHECK(tries == 1);
		CHECK_FALSE(lock.is_locked());
	}
}

TEST_CASE("checked_lock: interrupts that are turned on inside of a section")
{
	byte_lock lock;
	int inside = 0;
	{
		irqs off(false);
		lock.lock();
		irqs on(true);
		inside = __LINE__ + 1;
		lock.unlock();
	}
	const std::string said = panic_of(
		[&] { as(1, context::interrupt, [&] { lock.lock(); }); });

	has(said,
	    "held or waited for with interrupts on at " + at_line(inside));
}

TEST_CASE("checked_lock: a handler that has interrupts on is interrupted, too")
{
	byte_lock lock;

	as(0, context::interrupt, [&] { irq_guard held(lock); });
	has(panic_of([&] {
		    as(0, context::interrupt, [&] {
			    irqs on(true);
			    guard held(lock);
		    });
	    }),
	    "held or waited for with interrupts on at");
}

TEST_CASE("checked_lock: in an NMI handler the interrupt flag says nothing")
{
	byte_lock lock;

	as(0, context::nmi, [&] {
		irqs on(true);
		CHECK(lock.try_lock());
		lock.unlock();
	});
	CHECK(panic_of([&] {
		      as(0, context::interrupt, [&] { guard held(lock); });
	      }) == "");
}

} // namespace checked_interrupts_tests

/*
 * checked_lock: misuse that a script tells: what is right before it, the
 * misuse, what is said of it, and what is right after that (script.hpp).
 */
namespace checked_script_tests {

namespace {

struct misuse {
	const char *before, *wrong, *said, *after;
};

void expect_named(scripted_lock &lock, const misuse &row)
{
	const auto plays_as_said = [&](const script_step &step) {
		as(step.cpu, step.where, [&] { plays(lock, step); });
	};
	const auto plays_all = [&](const char *text) {
		for (const script_step &step : parsed(text))
			plays_as_said(step);
	};

	INFO("before: " << row.before << "; misuse: " << row.wrong);
	CHECK(panic_of([&] { plays_all(row.before); }) == "");
	has(panic_of([&] { plays_all(row.wrong); }), row.said);
	CHECK(panic_of([&] { plays_all(row.after); }) == "");
}

/* Each with a lock of its own. */
template <typename L, usize Count>
void expect_each_named(const misuse (&table)[Count])
{
	for (const misuse &row : table) {
		checked_lock<L, "table"> lock;
		scripted<decltype(lock)> verbs(lock);

		expect_named(verbs, row);
		forget_locks();
	}
}

constexpr const char *reads_already =
	"read recursion: the caller already holds it for reading";
constexpr const char *reads =
	"upgrade: the caller already holds it for reading";
constexpr const char *writes =
	"upgrade: the caller already holds it for writing";
constexpr const char *reads_not =
	"unlock_shared() by a caller that does not hold it for reading";
constexpr const char *other_context =
	"unlock_shared() in another context than its lock_shared()";
constexpr const char *beyond = "a CPU number beyond the lock's capacity";
constexpr const char *in_nmi = "lock() in an NMI handler";
constexpr const char *interruptible = "held or waited for with interrupts on";

} // namespace

TEST_CASE("checked_lock: misuse of a lock that one takes at a time")
{
	static constexpr misuse table[] = {
		{"", "0n:lock", in_nmi, "!is_locked"},
		{"lock 0i:!try_lock", "0i:lock", interruptible, ""},
		{"lock 0n:!try_lock unlock 0n:try_lock 0n:unlock", "unlock",
		 "unlock() of a lock that nobody holds", "!is_locked"},
		{"lock", "1:unlock",
		 "unlock() by a caller that does not hold it",
		 "unlock !is_locked"},
		{"lock", "0i:unlock",
		 "unlock() in another context (thread, handler) than its "
		 "lock()",
		 "unlock !is_locked"},
	};

	expect_each_named<ticket_lock<u8>>(table);
}

TEST_CASE("checked_lock: shared: misuse of reading")
{
	static constexpr misuse table[] = {
		{"lock_shared", "lock_shared", reads_already,
		 "unlock_shared !is_locked"},
		{"lock_shared", "lock", reads, "unlock_shared !is_locked"},
		{"lock", "lock_shared",
		 "recursion: the caller already holds it", "unlock !is_locked"},
		{"", "unlock_shared", reads_not, "!is_locked"},
		{"1:lock_shared", "2:unlock_shared", reads_not,
		 "1:unlock_shared !is_locked"},
		{"lock_shared", "0i:unlock_shared", other_context,
		 "unlock_shared !is_locked"},
		{"lock_shared unlock_shared", "0i:lock_shared", interruptible,
		 "!is_locked"},
		{"", "0n:lock_shared", in_nmi, "!is_locked"},
	};

	expect_each_named<rw_ticket_lock<u8>>(table);
}

TEST_CASE("checked_lock: shared: misuse of an upgrade and of a downgrade")
{
	static constexpr misuse table[] = {
		/* Two plain readers that would both upgrade: the first. */
		{"lock_shared 1:lock_shared", "1:upgrade", reads,
		 "1:unlock_shared unlock_shared !is_locked"},
		{"lock_upgradable is_held_by_me", "lock_upgradable",
		 "recursion", "unlock_upgradable !is_locked"},
		{"lock_upgradable", "unlock", "unlock() does not match lock()",
		 "unlock_upgradable !is_locked"},
		{"lock_upgradable try_lock_shared", "upgrade", reads,
		 "unlock_shared unlock_upgradable !is_locked"},
		{"lock_upgradable", "0i:try_upgrade",
		 "upgrade() in another context",
		 "unlock_upgradable !is_locked"},
		{"lock_upgradable 1:!try_lock_upgradable 1:lock_shared",
		 "1:upgrade", reads,
		 "1:unlock_shared unlock_upgradable !is_locked"},
		{"lock_upgradable", "1:try_upgrade",
		 "upgrade() by a caller that does not hold it upgradable",
		 "unlock_upgradable !is_locked"},
		{"lock_upgradable upgrade", "upgrade", writes,
		 "unlock !is_locked"},
		{"lock_upgradable upgrade", "unlock_upgradable",
		 "unlock_upgradable() does not match lock()",
		 "unlock !is_locked"},
		{"", "unlock_upgradable",
		 "unlock_upgradable() of a lock that nobody holds",
		 "!is_locked"},
		{"lock_upgradable", "1:unlock_upgradable",
		 "unlock_upgradable() by a caller that does not hold it",
		 "unlock_upgradable !is_locked"},
		{"1:lock_shared", "1:unlock_upgradable",
		 "unlock_upgradable() by a caller that holds it for reading",
		 "1:unlock_shared !is_locked"},
		{"", "downgrade", "downgrade() of a lock that nobody holds",
		 "!is_locked"},
		{"lock", "1:downgrade",
		 "downgrade() by a caller that does not hold it",
		 "unlock !is_locked"},
		{"lock", "0i:downgrade",
		 "downgrade() in another context (thread, handler)",
		 "unlock !is_locked"},
		{"lock_upgradable upgrade downgrade", "downgrade",
		 "downgrade() by a caller that holds it for reading",
		 "unlock_shared !is_locked"},
		{"lock_upgradable upgrade downgrade", "unlock",
		 "unlock() by a caller that holds it for reading",
		 "unlock_shared !is_locked"},
		{"lock downgrade 1:try_lock_upgradable 1:!try_upgrade",
		 "1:downgrade", "downgrade() does not match lock()",
		 "1:unlock_upgradable unlock_shared !is_locked"},
	};

	expect_each_named<phase_fair_lock<u8>>(table);
}

TEST_CASE("checked_lock: shared: misuse of reads that nest")
{
	static constexpr misuse table[] = {
		{"1:lock_shared 1:lock_shared 1:try_lock_shared", "1:lock",
		 reads, "1:unlock_shared 1:unlock_shared 1:unlock_shared"},
		{"1:lock_shared 1:lock_shared 1:unlock_shared 1:unlock_shared",
		 "1:unlock_shared", reads_not, "!is_locked"},
		{"", "4:lock_shared", beyond, "!is_locked"},
		{"", "4:try_lock_shared", beyond, "!is_locked"},
		{"", "4:unlock_shared", beyond, "!is_locked"},
		{"", "1n:lock_shared", in_nmi, "!is_locked"},
		{"", "1n:try_lock_shared",
		 "read in an NMI handler, which must not read this lock",
		 "!is_locked"},
		{"lock_shared unlock_shared", "1i:lock", interruptible,
		 "!is_locked"},
		{"lock_shared 0i:lock_shared 0i:unlock_shared",
		 "0i:unlock_shared", other_context, "unlock_shared !is_locked"},
	};

	expect_each_named<reader_lock<4>>(table);
}

} // namespace checked_script_tests

/*
 * checked_lock around a lock that readers share: what of them is named.
 */
namespace checked_shared_tests {

namespace {

using checked = checked_if<true, rw_ticket_lock<u8>, "table">;

} // namespace

TEST_CASE("checked_lock: shared: readers and writers by turns are right")
{
	checked lock;

	for (unsigned turn = 0; turn < 300; turn++) {
		current_cpu = turn % 4;
		lock.lock_shared();
		current_cpu = (turn + 1) % 4;
		CHECK(lock.try_lock_shared());
		lock.unlock_shared();
		current_cpu = turn % 4;
		lock.unlock_shared();
		lock.lock();
		CHECK(lock.is_held_by_me());
		CHECK_FALSE(lock.try_lock_shared());
		lock.unlock();
	}
	current_cpu = 0;
	{
		shared_guard one(lock);
		CHECK(lock.is_locked());
	}
	CHECK_FALSE(lock.is_locked());
}

namespace {

/* Readers fill it, and then one more comes. */
template <typename L>
void expect_no_more_readers(unsigned most, const char *said)
{
	checked_lock<L, "table"> lock;
	const auto as_each = [&](auto does) {
		for (unsigned reader = 0; reader < most; reader++)
			as(reader, context::thread, does);
	};

	as_each([&] { REQUIRE(lock.try_lock_shared()); });
	as(most, context::thread, [&] {
		has(panic_of([&] { lock.lock_shared(); }), said);
		has(panic_of([&] { (void)lock.try_lock_shared(); }), said);
	});
	/*
	 * Readers that found no room in the table are counted and may unlock.
	 */
	as_each([&] { lock.unlock_shared(); });
	CHECK_FALSE(lock.is_locked());
	has(panic_of([&] { lock.unlock_shared(); }),
	    "unlock_shared() by a caller that does not hold it for reading, or "
	    "one of more than 8 readers did so before");
}

} // namespace

TEST_CASE("checked_lock: shared: one reader more than the capacity")
{
	static_assert(rw_ticket_lock<u8>::max_readers == 256);
	expect_no_more_readers<rw_ticket_lock<u8>>(
		256, "more contenders than the lock has room for");
	expect_no_more_readers<phase_fair_lock<u8>>(
		63, "more readers than the lock has room for");
}

TEST_CASE("checked_lock: shared: readers and writers of one capacity")
{
	checked lock;

	/* A writer that has left takes no reader's place. */
	lock.lock();
	lock.unlock();
	for (unsigned reader = 0; reader < 255; reader++) {
		current_cpu = reader;
		REQUIRE(lock.try_lock_shared());
	}
	current_cpu = 255;
	CHECK_FALSE(lock.try_lock());
	lock.lock_shared();
	current_cpu = 256;
	has(panic_of([&] { (void)lock.try_lock(); }),
	    "more contenders than the lock has room for");
	has(panic_of([&] { lock.lock(); }),
	    "more contenders than the lock has room for");
	for (unsigned reader = 0; reader < 256; reader++) {
		current_cpu = reader;
		lock.unlock_shared();
	}
	CHECK(lock.try_lock());
	lock.unlock();
	current_cpu = 0;
}

static leveled<checked_lock<ticket_lock<u8>>, 1> inodes;

TEST_CASE("checked_lock: shared: upgrades and downgrades by a guard")
{
	checked_lock<phase_fair_lock<u8>, "table"> lock;
	const auto cpu_1 = [](auto does) { as(1, context::thread, does); };

	upgradable_guard held(lock);
	held.upgrade();
	has(panic_of([&] { held.upgrade(); }),
	    "upgrade: the caller already holds it for writing");
	held.unlock();
	has(panic_of([&] { held.upgrade(); }),
	    "upgrade() of a guard that was released");
	has(panic_of([&] { (void)held.try_upgrade(); }),
	    "table, CPU 0: upgrade() of a guard that was released");
	has(panic_of([&] { held.downgrade(); }),
	    "table, CPU 0: downgrade of what was released; at " +
		    shown(__FILE__));
	{
		upgradable_guard reads(lock);
		has(panic_of([&] { reads.downgrade(); }), "node, or verb");
	}
	{
		upgradable_guard again(lock);
		again.upgrade();
		again.downgrade();
		has(panic_of([&] { again.upgrade(); }),
		    "upgrade: the caller already holds it for reading");
		cpu_1([&] { CHECK(lock.try_lock_shared()); });
		cpu_1([&] { lock.unlock_shared(); });
	}
	CHECK_FALSE(lock.is_locked());
	set_name(inodes, "inodes");
	has(panic_of([] { assert_held(inodes); }),
	    "inodes, CPU 0: the caller does not hold it");
}

TEST_CASE("checked_lock: shared: an upgradable reader counts as two writers")
{
	checked_lock<phase_fair_lock<u8>> lock;
	checked with_readers;

	for (unsigned turn = 0; turn < 1000; turn++) {
		lock.lock_upgradable();
		CHECK_FALSE(lock.try_lock_upgradable());
		if (turn % 2)
			CHECK(lock.try_upgrade());
		if (turn % 4 == 1)
			lock.downgrade();
		if (turn % 2 == 0)
			lock.unlock_upgradable();
		else if (turn % 4 == 1)
			lock.unlock_shared();
		else
			lock.unlock();
		with_readers.lock();
		with_readers.downgrade();
		with_readers.unlock_shared();
	}
	CHECK_FALSE(lock.is_locked());
	CHECK_FALSE(with_readers.is_locked());
}

TEST_CASE("checked_lock: shared: a reader's number is its own until the end")
{
	checked_lock<reader_lock<4>, "names"> lock;

	lock.lock_shared(2);
	has(panic_of([&] { lock.unlock_shared(3); }),
	    "unlock_shared() with another CPU number than its lock_shared()");
	as(1, context::thread, [&] {
		has(panic_of([&] { lock.lock_shared(2); }),
		    "this CPU number is in use by another CPU's reader");
		has(panic_of([&] { (void)lock.try_lock_shared(2); }),
		    "this CPU number is in use by another CPU's reader");
		lock.lock_shared(3);
	});
	lock.unlock_shared(2);
	as(1, context::thread, [&] { lock.unlock_shared(3); });
	lock.lock_shared(3);
	lock.unlock_shared(3);
}

TEST_CASE("checked_lock: shared: a handler reads what nests as its thread does")
{
	checked_lock<reader_lock<4>, "names"> lock;
	const auto read_in_handler = [&] {
		as(0, context::interrupt, [&] {
			lock.lock_shared(0);
			lock.unlock_shared(0);
		});
	};

	lock.lock_shared(0);
	CHECK(panic_of(read_in_handler) == "");
	lock.unlock_shared(0);
	const int written = __LINE__ + 1;
	has(panic_of([&] { lock.lock(); }),
	    "with interrupts on at " + at_line(written));
}

TEST_CASE("checked_lock: shared: interrupts off on both sides is right")
{
	checked lock;

	{
		irq_shared_guard held(lock);
	}
	as(0, context::interrupt,
	   [&] { CHECK(panic_of([&] { shared_guard held(lock); }) == ""); });
}

} // namespace checked_shared_tests
