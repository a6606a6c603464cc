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

/* Half of all, and 99 % of them, are not longer. */
u64 median(const histogram &of)
{
	return of.permille(asks_for(seeded::percentiles) ? 990 : 500);
}

u64 most_of(const histogram &of)
{
	return of.permille(asks_for(seeded::percentiles) ? 500 : 990);
}

/*
 * Null: the shortest, the median, 99 %, the longest rise in this order. A
 * fault= of one histogram alone has two of them change places.
 */
const char *disorder(const histogram &of, bool change_places = false)
{
	const u64 half = change_places ? most_of(of) : median(of);
	const u64 most = change_places ? median(of) : most_of(of);
	const bool rises = of.min() <= half && half <= most && most <= of.max();

	return rises ? nullptr : "the percentiles do not rise";
}

/* The first that is not null. */
const char *first_of(const char *one, const char *other)
{
	return one ? one : other;
}

/* The median handoff by the machine's own, in thousandths; 0: not known. */
u64 to_floor(const figures &f)
{
	const u32 floor = handoff_floor();

	return floor ? boot::div_u64(u64{median(f.handoff)} * 1000, floor) : 0;
}

/*
 * A figure that is made of a time; of one too short for this clock there is
 * none: "-" for people, 0 in CSV, whose readers take numbers.
 */
struct shown {
	char text[21];

	shown(const options &o, u64 figure, u64 of_ns)
	{
		if (is_measured(of_ns) || o.output == mode::csv)
			boot::format_to(text, sizeof(text), "%u",
					is_measured(of_ns) ? figure : 0);
		else
			boot::format_to(text, sizeof(text), "-");
	}
};

/* A time itself, of so many cycles; in us, rounded. */
struct shown_ns : shown {
	shown_ns(const options &o, u64 cycles)
	    : shown(o, ns(cycles), ns(cycles))
	{
	}
};

struct shown_us : shown {
	shown_us(const options &o, u64 cycles)
	    : shown(o, boot::div_u64(ns(cycles) + 500, 1000), ns(cycles))
	{
	}
};

shown per_second(const options &o, u64 acquisitions, u64 cycles)
{
	const u64 us = boot::div_u64(ns(cycles), 1000);

	if (!us || !acquisitions)
		return {o, 0, ~u64{0}};
	return {o, boot::div_u64(acquisitions * 1000000, us),
		boot::div_u64(ns(cycles), acquisitions)};
}

shown per_second(const options &o, const figures &f)
{
	return per_second(o, f.acquisitions, f.cycles);
}

void print_row(const options &o, const figures &f, const char *wrong)
{
	boot::print("%-*s %4u %10s %7u %9s %8s %2u.%03u%s%s\n", name_width(o),
		    f.lock, f.cpus, per_second(o, f).text, f.handoffs,
		    shown_ns(o, median(f.handoff)).text,
		    shown_us(o, f.longest_wait).text, f.jain_permille / 1000,
		    f.jain_permille % 1000, wrong ? "\n  " : "",
		    wrong ? wrong : "");
}

