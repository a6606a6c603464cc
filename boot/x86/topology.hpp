/* SPDX-License-Identifier: MIT */
/*
 * topology_reader - what CPUID says of APIC ids, of the core and of its clock
 * (private to boot)
 *
 * Source: Intel SDM volume 3A, Detecting Hardware Multi-Threading Support and
 * Topology; volume 2A, CPUID, leaves 04H, 07H, 0BH, 1AH, 1FH and 80000007H.
 * AMD64 Architecture Programmer's Manual volume 3, CPUID Fn8000_001D.
 */
#pragma once

#include <boot/cpus.hpp>

namespace boot {

struct cpuid_result;

/* A leaf and a subleaf's answer: CPUID's, or a test's. */
using cpuid_source = cpuid_result (*)(u32 leaf, u32 subleaf);

/*
 * How many low bits of an APIC id differ among the CPUs of one core, of one
 * cache, of one package.
 */
struct id_bits {
	bool known = false;
	u8 core = 0;
	u8 l2 = 0;
	u8 l3 = 0;
	u8 package = 0;
};

id_bits read_topology(cpuid_source ask);

/* cpu_kind() and clock_is_invariant() of the CPU that answers. */
const char *read_kind(cpuid_source ask);
bool read_invariance(cpuid_source ask);

inline cpu_place place_by(const id_bits &bits, u64 id)
{
	const u32 number = static_cast<u32>(id);

	return bits.known ? cpu_place{number >> bits.core, number >> bits.l2,
				      number >> bits.l3, number >> bits.package}
			  : cpu_place{};
}

} // namespace boot
