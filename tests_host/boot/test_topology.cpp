/* SPDX-License-Identifier: MIT */
/*
 * test_topology - what CPUID says of APIC ids, and who takes part by it
 */
#include <boot/cpus.hpp>
#include <boot/machine.hpp>
#include <boot/x86/topology.hpp>
#include <boot/x86/x86.hpp>
#include <catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using leaf = std::pair<boot::u32, boot::u32>;

std::map<leaf, boot::cpuid_result> answers;

boot::cpuid_result ask(boot::u32 number, boot::u32 subleaf)
{
	const auto at = answers.find({number, subleaf});

	return at == answers.end() ? boot::cpuid_result{} : at->second;
}

using told = std::map<leaf, boot::cpuid_result>;

boot::id_bits read(const told &all)
{
	answers = all;
	return boot::read_topology(ask);
}

/* core, L2, L3, package */
std::vector<unsigned> bits(const told &all)
{
	const boot::id_bits b = read(all);

	CHECK(b.known);
	return {b.core, b.l2, b.l3, b.package};
}

using four = std::vector<unsigned>;

/* A level of leaf 0BH or 1FH: so many bits below, and what it is of. */
boot::cpuid_result level(unsigned below, unsigned type)
{
	return {below, 1, type << 8, 0};
}

/* A cache that so many ids share. */
boot::cpuid_result cache(unsigned number, unsigned shared_by,
			 unsigned cores = 1)
{
	return {3 | number << 5 | (shared_by - 1) << 14 | (cores - 1) << 26, 0,
		0, 0};
}

/* Two threads a core, two cores an L2 and an L3, two of these a package. */
boot::cpu_place place(boot::u64 id)
{
	const boot::u32 n = static_cast<boot::u32>(id);

	return {n / 2, n / 4, n / 4, n / 8};
}

std::string pin(const char *how, boot::place_finder finder = place,
		const std::vector<boot::u64> &ids = {0, 1, 2, 3, 4, 5, 6, 7})
{
	boot::cpu_list list;
	std::string all;

	for (boot::u64 id : ids)
		list.ids[list.count++] = id;
	const char *const wrong = boot::pin_cpus(list, how, finder);

	if (wrong) {
		CHECK(list.count == ids.size());
		return wrong;
	}
	for (unsigned i = 0; i < list.count; i++)
		all += (i ? "," : "") + std::to_string(list.ids[i]);
	return all;
}

const char *const forms = "cores, threads, l3, or CPUs' numbers: 0,2,4";

} // namespace

TEST_CASE("topology: leaf 0BH: threads, cores; caches by leaf 4")
{
	const told desktop = {
		{{0, 0}, {0x16, 0, 0, 0}}, {{0xb, 0}, level(1, 1)},
		{{0xb, 1}, level(4, 2)},   {{4, 0}, cache(1, 2, 8)},
		{{4, 1}, cache(2, 2, 8)},  {{4, 2}, cache(3, 16, 8)}};

	CHECK(bits(desktop) == four{1, 1, 4, 4});
	CHECK(boot::place_by(read(desktop), 5).core == 2);
	CHECK(boot::place_by(read(desktop), 17).package == 1);
}

TEST_CASE("topology: leaf 1FH goes before 0BH, and has more levels")
{
	CHECK(bits({{{0, 0}, {0x1f, 0, 0, 0}},
		    {{0xb, 0}, level(1, 1)},
		    {{0xb, 1}, level(3, 2)},
		    {{0x1f, 0}, level(1, 1)},
		    {{0x1f, 1}, level(3, 2)},
		    {{0x1f, 2}, level(5, 5)}}) == four{1, 1, 5, 5});
	/* There, and empty. */
	CHECK(bits({{{0, 0}, {0x1f, 0, 0, 0}},
		    {{0xb, 0}, level(1, 1)},
		    {{0xb, 1}, level(3, 2)}}) == four{1, 1, 3, 3});
}

TEST_CASE("topology: AMD's caches: four cores share an L3")
{
	CHECK(bits({{{0, 0}, {0x10, 0, 0, 0}},
		    {{0x80000000, 0}, {0x8000001f, 0, 0, 0}},
		    {{0x80000001, 0}, {0, 0, 1 << 22, 0}},
		    {{0xb, 0}, level(1, 1)},
		    {{0xb, 1}, level(5, 2)},
		    {{0x8000001d, 0}, cache(1, 2)},
		    {{0x8000001d, 1}, cache(2, 2)},
		    {{0x8000001d, 2}, cache(3, 8)}}) == four{1, 1, 3, 5});
}

