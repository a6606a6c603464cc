/* SPDX-License-Identifier: MIT */
/*
 * cpus - the CPUs that a device tree names
 */
#pragma once

#include <boot/board/device_tree.hpp>
#include <boot/machine.hpp>

namespace boot {

/*
 * As machine.hpp's find_cpus(): as many as boot has room for, and what is left
 * out is said. why_alone: null, or why this CPU is the only one to be used.
 */
cpu_list tree_cpus(const device_tree &tree, const char *why_alone);

} // namespace boot
