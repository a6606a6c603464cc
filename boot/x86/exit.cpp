/* SPDX-License-Identifier: MIT */
/*
 * exit - QEMU's isa-debug-exit, or pages of the screen that keys turn: x86
 */
#include <boot/interrupts.hpp>
#include <boot/machine.hpp>
#include <boot/x86/keyboard.hpp>
#include <boot/x86/screen.hpp>
#include <boot/x86/x86.hpp>
#include <klock/cpu.hpp>

namespace boot {

void machine_exit(exit_code code) { out8(EXIT_PORT, static_cast<u8>(code)); }

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
	return screen_has_more() ? "; Page Up shows the rest" : "";
}

void after_exit()
{
	if (!screen_is_present())
		halt();
	for (;;) {
		screen_turn(keyboard_pages());
		klock::cpu_relax();
	}
}

} // namespace boot
