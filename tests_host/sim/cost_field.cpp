/* SPDX-License-Identifier: MIT */
#include "cost_field.hpp"

#include <cmath>
#include <regex>

namespace sim {

namespace {

std::string replaced(const std::string &in, const char *pattern,
		     const char *with)
{
	return std::regex_replace(in, std::regex(pattern), with);
}

/* Of the pieces of a number: up to, times x, what, over y, plus z; or digits.
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

/* What is not said is not done. */
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
