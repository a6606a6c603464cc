/* SPDX-License-Identifier: MIT */
/*
 * Loops of the code's own are waits: what is counted is what the same code has
 * with awaits, whatever the compiler makes of it.
 */
#include "verdict.hpp"

#include <klock/arch/irq.hpp>
#include <klock/arch/relax.hpp>
#include <klock/atomic.hpp>
#include <klock/plain.hpp>

#include <model/model.hpp>

#include <catch.hpp>

namespace of_loops {

using klock::atomic;
using klock::plain;
using klock::u32;
using klock::u8;
using model::bug;
using model::options;
using model::result;
using verdict::found;
using verdict::has;
using verdict::right_by;

namespace {

/* Both ways: the loop's executions are the await's. */
template <typename Explore>
void as_many(klock::u64 complete, options how, Explore explore)
{
	const result awaits = explore(how, false), loops = explore(how, true);

	INFO(loops.timeline << loops.limit);
	right_by(complete, awaits);
	right_by(complete, loops);
}

constexpr auto is_set = [](u8 v) { return v != 0; };
constexpr auto is_free = [](u8 v) { return v == 0; };

/* -- Locks, each by awaits and by loops ---------------------------------- */

struct by_ticket {
	void lock(bool loops)
	{
		const u8 mine = next.fetch_add_relaxed(1);
		if (!loops)
			owner.await_eq_acquire(mine);
		while (loops && owner.load_acquire() != mine)
			klock::arch::cpu_relax();
	}
	void unlock()
	{
		owner.store_release(static_cast<u8>(owner.load_relaxed() + 1));
	}

	atomic<u8> next, owner;
};

/* An exchange that finds what it leaves is a turn in vain. */
struct by_exchange {
	void lock(bool loops)
	{
		if (!loops)
			byte.await_exchange_acquire(1, is_free);
		while (loops && byte.exchange_acquire(1))
			;
	}
	void unlock() { byte.store_release(0); }

	atomic<u8> byte;
};

/* So is a compare-and-swap that fails; what it expects is set anew. */
struct by_swap {
	void lock(bool loops)
	{
		u8 expected = 0;

		if (!loops)
			byte.await_exchange_acquire(1, is_free);
		while (loops && !byte.compare_exchange_acquire(expected, 1))
			expected = 0;
	}
	void unlock() { byte.store_release(0); }

	atomic<u8> byte;
};

template <typename Lock>
struct locked {
	Lock lock;
	plain<int> data;
	int sections = 0;
};

template <typename Lock>
result sections(options how, bool loops)
{
	return model::explore<locked<Lock>>(
		how,
		[loops](locked<Lock> &w, unsigned) {
			w.lock.lock(loops);
			w.data.set(w.data.get() + 1);
			w.lock.unlock();
			w.sections++;
		},
		[](locked<Lock> &w) {
			model::check(w.data.get() == w.sections, "all of them");
		});
}

/* Test-and-test-and-set: what is cut is the inner loop alone. */
struct tested {
	void lock(bool loops)
	{
		for (;;) {
			if (!loops)
				byte.await_relaxed(is_free);
			while (loops && byte.load_relaxed())
				klock::arch::cpu_relax();
			if (!byte.exchange_acquire(1))
				return;
		}
	}
	void unlock() { byte.store_release(0); }

