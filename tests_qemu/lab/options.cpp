/* SPDX-License-Identifier: MIT */
/*
 * options - what the kernel command line asks of the lab
 */
#include "options.hpp"

#include <boot/kernel.hpp>
#include <klock/selftest/locks.hpp>

namespace lab {

namespace {

/* Longer names are compared up to here. */
constexpr unsigned longest = 40;

char small(char c)
{
	return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

unsigned length_of(const char *text)
{
	unsigned length = 0;

	while (text[length] && length < longest)
		length++;
	return length;
}

bool begins_with(const char *name, const char *text)
{
	while (*text && small(*name) == small(*text)) {
		name++;
		text++;
	}
	return !*text;
}

unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/*
 * Characters that are missing, too many, wrong, or two that changed places
 * (optimal string alignment). A row of its table per character of `left`; the
 * last three are kept.
 */
unsigned mistakes(const char *left, const char *right)
{
	const unsigned columns = length_of(right);
	unsigned rows[3][longest + 1];

	for (unsigned j = 0; j <= columns; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= length_of(left); i++) {
		unsigned *const now = rows[i % 3];
		const unsigned *const above = rows[(i + 2) % 3];
		const unsigned *const two_above = rows[(i + 1) % 3];

		now[0] = i;
		for (unsigned j = 1; j <= columns; j++) {
			const char l = small(left[i - 1]);
			const char r = small(right[j - 1]);

			now[j] = least(least(now[j - 1], above[j]) + 1,
				       above[j - 1] + (l != r));
			if (i > 1 && j > 1 && l == small(right[j - 2]) &&
			    r == small(left[i - 2]))
				now[j] = least(now[j], two_above[j - 2] + 1);
		}
	}
	return rows[length_of(left) % 3][columns];
}

/* 0: the same; 1: it begins so; else mistakes, from 2 on. */
unsigned distance_of(const char *text, const char *name)
{
	if (boot::same_text(text, name))
		return 0;
	return *text && begins_with(name, text) ? 1 : 1 + mistakes(text, name);
}

/*
 * The name that was probably meant by one that is not known
 *
 *	nearest meant("ticket_lock");
 *	meant.offer("tas_lock");
 *	meant.offer("ticket_lock<u8>");
 *	meant.name();		"ticket_lock<u8>"
 *
 * The same name; else one that begins with the text; else the one with the
 * fewest mistakes, at most one in three characters. Of equals the first that
 * was offered. Small and capital letters are the same but for the first rule.
 */
struct nearest {
	explicit nearest(const char *unknown) : text(unknown), distance(3)
	{
		const unsigned bearable = length_of(unknown) / 3;

		if (bearable > 1)
			distance = bearable + 2;
	}

	void offer(const char *name)
	{
		const unsigned found = distance_of(text, name);

		if (found >= distance)
			return;
		distance = found;
		best = name;
	}

	/* Null: none is near. */
	[[nodiscard]] const char *name() const { return best; }

	/* Whether name() is the text itself. */
	[[nodiscard]] bool is_exact() const { return distance == 0; }

	[[nodiscard]] const char *given() const { return text; }

      private:
	const char *text;
	const char *best = nullptr;
	unsigned distance; /* of the best; of none, the first that is far */
};

/* Why a word is wrong, for people; empty: it is right. */
struct wrong {
	char why[128] = "";

	explicit operator bool() const { return why[0] != 0; }
};

template <typename... Arguments>
[[nodiscard]] wrong because(boot::format_for<Arguments...> format,
			    Arguments... arguments)
{
	wrong w;

	boot::format_to(w.why, sizeof(w.why), format, arguments...);
	return w;
}

/* A value's name and what it stands for; a null name ends a list. */
struct choice {
	const char *name;
	u32 value;
};

/*
 * Calls use(item) for each item of a list with commas, until one is wrong. An
 * item is cut after 39 characters: no name is as long.
 */
template <typename Use>
[[nodiscard]] wrong for_each_item(const char *list, Use use)
{
	constexpr unsigned longest = 40;

	for (;;) {
		char item[longest];
		unsigned length = 0;

		for (; *list && *list != ','; list++)
			if (length < longest - 1)
				item[length++] = *list;
		item[length] = 0;
		if (!length)
			return because("an empty item in the list");
		if (const wrong w = use(item))
			return w;
		if (!*list++)
			return {};
	}
}

bool has_only_digits(const char *text)
{
	const char *at = text;

	while (*at >= '0' && *at <= '9')
		at++;
	return at != text && !*at;
}

/* A name that is not known, and the one that was probably meant. */
wrong unknown(const nearest &names)
{
	if (names.name())
		return because("%s is unknown, did you mean %s?", names.given(),
			       names.name());
	return because("%s is unknown", names.given());
}

wrong read_number(const char *text, u32 most, u32 &into)
{
	u64 value = ~u64{0};

	if (!*text)
		return because("a number is missing");
	/* 2^64 and more are numbers, too. */
	if (!boot::parse_u64(text, value) && !has_only_digits(text))
		return because("\"%s\" is not a whole number", text);
	if (value > most)
		return because("out of range: at most %u", most);
	into = static_cast<u32>(value);
	return {};
}

/* "300" or "100..900" */
wrong read_range(const char *text, range &into)
{
	constexpr u32 any = ~0u;
	constexpr unsigned longest = 24;
	char first[longest];
	unsigned length = 0;

	while (text[length] && text[length] != '.' && length < longest - 1) {
		first[length] = text[length];
		length++;
	}
	first[length] = 0;
	text += length;
	if (const wrong w = read_number(first, any, into.least))
		return w;
	into.most = into.least;
	if (!*text)
		return {};
	if (text[0] != '.' || text[1] != '.')
		return because("neither a number nor a range, as 100..900");
	if (const wrong w = read_number(text + 2, any, into.most))
		return w;
	if (into.least > into.most)
		return because("reversed: the smaller one is first, %u..%u",
			       into.most, into.least);
	return {};
}

wrong read_choice(const choice *among, const char *text, u32 &into)
{
	nearest meant(text);

	for (; among->name; among++) {
		if (boot::same_text(among->name, text)) {
			into = among->value;
			return {};
		}
		meant.offer(among->name);
	}
	return unknown(meant);
}

constexpr choice modes[] = {{"table", static_cast<u32>(mode::table)},
			    {"csv", static_cast<u32>(mode::csv)},
			    {"tap", static_cast<u32>(mode::tap)},
			    {}};

constexpr choice jobs[] = {
	{"measure", static_cast<u32>(job::measure)},
	{"locks", static_cast<u32>(job::locks)},
	{"storm", static_cast<u32>(job::storm)},
	{"sequences", static_cast<u32>(job::sequences)},
	{"deadline", static_cast<u32>(job::deadline)},
	{"sleep", static_cast<u32>(job::sleep)},
	{"busted", static_cast<u32>(job::busted)},
	{"busted_storm", static_cast<u32>(job::busted_storm)},
	{"shared", static_cast<u32>(job::shared)},
	{"shared_storm", static_cast<u32>(job::shared_storm)},
	{"busted_shared", static_cast<u32>(job::busted_shared)},
	{"backoff", static_cast<u32>(job::backoff)},
	{"instructions", static_cast<u32>(job::instructions)},
	{"pairs", static_cast<u32>(job::pairs)},
	{"topology", static_cast<u32>(job::topology)},
	{"misuse", static_cast<u32>(job::misuse)},
	{"deadlock", static_cast<u32>(job::deadlock)},
	{"counts", static_cast<u32>(job::counts)},
	{"stuck", static_cast<u32>(job::stuck)},
	{"panic", static_cast<u32>(job::panic)},
	{"fault", static_cast<u32>(job::fault)},
	{"print_fault", static_cast<u32>(job::print_fault)},
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
	{"read_recursion", static_cast<u32>(misuse::read_recursion)},
	{"upgrade", static_cast<u32>(misuse::upgrade)},
	{"reading_handler", static_cast<u32>(misuse::reading_handler)},
	{"two_orders", static_cast<u32>(misuse::two_orders)},
	{"three_cpus", static_cast<u32>(misuse::three_cpus)},
	{"two_queues", static_cast<u32>(misuse::two_queues)},
	{"handler_order", static_cast<u32>(misuse::handler_order)},
	{"console_in_panic", static_cast<u32>(misuse::console_in_panic)},
	{"sleeps", static_cast<u32>(misuse::sleeps)},
	{"shootdown", static_cast<u32>(misuse::shootdown)},
	{"served", static_cast<u32>(misuse::served)},
	{}};

constexpr choice parts[] = {{"nothing", 0},
			    {"handlers", part_handler},
			    {"nmis", part_nmi},
			    {"halts", part_halt},
			    {"leaves", part_leave},
			    {"updates", part_update},
			    {}};

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
	       o.run == job::shared_storm || o.run == job::sequences ||
	       o.run == job::sleep;
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
	if (into.run == job::misuse && into.what >= misuse::two_orders) {
		print_wrong("what", name_of(into.what),
			    because("run=deadlock alone has it"));
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

bool asks_for(const options &o, const char *name)
{
	bool asked = false;

	/* Every item is looked at: read_options() found the list good. */
	(void)for_each_item(o.lock, [&](const char *item) {
		asked |= boot::same_text(item, "all") ||
			 boot::same_text(item, name);
		return wrong{};
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

unsigned shared_locks_asked_for(const options &o)
{
	unsigned locks = 0;

	klock::selftest::all_shared_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			locks += asks_for(o, Subject::name);
		});
	return locks;
}

} // namespace lab
