/* SPDX-License-Identifier: MIT */
/*
 * options - what the kernel command line asks of the lab
 */
#include "options.hpp"

#include <boot/kernel.hpp>
#include "runner.hpp"

namespace lab {

namespace {

/* A value's name and what it stands for. */
struct choice {
	const char *name;
	u32 value;
};

constexpr choice modes[] = {{"table", static_cast<u32>(mode::table)},
			    {"tap", static_cast<u32>(mode::tap)},
			    {}};

constexpr choice jobs[] = {{"locks", static_cast<u32>(job::locks)},
			   {"busted", static_cast<u32>(job::busted)},
			   {"panic", static_cast<u32>(job::panic)},
			   {"fault", static_cast<u32>(job::fault)},
			   {"fail", static_cast<u32>(job::fail)},
			   {"hang", static_cast<u32>(job::hang)},
			   {"reset", static_cast<u32>(job::reset)},
			   {}};

/* A word that takes a number. */
struct number_word {
	const char *name;
	u32 options::*field;
	const char *meaning;
};

constexpr number_word numbers[] = {
	{"cpus", &options::cpus, "CPUs that contend; 0: all"},
	{"acquisitions", &options::acquisitions, "of free contention, a lock"},
	{"convoys", &options::convoys, "rounds of forced order, a lock"},
	{"section", &options::section, "pauses between two stores inside"},
	{"outside", &options::outside, "most pauses between two sections"},
	{"try", &options::try_one_in, "one attempt in so many is try_lock"},
	{"parallel", &options::parallel, "1: vCPUs run at the same time"},
	{"seed", &options::seed, "of the random numbers"},
};

bool read_number(const char *text, u32 &into)
{
	klock::u64 value;

	if (!boot::parse_u64(text, value) || value > 0xffffffffu)
		return false;
	into = static_cast<u32>(value);
	return true;
}

bool read_choice(const choice *among, const char *text, u32 &into)
{
	for (; among->name; among++) {
		if (!boot::same_text(among->name, text))
			continue;
		into = among->value;
		return true;
	}
	return false;
}

bool is_lock(const char *name)
{
	bool found = boot::same_text(name, "all");

	klock::selftest::all_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			found |= boot::same_text(name, Subject::name);
		});
	return found;
}

/* True if the word was known and its value good. */
bool read_word(const char *name, const char *value, options &into)
{
	u32 chosen;

	for (const number_word &word : numbers)
		if (boot::same_text(word.name, name))
			return read_number(value, into.*word.field);
	if (boot::same_text(name, "lock")) {
		into.lock = value;
		return is_lock(value);
	}
	if (boot::same_text(name, "mode") &&
	    read_choice(modes, value, chosen)) {
		into.output = static_cast<mode>(chosen);
		return true;
	}
	if (boot::same_text(name, "run") && read_choice(jobs, value, chosen)) {
		into.run = static_cast<job>(chosen);
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
	const options by_default;

	boot::print("# the right words, and what holds without them:\n");
	print_choices("mode", modes);
	print_choices("run", jobs);
	for (const number_word &word : numbers)
		boot::print("#   %s=%u  %s\n", word.name,
			    by_default.*word.field, word.meaning);
	boot::print("#   lock=all");
	klock::selftest::all_locks<most_cpus>::for_each(
		[]<typename Subject>() { boot::print("|%s", Subject::name); });
	boot::print("\n");
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
	if (into.cpus > boot::cpu_count()) {
		boot::print("FAIL: cpus=%u, but there are %u\n", into.cpus,
			    boot::cpu_count());
		return false;
	}
	if (into.cpus == 0)
		into.cpus = boot::cpu_count();
	return true;
}

bool asks_for(const options &o, const char *name)
{
	return boot::same_text(o.lock, "all") || boot::same_text(o.lock, name);
}

} // namespace lab
