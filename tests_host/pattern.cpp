/* SPDX-License-Identifier: MIT */
#include "pattern.hpp"

#include <iterator>
#include <regex>

namespace pattern {

std::string replaced(const std::string &text, const std::string &form,
		     const std::string &by)
{
	return std::regex_replace(text, std::regex(form), by);
}

unsigned times(const std::string &text, const std::string &form)
{
	const std::regex one(form);
	const std::sregex_iterator first(text.begin(), text.end(), one);

	return static_cast<unsigned>(
		std::distance(first, std::sregex_iterator()));
}

std::vector<std::string> found(const std::string &text, const std::string &form)
{
	std::smatch groups;

	if (!std::regex_search(text, groups, std::regex(form)))
		return {};
	return {groups.begin(), groups.end()};
}

} // namespace pattern
