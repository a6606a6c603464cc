/* SPDX-License-Identifier: MIT */
/*
 * uart - a 16550, polled, 8N1, at the rate that the firmware left
 *
 * Source: National Semiconductor PC16550D data sheet, section 8 (registers);
 * Linux, Documentation/devicetree/bindings/serial/8250.yaml (reg-shift).
 */
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/uart.hpp>

namespace boot {

namespace {

constexpr unsigned data = 0;
constexpr unsigned interrupt_enable = 1;
constexpr unsigned fifo_control = 2;
constexpr unsigned line_control = 3;
constexpr unsigned modem_control = 4;
constexpr unsigned line_status = 5;

constexpr u8 holding_register_empty = 0x20;
constexpr u8 transmitter_empty = 0x40;

constinit usize base = 0; /* 0: none */
constinit u64 shift = 0;  /* registers are 1 << shift bytes apart */

u8 read(unsigned which) { return read_device<u8>(base + (which << shift)); }

void write(unsigned which, u8 value)
{
	write_device<u8>(base + (which << shift), value);
}

/*
 * A line that takes nothing for ten million reads is given up for good: better
 * to run in silence than to hang.
 */
void wait_for(u8 bit)
{
	for (int i = 0; i < 10'000'000; i++) {
		if (read(line_status) & bit)
			return;
	}
	base = 0;
}

} // namespace

void uart_init(const device_tree &tree)
{
	tree_walk node(tree);
	tree_region registers;

	if (!find_compatible(tree, "ns16550a", node) ||
	    !node.region(0, registers))
		return;
	base = registers.address;
	node.property("reg-shift").number(0, 1, shift);
	write(interrupt_enable, 0);
	write(line_control, 0x03);  /* 8 bits, no parity, 1 stop bit */
	write(fifo_control, 0x07);  /* on, both cleared */
	write(modem_control, 0x03); /* DTR, RTS */
}

void uart_put(char c)
{
	if (!base)
		return;
	wait_for(holding_register_empty);
	if (base)
		write(data, static_cast<u8>(c));
}

void uart_drain()
{
	if (base)
		wait_for(transmitter_empty);
}

} // namespace boot
