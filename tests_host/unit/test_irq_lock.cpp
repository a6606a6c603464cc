/* SPDX-License-Identifier: MIT */
/*
 * irq_lock, irq_shared_lock, thread_lock.
 */
#include <klock/anderson_lock.hpp>
#include <klock/checked_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/leveled.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_guard.hpp>

#include "../widths.hpp"
#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
using namespace klock;
using namespace unit;

/*
 * irq_lock, thread_lock: what their types allow, and what checks say of them.
 * What must not compile: tests_host/misuse/types.cpp.
 */
namespace irq_tests {

namespace {

using ticket = ticket_lock<u8>;
using checked = checked_lock<ticket, "queue">;
using checked_threads = checked_lock<thread_lock<ticket>, "table">;

/* Whether a lock of this type is taken so. */
template <typename L>
concept by_hand = requires(L &lock) { lock.lock(); };
template <typename L>
concept tells_waiters = requires(const L &lock) { lock.is_contended(); };

/* Says what it was made with. */
struct waited_for {
	static constexpr u64 max_contenders = 2;

	constexpr waited_for(bool held_, bool wanted_)
	    : held(held_), wanted(wanted_)
	{
	}
	void lock() {}
	void unlock() {}
	[[nodiscard]] bool is_locked() const { return held; }
	[[nodiscard]] bool is_contended() const { return wanted; }

	bool held, wanted;
};

/* Initialised as a kernel does it: rq{}, rq{{}, 1}. */
template <typename L>
struct run_queue {
	L lock;
	int threads;
};
template <typename... L>
concept members = ((requires {
			   run_queue<L>{};
			   run_queue<L>{{}, 1};
		   }) && ...);

} // namespace

TEST_CASE("irq_lock: sizes are those of the lock inside, zero bytes too")
{
	widths_of<selftest::all_locks<4>>::for_each([]<typename Subject>() {
		using lock = typename Subject::lock;

		static_assert(sizeof(irq_lock<lock>) == sizeof(lock));
		static_assert(alignof(irq_lock<lock>) == alignof(lock));
		static_assert(sizeof(thread_lock<lock>) == sizeof(lock));
		static_assert(alignof(thread_lock<lock>) == alignof(lock));
		static constinit irq_lock<lock> in_irqs;
		static constinit thread_lock<lock> in_threads;
		static constinit lock plain;

		INFO(Subject::name);
		CHECK(all_zero(in_irqs) == all_zero(plain));
		CHECK(all_zero(in_threads) == all_zero(plain));
	});
}

TEST_CASE("every lock, in every wrapper: a member of an aggregate")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using lock = typename Subject::lock;

		static_assert(
			members<lock, checked_lock<lock>,
				checked_lock<lock, "runqueue">, irq_lock<lock>,
				thread_lock<lock>, leveled<lock, 1>,
				leveled<irq_lock<lock>, 1>,
				leveled<checked_lock<lock, "rq">, 1>>);
	});
	static_assert(members<irq_shared_lock<phase_fair_lock<u8>>>);
	static constinit run_queue<leveled<ticket, 1>> one{{}, 3};
	run_queue<leveled<ticket, 1>> kept{};

	CHECK_FALSE(one.lock.without_level().is_locked());
	CHECK(kept.threads == 0);
	/* The arguments are those of the lock inside. */
	const run_queue<leveled<ticket, 2>> wrapped{leveled<ticket, 2>(u8{255}),
						    4};
	CHECK(wrapped.threads == 4);
}

TEST_CASE("irq_lock: an irq_guard takes it, with interrupts off")
{
	widths_of<selftest::all_locks<4>>::for_each([]<typename Subject>() {
		using lock = typename Subject::lock;
		static irq_lock<lock> it;
		const auto section = [&] {
			CHECK(it.is_locked());
			CHECK_FALSE(irqs_enabled());
		};

		INFO(Subject::name);
		static_assert(!any_lock<irq_lock<lock>>);
		if constexpr (node_lock<lock> && !stack_node_lock<lock>) {
			static typename lock::node outlives_it;
			irq_guard held(it, outlives_it);
			section();
		} else {
			irq_guard held(it);
			section();
		}
		CHECK_FALSE(it.is_locked());
		CHECK(irqs_enabled());
	});
	static_assert(!by_hand<irq_lock<ticket>>);
	static_assert(by_hand<thread_lock<ticket>>);
	static_assert(tells_waiters<irq_lock<checked>>);
	static_assert(!tells_waiters<irq_lock<tas_lock>>);
	CHECK(irq_lock<waited_for>(false, true).is_contended());
	CHECK_FALSE(irq_lock<waited_for>(true, false).is_contended());
}

