/* SPDX-License-Identifier: MIT */
/*
 * types - klock's integers, under boot's own roof
 */
#pragma once

#include <klock/types.hpp>
#include <machine/layout.h>

namespace boot {

using klock::u16;
using klock::u32;
using klock::u64;
using klock::u8;
using klock::usize;

using i32 = int32_t;
using i64 = int64_t;

/* How many CPUs boot has blocks and stacks for. */
inline constexpr unsigned max_cpus = MAX_CPUS;

inline usize address_of(const void *object)
{
	return reinterpret_cast<usize>(object);
}

} // namespace boot
