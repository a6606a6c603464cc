/* SPDX-License-Identifier: MIT */
/*
 * A wrong word ends a run of the lab by one line: which word, why, what was
 * probably meant, where the list of all is. read_options() on the host, with
 * the kernel's command line and console made up.
 */
#include "../lab/options.hpp"

#include <boot/kernel.hpp>

#include <catch.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::vector<std::string> texts;
std::vector<boot::word> line;
std::string printed;
bool ipis = true;

/* The names of the runs that use a word, as README has them. */
std::string users(lab::u32 word)
{
	std::string some;
	bool all = true;

	for (lab::u32 i = 0; lab::describe_run(i).name; i++) {
		const lab::described run = lab::describe_run(i);

		if (!(run.words & word)) {
			all = false;
			continue;
		}
		some += (some.empty() ? "" : ", ") + std::string(run.name);
		if (word == lab::word_cpus && !(run.words & lab::list_of_cpus))
			some += " (one number)";
		if (word == lab::word_mode && (run.words & lab::mode_csv))
			some += " (`csv`, too)";
	}
	return all ? "all" : some;
}

/* README's two tables. */
std::string tables()
{
	std::string text = "| word | means | without it | of `run=` |\n"
			   "|---|---|---|---|\n";

	for (lab::u32 i = 0; lab::describe_word(i).name; i++) {
		const lab::described word = lab::describe_word(i);

		text += "| `" + std::string(word.name) +
			(word.usual ? "=" : "") + "` | " + word.means + " | " +
			(word.usual ? word.usual : "") + " | " +
			users(word.words) + " |\n";
	}
	text += "\n| `run=` | does |\n|---|---|\n";
	for (lab::u32 i = 0; lab::describe_run(i).name; i++) {
		const lab::described run = lab::describe_run(i);

		text += "| `" + std::string(run.name) + "` | " + run.means +
			" |\n";
	}
	return text;
}

/* Names and values, cut as boot cuts them. */
void set_line(const std::string &words)
{
	std::istringstream of(words);

	texts.clear();
	line.clear();
	for (std::string word; of >> word;)
		texts.push_back(word);
	for (std::string &text : texts) {
		const auto sign = text.find('=');

		line.push_back({text.data(), nullptr});
		if (sign == std::string::npos)
			continue;
		text[sign] = 0;
		line.back().value = text.data() + sign + 1;
	}
}

struct verdict {
	bool good;
	std::string said;
	lab::options o;
};

verdict read(const std::string &words)
{
	verdict v = {};

	set_line(words);
	printed.clear();
	v.good = lab::read_options(v.o);
	v.said = printed;
	return v;
}

} // namespace

namespace boot {

words command_line() { return {line.data(), line.data() + line.size()}; }
unsigned cpu_count() { return 2; }
bool has_ipis() { return ipis; }

void panic_list(const char *format, const format_argument *arguments)
{
	print_list(format, arguments);
	throw std::runtime_error(printed);
}

void print_list(const char *format, const format_argument *arguments)
{
	format_list({[](void *, char c) { printed += c; }, nullptr}, format,
		    arguments);
}

} // namespace boot

TEST_CASE("lab: one line says what is wrong with a word")
{
	struct line {
		const char *words; /* the last one is wrong */
		const char *why;
	};
	const line wrong_lines[] = {
		{"lock=no_such_lock", "no_such_lock is unknown"},
		{"lock=ticket_lock",
		 "ticket_lock is unknown, did you mean ticket_lock<u8>?"},
		{"lock=tas_lock,msc_lock",
		 "msc_lock is unknown, did you mean mcs_lock?"},
		{"lock=mcs_lock,,clh_lock", "an empty item in the list"},
		{"lok=all", "lok is unknown, did you mean lock?"},
		{"acquisitons=5",
		 "acquisitons is unknown, did you mean acquisitions?"},
		{"verbose=1", "verbose is unknown"},
		{"run=measures", "measures is unknown, did you mean measure?"},
		{"section=5..1", "reversed: the smaller one is first, 1..5"},
		{"section=5..", "a number is missing"},
		{"section=5.9", "neither a number nor a range, as 100..900"},
		{"cpus=two", "\"two\" is not a whole number"},
		{"cpus=1,3", "out of range: at most 2, all CPUs"},
		{"mode", "its value is missing"},
		{"x2apic=0", "it takes no value"},
		{"run=locks help=", "it takes no value"},
		{"run=locks mode=csv",
		 "run=locks does not use csv, these do: measure, backoff, "
		 "instructions, pairs, topology"},
		{"seconds=-1", "\"-1\" is not a whole number"},
		{"seconds=18446744073709551617",
		 "out of range: at most 4294967295"},
		{"irq=100000000", "out of range: at most 100000"},
		{"irq=2000000000", "out of range: at most 100000"},
		{"acquisitions=4294967295", "out of range: at most 4000000000"},
		{"detail=2", "out of range: at most 1"},
		{"lock=tas_lock seed=2 lock=mcs_lock", "given twice"},
		{"outside=9..1", "reversed: the smaller one is first, 1..9"},
		{"think=5 outside=7", "given twice"},
		{"writers=101", "out of range: at most 100"},
		{"run=locks writers=10",
		 "run=locks does not use it, these do: measure"},
		{"run=topology seconds=3",
		 "run=topology does not use it, these do: measure, backoff"},
		{"rest=8 run=locks seconds=0",
		 "run=locks does not use it, these do: measure, backoff"},
		{"what=nmi_lock",
		 "run=measure does not use it, these do: deadlock"},
		{"run=shared_storm convoys=1",
		 "run=shared_storm does not use it, these do: locks, storm, "
		 "busted, busted_storm, shared, busted_shared"},
		{"run=panic outside=5",
		 "run=panic does not use it, these do: measure, backoff"},
		{"run=busted cpus=1,2",
		 "run=busted does not use a list, these do: measure, locks, "
		 "storm, sequences, deadline, sleep, shared, shared_storm, "
		 "backoff, pairs"},
		{"run=deadlock what=two_order",
		 "two_order is unknown, did you mean two_orders?"},
		{"writers=10 lock=reader_lock,tas_lock",
		 "readers do not share tas_lock"},
		{"run=shared lock=tas_lock", "readers do not share tas_lock"},
		{"cpus=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
		 "more than 16 numbers"},
	};

	for (const line &l : wrong_lines) {
		const std::string words = l.words;
		const std::string last = words.substr(words.rfind(' ') + 1);
		const verdict v = read(words);

		INFO(words);
		CHECK_FALSE(v.good);
		CHECK(v.said == "FAIL: wrong word " + last + ": " + l.why +
					" (the word help lists all)\n");
	}
}

