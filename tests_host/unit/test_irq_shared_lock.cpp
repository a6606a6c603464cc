/* SPDX-License-Identifier: MIT */
/*
 * irq_shared_lock: who takes it by what, and what checks inside of it say. What
 * must not compile: tests_host/misuse/types.cpp.
 */
#include <klock/checked_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_shared_guard.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/irq_try_guard.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_guard.hpp>

#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

#include <cstring>
#include <deque>

using namespace klock;
using namespace unit;

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
	CHECK(has(said,
		  "test_irq_shared_lock.cpp:" + std::to_string(line + 3)));
	CHECK(has(said, "test_irq_shared_lock.cpp:" + std::to_string(line)));
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