	atomic<u8> byte;
};

/* -- Messages -------------------------------------------------------------- */

struct message {
	atomic<u8> ready;
	plain<int> data;
};

result pass(options how, bool loops, klock::order released)
{
	how.sections = {1, 1};
	return model::explore<message>(how, [=](message &m, unsigned cpu) {
		if (cpu == 0) {
			m.data.set(7);
			if (released == klock::order::release)
				m.ready.store_release(1);
			else
				m.ready.store_relaxed(1);
			return;
		}
		if (!loops)
			m.ready.await_acquire(is_set);
		while (loops && !m.ready.load_acquire())
			klock::arch::cpu_relax();
		model::check(m.data.get() == 7);
	});
}

} // namespace

TEST_CASE("loops: a loop around a load is an await")
{
	as_many(1, {}, [](const options &how, bool loops) {
		return pass(how, loops, klock::order::release);
	});
	CHECK(pass({}, true, klock::order::relaxed).found == bug::data_race);
}

TEST_CASE("loops: locks by loops have the executions of locks by awaits")
{
	as_many(2, {.sections = {1, 1}}, sections<by_ticket>);
	as_many(3, {.sections = {2, 1}}, sections<by_ticket>);
	as_many(6, {.sections = {2, 2}}, sections<by_ticket>);
	as_many(6, {.sections = {1, 1, 1}}, sections<by_ticket>);
	as_many(90, {.sections = {2, 2, 2}}, sections<by_ticket>);
	as_many(6, {.sections = {2, 2}}, sections<by_exchange>);
	as_many(6, {.sections = {1, 1, 1}}, sections<by_exchange>);
	as_many(6, {.sections = {2, 2}}, sections<by_swap>);
	as_many(6, {.sections = {1, 1, 1}}, sections<by_swap>);
}

/* The await's outer turn, an exchange that fails, is left as it is. */
TEST_CASE("loops: in test-and-test-and-set neither loop's turns are counted")
{
	right_by(4, sections<tested>({.sections = {1, 1}}, true));
	right_by(6, sections<tested>({.sections = {1, 1}}, false));
	right_by(6, sections<tested>({.sections = {1, 1}, .every_turn = true},
				     false));
}

/*
 * A compiler may keep a loop's last value where nobody looks again: then no two
 * turns meet in one state, and are found to be in vain at the end alone.
 */
TEST_CASE("loops: what is kept of a turn and never used makes no difference")
{
	const auto count = [](bool kept, options how) {
		how.sections = {1, 1};
		return model::explore<message>(
			how, [kept](message &m, unsigned cpu) {
				[[maybe_unused]] volatile u8 last = 0;

				if (cpu == 0) {
					m.ready.store_release(1);
					m.ready.store_release(2);
					m.ready.store_release(3);
					return;
				}
				for (;;) {
					const u8 now = m.ready.load_acquire();
					if (now == 3)
						return;
					if (kept)
						last = now;
				}
			});
	};

	right_by(1, count(false, {}));
	right_by(1, count(true, {}));
	CHECK(count(true, {}).in_vain == 3);
	/* every_turn explores each: 0, 1, 2 or none of them before the 3. */
	right_by(8, count(true, {.every_turn = true}));
	right_by(8, count(false, {.every_turn = true}));
}

/* -- Loops of other checkers' suites --------------------------------------- */

namespace {

struct two {
	atomic<u8> x, y;
};

/* GenMC's in shape: one CPU writes 1, 2, .. up to last; how the other waits. */
constexpr u8 last = 5;
using waits = void (*)(two &);

constexpr waits assume_2vars = [](two &w) {
	while (w.x.load_acquire() + w.y.load_acquire() != 2 * last)
		;
};
constexpr waits spin_2cas_join = [](two &w) {
	u8 seen = w.x.load_acquire();

	while (!w.x.compare_exchange_acquire(seen, seen == last ? last : 17))
		;
};
constexpr waits spin_2cas = [](two &w) {
	u8 x = last, y = last;

	while (!w.x.compare_exchange_acquire(x, 17) &&
	       !w.y.compare_exchange_acquire(y, 17))
		x = y = last;
};
constexpr waits spin_cas = [](two &w) {
	for (u8 x = last; !w.x.compare_exchange_acquire(x, 17);)
		x = last;
};

result waited_for(waits by, options how)
{
	how.sections = {1, 1};
	return model::explore<two>(how, [by](two &w, unsigned cpu) {
		for (u8 i = 1; !cpu && i <= last; i++) {
			w.x.store_release(i);
			w.y.store_release(i);
		}
		if (cpu)
			by(w);
	});
}

} // namespace

TEST_CASE("loops: the default takes at most twice the runs of cut_loops")
{
	for (const waits by :
	     {assume_2vars, spin_2cas_join, spin_2cas, spin_cas}) {
		const result cut = waited_for(by, {.cut_loops = true}),
			     given = waited_for(by, {});

		CHECK((cut.ok() && cut.exhaustive));
		CHECK((given.ok() && given.exhaustive));
		CHECK(given.ran <= 2 * cut.ran);
	}
}

/* A run for each stale value of a loop would be four times as many. */
TEST_CASE("loops: of values that are read in vain, only the newest is run")
{
	struct world {
		by_ticket lock;
		plain<int> data;
	};
	const result r = model::explore<world>(
		{.sections = {2, 2, 2}}, [](world &w, unsigned) {
			w.lock.lock(true);
			w.data.set(w.data.get() + 1);
			w.lock.unlock();
		});

	right_by(90, r);
	CHECK(r.ran <= 2 * (r.explored + r.blocked));
}

/* The value that the loop waits for is no part of the stack. */
TEST_CASE("loops: what was read in vain is kept by the memory, too")
{
	struct world {
		atomic<u8> at, other;
		u8 wanted = 0;
	};
	const result r = model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			if (!cpu) {
				(void)w.other.load_relaxed();
				w.at.store_relaxed(1);
				w.at.store_relaxed(2);
				return;
			}
			w.other.store_relaxed(1);
			do {
				w.wanted++;
				while (w.at.load_relaxed() < w.wanted)
					;
			} while (w.wanted < 2);
		});

	right_by(4, r); /* 1 or 2, then 2; and 0 or 1 of the other */
}

