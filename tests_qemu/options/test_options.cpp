/* SPDX-License-Identifier: MIT */
/*
 * A wrong word ends a run of the lab by one line: which word, why, what was
 * probably meant, where the list of all is. read_options() on the host, with
 * the kernel's command line and console made up.
 */
#include "../lab/options.hpp"

#include <boot/kernel.hpp>

#include <catch.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> texts;
std::vector<boot::word> line;
std::string printed;
bool ipis = true;

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
		{"run=locks mode=csv", "this run= has none"},
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
		{"run=locks writers=10", "this run= has none"},
		{"run=misuse what=two_orders", "run=deadlock alone has it"},
		{"run=misuse what=served", "run=deadlock alone has it"},
		{"lock=reader_lock,tas_lock writers=10",
		 "readers do not share tas_lock"},
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
	CHECK(v.o.run == lab::job::measure);
	CHECK(v.o.acquisitions == 20000);
	CHECK(v.o.counts == 1);
	CHECK(v.o.cpus[0] == 2);
	CHECK(lab::asks_for(v.o, "mcs_lock"));

	v = read("run=sequences mode=tap seed=0x10 section=100..900 outside=7 "
		 "cpus=1,2 lock=tas_lock,mcs_lock pin=cores x2apic "
		 "without=nmis");
	CHECK(v.good);
	CHECK(v.o.run == lab::job::sequences);
	CHECK(v.o.output == lab::mode::tap);
	CHECK(v.o.seed == 16);
	CHECK(v.o.section.least == 100);
	CHECK(v.o.section.most == 900);
	CHECK(v.o.think.least == 7);
	CHECK(v.o.think.most == 7);
	CHECK(v.o.counts == 2);
	CHECK(v.o.cpus[1] == 2);
	CHECK(v.o.without == lab::part_nmi);
	CHECK(lab::locks_asked_for(v.o) == 2);
	CHECK_FALSE(lab::asks_for(v.o, "clh_lock"));

	/* Interrupts need time to come. */
	CHECK(read("irq=10").o.seconds == 1);
	CHECK(read("irq=10 acquisitions=5").o.seconds == 0);
	CHECK(read("seconds=2").o.acquisitions == 0);
	CHECK(read("run=locks seconds=2").o.acquisitions == 20000);
	CHECK(read("run=misuse what=upgrade").o.what == lab::misuse::upgrade);
	CHECK(read("writers=10 lock=reader_lock").o.writers == 10);
	CHECK(read("help").o.help);
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
	for (const char *text :
	     {"run=measure|locks|storm", "acquisitions=0", "ticket_lock<u8>",
	      "sequences", "section=500..500"})
		CHECK(printed.find(text) != std::string::npos);
	CHECK(printed.ends_with("PASS\n"));
}
