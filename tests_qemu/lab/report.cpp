/* SPDX-License-Identifier: MIT */
/*
 * report - rows and the verdict: a table, or KTAP
 */
#include "report.hpp"

#include "totals.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

using klock::selftest::fault;
using klock::selftest::service;

unsigned row;
unsigned failed;
const char *first_lock;
const char *first_reason;

} // namespace

void begin_report(const options &o, unsigned rows)
{
	row = failed = 0;
	if (o.output == mode::tap)
		boot::print("KTAP version 1\n1..%u\n", rows);
}

void say_running(const options &o, const char *lock)
{
	if (o.output == mode::table)
		boot::print("%-28s ...\r", lock);
}

void note_row(const char *lock, const char *wrong)
{
	row++;
	if (!wrong)
		return;
	all_totals.errors++;
	if (failed++ == 0) {
		first_lock = lock;
		first_reason = wrong;
	}
}

void print_verdict(const options &o, const char *lock, const char *wrong)
{
	if (o.output == mode::tap)
		boot::print("%s %u %s\n", wrong ? "not ok" : "ok", row, lock);
}

void print_torture_head(const options &o)
{
	if (o.output == mode::tap)
		return;
	boot::print("\n%-23s %5s %3s %7s %7s %4s %4s %5s %5s %8s\n", "lock",
		    "bytes", "CPU", "acquis-", "handed", "excl", "FIFO", "Jain",
		    "cyc./", "longest");
	boot::print("%-23s %5s %3s %7s %7s %4s %4s %5s %5s %8s\n", "", "", "s",
		    "itions", "over", "errs", "errs", "index", "acq.",
		    "wait, c.");
}

namespace {

unsigned text_length(const char *text)
{
	unsigned length = 0;

	while (text[length])
		length++;
	return length;
}

void print_torture_comment(const result &r, const char *wrong)
{
	boot::print("# %s: cpus %u, acquisitions %u, hand-overs %u, overlaps "
		    "%u, lost %u, overtaken %u, refused %u, jain %u, run "
		    "%u%s%s\n",
		    r.lock, r.cpus, r.acquisitions, r.handovers,
		    r.exclusion_errors, r.lost_updates, r.fifo_violations,
		    r.try_failures, r.jain_permille, r.longest_run,
		    wrong ? ": " : "", wrong ? wrong : "");
}

} // namespace

void print_torture(const options &o, const result &r)
{
	const char *wrong = fault(r);

	note_row(r.lock, wrong);
	if (o.output == mode::tap) {
		print_torture_comment(r, wrong);
		print_verdict(o, r.lock, wrong);
		return;
	}
	/* 80 columns are what a VGA screen has: a long name gets its own line.
	 */
	const bool is_long = text_length(r.lock) > 23;

	boot::print("%-23s%s", r.lock, is_long ? "\n" : "");
	boot::print("%-*s %5u %3u %7u %7u %4u ", is_long ? 23 : 0, "", r.bytes,
		    r.cpus, r.acquisitions, r.handovers,
		    r.exclusion_errors + r.lost_updates);
	if (r.promised == service::fifo)
		boot::print("%4u", r.fifo_violations);
	else
		boot::print("%4s", "-");
	boot::print(" %u.%03u %5u %8u%s%s\n", r.jain_permille / 1000,
		    r.jain_permille % 1000, r.cycles, r.longest_wait,
		    wrong ? "  " : "", wrong ? wrong : "");
}

void print_busted_row(const options &o, const char *lock, const char *mistake,
		      const char *found)
{
	const char *wrong = found ? nullptr : "is wrong and was not found out";

	note_row(lock, wrong);
	if (o.output == mode::tap) {
		boot::print("# %s: %s: %s\n", lock, mistake,
			    found ? found : "not found");
		print_verdict(o, lock, wrong);
		return;
	}
	boot::print("%-28s %s: %s\n", lock, mistake,
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
	print_totals();
	if (failed) {
		boot::print("FAIL: %u of %u: %s: %s\n", failed, row, first_lock,
			    first_reason);
		return 1;
	}
	boot::print("PASS\n");
	return 0;
}

} // namespace lab
