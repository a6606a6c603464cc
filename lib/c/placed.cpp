/* SPDX-License-Identifier: MIT */
#include <klock/placed.hpp>
#include <klock/verbs.h>

void klock_check_placed(const void *end) { klock::check_placed(end); }
