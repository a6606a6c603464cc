/* SPDX-License-Identifier: MIT */
/*
 * options - what the kernel command line asks of the lab
 */
#include "options.hpp"

#include "option_names.hpp"
#include "runner.hpp"
#include "values.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

/* Of one CPU's timer a second: at 10 us between two, handlers are all that
 * runs.
 */
constexpr u32 most_irqs = 100000;

/* Counters of 32 bits still have room for what is done beyond what is asked. */
constexpr u32 most_acquisitions = 4000000000;

constexpr u32 any = ~0u;

/* A word that takes a number, and the largest that it takes. */
struct number_word {
	const char *name;
	u32 options::*field;
	u32 most;
	const char *meaning;
};

constexpr number_word numbers[] = {
	{"seconds", &options::seconds, any,
	 "how long; 0: acquisitions= counts"},
	{"acquisitions", &options::acquisitions, most_acquisitions,
	 "0: seconds= counts, or 20000"},
	{"writers", &options::writers, 100,
	 "of 100 sections; fewer: of locks that readers share"},
	{"irq", &options::irq, most_irqs,
	 "timer interrupts per second that take the lock"},
	{"seed", &options::seed, any, "of the random numbers"},
	{"detail", &options::detail, 1, "1: a histogram under each row"},
	{"convoys", &options::convoys, any, "torture: rounds of forced order"},
	{"pauses", &options::pauses, any, "torture: between two stores inside"},
	{"rest", &options::rest, any, "torture: pauses between two sections"},
	{"try", &options::try_one_in, any,
	 "torture: one in so many is try_lock"},
	{"parallel", &options::parallel, 1, "1: vCPUs run at the same time"},
	{"patience", &options::patience, any, "ms without progress: stuck"},
};

/* A word that takes a length of time, fixed or random. */
struct range_word {
	const char *name;
	range options::*field;
	const char *meaning;
};

constexpr range_word ranges[] = {
	{"section", &options::section, "cycles inside, 300 or 100..900"},
	{"think", &options::think, "cycles between two sections: think time"},
};

wrong is_lock(const char *name)
{
	bool found = boot::same_text(name, "all");
	nearest meant(name);

	klock::selftest::all_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			found |= boot::same_text(name, Subject::name);
			meant.offer(Subject::name);
		});
	return found ? wrong{} : unknown(meant);
}

wrong read_counts(const char *text, options &into)
{
	into.counts = 0;
	return for_each_item(text, [&](const char *item) {
		if (into.counts == most_counts)
			return because("more than %u numbers", most_counts);
		const u32 there = boot::cpu_count();
		u32 cpus = 0;
		const wrong w = read_number(item, any, cpus);

		if (!w && cpus > there)
			return because("out of range: at most %u, all CPUs",
				       there);
		into.cpus[into.counts++] = cpus;
		return w;
	});
}

/* A word that takes one of some names. */
struct choice_word {
	const char *name;
	const choice *among;
	void (*take)(options &into, u32 chosen);
};

constexpr choice_word choices[] = {
	{"run", jobs,
	 [](options &o, u32 chosen) { o.run = static_cast<job>(chosen); }},
	{"mode", modes,
	 [](options &o, u32 chosen) { o.output = static_cast<mode>(chosen); }},
	{"what", misuses,
	 [](options &o, u32 chosen) { o.what = static_cast<misuse>(chosen); }},
	{"without", parts, [](options &o, u32 chosen) { o.without = chosen; }},
};

constexpr const char *others[] = {"cpus", "lock", "pin", "x2apic", "help"};

/* The word of the lab that has this name, or nearly this one. */
nearest word_like(const char *name)
{
	nearest meant(name);

	for (const number_word &word : numbers)
		meant.offer(word.name);
	for (const range_word &word : ranges)
		meant.offer(word.name);
	for (const choice_word &word : choices)
		meant.offer(word.name);
	for (const char *o : others)
		meant.offer(o);
	return meant;
}

wrong read_chosen(const choice_word &word, const char *value, options &into)
{
	u32 chosen = 0;
	const wrong w = read_choice(word.among, value, chosen);

	if (!w)
		word.take(into, chosen);
	return w;
}

/* One of the lab's words. */
wrong read_word(const char *name, const char *value, options &into)
{
	for (const number_word &word : numbers)
		if (boot::same_text(word.name, name))
			return read_number(value, word.most, into.*word.field);
	for (const range_word &word : ranges)
		if (boot::same_text(word.name, name))
			return read_range(value, into.*word.field);
	for (const choice_word &word : choices)
		if (boot::same_text(word.name, name))
			return read_chosen(word, value, into);
	if (boot::same_text(name, "cpus"))
		return read_counts(value, into);
	into.lock = value;
	return for_each_item(value, is_lock);
}

/* What a word is called here: `outside` is think's name of before. */
const char *name_of(const boot::word &word)
{
	return boot::same_text(word.name, "outside") ? "think" : word.name;
}

