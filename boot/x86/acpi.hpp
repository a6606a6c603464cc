/* SPDX-License-Identifier: MIT */
/*
 * acpi - what the firmware's tables say of CPUs, I/O APICs and timers
 * (private to boot)
 */
#pragma once

#include <boot/machine.hpp>
#include <boot/x86/firmware.hpp>
#include <boot/types.hpp>

namespace boot {

/* I/O APICs that are looked at; PCs have one or two. */
inline constexpr unsigned max_io_apics = 8;

struct io_apic {
	usize address;
	u32 first_input;
};

/* The input of the ISA's interrupt 0, the old timer's. */
struct timer_wire {
	u32 input = 0; /* of all I/O APICs together */
	bool active_low = false;
};

/* CPUs that are enabled and can be addressed; what raises timer interrupts. */
struct acpi_found {
	cpu_list cpus;
	u32 last_id = 254;	/* set before: that an IPI reaches */
	unsigned left_out = 0;	/* enabled, but beyond max_cpus or last_id */
	unsigned large_ids = 0; /* of these, beyond last_id */
	unsigned io_apic_count = 0;
	io_apic io_apics[max_io_apics] = {};
	timer_wire timer;
};

/* The tables that find_cpus() has read; empty before. */
const acpi_found &acpi_tables();

/*
 * -- ACPI's MADT --
 *
 * Source: ACPI Specification 6.5, 5.2.12.
 */

/* An entry of the MADT that is damaged: what is behind it was not read. */
struct madt_damage {
	u32 at = 0;   /* from the table's begin; 0: none */
	u32 size = 0; /* what it says of its own */
	u32 table = 0;
};

/*
 * `given` is the loader's copy of the RSDP; where that is none, it is looked
 * for where a BIOS puts it. Null, or why there is no list of CPUs.
 */
const char *read_acpi(const firmware_memory &memory, const rsdp_copy &given,
		      acpi_found &found, madt_damage &damage);

/*
 * -- The counters that ACPI names --
 *
 * Source: ACPI Specification 6.5, 4.8.2.1 and 5.2.9 (power management timer);
 * IA-PC HPET Specification 1.0a, 3.2.4 (HPET).
 */

struct acpi_timers {
	u16 pm_port = 0; /* 0: there is none that boot can read */
	bool pm_has_32_bits = false;
	usize hpet = 0; /* the same; else its address */
};

/* Returns ACPI's timers; none if there is no ACPI, or a damaged one. */
acpi_timers read_acpi_timers(const firmware_memory &memory,
			     const rsdp_copy &given);

/*
 * -- The formats of ACPI --
 *
 * Source: ACPI Specification 6.5, by section.
 */

/* Signatures are read as numbers, first letter lowest. */
constexpr u64 acpi_signature(const char *text)
{
	u64 value = 0;

	for (int i = 0; text[i]; i++)
		value |= static_cast<u64>(text[i]) << 8 * i;
	return value;
}

inline constexpr u64 rsdp_signature = acpi_signature("RSD PTR ");
inline constexpr u32 rsdt_signature = acpi_signature("RSDT");
inline constexpr u32 xsdt_signature = acpi_signature("XSDT");
inline constexpr u32 madt_signature = acpi_signature("APIC");
inline constexpr u32 fadt_signature = acpi_signature("FACP");
inline constexpr u32 hpet_signature = acpi_signature("HPET");

/* 5.2.5.3: the part that ACPI 1.0 has and its checksum covers */
struct [[gnu::packed]] acpi_rsdp {
	u64 signature;
	u8 checksum;
	char oem_id[6];
	u8 revision;
	u32 rsdt;
};

static_assert(sizeof(acpi_rsdp) == 20);

struct [[gnu::packed]] acpi_rsdp_2 {
	acpi_rsdp first;
	u32 length;
	u64 xsdt;
	u8 extended_checksum;
	u8 reserved[3];
};

static_assert(sizeof(acpi_rsdp_2) == 36);

/* 5.2.6 */
struct [[gnu::packed]] acpi_header {
	u32 signature;
	u32 length; /* of the whole table */
	u8 revision;
	u8 checksum;
	char oem_id[6];
	char oem_table_id[8];
	u32 oem_revision;
	u32 creator_id;
	u32 creator_revision;
};

static_assert(sizeof(acpi_header) == 36);

/* 5.2.3.2: where a register is */
struct [[gnu::packed]] acpi_address {
	u8 space;
	u8 bits;
	u8 first_bit;
	u8 access_size;
	u64 address;
};

static_assert(sizeof(acpi_address) == 12);

inline constexpr u8 acpi_in_memory = 0;
inline constexpr u8 acpi_in_ports = 1;

/* 5.2.9, as far as the power management timer goes */
struct [[gnu::packed]] acpi_fadt {
	acpi_header header;
	u8 to_the_timer[40];
	u32 pm_timer_port;
	u8 to_its_length[11];
	u8 pm_timer_length; /* 4, or there is none */
	u8 to_the_flags[20];
	u32 flags;
};

static_assert(sizeof(acpi_fadt) == 116);

inline constexpr u32 fadt_timer_of_32_bits = 1 << 8;
inline constexpr u32 fadt_reduced_hardware = 1 << 20;

/* X_PM_TMR_BLK, since ACPI 2.0 */
inline constexpr u32 fadt_extended_timer = 208;

/* IA-PC HPET Specification 1.0a, 3.2.4 */
struct [[gnu::packed]] acpi_hpet {
	acpi_header header;
	u32 event_timer_block;
	acpi_address base;
};

static_assert(sizeof(acpi_hpet) == 52);

/* 5.2.12 */
struct [[gnu::packed]] acpi_madt {
	acpi_header header;
	u32 local_apic_address;
	u32 flags;
};

struct [[gnu::packed]] madt_entry {
	u8 type;
	u8 length;
};

inline constexpr u8 madt_local_apic = 0;   /* 5.2.12.2 */
inline constexpr u8 madt_io_apic = 1;	   /* 5.2.12.3 */
inline constexpr u8 madt_override = 2;	   /* 5.2.12.5 */
inline constexpr u8 madt_local_x2apic = 9; /* 5.2.12.12 */
inline constexpr u32 madt_cpu_enabled = 1 << 0;

struct [[gnu::packed]] madt_cpu {
	madt_entry entry;
	u8 processor_uid;
	u8 apic_id;
	u32 flags;
};

static_assert(sizeof(madt_cpu) == 8);

struct [[gnu::packed]] madt_io_apic_entry {
	madt_entry entry;
	u8 id;
	u8 reserved;
	u32 address;
	u32 first_input; /* of all I/O APICs' inputs: its own first */
};

static_assert(sizeof(madt_io_apic_entry) == 12);

/* An ISA interrupt that does not come in at the input of its own number. */
struct [[gnu::packed]] madt_override_entry {
	madt_entry entry;
	u8 bus;
	u8 source;
	u32 input;
	u16 flags; /* bits 0 and 1: polarity; 2 and 3: trigger mode */
};

static_assert(sizeof(madt_override_entry) == 10);

inline constexpr u16 madt_polarity = 3;
inline constexpr u16 madt_active_low = 3;

struct [[gnu::packed]] madt_x2apic_cpu {
	madt_entry entry;
	u16 reserved;
	u32 apic_id;
	u32 flags;
	u32 processor_uid;
};

static_assert(sizeof(madt_x2apic_cpu) == 16);

} // namespace boot
