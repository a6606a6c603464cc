/* SPDX-License-Identifier: MIT */
/*
 * lines - from a return address to the line of the call
 */
#pragma once

#include <klock/arch/engine.hpp>

namespace model {

using klock::arch::site;

/* A site's file is a borrowed string, which lasts. */
site line_of_return(const void *to);

/* Whether it is a line of the C++ library's headers. */
bool is_of_library(site);

} // namespace model
