/* SPDX-License-Identifier: MIT */
/*
 * Every lock of the list, in every execution of a few CPUs: nobody is inside
 * with another, what one leaves the next sees, nobody waits for ever.
 */
#include "lock_counts.hpp"
#include "../checker/verdict.hpp"

#include <klock/anderson_lock.hpp>
#include <klock/atomic.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/tas_lock.hpp>

using klock::u32;
using namespace worlds;
using verdict::good;

TEST_CASE("locks: pairs split, with either rule for release sequences",
	  "[deep]")
{
	using model::release_sequence;

	for (const kind &k : tested<3>()) {
		std::vector<unsigned> sections = {2, 2};
		if (k.capacity > 2)
			sections.push_back(1);
		INFO(k.name);
		for (const auto by :
		     {release_sequence::cxx20, release_sequence::rc11})
			good(exclusion(k, {.sections = sections,
					   .patient = everybody,
					   .split_pairs = true,
					   .sequence = by}));
	}
}

/* The bakery's looks at numbers are such loads; they do not harm it. */
TEST_CASE("locks: none breaks by load buffering, which ISO C++ leaves open",
	  "[deep]")
{
	model::u64 met = 0;

	for (const kind &k : tested<3>()) {
		const bool of_two = k.capacity == 2;
		const result r =
			exclusion(k, {.sections = std::vector<unsigned>(
					      of_two ? 2 : 3, of_two ? 2 : 1),
				      .patient = everybody,
				      .load_buffering = true});

		INFO(k.name);
		good(r);
		met += r.load_buffered;
	}
	CHECK((met > 0 || visits_widths));
}

TEST_CASE("locks: pairs split have the padded ticket lock's executions")
{
	using klock::selftest::service;
	using klock::selftest::subject;
	using compact = subject<"", klock::ticket_lock<u8>, service::fifo>;
	using padded =
		subject<"", klock::padded_ticket_lock<u8>, service::fifo>;

	for (const auto &sections : std::vector<std::vector<unsigned>>{
		     {2, 2}, {3, 1}, {2, 2, 2}, {1, 1, 1, 1}}) {
		const result split =
			exclusion(kind_of<compact>,
				  {.sections = sections, .split_pairs = true});
		const result apart =
			exclusion(kind_of<padded>, {.sections = sections});
		good(split);
		CHECK(split.complete == apart.complete);
		CHECK(split.blocked == apart.blocked);
	}
}

TEST_CASE("locks: nodes on the CPUs' stacks, new for each section")
{
	for (const kind &k : tested_by<3>()) {
		INFO(k.name << ", 3 CPUs");
		if (k.node_on_stack) {
			good(exclusion_on_stack(k, {.sections = {2, 2}}));
			good(exclusion_on_stack(k, {.sections = {2, 2, 1}}));
		}
	}
}

TEST_CASE("locks: uneven sections, from every count around the wrap")
{
	for (const kind &k : tested_by<3>()) {
		INFO(k.name << ", 3 CPUs");
		if (k.counts_sections) {
			const u64 wrap = k.capacity;
			for (u64 start = wrap - 2; start <= wrap + 1; start++) {
				INFO("from " << start % wrap);
				for (const auto &sections :
				     std::vector<std::vector<unsigned>>{
					     {4, 1}, {1, 3}, {2, 1, 1}})
					good(exclusion_from(
						k, {.sections = sections},
						start));
			}
		}
	}
}

TEST_CASE("locks: try_lock mixed in")
{
	for (const kind &k : tested_by<3>()) {
		INFO(k.name << ", 3 CPUs");
		if (k.by.try_lock) {
			good(tries_mixed_in(k, {.sections = {2, 2}}));
			good(tries_mixed_in(k, {.sections = {2, 1, 1}}));
			if (k.splits_tries)
				good(tries_mixed_in(k, {.sections = {2, 1, 1},
							.split_pairs = true}));
		}
	}
}

TEST_CASE("locks: try_lock does not fail while the lock is free")
{
	for (const kind &k : tested_by<3>()) {
		INFO(k.name << ", 3 CPUs");
		if (k.by.try_lock) {
			good(tries_only(k, {.sections = {1, 1}}));
			good(tries_only(k, {.sections = {1, 1, 1}}));
			const auto r =
				try_after_unlock(k, {.sections = {1, 1}});
			verdict::right_by_at_least(1, r);
		}
	}
}

/* -- Guards -----------------------------------------------------------------
 */

namespace {

/* The locks of tested<2>(), taken by a guard. */
template <template <typename> typename Guard>
std::vector<kind> guarded()
{
	std::vector<kind> all;

	tested_locks<2>::for_each([&all]<typename Subject>() {
		using lock = typename Subject::lock;

		all.push_back(describe<lock, guarding<lock, Guard<lock>>>(
			Subject::name));
	});
	return all;
}

} // namespace

