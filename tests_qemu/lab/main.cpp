/* SPDX-License-Identifier: MIT */
/*
 * The lab: experiments with, and tests of, the locks of klock on the kernel of
 * boot/. What is run, the kernel command line says: options.hpp.
 */
#include "benches.hpp"
#include "faults.hpp"
#include "jobs.hpp"
#include "options.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <boot/machine.hpp>
#include <klock/lock_order.hpp>
#include <klock/os.hpp>
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

/*
 * All of the lab's checked locks are watched. More CPUs than these take none,
 * but in run=misuse.
 */
klock::lock_order *klock_os_lock_order(void)
{
	return klock::lock_order_of<64, 16>();
}

namespace lab {

namespace {

/*
 * A fault in the console's own section: the text's address has upper bits that
 * no machine of 64 bits has memory for, nor x86-64 a use.
 */
void fault_in_print()
{
	klock::usize nowhere = 0x1234;

	nowhere |= klock::usize{1} << (8 * sizeof(nowhere) - 2);
	boot::print("%s\n", reinterpret_cast<const char *>(nowhere));
}

} // namespace

int end_badly(job how)
{
	switch (how) {
	case job::panic:
		klock_os_panic("a_lock", &how, klock_os_cpu_id(),
			       "a panic that was asked for");
	case job::fault:
		__builtin_trap();
	case job::print_fault:
		fault_in_print();
		break;
	case job::hang:
		boot::halt();
	case job::reset:
		boot::machine_reset();
	default:
		break;
	}
	boot::print("FAIL: a failure that was asked for\n");
	return 1;
}

} // namespace lab

namespace {

using namespace klock::selftest;

void torture_one(const lab::options &o, const lab::bench &b, lab::u32 cpus)
{
	lab::say_running(o, b.name());
	const result r =
		lab::run_torture(b, lab::plan_for(o, b.room_for(cpus)));

	lab::add_sections(r.acquisitions, b.torture.calls.capacity);
	lab::print_torture(o, r);
}

int torture_locks(const lab::options &o)
{
	lab::begin_report(o, o.counts * lab::locks_asked_for(o));
	lab::print_torture_head(o);
	for (lab::u32 i = 0; i < o.counts; i++)
		for (const lab::bench &b : lab::all_benches())
			if (lab::asks_for(o, b.name()))
				torture_one(o, b, o.cpus[i]);
	return lab::end_report();
}

/* One run after another until a mistake shows, or not within the bound. */
const char *find_mistake(const lab::options &o, const lab::bench &b,
			 lab::stuck standstill, unsigned most_runs)
{
	const char *found = nullptr;

	lab::attempts tries(o, most_runs, standstill);
	plan p = lab::plan_for(o, b.room_for(o.cpus[0]));

	for (; tries.are_left() && !found; p.seed++) {
		p.relaxes_outside = tries.rest();
		const result r = lab::run_torture(b, p, standstill);

		found = fault(r);
		tries.note(r);
	}
	return found;
}

int find_busted(const lab::options &o)
{
	const unsigned here = o.parallel ? in_parallel : in_turns;

	lab::begin_report(o, 1 + lab::busted_benches().size);
	lab::run_control(o, [](const lab::bench &b,
			       const lab::options &shorter) {
		return find_mistake(shorter, b, lab::stuck::is_control, 1);
	});
	for (const lab::bench &b : lab::busted_benches())
		if (!(b.found_in & here))
			lab::print_skipped(o, b.name(),
					   "cannot show on this machine");
		else
			lab::print_busted_row(o, b.name(), b.mistake,
					      find_mistake(o, lab::to_find(b),
							   lab::stuck::is_meant,
							   lab::busted_runs));
	return lab::end_report();
}

} // namespace

int payload_main()
{
	lab::options o;

	if (!lab::read_options(o))
		return 1;
	if (o.help)
		return lab::print_help();
	boot::let_pauses_yield(!o.parallel);
	lab::take_nmis();
	lab::set_patience(o);
	if (!lab::has_watchdog() && o.run == lab::job::stuck) {
		boot::print("FAIL: nobody would notice\n");
		return 1;
	}
	switch (o.run) {
	case lab::job::measure:
		return lab::run_measure(o);
	case lab::job::locks:
		return torture_locks(o);
	case lab::job::storm:
		return lab::run_storm(o);
	case lab::job::sequences:
		return lab::run_sequences(o);
	case lab::job::deadline:
		return lab::run_deadline(o);
	case lab::job::sleep:
		return lab::run_sleep(o);
	case lab::job::busted:
		return find_busted(o);
	case lab::job::busted_storm:
		return lab::run_busted_storm(o);
	case lab::job::shared:
		return lab::run_shared(o);
	case lab::job::shared_storm:
		return lab::run_shared_storm(o);
	case lab::job::busted_shared:
		return lab::run_busted_shared(o);
	case lab::job::backoff:
		return lab::run_backoff(o);
	case lab::job::topology:
		return lab::run_topology(o);
	case lab::job::pairs:
		return lab::run_pairs(o);
	case lab::job::instructions:
		return lab::run_instructions(o);
	case lab::job::misuse:
		return lab::run_misuse(o);
	case lab::job::deadlock:
		return lab::run_deadlock(o);
	case lab::job::counts:
		return lab::run_counts(o);
	case lab::job::stuck:
		return lab::run_stuck(o);
	default:
		return lab::end_badly(o.run);
	}
}
