/* SPDX-License-Identifier: MIT */
/*
 * atomic_ops - memory operations on x86: the compiler's builtins
 *
 * x86 is TSO (Intel SDM volume 3A, 9.2): every load acquires, every store
 * releases, every locked operation is a full fence. Only a seq_cst store or
 * fence costs more than its relaxed form.
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/builtin_ops.hpp>

namespace klock {

static_assert(static_cast<int>(order::relaxed) == __ATOMIC_RELAXED &&
	      static_cast<int>(order::acquire) == __ATOMIC_ACQUIRE &&
	      static_cast<int>(order::release) == __ATOMIC_RELEASE &&
	      static_cast<int>(order::acq_rel) == __ATOMIC_ACQ_REL &&
	      static_cast<int>(order::seq_cst) == __ATOMIC_SEQ_CST);

} // namespace klock

#if defined(__i386__)
namespace klock::arch {

/*
 * On 32 bits GCC makes a library call of an 8-byte builtin, unless it may use
 * the FPU to load such a value; a kernel has neither the library nor the FPU.
 * Needs CMPXCHG8B: i586 and later (Intel SDM volume 2A).
 */
template <order O>
inline bool compare_exchange_pair(pair_cell<u32> &at, pair<u32> expected,
				  pair<u32> desired, site)
{
	using word [[gnu::may_alias]] = u64;
	bool swapped;

	asm volatile("lock cmpxchg8b %1"
		     : "=@ccz"(swapped), "+m"(*reinterpret_cast<word *>(&at)),
		       "+a"(expected.first), "+d"(expected.second)
		     : "b"(desired.first), "c"(desired.second)
		     : "memory");
	return swapped;
}

} // namespace klock::arch
#endif
