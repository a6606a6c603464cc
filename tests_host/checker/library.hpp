/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>

namespace library {

void add(int &);
void copy(char *to, const char *of, std::size_t bytes);
void print(char *to, std::size_t bytes, int);

} // namespace library
