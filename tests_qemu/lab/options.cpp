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

/* The reason why a word is wrong; empty: it is right. */
struct word_error {
	char why[256] = "";

	explicit operator bool() const { return why[0] != 0; }
};

template <typename... Arguments>
[[nodiscard]] word_error because(boot::format_for<Arguments...> format,
				 Arguments... arguments)
{
	word_error w;

	boot::format_to(w.why, sizeof(w.why), format, arguments...);
	return w;
}

/* The name of a value; null: there is none of that number. */
using names = const char *(*)(u32 number);

/*
 * Calls use(item) for each item of a list with commas, until one is wrong. An
 * item is cut after 39 characters: no name is as long.
 */
template <typename Use>
[[nodiscard]] word_error for_each_item(const char *list, Use use)
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
		if (const word_error w = use(item))
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
word_error unknown(const nearest &names)
{
	if (names.name())
		return because("%s is unknown, did you mean %s?", names.given(),
			       names.name());
	return because("%s is unknown", names.given());
}

word_error read_number(const char *text, u32 most, u32 &into)
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
word_error read_range(const char *text, range &into)
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
	if (const word_error w = read_number(first, any, into.least))
		return w;
	into.most = into.least;
	if (!*text)
		return {};
	if (text[0] != '.' || text[1] != '.')
		return because("neither a number nor a range, as 100..900");
	if (const word_error w = read_number(text + 2, any, into.most))
		return w;
	if (into.least > into.most)
		return because("reversed: the smaller one is first, %u..%u",
			       into.most, into.least);
	return {};
}

word_error read_choice(names among, const char *text, u32 &into)
{
	nearest meant(text);

	for (u32 i = 0; among(i); i++) {
		if (boot::same_text(among(i), text)) {
			into = i;
			return {};
		}
		meant.offer(among(i));
	}
	return unknown(meant);
}

/* Reads one of the names into a type whose values are numbered. */
template <typename T>
word_error read_value(names among, const char *text, T &into)
{
	u32 number = static_cast<u32>(into);
	const word_error w = read_choice(among, text, number);

	into = static_cast<T>(number);
	return w;
}

/* Reads one of the names into the row of a table that has it. */
template <typename Row>
word_error read_row(const Row *table, names among, const char *text,
		    const Row *&into)
{
	u32 number = 0;
	const word_error w = read_choice(among, text, number);

	into = &table[number];
	return w;
}

const char *run_name(u32 number) { return runs[number].name; }

const char *bug_name(u32 number) { return bugs[number].name; }

constexpr const char *modes[] = {"table", "csv", "tap", nullptr};

constexpr const char *parts[] = {"nothing",  "handlers", "nmis",
				 "halts",    "leaves",	 "nests",
				 "handoffs", "updates",	 nullptr};
constexpr u32 part_masks[] = {
	0,	    part_handler, part_nmi,	part_halt,
	part_leave, part_nest,	  part_handoff, part_update};

/* In the order of `seeded`. */
constexpr const char *faults[] = {
	"nothing",	"lost_row",	 "no_timer",	  "no_ipi",
	"no_nmi",	"no_handler",	 "nmi_enters",	  "lost_inner",
	"lost_update",	"lost_permit",	 "nobody_sleeps", "no_exclusion",
	"early",	"late",		 "let_in",	  "no_attempt",
	"right_mutant", "wrong_control", "lost_count",	  "too_few",
	"percentiles",	"no_work",	 "silent_cpu",	  "read_order",
	"write_order",	nullptr};
static_assert(sizeof(faults) / sizeof(faults[0]) ==
	      static_cast<u32>(seeded::write_order) + 2);

/* Every run takes these: they say what the machine is, or what is run. */
constexpr u32 of_all =
	word_run | word_parallel | word_pin | word_x2apic | word_help;

/*
 * Timer interrupts per second and CPU: if they come every 10 us, nothing but
 * handlers runs.
 */
constexpr u32 most_irqs = 100000;

/* Counters of 32 bits still have room for what is done beyond what is asked. */
constexpr u32 most_acquisitions = 4000000000;

constexpr u32 any = ~0u;

word_error check_lock(const char *name)
{
	bool found = boot::same_text(name, "all");
	nearest meant(name);

	klock::selftest::all_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			found |= boot::same_text(name, Subject::name);
			meant.offer(Subject::name);
		});
	return found ? word_error{} : unknown(meant);
}

