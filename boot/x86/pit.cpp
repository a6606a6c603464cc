/* SPDX-License-Identifier: MIT */
/*
 * pit - the 8254 timer: channel 2 for measurements, channel 0 for interrupts
 *
 * Source: Intel 8254 data sheet, Modes 0 and 2, Counter Latch Command; port 61H
 * (IBM PC AT Technical Reference): bit 0 is channel 2's gate, bit 1 the
 * speaker, bit 5 channel 2's output: in mode 0 low until it has run out.
 */
#include <boot/x86/pit.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constexpr u16 channel_0 = 0x40;
constexpr u16 channel_2 = 0x42;
constexpr u16 control = 0x43;
constexpr u16 system_control = 0x61;

u32 read_count(u16 channel, u8 latch)
{
	out8(control, latch);
	const u32 low = in8(channel);

	return low | static_cast<u32>(in8(channel)) << 8;
}

} // namespace

void pit_start()
{
	out8(system_control,
	     static_cast<u8>((in8(system_control) & ~0x03) | 0x01));
	out8(control, 0xb0); /* channel 2, low byte then high byte, mode 0 */
	out8(channel_2, 0xff);
	out8(channel_2, 0xff);
}

u32 pit_count() { return read_count(channel_2, 0x80); }

bool pit_has_run_out() { return in8(system_control) & 0x20; }

bool pit_start_periodic(u32 ticks)
{
	out8(control, 0x34); /* channel 0, low byte then high byte, mode 2 */
	out8(channel_0, static_cast<u8>(ticks));
	out8(channel_0, static_cast<u8>(ticks >> 8));

	const u32 before = read_count(channel_0, 0x00);

	for (int i = 0; i < 10'000; i++)
		if (read_count(channel_0, 0x00) != before)
			return true;
	return false;
}

} // namespace boot
