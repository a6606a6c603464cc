/* SPDX-License-Identifier: MIT */
/*
 * The Cost field of each lock's header against the simulation.
 */
#include "every_lock.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>

#include <catch.hpp>

namespace sim {

/*
 * cost_field - what a lock header's Cost field claims, as numbers
 *
 *	Cost:  uncontended: 1 RMW, 1 store, 2 lines; handoff with w waiters:
 *	       w + 1 to 2 w + 2 misses
 *
 * Before the semicolon, each `<number> <unit>` is a claim. Units: RMW, stores,
 * full fences, of which there are none if nothing is said; loads; lines, which
 * must be said. A number is `no`, digits, or what grows with the CPUs that the
 * lock is built for: `2 x Cpus`, `Cpus / 16` (rounded up), `3 x log2(Cpus)`.
 *
 * Behind it, misses or transfers: a number, `a w + b`, `a (w + b)`, or two of
 * them with `to` in between; `up to` has no lower end. Other words are for
 * people. Of a lock that readers share both are said of a read besides, which
 * writers do not disturb:
 *
 *	; a read: 2 RMW, 1 line; among r readers: r + 1 misses
 */

struct range {
	double least, most;

	friend bool operator==(const range &, const range &) = default;
};

/* Claims about one acquisition without waiters, by unit. */
using unit_claims = std::map<std::string, range>;

/* a w + b, w being the number of CPUs that wait. */
struct growth {
	double a, b;

	double at(double w) const { return a * w + b; }
};

struct misses_claim {
	std::optional<growth> least;
	growth most;
	bool transfers; /* else misses */
};

/* Claims about a read: alone, and among w readers. */
struct read_claim {
	unit_claims alone;
	misses_claim together;
};

struct cost_claim {
	unit_claims alone;
	misses_claim handoff;
	std::optional<read_claim> read; /* where one is made */
	std::string error;		/* not empty: what could not be read */
};

/* The Cost field of the header's text, on one line, less its Checked. */
std::string cost_field(const std::string &header_text);

cost_claim read_cost(const std::string &field, unsigned cpus);

namespace {

std::string replaced(const std::string &in, const char *pattern,
		     const char *with)
{
	return std::regex_replace(in, std::regex(pattern), with);
}

/*
 * The number that the match's groups make: up to, times x, what, over y, plus
 * z; or digits.
 */
range value(const std::smatch &m, unsigned cpus)
{
	const double times = m[2].matched ? std::stod(m[2]) : 1;
	const double over = m[4].matched ? std::stod(m[4]) : 1;
	double number = 0;

	if (m[3].matched)
		number = std::ceil(times *
				   (m[3] == "Cpus" ? cpus : std::log2(cpus)) /
				   over) +
			 (m[5].matched ? std::stod(m[5]) : 0);
	else if (m[6] != "no")
		number = std::stod(m[6]);
	return {m[1].matched ? 0 : number, number};
}

unit_claims read_alone(const std::string &text, unsigned cpus)
{
	static const std::regex claim(
		"(up to )?(?:(?:(\\d+) x )?(log2\\(Cpus\\)|Cpus)(?: / (\\d+))?"
		"(?: \\+ (\\d+))?|"
		"\\b(\\d+|no)) (RMW|load|store|full fence|line)s?\\b");
	unit_claims all;
	std::sregex_iterator at(text.begin(), text.end(), claim), end;

	for (; at != end; ++at)
		all[(*at)[7]] = value(*at, cpus);
	return all;
}

/* Five groups: all; a, and b, or the b in brackets; or a number. */
const std::string term = "((?:(\\d+) )?(?:w(?: \\+ (\\d+))?|"
			 "\\(w \\+ (\\d+)\\))|(\\d+))";

growth read_term(const std::smatch &m, unsigned group)
{
	const auto number = [&m](unsigned i, double otherwise) {
		return m[i].matched ? std::stod(m[i]) : otherwise;
	};

	if (m[group + 4].matched)
		return {0, number(group + 4, 0)};
	const double a = number(group + 1, 1);
	return {a, number(group + 2, 0) + a * number(group + 3, 0)};
}

bool read_misses(const std::string &text, misses_claim &claim)
{
	static const std::regex form("(up to )?" + term + "(?: to " + term +
				     ")? (misses|transfers)\\b");
	std::smatch m;

	if (!std::regex_search(text, m, form))
		return false;
	claim.most = read_term(m, m[7].matched ? 7 : 2);
	claim.least.reset();
	if (!m[1].matched)
		claim.least = read_term(m, 2);
	claim.transfers = m[12] == "transfers";
	return true;
}

} // namespace

std::string cost_field(const std::string &header)
{
	const std::size_t from = header.find("\n * Cost:");

	if (from == std::string::npos)
		return "";
	std::string field = header.substr(from, header.find("*/", from) - from);
	field = replaced(field, "\n \\*", " ");
	field = field.substr(0, field.find("Checked:"));
	field = replaced(field, "\\s+", " ");
	return replaced(field, "^ Cost: ", "");
}

namespace {

/* A unit that is not named must not be done. */
unit_claims read_units(const std::string &text, unsigned cpus,
		       std::string &error)
{
	unit_claims all = read_alone(text, cpus);

	if (!all.count("line"))
		error += "no number of lines uncontended; ";
	for (const char *unit : {"RMW", "store", "full fence"})
		all.try_emplace(unit, range{0, 0});
	return all;
}

/* "a read: ...; among r readers: ..." */
read_claim read_of_read(const std::string &text, unsigned cpus,
			std::string &error)
{
	const std::size_t middle = text.find(';');
	read_claim claim;

	claim.alone = read_units(text.substr(0, middle), cpus, error);
	if (middle == std::string::npos ||
	    !read_misses(replaced(text.substr(middle), "\\br\\b", "w"),
			 claim.together))
		error += "no misses or transfers among r readers; ";
	return claim;
}

} // namespace

cost_claim read_cost(const std::string &field, unsigned cpus)
{
	const std::size_t middle = field.find(';');
	const std::size_t of_read = field.find("; a read:");
	cost_claim claim{};

	if (middle == std::string::npos) {
		claim.error = "no ';' between uncontended and handoff";
		return claim;
	}
	claim.alone = read_units(field.substr(0, middle), cpus, claim.error);
	if (!read_misses(field.substr(middle, of_read - middle), claim.handoff))
		claim.error += "no misses or transfers with w waiters; ";
	if (of_read != std::string::npos)
		claim.read = read_of_read(field.substr(of_read + 1), cpus,
					  claim.error);
	return claim;
}

} // namespace sim

