/* SPDX-License-Identifier: MIT */
/*
 * try_lock_until of every lock that can be tried: who gives up leaves nothing
 * behind, who gets in is alone. A CPU's clock counts here what the CPU has
 * done: a deadline is so many attempts.
 */
#include "lock_cases.hpp"

#include <klock/try_lock_until.hpp>

using namespace worlds;

namespace {

/* A lock and who takes it, as one that needs neither node nor number. */
template <typename L>
struct taken_by {
	L &inner;
	contender<L> &who;

	void lock() { who.lock(inner); }
	[[nodiscard]] bool try_lock() { return who.try_lock(inner); }
	void unlock() { who.unlock(inner); }
};

/* CPU 0 asks until so much later; the others wait as long as it takes. */
template <typename Subject>
result asks(const options &how, u64 later, unsigned &most_refused)
{
	using world = counted<Subject>;
	const unsigned expected = sum(how.sections);

	return model::explore<world>(
		how,
		[later](world &w, unsigned cpu) {
			taken_by<typename Subject::lock> lock{w.lock,
							      w.who[cpu]};

			if (cpu != 0) {
				w.section(w.who[cpu]);
			} else if (klock::try_lock_for(lock, later)) {
				w.add();
				lock.unlock();
			} else {
				w.failed++;
			}
		},
		[expected, &most_refused](world &w) {
			most_refused = std::max(most_refused, w.failed);
			model::check(w.count.get() + w.failed == expected,
				     "every section counted");
			model::check(w.who[0].try_lock(w.lock),
				     "the lock is free");
		});
}

} // namespace

TEST_CASE("try_lock_until: alone inside, and nothing is left by who gives up")
{
	for_each_lock<3>([]<typename Subject>() {
		if constexpr (klock::try_lockable<typename Subject::lock>)
			for (const u64 later : {u64{0}, u64{3}}) {
				unsigned refused = 0;

				INFO(later);
				good(asks<Subject>({.sections = {2, 1}}, later,
						   refused));
				CHECK(refused == 2);
				good(asks<Subject>({.sections = {1, 1, 1}},
						   later, refused));
			}
	});
}