/* Each turn counts: 2^n of them end, and unroll takes the first few. */
TEST_CASE("loops: unroll stops short of the next turn, and says so")
{
	const result whole = waited_for(spin_2cas_join, {.every_turn = true}),
		     some = waited_for(spin_2cas_join, {.unroll = 2}),
		     all = waited_for(spin_2cas_join, {.unroll = last + 1});

	CHECK(some.ok());
	CHECK_FALSE(some.exhaustive);
	CHECK(some.limit.starts_with("unroll: "));
	CHECK(some.left_out > 0);
	CHECK(some.complete < whole.complete);
	CHECK(all.exhaustive);
	CHECK(all.left_out == 0);
	CHECK(all.limit.empty());

	/* A store each turn, and a counter: else never in the same state. */
	const auto counts = [](options how) {
		how.sections = {1, 1};
		return model::explore<two>(how, [](two &w, unsigned cpu) {
			for (u8 i = 1; !w.x.load_acquire(); i++)
				cpu ? w.y.store_release(i)
				    : w.x.store_release(1);
		});
	};
	const result bounded = counts({.unroll = 3});

	CHECK(counts({.max_events = 40}).limit.starts_with("max_events: "));
	CHECK(bounded.limit.starts_with("unroll: "));
	CHECK(bounded.complete == 3);
}

/* -- A seqlock's reader, by loops alone ------------------------------------ */

namespace {

struct seqlock {
	void write(u32 v)
	{
		sequence.store_relaxed(sequence.load_relaxed() + 1);
		klock::fence_release();
		a.store_relaxed(v);
		b.store_relaxed(v);
		sequence.store_release(sequence.load_relaxed() + 1);
	}
	void read(u32 &to_a, u32 &to_b)
	{
		u32 began;

		do {
			do
				began = sequence.load_acquire();
			while (began % 2);
			to_a = a.load_relaxed();
			to_b = b.load_relaxed();
			klock::fence_acquire();
		} while (sequence.load_relaxed() != began);
	}

