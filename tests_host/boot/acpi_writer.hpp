/* SPDX-License-Identifier: MIT */
/*
 * acpi_writer - makes ACPI's tables for tests
 *
 * Source: ACPI Specification 6.5, 5.2.
 */
#pragma once

#include <string>
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

	/* Of the old timer. */
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