TEST_CASE("irq_lock: readers take it by irq_shared_guard, with interrupts off")
{
	widths_of<selftest::all_shared_locks<4>>::for_each(
		[]<typename Subject>() {
			using lock = typename Subject::lock;
			static irq_lock<lock> it;

			INFO(Subject::name);
			static_assert(irq_lock<lock>::max_readers ==
				      lock::max_readers);
			static_assert(!shared_lockable<irq_lock<lock>>);
			{
				irq_shared_guard one(it);
				irq_shared_try_guard two{it};
				CHECK(static_cast<bool>(two));
				CHECK(it.is_locked());
				CHECK_FALSE(irqs_enabled());
				two.unlock();
				CHECK(it.is_locked());
				CHECK_FALSE(irqs_enabled());
			}
			CHECK_FALSE(it.is_locked());
			CHECK(irqs_enabled());
			{
				irq_guard writer(it);
				irq_shared_try_guard failed{it};
				CHECK_FALSE(static_cast<bool>(failed));
				CHECK_FALSE(irqs_enabled());
			}
			CHECK_FALSE(it.is_locked());
			CHECK(irqs_enabled());
		});
}

TEST_CASE("irq_lock: early unlock, try, pairs, adopting nothing")
{
	irq_lock<ticket> a, b(u8{255});

	{
		irq_guard held(a);
		irq_try_guard failed(a);
		CHECK_FALSE(static_cast<bool>(failed));
		held.unlock();
		CHECK(irqs_enabled());
		CHECK_FALSE(a.is_locked());
	}
	for (int i = 0; i < 3; i++) {
		irq_pair_guard both(b, a);
		CHECK((a.is_locked() && b.is_locked()));
		CHECK_FALSE(irqs_enabled());
	}
	CHECK_FALSE((a.is_locked() || b.is_locked()));
	CHECK(irqs_enabled());
}

TEST_CASE("irq_lock: capacity is that of the lock inside")
{
	static_assert(irq_lock<ticket>::max_contenders == 256);
	static_assert(thread_lock<ticket>::max_contenders == 256);
	static_assert(irq_lock<anderson_lock<3>>::max_contenders == 3);
	irq_lock<checked_lock<anderson_lock<1>, "one">> one;

	irq_guard held(one);
	CHECK(has(panic_of([&] {
			  as(1, context::interrupt,
			     [&] { irq_guard second(one); });
		  }),
		  "more contenders than the lock has room for"));
}

TEST_CASE("irq_lock: lifetime: the next holder may free it")
{
	auto it = std::make_unique<irq_lock<ticket>>();
	irq_guard held(*it);

	/* An address sanitizer sees what the guard does after its unlock. */
	held.unlock();
	it.reset();
}

TEST_CASE("irq_lock: checks inside of it say the guard's own line")
{
	irq_lock<checked> queue;
	const int line = __LINE__ + 1;
	irq_guard held(queue);

	queue.assert_held();
	const std::string said = panic_of([&] { irq_guard again(queue); });
	CHECK(has(said, "queue, CPU 0: recursion"));
	CHECK(has(said, "test_irq_lock.cpp:" + std::to_string(line + 3)));
	CHECK(has(said, "taken at"));
	CHECK(has(said, "test_irq_lock.cpp:" + std::to_string(line)));
	held.unlock();
	queue.set_name("renamed");
	CHECK(has(panic_of([&] { queue.assert_held(); }),
		  "renamed, CPU 0: the caller does not hold it"));
}

TEST_CASE("irq_lock: checks inside of it name interrupts that were turned on")
{
	irq_lock<checked_lock<ticket, "queue">> queue;
	irq_lock<checked_lock<phase_fair_lock<u8>, "routes">> routes;
	const char *const what =
		"interrupts were turned on while an irq_lock was held";

	/* At the guard's end, by its own line; then it is still held. */
	irq_guard held(queue);
	irq_restore(true);
	has(panic_of([&] { held.unlock(); }), what);
	(void)irq_save();
	irq_shared_guard reads(routes);
	irq_restore(true);
	has(panic_of([&] { reads.unlock(); }), what);
	irq_restore(true);

	/* A thread may read this one with interrupts on, but not write it. */
	irq_shared_lock<checked_lock<phase_fair_lock<u8>, "shared">> shared;
	{
		shared_guard reads_on(shared);
		CHECK(panic_of([&] { reads_on.unlock(); }) == "");
	}
	irq_guard writes(shared);
	irq_restore(true);
	has(panic_of([&] { writes.unlock(); }), what);
}