using namespace klock;
using namespace sim;

namespace {

constexpr double slack = 0.1; /* and a half: the load varies a little */

/* The header that defines the type: not always the one of its name. */
std::string header_of(const std::string &type)
{
	namespace fs = std::filesystem;

	for (const auto &entry : fs::directory_iterator(KLOCK_HEADERS)) {
		if (entry.path().extension() != ".hpp")
			continue;
		std::ostringstream text;
		text << std::ifstream(entry.path()).rdbuf();
		for (const char *then : {" {", " :"})
			if (text.str().find("\nstruct " + type + then) !=
			    std::string::npos)
				return text.str();
	}
	return "";
}

std::string type_of(const std::string &name)
{
	return name.substr(0, name.find('<'));
}

std::string print(double v)
{
	std::ostringstream out;

	out << v;
	return out.str();
}

/* Returns the rounding that a claim may have: 2 x Cpus - 1 is 2 x Cpus. */
double few(double number) { return 0.2 + number / 15; }

/* Returns the fault, "" if the claim holds. */
std::string check_alone(const unit_claims &claims, const alone &did)
{
	const std::map<std::string, double> found = {{"RMW", did.rmws},
						     {"load", did.loads},
						     {"store", did.stores},
						     {"full fence", did.fences},
						     {"line", did.lines}};
	std::string wrong;

	for (const auto &[unit, claimed] : claims)
		if (found.at(unit) > claimed.most + few(claimed.most) ||
		    found.at(unit) < claimed.least - few(claimed.least))
			wrong += print(found.at(unit)) + " " + unit +
				 "s, not " + print(claimed.least) + " to " +
				 print(claimed.most) + "; ";
	return wrong;
}

/*
 * Returns the fault in the misses of a read or an acquisition among that many.
 */
template <typename Figures>
std::string check_misses(const misses_claim &c, double among, const char *whom,
			 const Figures &did)
{
	double found = did.misses;
	const double most = c.most.at(among);
	const double least = c.least ? c.least->at(among) : 0;

	if constexpr (requires { did.transfers; })
		if (c.transfers)
			found = did.transfers;
	if (found <= most * (1 + slack) + 0.5 &&
	    found >= least * (1 - slack) - 0.5)
		return "";
	return print(found) + (c.transfers ? " transfers" : " misses") +
	       " with " + print(among) + whom + ", not " + print(least) +
	       " to " + print(most) + "; ";
}

std::string check_handoff(const cost_claim &claim, const figures &did)
{
	return check_misses(claim.handoff, did.cpus - 1, " waiters", did);
}

/* Returns the figures, which test_every_lock.cpp looks at, too. */
figures measured_at(const std::string &name, unsigned cpus)
{
	const auto &measured =
		cpus > 128 ? every_lock_measured(1024) : every_lock_measured();

	for (const figures &f : measured.rows)
		if (f.lock == name && f.cpus == cpus)
			return f;
	FAIL(name << " is not measured at " << cpus << " CPUs");
	return {};
}

template <unsigned Cpus, typename List = tested<selftest::all_locks<Cpus>>>
void check_list(std::map<std::string, std::string> &wrong)
{
	List::for_each([&]<typename Subject>() {
		using lock = typename Subject::lock;
		const unsigned wanted =
			Cpus < most_cpus<Subject> ? Cpus : most_cpus<Subject>;
		const unsigned n =
			wanted < Subject::capacity
				? wanted
				: static_cast<unsigned>(Subject::capacity);
		const std::string name = Subject::name;
		const std::string field = cost_field(header_of(type_of(name)));
		const cost_claim claim = read_cost(field, Cpus);

		if (!claim.error.empty())
			wrong[name] = claim.error;
		else
			wrong[name] +=
				check_alone(claim.alone,
					    measure_alone<lock>(512)) +
				check_handoff(claim, measured_at(name, n));
	});
}

template <typename List>
std::size_t size_of()
{
	std::size_t all = 0;

	List::for_each([&all]<typename>() { all++; });
	return all;
}

/* At 0 % writers, with all readers at it all the time. */
template <unsigned Cpus>
void check_reads(std::map<std::string, std::string> &wrong)
{
	tested<selftest::all_shared_locks<Cpus>>::for_each(
		[&]<typename Subject>() {
			using lock = typename Subject::lock;
			const std::string name = Subject::name;
			const cost_claim claim = read_cost(
				cost_field(header_of(type_of(name))), Cpus);

			wrong[name] += claim.error;
			if (!claim.read) {
				wrong[name] += "nothing said of a read; ";
				return;
			}
			wrong[name] +=
				check_alone(claim.read->alone,
					    measure_read_alone<lock>(512));
			if (Cpus > readers_served<Subject>())
				return;
			const shared_figures f = measure_shared<lock>(
				name.c_str(), xeon_8180, {.cpus = Cpus});
			wrong[name] += check_misses(claim.read->together, Cpus,
						    " readers", f.read);
		});
}

} // namespace

