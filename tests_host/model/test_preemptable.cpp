/* SPDX-License-Identifier: MIT */
/*
 * preemptable_ticket_lock: who waits its turn for ever, who bypasses, who is
 * late. A CPU outside of options.patient may bypass at any look, so that with
 * nobody in it every patience is in; with everybody in it the lock must serve
 * in turn. At the end of each world the turn is at the next ticket: try_lock()
 * succeeds.
 */
#include "lock_worlds.hpp"
#include "../checker/verdict.hpp"

#include <klock/preemptable_ticket_lock.hpp>
#include <klock/queued_lock.hpp>
#include <klock/selftest/busted.hpp>

#include <array>
#include <set>

namespace of_preemptable {

using klock::advanced;
using klock::distance;
using klock::u32;
using klock::selftest::service;
using klock::selftest::subject;
using namespace worlds;
using verdict::good;

namespace {

using lock = klock::preemptable_ticket_lock<u8>;
using whole = subject<"lock", lock, service::fifo_if_all_run>;

constexpr unsigned nobody = 0;

/* A lock whose tickets can be taken without the load before them, and seen. */
struct drawing : lock {
	void lock() { whole::lock::lock(); }
	void lock(auto &&serve) { lock_in_turn(serve); }
	void lock_without_try() { lock_in_turn(); }
	u8 turn() const { return this->state.load_relaxed(); }
	u8 drawn() const { return next.load_relaxed(); }
};

/* Further checks of each holder, behind so many before it. */
using held_check = void (*)(lock_of_kind &, unsigned);

void in_turn(lock_of_kind &of, unsigned before)
{
	check(of.as<drawing>().turn() ==
		      advanced(static_cast<u8>(before * 2), u8{3}),
	      "the k-th served has the k-th ticket");
}

template <typename Lock>
void not_past_next(lock_of_kind &of, unsigned)
{
	const Lock &at = of.as<Lock>();
	const u8 turn = at.turn() & ~1u;

	check(distance(turn, at.drawn()) <= distance(u8{1}, u8{0}) / 2,
	      "the turn that is left is not past next");
}

/* Roles that wait in turn take their tickets without a try before. */
template <typename Lock = drawing>
outcome explore(const std::string &roles, const options &how,
		held_check held = nullptr, const std::string &handlers = "")
{
	static constexpr kind of_lock = describe<Lock>("lock");

	return play({.lock = of_lock,
		     .roles = roles,
		     .handlers = handlers,
		     .is_free_at_end = true,
		     .while_held = held},
		    how);
}

/* Complete executions; the verdict of each is that there is no fault. */
struct row {
	const char *roles;
	std::vector<unsigned> sections;
	unsigned patient;
	unsigned bits;
	klock::u64 complete;
};

void all_good(const std::vector<row> &rows, held_check held = nullptr)
{
	for (const row &r : rows) {
		INFO("row " << &r - rows.data());
		const result found = explore(r.roles,
					     {.sections = r.sections,
					      .patient = r.patient,
					      .counter_bits = r.bits},
					     held);
		good(found);
		CHECK(found.complete == r.complete);
	}
}

/* Each CPU in turn is the one whose patience ends; then all but one. */
std::vector<unsigned> mixes(unsigned cpus)
{
	std::vector<unsigned> masks = {everybody, nobody};

	for (unsigned i = 0; i < cpus; i++) {
		masks.push_back(~(1u << i));
		masks.push_back(1u << i);
	}
	return masks;
}

} // namespace

/*
 * The counts of tickets alone are those of an independent prototype. A turn has
 * 4 values where counters have 3 bits, and 2 CPUs are the capacity; 8 and 4
 * where they have 4 bits.
 */
TEST_CASE("preemptable: in turn, while all are patient")
{
	all_good({{"qq", {1, 2}, everybody, 3, 16},
		  {"qq", {3, 3}, everybody, 3, 2332},
		  {"qq", {1, 4}, everybody, 3, 244},
		  {"qq", {1, 5}, everybody, 3, 528},
		  {"qq", {1, 2}, everybody, 4, 8},
		  {"qq", {3, 3}, everybody, 4, 212},
		  {"qq", {1, 4}, everybody, 4, 32},
		  {"qq", {1, 5}, everybody, 4, 120},
		  {"qqq", {1, 1, 1}, everybody, 4, 30},
		  {"qqq", {2, 1, 1}, everybody, 4, 94},
		  {"qqq", {2, 2, 1}, everybody, 4, 992}},
		 in_turn);
}

TEST_CASE("preemptable: bypassed, the turn is never past the next ticket")
{
	all_good({{"qq", {1, 2}, nobody, 3, 206},
		  {"qq", {1, 4}, nobody, 3, 7120},
		  {"qq", {1, 2}, nobody, 4, 206},
		  {"qq", {1, 4}, nobody, 4, 6657}},
		 not_past_next<drawing>);
}

TEST_CASE("preemptable: bypassed, at rest the turn is at the next ticket")
{
	all_good({{"qq", {1, 2}, nobody, 3, 127},
		  {"qq", {1, 4}, nobody, 3, 3869},
		  {"qq", {1, 2}, nobody, 4, 127},
		  {"qq", {1, 4}, nobody, 4, 3657},
		  {"qqq", {1, 1, 1}, nobody, 4, 2970},
		  {"ll", {1, 4}, nobody, 4, 1281},
		  {"lll", {1, 1, 1}, nobody, 4, 1020},
		  {"lll", {1, 1, 1}, everybody, 4, 408},
		  {"qt", {3, 3}, nobody, 3, 5906},
		  {"lt", {3, 3}, nobody, 3, 4193},
		  {"qqt", {2, 1, 1}, nobody, 4, 7335},
		  {"qqt", {2, 1, 1}, everybody, 4, 368},
		  {"qtt", {2, 1, 1}, nobody, 4, 814}});
}

TEST_CASE("preemptable: who serves waits in turn, and bypasses, as others do")
{
	all_good({{"zz", {1, 2}, everybody, 3, 74},
		  {"zq", {1, 4}, everybody, 4, 372},
		  {"zzz", {1, 1, 1}, everybody, 4, 720}},
		 in_turn);
	all_good({{"zq", {1, 2}, nobody, 4, 389}}, not_past_next<drawing>);
}

TEST_CASE("preemptable: who serves waits among three, and often", "[deep]")
{
	all_good({{"qzq", {1, 1, 1}, nobody, 4, 4980},
		  {"zt", {3, 3}, nobody, 3, 10542}});
}

/*
 * Passed by half of the turns and more it looks early, waits for a turn that is
 * long past, and hangs: only here is it seen that the checker's counters are
 * narrow for the hint, too.
 */
TEST_CASE("preemptable: one is patient for ever, and seen to be late")
{
	all_good({{"qq", {1, 2}, 1, 4, 55}, {"qq", {1, 2}, 2, 4, 48}});
	for (const unsigned bits : {3u, 4u})
		CHECK(explore("qq", {.sections = {1, bits == 3 ? 2u : 4u},
				     .patient = 1,
				     .counter_bits = bits})
			      .found == model::bug::deadlock);
}

/* The worlds below that find a fault of other forms are smaller than these. */
TEST_CASE("preemptable: large worlds", "[.large]")
{
	all_good({{"qq", {4, 4}, everybody, 3, 74596}}, in_turn);
	all_good({{"qq", {1, 5}, nobody, 3, 34533},
		  {"qq", {1, 5}, nobody, 4, 32623}},
		 not_past_next<drawing>);
	all_good({{"qq", {3, 3}, nobody, 3, 235114},
		  {"qq", {1, 5}, nobody, 3, 18198},
		  {"qq", {1, 5}, nobody, 4, 17588},
		  {"qq", {3, 3}, 2, 4, 22492},
		  {"ll", {3, 3}, nobody, 3, 263782},
		  {"ll", {3, 3}, everybody, 3, 65870},
		  {"qqq", {2, 1, 1}, nobody, 4, 115792},
		  {"lll", {2, 1, 1}, nobody, 4, 119498},
		  {"lll", {2, 1, 1}, everybody, 4, 9648},
		  {"llt", {2, 1, 1}, nobody, 4, 7010},
		  {"qQ", {3, 3}, nobody, 3, 80014},
		  {"qqq", {2, 1, 1}, nobody, 3, 140872}});
	/* C++17's release sequences; then x86. */
	options how{.sections = {3, 3},
		    .counter_bits = 3,
		    .sequence = model::release_sequence::rc11};
	CHECK(explore("qq", how).complete == 235114);
	how.sequence = options{}.sequence;
	how.machine = model::machine::x86;
	CHECK(explore("qq", how).complete == 33020);
}

TEST_CASE("preemptable: every mix of who is patient, three CPUs")
{
	for (const unsigned patient : mixes(3)) {
		INFO("patient " << patient);
		good(explore("qqq", {.sections = {1, 1, 1},
				     .patient = patient,
				     .counter_bits = 4}));
		good(exclusion(kind_of<whole>,
			       {.sections = {1, 1, 1}, .patient = patient}));
	}
}

TEST_CASE("preemptable: over capacity it still excludes, and nobody is stuck")
{
	/* One context more, and twice as many. */
	all_good({{"qqq", {1, 1, 1}, nobody, 3, 3366}});
	good(exclusion(kind_of<whole>,
		       {.sections = {2, 2}, .counter_bits = 2}));
	good(exclusion(kind_of<whole>,
		       {.sections = {1, 1, 1}, .counter_bits = 2}));
	/* Order goes, and who waits for its turn for ever may miss it. */
	CHECK(explore("qqq", {.sections = {1, 1, 1},
			      .patient = everybody,
			      .counter_bits = 3})
		      .found == model::bug::deadlock);
}

namespace {

/* Complete executions with an NMI on each CPU that tries, at any step. */
klock::u64 interrupted(const char *roles, std::vector<unsigned> sections,
		       unsigned bits)
{
	const result r = explore(roles,
				 {.sections = sections,
				  .interrupts = 1,
				  .non_maskable = true,
				  .counter_bits = bits},
				 nullptr, "tt");

	good(r);
	return r.complete;
}

} // namespace

TEST_CASE("preemptable: an NMI that tries, at any step")
{
	CHECK(interrupted("qq", {1, 1}, 0) == 7804);
	(void)interrupted("tq", {1, 1}, 0);
}

TEST_CASE("preemptable: an NMI, and the mixes of who is patient", "[.large]")
{
	std::set<klock::u64> counts;
	std::vector<unsigned> some = mixes(3);

	CHECK(interrupted("qq", {1, 2}, 3) == 122569);
	some.erase(some.begin(), some.begin() + 2);
	for (const auto &sections :
	     {std::vector{1u, 1u, 1u}, {2u, 1u, 1u}, {1u, 1u, 2u}}) {
		for (const unsigned patient : some) {
			const result r = explore("qqq", {.sections = sections,
							 .patient = patient,
							 .counter_bits = 4});
			good(r);
			counts.insert(r.complete);
		}
	}
	CHECK(*counts.begin() == 342);
	CHECK(*counts.rbegin() == 37432);
}

/* -- Every state of two CPUs, one step of one of them at a time --------------
 */

namespace {

/* The step that a CPU is at, and the values that it remembers. */
enum class at : u8 { rest, swaps_try, waits, swaps, settles, stores, in };

struct stepping {
	at step = at::rest;
	u8 mine = 0, now = 0, seen = 0, taken = 0;
	bool late = false; /* its turn has passed: counted, not guessed */

