/* SPDX-License-Identifier: MIT */
/*
 * storm - any lock of the list, used as a kernel uses it, on a bad day
 *
 * Every CPU takes the lock by a guard, in critical sections of random length;
 * under it another, nested; tries it many times in a row; halts or stays long
 * inside; goes away for a while and comes back; sends IPIs and NMIs to the
 * others, into holders and waiters. NMI handlers try_lock. Two ways:
 *
 *	handlers_lock	timer and IPI handlers take the lock, and therefore
 *			everybody by irq_guard
 *	else		they do not: threads keep interrupts on, and a holder
 *			can HLT until the next one
 */
#pragma once

#include "faults.hpp"
#include "seat.hpp"
#include "storm_plan.hpp"

#include <boot/kernel.hpp>
#include <klock/irq_guard.hpp>
#include <klock/selftest/torture.hpp>

namespace lab {

template <typename Subject, unsigned Cpus>
struct storm {
	using lock_type = typename Subject::lock;
	using doing = klock::selftest::doing;
	using xorshift = klock::selftest::xorshift;

	void prepare(const storm_plan &p)
	{
		todo = p;
		done.store_relaxed(0);
		happened.store_relaxed(0);
		last = ~0u;
		everyone.reset();
		outer.data.reset();
		inner.data.reset();
		for (unsigned cpu = 0; cpu < todo.cpus; cpu++)
			cpus[cpu].prepare(cpu, todo);
	}

	void run(unsigned cpu)
	{
		everyone.meet(todo.cpus);
		while (!is_over())
			live(cpu);
		everyone.meet(todo.cpus);
		if (cpu == 0)
			offer_free_lock(cpus[cpu]);
	}

	/* In a timer or IPI handler. */
	void interrupt(unsigned cpu)
	{
		/* Once it is over, threads must get through to the end. */
		if (!todo.handlers_lock || todo.without & part_handler ||
		    is_over())
			return;
		own &mine = cpus[cpu];
		const saying here(mine, klock::selftest::doing_wait);

		mine.outer.template hold<klock::irq_guard>(outer.lock, [&] {
			here.now(klock::selftest::doing_section);
			mine.note(outer.data.visit(0));
		});
		mine.by_handlers++;
		note_part(part_handler);
	}

	/* In an NMI handler: never waits. */
	void nmi(unsigned cpu)
	{
		if constexpr (klock::try_lockable<lock_type>) {
			own &mine = cpus[cpu];

			if (todo.without & part_nmi ||
			    !mine.visitor.try_lock(outer.lock))
				return;
			const saying here(mine, klock::selftest::doing_section);
			if (!outer.data.visit(0))
				mine.nmi_overlaps++;
			mine.by_nmis++;
			note_part(part_nmi);
			mine.visitor.unlock(outer.lock);
		}
	}

	[[nodiscard]] u32 progress() const
	{
		u32 sum = 0;

		for (unsigned cpu = 0; cpu < todo.cpus; cpu++)
			sum += cpus[cpu].steps.load_relaxed();
		return sum;
	}

	[[nodiscard]] doing what(unsigned cpu) const
	{
		return static_cast<doing>(cpus[cpu].now.load_relaxed());
	}

	[[nodiscard]] const lock_type &watched() const { return outer.lock; }

	[[nodiscard]] storm_result outcome() const
	{
		storm_result r;

		for (unsigned cpu = 0; cpu < todo.cpus; cpu++) {
			const own &of = cpus[cpu];
			r.sections += of.sections;
			r.by_handlers += of.by_handlers;
			r.by_nmis += of.by_nmis;
			r.refused += of.refused;
			r.nested += of.nested;
			r.halts += of.halts;
			r.leaves += of.leaves;
			r.overlaps += of.overlaps + of.nmi_overlaps;
		}
		r.sections += r.by_handlers + r.by_nmis;
		r.lost = outer.data.lost(r.sections);
		r.lost += inner.data.lost(r.nested);
		r.missing = missing();
		r.gave_up = klock::selftest::give_up;
		return r;
	}

      private:
	/* One CPU's. What its NMI handler counts is the handler's alone. */
	struct alignas(klock::cache_line) own {
		seat<lock_type> outer;
		seat<lock_type> inner;
		klock::selftest::contender<lock_type> thread_tries;
		klock::selftest::contender<lock_type> visitor;
		klock::atomic<u32> steps;
		klock::atomic<klock::u8> now;
		xorshift dice{1};
		u32 sections = 0;
		u32 by_handlers = 0;
		u32 by_nmis = 0;
		u32 refused = 0;
		u32 nested = 0;
		u32 halts = 0;
		u32 leaves = 0;
		u32 overlaps = 0;
		u32 nmi_overlaps = 0;

		void prepare(unsigned cpu, const storm_plan &p)
		{
			outer.renumber(cpu);
			inner.renumber(cpu);
			thread_tries.renumber(cpu);
			visitor.renumber(p.cpus + cpu);
			steps.store_relaxed(0);
			now.store_relaxed(klock::selftest::doing_nothing);
			dice = xorshift(p.seed * 17 + cpu);
			sections = by_handlers = by_nmis = refused = 0;
			nested = halts = leaves = overlaps = nmi_overlaps = 0;
		}

		void note(bool was_alone) { overlaps += !was_alone; }
	};

	/* What the CPU is about, for the watchdog; then as it was. */
	struct saying {
		saying(own &of, doing what)
		    : cpu(of), before(of.now.load_relaxed())
		{
			now(what);
		}
		~saying() { cpu.now.store_relaxed(before); }
		void now(doing what) const { cpu.now.store_relaxed(what); }

