/* SPDX-License-Identifier: MIT */
/*
 * lock_order and a handler that comes between any two operations: it sees what
 * is held, no more, and leaves what it found; an NMI handler never waits for
 * what it interrupted.
 */
#include <klock/lock_order.hpp>

#include <model/model.hpp>

#include <catch.hpp>

using namespace klock;
using model::check;
using model::options;
using model::result;

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

	void leave(u32 number) { order.gone(order.leaving(&address[number])); }

	[[nodiscard]] bool learned(u32 from, u32 to)
	{
		return memory.learning().graph.seen_after(from).has(to);
	}

	void is_clean()
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

void passes(const result &r)
{
	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete > 20);
}

/* One CPU, its handler twice at most, wherever it can come. */
template <typename Body, typename Handler>
result interrupted(unsigned times, bool non_maskable, Body body,
		   Handler handler)
{
	return model::explore<noted_world>(
		{.sections = {1},
		 .interrupts = times,
		 .non_maskable = non_maskable},
		[body](noted_world &w, unsigned) { body(w); },
		[](noted_world &w) { w.is_clean(); },
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
			(void)w.wait(c);
			check(w.learned(a, c) == held, "an edge, or none");
			w.leave(c);
		}));
}

TEST_CASE("lock_order: an NMI handler tries, wherever it comes in a learning")
{
	passes(interrupted(
		1, true,
		[](noted_world &w) {
			(void)w.wait(a);
			w.leave(a);
			check(w.memory.learning().open.any.has(a),
			      "not learned");
		},
		[](noted_world &w) {
			w.order.taken(w.order.before_try(w.lock(unknown)));
			w.leave(unknown);
		}));
}