TEST_CASE("topology: an L2 of two cores; a cache beyond the L3 is not asked")
{
	CHECK(bits({{{0, 0}, {0xb, 0, 0, 0}},
		    {{0xb, 0}, level(1, 1)},
		    {{0xb, 1}, level(16, 2)},
		    {{4, 0}, cache(1, 2)},
		    {{4, 1}, cache(2, 4)},
		    {{4, 2}, cache(3, 4096)},
		    {{4, 3}, cache(4, 16)}}) == four{1, 2, 12, 16});
}

TEST_CASE("topology: what a level or a cache of type 0 ends is not read")
{
	CHECK(bits({{{0, 0}, {0xb, 0, 0, 0}},
		    {{0xb, 0}, level(1, 1)},
		    {{0xb, 1}, level(4, 2)},
		    {{0xb, 3}, level(7, 3)},
		    {{4, 0}, cache(2, 2)},
		    {{4, 2}, cache(3, 4)}}) == four{1, 1, 4, 4});
}

TEST_CASE("topology: levels and caches without an end are left after 8")
{
	told endless = {{{0, 0}, {0xb, 0, 0, 0}}};

	for (unsigned i = 0; i < 20; i++) {
		endless[{0xb, i}] = level(i + 2, 2);
		endless[{4, i}] = cache(3, 1 << i % 12);
	}
	CHECK(bits(endless) == four{0, 0, 7, 9});
}

TEST_CASE("topology: bits that are reserved are not looked at")
{
	const boot::u32 rest = 0xffff0000;

	CHECK(bits({{{0, 0}, {0xb, 0, 0, 0}},
		    {{0xb, 0}, {rest | 1 << 5 | 1, 1, rest | 1 << 8, 0}},
		    {{0xb, 1}, {rest | 4, 1, rest | 2 << 8, 0}}}) ==
	      four{1, 1, 4, 4});
}

/* Beyond its last leaf a CPU answers with anything. */
TEST_CASE("topology: leaves that the CPU does not have are not asked")
{
	const boot::u32 threads = 1 << 28;

	CHECK(bits({{{0, 0}, {3, 0, 0, 0}},
		    {{1, 0}, {0, 8 << 16, 0, threads}},
		    {{4, 0}, cache(2, 2, 4)},
		    {{4, 1}, cache(3, 4, 4)},
		    {{0xb, 0}, level(1, 1)},
		    {{0xb, 1}, level(2, 2)},
		    {{0x1f, 0}, level(1, 1)}}) == four{3, 3, 3, 3});
	CHECK(bits({{{0, 0}, {4, 0, 0, 0}},
		    {{1, 0}, {0, 8 << 16, 0, threads}},
		    {{4, 0}, cache(3, 4, 4)}}) == four{1, 1, 2, 3});

	/* The last that is extended, and whether it speaks of caches. */
	const auto amd = [](boot::u32 last, boot::u32 says) {
		return bits({{{0, 0}, {0xb, 0, 0, 0}},
			     {{0x80000000, 0}, {last, 0, 0, 0}},
			     {{0x80000001, 0}, {0, 0, says, 0}},
			     {{0xb, 0}, level(1, 1)},
			     {{0xb, 1}, level(5, 2)},
			     {{4, 0}, cache(3, 4)},
			     {{0x8000001d, 0}, cache(3, 8)}})[2];
	};

	CHECK(amd(0x8000001d, 1 << 22) == 3);
	CHECK(amd(0x8000001d, ~(1u << 22)) == 2);
	CHECK(amd(0x8000001c, 1 << 22) == 2);
	CHECK(amd(0x80010000, 1 << 22) == 2);
}

TEST_CASE("topology: a place is the id without the bits below it")
{
	const boot::id_bits four_kinds = {true, 1, 2, 3, 4};
	const boot::cpu_place at = boot::place_by(four_kinds, 0x155);

	CHECK(at.core == 0xaa);
	CHECK(at.l2 == 0x55);
	CHECK(at.l3 == 0x2a);
	CHECK(at.package == 0x15);
	CHECK(boot::place_by({false, 1, 2, 3, 4}, 0x155).core == 0);
}

