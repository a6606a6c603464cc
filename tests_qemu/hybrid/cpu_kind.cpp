/* SPDX-License-Identifier: MIT */
/*
 * cpu_kind - a machine of two kinds of cores, whose clock is invariant
 *
 * In place of boot's: what CPUID does not say under QEMU's TCG. The first
 * package has Intel's larger cores, as the leaves would name them.
 */
#include <boot/cpus.hpp>
#include <boot/x86/topology.hpp>
#include <boot/x86/x86.hpp>

namespace {

boot::cpuid_result answer(boot::u32 leaf, boot::u32)
{
	const bool is_larger = boot::place_of(boot::this_cpu()).package == 0;

	switch (leaf) {
	case 0:
		return {0x1a, 0, 0, 0};
	case 0x07:
		return {0, 0, 0, 1 << 15};
	case 0x1a:
		return {is_larger ? 0x40000001u : 0x20000001u, 0, 0, 0};
	case 0x80000000:
		return {0x80000008, 0, 0, 0};
	case 0x80000007:
		return {0, 0, 0, 1 << 8};
	default:
		return {};
	}
}

} // namespace

namespace boot {

const char *cpu_kind() { return read_kind(answer); }

bool clock_is_invariant() { return read_invariance(answer); }

} // namespace boot