	      private:
		own &cpu;
		klock::u8 before;
	};

	/* A lock and what it protects. */
	struct guarded {
		alignas(klock::cache_line) lock_type lock;
		alignas(klock::cache_line) klock::selftest::invariant data;
	};

	/* The parts that can happen with this plan and this lock. */
	[[nodiscard]] u32 wanted() const
	{
		u32 parts = part_leave | part_nest;

		parts |= todo.handlers_lock ? part_handler : part_halt;
		if (klock::try_lockable<lock_type> && boot::has_nmi())
			parts |= part_nmi;
		if (todo.cpus > 1)
			parts |= part_handoff;
		return parts;
	}

	[[nodiscard]] u32 missing() const
	{
		return wanted() & ~happened.load_relaxed();
	}

	void note_part(u32 part)
	{
		if (!(happened.load_relaxed() & part))
			happened.fetch_or_relaxed(part);
	}

	/*
	 * When all sections are made; while a part is still missing, later, but
	 * not without end: chance is given some time, a fault is not.
	 */
	[[nodiscard]] bool is_over() const
	{
		constexpr u32 most_more = 1000000;
		const u32 now = done.load_relaxed();
		const u32 more = todo.sections < most_more / 16
					 ? todo.sections * 16
					 : most_more;

		if (klock::selftest::give_up)
			return true;
		if (now < todo.sections)
			return false;
		return now - todo.sections >= more ||
		       !(missing() & ~u32{part_nmi});
	}

	/*
	 * Where very many wait in line, no NMI handler finds the lock free. Now
	 * all have left, and but for a timer's handler nobody wants it.
	 */
	void offer_free_lock(own &mine)
	{
		for (u32 i = 0; i < 64 * todo.cpus && missing() & part_nmi;
		     i++) {
			send_random_nmi(mine.dice.next());
			klock::relax_for(64);
		}
	}

	/* One thing of those that a CPU does. */
	void live(unsigned cpu)
	{
		own &mine = cpus[cpu];
		const u32 choice = mine.dice.below(64);

		if (choice == 0)
			leave_and_come_back(mine);
		else if (choice < 4)
			send_random_ipi(mine.dice.next());
		else if (choice < 6)
			send_random_nmi(mine.dice.next());
		else if (choice < 10)
			try_many_times(mine);
		else
			hold_once(mine, choice);
		mine.steps.store_relaxed(mine.steps.load_relaxed() + 1);
		klock::relax_for(mine.dice.below(16));
	}

	void hold_once(own &mine, u32 choice)
	{
		const saying here(mine, klock::selftest::doing_wait);

		if (todo.handlers_lock)
			mine.outer.template hold<klock::irq_guard>(
				outer.lock, [&] { inside(mine, choice); });
		else
			mine.outer.template hold<klock::guard>(
				outer.lock, [&] { inside(mine, choice); });
	}

	void inside(own &mine, u32 choice)
	{
		mine.now.store_relaxed(klock::selftest::doing_section);
		if (last != ~0u && last != boot::this_cpu())
			note_part(part_handoff);
		last = boot::this_cpu();
		if (!(todo.without & part_update))
			mine.note(outer.data.visit(mine.dice.below(4)));
		done.store_relaxed(done.load_relaxed() + 1);
		mine.sections++;
		if (choice < 18)
			nest(mine);
		else if (choice == 18)
			stand_still(mine);
		else if (choice == 19)
			send_random_nmi(mine.dice.next());
	}

	void nest(own &mine)
	{
		mine.inner.template hold<klock::irq_guard>(
			inner.lock, [&] { mine.note(inner.data.visit(1)); });
		mine.nested++;
		note_part(part_nest);
	}

	/* A holder that does not get on: in HLT, where something wakes it. */
	void stand_still(own &mine)
	{
		if (todo.handlers_lock || !boot::has_ipis()) {
			klock::relax_for(mine.dice.below(256));
			return;
		}
		if (todo.without & part_halt)
			return;
		mine.halts++;
		note_part(part_halt);
		boot::disable_interrupts();
		boot::wait_for_interrupt();
	}

	/* The timer brings it back. */
	void leave_and_come_back(own &mine)
	{
		if (!boot::has_ipis() || todo.without & part_leave)
			return;
		mine.leaves++;
		note_part(part_leave);
		for (u32 ticks = 1 + mine.dice.below(3); ticks; ticks--) {
			boot::disable_interrupts();
			boot::wait_for_interrupt();
		}
	}

	void try_many_times(own &mine)
	{
		if constexpr (klock::try_lockable<lock_type>)
			for (u32 tries = mine.dice.below(64); tries; tries--)
				try_once(mine);
	}

	void try_once(own &mine)
	{
		const klock::irq_state before = klock::irq_save();

		if (mine.thread_tries.try_lock(outer.lock)) {
			const saying here(mine, klock::selftest::doing_section);
			mine.note(outer.data.visit(0));
			mine.sections++;
			mine.thread_tries.unlock(outer.lock);
		} else {
			mine.refused++;
		}
		klock::irq_restore(before);
	}

	storm_plan todo{};
	guarded outer;
	guarded inner;
	alignas(klock::cache_line) klock::selftest::barrier everyone;
	alignas(klock::cache_line) klock::atomic<u32> done;
	unsigned last = ~0u; /* thread inside: the holder's */
	alignas(klock::cache_line) klock::atomic<u32> happened; /* parts */
	own cpus[Cpus];
};

} // namespace lab
