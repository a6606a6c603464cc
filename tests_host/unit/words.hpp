/* SPDX-License-Identifier: MIT */
/*
 * words - texts of tables: split into words, and looked for in what is said
 */
#pragma once

#include <string>
#include <vector>

namespace unit {

inline std::vector<std::string> split(const std::string &text,
				      const std::string &by)
{
	std::vector<std::string> parts;
	std::string::size_type begin = 0, end;

	while ((end = text.find(by, begin)) != text.npos) {
		parts.push_back(text.substr(begin, end - begin));
		begin = end + by.size();
	}
	parts.push_back(text.substr(begin));
	return parts;
}

inline std::vector<std::string> words_of(const std::string &text)
{
	return text.empty() ? std::vector<std::string>() : split(text, " ");
}

/* Whether a text has these parts, in this order, with " ... " between. */
inline bool has_parts(const std::string &text, const std::string &parts)
{
	std::string::size_type at = 0;

	for (const std::string &part : split(parts, " ... ")) {
		at = text.find(part, at);
		if (at == text.npos)
			return false;
		at += part.size();
	}
	return true;
}

} // namespace unit
