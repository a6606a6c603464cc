/* SPDX-License-Identifier: MIT */
/*
 * main - what each operation finds, returns and leaves, on this machine's CPU
 *
 * The same table as the host's tests go through (operations/values.hpp): a
 * port's instructions for each type, one CPU, arithmetic alone. Their order is
 * codegen's to look at, and the lab's.
 */
#include <boot/kernel.hpp>
#include <operations/values.hpp>

using namespace klock::tests;

int payload_main()
{
	const report r = try_all_values<KLOCK_TYPES>();

	boot::print("%u facts, %u wrong\n", r.checked, r.failed);
	if (r.failed) {
		boot::print("%s: a type of %u bytes: found 0x%x, operand "
			    "0x%x\n",
			    r.operation, r.bytes, r.found, r.operand);
		return 1;
	}
	boot::print("PASS\n");
	return r.checked == 0;
}
