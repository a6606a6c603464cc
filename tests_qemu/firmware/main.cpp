/* SPDX-License-Identifier: MIT */
/*
 * main - firmware that is not as on QEMU's PC, or not as it should be, and what
 * boot makes of it
 *
 * spoil= on the kernel's command line says what is changed before boot looks:
 *
 *	apic_id		the first CPU has 7, not 0
 *	entry		an entry of the MADT has the length 0
 *	wire		the timer is said to come in at input 5
 *	address		the I/O APIC is said to be where none is
 *	io_apic		no I/O APIC is named
 */
#include <boot/kernel.hpp>
#include <boot/x86/acpi.hpp>
#include <boot/x86/multiboot.hpp>
#include <boot/x86/x86.hpp>

namespace {

using namespace boot;

constexpr usize own_apic_id = 0xfee00020; /* Intel SDM 3A, Local APIC ID */
constexpr u8 no_type = 0x7f;

bool asked_for(const char *line, const char *word)
{
	for (; *line; line++) {
		usize same = 0;

		while (word[same] && line[same] == word[same])
			same++;
		if (!word[same])
			return true;
	}
	return false;
}

/* In RAM that SeaBIOS has left writable. */
acpi_header *find_madt()
{
	for (usize at = 0xe0000; at < 0x100000; at += 16) {
		const auto *rsdp = physical<acpi_rsdp>(at);

		if (rsdp->signature != rsdp_signature)
			continue;
		const auto *rsdt = physical<acpi_header>(rsdp->rsdt);
		const auto *tables =
			physical<const u32>(rsdp->rsdt + sizeof(acpi_header));

		for (u32 i = 0; i < (rsdt->length - sizeof(*rsdt)) / 4; i++) {
			auto *table = physical<acpi_header>(tables[i]);

			if (table->signature == madt_signature)
				return table;
		}
	}
	return nullptr;
}

void spoil_entry(const char *line, madt_entry *entry)
{
	if (entry->type == madt_override && asked_for(line, "spoil=wire"))
		reinterpret_cast<madt_override_entry *>(entry)->input = 5;
	if (entry->type != madt_io_apic)
		return;
	if (asked_for(line, "spoil=io_apic"))
		entry->type = no_type;
	if (asked_for(line, "spoil=address"))
		reinterpret_cast<madt_io_apic_entry *>(entry)->address =
			0xfed80000;
}

void spoil_madt(const char *line, acpi_header *madt)
{
	u8 *const from = reinterpret_cast<u8 *>(madt);
	u8 sum = 0;

	for (u32 at = sizeof(acpi_madt); at < madt->length;) {
		auto *entry = reinterpret_cast<madt_entry *>(from + at);

		at += entry->length;
		spoil_entry(line, entry);
		if (at > sizeof(acpi_madt) + sizeof(madt_cpu) &&
		    asked_for(line, "spoil=entry"))
			entry->length = 0;
	}
	madt->checksum = 0;
	for (u32 at = 0; at < madt->length; at++)
		sum = static_cast<u8>(sum + from[at]);
	madt->checksum = static_cast<u8>(-sum);
}

} // namespace

extern "C" void spoil(const multiboot_info *info)
{
	const char *line = physical<const char>(info->command_line);

	if (acpi_header *madt = find_madt())
		spoil_madt(line, madt);
	if (asked_for(line, "spoil=apic_id"))
		*physical<volatile u32>(own_apic_id) = 7 << 24;
}

/* -- Boot's use of it: an IPI to this CPU, the NMI clock ------- */

namespace {

constexpr boot::u8 vector = 0x50;

constinit volatile bool ipi_came = false;
constinit volatile bool nmi_came = false;

/* Waits for two seconds; a right one takes at most one. */
bool comes(const volatile bool &what)
{
	for (int i = 0; i < 2000 && !what; i++)
		boot::delay_us(1000);
	return what;
}

} // namespace

int payload_main()
{
	boot::set_interrupt_handler(
		vector, [](boot::interrupt_frame &) { ipi_came = true; });
	boot::set_interrupt_handler(
		boot::vector_nmi,
		[](boot::interrupt_frame &) { nmi_came = true; });

	boot::send_ipi(0, vector);
	boot::print("# own IPI: %s\n", comes(ipi_came) ? "came" : "lost");
	const char *const why_not = boot::nmi_clock_start(1000);

	boot::print("# NMI clock: %s\n", why_not	   ? why_not
					 : comes(nmi_came) ? "runs"
							   : "no NMI comes");
	/* A full row of the screen and its end are one line. */
	boot::print("%-80s\n", "# 80 columns");
	boot::print("PASS\n");
	return 0;
}
