/* SPDX-License-Identifier: MIT */
/*
 * options - what the kernel command line asks of the lab
 */
#include "options.hpp"

#include "runner.hpp"
#include "storm_plan.hpp"
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
	{"interrupted_waiter", static_cast<u32>(misuse::interrupted_waiter)},
	{}};

constexpr choice parts[] = {{"nothing", 0},	    {"handlers", part_handler},
			    {"nmis", part_nmi},	    {"halts", part_halt},
			    {"leaves", part_leave}, {}};

/*
 * Interrupts a second that one CPU's timer is asked for at most: at 10 us and
 * less between two, handlers are all that still runs.
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
	{"irq", &options::irq, most_irqs,
	 "timer interrupts a second that take the lock"},
	{"seed", &options::seed, any, "of the random numbers"},
	{"detail", &options::detail, 1, "1: a histogram under each row"},
	{"convoys", &options::convoys, any, "torture: rounds of forced order"},
	{"pauses", &options::pauses, any, "torture: between two stores inside"},
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

constexpr const char *bad_value = "a value that makes no sense";
constexpr const char *out_of_range = "out of range";

const char *read_numbers(const number_word &word, const char *value,
			 options &into)
{
	if (!read_number(value, into.*word.field))
		return bad_value;
	return into.*word.field > word.most ? out_of_range : nullptr;
}

/* A null pointer: the word is good. Else why it is not. */
const char *read_word(const char *name, const char *value, options &into)
{
	for (const number_word &word : numbers)
		if (boot::same_text(word.name, name))
			return read_numbers(word, value, into);
	for (const range_word &word : ranges)
		if (boot::same_text(word.name, name))
			return read_range(value, into.*word.field) ? nullptr
								   : bad_value;
	for (const choice_word &word : choices) {
		u32 chosen;

		if (!boot::same_text(word.name, name))
			continue;
		if (!read_choice(word.among, value, chosen))
			return bad_value;
		word.take(into, chosen);
		return nullptr;
	}
	if (boot::same_text(name, "cpus"))
		return read_counts(value, into) ? nullptr : bad_value;
	if (boot::same_text(name, "lock")) {
		into.lock = value;
		return for_each_item(value, is_lock) ? nullptr : bad_value;
	}
	return "unknown";
}

/* Of two words of one name neither can be meant: nothing is guessed. */
bool came_before(const boot::word &word)
{
	for (const boot::word &other : boot::command_line()) {
		if (&other == &word)
			return false;
		if (boot::same_text(other.name, word.name))
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

void print_right_words()
{
	const options usual;

	boot::print("# the right words, and what holds without them:\n");
	for (const choice_word &word : choices)
		print_choices(word.name, word.among);
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

bool needs_apic(const options &o)
{
	return o.irq || o.run == job::storm || o.run == job::busted_storm;
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
	/* Interrupts need time to come. */
	if (o.irq && !o.acquisitions && !o.seconds)
		o.seconds = 1;
	if (!o.acquisitions && (!o.seconds || o.run != job::measure))
		o.acquisitions = 20000;
	if (needs_apic(o) && !boot::has_apic()) {
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
		const char *value = word.value ? word.value : "";

		const char *const wrong =
			came_before(word) ? "given twice"
					  : read_word(word.name, value, into);

		if (!wrong)
			continue;
		print_right_words();
		boot::print("FAIL: wrong word on the command line: %s=%s: %s\n",
			    word.name, value, wrong);
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

unsigned locks_asked_for(const options &o)
{
	unsigned locks = 0;

	klock::selftest::all_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			locks += asks_for(o, Subject::name);
		});
	return locks;
}

const char *name_of(misuse what)
{
	return misuses[static_cast<u32>(what)].name;
}

} // namespace lab
