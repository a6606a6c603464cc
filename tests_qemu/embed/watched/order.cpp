/* SPDX-License-Identifier: MIT */
/*
 * order - the lock order of a watched kernel, and its payload
 */
#include <boot/kernel.hpp>

#include <klock/lock_order.hpp>

int kernel_main();

namespace {

/* A hint: CPUs count at once. */
volatile unsigned asked;

} // namespace

klock::lock_order *klock_os_lock_order(void)
{
	asked = asked + 1;
	return klock::lock_order_of<8, boot::max_cpus>();
}

int payload_main()
{
	const int status = kernel_main();

	boot::print("# watched: %s\n",
		    asked > 1000 ? "all of its locks" : "none of its locks");
	return status;
}
