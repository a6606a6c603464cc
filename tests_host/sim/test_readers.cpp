/* SPDX-License-Identifier: MIT */
/*
 * Locks that readers share, read and written by up to 1,024 CPUs: what the
 * texts claim, as shapes and ratios on two machines.
 */
#include "every_lock.hpp"

#include <sim/table.hpp>

#include <klock/selftest/locks.hpp>

#include <catch.hpp>

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

	/* Whose readers share a line has no more from 16 times as many. */
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