TEST_CASE("locks: by guard and by irq_guard")
{
	for (const auto &all :
	     {guarded<klock::guard>(), guarded<klock::irq_guard>()})
		for (const kind &k : all) {
			const pinned *const p = pinned_of(k.name);
			const result r = counted_as(k, two_by_two());

			INFO(k.name);
			good(r);
			CHECK((!p || r.complete == p->two));
		}
}

/* -- Capacity ---------------------------------------------------------------
 */

TEST_CASE("locks: as many CPUs as the capacity pass, one more is found")
{
	for (const kind &k : tested<4>()) {
		if (k.plain) {
			if (k.capacity != 4 && !bits(k, 2))
				continue;
			options how{.sections = {1, 1, 1, 1},
				    .counter_bits = bits(k, 2)};
			INFO(k.name);
			good(exclusion(k, how));
			how.sections.push_back(1);
			CHECK(exclusion(k, how).found == k.one_too_many);
		}
	}
}

TEST_CASE("locks: three bits hold 8, not 9", "[deep]")
{
	using padded =
		klock::selftest::subject<"", klock::padded_ticket_lock<u8>,
					 klock::selftest::service::fifo>;
	const std::vector<unsigned> eight(8, 1), nine(9, 1);

	const auto r = exclusion(kind_of<padded>,
				 {.sections = eight, .counter_bits = 3});
	good(r);
	CHECK(r.complete == 40320);
	CHECK(exclusion(kind_of<padded>, {.sections = nine, .counter_bits = 3})
		      .found == model::bug::data_race);
}

TEST_CASE("locks: uneven sections over a whole wrap of two bits")
{
	for (const kind &k : tested<2>()) {
		INFO(k.name);
		for (const bool split : {false, true})
			good(exclusion(k, {.sections = {4, 1},
					   .split_pairs = split,
					   .counter_bits = bits(k, 2)}));
	}
}

