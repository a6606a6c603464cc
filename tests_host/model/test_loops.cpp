/* SPDX-License-Identifier: MIT */
/*
 * Loops of the code's own are waits: what is counted is what the same code has
 * with awaits, whatever the compiler makes of it.
 */
#include <klock/arch/relax.hpp>
#include <klock/atomic.hpp>
#include <klock/plain.hpp>
#include <model/model.hpp>

#include <catch.hpp>

using klock::atomic;
using klock::plain;
using klock::u32;
using klock::u8;
using model::bug;
using model::options;
using model::result;

namespace {

/* Both ways: the loop's executions are the await's. */
template <typename Explore>
void as_many(klock::u64 complete, options how, Explore explore)
{
	const result awaits = explore(how, false), loops = explore(how, true);

	INFO(loops.timeline << loops.limit);
	CHECK(awaits.ok());
	CHECK(awaits.exhaustive);
	CHECK(awaits.complete == complete);
	CHECK(loops.ok());
	CHECK(loops.exhaustive);
	CHECK(loops.complete == complete);
}

void passes(const result &r, klock::u64 complete)
{
	INFO(r.timeline << r.limit);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == complete);
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
	passes(sections<tested>({.sections = {1, 1}}, true), 4);
	passes(sections<tested>({.sections = {1, 1}}, false), 6);
	passes(sections<tested>({.sections = {1, 1}, .every_turn = true},
				false),
	       6);
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

	passes(count(false, {}), 1);
	passes(count(true, {}), 1);
	CHECK(count(true, {}).in_vain == 3);
	/* With each: 0, 1, 2 or none of them before the 3. */
	passes(count(true, {.every_turn = true}), 8);
	passes(count(false, {.every_turn = true}), 8);
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
	passes(reads_whole({.sections = {1, 1}}), 2);
	passes(reads_whole({.sections = {2, 1}}), 3);
	passes(reads_whole({.sections = {1, 1, 1}}), 4);
	passes(reads_whole({.sections = {2, 1, 1}}), 9);
	passes(reads_whole({.sections = {1, 2}}), 3);
}

TEST_CASE("loops: each order of the seqlock is needed")
{
	const result uses =
		reads_whole({.sections = {2, 1}, .record_uses = true});
	unsigned needed = 0;

	for (const model::use &u : uses.uses) {
		for (const model::weakening &w : model::weakenings(u)) {
			const result r =
				reads_whole({.sections = {2, 1}, .weaken = w});
			INFO(text(w));
			CHECK_FALSE(r.ok());
			needed++;
		}
	}
	CHECK(needed == 4);
}
