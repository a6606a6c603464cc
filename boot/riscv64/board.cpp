/* SPDX-License-Identifier: MIT */
/*
 * board - what the device tree says of the machine: RISC-V
 */
#include <boot/board/cpus.hpp>
#include <boot/interrupts.hpp>
#include <boot/ipi.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/board.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/uart.hpp>
#include <boot/machine.hpp>

namespace boot {

constinit device_tree board_tree = {};

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

void output_init(const boot_info &) { uart_init(board_tree); }

void output_put(char c) { uart_put(c); }

void output_shown() {}

void output_drain() { uart_drain(); }

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

/* SiFive test device, as QEMU has it: the upper half is the exit status. */
void machine_exit(exit_code code)
{
	const u32 status = 2 * static_cast<u32>(code) + 1;

	if (test_device)
		write_device<u32>(test_device, status << 16 | test_device_fail);
}

void machine_reset()
{
	if (test_device)
		write_device<u32>(test_device, test_device_reset);
	halt();
}

/* There is no screen. */
const char *after_exit_hint() { return ""; }

void after_exit() { halt(); }

} // namespace boot