	bool waiting() const { return step == at::waits || step == at::swaps; }
	bool holds() const { return step >= at::settles; }
	auto operator<=>(const stepping &) const = default;
};

struct of_two {
	u8 next = 0, state = 0;
	std::array<stepping, 2> cpu;

	auto operator<=>(const of_two &) const = default;
};

/* The lock in some state: a step that nothing can divide is its own function.
 */
struct set_lock : lock {
	set_lock(u8 tickets, u8 turn)
	{
		next.store_relaxed(tickets);
		state.store_relaxed(turn);
	}
	u8 turn() const { return state.load_relaxed(); }
	using lock::held_by;
	using lock::settle;
	using lock::toggled;
};

/*
 * Returns the states that may follow. A waiter may bypass whenever the lock is
 * free, and guess either way: more than patience allows.
 */
std::vector<of_two> steps(const of_two &from, unsigned who, bool looks_first)
{
	of_two to = from;
	stepping &c = to.cpu[who];
	set_lock copy(from.next, from.state);
	std::vector<of_two> all;
	const auto is = [&](at step) {
		c.step = step;
		all.push_back(to);
	};

	switch (c.step) {
	case at::rest:
		c = {};
		c.seen = from.next;
		is(at::swaps_try);
		c = {};
		c.mine = from.next;
		to.next = advanced(from.next, u8{2});
		is(at::waits);
		break;
	case at::swaps_try: {
		set_lock as_seen(c.seen, from.state);
		const bool taken = as_seen.try_lock();

		to.state = as_seen.turn();
		c = {};
		c.now = taken ? from.state : u8{0};
		is(taken ? at::in : at::rest);
		break;
	}
	case at::waits:
		if (from.state & 1)
			break;
		c.now = from.state;
		c.seen = looks_first ? from.next : u8{0};
		for (const u8 taken :
		     {set_lock::held_by(c.mine), set_lock::toggled(c.now)}) {
			c.taken = taken;
			is(at::swaps);
		}
		break;
	case at::swaps:
		if (from.state == c.now)
			to.state = c.taken;
		is(from.state == c.now ? at::settles : at::waits);
		break;
	case at::settles: {
		set_lock as_seen(looks_first ? c.seen : from.next, from.state);
		as_seen.settle(c.mine, c.now, c.taken);
		c.taken = as_seen.turn();
		is(at::stores);
		break;
	}
	case at::stores:
		to.state = c.taken;
		is(at::in);
		break;
	case at::in:
		copy.unlock();
		to.state = copy.turn();
		for (stepping &other : to.cpu)
			other.late |= other.waiting() &&
				      distance(c.now, other.mine) <
					      distance(c.now, to.state);
		c = {};
		is(at::rest);
		break;
	}
	return all;
}

/* try_lock() fails where it is held, or where one waits whose turn is to come.
 */
bool try_is_right(const of_two &now)
{
	const bool held = now.cpu[0].holds() || now.cpu[1].holds();
	bool awaited = false;
	set_lock copy(now.next, now.state);

	for (const stepping &c : now.cpu)
		awaited |= c.waiting() && !c.late;
	if (held != copy.is_locked() ||
	    (now.cpu[0].holds() && now.cpu[1].holds()))
		return false;
	const bool got = copy.try_lock();
	if (got)
		copy.unlock();
	return got == (!held && !awaited) && copy.turn() == now.state;
}

struct tally {
	std::size_t states = 0, wrong = 0, late = 0;
};

tally all_states(bool looks_first)
{
	std::set<of_two> seen = {{}};
	std::vector<of_two> left = {{}};
	tally sum;

	klock::arch::hooked::counter_mask = 7;
	while (!left.empty()) {
		const of_two now = left.back();

		left.pop_back();
		sum.wrong += !try_is_right(now);
		sum.late += now.cpu[0].late || now.cpu[1].late;
		for (const unsigned who : {0u, 1u})
			for (const of_two &next : steps(now, who, looks_first))
				if (seen.insert(next).second)
					left.push_back(next);
	}
	klock::arch::hooked::counter_mask = ~u32{0};
	sum.states = seen.size();
	return sum;
}

} // namespace

TEST_CASE("preemptable: try_lock is right in all states of two CPUs, 3 bits")
{
	const tally all = all_states(false);

	INFO(all.states << " states, in " << all.late << " somebody is late");
	CHECK(all.wrong == 0);
	CHECK(all.late > 100);
	/* The turn decided by a look before the swap: as many turns later. */
	CHECK(all_states(true).wrong > 0);
}

/* -- Faults of other forms -------------------------------------------------
 */

namespace {

enum class fault {
	none,
	never_settled,
	settled_unless_own_turn,
	settled_unless_late,
	look_before_swap,
	not_less,
	late_moves_on,
	settled_by_half,
	keeps_late_guess,
	draws_by_one,
	tries_held_alone,
	try_moves_turn,
	constant_range,
	half_range,
	late_before_held
};

/* The lock's own steps, with a choice of one fault. */
template <fault Of>
struct faulty {
	static constexpr u64 max_contenders = whole::capacity;

