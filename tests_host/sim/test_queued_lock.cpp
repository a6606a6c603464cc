/* SPDX-License-Identifier: MIT */
/*
 * queued_lock: a handoff costs the same however many wait, and not much more
 * than mcs_lock's, in 4 bytes.
 */
#include <sim/measure.hpp>

#include <klock/mcs_lock.hpp>
#include <klock/queued_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include <algorithm>
#include <vector>

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
