/* SPDX-License-Identifier: MIT */
/*
 * atomic_ops - memory operations on any host: the compiler's builtins
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
