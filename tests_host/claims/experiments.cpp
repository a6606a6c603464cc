/* SPDX-License-Identifier: MIT */
/*
 * experiments - prints what the tests of this folder decide
 *
 * Run: experiments [timelines | overflow | monopoly | bypass | registers]...
 */
#include "schedules.hpp"
#include "stage.hpp"

#include <memory>
#include <string_view>

using namespace claims;
using namespace klock;
using namespace klock::selftest;

namespace {

void print_queue(unsigned contenders)
{
	using lock = narrow_ticket_lock<3>;
	stage<lock> s(contenders);

	std::printf("\n%u contenders\ncomes  takes  next  owner  then\n",
		    contenders);
	for (unsigned i = 0; i < contenders; i++) {
		const u32 draws = counters_of<lock>::in(s.bytes()).first;
		const char *then =
			s.step(i) == place::inside ? "is inside" : "waits";
		const auto [next, owner] = counters_of<lock>::in(s.bytes());

		std::printf("%-7u%-7u%-6u%-7u%s\n", i, draws, next, owner,
			    then);
	}
	std::printf("inside at once: %u\n", s.count(place::inside));
}

void overflow()
{
	std::printf("overflow: narrow_ticket_lock<3>, 3-bit counters; nobody "
		    "leaves\n");
	print_queue(8);
	print_queue(9);
	std::printf("\n");
}

void monopoly()
{
	std::printf("monopoly: one CPU again and again, another waits\n\n"
		    "%-30s%10s%12s\n",
		    "", "scripted", "two cores:");
	std::printf("%-30s%10s%12s%12s%10s%8s\n", "lock", "max cons.",
		    "sections", "contended", "max cons.", "Jain");
	all_locks<2>::for_each([]<typename Subject>() {
		using lock = typename Subject::lock;
		auto r = std::make_unique<rivals<lock>>();

		r->run(std::chrono::milliseconds(100),
		       [](const rivalry &) { return false; });
		std::printf("%-30s%10u%12llu%12llu%10llu%8.3f\n", Subject::name,
			    times_in_a_row<lock>(1000),
			    (unsigned long long)r->seen.sections,
			    (unsigned long long)r->seen.contended,
			    (unsigned long long)r->seen.max_consecutive,
			    r->jain_permille() / 1000.0);
	});
	std::printf("max cons.: maximum consecutive acquisitions; scripted: a "
		    "bound of 1000.\ncontended: since the section before, the "
		    "other has looked again; behind it: of\nthose\n\n");
}

void bypass()
{
	std::printf("bypass: 4 CPUs at random, one of them 6 times as fast, "
		    "200 sections\n\n%-30s%11s%11s%10s%8s%13s\n",
		    "lock", "waited", "bypassed", "max cons.", "Jain",
		    "slow climb");
	all_locks<4>::for_each([]<typename Subject>() {
		using lock = typename Subject::lock;
		constexpr bool four = Subject::capacity >= 4;
		const crowd_result r = play<lock>({.actors = four ? 4u : 2u,
						   .entries = 200,
						   .speed = 6,
						   .seed = 1});

		std::printf("%-30s%11u%11u%10u%8.3f", Subject::name, r.waited,
			    r.bypassed, r.max_consecutive,
			    r.jain_permille / 1000.0);
		if constexpr (four)
			std::printf("%13u\n", climb_slowly<lock>(100).bypassed);
		else
			std::printf("%13s\n", "2 CPUs");
	});
	std::printf("bypassed: most by later arrivals in one wait; slow climb: "
		    "while a CPU that waits\ntakes no step, of 100\n\n");
}

template <unsigned... Cpus>
void register_rows()
{
	(std::printf("%6u%12zu%12zu%14zu%14zu%12zu\n", Cpus,
		     registers_of<bakery_lock<Cpus>>,
		     registers_of<tournament_lock<Cpus>>,
		     sizeof(bakery_lock<Cpus>), sizeof(tournament_lock<Cpus>),
		     sizeof(ticket_lock_for<Cpus>)),
	 ...);
}

void registers()
{
	std::printf("registers: what loads and stores alone need, at least a "
		    "register for each CPU\n\n%6s%24s%28s\n"
		    "%6s%12s%12s%14s%14s%12s\n",
		    "", "registers", "bytes", "CPUs", "bakery", "tournament",
		    "bakery", "tournament", "ticket");
	register_rows<2, 3, 4, 8, 16, 64, 256>();
	std::printf("\n");
}

/* The two tables of source text 003. */
template <typename L>
void print_timeline(const char *title, std::span<const cue> script)
{
	constexpr unsigned threads = 3;
	constexpr int width = 17;
	const std::vector<row> rows = play<L>(script, threads);
	int time = 1;

	std::printf("%s\n\n%-6s", title, "time");
	for (unsigned i = 0; i < threads; i++)
		std::printf("thread %-*c", width - 7, 'A' + i);
	for (const std::string &head : words<L>::heads())
		std::printf("%13s", head.c_str());
	std::printf("\n");
	for (const row &r : rows) {
		std::printf("t%-5d", time++);
		for (unsigned i = 0; i < threads; i++)
			std::printf("%-*s", width,
				    i == r.who ? r.cell.c_str() : "");
		for (u32 value : r.values)
			std::printf("%13u", value);
		std::printf("\n");
	}
	std::printf("\n");
}

void timelines()
{
	print_timeline<ticket_lock<u8>>("ticket_lock: first come, first served",
					one_after_another);
	print_timeline<tas_lock>("tas_lock: A comes back, B and C starve",
				 one_comes_back);
	print_timeline<ticket_lock<u8>>(
		"ticket_lock, the same schedule: A has to queue",
		one_comes_back);
}

} // namespace

int main(int argc, char **argv)
{
	static const struct {
		std::string_view name;
		void (*run)();
	} all[] = {{"timelines", timelines},
		   {"overflow", overflow},
		   {"monopoly", monopoly},
		   {"bypass", bypass},
		   {"registers", registers}};
	int known = 0;

	std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
	for (const auto &one : all) {
		bool wanted = argc == 1;
		for (int i = 1; i < argc; i++)
			wanted |= argv[i] == one.name;
		if (wanted)
			one.run();
		known += wanted;
	}
	return known >= argc - 1 && known ? 0 : 2;
}
