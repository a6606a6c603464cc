/* SPDX-License-Identifier: MIT */
/*
 * lock_order: of those who close a cycle at the same time exactly one reports,
 * in every execution; each rule that this stands on is needed.
 */
#include "orders.hpp"
#include "roles.hpp"

#include <klock/checked_lock.hpp>
#include <klock/irq.hpp>
#include <klock/lock_order.hpp>
#include <klock/order_calls.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <model/model.hpp>

#include <catch.hpp>

#include <cstring>
#include <set>
#include <string>

using namespace klock;
using model::check;
using model::options;
using model::result;

static klock::lock_order *order_now = nullptr;

klock::lock_order *klock_os_lock_order(void) { return order_now; }

namespace of_reports {

using verdict::good;

namespace {

/* How an edge is learned; the second to last are how not to. */
enum class way { right, no_second_look, no_lock };

/* A CPU's role is a word: the edge "ab" that it sees; by address, "ab*". */
struct edge {
	explicit edge(const char *word)
	    : from(static_cast<u32>(word[0] - 'a')),
	      to(static_cast<u32>(word[1] - 'a')), by_address(word[2] == '*')
	{
	}

	u32 from, to;
	bool by_address;
};

struct learned_world {
	lock_order_memory<4, 1> memory;
	unsigned reports = 0; /* on the host */

	void see(const edge &e, way how)
	{
		const order_learning known = memory.learning();

		if (known.is_known(e.from, e.to, e.by_address))
			return;
		if (how == way::right)
			known.learn({e.from, e.to, {}, {}, 0, e.by_address},
				    [this](auto &&...) { reports++; });
		else if (how == way::no_second_look)
			set_and_search(known, e, true);
		else
			set_and_search(known, e, false);
	}

	static bool closes(const order_learning &known, const edge &e)
	{
		return known.graph.find(e.to, true,
					[&e](u32 at) { return at == e.from; });
	}

	void set_and_search(const order_learning &known, const edge &e,
			    bool locked)
	{
		if (locked)
			known.busy->lock();
		/* Each CPU's search has scratch of its own, or it would be
		 * found for its races alone. */
		plain<u8> route[8], queue[4], came_from[4];
		order_learning mine = known;
		mine.graph.route = route;
		mine.graph.queue = queue;
		mine.graph.came_from = came_from;
		(void)known.graph.seen_after(e.from).words[0].fetch_or_acq_rel(
			usize{1} << e.to);
		reports += closes(mine, e);
		if (locked)
			known.busy->unlock();
	}
};

/* Each CPU sees its edge. least .. most reports an execution. */
result all_see(options how, const char *words, unsigned least, unsigned most,
	       way by = way::right)
{
	how.sections = worlds::one_section_each(words);
	return model::explore<learned_world>(
		how,
		[words, by](learned_world &w, unsigned cpu) {
			w.see(edge(worlds::word_of(words, cpu)), by);
		},
		[least, most](learned_world &w) {
			check(w.reports >= least, "missed");
			check(w.reports <= most, "said twice");
		});
}

} // namespace

TEST_CASE("lock_order: two CPUs that close a cycle: exactly one says so")
{
	good(all_see({}, "ab ba", 1, 1));
	good(all_see({}, "ab ba ab", 1, 1));
	good(all_see({}, "ab ba ba", 1, 1));
}

TEST_CASE("lock_order: three CPUs that close a cycle: exactly one says so")
{
	good(all_see({}, "ab bc ca", 1, 1));
	good(all_see({}, "ab bc ca ca", 1, 1));
}

TEST_CASE("lock_order: without a cycle nobody says anything")
{
	good(all_see({}, "ab ab", 0, 0));
	good(all_see({}, "ab bc ac", 0, 0));
	good(all_see({}, "ab bc ac ab", 0, 0));
}

TEST_CASE("lock_order: pairs by address close a cycle with another alone")
{
	good(all_see({}, "ab* ba* ab*", 0, 0));
	good(all_see({}, "ab* ba ab*", 1, 1));
	good(all_see({}, "ab* ba* ab", 1, 1));
}

TEST_CASE("lock_order: without a second look two say it")
{
	CHECK_FALSE(all_see({}, "ab ba ba", 1, 1, way::no_second_look).ok());
	good(all_see({}, "ab ba ba", 1, 2, way::no_second_look));
}

TEST_CASE("lock_order: without the lock nobody says it")
{
	const result r = all_see({}, "ab ba", 1, 2, way::no_lock);

	CHECK(r.message.find("missed") != std::string::npos);
}

/* -- Interrupts ----------------------------------------------------------- */

namespace {

/* A handler of CPU 0 waits for 0, 0 comes before 1, 1 is held with them on. */
result three_parts(const options &how, bool second)
{
	return model::explore<learned_world>(
		how,
		[second](learned_world &w, unsigned cpu) {
			const order_learning known = w.memory.learning();
			const auto found = [&w](finding what, u32 length,
						auto &) {
				check(what == finding::inversion, "what");
				check(length == 2, "the way");
				w.reports++;
			};

			if (cpu == 0)
				known.learn_handler(0, false, {}, found);
			else if (cpu == 1)
				known.learn({0, 1, {}, {}, 0, false}, found);
			else if (second || cpu == 2)
				known.learn_open(1, false, {}, found);
		},
		[](learned_world &w) { check(w.reports == 1, "once"); });
}

} // namespace

TEST_CASE("lock_order: the three parts of an inversion, at the same time")
{
	good(three_parts({.sections = {1, 1, 1}}, false));
	good(three_parts({.sections = {1, 1, 1, 1}}, true));
}

/* -- Each order is needed ------------------------------------------------- */

TEST_CASE("lock_order: the orders of its lock are needed, and no others")
{
	const auto clients = [](const options &how, auto enough) {
		return enough(all_see(how, "ab ba", 1, 1)) ||
		       enough(all_see(how, "ab bc ca", 1, 1));
	};
	unsigned tried = 0;

	for (const orders::use &u : orders::uses(clients)) {
		const auto weaker = model::weakenings(u);

		if (!weaker.empty()) {
			INFO(u.file);
			CHECK(u.file.ends_with("/tas_lock.hpp"));
		}
		for (const auto &w : weaker) {
			INFO("nothing finds " << orders::spelt(w));
			CHECK(orders::found(clients, w));
			tried++;
		}
	}
	CHECK(tried == 2);
}

} // namespace of_reports