	void lock()
	{
		if (!try_lock())
			lock_without_try();
	}
	[[nodiscard]] bool try_lock()
	{
		u8 now = turn();

		if (Of == fault::tries_held_alone ? now & 1 : drawn() != now)
			return false;
		return state.compare_exchange_acquire(
			now,
			Of == fault::try_moves_turn ? held_by(now) : now ^ 1);
	}
	void lock_without_try()
	{
		const u8 mine = next.fetch_add_relaxed(
			Of == fault::draws_by_one ? 1 : 2);
		u8 now, stored, before;

		do {
			now = state.await_patient_relaxed([mine](u8 seen) {
				return patience(mine, seen);
			});
			before = drawn();
			stored = guess(mine, now);
		} while (!state.compare_exchange_acquire(now, stored));
		settle(mine, now, stored,
		       Of == fault::look_before_swap ? before : drawn());
	}
	void unlock() { state.store_release(turn() ^ 1); }
	u8 turn() const { return state.load_relaxed(); }
	u8 drawn() const { return next.load_relaxed(); }

      private:
	static u8 held_by(u8 place) { return advanced(place, u8{3}); }
	static u32 patience(u8 mine, u8 seen)
	{
		if (Of == fault::late_before_held && late(mine, seen))
			return 0;
		if (seen & 1)
			return klock::endless;
		return late(mine, seen) ? 0 : distance(seen, mine);
	}
	static bool late(u8 mine, u8 now)
	{
		const u8 all = Of == fault::constant_range
				       ? u8{255}
				       : distance(u8{1}, u8{0});
		const u8 most = Of == fault::half_range ? all : all / 2;

		return distance(static_cast<u8>(now & ~1u), mine) > most;
	}
	static u8 guess(u8 mine, u8 now)
	{
		if (!late(mine, now))
			return held_by(mine);
		return Of == fault::late_moves_on ? held_by(now) : now ^ 1;
	}
	void settle(u8 mine, u8 now, u8 stored, u8 last)
	{
		const u8 ahead = distance(now, mine),
			 most = distance(now, last);
		bool to_come =
			Of == fault::not_less ? ahead <= most : ahead < most;

		if (Of == fault::never_settled ||
		    (Of == fault::settled_unless_own_turn && mine == now) ||
		    (Of == fault::settled_unless_late && late(mine, now)) ||
		    (Of == fault::keeps_late_guess && late(mine, now)))
			return;
		if (Of == fault::settled_by_half)
			to_come = !late(mine, now);
		u8 right = to_come ? held_by(mine) : now ^ 1;
		if (Of == fault::late_moves_on && !to_come)
			right = held_by(now);
		if (right != stored)
			state.store_relaxed(right);
	}

