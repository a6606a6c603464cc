/* SPDX-License-Identifier: MIT */
/*
 * Every lock that readers share, in every execution of a few CPUs: nobody reads
 * beside a writer, readers read together, who is to go first does.
 */
#include "../checker/verdict.hpp"
#include "shared_worlds.hpp"

#include <klock/arch/irq.hpp>
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
	every_client_passes(visits_widths ? everything : 40'000);
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
		verdict::right_by_at_least(1, readers_meet(k, 0));
		if (k.upgrades)
			verdict::right_by_at_least(1,
						   readers_meet(k, 0, {}, 'l'));
		if (k.downgrades)
			verdict::right_by_at_least(1,
						   readers_meet(k, 0, {}, 'd'));
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
	{"rw_ticket_lock<u8>", {"wr", {2, 2}}, 6, 5, 115},
	{"rw_ticket_lock<u8>", {"wwr", {1, 1, 1}}, 6, 9, 110},
	{"rw_ticket_lock<u8>", {"wrr", {1, 1, 1}}, 18, 19, 216},
	{"rw_ticket_lock<u8>", {"wrr", {2, 1, 1}}, 30, 40, 980},
	{"rw_ticket_lock<u8>", {"wwrr", {1, 1, 1, 1}}, 60, 167, 0},
	{"rw_ticket_lock<u8>", {"wr", {4, 1}, 1}, 5, 4, 43},
	{"rw_ticket_lock<u8>", {"wr", {1, 4}, 1}, 5, 4, 43},
	{"rw_ticket_lock<u8>", {"wr", {4, 1}, 2}, 5, 4, 43},
	{"rw_ticket_lock<u8>", {"wr", {1, 4}, 2}, 5, 4, 43},
	{"rw_ticket_lock<u8>", {"wrr", {2, 2, 1}, 2}, 123, 168, 11027},
	{"rw_ticket_lock<u8>", {"wd", {2, 2}}, 6, 10, 229},
	{"rw_ticket_lock<u8>", {"wrd", {2, 1, 1}}, 18, 42, 1068},
	/* rin and wout are one location in either. */
	{"phase_fair_lock<u8>", {"wr", {2, 2}}, 49, 30, 0},
	{"phase_fair_lock<u8>", {"wwr", {1, 1, 1}}, 22, 34, 0},
	{"phase_fair_lock<u8>", {"wrr", {1, 1, 1}}, 56, 28, 0},
	{"phase_fair_lock<u8>", {"wr", {3, 1}}, 17, 14, 0},
	{"phase_fair_lock<u8>", {"wrr", {2, 1, 1}}, 228, 284, 0},
	{"phase_fair_lock<u8>", {"wwrr", {1, 1, 1, 1}}, 456, 852, 0},
	{"phase_fair_lock<u8>", {"wr", {2, 5}, 4}, 616, 295, 0},
	{"phase_fair_lock<u8>", {"wl", {2, 2}}, 6, 5, 298},
	{"phase_fair_lock<u8>", {"wrl", {2, 1, 1}}, 46, 50, 3240},
	{"phase_fair_lock<u8>", {"wrd", {2, 1, 1}}, 76, 218, 14521},
	{"phase_fair_lock<u8>", {"rl", {5, 2}, 4}, 462, 0, 0},
	{"phase_fair_lock<u8>", {"ru", {2, 2}}, 522, 114, 10022},
	{"phase_fair_lock<u8>", {"wru", {1, 1, 1}}, 88, 217, 1732},
	{"phase_fair_lock<u8>", {"url", {2, 1, 1}}, 276, 165, 12797},
	/* No field to take apart. Two writers: their tickets are one word,
	 * which readers look at, too; with a flag and two words it were 30
	 * and 24. */
	{"reader_lock", {"wr", {1, 1}}, 4, 2, 4},
	{"reader_lock", {"wr", {2, 2}}, 38, 26, 38},
	{"reader_lock", {"wrr", {1, 1, 1}}, 16, 10, 16},
	{"reader_lock", {"wwr", {1, 1, 1}}, 76, 61, 76},
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

TEST_CASE("shared: so many executions, and no others")
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
	     {client{"wW", {4, 1}, 1}, client{"wR", {4, 1}, 1},
	      client{"rW", {2, 1}, 1}, client{"rW", {4, 1}, 2}}) {
		INFO(c.roles);
		good(shared(kind_of<tickets>, c));
	}
	/* As two words, they pass for an unchanged lock (ABA). */
	for (const client &c :
	     {client{"wW", {4, 1}, 1}, client{"rW", {2, 1}, 1},
	      client{"wR", {2, 1}, 1}}) {
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

	good(shared(kind_of<tickets>, {"wr", {5, 3}, 1}));
	for (const unsigned few : {2u, 3u}) {
		good(shared(kind_of<tickets>, {"wwr", {2, 2, 1}, few}));
		good(shared(kind_of<tickets>, {"wr", {3, 5}, few}));
	}
	good(shared(kind_of<tickets>, {"wwrr", {1, 1, 1, 1}, 2},
		    {.split_pairs = true}));
	for (const char *one_more : {"wwwwr", "rrrrw"})
		CHECK(shared(kind_of<tickets>, {one_more, {1, 1, 1, 1, 1}, 2},
			     {.split_pairs = true})
			      .found == model::bug::data_race);
}