namespace {

void check_each(const std::map<std::string, std::string> &wrong,
		std::size_t size)
{
	for (const auto &[name, what] : wrong) {
		INFO(name << " says \"" << cost_field(header_of(type_of(name)))
			  << "\"");
		CHECK(what == "");
	}
	CHECK(wrong.size() == size);
}

} // namespace

/* Each claim grows along a line: two sizes show it. */
TEST_CASE("costs: what each header says is what the simulation counts")
{
	std::map<std::string, std::string> wrong;

	check_list<8>(wrong);
	check_list<128>(wrong);
	check_each(wrong, size_of<tested<selftest::all_locks<8>>>());
}

TEST_CASE("costs: what it says of a read, for each lock that readers share")
{
	std::map<std::string, std::string> wrong;

	check_reads<8>(wrong);
	check_reads<128>(wrong);
	check_each(wrong, size_of<tested<selftest::all_shared_locks<8>>>());
}

#ifdef KLOCK_OTHER_WIDTHS
TEST_CASE("costs: of all widths at 32 and at 1,024 CPUs, too")
{
	std::map<std::string, std::string> wrong;

	check_list<32, selftest::all_locks<32>>(wrong);
	check_list<1024, selftest::all_locks<1024>>(wrong);
	check_reads<32>(wrong);
	check_each(wrong, selftest::all_locks<8>::size);
}
#endif

