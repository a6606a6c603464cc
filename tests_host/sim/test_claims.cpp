/* SPDX-License-Identifier: MIT */
/*
 * Tests of the claims in the texts on locks, as shapes and ratios on two
 * machines. No claim is a number of cycles: those are the cost tables', not the
 * locks'.
 */
#include "every_lock.hpp"
#include "experiment/backoff_ticket_lock.hpp"

#include <klock/mcs_lock.hpp>
#include <klock/queued_lock.hpp>
#include <klock/selftest/busted.hpp>
#include <klock/selftest/busted_shared.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/ticket_lock.hpp>

#include <sim/measure.hpp>
#include <sim/table.hpp>

#include <catch.hpp>

#include <algorithm>
#include <vector>

namespace of_claims {

using namespace klock;
using namespace sim;

namespace {

/* A base of one's own, as a type: contenders are made by default. */
template <u32 Base>
struct proportional : proportional_ticket_lock<u32> {
	proportional() : proportional_ticket_lock<u32>(Base) {}
};

template <typename Lock>
figures with(const machine &on, unsigned cpus, u64 inside = 500)
{
	const figures f =
		measure<Lock>("", on, {.cpus = cpus, .inside = inside});

	INFO(f.stuck);
	REQUIRE(f.stuck.empty());
	REQUIRE(f.overlaps == 0);
	return f;
}

machine a_machine() { return GENERATE(xeon_8180, xeon_e5_2699v3); }

/* Invalidations grow as the number of CPUs does, from 8 to 256. */
template <typename Lock>
void check_linear(const machine &on)
{
	const double few = with<Lock>(on, 8).sent / 8;
	const double many = with<Lock>(on, 256).sent / 256;

	CAPTURE(few, many);
	CHECK(few > 0.8);
	CHECK(many > 0.8);
	CHECK(many < 2.2);
}

/* They stay what they are: the largest over the smallest. */
template <template <unsigned> typename LockFor>
double spread(const machine &on)
{
	const double sent[] = {
		with<LockFor<8>>(on, 8).sent,
		with<LockFor<32>>(on, 32).sent,
		with<LockFor<128>>(on, 128).sent,
		with<LockFor<512>>(on, 512).sent,
		with<LockFor<1024>>(on, 1024).sent,
	};
	const auto [least, most] =
		std::minmax_element(std::begin(sent), std::end(sent));

	CAPTURE(sent[0], sent[1], sent[2], sent[3], sent[4]);
	CHECK(*most < 6);
	return *most / *least;
}

template <unsigned Cpus>
using anderson_for = anderson_lock<Cpus>;
template <unsigned>
using mcs_for = mcs_lock;
template <unsigned>
using clh_for = clh_lock;

} // namespace

TEST_CASE("claims: where all wait on one line, an acquisition costs O(n) "
	  "invalidations")
{
	const machine on = a_machine();

	check_linear<tas_lock>(on);
	check_linear<ttas_lock>(on);
	check_linear<ticket_lock<u16>>(on);
	check_linear<padded_ticket_lock<u16>>(on);
}

TEST_CASE("claims: where each waits on a line of its own, O(1)")
{
	const machine on = a_machine();

	CHECK(spread<anderson_for>(on) < 1.1);
	CHECK(spread<graunke_thakkar_lock>(on) < 1.1);
	CHECK(spread<mcs_for>(on) < 1.1);
	CHECK(spread<clh_for>(on) < 1.1);
}

TEST_CASE("claims: proportional back-off is flat once its base outlasts the "
	  "handoff, and useless below")
{
	const machine on = a_machine();
	constexpr u64 inside = 4000; /* most of what a handoff takes */
	const bool long_pause = on.pause > 100;
	const u32 base_enough = long_pause ? 64 : 1024;
	const u32 base_too_short = long_pause ? 1 : 8;
	const auto enough = [&](unsigned n) {
		return (long_pause ? with<proportional<64>>(on, n, inside)
				   : with<proportional<1024>>(on, n, inside))
			.misses;
	};
	const auto too_short = [&](unsigned n) {
		return (long_pause ? with<proportional<1>>(on, n, inside)
				   : with<proportional<8>>(on, n, inside))
			.misses;
	};

	INFO(on.name);
	REQUIRE(base_enough * on.pause > inside + 4 * on.far.owned);
	REQUIRE(base_too_short * on.pause < inside / 20);
	CHECK(enough(512) < 1.5 * enough(8));
	CHECK(enough(512) < 6);
	CHECK(too_short(256) > 8 * too_short(8));
	/* Waiters come as often as they would without any back-off. */
	const double plain = with<ticket_lock<u32>>(on, 32, inside).misses;
	CHECK(too_short(32) > 0.75 * plain);
	CHECK(enough(32) < 0.1 * plain);
}

TEST_CASE("claims: a base that is too large leaves the lock idle")
{
	const machine on = a_machine();
	const double right = with<proportional<8>>(on, 32).cycles;
	const double large = with<proportional<1024>>(on, 32).cycles;

	CHECK(large > 4 * right);
}

TEST_CASE("claims: exponential back-off on a ticket lock accumulates")
{
	const machine on = a_machine();
	const figures plain = with<ticket_lock<u32>>(on, 64, 5000);
	/* Up to 10,000 and up to 150,000 cycles: 140 or 10 a turn. */
	const bool long_pause = on.pause > 100;
	const figures some =
		long_pause ? with<backoff_ticket_lock<64>>(on, 64, 5000)
			   : with<backoff_ticket_lock<1024>>(on, 64, 5000);
	const figures more =
		long_pause ? with<backoff_ticket_lock<1024>>(on, 64, 5000)
			   : with<backoff_ticket_lock<16384>>(on, 64, 5000);

	CAPTURE(on.name, plain.cycles, some.cycles, more.cycles);
	/* The next in line sleeps on, and everybody behind waits for it. */
	CHECK(more.cycles > 2 * some.cycles);
	CHECK(more.cycles > 2 * plain.cycles);
	CHECK(more.longest_wait > 2 * plain.longest_wait);

	/* A lock without an order does not wait for a sleeper. */
	const figures unordered = with<backoff_ttas_lock>(on, 64, 5000);
	CHECK(unordered.cycles < plain.cycles);
}

TEST_CASE("claims: a line for each counter spares the waiters the arrivals")
{
	const machine on = a_machine();
	/* The section outlasts the broadcast, so that each arrival disturbs. */
	const double one = with<ticket_lock<u16>>(on, 32, 5000).misses;
	const double two = with<padded_ticket_lock<u16>>(on, 32, 5000).misses;

	CHECK(one > 1.7 * two);
	CHECK(one < 2.1 * two);
}

TEST_CASE("claims: while the lock is held, test-and-set takes the line again "
	  "and again; test and test-and-set is quiet")
{
	const machine on = a_machine();
	const double tas_short = with<tas_lock>(on, 16, 1000).misses;
	const double tas_long = with<tas_lock>(on, 16, 100'000).misses;
	const double ttas_short = with<ttas_lock>(on, 16, 1000).misses;
	const double ttas_long = with<ttas_lock>(on, 16, 100'000).misses;

	CAPTURE(on.name, tas_short, tas_long, ttas_short, ttas_long);
	CHECK(tas_long > 10 * tas_short);
	CHECK(ttas_long < 1.5 * ttas_short);
	CHECK(tas_long > 5 * ttas_long);
}

TEST_CASE("claims: back-off saves test and test-and-set misses, and costs "
	  "fairness")
{
	const machine on = a_machine();
	const figures plain = with<ttas_lock>(on, 32, 2000);
	const figures backed_off = with<backoff_ttas_lock>(on, 32, 2000);

	CHECK(backed_off.misses < plain.misses / 2);
	CHECK(backed_off.bypasses > plain.bypasses);
}

TEST_CASE("claims: tickets are fair, test-and-set is not")
{
	const machine on = a_machine();

	CHECK(with<ticket_lock<u16>>(on, 32).bypassed_most <= 1);
	CHECK(with<mcs_lock>(on, 32).bypassed_most <= 1);
	CHECK(with<ttas_lock>(on, 32).bypassed_most > 32);
}

} // namespace of_claims

namespace of_queued_lock {

/*
 * queued_lock: a handoff costs the same however many wait, and not much more
 * than mcs_lock's, in 4 bytes.
 */

using namespace klock;
using namespace sim;

namespace {

/* Misses a handoff; nobody is bypassed, nobody waits for ever. */
template <typename Lock>
double misses(unsigned cpus, u64 inside)
{
	const figures f =
		measure<Lock>("", xeon_8180, {.cpus = cpus, .inside = inside});

	CAPTURE(cpus, inside, f.misses);
	CHECK(f.stuck.empty());
	CHECK(f.overlaps == 0);
	CHECK(f.bypasses < 0.5);
	return f.misses;
}

template <unsigned... Cpus>
std::vector<double> queued_misses(u64 inside)
{
	return {misses<queued_lock<Cpus>>(Cpus, inside)...};
}

/* The most over the least. */
double spread(const std::vector<double> &of)
{
	const auto [least, most] = std::minmax_element(of.begin(), of.end());

	return *most / *least;
}

} // namespace

TEST_CASE("queued_lock: flat from 8 to 1,024 CPUs, 1.8 times mcs_lock at most")
{
	static_assert(sizeof(queued_lock<1024>) == 4);

	for (const u64 inside : {0u, 500u, 2000u}) {
		const std::vector<double> queued =
			queued_misses<8, 32, 128, 1024>(inside);
		CAPTURE(inside, queued);
		CHECK(spread(queued) <= 1.1);
		CHECK(*std::max_element(queued.begin(), queued.end()) <=
		      1.8 * misses<mcs_lock>(128, inside));
	}
}

/* A CPU that waits and has not queued is passed. */
TEST_CASE("queued_lock: patience is faster with two CPUs, and waits longer "
	  "with 8")
{
	using strict = queued_lock<8>;
	using patient = queued_lock<8, 8>;

	for (const u64 inside : {0u, 500u}) {
		const workload by_two = {.cpus = 2, .inside = inside};
		const workload by_eight = {.cpus = 8, .inside = inside};
		const figures two = measure<strict>("", xeon_8180, by_two);
		const figures waited = measure<patient>("", xeon_8180, by_two);
		const figures eight = measure<strict>("", xeon_8180, by_eight);
		const figures late = measure<patient>("", xeon_8180, by_eight);

		CAPTURE(inside);
		CHECK(waited.overlaps + late.overlaps == 0);
		CHECK(waited.cycles < 0.85 * two.cycles);
		CHECK(late.longest_wait > 1.5 * eight.longest_wait);
		CHECK(late.misses < 1.2 * eight.misses);
	}
}

TEST_CASE("queued_lock: what is not flat is found")
{
	CHECK(spread({misses<ticket_lock<u8>>(8, 500),
		      misses<ticket_lock<u8>>(32, 500)}) > 1.1);
}

TEST_CASE("queued_lock: alone it is one line, and asks for no number")
{
	const alone did = measure_alone<queued_lock<8>>(512);

	CHECK(did.rmws == 1);
	CHECK(did.stores == 1);
	CHECK(did.lines == 1);
}

} // namespace of_queued_lock

namespace of_readers {

/*
 * Locks that readers share, read and written by up to 1,024 CPUs: what the
 * texts claim, as shapes and ratios on two machines.
 */

using namespace klock;
using namespace sim;

namespace {

machine a_machine() { return GENERATE(xeon_8180, xeon_e5_2699v3); }

template <typename Lock>
shared_figures with(const machine &on, const shared_workload &load)
{
	const shared_figures f = measure_shared<Lock>("", on, load);

	INFO(f.stuck);
	REQUIRE(f.stuck.empty());
	REQUIRE(f.overlaps == 0);
	return f;
}

template <unsigned Cpus>
shared_figures reads(const machine &on)
{
	return with<reader_lock<Cpus>>(on, {.cpus = Cpus});
}

using exclusive = yardstick::lock;
using clock_lock = seq_lock<clock_value>;

} // namespace

TEST_CASE("readers: every lock at every share of writers, twice the same")
{
	std::vector<shared_figures> rows, again;

	measure_shared_list<2>(rows, xeon_8180, {0});
	measure_shared_list<32>(rows, xeon_8180, {0});
	for (const shared_figures &f : rows) {
		CAPTURE(f.lock, f.cpus, f.writers, f.stuck);
		CHECK(f.stuck.empty());
		CHECK(f.overlaps == 0);
		CHECK(f.read.sections + f.write.sections >= 2048);
		CHECK(f.rate() > 0);
		CHECK((f.write.sections == 0) ==
		      (f.writers == 0 || f.lock == yardstick::name));
	}
	CHECK(rows.size() == 2 * 4 * (selftest::all_shared_locks<2>::size + 2));
	measure_shared_list<2>(again, xeon_8180, {0});
	measure_shared_list<32>(again, xeon_8180, {0});
	CHECK(csv(rows) == csv(again));
}

TEST_CASE("readers: reader_lock: a read costs the same with 1,024 as with 8")
{
	const machine on = a_machine();
	const shared_figures of[] = {reads<8>(on), reads<32>(on),
				     reads<128>(on), reads<1024>(on)};

	for (const shared_figures &f : of) {
		CAPTURE(f.cpus, f.read.cycles);
		CHECK(f.read.misses == 0);
		CHECK(f.read.cycles < 1.1 * of[0].read.cycles);
		CHECK(of[0].read.cycles < 1.1 * f.read.cycles);
	}
	/* All at once, and so many times as fast. */
	CHECK(of[3].most_readers == 1024);
	CHECK(of[3].rate() > 0.75 * 1024 / 8 * of[0].rate());

	/*
	 * A lock whose readers share a line gains nothing from 16 times as many
	 * CPUs.
	 */
	const auto on_one_line = [&](unsigned cpus) {
		return with<phase_fair_lock<u16>>(on, {.cpus = cpus});
	};
	CHECK(on_one_line(128).read.cycles > 4 * on_one_line(8).read.cycles);
	CHECK(on_one_line(128).rate() < 2 * on_one_line(8).rate());
}

TEST_CASE("readers: reader_lock: a write looks at each CPU, and is dear")
{
	const machine on = a_machine();
	const auto writes = [&]<unsigned Cpus>(reader_lock<Cpus> *) {
		return with<reader_lock<Cpus>>(on, {.cpus = Cpus, .writers = 1})
			.write.misses;
	};
	const double of_8 = writes(static_cast<reader_lock<8> *>(nullptr));
	const double of_128 = writes(static_cast<reader_lock<128> *>(nullptr));

	CHECK(of_8 > 8);
	CHECK(of_128 > 0.9 * 128);
	/* Written now and then it is slower than to share nothing. */
	CHECK(with<reader_lock<128>>(on, {.cpus = 128, .writers = 10}).rate() <
	      with<exclusive>(on, {.cpus = 128}).rate());
	CHECK(with<reader_lock<8>>(on, {.cpus = 8, .writers = 1}).rate() >
	      4 * with<exclusive>(on, {.cpus = 8}).rate());
}

TEST_CASE("readers: empty sections: an exclusive lock is as good; long ones: "
	  "readers are together")
{
	const machine on = a_machine();
	const auto gain = [&](unsigned cpus, u64 inside) {
		const shared_workload load = {
			.cpus = cpus, .inside = inside, .think = inside};

		return with<rw_ticket_lock<u16>>(on, load).rate() /
		       with<exclusive>(on, load).rate();
	};

	CHECK(gain(8, 0) < 1.1);
	CHECK(gain(32, 0) < 1.1);
	CHECK(gain(8, 500) > 1.5);
	CHECK(gain(32, 500) > 1.5);
	CHECK(gain(8, 10'000) > 4);
	CHECK(gain(8, 100'000) > 4);
}

TEST_CASE("readers: phase_fair_lock: a read does not wait for all writers")
{
	const machine on = a_machine();
	const shared_workload load = {.cpus = 32, .writers = 50};
	const auto longest = [](const shared_figures &f) {
		return f.read.longest_wait;
	};
	const u64 phases = longest(with<phase_fair_lock<u16>>(on, load));

	CHECK(3 * phases < longest(with<rw_ticket_lock<u16>>(on, load)));
	CHECK(8 * phases < longest(with<reader_lock<32>>(on, load)));
}

TEST_CASE("readers: seq_lock: the fastest to read, not where writes are many")
{
	const machine on = a_machine();
	const auto rate = [&](auto *lock, unsigned writers) {
		using type = std::remove_pointer_t<decltype(lock)>;
		return with<type>(on, {.cpus = 32, .writers = writers}).rate();
	};
	clock_lock *const value = nullptr;
	reader_lock<32> *const lines = nullptr;
	exclusive *const one = nullptr;

	CHECK(rate(value, 0) > rate(lines, 0));
	CHECK(rate(value, 1) > rate(lines, 1));
	CHECK(rate(value, 1) > 8 * rate(one, 1));
	CHECK(rate(value, 50) < rate(one, 50));
}

} // namespace of_readers

namespace of_busted {

/*
 * Locks that are wrong on purpose, each found by some load.
 */

using namespace klock;
using namespace sim;

namespace {

/* Bypasses that a FIFO lock may show: before its doorway, never behind it. */
constexpr double most_on_the_way = 0.5;

/* Whether some load shows that the lock is wrong. */
template <typename Subject>
bool found_wrong()
{
	for (const machine &on : {round_figures, xeon_8180})
		for (const unsigned cpus : {2u, 3u, 4u, 16u})
			for (const u64 inside : {0u, 100u, 2000u}) {
				if (cpus > Subject::capacity)
					continue;
				const figures f =
					measure<typename Subject::lock>(
						Subject::name, on,
						{.cpus = cpus,
						 .inside = inside,
						 .patience = 10'000'000});
				const bool bypassed =
					selftest::queues(
						Subject::order_of_service) &&
					f.bypasses >= most_on_the_way;

				if (f.overlaps || !f.stuck.empty() || bypassed)
					return true;
			}
	return false;
}

} // namespace

TEST_CASE("every lock: those that must fail are found where they can be")
{
	std::string missed;

	selftest::busted_locks::for_each([&]<typename Subject>() {
		if (!found_wrong<Subject>())
			missed += Subject::name + std::string(" ");
	});
	/*
	 * The first is wrong in try_lock, which nobody calls here; the next
	 * three when somebody gives up, which nobody does. Of the queued ones
	 * one loses a link only while it pauses, and one passes others in a
	 * window of a few cycles. The next two only where memory is not
	 * sequentially consistent; the last when it is freed, which nobody does
	 * here.
	 */
	CHECK(missed == "aba_try_lock hole_in_line blind_leave place_again "
			"late_clean stealer relaxed_queue unfenced_peterson "
			"root_first ");
}

namespace {

template <typename Subject>
shared_figures under(unsigned cpus, unsigned writers, u64 inside)
{
	return measure_shared<typename Subject::lock>(Subject::name, xeon_8180,
						      {.cpus = cpus,
						       .writers = writers,
						       .inside = inside,
						       .patience = 10'000'000});
}

/* Whether some load shows that the lock is wrong. */
template <typename Subject>
bool found_wrong_shared()
{
	for (const unsigned cpus : {2u, 4u, 16u})
		for (const unsigned writers : {10u, 50u})
			for (const u64 inside : {0u, 500u, 5000u}) {
				const shared_figures f =
					under<Subject>(cpus, writers, inside);

				if (f.overlaps || !f.stuck.empty())
					return true;
			}
	return under<Subject>(4, 0, 5000).most_readers < 4;
}

} // namespace

TEST_CASE("readers: those that must fail are found where they can be")
{
	std::string missed;

	selftest::busted_shared_locks::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		/* Nobody upgrades here, nor downgrades. */
		if constexpr (upgradable_lock<L> ||
			      requires(L &lock) { lock.downgrade(); })
			return;
		else if (!found_wrong_shared<Subject>())
			missed += Subject::name + std::string(" ");
	});
	/*
	 * The first is wrong when it is freed, the second only where memory is
	 * not sequentially consistent; the third lets readers wait for longer;
	 * the last is wrong in a try, which nobody makes here.
	 */
	CHECK(missed ==
	      "rw_two_steps rw_plain_read pf_no_phase pf_gives_back ");
}

} // namespace of_busted
