/* SPDX-License-Identifier: MIT */
/*
 * clock_init - how boot learns the clock's rate (private to boot)
 */
#pragma once

namespace boot {

/* From here on ns_since_boot() counts. */
void clock_begin();

/* Once, before the rest of clock.hpp is right. */
void clock_init();

/* Some 2,000 instructions without an effect: a turn of a wait by the clock. */
void burn();

} // namespace boot
