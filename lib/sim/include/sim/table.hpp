/* SPDX-License-Identifier: MIT */
/*
 * table - figures as text, as Markdown and as CSV
 */
#pragma once

#include <sim/measure_shared.hpp>

#include <string>
#include <vector>

namespace sim {

/* Everything, one row a measurement; the first line names the columns. */
std::string csv(const std::vector<figures> &);
std::string csv(const std::vector<shared_figures> &);

/* A table for people: the columns that a choice of lock depends on. */
std::string text(const std::vector<figures> &);
std::string text(const std::vector<shared_figures> &);

/* One row per lock, one column a number of CPUs: misses per acquisition. */
std::string markdown(const std::vector<figures> &);

} // namespace sim