namespace of_handlers {

/*
 * lock_order and a handler that comes between any two operations: it sees what
 * is held, no more, and leaves what it found; an NMI handler never waits for
 * what it interrupted.
 *
 * It is code, as the calls are those of lock_order's parts, and no lock's.
 */

namespace {

/* Locks, by their names alone; the last is not known yet. */
constexpr const char *names[] = {"a", "b", "c", "unknown"};
enum : u32 { a, b, c, unknown };

struct noted_world {
	noted_world()
	{
		for (u32 i = a; i < unknown; i++)
			(void)memory.learning().classes.add(
				class_key({names[i], 0}), 0);
	}

	[[nodiscard]] wanted_lock lock(u32 number) const
	{
		return {&address[number],
			{names[number], 0},
			{"f.c", static_cast<int>(number)},
			false,
			false};
	}

	[[nodiscard]] held_place wait(u32 number)
	{
		return order.before_wait(lock(number));
	}

	void take(u32 number) { order.taken(wait(number)); }
	void leave(u32 number) { order.gone(order.leaving(&address[number])); }

	[[nodiscard]] bool learned(u32 from, u32 to)
	{
		return memory.learning().graph.seen_after(from).has(to);
	}

	void check_clean()
	{
		const held_locks &mine = memory.held[0];

		check(mine.size() == 0, "the owner is left");
		for (const held_lock &place : mine.at)
			check(place.address.load_relaxed() ==
				      held_lock::reserved,
			      "a place is left");
	}

