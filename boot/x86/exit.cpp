/* SPDX-License-Identifier: MIT */
/*
 * exit - QEMU's isa-debug-exit, or pages of the screen that keys or time turn:
 * x86
 */
#include <boot/clock.hpp>
#include <boot/command_line.hpp>
#include <boot/interrupts.hpp>
#include <boot/room.hpp>
#include <boot/x86/keyboard.hpp>
#include <boot/x86/screen.hpp>
#include <boot/x86/x86.hpp>
#include <klock/cpu.hpp>

namespace boot {

namespace {

/* Without a key a page stays so long; 0: for ever. Nonsense is the payload's
 * to complain of. */
u64 cycles_of_page()
{
	const char *const word = command_line().find("pages");
	u64 seconds = usual_page_seconds;

	if (word)
		(void)parse_u64(word, seconds);
	return seconds * clock_hz();
}

} // namespace

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
	u64 patience = cycles_of_page();
	u64 since = klock::cycles();

	for (;;) {
		const int pages = keyboard_pages();

		if (pages) {
			screen_turn(pages);
			patience = 0; /* somebody reads: at his own pace */
		} else if (patience && klock::cycles() - since >= patience) {
			screen_turn_on();
			since = klock::cycles();
		}
		klock::cpu_relax();
	}
}

} // namespace boot
