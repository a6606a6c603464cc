/* SPDX-License-Identifier: MIT */
/*
 * board - the device tree, the console's other end, the machine's end: AArch64
 */
#include <boot/aarch64/system.hpp>
#include <boot/machine.hpp>
#include <boot/interrupts.hpp>

namespace boot {

/*
 * -- The device tree, from which boot has all it knows --
 *
 * Source: Linux's boot protocol for arm64, which loaders follow: the tree is at
 * most 2 MiB large.
 */

namespace {

constexpr usize largest_tree = 2 << 20;

constinit device_tree tree;

} // namespace

const device_tree &machine_tree() { return tree; }

boot_info read_boot_info(usize, usize tree_address)
{
	boot_info found;
	const void *const blob = physical<const void>(tree_address);

	found.trouble = tree.open(blob, largest_tree);
	if (!found.trouble)
		found.command_line = tree_command_line(tree);
	return found;
}

/*
 * -- The serial line, a PL011, polled --
 *
 * Source: Arm PrimeCell UART (PL011) Technical Reference Manual (DDI 0183),
 * chapter 3. The rate is left as the firmware has set it.
 */

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

void output_drain()
{
	if (base)
		wait_while(flag_busy);
}

/*
 * -- An emulator's or a debugger's semihosting, else sleep --
 *
 * Source: Semihosting for AArch32 and AArch64 2.0, SYS_EXIT. Where nobody
 * listens, the instruction is an exception: exception_dispatch() goes on behind
 * it then, and the machine stays on.
 */

extern "C" const u8 semihosting_exit_call[];

bool is_semihosting_call(usize ip)
{
	return ip == reinterpret_cast<usize>(semihosting_exit_call);
}

[[gnu::noinline]] void machine_exit(exit_code code)
{
	/* QEMU's status as on x86: see panic.hpp. */
	const u64 block[] = {SEMIHOSTING_APPLICATION_EXIT,
			     u64{static_cast<u8>(code)} * 2 + 1};
	register u64 operation asm("x0") = SEMIHOSTING_EXIT;
	register const u64 *parameter asm("x1") = block;

	asm volatile(".globl semihosting_exit_call\n"
		     "semihosting_exit_call:\n\t"
		     "hlt %2"
		     : "+r"(operation)
		     : "r"(parameter), "i"(SEMIHOSTING_HLT)
		     : "memory");
}

} // namespace boot
