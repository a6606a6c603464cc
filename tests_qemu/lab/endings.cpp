/* SPDX-License-Identifier: MIT */
/*
 * endings - every way in which a run can go wrong, on purpose
 */
#include "endings.hpp"

#include <boot/kernel.hpp>
#include <boot/machine.hpp>
#include <klock/os.hpp>

namespace lab {

namespace {

/*
 * A fault in the console's own section: the text's address has upper bits that
 * no machine of 64 bits has memory for, nor x86-64 a use.
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
		__builtin_trap();
	case job::print_fault:
		fault_in_print();
		break;
	case job::hang:
		boot::halt();
	case job::reset:
		boot::machine_reset();
	default:
		break;
	}
	boot::print("FAIL: a failure that was asked for\n");
	return 1;
}

} // namespace lab
