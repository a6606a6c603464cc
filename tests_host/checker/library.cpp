/* SPDX-License-Identifier: MIT */
/*
 * A shared library of the code's: compiled for klock::model_plain, and linked
 * by nobody's --wrap (test_assembly.cpp).
 */
#include "library.hpp"

#include <cstdio>
#include <cstring>

void library::add(int &to) { to++; }

void library::copy(char *to, const char *of, std::size_t bytes)
{
	std::memcpy(to, of, bytes);
}

void library::print(char *to, std::size_t bytes, int n)
{
	std::snprintf(to, bytes, "%d", n);
}
