/* SPDX-License-Identifier: MIT */
/*
 * The lab: experiments with, and tests of, the locks of klock on the kernel of
 * boot/. What is run, the kernel command line says: options.hpp.
 */
#include "lock_tests.hpp"
#include "faults.hpp"
#include "options.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <boot/machine.hpp>
#include <boot/panic.hpp>
#include <klock/lock_order.hpp>
#include <klock/os.hpp>
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

/*
 * All of the lab's checked locks are watched. More CPUs than these take none,
 * but in run=deadlock.
 */
klock::lock_order *klock_os_lock_order(void)
{
	return klock::lock_order_of<64, 16>();
}

namespace lab {

int end_by_failure(const options &)
{
	boot::print("FAIL: a failure that was asked for\n");
	return 1;
}

/*
 * A fault in the console's own section: the text's address has upper bits that
 * no machine of 64 bits has memory for, nor x86-64 a use.
 */
int end_by_print_fault(const options &o)
{
	klock::usize nowhere = 0x1234;

	nowhere |= klock::usize{1} << (8 * sizeof(nowhere) - 2);
	boot::print("%s\n", reinterpret_cast<const char *>(nowhere));
	return end_by_failure(o);
}

/* A report that does not end, and a second one by the CPU that began it. */
int end_by_report_fault(const options &)
{
	boot::begin_report();
	__builtin_trap();
}

int end_by_panic(const options &o)
{
	klock_os_panic("a_lock", &o, klock_os_cpu_id(),
		       "a panic that was asked for");
	return 1;
}

int end_by_fault(const options &) { __builtin_trap(); }

int hang(const options &) { boot::halt(); }

int end_by_reset(const options &) { boot::machine_reset(); }

namespace {

using namespace klock::selftest;

void torture_one(const options &o, const lock_tests &lock, u32 cpus)
{
	say_running(o, lock.name());
	const result r = run_torture(lock, plan_for(o, lock.room_for(cpus)));

	add_sections(r.acquisitions, lock.torture.calls.capacity);
	print_torture(o, r);
}

} // namespace

int run_locks(const options &o)
{
	return report_locks(o, print_torture_head, torture_one);
}

namespace {

/* One run after another until a mistake shows, or not within the bound. */
const char *find_mistake(const lock_tests &lock, options o, stuck standstill,
			 unsigned most_runs)
{
	const char *found = nullptr;

	attempts tries(o, most_runs, standstill);
	plan p = plan_for(o, lock.room_for(o.cpus[0]));

	for (; tries.are_left() && !found; p.seed++) {
		p.relaxes_outside = tries.rest();
		const result r = run_torture(lock, p, standstill);

		found = fault(r);
		tries.note(r);
	}
	return found;
}

} // namespace

int run_busted(const options &o)
{
	return report_mutants(o, find_mistake, busted_runs);
}

} // namespace lab

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
	if (!lab::has_watchdog() && uses(*o.run, lab::wants_watchdog)) {
		boot::print("FAIL: nobody would notice\n");
		return 1;
	}
	if (!o.run->run)
		boot::panic("run=%s has no function", o.run->name);
	return o.run->run(o);
}