	atomic<u32> sequence, a, b;
};

struct published {
	seqlock lock;
	plain<int> before;
};

result reads_whole(options how)
{
	return model::explore<published>(how, [](published &w, unsigned cpu) {
		u32 a, b;

		if (cpu == 0) {
			if (w.lock.a.load_relaxed() == 0)
				w.before.set(1);
			w.lock.write(w.lock.a.load_relaxed() + 1);
			return;
		}
		w.lock.read(a, b);
		model::check(a == b, "two halves");
		if (a)
			(void)w.before.get();
	});
}

} // namespace

TEST_CASE("loops: a seqlock's reader is its last turn")
{
	right_by(2, reads_whole({.sections = {1, 1}}));
	right_by(3, reads_whole({.sections = {2, 1}}));
	right_by(4, reads_whole({.sections = {1, 1, 1}}));
	right_by(9, reads_whole({.sections = {2, 1, 1}}));
	right_by(3, reads_whole({.sections = {1, 2}}));
}

TEST_CASE("loops: each order of the seqlock is needed")
{
	unsigned needed = 0;

	verdict::each_weaker({.sections = {2, 1}}, reads_whole,
			     [&needed](auto &, const result &r) {
				     CHECK_FALSE(r.ok());
				     needed++;
			     });
	CHECK(needed == 4);
}

/*
 * Loops that never end are found; what changes something is no turn in vain.
 */
namespace {

constexpr auto is_even = [](u8 v) { return v % 2 == 0; };

} // namespace

/* -- Endless loops ----------------------------------------------------------
 */

TEST_CASE("loop_findings: a wake-up that is lost is found")
{
	const auto wakes = [](bool lost) {
		return model::explore<message>(
			{.sections = {1, 1}}, [lost](message &m, unsigned cpu) {
				if (cpu == 0)
					m.ready.store_release(lost ? 2 : 1);
				while (cpu == 1 && m.ready.load_acquire() != 1)
					klock::arch::cpu_relax();
			});
	};
	const result r = wakes(true);

	right_by(1, wakes(false));
	found(bug::deadlock, r,
	      "deadlock: cpu1 loops for ready at test_loops.cpp:");
	CHECK(has(r.timeline, "loops for "));
	CHECK(has(r.timeline, "test_loops.cpp"));
}

TEST_CASE("loop_findings: two that wait for one another, by loop and by await")
{
	struct two {
		atomic<u8> a, b;
	};
	const auto meet = [](bool deadly) {
		return model::explore<two>(
			{.sections = {1, 1}}, [deadly](two &w, unsigned cpu) {
				if (cpu == 0 && !deadly)
					w.b.store_release(1);
				if (cpu == 0)
					while (!w.a.load_acquire())
						;
				else
					w.b.await_acquire(is_set);
				if (cpu == 0)
					w.b.store_release(1);
				else
					w.a.store_release(1);
			});
	};

	right_by(1, meet(false));
	CHECK(meet(true).found == bug::deadlock);
}

TEST_CASE("loop_findings: one that reads an old value is no deadlock")
{
	/* The last value is right, the one before it is not. */
	const auto ends = [](u8 last) {
		return model::explore<message>(
			{.sections = {1, 1}, .stale_waits = true},
			[last](message &m, unsigned cpu) {
				if (cpu == 0) {
					m.ready.store_release(1);
					m.ready.store_release(last);
				}
				while (cpu == 1 &&
				       !is_even(m.ready.load_acquire()))
					;
			});
	};

	right_by(2, ends(2)); /* the start, or the last */
	CHECK(ends(3).found == bug::deadlock);
}

TEST_CASE("loop_findings: a loop around plain data ends, and is a race")
{
	const auto spins = [](bool written) {
		return model::explore<message>(
			{.sections = {1, 1}},
			[written](message &m, unsigned cpu) {
				if (cpu == 0 && written)
					m.data.set(1);
				while (cpu == 1 && !m.data.get())
					;
			});
	};

	CHECK(spins(true).found == bug::data_race);
	CHECK(spins(false).found == bug::deadlock);
}

