/* SPDX-License-Identifier: MIT */
/*
 * figures - a measurement's row: table, comma-separated values, KTAP
 *
 * A table's row has 79 columns where the longest name has 29: a text screen has
 * 80.
 */

#include "machine.hpp"
#include "report.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

using klock::selftest::fault;
using klock::selftest::figures;
using klock::selftest::histogram;

u64 ns(u64 cycles) { return boot::cycles_to_ns(cycles); }

/* The median handoff by the machine's own, in thousandths; 0: not known. */
u64 to_floor(const figures &f)
{
	const u32 floor = handoff_floor();

	return floor ? boot::div_u64(u64{f.handoff.permille(500)} * 1000, floor)
		     : 0;
}

u64 per_second(const figures &f)
{
	const u64 us = boot::div_u64(ns(f.cycles), 1000);

	return us ? boot::div_u64(f.acquisitions * 1000000, us) : 0;
}

void print_row(const options &o, const figures &f, const char *wrong)
{
	boot::print("%-*s %4u %10u %7u %9u %8u %2u.%03u%s%s\n", name_width(o),
		    f.lock, f.cpus, per_second(f), f.handoffs,
		    ns(f.handoff.permille(500)),
		    boot::div_u64(ns(f.longest_wait) + 500, 1000),
		    f.jain_permille / 1000, f.jain_permille % 1000,
		    wrong ? "\n  " : "", wrong ? wrong : "");
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
	boot::print(
		"  %u acquisitions (%u in handlers) in %u us, at most %u in "
		"a row by one CPU\n",
		f.acquisitions, f.in_handler, boot::div_u64(ns(f.cycles), 1000),
		f.max_consecutive);
	boot::print("  %u handoffs to a CPU that waited: %u to %u ns, 99 %% at "
		    "most %u ns\n",
		    f.handoff.count(), ns(f.handoff.min()), ns(f.handoff.max()),
		    ns(f.handoff.permille(990)));
	if (to_floor(f))
		boot::print("  half of them within %u.%u times the machine's "
			    "own, %u ns\n",
			    boot::div_u64(to_floor(f), 1000),
			    boot::mod_u64(boot::div_u64(to_floor(f), 100), 10),
			    ns(handoff_floor()));
	print_histogram(f.handoff);
}

void print_csv(const options &o, const figures &f)
{
	boot::print("row,%s,%u,%u,%u,%u,%u,%u,", f.lock, f.cpus, f.bytes,
		    o.section->least, o.section->most, o.think->least,
		    o.think->most);
	boot::print("%u,%u,%u,%u,%u,%u,", o.irq.read(), f.acquisitions,
		    f.in_handler, ns(f.cycles), per_second(f), f.handoffs);
	boot::print("%u,%u,%u,%u,%u,%u,%u,%u,", ns(f.handoff.min()),
		    ns(f.handoff.permille(500)), ns(f.handoff.permille(990)),
		    ns(f.handoff.max()), ns(f.longest_wait), f.jain_permille,
		    f.max_consecutive, f.overlaps);
	boot::print("%u,%u\n", ns(handoff_floor()), to_floor(f));
	for (unsigned i = 0; i < histogram::buckets; i++)
		if (f.handoff.count(i))
			boot::print("hist,%s,%u,%u,%u,%u\n", f.lock, f.cpus,
				    ns(histogram::lower_end(i)),
				    ns(histogram::lower_end(i + 1)),
				    f.handoff.count(i));
}

void print_tap(const figures &f, const char *wrong)
{
	boot::print("# %s: cpus %u, %u per second, handoff median %u ns, p99 "
		    "%u ns, longest wait %u ns, jain %u, run %u%s%s\n",
		    f.lock, f.cpus, per_second(f), ns(f.handoff.permille(500)),
		    ns(f.handoff.permille(990)), ns(f.longest_wait),
		    f.jain_permille, f.max_consecutive, wrong ? ": " : "",
		    wrong ? wrong : "");
}

} // namespace

void print_figures_head(const options &o)
{
	if (o.output == mode::csv)
		boot::print("head,lock,cpus,bytes,section_min,section_max,"
			    "think_min,think_max,irq_hz,acquisitions,"
			    "in_handler,ns,per_second,handoffs,handoff_min,"
			    "handoff_median,handoff_p99,handoff_max,"
			    "longest_wait,jain_permille,max_consecutive,"
			    "overlaps,floor,to_floor_permille\n");
	if (o.output != mode::table)
		return;
	const unsigned width = name_width(o);

	boot::print("\n%-*s %15s %7s %9s %8s %6s\n", width, "", "acquisitions",
		    "owner", "handoff", "longest", "Jain's");
	boot::print("%-*s %4s %10s %7s %9s %8s %6s\n", width, "lock", "CPUs",
		    "per second", "changes", "median ns", "wait us", "index");
}

