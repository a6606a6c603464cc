/* SPDX-License-Identifier: MIT */
/*
 * board - the console's other end, and what the device tree says of the
 * machine: RISC-V
 */
#include <boot/riscv64/csr.hpp>
#include <boot/board/board.hpp>
#include <boot/interrupts.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/board.hpp>
#include <boot/machine.hpp>
#include <boot/console.hpp>
#include <boot/format.hpp>

namespace boot {

constinit device_tree board_tree = {};

/*
 * -- A 16550, polled, 8N1, at the rate that the firmware left --
 *
 * Source: National Semiconductor PC16550D data sheet, section 8 (registers);
 * Linux, Documentation/devicetree/bindings/serial/8250.yaml (reg-shift).
 */

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

/* Prints nothing if the board has no UART that boot knows. */
void output_init(const boot_info &)
{
	tree_walk node(board_tree);
	tree_region registers;

	if (!find_compatible(board_tree, "ns16550a", node) ||
	    !node.region(0, registers))
		return;
	base = registers.address;
	node.property("reg-shift").number(0, 1, shift);
	write(interrupt_enable, 0);
	write(line_control, 0x03);  /* 8 bits, no parity, 1 stop bit */
	write(fifo_control, 0x07);  /* on, both cleared */
	write(modem_control, 0x03); /* DTR, RTS */
}

void output_put(char c)
{
	if (!base)
		return;
	wait_for(holding_register_empty);
	if (base)
		write(data, static_cast<u8>(c));
}

void output_drain()
{
	if (base)
		wait_for(transmitter_empty);
}

/* -- The machine, read from the device tree ---- */

namespace {

/* No tree is larger: QEMU's are 1 MiB, with room to spare. */
constexpr usize largest_tree = 2 << 20;

/* The device that ends QEMU; 0: there is none. */
constinit usize test_device = 0;

constexpr u32 test_device_fail = 0x3333;
constexpr u32 test_device_reset = 0x7777;

void find_test_device()
{
	tree_walk node(board_tree);
	tree_region registers;

	if (find_compatible(board_tree, "sifive,test0", node) &&
	    node.region(0, registers))
		test_device = registers.address;
}

} // namespace

/* A0 and A1 as the hart came to _start: its number, the device tree. */
boot_info read_boot_info(usize hart, usize tree)
{
	boot_info found;

	cpu_blocks[0].hardware_id = hart;
	found.trouble = board_tree.open(reinterpret_cast<const void *>(tree),
					largest_tree);
	if (found.trouble)
		return found;
	find_test_device();
	found.command_line = tree_command_line(board_tree);
	return found;
}

u64 timer_hz()
{
	tree_walk node(board_tree);
	u64 hz = 0;

	while (node.next()) {
		const tree_property clock = node.property("timebase-frequency");

		if (clock && (clock.number(0, 2, hz) || clock.number(0, 1, hz)))
			break;
	}
	return hz;
}

cpu_list find_cpus(const boot_info &)
{
	return tree_cpus(board_tree, has_ipis() ? nullptr : "no IPIs");
}

/*
 * SiFive test device, as QEMU has it: the upper half is the exit status. QEMU
 * 10 ends some time after the write: nothing more may be printed.
 */
void machine_exit(exit_code code)
{
	const u32 status = 2 * static_cast<u32>(code) + 1;

	if (!test_device)
		return;
	write_device<u32>(test_device, status << 16 | test_device_fail);
	halt();
}

void machine_reset()
{
	if (test_device)
		write_device<u32>(test_device, test_device_reset);
	halt();
}

/*
 * -- How often klock::cycles() counts in a second --
 *
 * It reads the time register, whose rate the device tree says (Devicetree
 * Specification 0.4, 3.7, timebase-frequency).
 */

clock_found find_clock()
{
	const u64 hz = timer_hz();

	if (hz)
		print("# boot: clock %u kHz, by the device tree\n",
		      div_u64(hz, 1000));
	else
		print("# boot: the clock is not known: time is taken from a "
		      "guess of 10 MHz\n");
	return {hz ? hz : 10'000'000, hz != 0};
}

} // namespace boot