	lock_order_memory<4, 1> memory;
	order_keeper order{memory};
	char address[4] = {};
	bool was_held = false; /* a; what follows is on the host */
};

void passes(const result &r, int line = __builtin_LINE())
{
	verdict::right_by_at_least(21, r, line);
}

/* One CPU, its handler twice at most, wherever it can come. */
template <typename World = noted_world, typename Body, typename Handler>
result interrupted(unsigned times, bool non_maskable, Body body,
		   Handler handler)
{
	return model::explore<World>(
		{.sections = {1},
		 .interrupts = times,
		 .non_maskable = non_maskable},
		[body](noted_world &w, unsigned) { body(w); },
		[](noted_world &w) { w.check_clean(); },
		[handler](noted_world &w, unsigned) { handler(w); });
}

/* Pushed alone, and popped: what is in a place is not this test's. */
void push_and_pop(noted_world &w, u32 number)
{
	const held_by_owners owners = {w.memory.held, 1};
	const held_place mine = owners.push();

	mine.at->address.store_relaxed(
		reinterpret_cast<usize>(&w.address[number]));
	mine.stack->pop(*mine.at);
}

} // namespace

TEST_CASE("held_locks: two locks, released in either order, and handlers")
{
	for (const bool crossed : {false, true})
		passes(interrupted(
			2, false,
			[crossed](noted_world &w) {
				const held_by_owners owners = {w.memory.held,
							       1};
				const held_place first = owners.push();

				first.at->address.store_relaxed(
					reinterpret_cast<usize>(&w.address[a]));
				const held_place second = owners.push();
				second.at->address.store_relaxed(
					reinterpret_cast<usize>(&w.address[b]));
				second.at->take();
				held_lock *const x =
					crossed ? first.at : second.at;
				held_lock *const y =
					crossed ? second.at : first.at;
				first.stack->pop(*x);
				check(w.memory.held[0].find(&w.address[b]) ||
					      !crossed,
				      "lost");
				first.stack->pop(*y);
			},
			[](noted_world &w) { push_and_pop(w, c); }));
}

/* One stack, of whichever thread has it; what is in it is then its own. */
TEST_CASE("held_locks: a thread's stack is another's next")
{
	sleepers_owner = [] { return ~usize{model::cpu()} - 1; };
	verdict::good(model::explore<noted_world>(
		{.sections = {1, 1}},
		[](noted_world &w, unsigned cpu) {
			const held_by_owners owners = {w.memory.held, 1};
			const held_place mine = owners.push(true);
			const char *const lock = &w.address[cpu];

			if (!mine.at)
				return;
			mine.at->address.store_relaxed(
				reinterpret_cast<usize>(lock));
			mine.at->take();
			check(mine.stack->find(lock) == mine.at, "lost");
			mine.stack->pop(*mine.at);
		},
		[](noted_world &w) { w.check_clean(); }));
	sleepers_owner = nullptr;
}

TEST_CASE("lock_order: a handler sees what is held or waited for, and no more")
{
	passes(interrupted(
		1, false,
		[](noted_world &w) {
			const held_place mine = w.wait(a);

			w.was_held = true;
			w.order.taken(mine);
			w.was_held = false;
			w.leave(a);
		},
		[](noted_world &w) {
			const held_locks &mine = w.memory.held[0];
			const bool held =
				mine.size() && mine.at[0].is_of(&w.address[a]);

			check(held || !w.was_held, "a held lock is not seen");
			w.take(c);
			check(w.learned(a, c) == held, "an edge, or none");
			w.leave(c);
		}));
}

namespace {

/* The place has had a lock that is known to come before the handler's. */
struct used_world : noted_world {
	used_world()
	{
		const order_learning known = memory.learning();
		const auto ignored = [](auto &&...) {};

		known.learn_handler(c, false, {}, ignored);
		known.learn({b, c, {}, {}, 0, false}, ignored);
		take(b);
		leave(b);
	}
};

} // namespace

TEST_CASE("lock_order: a handler above a place whose last lock was another")
{
	passes(interrupted<used_world>(
		1, false,
		[](noted_world &w) {
			w.take(a);
			w.leave(a);
		},
		[](noted_world &w) {
			const held_locks &mine = w.memory.held[0];
			const bool held =
				mine.size() && mine.at[0].is_of(&w.address[a]);

			w.take(c);
			check(w.learned(a, c) == held, "an edge, or none");
			w.leave(c);
		}));
}

TEST_CASE("lock_order: an NMI handler tries, wherever it comes in a learning")
{
	passes(interrupted(
		1, true,
		[](noted_world &w) {
			w.take(a);
			w.leave(a);
			check(w.memory.learning().open.any.has(a),
			      "not learned");
		},
		[](noted_world &w) {
			w.order.taken(w.order.before_try(w.lock(unknown)));
			w.leave(unknown);
		}));
}

} // namespace of_handlers

