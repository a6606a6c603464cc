/* SPDX-License-Identifier: MIT */
/*
 * Tests of the parts that the self-tests and the lab's figures are made of.
 */
#include <klock/calibrate.hpp>
#include <klock/proportional_ticket_lock.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/selftest/measure.hpp>
#include <klock/selftest/shared_measure.hpp>
#include <klock/selftest/torture.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>
using namespace klock;
using namespace klock::selftest;

/* The parts that the self-tests are made of. */
namespace selftest_tests {

TEST_CASE("selftest: divide agrees with the CPU's own division")
{
	xorshift dice(7);

	for (int i = 0; i < 100000; i++) {
		const u64 a = u64{dice.next()} << 32 | dice.next();
		const u64 b = (u64{dice.next()} << 32 | dice.next()) >>
			      dice.below(64);
		if (b != 0 && divide(a, b) != a / b)
			FAIL(a << " / " << b << " gave " << divide(a, b));
	}
	CHECK(divide(1, 0) == 0);
}

TEST_CASE("selftest: Jain's index is 1000 when even, 1000/n when one has all")
{
	CHECK(jain_permille(4, [](unsigned) { return u64{25}; }) == 1000);
	CHECK(jain_permille(4, [](unsigned i) { return u64{i == 2}; }) == 250);
	CHECK(jain_permille(256, [](unsigned) { return ~u64{0}; }) == 1000);
	CHECK(jain_permille(2, [](unsigned i) { return u64{i ? 3u : 1u}; }) ==
	      800);
}

TEST_CASE("selftest: a doorway is seen from outside the lock")
{
	ticket_lock<u8> lock;

	lock.lock();
	const doorway<ticket_lock<u8>> line(lock);
	CHECK_FALSE(line.passed(1));
	CHECK_FALSE(lock.try_lock());
	CHECK_FALSE(line.passed(1));
	lock.unlock();
	CHECK(line.passed(1));
}

TEST_CASE("selftest: a mark in a cell that goes round is no doorway")
{
	/* As clh_lock: who gets the lock's cell marks it, then queues. */
	struct {
		alignas(cache_line) atomic<u8> tail;
		alignas(cache_line) atomic<u8> cell;
	} lock;
	const doorway<decltype(lock)> line(lock);

	lock.cell.store_relaxed(1);
	CHECK_FALSE(line.passed(1));
	lock.tail.store_relaxed(1);
	CHECK(line.passed(1));
}

TEST_CASE("selftest: each kind of fault is named, a vacuous run too")
{
	const auto verdict = [](auto spoil) {
		result r{};
		r.promised = service::fifo;
		r.forced = r.handoffs = 10;
		spoil(r);
		const char *wrong = fault(r);
		return std::string(wrong ? wrong : "");
	};

	CHECK(verdict([](result &) {}) == "");
	CHECK(verdict([](result &r) { r.exclusion_errors = 1; }) != "");
	CHECK(verdict([](result &r) { r.lost_updates = 1; }) != "");
	CHECK(verdict([](result &r) { r.fifo_violations = 1; }) != "");
	CHECK(verdict([](result &r) { r.gave_up = true; }) != "");
	CHECK(verdict([](result &r) { r.handoffs = 9; }) != "");
	CHECK(verdict([](result &r) {
		      r.fifo_violations = 1;
		      r.promised = service::none;
	      }) == "");
}

TEST_CASE("deadline: each kind of fault is named, a vacuous run too")
{
	const auto verdict = [](auto spoil) {
		deadline_result r{};
		r.refused = r.sections = 1;
		spoil(r);
		const char *wrong = fault(r);
		return std::string(wrong ? wrong : "");
	};

	CHECK(verdict([](deadline_result &) {}) == "");
	CHECK(verdict([](deadline_result &r) { r.let_in = 1; }) != "");
	CHECK(verdict([](deadline_result &r) { r.early = 1; }) != "");
	CHECK(verdict([](deadline_result &r) { r.refused = 0; }) != "");
	CHECK(verdict([](deadline_result &r) { r.sections = 0; }) != "");
	CHECK(verdict([](deadline_result &r) { r.wrong = 1; }) != "");
	CHECK(verdict([](deadline_result &r) { r.never_in_time = 1; }) != "");
	CHECK(verdict([](deadline_result &r) { r.gave_up = true; }) != "");
}

TEST_CASE("selftest: no update is lost where a count passes 2^32")
{
	using lock = subject<"ticket_lock<u8>", ticket_lock<u8>, service::fifo>;
	static torture<lock, 1> t;
	const plan p = {.cpus = 1,
			.convoys = 0,
			.sections = 100,
			.relaxes_a_word = 0,
			.relaxes_outside = 0,
			.try_one_in = 0,
			.seed = 1,
			.made = (u64{1} << 32) - 120};

	t.prepare(p);
	for (int i = 0; i < 50; i++)
		REQUIRE(t.drop_in(0)); /* with it: beyond 2^32 */
	t.run(0);
	CHECK(t.outcome().acquisitions == (u64{1} << 32) - 20);
	CHECK(t.outcome().visits == 50);
	CHECK(t.outcome().lost_updates == 0);

	plan over = p;
	over.sections = 200; /* beyond it without visits */
	t.prepare(over);
	t.run(0);
	CHECK(t.outcome().acquisitions == (u64{1} << 32) + 80);
	CHECK(t.outcome().lost_updates == 0);
}

TEST_CASE("selftest: a lost update shows, also where the count wraps")
{
	invariant data;

	data.reset((u64{1} << 32) - 1);
	CHECK(data.visit(0));
	CHECK(data.lost(u64{1} << 32) == 0);
	CHECK(data.lost((u64{1} << 32) + 1) == 1);
}

} // namespace selftest_tests

