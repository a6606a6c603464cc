/* SPDX-License-Identifier: MIT */
/*
 * order - the lock order of the watched kernels, which run one after another
 *
 * The one that starts up has words of its own, and is alone where lock= is
 * said.
 */
#include <boot/kernel.hpp>

#include <klock/lock_order.hpp>

int watched_c();
int watched_cpp();
int watched_data();
int watched_startup();

namespace {

/* A hint: CPUs count at once. */
volatile unsigned asked;

struct watched {
	const char *name;
	int (*run)();
};
/* The one in C ends with a lock that it keeps. */
constexpr watched kernels[] = {{"kernel_cpp", watched_cpp},
			       {"kernel_data", watched_data},
			       {"kernel_c", watched_c}};

int run(const watched &one)
{
	asked = 0;
	const int status = one.run();

	boot::print("# watched: %s, %s\n", one.name,
		    asked > 1000 ? "all of its locks" : "none of its locks");
	return status;
}

} // namespace

klock::lock_order *klock_os_lock_order(void)
{
	asked = asked + 1;
	return klock::lock_order_of<8, boot::max_cpus>();
}

int payload_main()
{
	int status = 0;
	const bool boot_asked = asked > 0;

	boot::print("# watched: boot, %s\n",
		    boot_asked ? "its console's lock" : "none of its locks");
	if (boot::command_line().find("lock"))
		return run({"kernel_startup", watched_startup});
	for (const watched &one : kernels)
		status |= run(one);
	return status;
}