namespace of_programs {

/*
 * lock_order behind checked locks, whole: programs that are right are left
 * alone in every execution, and two orders are found in every one.
 */

namespace {

struct ordered_world {
	/* Each lock is one that was taken before, but where it is made anew. */
	ordered_world() : ordered_world(false) {}
	explicit ordered_world(bool are_new)
	{
		order_now = &order;
		if (!are_new)
			order.on_doubt = [](lock_order &, const void *, bool) {
				return known_holder{};
			};
	}
	~ordered_world() { order_now = nullptr; }

	lock_order_memory<4, 2> memory;
	order_keeper order{memory};
	checked_lock<tas_lock, "a"> a;
	checked_lock<tas_lock, "b"> b;
	checked_lock<ticket_lock<u8>, "c"> c;
	checked_lock<rw_ticket_lock<u8>, "table"> table;
	checked_lock<tas_lock, "bucket"> bucket[2];

	/*
	 * Words, with semicolons between those of one CPU: interrupts are off
	 * in each, but behind a +. Locks: a, b, c; t the table, and r to read;
	 * 0 and 1 the buckets, n bucket 0 as one that nests one down. A dot
	 * waits as a thread may.
	 */
	void play(const char *word)
	{
		for (;; word++) {
			if (*word == '+') {
				word = play_one(word + 1);
			} else {
				const irq_state before = irq_save();
				word = play_one(word);
				irq_restore(before);
			}
			if (*word != ';')
				return;
		}
	}
	const char *play_one(const char *word)
	{
		return worlds::nest(
			word, [this](char letter) { return take(letter); },
			[this](char letter) { release(letter); });
	}
	bool take(char letter)
	{
		switch (letter) {
		case 'a':
			return a.lock(), true;
		case 'A':
			return a.try_lock();
		case 'b':
			return b.lock(), true;
		case 'c':
			return c.lock(), true;
		case 't':
			return table.lock(), true;
		case 'r':
			return table.lock_shared(), true;
		case 'n': {
			const nested one_down(bucket[0], 1);
			return bucket[0].lock(), true;
		}
		case '.':
			return might_wait(), true;
		default:
			return bucket[letter - '0'].lock(), true;
		}
	}
	void release(char letter)
	{
		switch (letter) {
		case 'a':
		case 'A':
			return a.unlock();
		case 'b':
			return b.unlock();
		case 'c':
			return c.unlock();
		case 't':
			return table.unlock();
		case 'r':
			return table.unlock_shared();
		case '.':
			return;
		default:
			return bucket[letter == '1'].unlock();
		}
	}