TEST_CASE("irq_lock: checks inside of it name a reader's misuse")
{
	irq_lock<checked_lock<rw_ticket_lock<u8>, "routes">> routes;
	irq_shared_guard held(routes);

	const std::string again = panic_of([&] { irq_shared_guard g(routes); });

	CHECK(has(again, "routes, CPU 0: read recursion: the caller already "
			 "holds it for reading"));
	CHECK(has(again, "test_irq_lock.cpp:"));
	CHECK(has(panic_of([&] { irq_guard writer(routes); }),
		  "routes, CPU 0: upgrade: the caller already holds it for "
		  "reading"));
}

TEST_CASE("irq_lock: of an unchecked lock names and assertions are nothing")
{
	irq_lock<ticket> queue;

	queue.set_name("queue");
	CHECK(panic_of([&] { queue.assert_held(); }) == "");
}

TEST_CASE("thread_lock: is the lock inside, for any guard and for std")
{
	thread_lock<ticket> lock(u8{255});
	thread_lock<mcs_lock> queue;

	static_assert(plain_lock<thread_lock<ticket>>);
	static_assert(stack_node_lock<thread_lock<mcs_lock>>);
	{
		guard held(lock);
		guard also(queue);
		CHECK(lock.is_locked());
		CHECK_FALSE(lock.try_lock());
	}
	std::scoped_lock held(lock);
	CHECK(lock.is_locked());
}

TEST_CASE("thread_lock: checked, a handler that takes it or tries is named")
{
	const char *const text = "table, CPU 1: taken in an interrupt handler, "
				 "but it is for threads only; at ";

	for (const context where : {context::interrupt, context::nmi}) {
		checked_threads table;
		checked_lock<ticket> any;

		as(1, where, [&] {
			CHECK(has(panic_of([&] { table.lock(); }), text));
			CHECK(has(panic_of([&] { (void)table.try_lock(); }),
				  text));
			CHECK(has(panic_of([&] { irq_guard held(table); }),
				  text));
			CHECK(panic_of([&] {
				      if (any.try_lock())
					      any.unlock();
			      }) == "");
		});
		/* Nothing was noted, and nothing is held. */
		as(1, context::thread, [&] {
			guard held(table);
			table.assert_held();
		});
	}
}

TEST_CASE("thread_lock: checked, a handler that reads it or tries is named")
{
	const char *const text = "table, CPU 1: taken in an interrupt handler, "
				 "but it is for threads only; at ";

	widths_of<selftest::all_shared_locks<
		4>>::for_each([&]<typename Subject>() {
		using lock = typename Subject::lock;
		using readable = thread_lock<lock>;

		INFO(Subject::name);
		static_assert(shared_lockable<readable>);
		static_assert(sizeof(readable) == sizeof(lock));
		static_assert(readable::max_readers == lock::max_readers);
		for (const context where : {context::interrupt, context::nmi}) {
			checked_lock<readable, "table"> table;
			const auto guarded = [&] { shared_guard held(table); };
			const auto off = [&] { irq_shared_guard held(table); };
			const auto tried = [&] {
				shared_try_guard held{table};
			};

			as(1, where, [&] {
				CHECK(has(panic_of(guarded), text));
				CHECK(has(panic_of(off), text));
				CHECK(has(panic_of(tried), text));
			});
			/* Nothing was noted, and nothing is held. */
			as(1, context::thread, [&] {
				shared_guard held(table);
				CHECK(table.is_locked());
			});
			as(1, context::thread, [&] { guard held(table); });
		}
	});
}

} // namespace irq_tests

/*
 * irq_shared_lock: who takes it by what, and what checks inside of it say. What
 * must not compile: tests_host/misuse/types.cpp.
 */
