/* SPDX-License-Identifier: MIT */
/*
 * test_acpi - which CPUs and counters ACPI's tables name, and what is wrong
 * with them
 *
 * find_cpus() is the list as boot makes it, on a machine with as many CPUs as
 * boot has room for in its largest configuration, MAX_CPUS=512: more than QEMU
 * has without KVM. What boot asks of the local APIC and of the console is here.
 */
#include <string>
#include <boot/x86/acpi.hpp>
#include <algorithm>
#include <catch.hpp>
#include <boot/console.hpp>
#include <boot/interrupts.hpp>
#include <boot/x86/apic.hpp>
#include <boot/x86/firmware.hpp>
#include "fake_memory.hpp"

namespace testing {

/* Makes the sum of so many bytes 0 by the one at `at`. */
inline bytes summed(bytes of, std::size_t at, std::size_t size)
{
	std::uint8_t sum = 0;

	of.at(at) = 0;
	for (std::size_t i = 0; i < size && i < of.size(); i++)
		sum = static_cast<std::uint8_t>(sum + of[i]);
	of[at] = static_cast<std::uint8_t>(-sum);
	return of;
}

/* A table's checksum is its tenth byte. */
inline bytes summed(const bytes &table)
{
	return summed(table, 9, table.size());
}

inline bytes table_of(const std::string &signature, const bytes &body)
{
	bytes table(signature.begin(), signature.end());

	put(table, 36 + body.size(), 4);
	table.resize(36);
	table.insert(table.end(), body.begin(), body.end());
	return summed(table);
}

inline bytes rsdp_of(unsigned revision, std::uint32_t rsdt, std::uint64_t xsdt)
{
	const std::string signature = "RSD PTR ";
	bytes rsdp(signature.begin(), signature.end());

	rsdp.resize(15);
	put(rsdp, revision, 1);
	put(rsdp, rsdt, 4);
	put(rsdp, 36, 4);
	put(rsdp, xsdt, 8);
	rsdp.resize(36);
	return summed(summed(rsdp, 8, 20), 32, 36);
}

inline bytes root_of(const std::string &signature, unsigned entry_size,
		     const std::vector<std::uint64_t> &tables)
{
	bytes body;

	for (std::uint64_t table : tables)
		put(body, table, entry_size);
	return table_of(signature, body);
}

/* madt().cpu(0).cpu(3, false).table() */
struct madt {
	bytes body = bytes(8);

	madt &cpu(unsigned id, bool enabled = true)
	{
		put(body, 0, 1);
		put(body, 8, 1);
		put(body, id << 8, 2);
		put(body, enabled, 4);
		return *this;
	}

	madt &x2apic_cpu(unsigned id)
	{
		put(body, 9, 1);
		put(body, 16, 1);
		put(body, 0, 2);
		put(body, id, 4);
		put(body, 1, 8);
		return *this;
	}

	madt &io_apic(std::uint32_t address, std::uint32_t first_input = 0)
	{
		put(body, 1, 1);
		put(body, 12, 1);
		put(body, 0, 2);
		put(body, address, 4);
		put(body, first_input, 4);
		return *this;
	}

	/*
	 * An interrupt source override: the input that the old timer is wired
	 * to.
	 */
	madt &wire(unsigned input)
	{
		put(body, 2, 1);
		put(body, 10, 1);
		put(body, 0, 2);
		put(body, input, 6);
		return *this;
	}

	madt &raw(const bytes &entry)
	{
		body.insert(body.end(), entry.begin(), entry.end());
		return *this;
	}

	bytes table() const { return table_of("APIC", body); }
};

/* A FADT with a timer, of the length that ACPI 1.0 or later ones have. */
struct fadt {
	std::uint32_t port = 0x608;
	std::uint8_t length = 4;
	std::uint32_t flags = 0;
	unsigned extended_space = 1;
	std::uint64_t extended = 0;
	std::size_t size = 244;