/* -- The order of service ------------------------------------------------ */

TEST_CASE("shared: who waits with whom goes before whom, as promised")
{
	for (const kind &k : tested_shared<3>()) {
		const result reader_first = reader_before_writer(k, true);
		const result writer_first = reader_before_writer(k, false);
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

namespace {

/* CPU 1 tries once CPU 0 has left, and knows that. */
result try_after_all_left(const kind &k, char before, char after)
{
	struct world : shared_words {
		using shared_words::shared_words;
		klock::atomic<u8> left;
	};

	return explore<world>(
		k, {.sections = {1, 1}}, [=](world &w, unsigned cpu) {
			if (cpu == 0) {
				w.act(before, 0);
				w.left.store_release(1);
				return;
			}
			w.left.await_eq_acquire(1);
			model::check(after == 'W' ? w.try_write(1)
						  : w.try_read(1),
				     "nobody is in: a try succeeds");
		});
}

/* CPU 1 tries while CPU 0 reads. */
result try_beside_reader(const kind &k, bool writes)
{
	struct world : shared_words {
		using shared_words::shared_words;
		klock::atomic<u8> in, tried;
	};

	return explore<world>(
		k, {.sections = {1, 1}}, [=](world &w, unsigned cpu) {
			if (cpu == 0) {
				w.readers[0].lock(w.lock);
				w.in.store_release(1);
				w.tried.await_eq_acquire(1);
				w.readers[0].unlock(w.lock);
				return;
			}
			w.in.await_eq_acquire(1);
			model::check(writes ? !w.try_write(1) : w.try_read(1),
				     "a reader is in: others may read");
			w.tried.store_release(1);
		});
}

/* Nobody writes: readers get in, those that try among them. */
result tries_among_readers(const kind &k, const std::string &roles)
{
	using world = shared_words;
	const std::vector<unsigned> once(roles.size(), 1);

	return explore<world>(
		k, {.sections = once}, [roles](world &w, unsigned cpu) {
			if (roles[cpu] == 'r')
				w.read(cpu);
			else
				model::check(w.try_read(cpu),
					     "nobody writes: a try succeeds");
		});
}

} // namespace

TEST_CASE("shared: a try succeeds when it may, and fails when it must")
{
	for (const kind &k : tested_shared<2>()) {
		INFO(k.name);
		if (k.by.try_lock) {
			verdict::right_by_at_least(
				1, try_after_all_left(k, 'w', 'W'));
			verdict::right_by_at_least(
				1, try_after_all_left(k, 'r', 'W'));
			verdict::right_by_at_least(1,
						   try_beside_reader(k, true));
		}
		if (k.read_by.try_lock) {
			verdict::right_by_at_least(
				1, try_after_all_left(k, 'w', 'R'));
			verdict::right_by_at_least(
				1, try_after_all_left(k, 'r', 'R'));
			verdict::right_by_at_least(1,
						   try_beside_reader(k, false));
			verdict::right(tries_among_readers(k, "RR"));
			verdict::right(tries_among_readers(k, "rR"));
		}
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
	CHECK(ended_by_reader_or_writer(kind_of<two_steps>, {"wr", {1, 1}})
		      .found == model::bug::dead_object);
}

} // namespace of_shared_locks

namespace of_shared_interrupts {

/*
 * Handlers that read, or write, a lock that readers share, at every point where
 * the interrupt flag lets them in.
 */

using klock::arch::irq_restore;
using klock::arch::irq_save;
using klock::selftest::shared_subject;
using klock::selftest::sharing;
using namespace worlds;
using verdict::good;

namespace {

struct interrupted : shared_words {
	contenders handler_writers, handler_readers;
	unsigned handled = 0; /* on the host */

	explicit interrupted(const kind &k)
	    : shared_words(k), handler_writers(k, k.by),
	      handler_readers(k, k.read_by)
	{
	}

	void handle(char what, unsigned cpu)
	{
		handled++;
		if (what == 'w') {
			handler_writers[cpu].lock(lock);
			add();
			handler_writers[cpu].unlock(lock);
		} else {
			handler_readers[cpu].lock(lock);
			look();
			handler_readers[cpu].unlock(lock);
		}
	}
};

struct seen {
	result r;
	unsigned most_handled = 0;
};

/* Runs threads and their handlers, with interrupts off or on meanwhile. */
seen interrupt(const kind &k, const client &c, char handler, bool off)
{
	using world = interrupted;
	const std::string roles = c.roles;
	seen s;

	s.r = explore<world>(
		k, {.sections = c.sections, .interrupts = 1},
		[=](world &w, unsigned cpu) {
			const bool before = off ? irq_save() : true;
			w.act(roles[cpu], cpu);
			if (off)
				irq_restore(before);
		},
		[&s](world &w) {
			s.most_handled = std::max(s.most_handled, w.handled);
			w.whole();
		},
		[=](world &w, unsigned cpu) { w.handle(handler, cpu); });
	return s;
}

} // namespace

TEST_CASE("shared: with interrupts off, handlers may read and write")
{
	for (const kind &k : tested_shared<2>()) {
		for (const char handler : {'r', 'w'})
			for (const char *const roles :
			     {"wr", "rr", "ww", "lu", "dw"}) {
				if (!can(k, {roles, {1, 1}}))
					continue;
				const seen s = interrupt(k, {roles, {1, 1}},
							 handler, true);

				INFO(k.name << " " << roles << " " << handler
					    << "\n"
					    << s.r.message << s.r.timeline);
				verdict::right(s.r);
				CHECK(s.most_handled == 2);
			}
	}
}

TEST_CASE("shared: with interrupts on, a handler's reader is found")
{
	for (const kind &k : tested_shared<2>()) {
		/* Over a writer; over a reader, behind a writer that waits. */
		INFO(k.name);
		CHECK_FALSE(interrupt(k, {"ww", {1, 1}}, 'r', false).r.ok());
		CHECK_FALSE(interrupt(k, {"wr", {1, 1}}, 'r', false).r.ok());
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
	using world = interrupted;

	for (const auto &sections :
	     std::vector<std::vector<unsigned>>{{1, 1}, {2, 1}, {1, 2}}) {
		unsigned most = 0;
		const result r = explore<world>(
			kind_of<lock>, {.sections = sections, .interrupts = 1},
			[](world &w, unsigned cpu) {
				bool before = irq_save();
				if (cpu == 0) {
					w.write(0);
					irq_restore(before);
					return;
				}
				w.readers[1].lock(w.lock);
				irq_restore(before);
				w.look();
				before = irq_save();
				w.readers[1].unlock(w.lock);
				irq_restore(before);
			},
			[&most](world &w) {
				most = std::max(most, w.handled);
				w.whole();
			},
			[](world &w, unsigned cpu) { w.handle('r', cpu); });
		verdict::right(r);
		CHECK(most == 2);
	}
}

TEST_CASE("shared: an NMI's handler may try, to read and to write", "[deep]")
{
	for (const kind &k : tested_shared<2>()) {
		if (k.by.try_lock && k.read_by.try_lock) {
			using world = interrupted;
			for (const bool writes : {false, true}) {
				unsigned most = 0;
				const result r = explore<world>(
					k,
					{.sections = {1, 1},
					 .interrupts = 1,
					 .non_maskable = true},
					[](world &w, unsigned cpu) {
						w.act("wr"[cpu], cpu);
					},
					[&most](world &w) {
						most = std::max(most,
								w.handled);
						w.whole();
					},
					[=](world &w, unsigned cpu) {
						w.handled +=
							writes ? w.try_write(
									 cpu)
							       : w.try_read(
									 cpu);
					});
				INFO(k.name << " " << r.message << "\n"
					    << r.timeline);
				verdict::right(r);
				CHECK(most == 2);
			}
		}
	}
}

} // namespace of_shared_interrupts
