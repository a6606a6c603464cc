/* SPDX-License-Identifier: MIT */
/*
 * cores - which of the host's cores a thread runs on
 */
#pragma once

#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace native {

/* The cores that this process may use; none where it cannot be told. */
inline std::vector<int> cores()
{
	cpu_set_t allowed;
	std::vector<int> numbers;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return numbers;
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &allowed))
			numbers.push_back(core);
	return numbers;
}

/* Binds a thread to one of the host's cores, where the host allows it. */
inline void pin_to_core(std::thread &thread, unsigned number,
			const std::vector<int> &to)
{
	cpu_set_t one;

	if (to.empty())
		return;
	CPU_ZERO(&one);
	CPU_SET(to[number % to.size()], &one);
	pthread_setaffinity_np(thread.native_handle(), sizeof(one), &one);
}

} // namespace native