namespace of_counts {

/*
 * Every lock of the list has as many executions as its row says, and none in
 * which two are inside at once, an update is lost, or somebody waits for ever.
 */

using namespace worlds;
using verdict::good;

namespace {

/* A lock passes, in so many executions as this column of its row says. */
void as_pinned(const kind &k, std::vector<unsigned> sections,
	       u64 pinned::*column)
{
	const pinned *const p = pinned_of(k.name);
	const result r = counted_as(k, sections);
	std::string size;

	for (unsigned s : sections)
		size += (size.empty() ? "{" : ", ") + std::to_string(s);
	INFO(the_table << ", " << k.name << ", sections " << size
		       << "}: " << r.complete << " found"
		       << (p ? "" : "; no row: lib/docs/add-a-lock.md"));
	good(r);
	CHECK(r.complete == (p ? p->*column : 0));
}

/* Whether a lock has too many executions for the quick tests. */
bool has_many(const kind &k, u64 pinned::*column)
{
	const pinned *const p = pinned_of(k.name);

	return p && p->*column > 20'000;
}

} // namespace

TEST_CASE("locks: two CPUs, two sections each, as many executions as pinned")
{
	for (const kind &k : tested_by<2>()) {
		INFO(k.name << ", 2 CPUs");
		as_pinned(k, two_by_two(), &pinned::two);
	}
}

TEST_CASE("locks: three CPUs, two sections each, as many executions as pinned")
{
	for (const kind &k : tested<3>()) {
		INFO(k.name);
		if (!has_many(k, &pinned::three))
			as_pinned(k, three_by_two(k.capacity), &pinned::three);
		else
			good(counted_as(k, {2, 2, 1}));
	}
}

TEST_CASE("locks: the same, of those that have more", "[.large]")
{
	for (const kind &k : tested<3>()) {
		const pinned *const p = pinned_of(k.name);

		INFO(k.name);
		if (has_many(k, &pinned::three) && p->three < too_many)
			as_pinned(k, three_by_two(k.capacity), &pinned::three);
	}
	for (const kind &k : tested_by<4>()) {
		INFO(k.name << ", 4 CPUs");
		if (has_many(k, &pinned::four))
			as_pinned(k, four_by_one(), &pinned::four);
	}
}

TEST_CASE("locks: the same, of those that take minutes", "[.largest]")
{
	for (const kind &k : tested<3>()) {
		const pinned *const p = pinned_of(k.name);

		if (p && p->three >= too_many)
			as_pinned(k, three_by_two(k.capacity), &pinned::three);
	}
}

TEST_CASE("locks: four CPUs, as many executions as pinned")
{
	for (const kind &k : tested_by<4>()) {
		INFO(k.name << ", 4 CPUs");
		if (!has_many(k, &pinned::four))
			as_pinned(k, four_by_one(), &pinned::four);
	}
}

/*
 * The list's lock takes 2^31 tickets until then. More executions than its row
 * has: bringing the counter back falls between arrivals.
 */
TEST_CASE("locks: anderson_lock whose counter is set back each round")
{
	using klock::anderson_lock;
	using klock::selftest::service;
	using klock::selftest::subject;
	const auto count = []<unsigned Slots>(std::vector<unsigned> sections) {
		using set_back =
			subject<"", anderson_lock<Slots, 1>, service::fifo>;
		const result r =
			exclusion(kind_of<set_back>, {.sections = sections});

		good(r);
		return r.complete;
	};

	CHECK(count.operator()<2>({2, 2}) == 10);
	CHECK(count.operator()<3>({2, 2, 2}) == 198);
	CHECK(count.operator()<4>({1, 1, 1, 1}) == 24);
}

TEST_CASE("locks: test-and-set in a word, as many executions as in a byte")
{
	using klock::selftest::service;
	using klock::selftest::subject;
	const auto same = []<typename Byte, typename Word>() {
		using byte = subject<"", Byte, service::none>;
		using word = subject<"", Word, service::none>;

		for (const auto &sections :
		     std::vector<std::vector<unsigned>>{{2, 2}, {1, 1, 1}}) {
			const auto of_word = exclusion(kind_of<word>,
						       {.sections = sections});

			good(of_word);
			CHECK(of_word.complete ==
			      exclusion(kind_of<byte>, {.sections = sections})
				      .complete);
		}
	};

	same.operator()<klock::tas_lock, klock::sized_tas_lock<klock::u32>>();
	same.operator()<klock::ttas_lock, klock::sized_ttas_lock<klock::u32>>();
}

TEST_CASE("locks: a row that is missing or wrong is named and told")
{
	using klock::selftest::service;
	using klock::selftest::subject;
	using newcomer = subject<"new_lock", klock::tas_lock, service::none>;
	const pinned wrong{"new_lock", 6, 91, 24}, right{"new_lock", 6, 90, 24};
	const std::string table =
		"counts[] in tests_host/model/lock_counts.hpp ";
	const std::string found = "\n\tfound: {\"new_lock\", 6, 90, 24},";

	CHECK(wrong_counts<newcomer>() ==
	      table + "has no row for new_lock" + found);
	CHECK(wrong_counts<newcomer>(&wrong) ==
	      table + "is wrong about new_lock" +
		      "\n\tsays:  {\"new_lock\", 6, 91, 24}," + found);
	CHECK(wrong_counts<newcomer>(&right) == "");
}

/*
 * The part of release sequences that C++20 removed orders nothing in any lock:
 * there are as many executions with it as without. The largest are left out
 * here.
 */
TEST_CASE("locks: as many executions with RC11's release sequences", "[deep]")
{
	const auto count = [](const kind &k, std::vector<unsigned> sections,
			      u64 expected) {
		INFO(k.name << ", " << sections.size() << " CPUs");
		if (expected > 110'000)
			return;
		const result r = exclusion(
			k, {.sections = sections,
			    .patient = everybody,
			    .sequence = model::release_sequence::rc11});
		good(r);
		CHECK(r.complete == expected);
	};

	for (const kind &k : tested_by<2>()) {
		INFO(k.name << ", 2 CPUs");
		if (const pinned *p = pinned_of(k.name))
			count(k, two_by_two(), p->two);
	}
	for (const kind &k : tested_by<3>()) {
		INFO(k.name << ", 3 CPUs");
		if (const pinned *p = pinned_of(k.name))
			count(k, three_by_two(3), p->three);
	}
	for (const kind &k : tested_by<4>()) {
		INFO(k.name << ", 4 CPUs");
		if (const pinned *p = pinned_of(k.name))
			count(k, four_by_one(), p->four);
	}
}

} // namespace of_counts

namespace of_counter_bits {

/*
 * Counters that wrap at a few bits: what a lock computes from them wraps there,
 * too, where it is computed by klock::distance() and klock::successor().
 */

using klock::selftest::service;
using klock::selftest::subject;
using namespace worlds;
using verdict::good;

namespace {

/* Arithmetic as the guide has it, and as it was before. */
struct by_klock {
	static u8 distance(u8 from, u8 to) { return klock::distance(from, to); }
	static u8 successor(u8 of) { return klock::successor(of); }
};

struct by_hand {
	static u8 distance(u8 from, u8 to)
	{
		return static_cast<u8>(to - from);
	}
	static u8 successor(u8 of) { return static_cast<u8>(of + 1); }
};

/*
 * A ticket lock that decides by distances: the first waiter gets ready, and the
 * holder hands over to none that is not.
 */
template <typename Arithmetic>
struct ready_lock : Arithmetic {
	static constexpr u64 max_contenders = 256;