/*
 * The parts that the lab's figures are made of: the histogram, and a
 * measurement.
 */
namespace measure_tests {

TEST_CASE("histogram: each value lies within its bucket")
{
	for (unsigned i = 0; i < histogram::buckets; i++) {
		const u64 low = histogram::lower_end(i);
		const u64 high = histogram::lower_end(i + 1) - 1;

		CHECK(histogram::bucket_of(low) == i);
		CHECK(histogram::bucket_of(high) == i);
		CHECK(high - low <= low / 8);
	}
}

TEST_CASE("histogram: its shares are those of the sorted values")
{
	xorshift dice(3);
	std::vector<u64> all;
	auto h = std::make_unique<histogram>();

	for (int i = 0; i < 20000; i++) {
		all.push_back(dice.next() >> dice.below(32));
		h->add(all.back());
	}
	std::sort(all.begin(), all.end());
	CHECK(h->count() == all.size());
	CHECK(h->min() == all.front());
	CHECK(h->max() == all.back());
	for (u32 share : {1u, 250u, 500u, 990u, 1000u}) {
		const u64 exact = all[(all.size() * share + 999) / 1000 - 1];

		INFO(share << ": " << exact << ", " << h->permille(share));
		CHECK(h->permille(share) >= exact);
		CHECK(h->permille(share) <= exact + exact / 8);
	}
}

TEST_CASE("histogram: two merged are as one")
{
	auto a = std::make_unique<histogram>();
	auto b = std::make_unique<histogram>();

	CHECK(a->min() == 0);
	CHECK(a->permille(500) == 0);
	a->add(5);
	b->add(900);
	b->add(3);
	a->merge(*b);
	CHECK(a->count() == 3);
	CHECK(a->min() == 3);
	CHECK(a->max() == 900);
	CHECK(a->permille(500) == 5);
}

/* Runs an experiment on as many threads. */
template <typename L>
static std::unique_ptr<figures> measured(const experiment &e)
{
	using subject_type = subject<"measured", L, service::fifo>;
	auto m = std::make_unique<measurement<subject_type, 4>>();
	std::vector<tally> tallies(4);
	std::vector<std::thread> threads;
	auto f = std::make_unique<figures>();

	m->prepare(e, tallies.data());
	for (unsigned cpu = 0; cpu < e.cpus; cpu++)
		threads.emplace_back([&m, cpu] { m->run(cpu); });
	for (auto &thread : threads)
		thread.join();
	m->outcome(*f);
	return f;
}

TEST_CASE("measure: counts what was done, and a sound lock is sound")
{
	const auto f = measured<ticket_lock<u8>>({.cpus = 3,
						  .section = {100, 300},
						  .think = {0, 500},
						  .acquisitions = 3000,
						  .cycles = 0,
						  .seed = 1,
						  .irqs_off = true});

	CHECK(f->acquisitions >= 3000);
	CHECK(f->acquisitions < 3003);
	CHECK(fault(*f) == nullptr);
	CHECK(f->handoff.count() <= f->handoffs);
	CHECK(f->cycles >= 3000 * 100);
	CHECK(f->jain_permille > 300);
}

/* It lets everybody in. */
struct open_door {
	static constexpr u64 max_contenders = ~u64{0};

