/* SPDX-License-Identifier: MIT */
/*
 * nmi_clock - an NMI to CPU 0 again and again, for a watchdog: x86
 *
 * Counter 0 of the 8254 (Intel 8254 data sheet, mode 2) raises the ISA's
 * interrupt 0; the firmware's tables say at which input of which I/O APIC
 * (Intel 82093AA data sheet, 3.2) that comes in, which sends it as an NMI.
 */
#include <boot/interrupts.hpp>
#include <boot/cpus.hpp>
#include <boot/format.hpp>
#include <boot/x86/acpi.hpp>
#include <boot/x86/reference_timers.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constexpr u32 version_register = 1;
constexpr u32 first_entry = 0x10; /* two registers each */
constexpr u32 delivery_nmi = 4 << 8;
constexpr u32 active_low = 1 << 13;

u32 read(usize base, u32 index)
{
	*physical<volatile u32>(base) = index;
	return *physical<volatile u32>(base + 0x10);
}

void write(usize base, u32 index, u32 value)
{
	*physical<volatile u32>(base) = index;
	*physical<volatile u32>(base + 0x10) = value;
}

/* How many inputs; 0: nothing answers there. */
u32 inputs_of(usize base)
{
	const u32 version = read(base, version_register);

	return version == 0 || version == ~0u ? 0 : (version >> 16 & 0xff) + 1;
}

/* Null: none has the timer's input. */
const io_apic *timers_io_apic()
{
	const acpi_found &machine = acpi_tables();

	for (unsigned i = 0; i < machine.io_apic_count; i++) {
		const io_apic &chip = machine.io_apics[i];
		const u32 input = machine.timer.input - chip.first_input;

		if (machine.timer.input >= chip.first_input &&
		    input < inputs_of(chip.address))
			return &chip;
	}
	return nullptr;
}

} // namespace

const char *nmi_clock_start(u32 period_us)
{
	const acpi_found &machine = acpi_tables();
	const u32 ticks =
		static_cast<u32>(div_u64(u64{period_us} * pit_hz, 1'000'000));

	if (!has_ipis())
		return "no local APIC";
	if (!machine.io_apic_count)
		return "the firmware names no I/O APIC";
	const io_apic *const chip = timers_io_apic();

	if (!chip)
		return "no I/O APIC has the timer's input";
	if (hardware_id_of(0) > 254)
		return "an I/O APIC does not reach the first CPU's id";
	if (!pit_start_periodic(ticks))
		return "no 8254 timer that counts";
	const u32 entry =
		first_entry + 2 * (machine.timer.input - chip->first_input);

	write(chip->address, entry + 1,
	      static_cast<u32>(hardware_id_of(0)) << 24);
	write(chip->address, entry,
	      delivery_nmi | (machine.timer.active_low ? active_low : 0));
	return nullptr;
}

} // namespace boot