	bytes table() const
	{
		bytes whole(244);

		set(whole, 76, port, 4);
		set(whole, 91, length, 1);
		set(whole, 112, flags, 4);
		set(whole, 208, extended_space, 1);
		set(whole, 212, extended, 8);
		return table_of(
			"FACP",
			bytes(whole.begin() + 36,
			      whole.begin() +
				      static_cast<std::ptrdiff_t>(size)));
	}
};

inline bytes hpet_of(std::uint64_t address, unsigned space = 0)
{
	bytes body(20);

	set(body, 4, space, 1);
	set(body, 8, address, 8);
	return table_of("HPET", body);
}

} // namespace testing

using testing::bytes;
using testing::dice;
using testing::fadt;
using testing::fake_memory;
using testing::hpet_of;
using testing::madt;
using testing::root_of;
using testing::rsdp_of;
using testing::summed;

namespace {

constexpr std::uint64_t rsdp_at = 0xe0010;
constexpr std::uint32_t rsdt_at = 0x7fe1000;
constexpr std::uint64_t xsdt_at = 0x7fe2000;
constexpr std::uint64_t old_madt = 0x7fe3000;
constexpr std::uint64_t new_madt = 0x7fe4000;
constexpr std::uint64_t beyond = std::uint64_t{1} << 32;

struct outcome {
	boot::acpi_found found;
	boot::madt_damage damage;
	std::string problem;
};

outcome read(const fake_memory &memory, const boot::rsdp_copy &given = {})
{
	outcome o;
	const char *const why =
		boot::read_acpi(memory.view(), given, o.found, o.damage);

	o.problem = why ? why : "";
	return o;
}

/* RSDT and XSDT name MADTs of one CPU: 1 the one, 2 the other. */
fake_memory two_roots(const bytes &rsdp, std::uint64_t xsdt = xsdt_at)
{
	fake_memory memory;

	memory.add(rsdp_at, rsdp);
	memory.add(rsdt_at, root_of("RSDT", 4, {old_madt}));
	memory.add(xsdt, root_of("XSDT", 8, {new_madt}));
	memory.add(old_madt, madt().cpu(1).table());
	memory.add(new_madt, madt().cpu(2).table());
	return memory;
}

fake_memory with_madt(const bytes &table)
{
	fake_memory memory;

	memory.add(rsdp_at, rsdp_of(0, rsdt_at, 0));
	memory.add(rsdt_at, root_of("RSDT", 4, {0x50, 0, old_madt}));
	memory.add(old_madt, table);
	return memory;
}

boot::u64 only_cpu(const outcome &o)
{
	CHECK(o.problem == "");
	CHECK(o.found.cpus.count == 1);
	return o.found.cpus.ids[0];
}

boot::rsdp_copy copy_of(const bytes &rsdp, std::size_t size)
{
	boot::rsdp_copy copy;

	copy.size = size;
	std::memcpy(copy.bytes, rsdp.data(), size);
	return copy;
}

} // namespace

TEST_CASE("acpi: revision 0 has an RSDT, revision 2 an XSDT")
{
	CHECK(only_cpu(read(two_roots(rsdp_of(0, rsdt_at, xsdt_at)))) == 1);
	CHECK(only_cpu(read(two_roots(rsdp_of(2, rsdt_at, xsdt_at)))) == 2);

	/* 20 bytes are all that ACPI 1.0 has. */
	bytes old = rsdp_of(0, rsdt_at, 0);

	old.resize(20);
	CHECK(only_cpu(read(two_roots(old))) == 1);
}

TEST_CASE("acpi: an XSDT that cannot be used, and then the RSDT")
{
	CHECK(only_cpu(read(two_roots(rsdp_of(2, rsdt_at, beyond), beyond))) ==
	      1);
	CHECK(only_cpu(read(two_roots(rsdp_of(2, rsdt_at, ~0ull)))) == 1);
	CHECK(only_cpu(read(two_roots(rsdp_of(2, rsdt_at, 0)))) == 1);
	CHECK(only_cpu(read(two_roots(rsdp_of(2, rsdt_at, rsdt_at)))) == 1);

	bytes wrong_sum = rsdp_of(2, rsdt_at, xsdt_at);

	wrong_sum[32]++;
	CHECK(only_cpu(read(two_roots(wrong_sum))) == 1);
	CHECK(read(two_roots(rsdp_of(2, 0, beyond), beyond)).problem ==
	      "the ACPI RSDT is missing or damaged");
}