	void lock() {}
	void unlock() {}
};

/*
 * A section of some milliseconds is longer than a time slice: on one core, too,
 * others run while somebody is inside. Words changed within a few instructions
 * do not overlap there for hours.
 */
TEST_CASE("measure: a lock that lets two in is no figure")
{
	const char *wrong = nullptr;

	for (u32 run = 0; run < 200 && !wrong; run++)
		wrong = fault(*measured<open_door>(
			{.cpus = 4,
			 .section = {20'000'000, 20'000'000},
			 .think = {},
			 .acquisitions = 8,
			 .cycles = 0,
			 .seed = run,
			 .irqs_off = false}));
	CHECK(wrong != nullptr);
}

/* -- Readers and writers ------------------------------------------------- */

/* Measures a lock that readers share. */
template <typename L>
static std::unique_ptr<shared_figures> shared_measured(const experiment &e)
{
	using subject_type = shared_subject<"measured", L, sharing::in_order>;
	auto m = std::make_unique<shared_measurement<subject_type, 4>>();
	std::vector<tally> reads(4), writes(4);
	std::vector<std::thread> threads;
	auto f = std::make_unique<shared_figures>();

	m->prepare(e, reads.data(), writes.data());
	for (unsigned cpu = 0; cpu < e.cpus; cpu++)
		threads.emplace_back([&m, cpu] { m->run(cpu); });
	for (auto &thread : threads)
		thread.join();
	m->outcome(*f);
	return f;
}

TEST_CASE("shared measure: counts what was done, and sound locks are sound")
{
	const auto run = [](auto *lock, u32 writers) {
		using lock_type = std::remove_pointer_t<decltype(lock)>;
		const auto f = shared_measured<lock_type>({.cpus = 3,
							   .section = {0, 300},
							   .think = {0, 500},
							   .acquisitions = 3000,
							   .cycles = 0,
							   .seed = 1,
							   .irqs_off = true,
							   .writers = writers});

		const u64 all = f->read.acquisitions + f->write.acquisitions;
		CHECK(all >= 3000);
		CHECK(all < 3000 + 3 * 8 + 3);
		CHECK(fault(*f) == nullptr);
		CHECK(f->read.handoff.count() <= f->read.acquisitions);
		CHECK(f->write.handoff.count() <= f->write.acquisitions);
		return f->write.acquisitions;
	};
	const auto every = [&](auto *lock) {
		CHECK(run(lock, 0) == 0);
		CHECK(run(lock, 100) >= 3000);
		const u64 some = run(lock, 10);
		CHECK(some > 150);
		CHECK(some < 500);
	};

	every(static_cast<rw_ticket_lock<u8> *>(nullptr));
	every(static_cast<phase_fair_lock<u8> *>(nullptr));
	every(static_cast<reader_lock<4> *>(nullptr));
}

/* Readers do not wait: writers alone keep order. */
struct open_to_readers : ticket_lock<u8> {
	static constexpr u64 max_readers = ~u64{0};

