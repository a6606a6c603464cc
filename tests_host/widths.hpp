/* SPDX-License-Identifier: MIT */
/*
 * widths - a list's locks that a test takes: one of each algorithm, and in
 * level full every width
 */
#pragma once

#include <klock/selftest/locks.hpp>

#ifndef KLOCK_EVERY_WIDTH
template <typename List>
using widths_of = klock::selftest::one_of_each<List>;
#else
template <typename List>
using widths_of = List;
#endif
