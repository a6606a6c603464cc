/* SPDX-License-Identifier: MIT */
/*
 * irq_shared_lock: handlers read at every point of threads that read with
 * interrupts on and of writers, and an NMI's handler tries to, everywhere.
 */
#include "proof.hpp"

#include <klock/irq_guard.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/irq_try_guard.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/plain.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/shared_guard.hpp>

#include <catch.hpp>

#include <algorithm>

using klock::irq_shared_lock;
using klock::u8;
using model::options;
using model::result;

namespace {

using by_phases = klock::phase_fair_lock<u8>;
using in_order = klock::rw_ticket_lock<u8>;

template <typename L>
struct world {
	irq_shared_lock<L> lock;
	klock::plain<unsigned> a, b;
	/* On the host. */
	unsigned written = 0, handled = 0, not_handled = 0, gave_up = 0;

	world()
	{
		model::name(lock, "lock");
		model::name(a, "a");
		model::name(b, "b");
	}

	void look()
	{
		model::check(a.get() == b.get(), "a reader sees a whole write");
	}
	void change()
	{
		a.set(a.get() + 1);
		b.set(b.get() + 1);
		written++;
	}
	/* Writes, tries to write, or reads. */
	void act(char what)
	{
		if (what == 'w') {
			klock::irq_guard held(lock);
			change();
		} else if (what == 'W') {
			if (klock::irq_try_guard held{lock})
				change();
			else
				gave_up++;
		} else {
			klock::shared_guard held(lock);
			look();
		}
	}
	void whole()
	{
		model::check(a.get() == written && b.get() == written,
			     "every write counted");
		model::check(!lock.is_locked(), "all have left");
	}
};

/* What an interrupt does. */
template <typename L>
void reads(world<L> &w, unsigned)
{
	klock::handler_shared_guard held(w.lock);

	w.look();
	w.handled++;
}
template <typename L>
void tries(world<L> &w, unsigned)
{
	if (klock::handler_shared_try_guard held{w.lock}) {
		w.look();
		w.handled++;
	} else {
		w.not_handled++;
	}
}

/* The most handlers that got in, in one execution. */
template <typename L, typename Handler>
result interrupted(const std::string &roles, options how, Handler handler,
		   unsigned &most)
{
	how.interrupts = 1;
	return model::explore<world<L>>(
		how, [roles](world<L> &w, unsigned cpu) { w.act(roles[cpu]); },
		[&most](world<L> &w) {
			most = std::max(most, w.handled);
			w.whole();
		},
		handler);
}

struct size {
	const char *roles;
	std::vector<unsigned> sections;
};

template <typename L, typename Handler>
void are_right(const std::vector<size> &sizes, bool non_maskable,
	       Handler handler)
{
	for (const auto &[roles, sections] : sizes) {
		unsigned most = 0;
		const result r = interrupted<L>(
			roles,
			{.sections = sections, .non_maskable = non_maskable},
			handler, most);

		INFO(roles << "\n" << r.message << "\n" << r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		CHECK(most == sections.size());
	}
}

constexpr auto clients = [](const options &how, auto enough) {
	options o = how;
	unsigned most = 0;

	o.sections = {1, 1};
	return enough(interrupted<by_phases>("wr", o, reads<by_phases>, most));
};

/* Two that read as handlers do, and a writer. */
struct queue {
	irq_shared_lock<by_phases> lock;
	klock::atomic<unsigned> inside, passed;
};

/* The holder that finds another gone ends the lock. */
struct mortal {
	/* Its life is not the world's. */
	union {
		irq_shared_lock<by_phases> lock;
	};
	klock::atomic<unsigned> was_here;
	unsigned ends = 0; /* on the host */

	mortal() : lock() { model::name(lock, "lock"); }
	~mortal() {}

	template <typename Guard>
	void visit()
	{
		Guard held(lock);
		was_here.store_relaxed(1);
	}
	template <typename Guard>
	void end_if_visited()
	{
		using type = irq_shared_lock<by_phases>;
		Guard held(lock);

		if (was_here.load_relaxed() == 0)
			return;
		held.unlock();
		lock.~type();
		ends++;
	}
};

template <typename First, typename Second>
void second_may_end_it()
{
	unsigned most = 0;
	const result r = model::explore<mortal>(
		{.sections = {1, 1}},
		[](mortal &m, unsigned cpu) {
			if (cpu == 0)
				m.visit<First>();
			else
				m.end_if_visited<Second>();
		},
		[&most](mortal &m) { most = std::max(most, m.ends); });

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(most == 1);
}

} // namespace

TEST_CASE("irq_shared_lock: a handler reads over whatever it interrupts")
{
	const std::vector<size> sizes = {{"wr", {1, 1}},
					 {"ww", {1, 1}},
					 {"rr", {1, 1}},
					 {"wr", {1, 2}},
					 {"wr", {2, 1}}};

	are_right<by_phases>(sizes, false, reads<by_phases>);
	are_right<in_order>(sizes, false, reads<in_order>);
}

TEST_CASE("irq_shared_lock: an NMI's handler tries, over a writer as well")
{
	const std::vector<size> sizes = {{"wr", {1, 1}}, {"ww", {1, 1}}};

	are_right<by_phases>(sizes, true, tries<by_phases>);
	are_right<in_order>(sizes, true, tries<in_order>);
}

/* Where the gate is not its own, what it took of L is given back. */
TEST_CASE("irq_shared_lock: a writer that tries writes, or leaves no trace")
{
	const std::vector<size> sizes = {
		{"Wr", {1, 1}}, {"WW", {1, 1}}, {"Ww", {1, 1}}};

	are_right<by_phases>(sizes, false, reads<by_phases>);
	are_right<in_order>(sizes, false, reads<in_order>);
}

/* Of handlers that try, none stands in another's way; they do in a writer's. */
TEST_CASE("irq_shared_lock: a try fails only where it must")
{
	using type = world<by_phases>;
	unsigned wrote = 0, gave_up = 0;
	const auto with = [](const char *roles, auto at_end) {
		const std::string all = roles;
		const result r = model::explore<type>(
			{.sections = {1, 1},
			 .interrupts = 1,
			 .non_maskable = true},
			[all](type &w, unsigned cpu) { w.act(all[cpu]); },
			at_end, tries<by_phases>);

		INFO(roles << "\n" << r.message << "\n" << r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
	};

	with("rr", [](type &w) { model::check(w.not_handled == 0); });
	with("Wr", [&](type &w) {
		wrote += w.written;
		gave_up += w.gave_up;
	});
	CHECK(wrote > 0);
	CHECK(gave_up > 0);
}

TEST_CASE("irq_shared_lock: orders needed")
{
	proof::each_order_is_needed(clients, "irq_shared_lock.hpp", 4);
}

/*
 * CPU 2 gets in beside CPU 1, who does not leave before: also where CPU 0 waits
 * for CPU 1 meanwhile.
 */
TEST_CASE("irq_shared_lock: handlers come first")
{
	const result r = model::explore<queue>(
		{.sections = {1, 1, 1}}, [](queue &q, unsigned cpu) {
			if (cpu == 0) {
				klock::irq_guard held(q.lock);
				return;
			}
			if (cpu == 2)
				q.inside.await_eq_relaxed(1);
			klock::handler_shared_guard held(q.lock);
			if (cpu == 2) {
				q.passed.store_relaxed(1);
				return;
			}
			q.inside.store_relaxed(1);
			q.passed.await_eq_relaxed(1);
		});

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete >= 2);
}

TEST_CASE("irq_shared_lock: lifetime: the next holder may free it")
{
	using type = irq_shared_lock<by_phases>;
	using write = klock::irq_guard<type>;
	using read = klock::shared_guard<type>;
	using handle = klock::handler_shared_guard<type>;

	/* But no handler: it may be in before a writer has left L. */
	second_may_end_it<handle, write>();
	second_may_end_it<read, write>();
	second_may_end_it<write, write>();
	second_may_end_it<write, read>();
}
