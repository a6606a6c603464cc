/* SPDX-License-Identifier: MIT */
/*
 * divide - 64-bit division that needs no library
 *
 * On 32 bits the compiler makes a library call of u64 / u64, and a kernel has
 * no such library. Payloads that are built for both divide by these.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* The quotient and the remainder; the divisor is not 0. Any context. */
u64 div_u64(u64 dividend, u64 divisor);
u64 mod_u64(u64 dividend, u64 divisor);

} // namespace boot
