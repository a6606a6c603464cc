/* SPDX-License-Identifier: MIT */
/*
 * board - what the loader left, the console's other end, the machine's end: x86
 */
#include <machine/layout.h>
#include <boot/x86/x86.hpp>
#include <boot/machine.hpp>
#include <boot/x86/firmware.hpp>
#include <boot/x86/multiboot.hpp>
#include <boot/x86/screen.hpp>
#include <boot/interrupts.hpp>
#include <klock/cpu.hpp>

namespace boot {

/*
 * -- COM1, polled, 115200 8N1 --
 *
 * Source: National Semiconductor PC16550D data sheet, section 8 (registers).
 */

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

/* If nothing answers, the other serial functions do nothing. */
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

/* Waits until the line takes c. */
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

} // namespace

/* -- The loader's information, by either protocol -- */

namespace {

const u8 *find_mapped(const void *, u64 address, usize size)
{
	if (!is_mapped(address, size))
		return nullptr;
	return physical<const u8>(static_cast<usize>(address));
}

constinit loader_info loader;

const char *read_loader(usize magic, usize address)
{
	if (magic == MULTIBOOT_LOADER_MAGIC)
		return read_multiboot1(mapped_memory(), address, loader);
	if (magic == MULTIBOOT2_LOADER_MAGIC)
		return read_multiboot2(mapped_memory(), address, loader);
	return "not started by a Multiboot loader";
}

} // namespace

firmware_memory mapped_memory() { return {find_mapped, nullptr}; }

boot_info read_boot_info(usize magic, usize address)
{
	boot_info found;

	found.trouble = read_loader(magic, address);
	found.command_line = loader.command_line;
	found.names_file = loader.names_file;
	found.machine = &loader;
	return found;
}

/* -- Serial line and screen at once -- */

void output_init(const boot_info &info)
{
	const auto &loader = *static_cast<const loader_info *>(info.machine);

	serial_init();
	screen_init(loader);
	screen_describe(loader);
}

void output_put(char c)
{
	serial_put(c);
	console_screen.put(c);
}

void output_shown() { console_screen.show(); }

void output_drain() { serial_drain(); }

/* -- QEMU's isa-debug-exit, or pages of the screen that keys turn -- */

/*
 * QEMU 7.2 ends within the write. QEMU 10 is only asked to, and the guest runs
 * on until a thread of the host has heard it: what a guest prints by then is
 * there after one run and not after the next. The device reads as 0, a port
 * without one as 0xff; so long a wait ends in half a second on a real machine.
 */
void machine_exit(exit_code code)
{
	constexpr unsigned pauses = 10'000'000;

	out8(EXIT_PORT, static_cast<u8>(code));
	if (in8(EXIT_PORT) != 0)
		return;
	for (unsigned i = 0; i < pauses; i++)
		klock::cpu_relax();
}

/* No interrupt table, then an interrupt: a triple fault (SDM 3A, 6.15). */
void machine_reset()
{
	struct [[gnu::packed]] {
		u16 limit = 0;
		usize base = 0;
	} nothing;

	asm volatile("lidt %0\n\tint3" ::"m"(nothing));
	__builtin_unreachable();
}

const char *after_exit_hint()
{
	return console_screen.has_more() ? "; Page Up shows the rest" : "";
}

void after_exit()
{
	if (!console_screen.is_present())
		halt();
	for (;;) {
		console_screen.turn(keyboard_pages());
		klock::cpu_relax();
	}
}

} // namespace boot