void print_figures(const options &o, const figures &f, const char *also_wrong)
{
	const char *wrong = fault(f) ? fault(f) : also_wrong;

	note_row(f.lock, wrong);
	if (o.output == mode::csv)
		print_csv(o, f);
	else if (o.output == mode::tap)
		print_tap(f, wrong);
	else
		print_row(o, f, wrong);
	if (o.detail && o.output == mode::table)
		print_detail(f);
	print_verdict(o, f.lock, wrong);
}

namespace {

using klock::selftest::fault;
using klock::selftest::shared_figures;
using klock::selftest::tally;

u64 per_second(const shared_figures &f)
{
	const u64 us = boot::div_u64(ns(f.cycles), 1000);
	const u64 made = f.read.acquisitions + f.write.acquisitions;

	return us ? boot::div_u64(made * 1000000, us) : 0;
}

void print_short(const tally &of)
{
	boot::print(" %9u %8u", ns(of.handoff.permille(500)),
		    boot::div_u64(ns(of.longest_wait) + 500, 1000));
}

/* 79 columns: no name of these locks is longer than 20. */
void print_row(const shared_figures &f, const char *wrong)
{
	boot::print("%-20s %4u %10u %4u", f.lock, f.cpus, per_second(f),
		    f.most_together);
	print_short(f.read);
	print_short(f.write);
	boot::print("%s%s\n", wrong ? "\n  " : "", wrong ? wrong : "");
}

void print_detail(const char *whose, const tally &of)
{
	boot::print("  %u %s, %u of them in handlers; %u handoffs to one that "
		    "waited: %u to %u ns, 99 %% at most %u ns\n",
		    of.acquisitions, whose, of.in_handler, of.handoff.count(),
		    ns(of.handoff.min()), ns(of.handoff.max()),
		    ns(of.handoff.permille(990)));
}

void print_side(const tally &of)
{
	boot::print("%u,%u,%u,%u,%u,%u,%u,", of.acquisitions, of.in_handler,
		    of.handoff.count(), ns(of.handoff.permille(500)),
		    ns(of.handoff.permille(990)), ns(of.handoff.max()),
		    ns(of.longest_wait));
}

void print_csv(const options &o, const shared_figures &f)
{
	boot::print("row,%s,%u,%u,%u,%u,%u,%u,", f.lock, f.cpus, f.bytes,
		    o.section->least, o.section->most, o.think->least,
		    o.think->most);
	boot::print("%u,%u,%u,%u,%u,", o.irq.read(), o.writers.read(),
		    ns(f.cycles), per_second(f), f.most_together);
	print_side(f.read);
	print_side(f.write);
	boot::print("%u,%u\n", f.jain_permille,
		    f.read.overlaps + f.write.overlaps);
}

void print_side_of(const char *lock, const char *whose, const tally &of)
{
	boot::print("# %s: %u %s, handoff median %u ns, p99 %u ns, longest "
		    "wait %u ns\n",
		    lock, of.acquisitions, whose, ns(of.handoff.permille(500)),
		    ns(of.handoff.permille(990)), ns(of.longest_wait));
}

void print_tap(const options &o, const shared_figures &f, const char *wrong)
{
	boot::print("# %s: cpus %u, writers %u %%, %u per second, %u readers "
		    "at once, jain %u%s%s\n",
		    f.lock, f.cpus, o.writers.read(), per_second(f),
		    f.most_together, f.jain_permille, wrong ? ": " : "",
		    wrong ? wrong : "");
	print_side_of(f.lock, "reads", f.read);
	print_side_of(f.lock, "writes", f.write);
}

} // namespace

void print_shared_head(const options &o)
{
	if (o.output == mode::csv)
		boot::print("head,lock,cpus,bytes,section_min,section_max,"
			    "think_min,think_max,irq_hz,writers,ns,per_second,"
			    "together,reads,reads_in_handler,read_handoffs,"
			    "read_handoff_median,read_handoff_p99,"
			    "read_handoff_max,read_longest_wait,writes,"
			    "writes_in_handler,write_handoffs,"
			    "write_handoff_median,write_handoff_p99,"
			    "write_handoff_max,write_longest_wait,"
			    "jain_permille,overlaps\n");
	if (o.output != mode::table)
		return;
	boot::print("\n%u %% of the sections are writes; handoffs are medians, "
		    "waits the longest\n",
		    o.writers.read());
	boot::print("%-20s %15s %4s %9s %8s %9s %8s\n", "", "acquisitions",
		    "at", "read", "read", "write", "write");
	boot::print("%-20s %4s %10s %4s %9s %8s %9s %8s\n", "lock", "CPUs",
		    "per second", "once", "handed ns", "wait us", "handed ns",
		    "wait us");
}

void print_shared_figures(const options &o, const shared_figures &f,
			  const char *also_wrong)
{
	const char *wrong = fault(f) ? fault(f) : also_wrong;

	note_row(f.lock, wrong);
	if (o.output == mode::csv)
		print_csv(o, f);
	else if (o.output == mode::tap)
		print_tap(o, f, wrong);
	else
		print_row(f, wrong);
	if (o.detail && o.output == mode::table) {
		print_detail("reads", f.read);
		print_detail("writes", f.write);
	}
	print_verdict(o, f.lock, wrong);
}

} // namespace lab
