/* SPDX-License-Identifier: MIT */
/*
 * test_find_cpus - the list of CPUs as boot makes it, and what it says of it
 *
 * On a machine with as many CPUs as boot has room for in its largest
 * configuration, MAX_CPUS=512: more than QEMU has without KVM. What boot asks
 * of the local APIC and of the console is here.
 */
#include <boot/console.hpp>
#include <boot/ipi.hpp>
#include <boot/x86/acpi.hpp>
#include <boot/x86/apic.hpp>
#include <boot/x86/firmware.hpp>
#include <catch.hpp>
#include <string>
#include "acpi_writer.hpp"

using testing::fake_memory;
using testing::madt;
using testing::root_of;
using testing::rsdp_of;

namespace {

constexpr std::uint64_t rsdp_at = 0xe0010;
constexpr std::uint32_t rsdt_at = 0x7fe1000;
constexpr std::uint64_t madt_at = 0x7fe3000;

fake_memory memory;
std::string said;
bool has_x2apic;
bool is_x2apic;

/* CPUs with the APIC ids 0 to cpus - 1. */
boot::cpu_list find(unsigned cpus, bool x2apic)
{
	const boot::loader_info loader;
	boot::boot_info info;
	madt table;

	for (unsigned id = 0; id < cpus; id++)
		table.x2apic_cpu(id);
	memory = {};
	memory.add(rsdp_at, rsdp_of(0, rsdt_at, 0));
	memory.add(rsdt_at, root_of("RSDT", 4, {madt_at}));
	memory.add(madt_at, table.table());
	info.machine = &loader;
	said.clear();
	has_x2apic = x2apic;
	is_x2apic = false;
	return boot::find_cpus(info);
}

} // namespace

namespace boot {

bool has_ipis() { return true; }

u32 apic_id() { return 0; }

u32 apic_last_id() { return is_x2apic ? APIC_IDS - 1 : 254; }

bool apic_use_x2apic()
{
	is_x2apic = has_x2apic;
	return is_x2apic;
}

bool choose_startup_page(const low_pages &) { return true; }

firmware_memory mapped_memory() { return memory.view(); }

void print_list(const char *format, const format_argument *arguments)
{
	format_list({[](void *, char c) { said += c; }, nullptr}, format,
		    arguments);
}

} // namespace boot

TEST_CASE("find_cpus: 512 CPUs, half of them with ids that need x2APICs")
{
	static_assert(boot::max_cpus == 512);
	const boot::cpu_list list = find(512, true);

	CHECK(said == "");
	CHECK(is_x2apic);
	CHECK(list.count == 512);
	for (unsigned i = 0; i < list.count; i++)
		CHECK(list.ids[i] == i);
}

TEST_CASE("find_cpus: one more than there is room for, in one line")
{
	CHECK(find(513, true).count == 512);
	CHECK(said == "# boot: 1 CPU more than boot can use (512, APIC ids up "
		      "to 4095): left asleep\n");
	CHECK(find(700, true).count == 512);
	CHECK(said == "# boot: 188 CPUs more than boot can use (512, APIC ids "
		      "up to 4095): left asleep\n");
}

TEST_CASE("find_cpus: without x2APICs, those that IPIs reach")
{
	CHECK(find(255, false).count == 255);
	CHECK(said == "");
	CHECK(find(512, false).count == 255);
	CHECK(said == "# boot: 257 CPUs more than boot can use (512, APIC ids "
		      "up to 254): left asleep\n");
}
