/* SPDX-License-Identifier: MIT */
/*
 * test_acpi_timers - which counters ACPI's tables name
 */
#include <boot/x86/acpi.hpp>
#include <catch.hpp>
#include "acpi_writer.hpp"

using testing::bytes;
using testing::dice;
using testing::fadt;
using testing::fake_memory;
using testing::hpet_of;
using testing::root_of;
using testing::rsdp_of;
using testing::summed;

namespace {

constexpr std::uint32_t rsdt_at = 0x7fe1000;
constexpr std::uint64_t fadt_at = 0x7fe2000;
constexpr std::uint64_t hpet_at = 0x7fe3000;

boot::acpi_timers read(const bytes &power, const bytes &hpet)
{
	fake_memory memory;

	memory.add(0xe0010, rsdp_of(0, rsdt_at, 0));
	memory.add(rsdt_at, root_of("RSDT", 4, {fadt_at, hpet_at}));
	memory.add(fadt_at, power);
	memory.add(hpet_at, hpet);
	return boot::read_acpi_timers(memory.view(), {});
}

unsigned port_of(const fadt &power)
{
	return read(power.table(), hpet_of(0)).pm_port;
}

std::uint64_t address_of(std::uint64_t address, unsigned space = 0)
{
	return read(fadt().table(), hpet_of(address, space)).hpet;
}

} // namespace

TEST_CASE("acpi: timer: a port, the old one or the extended one")
{
	CHECK(port_of({}) == 0x608);
	CHECK(port_of({.extended = 0x1808}) == 0x1808);
	CHECK(port_of({.size = 116}) == 0x608);
	CHECK(port_of({.extended = 0x1808, .size = 219}) == 0x608);
	CHECK(port_of({.extended = 0x1808, .size = 220}) == 0x1808);
	CHECK(port_of({.port = 0xfffc}) == 0xfffc);
	CHECK_FALSE(read(fadt().table(), hpet_of(0)).pm_has_32_bits);
	CHECK_FALSE(
		read(fadt{.flags = 1 << 7}.table(), hpet_of(0)).pm_has_32_bits);
	CHECK(read(fadt{.flags = 1 << 8}.table(), hpet_of(0)).pm_has_32_bits);
}

TEST_CASE("acpi: timer: none that boot can read")
{
	CHECK(port_of({.port = 0}) == 0);
	CHECK(port_of({.length = 0}) == 0);
	CHECK(port_of({.length = 3}) == 0);
	CHECK(port_of({.length = 5}) == 0);
	CHECK(port_of({.flags = 1 << 20}) == 0);
	CHECK(port_of({.extended_space = 0, .extended = 0x1808}) == 0);
	CHECK(port_of({.extended_space = 2, .extended = 0x1808}) == 0);
	CHECK(port_of({.extended = 0x10000}) == 0);
	CHECK(port_of({.port = 0xfffd}) == 0);
	CHECK(port_of({.size = 115}) == 0);
}

TEST_CASE("acpi: HPET: where boot can read it, or none")
{
	CHECK(address_of(0xfed00000) == 0xfed00000);
	CHECK(address_of(0xfed00008) == 0xfed00008);
	CHECK(address_of(0xfffffc00) == 0xfffffc00);
	CHECK(address_of(0xfffffc08) == 0);
	CHECK(address_of(0xfed00000, 1) == 0);
	CHECK(address_of(0xfed00004) == 0);
	CHECK(address_of(0) == 0);
	CHECK(address_of(0xfffffff8) == 0);
	CHECK(address_of(std::uint64_t{1} << 32) == 0);
	CHECK(address_of(~7ull) == 0);

	bytes cut = hpet_of(0xfed00000);

	for (unsigned size : {52u, 51u}) {
		cut.resize(size);
		testing::set(cut, 4, size, 4);
		CHECK((read(fadt().table(), summed(cut)).hpet != 0) ==
		      (size == 52));
	}
}

TEST_CASE("acpi: timers: no table, a damaged one, and none of the other")
{
	bytes wrong = fadt().table();

	wrong[9]++;
	const boot::acpi_timers one = read(wrong, hpet_of(0xfed00000));

	CHECK(one.pm_port == 0);
	CHECK(one.hpet == 0xfed00000);

	fake_memory nothing;

	CHECK(boot::read_acpi_timers(nothing.view(), {}).hpet == 0);
	CHECK(boot::read_acpi_timers(nothing.view(), {}).pm_port == 0);
}

TEST_CASE("acpi: timers: by the RSDP that the loader has copied")
{
	const bytes rsdp = rsdp_of(0, rsdt_at, 0);
	fake_memory memory;
	boot::rsdp_copy copy;

	memory.add(rsdt_at, root_of("RSDT", 4, {fadt_at}));
	memory.add(fadt_at, fadt().table());
	copy.size = 20;
	std::memcpy(copy.bytes, rsdp.data(), copy.size);
	CHECK(boot::read_acpi_timers(memory.view(), copy).pm_port == 0x608);
	CHECK(boot::read_acpi_timers(memory.view(), {}).pm_port == 0);
}

TEST_CASE("acpi: timers: 10,000 tables with bytes changed at random")
{
	dice random{1};
	unsigned ports = 0;

	for (int i = 0; i < 10'000; i++) {
		bytes power = fadt{.size = 116 + random.below(129)}.table();
		bytes hpet = hpet_of(0xfed00000);

		random.spoil(i % 2 ? power : hpet, 4);
		const boot::acpi_timers t = read(summed(power), summed(hpet));

		ports += t.pm_port != 0;
		CHECK((t.hpet == 0 || boot::is_mapped(t.hpet, 0x400)));
	}
	CHECK(ports > 5000);
}
