/* SPDX-License-Identifier: MIT */
/*
 * topology - which CPUs share what, and what they call themselves: x86
 */
#include <boot/x86/topology.hpp>
#include <boot/x86/x86.hpp>
#include <boot/cpus.hpp>
#include <boot/machine.hpp>

namespace boot {

/* -- APIC ids, the core and its clock, by CPUID  */

namespace {

constexpr u32 caches_intel = 0x04;
constexpr u32 caches_amd = 0x8000001d;
constexpr u32 topology_old = 0x0b;
constexpr u32 topology_new = 0x1f;
constexpr unsigned most_levels = 8; /* of either: the manuals have fewer */

/* The least that holds so many different numbers. */
u8 bits_for(u32 many)
{
	u8 bits = 0;

	while (bits < 31 && u32{1} << bits < many)
		bits++;
	return bits;
}

/* Reads leaf 1FH or 0BH; false: it says nothing. */
bool read_levels(cpuid_source ask, u32 leaf, id_bits &found)
{
	constexpr u32 threads = 1; /* the level's type: of one core */

	if (ask(0, 0).eax < leaf || !ask(leaf, 0).ebx)
		return false;
	for (u32 level = 0; level < most_levels; level++) {
		const cpuid_result r = ask(leaf, level);
		const u32 type = r.ecx >> 8 & 0xff;
		const u8 bits = r.eax & 0x1f;

		if (!type)
			break;
		if (type == threads)
			found.core = bits;
		found.package = bits;
	}
	return true;
}

/* Reads leaves 1 and 4, for CPUs without 0BH. */
void read_counts(cpuid_source ask, id_bits &found)
{
	const cpuid_result one = ask(1, 0);
	const bool has_threads = one.edx >> 28 & 1;
	const u32 ids = has_threads ? one.ebx >> 16 & 0xff : 1;
	const u32 cores = ask(0, 0).eax >= caches_intel
				  ? (ask(caches_intel, 0).eax >> 26) + 1
				  : 1;

	found.package = bits_for(ids);
	found.core = ids > cores ? bits_for(ids / cores) : 0;
}

/* Reads which CPUs share a cache: Intel's leaf, or AMD's of that form. */
void read_caches(cpuid_source ask, u32 leaf, id_bits &found)
{
	for (u32 i = 0; i < most_levels; i++) {
		const u32 eax = ask(leaf, i).eax;
		const u32 type = eax & 0x1f, level = eax >> 5 & 7;
		const u8 bits = bits_for((eax >> 14 & 0xfff) + 1);

		if (!type)
			return;
		if (level == 2)
			found.l2 = bits;
		if (level == 3)
			found.l3 = bits;
	}
}

/* AMD's, where it has one; else 0: there is none. */
u32 caches_leaf(cpuid_source ask)
{
	constexpr u32 topology_extensions = 1 << 22;
	const u32 last = ask(0x80000000, 0).eax;

	if (last >= caches_amd && last < 0x80010000 &&
	    ask(0x80000001, 0).ecx & topology_extensions)
		return caches_amd;
	return ask(0, 0).eax >= caches_intel ? caches_intel : 0;
}

u8 at_most(u8 bits, u8 most) { return bits < most ? bits : most; }

} // namespace

id_bits read_topology(cpuid_source ask)
{
	id_bits found;

	found.known = true;
	if (!read_levels(ask, topology_new, found) &&
	    !read_levels(ask, topology_old, found))
		read_counts(ask, found);

	/* Without such a cache: a core's own, and a package's. */
	found.l2 = found.core;
	found.l3 = found.package;
	if (const u32 leaf = caches_leaf(ask))
		read_caches(ask, leaf, found);
	found.core = at_most(found.core, found.package);
	found.l2 = at_most(found.l2, found.package);
	found.l3 = at_most(found.l3, found.package);
	return found;
}

/* Leaf 1AH is there on CPUs of one kind, too; the flag is in leaf 7. */
const char *read_kind(cpuid_source ask)
{
	constexpr u32 features = 0x07, core = 0x1a;
	constexpr u32 is_hybrid = 1 << 15;

	if (ask(0, 0).eax < core || !(ask(features, 0).edx & is_hybrid))
		return "";
	switch (ask(core, 0).eax >> 24) {
	case 0x20:
		return "Atom";
	case 0x40:
		return "Core";
	default:
		return "other";
	}
}

bool read_invariance(cpuid_source ask)
{
	constexpr u32 power = 0x80000007;
	constexpr u32 invariant_tsc = 1 << 8;

	return ask(0x80000000, 0).eax >= power &&
	       ask(power, 0).edx & invariant_tsc;
}

/* -- The levels that CPUs share, and their names  */

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