/* A turn that writes plain data either changes the state or does not. */
TEST_CASE("loop_findings: a loop that writes plain data ends, and is named")
{
	const auto adds = [](int what) {
		return model::explore<message>(
			{.sections = {1}}, [what](message &m, unsigned) {
				for (;;)
					m.data.set(m.data.get() + what);
			});
	};
	const result r = adds(1), same = adds(0);

	INFO(r.limit);
	CHECK(r.ok());
	CHECK_FALSE(r.exhaustive);
	CHECK(has(r.limit, "plain data in a row"));
	CHECK(has(r.limit, "test_loops.cpp:"));
	found(bug::deadlock, same);
	CHECK(has(same.message, "test_loops.cpp:"));
}

namespace {

[[gnu::noinline]] void goes_round()
{
	for (volatile bool ends = false; !ends;)
		;
}

struct turned {
	atomic<u8> ready;
	atomic<u32> turns;
};

} // namespace

/* A loop that calls no hook: by its CPU time. */
TEST_CASE("loop_findings: a loop in which nothing is seen ends, and is named")
{
	const options brief{.sections = {1, 1}, .idle_seconds = 0.2};
	const auto at_end = [](turned &m) {
		if (m.ready.load_relaxed())
			goes_round();
	};
	const struct {
		const char *name;
		result is;
	} rows[] = {
		{"cpu1", model::explore<turned>(
				 brief,
				 [](turned &m, unsigned cpu) {
					 if (!cpu)
						 m.ready.store_relaxed(1);
					 else if (m.ready.load_relaxed())
						 goes_round();
				 })},
		{"the check at the end",
		 model::explore<turned>(
			 brief,
			 [](turned &m, unsigned) { m.ready.store_relaxed(1); },
			 at_end)},
		/* One of the workers comes to it. */
		{"cpu1", model::explore<turned>(
				 {.sections = {4, 3, 3},
				  .idle_seconds = 0.2,
				  .workers = 2},
				 [](turned &m, unsigned cpu) {
					 if (!m.turns.fetch_add_relaxed(1) &&
					     cpu == 1)
						 goes_round();
				 })},
	};
	for (const auto &[name, is] : rows) {
		INFO(name << "\n" << is.timeline);
		found(bug::deadlock, is,
		      (std::string("deadlock: ") + name +
		       " loops in of_loops::(anonymous namespace)::"
		       "goes_round(), and has done nothing")
			      .c_str());
		CHECK(has(is.timeline, "goes_round()"));
		CHECK(has(is.timeline, "(test_loops.cpp:"));
	}
}

/* Each turn is short; all of them take longer than what is waited for. */
TEST_CASE("loop_findings: a loop that takes long, and does what is seen, is "
	  "none")
{
	const auto turns = [](turned &m, unsigned) {
		for (u32 i = 0; i < 80; i++) {
			volatile int n = 20'000'000;
			while (n)
				n = n - 1;
			m.turns.store_relaxed(i);
		}
	};

	right_by(1, model::explore<turned>(
			    {.sections = {1}, .idle_seconds = 0.2}, turns));
}

/* The race is not lost with the turn that it is in. */
TEST_CASE("loop_findings: a race of a failed turn with what comes of the loop")
{
	struct told : message {
		atomic<u8> done;
	};
	const auto waits = [](bool reads, bool stores) {
		return model::explore<told>(
			{.sections = {1, 1, 1}, .cut_loops = true},
			[=](told &m, unsigned cpu) {
				if (cpu == 2)
					m.ready.store_release(1);
				while (cpu == 0 && !m.ready.load_acquire()) {
					if (reads)
						(void)m.data.get();
					if (stores)
						m.data.set(0);
				}
				if (cpu == 0)
					m.done.store_relaxed(1);
				if (cpu == 1 && m.done.load_relaxed())
					m.data.set(1);
			});
	};

	right_by(2, waits(false, false));
	CHECK(waits(true, false).found == bug::data_race);
	CHECK(waits(false, true).found == bug::data_race);
}

