/* SPDX-License-Identifier: MIT */
/*
 * smp - the page where the other CPUs start: x86 (private to boot)
 */
#pragma once

#include <boot/x86/low_pages.hpp>

namespace boot {

/* False: none is free, and call_cpus() must not be called. */
[[nodiscard]] bool choose_startup_page(const low_pages &free);

} // namespace boot
