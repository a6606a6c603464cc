/* SPDX-License-Identifier: MIT */
/*
 * machine_tree - this machine's device tree (private to boot's AArch64)
 */
#pragma once

#include <boot/board/device_tree.hpp>

namespace boot {

/* Empty until read_boot_info() has found it. */
const device_tree &machine_tree();

} // namespace boot
