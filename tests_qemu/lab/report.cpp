/* SPDX-License-Identifier: MIT */
/*
 * report - rows and the verdict: a table, or KTAP
 */
#include "report.hpp"

#include "runner.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

using klock::selftest::fault;
using klock::selftest::service;

unsigned planned;
unsigned row;
unsigned skipped;
unsigned failed;
char first_lock[64]; /* a copy: names of pairs are their caller's */
const char *first_reason;
mode output;
bool times_are_printed;

unsigned text_length(const char *text)
{
	unsigned length = 0;

	while (text[length])
		length++;
	return length;
}

/*
 * The most acquisitions of one row. A storm goes on for 16 times as many:
 * storm.hpp.
 */
u64 most_acquisitions(const options &o)
{
	const u64 sections = o.acquisitions.unchecked;
	const u64 torture =
		u64{o.convoys.unchecked} * boot::cpu_count() + sections;
	const u64 storm = sections * 17;

	if (!o.run->tortures && !o.run->storms)
		return sections;
	return o.run->tortures * torture + o.run->storms * storm;
}

/* Null, or what keeps the whole run from having passed. */
const char *fault_of_run()
{
	if (row != planned)
		return "not all rows that were asked for were printed";
	if (row == skipped)
		return "nothing was run";
	if (times_are_printed && !boot::clock_is_known())
		return "the clock is not known, the times are wrong";
	return nullptr;
}

} // namespace

void begin_report(const options &o, unsigned rows)
{
	planned = rows + asks_for(seeded::lost_row);
	row = skipped = failed = 0;
	output = o.output;
	times_are_printed = uses(*o.run, prints_times);
	print_plan(o, planned);
	if (o.output == mode::tap)
		boot::print("KTAP version 1\n1..%u\n", planned);
}

void print_plan(const options &o, unsigned rows)
{
	boot::print("# plan: rows=%u acquisitions=%u seconds=%u patience=%u\n",
		    rows, most_acquisitions(o), o.seconds.unchecked,
		    o.patience.unchecked);
}

unsigned name_width(const options &o)
{
	unsigned longest = 20;

	klock::selftest::all_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			const unsigned length = text_length(Subject::name);

			/* Runs without lock= print every name. */
			const bool printed = !uses(*o.run, word_lock) ||
					     asks_for(o, Subject::name);

			if (printed && length > longest)
				longest = length;
		});
	return longest;
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
		boot::format_to(first_lock, sizeof(first_lock), "%s", lock);
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
	if (o.output != mode::table)
		return;
	const unsigned width = name_width(o);

	boot::print("\n%-*s %5s %4s %12s %10s %6s %6s\n", width, "", "", "", "",
		    "owner", "", "out of");
	boot::print("%-*s %5s %4s %12s %10s %6s %6s\n", width, "lock", "bytes",
		    "CPUs", "acquisitions", "changes", "errors", "order");
}

namespace {

void print_torture_comment(const result &r, const char *wrong)
{
	boot::print("# %s: cpus %u, acquisitions %u, handoffs %u, overlaps "
		    "%u, lost %u, bypassed %u, refused %u, jain %u, run "
		    "%u%s%s\n",
		    r.lock, r.cpus, r.acquisitions, r.handoffs,
		    r.exclusion_errors, r.lost_updates, r.fifo_violations,
		    r.try_failures, r.jain_permille, r.max_consecutive,
		    wrong ? ": " : "", wrong ? wrong : "");
}

} // namespace

void print_torture(const options &o, const result &r, const char *missed)
{
	const char *const found = fault(r);
	const char *const wrong = found ? found : missed;

	note_row(r.lock, wrong);
	if (o.output == mode::tap) {
		print_torture_comment(r, wrong);
		print_verdict(o, r.lock, wrong);
		return;
	}
	boot::print("%-*s %5u %4u %12u %10u %6u ", name_width(o), r.lock,
		    r.bytes, r.cpus, r.acquisitions, r.handoffs,
		    r.exclusion_errors + r.lost_updates);
	if (r.promised == service::fifo)
		boot::print("%6u", r.fifo_violations);
	else
		boot::print("%6s", "-");
	boot::print("%s%s\n", wrong ? "\n  " : "", wrong ? wrong : "");
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
	skipped++;
	if (o.output == mode::tap)
		boot::print("ok %u %s # SKIP %s\n", row, lock, why);
	else
		boot::print("%s%-*s skipped: %s\n",
			    o.output == mode::csv ? "# " : "", name_width(o),
			    lock, why);
}

int end_report()
{
	const char *const wrong = fault_of_run();
	char verdict[256] = "PASS";

	if (output != mode::table)
		print_totals();
	const char *const unread = unread_word();
	if (failed)
		boot::format_to(verdict, sizeof(verdict),
				"FAIL: %u of %u: %s: %s", failed, row,
				first_lock, first_reason);
	else if (wrong)
		boot::format_to(verdict, sizeof(verdict),
				"FAIL: %s: %u of %u rows, %u skipped", wrong,
				row, planned, skipped);
	else if (unread)
		boot::format_to(verdict, sizeof(verdict),
				"FAIL: %s= was given and never read", unread);
	boot::print("%s\n", verdict);
	return failed || wrong || unread;
}

void add_sections(klock::u64 sections, klock::u64 capacity)
{
	all_totals.acquisitions += sections;
	if (capacity <= 0x10000 && (capacity & (capacity - 1)) == 0 &&
	    capacity > 2)
		all_totals.wraps += boot::div_u64(sections, capacity);
}

void print_totals()
{
	boot::print("# totals: acquisitions=%u wraps=%u interrupts=%u nmis=%u "
		    "faults=%u errors=%u\n",
		    all_totals.acquisitions, all_totals.wraps,
		    all_totals.interrupts, all_totals.nmis, all_totals.faults,
		    all_totals.errors);
}

} // namespace lab
