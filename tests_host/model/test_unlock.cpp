/* SPDX-License-Identifier: MIT */
/*
 * What unlock() does after it has released the lock: nothing. And whom it waits
 * for before that: nobody, or a newcomer.
 */
#include "lock_cases.hpp"

#include <cstring>

using namespace worlds;

namespace {

/* All locks that so many CPUs may take, with so many critical sections each. */
template <unsigned Cpus>
void last_ends(const std::vector<std::vector<unsigned>> &sizes)
{
	for (const kind &k : tested<Cpus>()) {
		if (k.capacity >= Cpus)
			for (const auto &sections : sizes) {
				INFO(k.name << ", " << sections.size()
					    << " CPUs, " << sections[0]
					    << " sections");
				good(ended_by_the_last(
					k,
					{.sections = sections,
					 .patient = Cpus > 3 ? everybody : 0}));
			}
	}
}

} // namespace

TEST_CASE("lifetime: the last of two CPUs ends the lock")
{
	last_ends<2>({{1, 1}, {2, 2}, {3, 1}, {1, 3}});
}

TEST_CASE("lifetime: the last of three CPUs ends the lock", "[deep]")
{
	last_ends<3>({{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}});
}

TEST_CASE("lifetime: the last of four CPUs ends the lock", "[.large]")
{
	last_ends<4>({{1, 1, 1, 1}});
}

TEST_CASE("lifetime: a tree of three levels")
{
	using klock::selftest::service;
	using klock::selftest::subject;
	using five = subject<"tournament_lock of 5", klock::tournament_lock<5>,
			     service::starvation_free>;

	/* 3 and 4 meet at the bottom, 2 above them, 0 and 1 at the root. */
	good(ended_by_the_last(kind_of<five>, {.sections = {1, 1, 1, 1, 1}}));
}

/* -- Waiting in unlock() ----------------------------------------------------
 */

namespace {

/*
 * CPU 0 holds the lock when CPU 1 comes, and leaves. Anywhere on its way CPU 1
 * is stopped, as by a debugger, until CPU 0 is back from unlock().
 */
result stopped_newcomer(const kind &k)
{
	struct world : counted {
		using counted::counted;
		klock::atomic<u8> inside, left;
	};

	return explore<world>(
		k, {.sections = {1, 1}, .interrupts = 1, .non_maskable = true},
		[](world &w, unsigned cpu) {
			if (cpu == 1) {
				w.inside.await_eq_acquire(1);
				w.section(1u);
				return;
			}
			w.who[0].lock(w.lock);
			w.inside.store_release(1);
			w.who[0].unlock(w.lock);
			w.left.store_release(1);
		},
		[](world &) {},
		[](world &w, unsigned cpu) {
			if (cpu == 1)
				w.left.await_eq_acquire(1);
		});
}

} // namespace

TEST_CASE("unlock: waits for nobody, but mcs_lock's for a stopped newcomer")
{
	for (const kind &k : tested<2>()) {
		const result r = stopped_newcomer(k);

		INFO(k.name << " " << r.message << "\n" << r.timeline);
		if (std::strcmp(k.name, "mcs_lock") == 0) {
			CHECK(r.found == model::bug::deadlock);
		} else {
			CHECK(r.ok());
			CHECK(r.exhaustive);
			CHECK(r.complete > 1);
		}
	}
}
