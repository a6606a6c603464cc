/* SPDX-License-Identifier: MIT */
/*
 * c_counted_lock - a counted lock of klock/klock.h as the C++ lock that it is
 *
 * As klock/c_lock.hpp.
 */
#pragma once

#include <klock/c_lock.hpp>

#include <klock/counted_lock.hpp>

namespace klock {

KLOCK_C_IS(counted_ticket_u8, counted_lock<ticket_lock<u8>>);
KLOCK_C_IS(counted_ticket_u16, counted_lock<ticket_lock<u16>>);

} // namespace klock
