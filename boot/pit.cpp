/* SPDX-License-Identifier: MIT */
/*
 * pit - channel 2 of the 8254 timer, for measurements
 *
 * Source: Intel 8254 data sheet, Mode 0 and Counter Latch Command; port 61H
 * (IBM PC AT Technical Reference): bit 0 is channel 2's gate, bit 1 the
 * speaker.
 */
#include <boot/pit.hpp>
#include <boot/x86.hpp>

namespace boot {

namespace {

constexpr u16 channel_2 = 0x42;
constexpr u16 control = 0x43;
constexpr u16 system_control = 0x61;

} // namespace

void pit_start()
{
	out8(system_control,
	     static_cast<u8>((in8(system_control) & ~0x03) | 0x01));
	out8(control, 0xb0); /* channel 2, low byte then high byte, mode 0 */
	out8(channel_2, 0xff);
	out8(channel_2, 0xff);
}

u32 pit_count()
{
	out8(control, 0x80); /* latch channel 2 */
	const u32 low = in8(channel_2);

	return low | static_cast<u32>(in8(channel_2)) << 8;
}

} // namespace boot