/* A failed turn reads an old value, and a later CPU accesses its data. */
TEST_CASE("loop_findings: a race of a failed turn that leads nowhere")
{
	const auto waits = [](bool reads, bool stores) {
		return model::explore<message>(
			{.sections = {1, 1, 1}, .cut_loops = true},
			[=](message &m, unsigned cpu) {
				if (cpu == 0)
					m.ready.store_release(1);
				while (cpu == 1 && !m.ready.load_acquire()) {
					if (reads)
						(void)m.data.get();
					if (stores)
						m.data.set(0);
				}
				if (cpu == 2)
					m.data.set(1);
			});
	};

	right_by(1, waits(false, false));
	CHECK(waits(true, false).found == bug::data_race);
	CHECK(waits(false, true).found == bug::data_race);
}

/* Whether a store changes anything is told by the value, not by the loop. */
TEST_CASE("loop_findings: a wait that keeps what it has read")
{
	const auto waits = [](u8 comes) {
		return model::explore<message>(
			{.sections = {1, 1}},
			[comes](message &m, unsigned cpu) {
				if (cpu == 0)
					m.ready.store_release(comes);
				while (cpu == 1 && m.data.get() != 1)
					m.data.set(m.ready.load_acquire());
			});
	};

	right_by(1, waits(1));
	CHECK(waits(2).found == bug::deadlock);
}

/* -- Turns that do not fail ---------------------------------------------------
 */

TEST_CASE("loop_findings: a turn that changes something is no turn in vain")
{
	struct counting {
		atomic<u8> ready;
		plain<unsigned> turns;
		unsigned looks = 0;
	};
	enum class how { stack, world, data };
	const auto spins = [](how what, unsigned limit) {
		return model::explore<counting>(
			{.sections = {1, 1},
			 .max_events = 40,
			 .cut_loops = true},
			[=](counting &w, unsigned cpu) {
				unsigned i = 0;

				if (cpu == 0) {
					w.ready.store_release(1);
					return;
				}
				while (!w.ready.load_acquire()) {
					i++;
					if (what == how::world)
						i = ++w.looks;
					if (what == how::data)
						w.turns.set(w.turns.get() + 1);
					if (what == how::data)
						i = w.turns.get();
					if (i == limit)
						return;
				}
			});
	};

	for (how what : {how::stack, how::world, how::data}) {
		const result counted = spins(what, 3), endless = spins(what, 0);

		/* Three in vain; or it ended before. */
		right_by(what == how::data ? 4 : 2, counted);
		CHECK_FALSE(endless.exhaustive);
		INFO(endless.limit);
		CHECK(endless.limit.starts_with("max_events: "));
		CHECK(has(endless.limit, "test_loops.cpp:"));
	}
}

/* Looks at what a CPU has counted in the world, unseen by the checker. */
TEST_CASE("loop_findings: a turn in vain that was counted is checked, if not "
	  "counted")
{
	struct counting {
		atomic<u8> ready;
		unsigned looks = 0;
	};
	const auto looks_once = [](unsigned at_most) {
		return model::explore<counting>(
			{.sections = {1, 1}, .cut_loops = true},
			[](counting &w, unsigned cpu) {
				if (cpu == 0) {
					w.ready.store_release(1);
					return;
				}
				while (!w.ready.load_acquire())
					if (++w.looks == 2)
						return;
			},
			[at_most](counting &w) {
				model::check(w.looks <= at_most);
			});
	};

	right_by(2, looks_once(2));
	CHECK(looks_once(2).in_vain == 1);
	CHECK(looks_once(1).found == bug::failed_check);
	CHECK(looks_once(0).found == bug::failed_check);
}