/* One octave a line, the longest bar 40 characters. */
void print_histogram(const histogram &h)
{
	static const char bar[] = "########################################";
	constexpr unsigned octaves = histogram::buckets / 8;
	u64 counts[octaves] = {};
	u64 most = 1;

	for (unsigned i = 0; i < histogram::buckets; i++)
		if (is_measured(ns(histogram::lower_end(i))))
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

void print_detail(const options &o, const figures &f)
{
	boot::print(
		"  %u acquisitions (%u in handlers) in %u us, at most %u in "
		"a row by one CPU\n",
		f.acquisitions, f.in_handler, boot::div_u64(ns(f.cycles), 1000),
		f.max_consecutive);
	boot::print("  %u handoffs to a CPU that waited: %s to %s ns, 99 %% at "
		    "most %s ns\n",
		    f.handoff.count(), shown_ns(o, f.handoff.min()).text,
		    shown_ns(o, f.handoff.max()).text,
		    shown_ns(o, most_of(f.handoff)).text);
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
	boot::print("%u,%u,%u,%u,%s,%u,", o.irq.read(), f.acquisitions,
		    f.in_handler, ns(f.cycles), per_second(o, f).text,
		    f.handoffs);
	boot::print("%s,%s,%s,%s,%s,%u,%u,%u,",
		    shown_ns(o, f.handoff.min()).text,
		    shown_ns(o, median(f.handoff)).text,
		    shown_ns(o, most_of(f.handoff)).text,
		    shown_ns(o, f.handoff.max()).text,
		    shown_ns(o, f.longest_wait).text, f.jain_permille,
		    f.max_consecutive, f.overlaps);
	boot::print("%u,%u\n", ns(handoff_floor()), to_floor(f));
	for (unsigned i = 0; i < histogram::buckets; i++)
		if (f.handoff.count(i) &&
		    is_measured(ns(histogram::lower_end(i))))
			boot::print("hist,%s,%u,%u,%u,%u\n", f.lock, f.cpus,
				    ns(histogram::lower_end(i)),
				    ns(histogram::lower_end(i + 1)),
				    f.handoff.count(i));
}

void print_tap(const options &o, const figures &f, const char *wrong)
{
	boot::print("# %s: cpus %u, %s per second, handoff median %s ns, p99 "
		    "%s ns, longest wait %s ns, jain %u, run %u%s%s\n",
		    f.lock, f.cpus, per_second(o, f).text,
		    shown_ns(o, median(f.handoff)).text,
		    shown_ns(o, most_of(f.handoff)).text,
		    shown_ns(o, f.longest_wait).text, f.jain_permille,
		    f.max_consecutive, wrong ? ": " : "", wrong ? wrong : "");
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
	const char *const wrong =
		first_of(fault(f), first_of(also_wrong, disorder(f.handoff)));

	note_row(f.lock, wrong);
	if (o.output == mode::csv)
		print_csv(o, f);
	else if (o.output == mode::tap)
		print_tap(o, f, wrong);
	else
		print_row(o, f, wrong);
	if (o.detail && o.output == mode::table)
		print_detail(o, f);
	print_verdict(o, f.lock, wrong);
}

namespace {

using klock::selftest::fault;
using klock::selftest::shared_figures;
using klock::selftest::tally;

shown per_second(const options &o, const shared_figures &f)
{
	return per_second(o, f.read.acquisitions + f.write.acquisitions,
			  f.cycles);
}

void print_short(const options &o, const tally &of)
{
	boot::print(" %9s %8s", shown_ns(o, median(of.handoff)).text,
		    shown_us(o, of.longest_wait).text);
}

/* 79 columns: no name of these locks is longer than 20. */
void print_row(const options &o, const shared_figures &f, const char *wrong)
{
	boot::print("%-20s %4u %10s %4u", f.lock, f.cpus, per_second(o, f).text,
		    f.most_together);
	print_short(o, f.read);
	print_short(o, f.write);
	boot::print("%s%s\n", wrong ? "\n  " : "", wrong ? wrong : "");
}

void print_detail(const options &o, const char *whose, const tally &of)
{
	boot::print("  %u %s, %u of them in handlers; %u handoffs to one that "
		    "waited: %s to %s ns, 99 %% at most %s ns\n",
		    of.acquisitions, whose, of.in_handler, of.handoff.count(),
		    shown_ns(o, of.handoff.min()).text,
		    shown_ns(o, of.handoff.max()).text,
		    shown_ns(o, most_of(of.handoff)).text);
}

void print_side(const options &o, const tally &of)
{
	boot::print("%u,%u,%u,%s,%s,%s,%s,", of.acquisitions, of.in_handler,
		    of.handoff.count(), shown_ns(o, median(of.handoff)).text,
		    shown_ns(o, most_of(of.handoff)).text,
		    shown_ns(o, of.handoff.max()).text,
		    shown_ns(o, of.longest_wait).text);
}

void print_csv(const options &o, const shared_figures &f)
{
	boot::print("row,%s,%u,%u,%u,%u,%u,%u,", f.lock, f.cpus, f.bytes,
		    o.section->least, o.section->most, o.think->least,
		    o.think->most);
	boot::print("%u,%u,%u,%s,%u,", o.irq.read(), o.writers.read(),
		    ns(f.cycles), per_second(o, f).text, f.most_together);
	print_side(o, f.read);
	print_side(o, f.write);
	boot::print("%u,%u\n", f.jain_permille,
		    f.read.overlaps + f.write.overlaps);
}

void print_side_of(const options &o, const char *lock, const char *whose,
		   const tally &of)
{
	boot::print("# %s: %u %s, handoff median %s ns, p99 %s ns, longest "
		    "wait %s ns\n",
		    lock, of.acquisitions, whose,
		    shown_ns(o, median(of.handoff)).text,
		    shown_ns(o, most_of(of.handoff)).text,
		    shown_ns(o, of.longest_wait).text);
}

void print_tap(const options &o, const shared_figures &f, const char *wrong)
{
	boot::print("# %s: cpus %u, writers %u %%, %s per second, %u readers "
		    "at once, jain %u%s%s\n",
		    f.lock, f.cpus, o.writers.read(), per_second(o, f).text,
		    f.most_together, f.jain_permille, wrong ? ": " : "",
		    wrong ? wrong : "");
	print_side_of(o, f.lock, "reads", f.read);
	print_side_of(o, f.lock, "writes", f.write);
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
	const char *const wrong = first_of(
		first_of(fault(f), also_wrong),
		first_of(disorder(f.read.handoff, asks_for(seeded::read_order)),
			 disorder(f.write.handoff,
				  asks_for(seeded::write_order))));

	note_row(f.lock, wrong);
	if (o.output == mode::csv)
		print_csv(o, f);
	else if (o.output == mode::tap)
		print_tap(o, f, wrong);
	else
		print_row(o, f, wrong);
	if (o.detail && o.output == mode::table) {
		print_detail(o, "reads", f.read);
		print_detail(o, "writes", f.write);
	}
	print_verdict(o, f.lock, wrong);
}

} // namespace lab