/* Of two words of one name neither can be meant: nothing is guessed. */
bool came_before(const boot::word &word)
{
	for (const boot::word &other : boot::command_line()) {
		if (&other == &word)
			return false;
		if (boot::same_text(name_of(other), name_of(word)))
			return true;
	}
	return false;
}

void print_choices(const char *word, const choice *among)
{
	boot::print("#   %s=", word);
	for (; among->name; among++)
		boot::print("%s%s", among->name, among[1].name ? "|" : "\n");
}

wrong check_word(const boot::word &word, options &into)
{
	const nearest known = word_like(name_of(word));

	if (came_before(word))
		return because("given twice");
	if (boot::same_text(word.name, "x2apic") ||
	    boot::same_text(word.name, "pin"))
		return {}; /* boot's, and done */
	if (boot::same_text(word.name, "help")) {
		into.help = true;
		return {};
	}
	if (!known.is_exact())
		return unknown(known);
	if (!word.value || !*word.value)
		return because("its value is missing");
	return read_word(name_of(word), word.value, into);
}

void print_right_words()
{
	const options usual;

	boot::print("# the right words, and what holds without them:\n"
		    "#   help  prints this\n");
	for (const choice_word &word : choices)
		print_choices(word.name, word.among);
	boot::print("#   cpus=0  that contend, 0: all; a list: 1,2,4\n"
		    "#   pin=cores|threads|l3, or CPUs: 0,2,4  who is there\n"
		    "#   x2apic  local APICs in x2APIC mode\n");
	for (const range_word &word : ranges)
		boot::print("#   %s=%u..%u  %s\n", word.name,
			    (usual.*word.field).least, (usual.*word.field).most,
			    word.meaning);
	for (const number_word &word : numbers)
		boot::print("#   %s=%u  %s\n", word.name, usual.*word.field,
			    word.meaning);
	boot::print("#   lock=all, or a list of\n");
	klock::selftest::all_locks<most_cpus>::for_each([]<typename Subject>() {
		boot::print("#     %s\n", Subject::name);
	});
}

bool needs_apic(const options &o)
{
	return o.irq || o.run == job::storm || o.run == job::busted_storm ||
	       o.run == job::shared_storm || o.run == job::folder;
}

/* One line: a screen holds few. */
void print_wrong(const char *name, const char *value, const wrong &w)
{
	boot::print("FAIL: wrong word %s%s%s: %s (the word help lists all)\n",
		    name, value ? "=" : "", value ? value : "", w.why);
}

/* Of a word that is there. */
const char *value_of(const char *name)
{
	for (const boot::word &word : boot::command_line())
		if (boot::same_text(word.name, name))
			return word.value;
	return nullptr;
}

bool is_shared(const char *name)
{
	bool found = boot::same_text(name, "all");

	klock::selftest::all_shared_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			found |= boot::same_text(name, Subject::name);
		});
	return found;
}

/* Fewer writers than sections: there must be somebody who reads. */
wrong check_writers(const options &o)
{
	if (o.writers == 100)
		return {};
	if (o.run != job::measure)
		return because("this run= has none");
	return for_each_item(o.lock, [](const char *item) {
		return is_shared(item)
			       ? wrong{}
			       : because("readers do not share %s", item);
	});
}

bool has_csv(job run)
{
	return run == job::measure || run == job::backoff ||
	       run == job::instructions || run == job::pairs ||
	       run == job::topology;
}

/* What the words leave open: the number of CPUs, the length of a run. */
bool complete(options &o)
{
	if (!o.counts)
		o.counts = 1;
	for (u32 i = 0; i < o.counts; i++)
		if (!o.cpus[i])
			o.cpus[i] = boot::cpu_count();
	/* Interrupts need time to come. */
	if (o.irq && !o.acquisitions && !o.seconds)
		o.seconds = 1;
	if (!o.acquisitions && (!o.seconds || o.run != job::measure))
		o.acquisitions = 20000;
	if (needs_apic(o) && !boot::has_ipis()) {
		boot::print("FAIL: no local APIC: no interrupts, no NMIs, no "
			    "%s\n",
			    o.irq ? "irq=" : "storm");
		return false;
	}
	return true;
}

} // namespace

bool read_options(options &into)
{
	for (const boot::word &word : boot::command_line()) {
		if (const wrong w = check_word(word, into)) {
			print_wrong(word.name, word.value, w);
			return false;
		}
	}
	if (into.output == mode::csv && !has_csv(into.run)) {
		print_wrong("mode", "csv", because("this run= has none"));
		return false;
	}
	if (const wrong w = check_writers(into)) {
		print_wrong("writers", value_of("writers"), w);
		return false;
	}
	return complete(into);
}

int print_help()
{
	print_right_words();
	boot::print("PASS\n");
	return 0;
}

const char *name_of(misuse what)
{
	return misuses[static_cast<u32>(what)].name;
}

} // namespace lab