	void lock()
	{
		const u8 mine = next.fetch_add_acq_rel(1);

		owner.await_acquire([mine](u8 now) {
			return Arithmetic::distance(now, mine) <= 1;
		});
		ready[mine % 2].store_release(mine);
		owner.await_eq_acquire(mine);
	}

	void unlock()
	{
		const u8 mine = owner.load_relaxed();

		if (Arithmetic::distance(mine, next.load_relaxed()) > 1)
			wait_for(Arithmetic::successor(mine));
		owner.store_release(Arithmetic::successor(mine));
	}

      private:
	void wait_for(u8 first) { ready[first % 2].await_eq_acquire(first); }

	klock::atomic<u8> next, owner;
	klock::atomic<u8> ready[2]; /* two may say so at once */
};

template <typename Arithmetic>
using ready = subject<"ready_lock", ready_lock<Arithmetic>, service::fifo>;

const std::vector<unsigned> one_by_one[] = {{4, 1}, {3, 2}, {2, 2, 1}};

} // namespace

TEST_CASE("counter_bits: a lock that decides by distances")
{
	for (const auto &sections : one_by_one)
		for (const unsigned few : {0u, 2u, 3u})
			good(exclusion(
				kind_of<ready<by_klock>>,
				{.sections = sections, .counter_bits = few}));

	/* Its own arithmetic is right, too: at the whole width alone. */
	good(exclusion(kind_of<ready<by_hand>>, {.sections = {4, 1}}));
	CHECK(exclusion(kind_of<ready<by_hand>>,
			{.sections = {4, 1}, .counter_bits = 2})
		      .found == model::bug::deadlock);
}

namespace {

/* Checks a lock's hints while one CPU takes it again and again. */
template <typename Lock>
result hints(unsigned few)
{
	struct world {
		Lock lock;
		klock::atomic<u8> next;
	};

	return model::explore<world>(
		{.sections = {9}, .counter_bits = few},
		[](world &w, unsigned) {
			w.lock.lock();
			model::check(w.lock.is_locked(), "locked");
			model::check(!w.lock.is_contended(), "uncontended");
			w.lock.unlock();
			model::check(!w.lock.is_locked(), "free");
		},
		[](world &w) {
			w.lock.lock();
			model::check(!w.lock.is_contended(), "as it ends");
		});
}

} // namespace

TEST_CASE("counter_bits: the tickets' hints at the wrap")
{
	const auto passes = []<typename Lock>() {
		for (const unsigned few : {0u, 2u, 3u}) {
			const result r = hints<Lock>(few);
			INFO(few << " bits\n" << r.timeline);
			CHECK(r.ok());
			CHECK(r.complete == 1);
		}
	};

	passes.template operator()<klock::ticket_lock<u8>>();
	passes.template operator()<klock::ticket_lock<klock::u32>>();
	passes.template operator()<klock::padded_ticket_lock<u8>>();
	passes.template operator()<klock::padded_ticket_lock<klock::u16>>();
	passes.template operator()<klock::proportional_ticket_lock<u8>>();
}

TEST_CASE("counter_bits: outside of an exploration, counters are whole")
{
	CHECK(hints<klock::ticket_lock<u8>>(2).ok());
	CHECK(klock::distance<u8>(3, 0) == 253);
	CHECK(klock::successor<klock::u16>(0xffff) == 0);
	CHECK(klock::successor<klock::u16>(0xff) == 0x100);
	CHECK(klock::distance<u8>(255, 1) == 2);
	CHECK(klock::successor<u8>(255) == 0);
}

TEST_CASE("counter_bits: which locks count, and which say that they do not")
{
	using klock::ticket_lock;
	using as_it_is = subject<"", ticket_lock<u8>, service::fifo>;
	using opted_out = subject<"", ticket_lock<u8>, service::fifo, "why">;
	unsigned counting = 0, whole = 0;

	CHECK(bits(kind_of<as_it_is>, 2) == 2);
	CHECK(bits(kind_of<opted_out>, 2) == 0);
	for (const kind &k : tested<3>()) {
		INFO(k.name << ": " << k.whole_because);
		counting += bits(k, 2) != 0;
		if (!*k.whole_because)
			continue;
		/* A reason that holds: with narrow counters it goes wrong. */
		whole++;
		CHECK(bits(k, 2) == 0);
		CHECK_FALSE(
			exclusion(k, {.sections = {4, 1}, .counter_bits = 2})
				.ok());
	}
	CHECK(counting == (visits_widths ? 6 : 5));
	CHECK(whole == (visits_widths ? 2 : 3));
}

} // namespace of_counter_bits