word_error read_counts(const char *text, options &into)
{
	into.counts = 0;
	return for_each_item(text, [&](const char *item) {
		u32 &counts = into.counts.unchecked;

		if (counts == most_counts)
			return because("more than %u numbers", most_counts);
		const u32 there = boot::cpu_count();
		u32 cpus = 0;
		const word_error w = read_number(item, any, cpus);

		if (!w && cpus > there)
			return because("out of range: at most %u, all CPUs",
				       there);
		into.cpus.unchecked.of[counts++] = cpus;
		return w;
	});
}

template <auto Field, u32 Most>
word_error number(const char *value, options &into)
{
	return read_number(value, Most, (into.*Field).unchecked);
}

template <auto Field>
word_error length(const char *value, options &into)
{
	return read_range(value, (into.*Field).unchecked);
}

word_error read_lock(const char *value, options &into)
{
	into.lock = value;
	return for_each_item(value, check_lock);
}

word_error read_without(const char *value, options &into)
{
	u32 part = 0;
	const word_error w =
		read_choice([](u32 i) { return parts[i]; }, value, part);

	into.without = part_masks[part];
	return w;
}

/* A word; what holds without it, null: it has no value; null: boot reads it. */
struct word_row {
	const char *name;
	u32 word;
	const char *usual;
	const char *means;
	word_error (*read)(const char *value, options &into) = nullptr;
	names among = nullptr; /* of a word that takes one of these */
};

constexpr word_row words[] = {
	{"run", word_run, "measure", "what the lab does: its runs are below",
	 [](const char *value, options &o) {
		 return read_row(runs, run_name, value, o.run);
	 },
	 run_name},
	{"mode", word_mode, "table",
	 "for people; csv: for a script (run.py --csv sets it); tap: KTAP",
	 [](const char *value, options &o) {
		 return read_value([](u32 i) { return modes[i]; }, value,
				   o.output.unchecked);
	 },
	 [](u32 i) { return modes[i]; }},
	{"lock", word_lock, "all", "a name, names with commas, or all",
	 read_lock},
	{"cpus", word_cpus, "0",
	 "how many contend; 0: all; 1,2,4: one run after another", read_counts},
	{"section", word_section, "500",
	 "cycles of a critical section: 300, or 100..900 at random",
	 length<&options::section>},
	{"think", word_think, "0..2000",
	 "cycles between two of them (think time), also as outside=",
	 length<&options::think>},
	{"seconds", word_seconds, "0",
	 "how long; 0: acquisitions= counts; of both, what comes first",
	 number<&options::seconds, any>},
	{"acquisitions", word_acquisitions, "0",
	 "of all CPUs; 0: seconds= counts, 1 with irq=, or 20000",
	 number<&options::acquisitions, most_acquisitions>},
	{"writers", word_writers, "100",
	 "of 100 sections, at random; fewer: of locks that readers share",
	 number<&options::writers, 100>},
	{"irq", word_irq, "0",
	 "timer interrupts per second and CPU that take the lock, too",
	 number<&options::irq, most_irqs>},
	{"seed", word_seed, "1", "of all random numbers",
	 number<&options::seed, any>},
	{"detail", word_detail, "0",
	 "1: shortest and longest handoff and a histogram, in a table",
	 number<&options::detail, 1>},
	{"convoys", word_convoys, "20",
	 "rounds of forced order: the holder stays until all stand in line",
	 number<&options::convoys, any>},
	{"pauses", word_pauses, "0", "between two stores inside",
	 number<&options::pauses, any>},
	{"rest", word_rest, "8", "pauses between two sections, at most",
	 number<&options::rest, any>},
	{"try", word_try, "8", "one in so many is a try_lock(); 0: none",
	 number<&options::try_one_in, any>},
	{"without", word_without, "nothing",
	 "a part of the storm, which must then be missed", read_without,
	 [](u32 i) { return parts[i]; }},
	{"fault", word_fault, "nothing",
	 "a fault of the run itself, which must then end with FAIL",
	 [](const char *value, options &o) {
		 return read_value([](u32 i) { return faults[i]; }, value,
				   o.fault.unchecked);
	 },
	 [](u32 i) { return faults[i]; }},
	{"what", word_what, "two_orders", "the misuse, or the deadlock",
	 [](const char *value, options &o) {
		 return read_row(bugs, bug_name, value, o.what.unchecked);
	 },
	 bug_name},
	{"patience", word_patience, "10000",
	 "ms without progress: the watchdog says that it is stuck",
	 number<&options::patience, any>},
	{"parallel", word_parallel, "0",
	 "1: vCPUs run at the same time, and a pause is no turn",
	 number<&options::parallel, 1>},
	{"pin", word_pin, "all CPUs",
	 "cores, threads, l3, or CPUs as 0,2,4: who is there, in which order"},
	{"x2apic", word_x2apic, nullptr, "local APICs in x2APIC mode"},
	{"help", word_help, nullptr, "alone: prints this"},
};

