/* SPDX-License-Identifier: MIT */
/*
 * inheriting_mutex: the loans are right whenever the domain's lock is released,
 * nobody sleeps for ever, and each order is needed.
 *
 * Where nobody asks owner_died() the counts are PROVED-OWNER's, a sketch's, but
 * for timed waits, which begin with a look.
 */
#include "inheriting_worlds.hpp"
#include "sleep_counts.hpp"

namespace sleeping {

TEST_CASE("inheriting_mutex: exclusion, and nobody sleeps for ever")
{
	counts(42, 17, lending({}, "a a"));
	counts(42, 17, lending({}, "a ba"));
	counts(1866, 1390, sections<inheriting>(two_one, "ll"));
	counts(25, 2, sections<inheriting>(one_each, "tl"));
}

TEST_CASE("inheriting_mutex: a turn before the queue, one before the sleep")
{
	using one = spinning_inheriting;

	counts(64, 23, lending<one>({}, "a a"));
	counts(126, 31, lending<one>({}, "a A"));
	counts(126, 47, lending<one>({}, "a! a"));
	counts(1388, 838, lending<one>({}, "a a ^"));
	counts(4143, 2837, sections<one>(two_one, "ll"));
	counts(238, 136, freed<one>(one_each, "Ll"));
}

/* If two queue, the second is not next, and does not look. */
TEST_CASE("inheriting_mutex: a turn of each, and three", "[deep]")
{
	counts(310740, 146983, lending<spinning_inheriting>({}, "a a a"));
	counts(67434, 28518, lending<spinning_inheriting>({}, "a ba b"));
}

TEST_CASE("inheriting_mutex: three wait by priority", "[deep]")
{
	counts(57486, 31530, lending({}, "a a a"));
	counts(57486, 31530, lending({}, "ba a a"));
}

/* A fault in who comes first shows in the first of them. */
TEST_CASE("inheriting_mutex: three wait by priority, a part")
{
	const options part{.max_executions = 20'000};

	CHECK(lending(part, "a a a").message == "");
}

/* The third lends through the second to the first. */
TEST_CASE("inheriting_mutex: a chain")
{
	counts(30392, 13821, lending({}, "a ba b"));
}

TEST_CASE("inheriting_mutex: chains", "[deep]")
{
	counts(30392, 9660, lending({}, "ba b a"));
	counts(30392, 27507, lending({}, "b ba a"));
	counts(30392, 7673, lending({}, "ba a b"));
	counts(181328, 131588, lending({}, "a ba B"));
}

TEST_CASE("inheriting_mutex: a deadline, or a kill, races with a hand-over")
{
	counts(95, 25, lending({}, "a A"));
	counts(95, 44, sections<inheriting>(one_each, "Ll"));
}

TEST_CASE("inheriting_mutex: two give up, or one in a chain", "[deep]")
{
	counts(208320, 95692, lending({}, "a A a"));
	counts(184200, 104173, lending({}, "a ba A"));
}

TEST_CASE("inheriting_mutex: a priority changes in a wait, or in a section")
{
	counts(934, 595, lending({}, "a a ^"));
	counts(934, 595, lending({}, "a a _"));
	counts(934, 595, lending({}, "a ba ^"));
	counts(2345, 1634, lending({}, "a A _"));
}

TEST_CASE("inheriting_mutex: a waiter whose priority grows is moved", "[deep]")
{
	counts(164762, 80306, lending({}, "a a a^"));
}

/* The fourth lends through the second, which waits for the first: so it passes
 * the third. All of it is 12 million executions and more. */
TEST_CASE("inheriting_mutex: a loan moves a waiter in a chain", "[deep]")
{
	const result r = lending({.preemptions = 2}, "a ba a b");

	INFO(r.message);
	CHECK(r.ok());
	CHECK(r.complete == 11108);
	CHECK(r.blocked == 112147);
}

TEST_CASE("inheriting_mutex: who ends with it hands it over")
{
	counts(85, 35, lending({}, "a! a"));
	counts(203, 52, lending({}, "a! A"));
	counts(8, 3, lending({}, "a! ^"));
}

TEST_CASE("inheriting_mutex: who ends with it, beside two others", "[deep]")
{
	counts(220230, 112829, lending({}, "a! a a"));
	counts(220230, 115663, lending({}, "a a! a"));
}

/* Two take both in two orders: by a deadline the wait is refused. */
TEST_CASE("inheriting_mutex: they would wait for each other")
{
	counts(6592, 2717, lending({}, "bA aB"));
	const result r = lending({}, "ba ab");

	INFO(r.message);
	CHECK(r.found == model::bug::panic);
	CHECK(r.message.find("deadlock; thread ") != r.message.npos);
}

TEST_CASE("inheriting_mutex: in turn among equals")
{
	const among_equals all;

	counts(1376, 59, in_turn<inheriting>(three));
}

TEST_CASE("inheriting_mutex: freed by the next who holds it")
{
	counts(42, 17, freed<inheriting>(one_each, "ll"));
	counts(175, 108, freed<inheriting>(one_each, "Ll"));
	counts(21, 2, freed_by_next<inheriting>(one_each, "ll"));
}

TEST_CASE("inheriting_mutex: each makes its own thread, and may end behind it")
{
	counts(42, 17, own_objects({}, "ll"));
	counts(95, 25, own_objects({}, "lL"));
	counts(25, 2, own_objects({}, "tl"));
}

TEST_CASE("inheriting_mutex: three make their own threads", "[deep]")
{
	counts(57486, 31530, own_objects({}, "lll"));
}

/* The lock that is shipped as the domain's. */
TEST_CASE("inheriting_mutex: the domain's lock, preemptable tickets")
{
	set_priorities(1, 1);
	counts(182, 52, sections<inheriting_mutex>(one_each, "ll"));
	counts(3843, 2156, freed<inheriting_mutex>(one_each, "Ll"));
	set_priorities(1, 1);
}

TEST_CASE("inheriting_mutex: cost without a contender")
{
	const std::string of = operations<inheriting_mutex>(
		[](auto &lock) { lock.lock(), lock.unlock(); });

	INFO(of);
	CHECK(rmws(of) == 2);
	CHECK(times(of, {"load ", "store ", "read ", "interrupts"}) == 0);
}

TEST_CASE("inheriting_mutex: orders needed")
{
	constexpr auto clients = [](const options &how, auto enough) {
		options o = how;

		o.sections = {1, 1};
		return enough(own_objects(o, "lL")) ||
		       enough(own_objects(o, "tl")) ||
		       enough(sections<inheriting>(o, "ll")) ||
		       enough(sections<inheriting>(o, "tl")) ||
		       enough(sections<inheriting>(o, "Ll")) ||
		       enough(freed<inheriting>(o, "Ll"));
	};

	proof::each_order_is_needed(clients, "inheriting_mutex.hpp", 8);
}

} // namespace sleeping
