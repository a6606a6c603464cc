/* SPDX-License-Identifier: MIT */
/*
 * endings - every way in which a run can go wrong, on purpose
 */
#include "endings.hpp"

#include <boot/kernel.hpp>
#include <klock/os.hpp>

namespace lab {

namespace {

/* No interrupt table, then an interrupt: a triple fault (SDM 3A, 6.15). */
[[noreturn]] void reset()
{
	struct [[gnu::packed]] {
		klock::u16 limit = 0;
		klock::usize base = 0;
	} nothing;

	asm volatile("lidt %0\n\tint3" ::"m"(nothing));
	__builtin_unreachable();
}

[[noreturn]] void hang()
{
	for (;;)
		asm volatile("cli\n\thlt");
}

/*
 * A fault in the console's own section: the text's address has upper bits that
 * are no copies of the highest used one, which no x86-64 reads.
 */
void fault_in_print()
{
	klock::usize nowhere = 0x1234;

	nowhere |= klock::usize{1} << (8 * sizeof(nowhere) - 2);
	boot::print("%s\n", reinterpret_cast<const char *>(nowhere));
}

} // namespace

int end_badly(job how)
{
	switch (how) {
	case job::panic:
		klock_os_panic("a_lock", &how, klock_os_cpu_id(),
			       "a panic that was asked for");
	case job::fault:
		asm volatile("ud2");
		break;
	case job::print_fault:
		fault_in_print();
		break;
	case job::hang:
		hang();
	case job::reset:
		reset();
	default:
		break;
	}
	boot::print("FAIL: a failure that was asked for\n");
	return 1;
}

} // namespace lab