constexpr u32 word_count = sizeof(words) / sizeof(words[0]);
static_assert(1u << word_count == list_of_cpus);
static_assert([] {
	for (u32 i = 0; i < word_count; i++)
		if (words[i].word != 1u << i)
			return false;
	return true;
}());

/* The lab's word that has this name, or nearly this one. */
nearest word_like(const char *name)
{
	nearest meant(name);

	for (const word_row &row : words)
		meant.offer(row.name);
	return meant;
}

/* The row of a known word. */
const word_row &row_of(const char *name)
{
	const word_row *row = words;

	while (!boot::same_text(row->name, name))
		row++;
	return *row;
}

/* Returns a word's name: `outside` is the former name of think. */
const char *name_of(const boot::word &word)
{
	return boot::same_text(word.name, "outside") ? "think" : word.name;
}

/*
 * Whether a word of the same name comes before this one. Both are refused
 * then, as either could be meant.
 */
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

word_error check_word(const boot::word &word, options &into)
{
	const nearest known = word_like(name_of(word));

	if (came_before(word))
		return because("given twice");
	if (!known.is_exact())
		return unknown(known);
	const word_row &row = row_of(name_of(word));

	if (!row.usual && word.value)
		return because("it takes no value");
	into.help |= row.word == word_help;
	if (!row.read)
		return {};
	if (!word.value || !*word.value)
		return because("its value is missing");
	return row.read(word.value, into);
}

/* Calls use(name) for each run that uses all of these words. */
template <typename Use>
void for_each_user(u32 mask, Use use)
{
	for (const named_run *one = runs; one->name; one++)
		if (uses(*one, mask))
			use(one->name);
}

/* The words that came, and their values that not every run takes; the run. */
constinit u32 given = 0;
constinit u32 was_read = 0;
constinit const named_run *chosen = runs;
constinit seeded fault_now = seeded::nothing;

word_error check_use(const boot::word &word, const options &o)
{
	const u32 one = row_of(name_of(word)).word;
	u32 mask = one;
	const char *what = "it";
	char users[192] = "";
	klock::usize at = 0;

	if (one == word_cpus && o.counts.unchecked > 1) {
		mask = word_cpus | list_of_cpus;
		what = "a list";
	} else if (one == word_mode && o.output.unchecked == mode::csv) {
		mask = word_mode | mode_csv;
		what = "csv";
	}
	given |= one;
	if (uses(*o.run, mask))
		return {};
	for_each_user(mask, [&](const char *run) {
		at += boot::format_to(users + at, sizeof(users) - at, "%s%s",
				      at ? ", " : "", run);
	});
	return because("run=%s does not use %s, these do: %s", o.run->name,
		       what, users);
}

void print_word(const word_row &row)
{
	const char *before = "";

	boot::print("#   %s%s%s  %s\n", row.name, row.usual ? "=" : "",
		    row.usual ? row.usual : "", row.means);
	if (!(row.word & of_all)) {
		boot::print("#     run=");
		for_each_user(row.word, [&](const char *run) {
			boot::print("%s%s", before, run);
			before = "|";
		});
		boot::print("\n");
	}
	if (!row.among)
		return;
	boot::print("#     %s=", row.name);
	for (u32 i = 0; row.among(i); i++)
		boot::print("%s%s", i ? "|" : "", row.among(i));
	boot::print("\n");
}

