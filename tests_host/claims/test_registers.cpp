/* SPDX-License-Identifier: MIT */
/*
 * Claim 8: without read-modify-write, registers are linear in CPUs, and not
 * fewer than CPUs; with it, one is enough for any number.
 */
#include "registers.hpp"

#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

using namespace claims;
using namespace klock;

namespace {

/* So many registers for each further CPU, at each step. */
template <template <unsigned> typename Lock, unsigned Cpus>
void is_linear(usize each)
{
	CAPTURE(Cpus);
	CHECK(registers_of<Lock<2 * Cpus>> - registers_of<Lock<Cpus>> ==
	      each * Cpus);
	CHECK(registers_of<Lock<Cpus + 1>> - registers_of<Lock<Cpus>> == each);
	/* The bound. */
	CHECK(registers_of<Lock<Cpus>> >= Cpus);
}

template <template <unsigned> typename Lock>
void is_linear(usize each)
{
	is_linear<Lock, 2>(each);
	is_linear<Lock, 3>(each);
	is_linear<Lock, 8>(each);
	is_linear<Lock, 64>(each);
	is_linear<Lock, 255>(each);
	is_linear<Lock, 1024>(each);
}

template <unsigned Cpus>
using bakery = bakery_lock<Cpus>;

} // namespace

TEST_CASE("registers: bakery_lock has one for each CPU, and uses them all")
{
	is_linear<bakery>(1);
	CHECK(registers_of<bakery_lock<17>> == 17);
	CHECK(registers_in_use<bakery_lock<17>>(17) == 17);
	CHECK(registers_in_use<bakery_lock<17>>(5) == 5);
}

TEST_CASE("registers: tournament_lock has three for each CPU but one")
{
	is_linear<tournament_lock>(3);
	CHECK(registers_of<tournament_lock<17>> == 3 * 16);
	/* Each CPU's at its leaf, and those of who has come further. */
	CHECK(registers_in_use<tournament_lock<17>>(17) >= 17);
}

TEST_CASE("registers: with read-modify-write their number does not grow")
{
	CHECK(registers_of<tas_lock> == 1);
	CHECK(sizeof(ticket_lock_for<2>) == 2);
	CHECK(sizeof(ticket_lock_for<256>) == 2);
	CHECK(registers_in_use<tas_lock>(17) == 1);
}
