/* SPDX-License-Identifier: MIT */
/*
 * cpu_kind - what this CPU says of its core and of its clock: x86
 */
#include <boot/cpus.hpp>
#include <boot/x86/topology.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

const char *cpu_kind() { return read_kind(cpuid); }

bool clock_is_invariant() { return read_invariance(cpuid); }

} // namespace boot