TEST_CASE("acpi: the RSDP of the loader, of a BIOS, of neither")
{
	const bytes right = rsdp_of(2, rsdt_at, xsdt_at);
	fake_memory memory = two_roots(bytes(36));

	CHECK(read(memory).problem == "no ACPI (no RSDP)");
	CHECK(only_cpu(read(memory, copy_of(right, 36))) == 2);
	CHECK(only_cpu(read(memory, copy_of(right, 20))) == 1);

	bytes wrong = right;

	wrong[8]++;
	CHECK(read(memory, copy_of(wrong, 36)).problem == "no ACPI (no RSDP)");
	CHECK(only_cpu(read(two_roots(right), copy_of(wrong, 36))) == 2);

	/* In the extended BIOS data area, whose segment is at 40EH. */
	memory.add(0x40e, {0xc0, 0x9f});
	memory.add(0x9fc10, right);
	CHECK(only_cpu(read(memory)) == 2);
	memory.add(0x40e, {0x00, 0x10});
	CHECK(read(memory).problem == "no ACPI (no RSDP)");

	/* A copy that is cut is none. */
	boot::rsdp_copy cut = copy_of(right, 36);

	cut.size = 20;
	CHECK(only_cpu(read(memory, cut)) == 1);
	cut.size = 19;
	CHECK(read(memory, cut).problem == "no ACPI (no RSDP)");
}

TEST_CASE("acpi: where the RSDP is looked for without a loader's")
{
	const auto is_found = [](std::uint64_t at, unsigned ebda = 0) {
		fake_memory memory = two_roots(bytes(36));

		memory.add(0x40e, {static_cast<std::uint8_t>(ebda),
				   static_cast<std::uint8_t>(ebda >> 8)});
		memory.add(at, rsdp_of(2, rsdt_at, xsdt_at));
		return read(memory).problem.empty();
	};

	CHECK(is_found(0xe0000));
	CHECK(is_found(0xfffe0));
	CHECK_FALSE(is_found(0xdfff0));
	CHECK_FALSE(is_found(0xe0028));
	CHECK_FALSE(is_found(0x100000));

	/* The EBDA's first KiB, where that can be: below 640 KiB. */
	CHECK(is_found(0x80000, 0x8000));
	CHECK(is_found(0x803f0, 0x8000));
	CHECK_FALSE(is_found(0x80400, 0x8000));
	CHECK(is_found(0x9fff0, 0x9fff));
	CHECK_FALSE(is_found(0x7fff0, 0x7fff));
	CHECK_FALSE(is_found(0xa0000, 0xa000));
}

TEST_CASE("acpi: a root's entries are of its own size, and whole")
{
	fake_memory memory = two_roots(rsdp_of(3, rsdt_at, xsdt_at));

	memory.add(xsdt_at, root_of("XSDT", 8, {old_madt << 32, new_madt}));
	CHECK(only_cpu(read(memory)) == 2);

	bytes cut = root_of("RSDT", 4, {0x50, old_madt});

	cut.resize(cut.size() - 1);
	testing::set(cut, 4, cut.size(), 4);
	memory.add(xsdt_at, bytes(36));
	memory.add(rsdt_at, summed(cut));
	CHECK(read(memory).problem == "ACPI has no MADT");
}

TEST_CASE("acpi: CPUs that are enabled and have an id that IPIs reach")
{
	madt m;

	m.cpu(0).cpu(3, false).cpu(255).x2apic_cpu(7).x2apic_cpu(300);
	m.wire(2).io_apic(0xfec00000, 24);
	const outcome o = read(with_madt(m.table()));

	CHECK(o.problem == "");
	CHECK(o.found.cpus.count == 2);
	CHECK(o.found.cpus.ids[1] == 7);
	CHECK(o.found.left_out == 2);
	CHECK(o.found.timer.input == 2);
	REQUIRE(o.found.io_apic_count == 1);
	CHECK(o.found.io_apics[0].address == 0xfec00000);
	CHECK(o.found.io_apics[0].first_input == 24);
}