TEST_CASE(
	"loop_findings: an exchange that changes the value is no turn in vain")
{
	const auto r = model::explore<message>(
		{.sections = {1}, .max_events = 40}, [](message &m, unsigned) {
			u8 mine = 1;
			while ((mine = m.ready.exchange_relaxed(
					static_cast<u8>(mine ^ 3))) != 9)
				;
		});

	CHECK_FALSE(r.exhaustive);
	CHECK(has(r.limit, "a loop that writes"));
}

/* -- Interrupts --------------------------------------------------------------
 */

TEST_CASE("loop_findings: an interrupt ends the loop that it comes into")
{
	const auto spins = [](bool handler_tells) {
		return model::explore<message>(
			{.sections = {1}, .interrupts = 1},
			[](message &m, unsigned) {
				while (!m.ready.load_relaxed())
					klock::arch::cpu_relax();
			},
			[](message &) {},
			[handler_tells](message &m, unsigned) {
				if (handler_tells)
					m.ready.store_relaxed(1);
			});
	};

	right_by(1, spins(true));
	CHECK(spins(false).found == bug::deadlock);
}

TEST_CASE("loop_findings: a handler that waits for its own CPU waits for ever")
{
	const auto r = model::explore<message>(
		{.sections = {1}, .interrupts = 1},
		[](message &m, unsigned) {
			m.ready.store_relaxed(1);
			m.ready.store_relaxed(0);
		},
		[](message &) {},
		[](message &m, unsigned) {
			while (m.ready.load_relaxed())
				;
		});

	CHECK(r.found == bug::deadlock);
}

/* -- Awaits in loops ---------------------------------------------------------
 */

TEST_CASE("loop_findings: a loop around an await ends when it reads the same "
	  "twice")
{
	struct two {
		atomic<u8> a, b;
	};
	const auto both = [](u8 b) {
		return model::explore<two>(
			{.sections = {1, 1}}, [b](two &w, unsigned cpu) {
				if (cpu == 0) {
					w.a.store_release(1);
					w.b.store_release(b);
					return;
				}
				do
					w.a.await_acquire(is_set);
				while (!w.b.load_acquire());
			});
	};

	right_by(2, both(1));
	CHECK(both(0).found == bug::deadlock);
}

/* With an await in it, a turn repeats another if it reads the same writes. */
TEST_CASE("loop_findings: a turn is like the one before it by what it reads")
{
	struct two {
		atomic<u8> free, of[2];
	};
	const options how{.sections = {1, 1}, .cut_loops = true};

	/* The second turn reads that value elsewhere. */
	right_by(2, model::explore<two>(how, [](two &w, unsigned cpu) {
			 if (cpu == 0)
				 w.of[1].store_release(1);
			 for (unsigned i = 0; cpu == 1; i = 1) {
				 w.free.await_acquire(is_free);
				 if (w.of[i].load_acquire())
					 return;
			 }
		 }));
	/* It reads that value of another write. */
	right_by(4, model::explore<two>(how, [](two &w, unsigned cpu) {
			 if (cpu == 0) {
				 w.of[0].store_release(0);
				 w.of[0].store_release(1);
				 return;
			 }
			 do
				 w.free.await_acquire(is_free);
			 while (!w.of[0].load_acquire());
		 }));
}

/* A turn that has changed the interrupt flag alone is no turn in vain. */
TEST_CASE("loop_findings: a turn that masks interrupts is no turn in vain")
{
	struct masked : message {
		int off = 0;
	};
	const auto waits = [](int at_most) {
		return model::explore<masked>(
			{.sections = {1, 1}, .cut_loops = true},
			[](masked &w, unsigned cpu) {
				if (cpu == 0) {
					w.ready.store_release(1);
					return;
				}
				while (!w.ready.load_acquire())
					(void)klock::arch::irq_save();
				w.off = !klock::arch::irq_save();
			},
			[at_most](masked &w) {
				model::check(w.off <= at_most);
			});
	};

	right_by(1, waits(1));
	CHECK(waits(1).in_vain == 1);
	CHECK(waits(0).found == bug::failed_check);
}

} // namespace of_loops
