/* SPDX-License-Identifier: MIT */
#include "driver.hpp"

#include <stdio.h>
#include <thread>

constexpr unsigned each = 10000;

static void work()
{
	for (unsigned i = 0; i < each; i++)
		driver_event();
}

int main()
{
	std::thread threads[] = {std::thread(work), std::thread(work),
				 std::thread(work), std::thread(work)};

	for (std::thread &thread : threads)
		thread.join();
	printf("4 threads counted %u events\n", driver_events());
	return driver_events() == 4 * each ? 0 : 1;
}