TEST_CASE("acpi: the last id that IPIs reach; a CPU that is not there yet")
{
	const bytes to_plug_in = {0, 8, 0, 3, 2, 0, 0, 0};
	const outcome o = read(
		with_madt(madt().cpu(254).raw(to_plug_in).cpu(255).table()));

	CHECK(only_cpu(o) == 254);
	CHECK(o.found.large_ids == 1);
	CHECK(o.found.left_out == 1);
	for (const bytes &none :
	     {madt().raw(to_plug_in).table(), testing::table_of("APIC", {})})
		CHECK(read(with_madt(none)).problem ==
		      "the ACPI MADT has no CPU");
}

TEST_CASE("acpi: an entry shorter than its type says nothing")
{
	/* Each would say something with the bytes behind it. */
	const outcome o = read(with_madt(madt().cpu(1)
						 .raw({0, 4, 0, 3})
						 .raw({9, 8, 0, 0, 3, 0, 0, 0})
						 .raw({1, 8, 0, 0, 0, 0, 0, 1})
						 .raw({2, 4, 0, 0})
						 .raw({77, 2})
						 .cpu(1)
						 .cpu(1)
						 .table()));

	CHECK(o.problem == "");
	CHECK(o.damage.at == 0);
	CHECK(o.found.cpus.count == 3);
	CHECK(o.found.cpus.ids[1] == 1);
	CHECK(o.found.io_apic_count == 0);
	CHECK(o.found.timer.input == 0);
}

TEST_CASE("acpi: the old timer's wire, and its polarity")
{
	/* Bus, source; input; flags. */
	const auto wire = [](unsigned bus, unsigned source, unsigned flags) {
		bytes entry = {2, 10};

		testing::put(entry, bus | source << 8, 2);
		testing::put(entry, 2, 4);
		testing::put(entry, flags, 2);
		return read(with_madt(madt().cpu(1).raw(entry).table()))
			.found.timer;
	};

	CHECK(wire(0, 0, 0).input == 2);
	CHECK_FALSE(wire(0, 0, 0).active_low);
	CHECK_FALSE(wire(0, 0, 5).active_low);
	CHECK(wire(0, 0, 3).active_low);
	CHECK(wire(0, 0, 15).active_low);
	CHECK(wire(1, 0, 3).input == 0);
	CHECK(wire(0, 1, 3).input == 0);
}

TEST_CASE("acpi: ids that only x2APICs reach, and ids beyond the table")
{
	const fake_memory memory = with_madt(madt().cpu(1)
						     .cpu(255)
						     .x2apic_cpu(300)
						     .x2apic_cpu(4096)
						     .table());
	outcome o;

	o.found.last_id = 4095;
	CHECK(boot::read_acpi(memory.view(), {}, o.found, o.damage) == nullptr);
	CHECK(o.found.cpus.count == 3);
	CHECK(o.found.cpus.ids[2] == 300);
	CHECK(o.found.large_ids == 1);
	CHECK(o.found.left_out == 1);
	CHECK(read(memory).found.large_ids == 3);
}

TEST_CASE("acpi: more CPUs and I/O APICs than there is room for")
{
	madt m;

	for (unsigned i = 0; i < boot::max_cpus + 9; i++)
		m.cpu(i % 255).io_apic(i);
	const outcome o = read(with_madt(m.table()));

	CHECK(o.found.cpus.count == boot::max_cpus);
	CHECK(o.found.left_out == 9);
	CHECK(o.found.large_ids == 0);
	CHECK(o.found.io_apic_count == boot::max_io_apics);
}

