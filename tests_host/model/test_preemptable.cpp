/* SPDX-License-Identifier: MIT */
/*
 * preemptable_ticket_lock: who waits its turn for ever, who bypasses, who is
 * late. A CPU outside of options.patient may bypass at any look, so that with
 * nobody in it every patience is in; with everybody in it the lock must serve
 * in turn. Mixed, a patient CPU must not wait for what an impatient one
 * skipped.
 */
#include "lock_cases.hpp"

#include <klock/preemptable_ticket_lock.hpp>

using klock::u32;
using klock::selftest::service;
using klock::selftest::subject;
using namespace worlds;

namespace {

using lock = klock::preemptable_ticket_lock<u8>;
using whole = subject<"lock", lock, service::fifo_if_all_run>;

/* Without the look that comes before the draw: a ticket for each section. */
struct drawing : lock {
	void lock() { lock_in_turn(); }
};
using tickets = subject<"drawing", drawing, service::fifo_if_all_run>;

/* As exclusion(); and at rest the turn is at the next ticket. */
template <typename Subject>
result turn_at_rest(const options &how)
{
	using world = counted<Subject>;
	const unsigned expected = sum(how.sections);

	return model::explore<world>(
		how, [](world &w, unsigned cpu) { w.section(w.who[cpu]); },
		[expected](world &w) {
			model::check(w.count.get() == expected,
				     "every section counted");
			model::check(w.lock.try_lock(),
				     "the turn is at the next ticket");
		});
}

const std::vector<unsigned> small[] = {{2, 2}, {1, 1, 1}, {2, 1, 1}};

/* Each CPU in turn is the one whose patience ends; then all but one. */
std::vector<unsigned> mixes(unsigned cpus)
{
	std::vector<unsigned> masks = {everybody, 0};

	for (unsigned i = 0; i < cpus; i++) {
		masks.push_back(~(1u << i));
		masks.push_back(1u << i);
	}
	return masks;
}

} // namespace

TEST_CASE("preemptable: in turn, bypasses, and every mix of the two")
{
	for (const auto &sections : small)
		for (const unsigned patient :
		     mixes(static_cast<unsigned>(sections.size()))) {
			INFO(sections.size() << " CPUs, patient " << patient);
			good(turn_at_rest<whole>(
				{.sections = sections, .patient = patient}));
			good(turn_at_rest<tickets>(
				{.sections = sections, .patient = patient}));
		}
}

TEST_CASE("preemptable: in turn, tickets alone have the padded lock's counts")
{
	const auto count = [](std::vector<unsigned> sections) {
		const result r = turn_at_rest<tickets>(
			{.sections = sections, .patient = everybody});
		good(r);
		return r.complete;
	};

	CHECK(count({2, 2}) == 6);
	CHECK(count({1, 1, 1}) == 6);
	CHECK(count({2, 1, 1}) == 12);
	CHECK(count({2, 2, 1}) == 30);
	CHECK(count({2, 2, 2}) == 90);
}

TEST_CASE("preemptable: three by two, one of them bypasses", "[.large]")
{
	const result r =
		turn_at_rest<tickets>({.sections = {2, 2, 2}, .patient = ~1u});

	good(r);
	CHECK(r.complete == 3028966);
}

TEST_CASE("preemptable: tickets wrap, and so does the turn, at half of them")
{
	/* Three bits: a turn of two, room for two. */
	const result r = turn_at_rest<tickets>(
		{.sections = {3, 3}, .patient = everybody, .counter_bits = 3});

	good(r);
	CHECK(r.complete == 20);
	for (const auto &sections :
	     std::vector<std::vector<unsigned>>{{3, 3}, {4, 1}, {1, 4}})
		for (const unsigned bits : {3u, 4u})
			good(exclusion<whole>(
				{.sections = sections, .counter_bits = bits}));
}

TEST_CASE("preemptable: over capacity it still excludes, and nobody is stuck")
{
	for (const auto &sections : small)
		for (const unsigned bits : {2u, 3u}) {
			INFO(sections.size() << " CPUs, " << bits << " bits");
			good(exclusion<whole>(
				{.sections = sections, .counter_bits = bits}));
		}
	/* Order goes, and who waits for its turn for ever may miss it. */
	const auto found = [](unsigned patient) {
		return turn_at_rest<tickets>({.sections = {1, 1, 1},
					      .patient = patient,
					      .counter_bits = 3})
			.found;
	};
	CHECK(found(0) == model::bug::failed_check);
	CHECK(found(~1u) == model::bug::deadlock);
}

/* -- Who is late ------------------------------------------------------------
 */

namespace {

enum class late_stores { turn_before, turn_on, own_ticket };

/* The lock as far as its tickets go; what a late one stores is the choice. */
template <late_stores Choice>
struct by_rule {
	[[maybe_unused]] static constexpr u64 max_contenders = 64;

	void lock()
	{
		const u8 mine = static_cast<u8>(next.fetch_add_relaxed(1) << 1);
		u8 now;

		do {
			now = state.await_patient_relaxed([mine](u8 v) {
				const u8 twice = static_cast<u8>(mine - v);
				const bool on_turn = twice == 0 || twice > 127;
				return v & 1 ? klock::endless : u32{!on_turn};
			});
		} while (
			!state.compare_exchange_acquire(now, taken(now, mine)));
	}
	[[nodiscard]] bool try_lock()
	{
		u8 free = static_cast<u8>(next.load_relaxed() << 1);

		return state.compare_exchange_acquire(
			free, static_cast<u8>(free - 1));
	}
	void unlock()
	{
		state.store_release(static_cast<u8>(state.load_relaxed() + 1));
	}

      private:
	static u8 taken(u8 now, u8 mine)
	{
		const bool late = static_cast<u8>(mine - now) > 127;

		if (late && Choice == late_stores::turn_before)
			return static_cast<u8>(now - 1);
		if (late && Choice == late_stores::turn_on)
			return now | 1;
		return mine | 1;
	}

	klock::atomic<u8> next, state;
};

template <late_stores Choice>
model::bug found_late()
{
	using ruled = subject<"by_rule", by_rule<Choice>, service::none>;

	for (const auto &sections : small)
		for (const unsigned patient :
		     mixes(static_cast<unsigned>(sections.size()))) {
			const result r = turn_at_rest<ruled>(
				{.sections = sections, .patient = patient});
			if (!r.ok())
				return r.found;
		}
	return model::bug::none;
}

} // namespace

TEST_CASE("preemptable: late, it must leave the turn as it is")
{
	CHECK(found_late<late_stores::turn_before>() == model::bug::none);
	CHECK(found_late<late_stores::turn_on>() == model::bug::failed_check);
	CHECK(found_late<late_stores::own_ticket>() != model::bug::none);
}

TEST_CASE("preemptable: late, it is bypassed without a bound; in turn, not")
{
	unsigned most = 0;
	const auto bypasses = [&most](unsigned sections, unsigned patient) {
		most = 0;
		const result r = model::explore<queue<whole>>(
			{.sections = {sections, 1}, .patient = patient},
			[](queue<whole> &w, unsigned cpu) {
				if (cpu == 1)
					return w.come(cpu);
				w.who[cpu].lock(w.lock);
				if (w.came.load_acquire() && !w.served.get())
					w.bypassed++;
				w.who[cpu].unlock(w.lock);
			},
			[&most](queue<whole> &w) {
				most = std::max(most, w.bypassed);
			});
		good(r);
		return most;
	};

	for (const unsigned sections : {2u, 3u, 4u}) {
		CHECK(bypasses(sections, everybody) == 1);
		CHECK(bypasses(sections, 0) == sections);
	}
}