	void lock_shared() {}
	void unlock_shared() {}
};

/* Writers let each other in, and readers, who share. */
struct open_to_writers {
	static constexpr u64 max_contenders = ~u64{0};
	static constexpr u64 max_readers = ~u64{0};

	void lock() {}
	void unlock() {}
	void lock_shared() {}
	void unlock_shared() {}
};

/*
 * Returns whether one of some runs shows it, with sections longer than a time
 * slice.
 */
template <typename L>
static bool found(u32 writers, bool (*shows)(const shared_figures &))
{
	for (u32 run = 0; run < 200; run++)
		if (shows(*shared_measured<L>(
			    {.cpus = 4,
			     .section = {20'000'000, 20'000'000},
			     .think = {},
			     .acquisitions = 8,
			     .cycles = 0,
			     .seed = run,
			     .irqs_off = false,
			     .writers = writers})))
			return true;
	return false;
}

TEST_CASE("shared measure: a reader that sees a writer is no figure")
{
	CHECK(found<open_to_readers>(50, [](const shared_figures &f) {
		return fault(f) && f.read.overlaps != 0;
	}));
}

TEST_CASE("shared measure: a writer that sees anybody is no figure")
{
	CHECK(found<open_to_readers>(50, [](const shared_figures &f) {
		return fault(f) && f.write.overlaps != 0;
	}));
	CHECK(found<open_to_writers>(100, [](const shared_figures &f) {
		return fault(f) && f.write.overlaps != 0;
	}));
}

} // namespace measure_tests

/*
 * calibrate: the arithmetic, and that what it measures is in proportion.
 */
namespace calibrate_tests {

TEST_CASE("calibrate: base is a section and its handoff, in whole turns")
{
	static_assert(proportional_base(10, 100) == 10);
	static_assert(proportional_base(10, 101) == 11);
	static_assert(proportional_base(10, 100, 40) == 14);
	static_assert(proportional_base(140, 100) == 1);
	static_assert(proportional_base(140, 0) == 1);
	static_assert(proportional_base(0, 100) == 100);
	static_assert(proportional_base(1, ~u32{0}, ~u32{0}) == ~u32{0});
	static_assert(guessed_base ==
		      proportional_ticket_lock<u8>::default_base);
	SUCCEED();
}

/* Calibrates with a thread for the other CPU. */
template <typename Section>
static calibration measured(Section section)
{
	static constinit handoff_meter meter;
	std::thread other([] { meter.answer(); });
	const calibration c = calibrate(meter, section);

	other.join();
	return c;
}

TEST_CASE("calibrate: a pause, a handoff and a section cost something")
{
	const calibration c = measured([] { relax_for(8); });

	REQUIRE(c.error != calibration_error::no_clock);
	CHECK(c.relax > 0);
	CHECK(c.handoff > 0);
	CHECK(c.section > 0);
	CHECK(c.base == proportional_base(c.relax, c.handoff, c.section));
	CHECK(u64{c.base} * c.relax >= c.handoff);
}

TEST_CASE("calibrate: a longer section costs more, in proportion")
{
	/* In spin iterations: 4 and 64, and nothing but the ratio. */
	const calibration brief = measured([] { relax_for(4); });
	const calibration longer = measured([] { relax_for(64); });

	CHECK(longer.section > 8 * brief.section);
	CHECK(longer.section < 32 * brief.section);
	CHECK(longer.section > 32 * longer.relax);
	CHECK(longer.section < 128 * longer.relax);
}

TEST_CASE("calibrate: a meter can be used again, and be finished unused")
{
	static constinit handoff_meter meter;

	for (int i = 0; i < 3; i++) {
		std::thread other([] { meter.answer(); });
		if (i == 1)
			meter.finish();
		else
			CHECK(meter.measure(0) > 0);
		other.join();
	}
}

} // namespace calibrate_tests
