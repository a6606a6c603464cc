/* SPDX-License-Identifier: MIT */
/*
 * figures - a measurement's row: table, comma-separated values, KTAP
 *
 * A table's row has 79 columns: a text screen has 80.
 */
#include "figures.hpp"

#include "report.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

using klock::selftest::fault;
using klock::selftest::figures;
using klock::selftest::histogram;

u64 ns(u64 cycles) { return boot::cycles_to_ns(cycles); }

u64 per_second(const figures &f)
{
	const u64 us = boot::div_u64(ns(f.cycles), 1000);

	return us ? boot::div_u64(f.acquisitions * 1000000, us) : 0;
}

void print_row(const figures &f, const char *wrong)
{
	boot::print("%-29s %3u %8u %7u %7u %9u %u.%03u %5u%s%s\n", f.lock,
		    f.cpus, per_second(f), ns(f.handover.permille(500)),
		    ns(f.handover.permille(990)), ns(f.longest_wait),
		    f.jain_permille / 1000, f.jain_permille % 1000,
		    f.longest_run, wrong ? "\n  " : "", wrong ? wrong : "");
}

/* One octave a line, the longest bar 40 characters. */
void print_histogram(const histogram &h)
{
	static const char bar[] = "########################################";
	constexpr unsigned octaves = histogram::buckets / 8;
	u64 counts[octaves] = {};
	u64 most = 1;

	for (unsigned i = 0; i < histogram::buckets; i++)
		counts[i / 8] += h.count(i);
	for (unsigned i = 0; i < octaves; i++)
		most = counts[i] > most ? counts[i] : most;
	for (unsigned i = 0; i < octaves; i++) {
		if (!counts[i])
			continue;
		const unsigned length = static_cast<unsigned>(
			boot::div_u64(counts[i] * 40 + most - 1, most));
		boot::print("  %10u ns .. %9u %-40.*s\n",
			    ns(histogram::lower_end(i * 8)), counts[i], length,
			    bar);
	}
}

void print_detail(const figures &f)
{
	boot::print("  %u acquisitions (%u in handlers) in %u us; %u "
		    "hand-overs, of them waited for:\n"
		    "  %u, %u to %u ns\n",
		    f.acquisitions, f.in_handler,
		    boot::div_u64(ns(f.cycles), 1000), f.handovers,
		    f.handover.count(), ns(f.handover.min()),
		    ns(f.handover.max()));
	print_histogram(f.handover);
}

void print_csv(const options &o, const figures &f)
{
	boot::print("row,%s,%u,%u,%u,%u,%u,%u,", f.lock, f.cpus, f.bytes,
		    o.section.least, o.section.most, o.outside.least,
		    o.outside.most);
	boot::print("%u,%u,%u,%u,%u,%u,", o.irq, f.acquisitions, f.in_handler,
		    ns(f.cycles), per_second(f), f.handovers);
	boot::print("%u,%u,%u,%u,%u,%u,%u,%u\n", ns(f.handover.min()),
		    ns(f.handover.permille(500)), ns(f.handover.permille(990)),
		    ns(f.handover.max()), ns(f.longest_wait), f.jain_permille,
		    f.longest_run, f.overlaps);
	for (unsigned i = 0; i < histogram::buckets; i++)
		if (f.handover.count(i))
			boot::print("hist,%s,%u,%u,%u,%u\n", f.lock, f.cpus,
				    ns(histogram::lower_end(i)),
				    ns(histogram::lower_end(i + 1)),
				    f.handover.count(i));
}

void print_tap(const figures &f, const char *wrong)
{
	boot::print("# %s: cpus %u, %u a second, hand-over median %u ns, p99 "
		    "%u ns, longest wait %u ns, jain %u, run %u%s%s\n",
		    f.lock, f.cpus, per_second(f), ns(f.handover.permille(500)),
		    ns(f.handover.permille(990)), ns(f.longest_wait),
		    f.jain_permille, f.longest_run, wrong ? ": " : "",
		    wrong ? wrong : "");
}

} // namespace

void print_figures_head(const options &o)
{
	if (o.output == mode::csv)
		boot::print("head,lock,cpus,bytes,section_min,section_max,"
			    "outside_min,outside_max,irq_hz,acquisitions,"
			    "in_handler,ns,per_second,handovers,handover_min,"
			    "handover_median,handover_p99,handover_max,"
			    "longest_wait,jain_permille,longest_run,"
			    "overlaps\n");
	if (o.output != mode::table)
		return;
	boot::print("\n%-29s %3s %8s %7s %7s %9s %5s %5s\n", "", "", "acquis.",
		    "hand-ov", "er, ns", "longest", "Jain", "long.");
	boot::print("%-29s %3s %8s %7s %7s %9s %5s %5s\n", "lock", "CPU",
		    "a second", "median", "99 %", "wait, ns", "index", "run");
}

void print_figures(const options &o, const figures &f)
{
	const char *wrong = fault(f);

	note_row(f.lock, wrong);
	if (o.output == mode::csv)
		print_csv(o, f);
	else if (o.output == mode::tap)
		print_tap(f, wrong);
	else
		print_row(f, wrong);
	if (o.output == mode::table && o.detail)
		print_detail(f);
	print_verdict(o, f.lock, wrong);
}

} // namespace lab