TEST_CASE("costs: a field is read as people read it")
{
	const std::string header =
		"/*\n * x - y\n *\n"
		" * Cost:        uncontended: 1 RMW, and one "
		"more each\n *              round, 3 stores, "
		"no full fence,\n *\t2 x Cpus loads, Cpus / "
		"16 lines; handoff with w waiters:\n"
		" *              2 w + 3 to 4 w misses, "
		"whatever\n *              Checked: x\n */\n";
	const cost_claim c = read_cost(cost_field(header), 64);

	CHECK(c.error == "");
	CHECK(c.alone == unit_claims{{"RMW", {1, 1}},
				     {"store", {3, 3}},
				     {"full fence", {0, 0}},
				     {"load", {128, 128}},
				     {"line", {4, 4}}});
	CHECK(c.handoff.least->at(10) == 23);
	CHECK(c.handoff.most.at(10) == 40);
	CHECK_FALSE(c.handoff.transfers);

	const cost_claim flat = read_cost(
		"no RMW, 3 x log2(Cpus) stores, 1 line; about 6 transfers", 32);
	CHECK(flat.error == "");
	CHECK(flat.alone.at("store") == range{15, 15});
	CHECK(flat.handoff.most.at(100) == 6);
	CHECK(flat.handoff.least->at(100) == 6);
	CHECK(flat.handoff.transfers);

	const cost_claim plus =
		read_cost("1 RMW, no store, Cpus + 1 lines; w misses", 8);
	CHECK(plus.alone.at("line") == range{9, 9});

	const cost_claim up_to = read_cost(
		"1 RMW, 1 store, up to Cpus / 3 lines; up to 2 w + 2 misses",
		8);
	CHECK(up_to.alone.at("line") == range{0, 3});
	CHECK_FALSE(up_to.handoff.least.has_value());
	CHECK(up_to.handoff.most.at(3) == 8);

	const cost_claim brackets =
		read_cost("2 RMW, 1 line; w to 2 (w + 1) misses", 2);
	CHECK(brackets.alone.at("store") == range{0, 0});
	CHECK(brackets.handoff.least->at(7) == 7);
	CHECK(brackets.handoff.most.at(7) == 16);

	const cost_claim shared = read_cost(
		"2 RMW, 1 line; w + 1 to 2 w misses; a read: 1 RMW, 2 lines; "
		"among r readers: r + 3 misses",
		2);
	CHECK(shared.error == "");
	CHECK(shared.handoff.most.at(7) == 14);
	CHECK(shared.read->alone.at("RMW") == range{1, 1});
	CHECK(shared.read->alone.at("store") == range{0, 0});
	CHECK(shared.read->together.least->at(8) == 11);
	CHECK_FALSE(brackets.read.has_value());

	for (const char *half : {"a read: 1 RMW", "a read: 1 line",
				 "a read: 1 line; among r readers: some"})
		CHECK_FALSE(
			read_cost(std::string("1 line; w misses; ") + half, 2)
				.error.empty());
	CHECK_FALSE(read_cost("1 RMW, 1 store; w misses", 2).error.empty());
	CHECK_FALSE(read_cost("1 RMW, 1 store, 1 line; some", 2).error.empty());
	CHECK_FALSE(read_cost("cheap", 2).error.empty());
}

TEST_CASE("costs: a claim that does not hold is found")
{
	const figures mcs = measure<mcs_lock>("", xeon_8180, {.cpus = 32});
	const alone mcs_alone = measure_alone<mcs_lock>(512);
	const auto claim = [](const char *text) { return read_cost(text, 32); };
	const auto alone_of = [&](const char *text) {
		return claim(text).alone;
	};

	CHECK(check_alone(alone_of("2 RMW, 2 stores, 2 lines; 6 misses"),
			  mcs_alone) == "");
	CHECK(check_alone(alone_of("2 RMW, 3 stores, 2 lines; 6 misses"),
			  mcs_alone) != "");
	CHECK(check_alone(alone_of("2 RMW, 2 stores, 1 line; 6 misses"),
			  mcs_alone) != "");
	CHECK(check_handoff(claim("; 6 misses"), mcs) == "");
	CHECK(check_handoff(claim("; 9 misses"), mcs) != "");
	CHECK(check_handoff(claim("; w + 1 misses"), mcs) != "");
	CHECK(check_handoff(claim("; up to 3 misses"), mcs) != "");

	const spending read{.misses = 3};
	const auto among = [&](const char *text) {
		return check_misses(claim(text).read->together, 8, "", read);
	};
	CHECK(among("; a read: ; among r readers: 3 misses") == "");
	CHECK(among("; a read: ; among r readers: 2 misses") != "");
	CHECK(among("; a read: ; among r readers: r misses") != "");
}
