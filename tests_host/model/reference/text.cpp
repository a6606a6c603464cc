/* SPDX-License-Identifier: MIT */
/*
 * text - programs and outcomes, as both sides of the comparison spell them
 */
#include "rc11.hpp"

namespace reference {

std::string spell(const std::vector<std::vector<u64>> &read,
		  const std::vector<u64> &last)
{
	std::string s;

	for (const auto &of_thread : read) {
		for (u64 v : of_thread)
			s += std::to_string(v) + " ";
		s += "| ";
	}
	for (u64 v : last)
		s += std::to_string(v) + " ";
	return s;
}

std::string text(const litmus &p)
{
	static const char *const names[] = {
		"load",	 "store", "exchange", "add",	   "subtract",
		"or",	 "and",	  "xor",      "cas",	   "fence",
		"await", "loads", "swaps",    "exchanges", "pairs"};
	std::string s;

	for (const thread &t : p.threads) {
		s += "thread:\n";
		for (const op &o : t) {
			s += std::string("\t") +
			     names[static_cast<int>(o.what)];
			if (o.what != action::fence)
				s += " x" + std::to_string(o.location);
			if (o.what == action::pairs)
				s += " x" + std::to_string(o.expected);
			if (o.what == action::cas || o.what == action::swaps)
				s += " " + std::to_string(o.expected) + " ->";
			if (o.what != action::fence && o.what != action::load)
				s += " " + std::to_string(o.value);
			s += std::string(" ") + model::text(o.ord);
			if (o.failed)
				s += std::string(" or ") +
				     model::text(*o.failed);
			s += "\n";
		}
	}
	return s;
}

} // namespace reference