	alignas(2) klock::atomic<u8> next;
	klock::atomic<u8> state;
};

/* Whether a fault is found in the worlds above, and the lock without is not. */
template <fault Of>
bool is_found()
{
	struct world_of {
		const char *roles;
		options how;
		held_check held = nullptr;
	};
	const std::vector<world_of> worlds = {
		{"qq", {.sections = {1, 2}, .counter_bits = 3}},
		{"qq",
		 {.sections = {1, 2}, .patient = 1, .counter_bits = 4},
		 {}},
		{"ll", {.sections = {1, 2}, .counter_bits = 3}},
		{"qq",
		 {.sections = {1, 4}, .counter_bits = 3},
		 not_past_next<faulty<Of>>},
		{"qqq", {.sections = {1, 1, 1}, .counter_bits = 3}},
		{"qqt",
		 {.sections = {1, 1, 1},
		  .patient = everybody,
		  .counter_bits = 4},
		 {}},
	};

	for (const world_of &w : worlds)
		if (explore<faulty<Of>>(w.roles, w.how, w.held).found !=
		    model::bug::none)
			return true;
	return false;
}

} // namespace

TEST_CASE("preemptable: other forms are wrong", "[deep]")
{
	CHECK_FALSE(is_found<fault::none>());
	CHECK(is_found<fault::never_settled>());
	CHECK(is_found<fault::settled_unless_own_turn>());
	CHECK(is_found<fault::settled_unless_late>());
	CHECK(is_found<fault::look_before_swap>());
	CHECK(is_found<fault::not_less>());
	CHECK(is_found<fault::late_moves_on>());
	CHECK(is_found<fault::settled_by_half>());
	CHECK(is_found<fault::keeps_late_guess>());
	CHECK(is_found<fault::draws_by_one>());
	CHECK(is_found<fault::try_moves_turn>());
	CHECK(is_found<fault::constant_range>());
	CHECK(is_found<fault::half_range>());
	CHECK(is_found<fault::late_before_held>());
}

/* It excludes, and leaves the turn right; what it breaks is the order. */
TEST_CASE("preemptable: a try that looks at held alone overtakes who waits")
{
	using order = subject<"held alone", faulty<fault::tries_held_alone>,
			      service::fifo_if_all_run>;
	using right =
		subject<"right", faulty<fault::none>, service::fifo_if_all_run>;

	CHECK(first_come_first_served(kind_of<order>).found ==
	      model::bug::failed_check);
	good(first_come_first_served(kind_of<right>));
	good(first_come_first_served(kind_of<whole>));
}

TEST_CASE("preemptable: late, it is bypassed without a bound; in turn, not")
{
	const auto bypasses = [](unsigned sections, unsigned patient) {
		const outcome r =
			play({kind_of<whole>, "ll", &world::bypass},
			     {.sections = {sections, 1}, .patient = patient});

		good(r);
		return r.most_bypasses;
	};

	for (const unsigned sections : {2u, 3u, 4u}) {
		CHECK(bypasses(sections, everybody) == 1);
		CHECK(bypasses(sections, 0) == sections);
	}
}

} // namespace of_preemptable