TEST_CASE("acpi: a table whose checksum or length is wrong")
{
	const bytes right = madt().cpu(1).table();
	bytes wrong = right;

	wrong[20]++;
	CHECK(read(with_madt(wrong)).problem == "the ACPI MADT is damaged");
	for (std::uint32_t length : {0u, 35u, 0x100001u, 0xffffffffu,
				     static_cast<unsigned>(right.size()) + 1}) {
		wrong = right;
		testing::set(wrong, 4, length, 4);
		CHECK(read(with_madt(summed(wrong))).problem ==
		      "the ACPI MADT is damaged");
	}
	/* 1 MiB may be one, a byte more is none. */
	wrong = right;
	wrong.resize(0x100000);
	testing::set(wrong, 4, wrong.size(), 4);
	CHECK(only_cpu(read(with_madt(summed(wrong)))) == 1);
	wrong.push_back(0);
	testing::set(wrong, 4, wrong.size(), 4);
	CHECK(read(with_madt(summed(wrong))).problem ==
	      "the ACPI MADT is damaged");

	fake_memory memory = with_madt(right);

	memory.add(rsdt_at, root_of("RSDT", 4, {0x50}));
	CHECK(read(memory).problem == "ACPI has no MADT");
	memory.add(rsdt_at, root_of("RSDX", 4, {old_madt}));
	CHECK(read(memory).problem == "the ACPI RSDT is missing or damaged");
}

TEST_CASE("acpi: a MADT cut short anywhere, its checksum made right")
{
	madt m;

	m.cpu(0).cpu(1).x2apic_cpu(2).wire(2).io_apic(0xfec00000);
	const bytes whole = m.table();
	/* The end of each entry: a cut there leaves a whole MADT. */
	const std::size_t ends[] = {44, 52, 60, 76, 86, 98};

	for (std::size_t size = 36; size < whole.size(); size++) {
		bytes cut(whole.begin(),
			  whole.begin() + static_cast<std::ptrdiff_t>(size));

		testing::set(cut, 4, size, 4);
		const outcome o = read(with_madt(summed(cut)));
		const bool at_end =
			size < 44 || std::find(std::begin(ends), std::end(ends),
					       size) != std::end(ends);

		CHECK(o.found.cpus.count ==
		      0u + (size >= 52) + (size >= 60) + (size >= 76));
		CHECK((o.damage.at == 0) == at_end);
		CHECK((o.damage.at == 0 || o.damage.table == size));
	}
}

TEST_CASE("acpi: an entry without a size ends the reading, and is named")
{
	for (std::uint8_t size : {0, 1}) {
		const outcome o = read(
			with_madt(madt().cpu(0).raw({4, size}).cpu(1).table()));

		CHECK(only_cpu(o) == 0);
		CHECK(o.damage.at == 52);
		CHECK(o.damage.size == size);
		CHECK(o.damage.table == 62);
	}
}

TEST_CASE("acpi: 10,000 sets of tables with bytes changed at random")
{
	const bytes rsdp = rsdp_of(2, rsdt_at, xsdt_at);
	madt m;
	dice random{1};
	unsigned lists = 0;

	m.cpu(0).cpu(1).x2apic_cpu(2).wire(2).io_apic(0xfec00000);
	const bytes right[] = {rsdp, root_of("XSDT", 8, {xsdt_at, new_madt}),
			       m.table()};

	for (int i = 0; i < 10'000; i++) {
		bytes parts[] = {right[0], right[1], right[2]};
		bytes &spoiled = parts[random.below(3)];
		fake_memory memory;

		/* All but the RSDP's signature, else it is looked for. */
		random.spoil(spoiled, &spoiled == parts ? 8 : 0);
		/* Right all the same, else most would end at the checksum. */
		if (&spoiled == parts)
			spoiled = summed(summed(spoiled, 8, 20), 32, 36);
		else
			spoiled = summed(spoiled);
		memory.add(rsdp_at, parts[0]);
		memory.add(xsdt_at, parts[1]);
		memory.add(new_madt, parts[2]);
		lists += read(memory).problem.empty();
	}
	CHECK(lists > 3000);
}

namespace {

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

namespace {

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
