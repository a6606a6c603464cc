/* SPDX-License-Identifier: MIT */
/*
 * psci - what the firmware does for boot (private to boot's AArch64)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* Whether the device tree says how to call it. */
bool has_psci();

/*
 * The CPU begins at `entry`, with `context` in X0. 0, or PSCI's error. What was
 * written before is seen there.
 */
i64 psci_cpu_on(u64 hardware_id, const void *entry, const void *context);

} // namespace boot
