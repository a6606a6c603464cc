/* SPDX-License-Identifier: MIT */
/*
 * output - the serial line, a PL011, polled: AArch64
 *
 * Source: Arm PrimeCell UART (PL011) Technical Reference Manual (DDI 0183),
 * chapter 3. The rate is left as the firmware has set it.
 */
#include <boot/aarch64/machine_tree.hpp>
#include <boot/aarch64/system.hpp>
#include <boot/machine.hpp>

namespace boot {

namespace {

constexpr usize data = 0x00;
constexpr usize flags = 0x18;
constexpr usize line_control = 0x2c;
constexpr usize control = 0x30;
constexpr usize interrupt_mask = 0x38;

constexpr u32 flag_busy = 1 << 3;
constexpr u32 flag_full = 1 << 5;

constinit usize base = 0; /* 0: there is none */

/*
 * A line that takes nothing for ten million reads (about ten seconds) is given
 * up for good: better to run in silence than to hang.
 */
void wait_while(u32 flag)
{
	for (int i = 0; i < 10'000'000; i++) {
		if (!(device_read(base + flags) & flag))
			return;
	}
	base = 0;
}

} // namespace

void output_init(const boot_info &)
{
	tree_walk uart(machine_tree());
	tree_region registers;

	if (!find_compatible(machine_tree(), "arm,pl011", uart) ||
	    !uart.region(0, registers))
		return;
	base = registers.address;
	device_write(base + interrupt_mask, 0);
	device_write(base + line_control, 0x70); /* 8 bits, both queues on */
	device_write(base + control, 0x301);	 /* on, sends, receives */
}

void output_put(char c)
{
	if (base)
		wait_while(flag_full);
	if (base)
		device_write(base + data, static_cast<u8>(c));
}

void output_shown() {}

void output_drain()
{
	if (base)
		wait_while(flag_busy);
}

} // namespace boot