TEST_CASE("topology: before leaf 0BH, by counts; and nothing at all")
{
	const boot::u32 threads = 1 << 28;

	CHECK(bits({{{0, 0}, {4, 0, 0, 0}},
		    {{1, 0}, {0, 8 << 16, 0, threads}},
		    {{4, 0}, cache(1, 2, 4)}}) == four{1, 1, 3, 3});
	CHECK(bits({{{0, 0}, {2, 0, 0, 0}},
		    {{1, 0}, {0, 2 << 16, 0, threads}}}) == four{1, 1, 1, 1});
	/* Beside the count is this CPU's own id; without threads, none. */
	CHECK(bits({{{0, 0}, {4, 0, 0, 0}},
		    {{1, 0}, {0, 5u << 24 | 128 << 16, 0, threads}},
		    {{4, 0}, cache(1, 2, 64)}}) == four{1, 1, 7, 7});
	CHECK(bits({{{0, 0}, {4, 0, 0, 0}},
		    {{1, 0}, {0, 4 << 16, 0, threads}},
		    {{4, 0}, cache(1, 2, 2)}}) == four{1, 1, 2, 2});
	CHECK(bits({{{0, 0}, {4, 0, 0, 0}},
		    {{1, 0}, {0, 8 << 16, 0, ~threads}}}) == four{0, 0, 0, 0});
	CHECK(bits({{{0, 0}, {1, 0, 0, 0}}}) == four{0, 0, 0, 0});
	CHECK(bits({}) == four{0, 0, 0, 0});
}

TEST_CASE("topology: what cannot be is held within a package")
{
	CHECK(bits({{{0, 0}, {0xb, 0, 0, 0}},
		    {{0xb, 0}, level(9, 1)},
		    {{0xb, 1}, level(2, 2)},
		    {{4, 0}, cache(3, 4096)}}) == four{2, 2, 2, 2});
}

TEST_CASE("topology: the kinds of a hybrid machine's cores")
{
	const auto kind = [](boot::u32 last, boot::u32 flags, boot::u32 core) {
		answers = {{{0, 0}, {last, 0, 0, 0}},
			   {{7, 0}, {0, 0, 0, flags}},
			   {{0x1a, 0}, {core, 0, 0, 0}}};
		return std::string(boot::read_kind(ask));
	};
	const boot::u32 hybrid = 1 << 15, others = ~hybrid;

	CHECK(kind(0x20, hybrid, 0x40000001) == "Core");
	CHECK(kind(0x1a, hybrid, 0x20000001) == "Atom");
	CHECK(kind(0x20, hybrid, 0x30000000) == "other");
	/* One kind; a CPU before there was the leaf; nothing at all. */
	CHECK(kind(0x20, others, 0x40000001) == "");
	CHECK(kind(0x16, hybrid, 0x40000001) == "");
	answers = {};
	CHECK(std::string(boot::read_kind(ask)) == "");
}

TEST_CASE("topology: whether the TSC is invariant")
{
	const auto invariant = [](boot::u32 last, boot::u32 flags) {
		answers = {{{0x80000000, 0}, {last, 0, 0, 0}},
			   {{0x80000007, 0}, {0, 0, 0, flags}}};
		return boot::read_invariance(ask);
	};

	CHECK(invariant(0x80000008, 1 << 8));
	CHECK_FALSE(invariant(0x80000008, ~(boot::u32{1} << 8)));
	CHECK_FALSE(invariant(0x80000004, 1 << 8));
	answers = {};
	CHECK_FALSE(boot::read_invariance(ask));
}

TEST_CASE("pin: by cores, threads, the first CPU's L3")
{
	CHECK(pin("cores") == "0,2,4,6");
	CHECK(pin("l3") == "0,1,2,3");
	CHECK(pin("threads") == "0,1,2,3,4,5,6,7");
	/* Many firmwares list all first threads first. */
	CHECK(pin("threads", place, {0, 2, 4, 6, 1, 3, 5, 7}) ==
	      "0,1,2,3,4,5,6,7");
	CHECK(pin("cores", place, {5, 0, 1, 4}) == "5,0");
	CHECK(pin("l3", place, {0, 4, 1, 5}) == "0,1");
}

TEST_CASE("pin: a list, the first CPU always among them")
{
	CHECK(pin("0,2,4") == "0,2,4");
	CHECK(pin("4,2") == "0,4,2");
	CHECK(pin("7,7,0") == "0,7");
	CHECK(pin("3", nullptr) == "0,3");
	CHECK(pin("1", nullptr, {5, 3}) == "5,3");
	CHECK(pin("0000007") == "0,7");
}

TEST_CASE("pin: what is wrong is said")
{
	CHECK(pin("cores", nullptr) ==
	      "this machine does not say which CPUs share what");
	CHECK(pin("core") == forms);
	CHECK(pin("1,x") == forms);
	CHECK(pin("1,,2") == forms);
	CHECK(pin("00000007") == forms);
	CHECK(pin("1,") == "ends in a comma");
	CHECK(pin("8") == "there is no CPU of that number");
	CHECK(pin("9") == "there is no CPU of that number");
	CHECK(pin("") == "its value is missing");
}
