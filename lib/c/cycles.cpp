/* SPDX-License-Identifier: MIT */
#include <klock/verbs.h>

#include <klock/cpu.hpp>

unsigned long long klock_cycles() { return klock::cycles(); }
