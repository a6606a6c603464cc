/* SPDX-License-Identifier: MIT */
/*
 * storm - any lock of the list, used as a kernel uses it, on a bad day
 */
#include "storm.hpp"

#include "faults.hpp"

#include <boot/kernel.hpp>

namespace lab {

using klock::selftest::doing_nothing;
using klock::selftest::doing_section;
using klock::selftest::doing_wait;

/* Tells the watchdog what the CPU is about; the destructor restores it. */
struct storm::saying {
	saying(storm_cpu &of, doing what)
	    : cpu(of), before(of.now.load_relaxed())
	{
		now(what);
	}
	~saying() { cpu.now.store_relaxed(before); }
	void now(doing what) const { cpu.now.store_relaxed(what); }

      private:
	storm_cpu &cpu;
	klock::u8 before;
};

void storm_cpu::prepare(unsigned cpu, u32 seed)
{
	steps.store_relaxed(0);
	now.store_relaxed(doing_nothing);
	dice = klock::selftest::xorshift(seed * 17 + cpu);
	sections = by_handlers = by_nmis = refused = 0;
	nested = halts = leaves = overlaps = nmi_overlaps = 0;
}

void storm::prepare(const storm_plan &p)
{
	todo = p;
	done.store_relaxed(0);
	happened.store_relaxed(0);
	last = ~0u;
	everyone.reset();
	outer_data.reset();
	inner_data.reset();
	calls.renumber(*this, todo.cpus);
	for (unsigned cpu = 0; cpu < todo.cpus; cpu++)
		cpus[cpu].prepare(cpu, todo.seed);
}

void storm::run(unsigned cpu)
{
	everyone.meet(todo.cpus);
	while (!is_over())
		live(cpu);
	everyone.meet(todo.cpus);
	if (cpu == 0)
		offer_free_lock(cpus[cpu]);
}

void storm::interrupt(unsigned cpu)
{
	/* Once it is over, threads must get through to the end. */
	if (!todo.handlers_lock || todo.without & part_handler || is_over())
		return;
	const saying here(cpus[cpu], doing_wait);

	calls.hold(
		*this, cpu, true,
		[](storm &of, unsigned cpu, u32) {
			of.cpus[cpu].now.store_relaxed(doing_section);
			of.cpus[cpu].note(of.outer_data.visit(0));
		},
		0);
	cpus[cpu].by_handlers++;
	note_part(part_handler);
}

void storm::nmi(unsigned cpu)
{
	storm_cpu &mine = cpus[cpu];
	/* fault=nmi_enters only looks: no thread sees it, so it alone can. */
	const bool asks = !todo.nmi_enters;

	if (asks && (!calls.try_lock || todo.without & part_nmi ||
		     !calls.try_lock(*this, cpu, tried_by_nmi)))
		return;
	const saying here(mine, doing_section);
	mine.nmi_overlaps += !(asks ? outer_data.visit(0) : outer_data.look(0));
	if (!asks)
		return;
	mine.by_nmis++;
	note_part(part_nmi);
	calls.unlock(*this, cpu, tried_by_nmi);
}

u32 storm::progress() const
{
	u32 sum = 0;

	for (unsigned cpu = 0; cpu < todo.cpus; cpu++)
		sum += cpus[cpu].steps.load_relaxed();
	return sum;
}

storm::doing storm::what(unsigned cpu) const
{
	return static_cast<doing>(cpus[cpu].now.load_relaxed());
}

storm_result storm::outcome() const
{
	storm_result r;

	for (unsigned cpu = 0; cpu < todo.cpus; cpu++) {
		const storm_cpu &of = cpus[cpu];
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
	r.lost = outer_data.lost(r.sections);
	r.lost += inner_data.lost(r.nested);
	r.missing = missing();
	r.gave_up = klock::selftest::give_up;
	return r;
}

/* The parts that can happen with this plan and this lock. */
u32 storm::wanted() const
{
	u32 parts = part_leave | part_nest;

	parts |= todo.handlers_lock ? part_handler : part_halt;
	if (calls.try_lock && boot::has_nmi())
		parts |= part_nmi;
	if (todo.cpus > 1)
		parts |= part_handoff;
	return parts;
}

u32 storm::missing() const { return wanted() & ~happened.load_relaxed(); }

void storm::note_part(u32 part)
{
	if (!(happened.load_relaxed() & part))
		happened.fetch_or_relaxed(part);
}

/*
 * When all sections are made; while a part is still missing, later, but
 * not without end: chance is given some time, a fault is not.
 */
bool storm::is_over() const
{
	constexpr u32 most_more = 1000000;
	const u32 now = done.load_relaxed();
	const u32 more =
		todo.sections < most_more / 16 ? todo.sections * 16 : most_more;

	if (klock::selftest::give_up)
		return true;
	if (now < todo.sections)
		return false;
	return now - todo.sections >= more || !(missing() & ~u32{part_nmi});
}

/*
 * If very many CPUs wait in line, no NMI handler finds the lock free. Now all
 * have left, and only a timer's handler wants it.
 */
void storm::offer_free_lock(storm_cpu &mine)
{
	for (u32 i = 0; i < 64 * todo.cpus && missing() & part_nmi; i++) {
		send_random_nmi(mine.dice.next());
		klock::relax_for(64);
	}
}

/* One thing of those that a CPU does. */
void storm::live(unsigned cpu)
{
	storm_cpu &mine = cpus[cpu];
	const u32 choice = mine.dice.below(64);

	if (choice == 0)
		leave_and_come_back(mine);
	else if (choice < 4)
		send_random_ipi(mine.dice.next());
	else if (choice < 6)
		send_random_nmi(mine.dice.next());
	else if (choice < 10)
		try_many_times(cpu);
	else
		hold_once(cpu, choice);
	mine.steps.store_relaxed(mine.steps.load_relaxed() + 1);
	klock::relax_for(mine.dice.below(16));
}

void storm::hold_once(unsigned cpu, u32 choice)
{
	if (cpu != 0 && todo.without & part_handoff)
		return;
	const saying here(cpus[cpu], doing_wait);

	calls.hold(
		*this, cpu, todo.handlers_lock,
		[](storm &of, unsigned cpu, u32 choice) {
			of.inside(cpu, choice);
		},
		choice);
}

void storm::inside(unsigned cpu, u32 choice)
{
	storm_cpu &mine = cpus[cpu];

	mine.now.store_relaxed(doing_section);
	if (last != ~0u && last != boot::this_cpu())
		note_part(part_handoff);
	last = boot::this_cpu();
	if (!(todo.without & part_update))
		mine.note(outer_data.visit(mine.dice.below(4)));
	done.store_relaxed(done.load_relaxed() + 1);
	mine.sections++;
	if (choice < 18)
		nest(cpu);
	else if (choice == 18)
		stand_still(mine);
	else if (choice == 19)
		send_random_nmi(mine.dice.next());
}

void storm::nest(unsigned cpu)
{
	if (todo.without & part_nest)
		return;
	calls.hold_inner(*this, cpu, [](storm &of, unsigned cpu, u32) {
		if (!of.todo.loses_inner)
			of.cpus[cpu].note(of.inner_data.visit(1));
	});
	cpus[cpu].nested++;
	note_part(part_nest);
}

/* A holder that does not get on: in HLT, where something wakes it. */
void storm::stand_still(storm_cpu &mine)
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
void storm::leave_and_come_back(storm_cpu &mine)
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

void storm::try_many_times(unsigned cpu)
{
	if (!calls.try_lock)
		return;
	for (u32 tries = cpus[cpu].dice.below(64); tries; tries--)
		try_once(cpu);
}

void storm::try_once(unsigned cpu)
{
	storm_cpu &mine = cpus[cpu];
	const klock::irq_state before = klock::irq_save();

	if (calls.try_lock(*this, cpu, tried_by_thread)) {
		const saying here(mine, doing_section);
		mine.note(outer_data.visit(0));
		mine.sections++;
		calls.unlock(*this, cpu, tried_by_thread);
	} else {
		mine.refused++;
	}
	klock::irq_restore(before);
}

} // namespace lab
