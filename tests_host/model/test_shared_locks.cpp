/* SPDX-License-Identifier: MIT */
/*
 * Every lock that readers share, in every execution of a few CPUs: nobody reads
 * beside a writer, readers read together, who is to go first does.
 */
#include "../checker/verdict.hpp"
#include "shared_worlds.hpp"

#include <klock/selftest/busted_shared.hpp>

#include <catch.hpp>

#include <cstring>

namespace of_shared_locks {

using klock::selftest::busted_shared_locks;
using klock::selftest::sharing;
using namespace worlds;
using model::release_sequence;
using verdict::good;

namespace {

constexpr klock::u64 everything = options{}.max_executions;

/* In all executions; in the quick tests in as many as take a moment. */
void every_client_passes(klock::u64 most)
{
	for (const kind &k : tested_shared<4>()) {
		each_shared_client(
			k, {.max_executions = most},
			[&k, most](const result &r) {
				INFO(k.name << ", " << r.message << "\n"
					    << r.timeline);
				CHECK(r.ok());
				CHECK((r.exhaustive ||
				       r.complete + r.blocked >= most));
				CHECK(r.complete >= 1);
				return false;
			});
	}
}

} // namespace

TEST_CASE("shared: every client passes")
{
	every_client_passes(visits_widths ? everything : 10'000);
}

/* RC11's release sequences order more than C++20's: these pass with them. */
TEST_CASE("shared: every client passes, in all executions", "[deep]")
{
	every_client_passes(everything);
}

TEST_CASE("shared: readers are inside together, and others wait for a writer")
{
	for (const kind &k : tested_shared<3>()) {
		INFO(k.name);
		for (const char *roles : {"rr", "vr", "dr"})
			if (can(k, {roles, {1, 1}}))
				verdict::right_by_at_least(
					1, play({k, roles, &world::meet}, {}));
	}
}

/* -- Counts -----------------------------------------------------------------
 */

namespace {

/*
 * Complete and blocked executions, with the fields of the word apart: what RC11
 * allows the algorithm. As one word, whose modification order also says how
 * draws lie between the rest, there are more.
 */
struct pinned_shared {
	const char *name;
	client what;
	u64 complete, blocked; /* apart */
	u64 as_one;	       /* complete, in one word; 0: not run */
};

const pinned_shared shared_counts[] = {
	/* Each order of arrival once; where two readers are neighbours in it,
	 * four times: either leaves first, and who leaves last may or may not
	 * have seen the other's add when it entered. */
	{"rw_ticket_lock<u8>", {"lr", {2, 2}}, 6, 5, 115},
	{"rw_ticket_lock<u8>", {"llr", {1, 1, 1}}, 6, 9, 110},
	{"rw_ticket_lock<u8>", {"lrr", {1, 1, 1}}, 18, 19, 216},
	{"rw_ticket_lock<u8>", {"lrr", {2, 1, 1}}, 30, 40, 980},
	{"rw_ticket_lock<u8>", {"llrr", {1, 1, 1, 1}}, 60, 167, 0},
	{"rw_ticket_lock<u8>", {"lr", {4, 1}, 1}, 5, 4, 43},
	{"rw_ticket_lock<u8>", {"lr", {1, 4}, 1}, 5, 4, 43},
	{"rw_ticket_lock<u8>", {"lr", {4, 1}, 2}, 5, 4, 43},
	{"rw_ticket_lock<u8>", {"lr", {1, 4}, 2}, 5, 4, 43},
	{"rw_ticket_lock<u8>", {"lrr", {2, 2, 1}, 2}, 123, 168, 11027},
	{"rw_ticket_lock<u8>", {"ld", {2, 2}}, 6, 10, 229},
	{"rw_ticket_lock<u8>", {"lrd", {2, 1, 1}}, 18, 42, 1068},
	/* rin and wout are one location in either. */
	{"phase_fair_lock<u8>", {"lr", {2, 2}}, 49, 30, 0},
	{"phase_fair_lock<u8>", {"llr", {1, 1, 1}}, 22, 34, 0},
	{"phase_fair_lock<u8>", {"lrr", {1, 1, 1}}, 56, 28, 0},
	{"phase_fair_lock<u8>", {"lr", {3, 1}}, 17, 14, 0},
	{"phase_fair_lock<u8>", {"lrr", {2, 1, 1}}, 228, 284, 0},
	{"phase_fair_lock<u8>", {"llrr", {1, 1, 1, 1}}, 456, 852, 0},
	{"phase_fair_lock<u8>", {"lr", {2, 5}, 4}, 616, 295, 0},
	{"phase_fair_lock<u8>", {"lv", {2, 2}}, 6, 5, 298},
	{"phase_fair_lock<u8>", {"lrv", {2, 1, 1}}, 46, 50, 3240},
	{"phase_fair_lock<u8>", {"lrd", {2, 1, 1}}, 76, 218, 14521},
	{"phase_fair_lock<u8>", {"rv", {5, 2}, 4}, 462, 0, 0},
	{"phase_fair_lock<u8>", {"rx", {2, 2}}, 522, 114, 10022},
	{"phase_fair_lock<u8>", {"lrx", {1, 1, 1}}, 88, 217, 1732},
	{"phase_fair_lock<u8>", {"xrv", {2, 1, 1}}, 276, 165, 12797},
	/* No field to take apart. Two writers: their tickets are one word,
	 * which readers look at, too; with a flag and two words it were 30
	 * and 24. */
	{"reader_lock", {"lr", {1, 1}}, 4, 2, 4},
	{"reader_lock", {"lr", {2, 2}}, 38, 26, 38},
	{"reader_lock", {"lrr", {1, 1, 1}}, 16, 10, 16},
	{"reader_lock", {"llr", {1, 1, 1}}, 76, 61, 76},
};

void counts_are_right(const kind &k, const pinned_shared &p)
{
	for (const auto by :
	     {release_sequence::cxx20, release_sequence::rc11}) {
		const result apart = shared(
			k, p.what, {.split_pairs = true, .sequence = by});

		INFO(p.name << " " << p.what.roles << " " << apart.message
			    << "\n"
			    << apart.timeline);
		verdict::right_by(p.complete, apart);
		CHECK(apart.blocked == p.blocked);
		if (!p.as_one)
			continue;
		const result whole = shared(k, p.what, {.sequence = by});
		verdict::right_by(p.as_one, whole);
	}
}

} // namespace

TEST_CASE("shared: so many executions, and no others", "[deep]")
{
	unsigned rows = 0;

	for (const kind &k : tested_shared<4>()) {
		for (const pinned_shared &p : shared_counts)
			if (std::strcmp(p.name, k.name) == 0) {
				counts_are_right(k, p);
				rows++;
			}
	}
	CHECK(rows == (visits_widths ? 0 : std::size(shared_counts)));
}

/* -- The wrap ---------------------------------------------------------------
 */

TEST_CASE("shared: tries over a whole wrap of few bits")
{
	using klock::selftest::shared_subject;
	using tickets = shared_subject<"rw", klock::rw_ticket_lock<u8>,
				       sharing::in_order>;

	/*
	 * With counters of one bit, four writes or two reads restore all of the
	 * state.
	 */
	for (const client &c :
	     {client{"lt", {4, 1}, 1}, client{"ls", {4, 1}, 1},
	      client{"rt", {2, 1}, 1}, client{"rt", {4, 1}, 2}}) {
		INFO(c.roles);
		good(shared(kind_of<tickets>, c));
	}
	/* As two words, they pass for an unchanged lock (ABA). */
	for (const client &c :
	     {client{"lt", {4, 1}, 1}, client{"rt", {2, 1}, 1},
	      client{"ls", {2, 1}, 1}}) {
		INFO(c.roles);
		CHECK(shared(kind_of<tickets>, c, {.split_pairs = true})
			      .found == model::bug::data_race);
	}
}

TEST_CASE("shared: at every count around the wrap, and one more than its room")
{
	using klock::selftest::shared_subject;
	using tickets = shared_subject<"rw", klock::rw_ticket_lock<u8>,
				       sharing::in_order>;

	good(shared(kind_of<tickets>, {"lr", {5, 3}, 1}));
	for (const unsigned few : {2u, 3u}) {
		good(shared(kind_of<tickets>, {"llr", {2, 2, 1}, few}));
		good(shared(kind_of<tickets>, {"lr", {3, 5}, few}));
	}
	good(shared(kind_of<tickets>, {"llrr", {1, 1, 1, 1}, 2},
		    {.split_pairs = true}));
	for (const char *one_more : {"llllr", "rrrrl"})
		CHECK(shared(kind_of<tickets>, {one_more, {1, 1, 1, 1, 1}, 2},
			     {.split_pairs = true})
			      .found == model::bug::data_race);
}

/* -- The order of service ------------------------------------------------ */

TEST_CASE("shared: who waits with whom goes before whom, as promised")
{
	for (const kind &k : tested_shared<3>()) {
		const auto comes_first = [&k](unsigned cpu) {
			return play({.lock = k,
				     .roles = "lrl",
				     .scene = &world::behind_writer,
				     .first = cpu},
				    {});
		};
		const result reader_first = comes_first(1);
		const result writer_first = comes_first(2);
		const sharing by = k.order_of_sharing;

		INFO(k.name << "\n"
			    << reader_first.timeline << writer_first.timeline);
		CHECK(reader_first.ok() == (by != sharing::writers_first));
		CHECK(writer_first.ok() == (by == sharing::by_phases));
		if (by != sharing::writers_first)
			CHECK(reader_first.exhaustive);
		if (by == sharing::by_phases)
			CHECK(writer_first.exhaustive);
	}
}

/* -- Tries ------------------------------------------------------------------
 */

TEST_CASE("shared: a try succeeds when it may, and fails when it must")
{
	const struct {
		const char *roles;
		void (world::*scene)(unsigned cpu);
	} rows[] = {
		{"lt", &world::after_it_left},
		{"rt", &world::after_it_left},
		{"ls", &world::after_it_left},
		{"rs", &world::after_it_left},
		{"rt", &world::beside_reader},
		{"rs", &world::beside_reader},
		/* Nobody writes: all get in. */
		{"ss", &world::sections},
		{"rs", &world::sections},
	};

	for (const kind &k : tested_shared<2>())
		for (const auto &row : rows) {
			if (!can(k, {row.roles, {1, 1}}))
				continue;
			const outcome r = play({k, row.roles, row.scene}, {});

			INFO(k.name << " " << row.roles);
			verdict::right_by_at_least(1, r);
			if (row.scene == &world::sections)
				CHECK(r.most_left_out == 0);
		}
}

/* -- Locks that are wrong ---------------------------------------------------
 */

TEST_CASE("shared: every mutant is found")
{
	for (const kind &k : kinds_of<busted_shared_locks>()) {
		bool found = false;

		if (!(k.found_in & klock::selftest::in_model))
			continue;
		each_shared_client(k, {}, [&found](const result &r) {
			return found = !r.ok();
		});
		INFO(k.name << ": " << k.mistake);
		CHECK(found);
	}
}

TEST_CASE("shared: an unlock that goes on after it let readers in, and only "
	  "that")
{
	using klock::selftest::shared_subject;
	using two_steps =
		shared_subject<"", klock::selftest::busted::rw_two_steps,
			       sharing::in_order>;

	for (const client &c : shared_clients())
		CHECK(shared(kind_of<two_steps>, c).ok());
	CHECK(ended_by_reader_or_writer(kind_of<two_steps>, {"lr", {1, 1}})
		      .found == model::bug::dead_object);
}

} // namespace of_shared_locks

namespace of_shared_interrupts {

/*
 * Handlers that read, or write, a lock that readers share, at every point where
 * the interrupt flag lets them in.
 */

using klock::selftest::shared_subject;
using klock::selftest::sharing;
using namespace worlds;

namespace {

/* Threads, and a handler on each CPU, with interrupts off or on meanwhile. */
outcome interrupt(const kind &k, const char *roles, const char *handlers,
		  bool off)
{
	return play({.lock = k,
		     .roles = roles,
		     .handlers = handlers,
		     .interrupts_off = off ? everybody : 0},
		    {.interrupts = 1});
}

} // namespace

TEST_CASE("shared: with interrupts off, handlers may read and write")
{
	for (const kind &k : tested_shared<2>()) {
		for (const char *const handlers : {"rr", "ll"})
			for (const char *const roles :
			     {"lr", "rr", "ll", "vx", "dl"}) {
				if (!can(k, {roles, {1, 1}}))
					continue;
				const outcome r =
					interrupt(k, roles, handlers, true);

				INFO(k.name << " " << roles << " " << handlers);
				verdict::right(r);
				CHECK(r.most_handled == 2);
			}
	}
}

TEST_CASE("shared: with interrupts on, a handler's reader is found")
{
	for (const kind &k : tested_shared<2>()) {
		/* Over a writer; over a reader, behind a writer that waits. */
		INFO(k.name);
		CHECK_FALSE(interrupt(k, "ll", "rr", false).ok());
		CHECK_FALSE(interrupt(k, "lr", "rr", false).ok());
	}
}

/*
 * Reads that nest: interrupts are off in lock_shared and unlock_shared, and on
 * in between, where a handler reads as well.
 */
TEST_CASE("shared: reader_lock: a handler reads inside of a read")
{
	using lock = shared_subject<"", klock::reader_lock<2>,
				    sharing::writers_first>;

	for (const auto &sections :
	     std::vector<std::vector<unsigned>>{{1, 1}, {2, 1}, {1, 2}}) {
		const outcome r = play({.lock = kind_of<lock>,
					.roles = "li",
					.handlers = "rr",
					.interrupts_off = everybody},
				       {.sections = sections, .interrupts = 1});

		verdict::right(r);
		CHECK(r.most_handled == 2);
	}
}

TEST_CASE("shared: an NMI's handler may try, to read and to write", "[deep]")
{
	for (const kind &k : tested_shared<2>())
		for (const char *const handlers : {"ss", "tt"}) {
			if (!k.by.try_lock || !k.read_by.try_lock)
				continue;
			const outcome r =
				play({k, "lr", &world::sections, handlers},
				     {.interrupts = 1, .non_maskable = true});

			INFO(k.name << " " << handlers);
			verdict::right(r);
			CHECK(r.most_handled == 2);
		}
}

} // namespace of_shared_interrupts