TEST_CASE("lab: right words are taken, and complete each other")
{
	verdict v = read("");

	CHECK(v.good);
	CHECK(v.said.empty());
	CHECK(v.o.run->name == std::string("measure"));
	CHECK(v.o.acquisitions == 20000);
	CHECK(v.o.counts == 1);
	CHECK(v.o.cpus[0] == 2);
	CHECK(lab::asks_for(v.o, "mcs_lock"));

	v = read("run=backoff mode=tap seed=0x10 section=100..900 outside=7 "
		 "cpus=1,2 pin=cores x2apic");
	CHECK(v.good);
	CHECK(v.o.run->name == std::string("backoff"));
	CHECK(v.o.output == lab::mode::tap);
	CHECK(v.o.seed == 16);
	CHECK(v.o.section->least == 100);
	CHECK(v.o.section->most == 900);
	CHECK(v.o.think->least == 7);
	CHECK(v.o.think->most == 7);
	CHECK(v.o.counts == 2);
	CHECK(v.o.cpus[1] == 2);
	v = read("run=storm lock=tas_lock,mcs_lock without=nmis");
	CHECK(v.o.without == lab::part_nmi);
	CHECK(lab::locks_asked_for(v.o) == 2);
	CHECK_FALSE(lab::asks_for(v.o, "clh_lock"));

	/* Interrupts need time to come. */
	CHECK(read("irq=10").o.seconds == 1);
	CHECK(read("irq=10 acquisitions=5").o.seconds == 0);
	CHECK(read("seconds=2").o.acquisitions == 0);
	CHECK(read("run=locks").o.acquisitions == 20000);
	CHECK(read("run=deadlock what=nmi_lock").o.what.read()->name ==
	      std::string("nmi_lock"));
	CHECK(read("writers=10 lock=reader_lock").o.writers == 10);
	CHECK(read("help").o.help);
	CHECK(read("run=topology seconds=3 help").o.help);
}

TEST_CASE("lab: a storm wants interrupts")
{
	ipis = false;
	for (const char *words : {"run=storm", "run=busted_storm",
				  "run=sequences", "run=shared_storm"}) {
		const verdict v = read(words);

		INFO(words);
		CHECK_FALSE(v.good);
		CHECK(v.said == "FAIL: no local APIC: no interrupts, no NMIs, "
				"no storm\n");
	}
	CHECK_FALSE(read("irq=5").good);
	CHECK(read("run=locks").good);
	ipis = true;
}

TEST_CASE("lab: the list of the words")
{
	printed.clear();
	CHECK(lab::print_help() == 0);
	for (const char *text : {"run=measure|locks|storm", "acquisitions=0",
				 "ticket_lock<u8>", "sequences", "section=500"})
		CHECK(printed.find(text) != std::string::npos);
	CHECK(printed.ends_with("PASS\n"));
}

TEST_CASE("lab: a run that reads a word which its row lacks panics")
{
	verdict v = read("run=topology");

	CHECK(v.o.output == lab::mode::table);
	CHECK_THROWS_WITH(v.o.seed.read(),
			  "run=topology reads seed=: its row in "
			  "lab/runs.cpp lacks it");
	v = read("run=busted");
	CHECK(v.o.cpus[0] == 2);
	CHECK_THROWS(v.o.counts.read());
}

TEST_CASE("lab: a word that was given and never read is known")
{
	const verdict v = read("run=measure seed=7 irq=5 parallel=1");

	CHECK(v.o.irq == 5);
	REQUIRE(lab::unread_word());
	CHECK(lab::unread_word() == std::string("seed"));
	CHECK(v.o.seed == 7);
	CHECK_FALSE(lab::unread_word());

	CHECK(read("run=counts fault=lost_count").good);
	CHECK_FALSE(lab::asks_for(lab::seeded::silent_cpu));
	REQUIRE(lab::unread_word());
	CHECK(lab::unread_word() == std::string("fault"));
	CHECK(lab::asks_for(lab::seeded::lost_count));
	CHECK_FALSE(lab::unread_word());
}

/* The target words_table writes them. */
TEST_CASE("lab: README's tables of words and runs are those of the code")
{
	const std::string begin = "<!-- words: begin -->\n";
	std::ifstream file(KLOCK_README);
	std::stringstream all;

	all << file.rdbuf();
	std::string text = all.str();
	const auto from = text.find(begin) + begin.size();
	const auto to = text.find("<!-- words: end -->");

	REQUIRE(from <= to);
	REQUIRE(to != std::string::npos);
	if (std::getenv("KLOCK_WRITE_TABLES"))
		std::ofstream(KLOCK_README)
			<< text.replace(from, to - from, tables());
	else
		CHECK(text.substr(from, to - from) == tables());
}
