/* SPDX-License-Identifier: MIT */
/*
 * topology - which CPUs share what, and what they call themselves: x86
 */
#include <boot/cpus.hpp>
#include <boot/machine.hpp>
#include <boot/x86/topology_reader.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

const id_bits &bits()
{
	static constinit id_bits found = {};

	if (!found.known)
		found = read_topology(cpuid);
	return found;
}

/* Intel SDM volume 2A, CPUID, leaves 80000002H to 80000004H. */
struct brand {
	char text[49] = {};

	brand()
	{
		if (cpuid(0x80000000).eax < 0x80000004)
			return;
		for (u32 part = 0; part < 3; part++) {
			const cpuid_result r = cpuid(0x80000002 + part);

			__builtin_memcpy(text + 16 * part, &r, 16);
		}
	}
};

} // namespace

cpu_place find_place(u64 hardware_id) { return place_by(bits(), hardware_id); }

bool topology_is_known() { return true; }

const char *cpu_model()
{
	static brand found;
	const char *at = found.text;

	while (*at == ' ')
		at++;
	return at;
}

/* Intel SDM volume 4, IA32_BIOS_SIGN_ID; AMD: Patch Level. */
u32 cpu_microcode()
{
	constexpr u32 msr_patch_level = 0x8b;
	constexpr u32 has_msrs = 1 << 5;
	const cpuid_result one = cpuid(1);
	const u32 family = one.eax >> 8 & 0xf;

	if (!(one.edx & has_msrs) || family < 6)
		return 0;
	const u64 value = read_msr(msr_patch_level);
	const u32 high = static_cast<u32>(value >> 32);

	return high ? high : static_cast<u32>(value);
}

} // namespace boot
