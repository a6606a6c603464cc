/* SPDX-License-Identifier: MIT */
/*
 * pattern - regular expressions for tests
 *
 * std::regex takes a compiler a second in each file that uses it, and half a
 * second in each that includes it: it is in pattern.cpp alone.
 */
#pragma once

#include <string>
#include <vector>

namespace pattern {

/* The text, with `by` in place of each match. */
std::string replaced(const std::string &text, const std::string &form,
		     const std::string &by);

/* How often the pattern is found. */
unsigned times(const std::string &text, const std::string &form);

/* The first match and its groups; empty: there is none. */
std::vector<std::string> found(const std::string &text,
			       const std::string &form);

} // namespace pattern