namespace irq_shared_tests {

namespace {

using phases = phase_fair_lock<u8>;

/* Whether a lock of this type is taken so. */
template <typename L>
concept by_hand = requires(L &lock) { lock.lock_shared(); };

/* Whether such a guard gets in now; it leaves again. */
template <template <typename> typename Guard, typename L>
bool gets_in(L &lock)
{
	Guard<L> held(lock);

	return static_cast<bool>(held);
}

} // namespace

TEST_CASE("irq_shared_lock: sizes are those of the lock inside and a gate's")
{
	static_assert(sizeof(irq_shared_lock<phases>) == 8);
	static_assert(sizeof(irq_shared_lock<rw_ticket_lock<u8>>) == 8);
	static_assert(sizeof(irq_shared_lock<phase_fair_lock<u16>>) == 16);
	static_assert(!by_hand<irq_shared_lock<phases>>);
	static_assert(irq_shared_lock<phases>::max_readers == 63);
	static_assert(irq_shared_lock<phases>::max_contenders == 256);

	static constinit irq_shared_lock<phases> free;
	CHECK(all_zero(free));
}

TEST_CASE("irq_shared_lock: who is in, and with interrupts on or off")
{
	irq_shared_lock<phases> it;
	{
		shared_guard thread(it);
		CHECK(it.is_locked());
		CHECK(irqs_enabled());
		handler_shared_guard handler(it);
		irq_shared_try_guard other(it);
		CHECK(other);
		CHECK_FALSE(gets_in<irq_try_guard>(it));
	}
	CHECK_FALSE(it.is_locked());
	{
		handler_shared_guard handler(it);
		CHECK(it.is_locked());
		CHECK_FALSE(gets_in<irq_try_guard>(it));
		handler.unlock();
		CHECK_FALSE(it.is_locked());
		irq_try_guard writer(it);
		CHECK(writer);
		CHECK_FALSE(irqs_enabled());
		CHECK_FALSE(gets_in<handler_shared_try_guard>(it));
		CHECK_FALSE(gets_in<shared_try_guard>(it));
	}
	CHECK_FALSE(it.is_locked());
	CHECK(irqs_enabled());
	{
		irq_guard writer(it);
		CHECK_FALSE(irqs_enabled());
	}
	handler_shared_try_guard handler(it);
	CHECK(handler);
	handler.unlock();
	CHECK_FALSE(it.is_locked());
}

TEST_CASE("irq_shared_lock: a writer that becomes a reader")
{
	irq_shared_lock<phases> it;
	irq_shared_lock<checked_lock<phases, "routes">> checked;
	const auto downgrades = [](auto &lock) {
		irq_guard held(lock);

		CHECK_FALSE(gets_in<handler_shared_try_guard>(lock));
		held.downgrade();
		CHECK(gets_in<handler_shared_try_guard>(lock));
		CHECK_FALSE(irqs_enabled());
		as(1, context::interrupt, [&] {
			CHECK(gets_in<irq_shared_try_guard>(lock));
			CHECK_FALSE(gets_in<irq_try_guard>(lock));
		});
	};

	downgrades(it);
	CHECK_FALSE(it.is_locked());
	CHECK(panic_of([&] { downgrades(checked); }) == "");
	CHECK_FALSE(checked.is_locked());
	CHECK(irqs_enabled());
}

TEST_CASE("irq_shared_lock: many handlers read at once")
{
	irq_shared_lock<phases> it;
	using guard = handler_shared_try_guard<irq_shared_lock<phases>>;
	std::deque<guard> in;

	for (unsigned i = 0; i < 32767; i++)
		REQUIRE(in.emplace_back(it));
	in.clear();
	irq_try_guard writer(it);
	CHECK(writer);
}

TEST_CASE(
	"irq_shared_lock: what it adds is the gate's, a thread's read nothing")
{
	/* A thread's read leaves the lock as L's does, and the gate alone. */
	irq_shared_lock<phases> it;
	phases alone;
	const auto inside = [&] {
		return std::memcmp(&it, &alone, sizeof(alone)) == 0;
	};
	const auto is_open = [&] {
		return bytes_of(it)[sizeof(alone)] == 0 &&
		       bytes_of(it)[sizeof(alone) + 1] == 0;
	};
	{
		shared_guard one(it);
		shared_guard other(alone);
		CHECK(inside());
		CHECK(is_open());
	}
	{
		handler_shared_guard one(it);
		CHECK(inside());
		CHECK_FALSE(is_open());
	}
	irq_guard one(it);
	irq_guard other(alone);
	CHECK(inside());
	CHECK_FALSE(is_open());
}

TEST_CASE("irq_shared_lock: checks inside of it say the guard's own line")
{
	irq_shared_lock<checked_lock<phases, "routes">> routes;
	const int line = __LINE__ + 1;
	irq_guard held(routes);

	routes.assert_held();
	const std::string said = panic_of([&] { irq_guard again(routes); });
	CHECK(has(said, "routes, CPU 0: recursion"));
	CHECK(has(said, "test_irq_lock.cpp:" + std::to_string(line + 3)));
	CHECK(has(said, "test_irq_lock.cpp:" + std::to_string(line)));
	{
		rescue_guard last_words(routes);
		CHECK_FALSE(last_words);
	}
	held.unlock();
	CHECK(has(panic_of([&] { routes.assert_held(); }), "routes, CPU 0"));
	routes.set_name("other routes");
	shared_guard reads(routes);
	CHECK(has(panic_of([&] { irq_guard upgrade(routes); }),
		  "other routes, CPU 0"));
}

TEST_CASE("irq_shared_lock: what it is made with is the lock's inside")
{
	struct numbered : phases {
		constexpr numbered() = default;
		constexpr explicit numbered(u32 its_number) : number(its_number)
		{
		}
		u32 number = 0;
	};
	irq_shared_lock<numbered> it(7);
	u32 number = 0;

	std::memcpy(&number,
		    bytes_of(it).data() + sizeof(numbered) - sizeof(number),
		    sizeof(number));
	CHECK(number == 7);
}

} // namespace irq_shared_tests
