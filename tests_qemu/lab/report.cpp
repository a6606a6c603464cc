/* SPDX-License-Identifier: MIT */
/*
 * report - what the lab prints: a table, or KTAP
 */
#include "report.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

using klock::selftest::fault;
using klock::selftest::service;

unsigned row;
unsigned failed;
const char *first_lock;
const char *first_reason;

void note_failure(const char *lock, const char *reason)
{
	if (failed++ == 0) {
		first_lock = lock;
		first_reason = reason;
	}
}

void print_tap(bool ok, const char *lock)
{
	boot::print("%s %u %s\n", ok ? "ok" : "not ok", row, lock);
}

} // namespace

void begin_report(const options &o, unsigned rows)
{
	row = failed = 0;
	if (o.output == mode::tap) {
		boot::print("KTAP version 1\n1..%u\n", rows);
		return;
	}
	boot::print("\n%-28s %5s %5s %8s %8s %6s %6s %6s %9s %11s\n", "lock",
		    "bytes", "CPUs", "acquired", "handed", "excl.", "FIFO",
		    "Jain", "cycles an", "longest");
	boot::print("%-28s %5s %5s %8s %8s %6s %6s %6s %9s %11s\n", "", "", "",
		    "", "over", "errors", "errors", "index", "acquis.",
		    "wait, cyc.");
}

void say_running(const options &o, const char *lock)
{
	if (o.output == mode::table)
		boot::print("%-28s ...\r", lock);
}

void print_row(const options &o, const result &r)
{
	const char *wrong = fault(r);

	row++;
	if (wrong)
		note_failure(r.lock, wrong);
	if (o.output == mode::tap) {
		boot::print("# %s: cpus %u, acquisitions %u, hand-overs %u, "
			    "overlaps %u, lost %u, overtaken %u, refused %u, "
			    "jain %u, run %u%s%s\n",
			    r.lock, r.cpus, r.acquisitions, r.handovers,
			    r.exclusion_errors, r.lost_updates,
			    r.fifo_violations, r.try_failures, r.jain_permille,
			    r.longest_run, wrong ? ": " : "",
			    wrong ? wrong : "");
		print_tap(!wrong, r.lock);
		return;
	}
	boot::print("%-28s %5u %5u %8u %8u %6u ", r.lock, r.bytes, r.cpus,
		    r.acquisitions, r.handovers,
		    r.exclusion_errors + r.lost_updates);
	if (r.promised == service::fifo)
		boot::print("%6u", r.fifo_violations);
	else
		boot::print("%6s", "-");
	boot::print("  %u.%03u %9u %11u%s%s\n", r.jain_permille / 1000,
		    r.jain_permille % 1000, r.cycles, r.longest_wait,
		    wrong ? "  " : "", wrong ? wrong : "");
}

void print_busted_row(const options &o, const char *lock, const char *mistake,
		      const char *found)
{
	row++;
	if (!found)
		note_failure(lock, "is wrong and was not found out");
	if (o.output == mode::tap) {
		boot::print("# %s: %s: %s\n", lock, mistake,
			    found ? found : "not found");
		print_tap(found, lock);
		return;
	}
	boot::print("%-28s %-40s %s\n", lock, mistake,
		    found ? found : "NOT FOUND");
}

void print_skipped(const options &o, const char *lock, const char *why)
{
	row++;
	if (o.output == mode::tap)
		boot::print("ok %u %s # SKIP %s\n", row, lock, why);
	else
		boot::print("%-28s skipped: %s\n", lock, why);
}

int end_report()
{
	if (failed) {
		boot::print("FAIL: %u of %u: %s: %s\n", failed, row, first_lock,
			    first_reason);
		return 1;
	}
	boot::print("PASS\n");
	return 0;
}

} // namespace lab