namespace of_queued {

/*
 * queued_lock: what belongs to the CPUs and not to the lock. Nodes are clean at
 * rest; a handler's wait has another node than the wait that it interrupted;
 * who has no node competes.
 */

using klock::selftest::service;
using klock::selftest::subject;
using namespace worlds;
using verdict::good;

namespace {

template <unsigned Cpus, klock::u32 Patience = 0>
using queued = subject<"queued_lock", klock::queued_lock<Cpus, Patience>,
		       service::fifo>;

/* As exclusion(); and at rest it is free, nobody queues, all nodes are there */
template <unsigned Cpus, klock::u32 Patience = 0>
result clean_at_rest(const options &how)
{
	const auto is_clean = [](lock_of_kind &of, unsigned cpus) {
		auto &lock = of.as<klock::queued_lock<Cpus, Patience>>();

		check(lock.try_lock(), "it is free");
		check(!lock.is_contended(), "nobody queues");
		for (unsigned cpu = 0; cpu < cpus; cpu++)
			check(lock.is_clean(cpu), "the nodes are clean");
	};

	return play({.lock = kind_of<queued<Cpus, Patience>>,
		     .roles = std::string(Cpus, 'l'),
		     .at_rest = is_clean},
		    how);
}

/*
 * Threads take one lock, handlers another, each with the number of its CPU: a
 * handler may come anywhere in a thread's wait.
 */
outcome with_handlers(const kind &k, std::vector<unsigned> sections)
{
	return play({.lock = k,
		     .roles = std::string(sections.size(), 'l'),
		     .handlers = std::string(sections.size(), 'O')},
		    {.sections = sections, .interrupts = 1});
}

} // namespace

TEST_CASE("queued_lock: clean at rest")
{
	good(clean_at_rest<2>({.sections = {3, 3}}));
	good(clean_at_rest<3>({.sections = {2, 1, 1}}));
}

/* The checker tries each look as the last one, whatever the number is. */
TEST_CASE("queued_lock: patience before it queues")
{
	good(clean_at_rest<2, 1>({.sections = {2, 2}}));
	good(clean_at_rest<3, 1>({.sections = {1, 1, 1}}));
	good(with_handlers(kind_of<queued<2, 1>>, {1, 1}));
}

TEST_CASE("queued_lock: two locks, one after the other, with the same nodes",
	  "[deep]")
{
	const auto both = [](std::vector<unsigned> sections) {
		return two_in_turn(kind_of<queued<3>>, {.sections = sections});
	};

	good(both({2, 2, 2}));
	CHECK(both({2, 2, 2}).complete == 6084);
	good(both({4, 3}));
}

TEST_CASE("queued_lock: interrupts, whose handlers wait for another lock")
{
	for (const auto &sections :
	     std::vector<std::vector<unsigned>>{{1, 1}, {2, 1}}) {
		const outcome r = with_handlers(kind_of<queued<2>>, sections);

		good(r);
		CHECK(r.most_handled == 2);
	}
}

TEST_CASE("queued_lock: a handler that gets the same node is found")
{
	using klock::selftest::busted::late_depth;
	struct by_number {
		explicit by_number(unsigned of) : cpu(of) {}
		void lock(late_depth &l) const { l.lock_from(cpu); }
		static void unlock(late_depth &l) { l.unlock(); }

		unsigned cpu;
	};

	CHECK_FALSE(
		with_handlers(describe<late_depth, by_number>(""), {1, 1, 1})
			.ok());
}

TEST_CASE("queued_lock: without a node, a CPU competes with those that queue")
{
	/* CPU 2 has a number that the table has no row for. */
	good(exclusion(kind_of<queued<2>>, {.sections = {1, 1, 1}}));
	good(exclusion(kind_of<queued<2>>, {.sections = {2, 1, 1}}));
}

} // namespace of_queued
