/* SPDX-License-Identifier: MIT */
/*
 * rescue_guard: whoever holds the lock is alone, a rescuer that goes without it
 * harms nobody's lock, and a holder that never releases is no deadlock.
 */
#include "proof.hpp"

#include <klock/guard.hpp>
#include <klock/plain.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

using klock::plain;
using klock::u32;
using klock::u8;
using model::bug;
using model::check;
using model::result;

namespace {

/* The mistake: unlocks whether it took the lock or not. */
template <typename L>
struct unlocks_always {
	unlocks_always(L &l, u32) : lock(l), held(l.try_lock()) {}
	~unlocks_always() { lock.unlock(); }
	explicit operator bool() const { return held; }

	L &lock;
	bool held;
};

template <typename L>
struct world {
	L lock;
	plain<u32> counted;
	u32 without = 0; /* on the host: a rescuer's sections */
};

/* CPU 0 takes the lock as usual; the others rescue. */
template <typename L, template <typename> typename Guard = klock::rescue_guard>
result rescue(std::vector<unsigned> sections, u32 patience)
{
	u32 expected = 0;

	for (unsigned n : sections)
		expected += n;
	return model::explore<world<L>>(
		{.sections = sections},
		[patience](world<L> &w, unsigned cpu) {
			const auto count = [&w] {
				w.counted.set(w.counted.get() + 1);
			};

			if (cpu == 0) {
				klock::guard held(w.lock);
				count();
				return;
			}
			Guard<L> held(w.lock, patience);
			if (held)
				count();
			else
				w.without++;
		},
		[expected](world<L> &w) {
			check(w.counted.get() + w.without == expected,
			      "an update is lost");
			check(!w.lock.is_locked(), "it is not free at the end");
		});
}

void passes(const result &r)
{
	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete >= 2);
}

} // namespace

TEST_CASE("rescue_guard: who holds the lock is alone, and it is free after")
{
	for (u32 patience : {0u, 1u, 2u}) {
		passes(rescue<klock::ticket_lock<u8>>({1, 1}, patience));
		passes(rescue<klock::ticket_lock<u8>>({2, 2}, patience));
		passes(rescue<klock::tas_lock>({2, 2}, patience));
	}
	passes(rescue<klock::ticket_lock<u8>>({1, 1, 1}, 1));
}

TEST_CASE("rescue_guard: one that unlocks what it did not take is found")
{
	CHECK_FALSE(rescue<klock::tas_lock, unlocks_always>({2, 2}, 0).ok());
	CHECK_FALSE(
		rescue<klock::ticket_lock<u8>, unlocks_always>({2, 2}, 0).ok());
}

TEST_CASE("rescue_guard: a holder that never releases holds up nobody")
{
	using L = klock::ticket_lock<u8>;
	const auto stuck = [](auto take) {
		return model::explore<world<L>>(
			{.sections = {1, 1}},
			[take](world<L> &w, unsigned cpu) {
				if (cpu == 0)
					w.lock.lock();
				else
					take(w);
			});
	};

	passes(stuck([](world<L> &w) { klock::rescue_guard held(w.lock, 2); }));
	/* What it is there for. */
	CHECK(stuck([](world<L> &w) { klock::guard held(w.lock); }).found ==
	      bug::deadlock);
}