	/* Nobody holds anything, and no place was lost. */
	void check_clean()
	{
		for (const held_locks &one : memory.held) {
			check(one.size() == 0, "an owner is left");
			for (const held_lock &place : one.at)
				check(place.address.load_relaxed() ==
					      held_lock::reserved,
				      "a place is left");
		}
	}
};

template <typename World = ordered_world>
result run(const char *words, options how = {.may_panic = true})
{
	how.sections = worlds::one_section_each(words);
	/* The first time, each lock is checked against all that are held. */
	how.max_events = 260;
	return model::explore<World>(
		how,
		[words](World &w, unsigned cpu) {
			w.play(worlds::word_of(words, cpu));
		},
		[](World &w) { w.check_clean(); });
}

void check_silent(const result &r)
{
	verdict::right(r);
	CHECK(r.panicked == 0);
	CHECK(r.complete > 0);
}

} // namespace

TEST_CASE("lock_order: no false alarm in programs that are right")
{
	const char *const right[] = {
		/* released in reverse, and as they were taken */
		"ab ab",
		"ab= ab",
		"ab= ab=",
		"ab bc",
		"ab= bc=",
		"ac bc",
		"ac= bc=",
		"ab b",
		"ab= b",
		"ab a",
		"ab= a",
		"a;b b;a",
		"ab b;a",
		"ab= b;a",
		"ab bA",
		"ab= bA",
		"bA bA",
		/* two of a class */
		"01 01",
		"01= 01=",
		"a1 01",
		"a1= 01=",
		"1n 1n",
		/* readers */
		"ra a",
		"ra ta",
		"ra ta=",
		"ta a",
		"ta= a",
		"+r ta",
		/* interrupts on, and waits */
		"+a ab",
		"+a ab=",
		"+ab ab",
		"+ab ab=",
		"a;+. a;+.",
		"a;+. ab",
		"a;+. ab=",
	};
	unsigned programs = 0;

	for (const char *const one : right) {
		INFO(one);
		check_silent(run(one));
		programs++;
	}
	CHECK(programs >= 30);
}

TEST_CASE("lock_order: no false alarm where readers meet", "[deep]")
{
	check_silent(run("+r ra"));
}

/*
 * The first to take a lock looks for a holder among all owners, whose places
 * are those of other locks before and after.
 */
namespace {

struct new_locks_world : ordered_world {
	new_locks_world() : ordered_world(true) {}
};

} // namespace

TEST_CASE("lock_order: a new lock is not one that was made anew while held")
{
	for (const char *const one :
	     {"a a", "a;a a", "b;a a", "ab b", "ta= r"}) {
		INFO(one);
		check_silent(run<new_locks_world>(one));
	}
}

TEST_CASE("lock_order: the orders of a place's address are needed")
{
	const auto clients = [](const options &how, auto enough) {
		return enough(run<new_locks_world>("b;a a", how));
	};
	unsigned tried = 0;

	for (const orders::use &u : orders::uses(clients)) {
		if (!u.file.ends_with("/order/held.hpp"))
			continue;
		for (const auto &w : model::weakenings(u)) {
			INFO("nothing finds " << orders::spelt(w));
			CHECK(orders::found(clients, w));
			tried++;
		}
	}
	CHECK(tried == 2);
}

TEST_CASE("lock_order: two orders, and no execution without a report")
{
	for (const char *const words : {"ab ba", "ab= ba="}) {
		const result r = run(words);

		verdict::right_by(0, r);
		CHECK(r.panicked > 0);
	}
}

namespace {

/* Its locks are no tas_lock, which lock_order uses itself to add an edge. */
struct new_world {
	new_world() { order_now = &order; }
	~new_world() { order_now = nullptr; }

	void take_all()
	{
		const irq_state before = irq_save();

		table.lock_shared();
		first.lock();
		second.lock();
		other_second.lock();
		other_second.unlock();
		second.unlock();
		first.unlock();
		table.unlock_shared();
		irq_restore(before);
	}

	lock_order_memory<4, 2> memory;
	order_keeper order{memory};
	checked_lock<rw_ticket_lock<u8>, "table"> table;
	checked_lock<ticket_lock<u8>, "first"> first;
	checked_lock<ticket_lock<u8>, "second"> second;
	/* behind it by address: each time, the two are compared */
	checked_lock<ticket_lock<u8>, "second"> other_second;
};

/* It has seen all that is done here. */
struct known_world : new_world {
	known_world() { take_all(); }
};

/*
 * Returns the files in which it is done, except those of the locks themselves
 * and of the checks of each.
 */
template <typename World>
std::set<std::string> done_by_order(model::operation what)
{
	const result r = model::explore<World>(
		{.sections = {1}, .max_events = 250, .record_uses = true},
		[](World &of, unsigned) { of.take_all(); });
	std::set<std::string> files;

	INFO(r.message << r.timeline);
	CHECK(r.ok());
	for (const model::use &u : r.uses) {
		const std::string file = u.file.substr(u.file.rfind('/') + 1);

		if (u.what == what && file != "ticket_lock.hpp" &&
		    file != "rw_ticket_lock.hpp" && file != "checked.hpp" &&
		    file != "owners.hpp")
			files.insert(file);
	}
	return files;
}

} // namespace

TEST_CASE("lock_order: what is known is found by loads alone")
{
	using model::operation;
	using files = std::set<std::string>;

	/* Only the lines of the CPU itself are written. */
	CHECK(done_by_order<known_world>(operation::rmw).empty());
	CHECK(done_by_order<known_world>(operation::store) ==
	      files{"held.hpp", "lock_order.hpp"});
	CHECK(done_by_order<known_world>(operation::load).size() >= 3);
	/* Adding an edge takes lock_order's own lock. */
	CHECK(done_by_order<new_world>(operation::rmw) ==
	      files{"tas_lock.hpp"});
}

} // namespace of_programs
