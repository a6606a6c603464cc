/* SPDX-License-Identifier: MIT */
/*
 * serial - COM1, polled, 115200 8N1
 *
 * Source: National Semiconductor PC16550D data sheet, section 8 (registers).
 */
#include <machine/layout.h>
#include <boot/x86/serial.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constexpr u16 data = COM1_PORT;
constexpr u16 interrupt_enable = COM1_PORT + 1;
constexpr u16 fifo_control = COM1_PORT + 2;
constexpr u16 line_control = COM1_PORT + 3;
constexpr u16 modem_control = COM1_PORT + 4;
constexpr u16 line_status = COM1_PORT + 5;

constexpr u8 holding_register_empty = 0x20;
constexpr u8 transmitter_empty = 0x40;

constinit bool present = false;

/* In loop-back mode a UART reads what it sends, and nothing else does. */
bool answers()
{
	out8(modem_control, 0x10);
	out8(data, 0xa5);
	for (int i = 0; i < 1000; i++) {
		if ((in8(line_status) & 0x01) && in8(data) == 0xa5)
			return true;
	}
	return false;
}

/*
 * A line that takes nothing for ten million reads (about ten seconds) is given
 * up for good: better to run in silence than to hang.
 */
void wait_for(u8 bit)
{
	for (int i = 0; i < 10'000'000; i++) {
		if (in8(line_status) & bit)
			return;
	}
	present = false;
}

} // namespace

void serial_init()
{
	out8(interrupt_enable, 0);
	out8(line_control, 0x80); /* the divisor shows instead of data */
	out8(data, 1);		  /* 115200 baud */
	out8(interrupt_enable, 0);
	out8(line_control, 0x03); /* 8 bits, no parity, 1 stop bit */
	out8(fifo_control, 0x07); /* on, both cleared */
	present = answers();
	out8(modem_control, 0x03); /* DTR, RTS */
}

void serial_put(char c)
{
	if (!present)
		return;
	wait_for(holding_register_empty);
	out8(data, static_cast<u8>(c));
}

void serial_drain()
{
	if (present)
		wait_for(transmitter_empty);
}

} // namespace boot