void print_right_words()
{
	boot::print("# the right words, what holds without them, and the runs "
		    "that use them, if not all:\n");
	for (const word_row &row : words)
		print_word(row);
	boot::print("# what each run does:\n");
	for (const named_run *one = runs; one->name; one++)
		boot::print("#   %s: %s\n", one->name, one->means);
	boot::print("# the locks:\n");
	klock::selftest::all_locks<most_cpus>::for_each([]<typename Subject>() {
		boot::print("#     %s\n", Subject::name);
	});
}

bool needs_apic(const options &o)
{
	return o.irq.unchecked || uses(*o.run, wants_ipis);
}

/* One line: a screen holds few. */
void print_wrong(const char *name, const char *value, const word_error &w)
{
	boot::print("FAIL: wrong word %s%s%s: %s (the word help lists all)\n",
		    name, value ? "=" : "", value ? value : "", w.why);
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

/* Each is one that readers share, where there are readers. */
word_error check_shared(const options &o)
{
	if (o.writers.unchecked == 100 && !uses(*o.run, has_readers))
		return {};
	return for_each_item(o.lock.unchecked, [](const char *item) {
		return is_shared(item)
			       ? word_error{}
			       : because("readers do not share %s", item);
	});
}

/*
 * Fills in what the words leave open: the number of CPUs, the length of a run.
 */
bool complete(options &o)
{
	for (u32 &many : o.cpus.unchecked.of)
		if (!many)
			many = boot::cpu_count();
	/* Interrupts need time to come. */
	if (!o.acquisitions.unchecked && !o.seconds.unchecked) {
		o.seconds = o.irq.unchecked != 0;
		o.acquisitions = o.irq.unchecked ? 0 : 20000;
	}
	if (needs_apic(o) && !boot::has_ipis()) {
		boot::print("FAIL: no local APIC: no interrupts, no NMIs, no "
			    "%s\n",
			    o.irq.unchecked ? "irq=" : "storm");
		return false;
	}
	return true;
}

/* Sets the values that hold without any word: a word's own text states them. */
void set_usual(options &o)
{
	o = {};
	for (const word_row &row : words)
		if (row.read)
			(void)row.read(row.usual, o);
	given = was_read = 0;
}

/* Calls check() for each word; false: one was wrong, and is reported. */
template <typename Check>
bool all_pass(Check check)
{
	for (const boot::word &word : boot::command_line()) {
		if (const word_error w = check(word)) {
			print_wrong(word.name, word.value, w);
			return false;
		}
	}
	return true;
}

} // namespace

bool read_options(options &into)
{
	set_usual(into);
	if (!all_pass([&](const auto &w) { return check_word(w, into); }))
		return false;
	if (into.help)
		return true;
	chosen = into.run;
	fault_now = into.fault.unchecked;
	if (!all_pass([&](const auto &w) { return check_use(w, into); }))
		return false;
	if (const word_error w = check_shared(into)) {
		print_wrong("lock", into.lock.unchecked, w);
		return false;
	}
	return complete(into);
}

bool uses(const named_run &run, u32 words)
{
	return ((run.words | of_all) & words) == words;
}

void note_read(u32 word)
{
	was_read |= word;
	if (uses(*chosen, word))
		return;
	u32 bit = 0;

	while (word >> bit != 1)
		bit++;
	boot::panic("run=%s reads %s=: its row in lab/runs.cpp lacks it",
		    chosen->name,
		    bit < word_count ? words[bit].name : "a list of cpus");
}

bool asks_for(seeded fault)
{
	if (fault != fault_now)
		return false;
	if (!(was_read & word_fault))
		note_read(word_fault);
	return true;
}

const char *unread_word()
{
	for (const word_row &row : words)
		if (given & ~was_read & ~of_all & row.word)
			return row.name;
	return nullptr;
}

described describe_word(u32 row)
{
	if (row >= word_count)
		return {};
	return {words[row].name, words[row].usual, words[row].means,
		words[row].word};
}

described describe_run(u32 row)
{
	return {runs[row].name, "", runs[row].means, runs[row].words | of_all};
}

int print_help()
{
	print_right_words();
	boot::print("PASS\n");
	return 0;
}

bool asks_for(const options &o, const char *name)
{
	bool asked = false;

	/* Every item is looked at: read_options() found the list good. */
	(void)for_each_item(o.lock, [&](const char *item) {
		asked |= boot::same_text(item, "all") ||
			 boot::same_text(item, name);
		return word_error{};
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
