/* SPDX-License-Identifier: MIT */
/*
 * options - what the kernel command line asks of the lab
 */
#include "options.hpp"

#include "runner.hpp"
#include "values.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

constexpr choice modes[] = {{"table", static_cast<u32>(mode::table)},
			    {"csv", static_cast<u32>(mode::csv)},
			    {"tap", static_cast<u32>(mode::tap)},
			    {}};

constexpr choice jobs[] = {
	{"measure", static_cast<u32>(job::measure)},
	{"locks", static_cast<u32>(job::locks)},
	{"storm", static_cast<u32>(job::storm)},
	{"busted", static_cast<u32>(job::busted)},
	{"busted_storm", static_cast<u32>(job::busted_storm)},
	{"backoff", static_cast<u32>(job::backoff)},
	{"instructions", static_cast<u32>(job::instructions)},
	{"misuse", static_cast<u32>(job::misuse)},
	{"stuck", static_cast<u32>(job::stuck)},
	{"panic", static_cast<u32>(job::panic)},
	{"fault", static_cast<u32>(job::fault)},
	{"fail", static_cast<u32>(job::fail)},
	{"hang", static_cast<u32>(job::hang)},
	{"reset", static_cast<u32>(job::reset)},
	{}};

constexpr choice misuses[] = {
	{"recursion", static_cast<u32>(misuse::recursion)},
	{"free_unlock", static_cast<u32>(misuse::free_unlock)},
	{"foreign_unlock", static_cast<u32>(misuse::foreign_unlock)},
	{"crowd", static_cast<u32>(misuse::crowd)},
	{"nmi_crowd", static_cast<u32>(misuse::nmi_crowd)},
	{"interrupts_on", static_cast<u32>(misuse::interrupts_on)},
	{"nmi_lock", static_cast<u32>(misuse::nmi_lock)},
	{"number", static_cast<u32>(misuse::number)},
	{}};

/* A word that takes a number. */
struct number_word {
	const char *name;
	u32 options::*field;
	const char *meaning;
};

constexpr number_word numbers[] = {
	{"seconds", &options::seconds, "how long; 0: acquisitions= counts"},
	{"acquisitions", &options::acquisitions,
	 "0: 20000, or seconds= counts"},
	{"irq", &options::irq, "timer interrupts a second that take the lock"},
	{"seed", &options::seed, "of the random numbers"},
	{"detail", &options::detail, "1: a histogram under each row"},
	{"convoys", &options::convoys, "torture: rounds of forced order"},
	{"pauses", &options::pauses, "torture: between two stores inside"},
	{"try", &options::try_one_in, "torture: one in so many is try_lock"},
	{"parallel", &options::parallel, "1: vCPUs run at the same time"},
	{"patience", &options::patience, "ms without progress: stuck"},
};

/* A word that takes a length of time, fixed or random. */
struct range_word {
	const char *name;
	range options::*field;
	const char *meaning;
};

constexpr range_word ranges[] = {
	{"section", &options::section, "cycles inside, 300 or 100..900"},
	{"outside", &options::outside, "cycles between two sections"},
};

bool is_lock(const char *name)
{
	bool found = boot::same_text(name, "all");

	klock::selftest::all_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			found |= boot::same_text(name, Subject::name);
		});
	return found;
}

bool read_counts(const char *text, options &into)
{
	into.counts = 0;
	return for_each_item(text, [&](const char *item) {
		return into.counts < most_counts &&
		       read_number(item, into.cpus[into.counts++]);
	});
}

bool read_job(const char *name, const char *value, options &into)
{
	u32 chosen;

	if (boot::same_text(name, "mode") &&
	    read_choice(modes, value, chosen)) {
		into.output = static_cast<mode>(chosen);
		return true;
	}
	if (boot::same_text(name, "run") && read_choice(jobs, value, chosen)) {
		into.run = static_cast<job>(chosen);
		return true;
	}
	if (boot::same_text(name, "what") &&
	    read_choice(misuses, value, chosen)) {
		into.what = static_cast<misuse>(chosen);
		return true;
	}
	return false;
}

/* True if the word was known and its value good. */
bool read_word(const char *name, const char *value, options &into)
{
	for (const number_word &word : numbers)
		if (boot::same_text(word.name, name))
			return read_number(value, into.*word.field);
	for (const range_word &word : ranges)
		if (boot::same_text(word.name, name))
			return read_range(value, into.*word.field);
	if (boot::same_text(name, "cpus"))
		return read_counts(value, into);
	if (boot::same_text(name, "lock")) {
		into.lock = value;
		return for_each_item(value, is_lock);
	}
	return read_job(name, value, into);
}

void print_choices(const char *word, const choice *among)
{
	boot::print("#   %s=", word);
	for (; among->name; among++)
		boot::print("%s%s", among->name, among[1].name ? "|" : "\n");
}

void print_right_words()
{
	const options usual;

	boot::print("# the right words, and what holds without them:\n");
	print_choices("run", jobs);
	print_choices("mode", modes);
	print_choices("what", misuses);
	boot::print("#   cpus=0  that contend, 0: all; a list: 1,2,4\n");
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

/* What the words leave open: the number of CPUs, the length of a run. */
bool complete(options &o)
{
	if (!o.counts)
		o.counts = 1;
	for (u32 i = 0; i < o.counts; i++) {
		if (o.cpus[i] > boot::cpu_count()) {
			boot::print("FAIL: cpus=%u, but there are %u\n",
				    o.cpus[i], boot::cpu_count());
			return false;
		}
		if (!o.cpus[i])
			o.cpus[i] = boot::cpu_count();
	}
	if (!o.acquisitions && (!o.seconds || o.run != job::measure))
		o.acquisitions = 20000;
	if (o.irq && !boot::has_apic()) {
		boot::print("FAIL: irq=%u, but there is no local APIC\n",
			    o.irq);
		return false;
	}
	return true;
}

} // namespace

bool read_options(options &into)
{
	for (const boot::word &word : boot::command_line()) {
		const char *value = word.value ? word.value : "";

		if (read_word(word.name, value, into))
			continue;
		print_right_words();
		boot::print("FAIL: wrong word on the command line: %s=%s\n",
			    word.name, value);
		return false;
	}
	return complete(into);
}

bool asks_for(const options &o, const char *name)
{
	bool asked = false;

	/* Every item is looked at: read_options() found the list good. */
	(void)for_each_item(o.lock, [&](const char *item) {
		asked |= boot::same_text(item, "all") ||
			 boot::same_text(item, name);
		return true;
	});
	return asked;
}

const char *name_of(misuse what)
{
	return misuses[static_cast<u32>(what)].name;
}

} // namespace lab
