/* SPDX-License-Identifier: MIT */
/*
 * C and C++ files of one program share its locks: a thread that counts in C,
 * and one that counts in C++.
 */
#include "shared.h"

#include <klock/c_lock.hpp>
#include <klock/guard.hpp>

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

namespace {

constexpr unsigned times = 20000;
constexpr unsigned patience = 60; /* s, until a test that hangs is ended */

void count_in_cpp()
{
	for (unsigned i = 0; i < times; i++) {
		{
			klock::guard held(klock::as_cpp(ticket));
			under_ticket++;
		}
		{
			klock::guard held(klock::as_cpp(mcs));
			under_mcs++;
		}
		klock::guard held(klock::as_cpp(clh),
				  klock::as_cpp(clh_nodes[1]));
		under_clh++;
	}
}

void *thread_in_c(void *)
{
	count_in_c(times);
	return nullptr;
}

} // namespace

int main()
{
	pthread_t id;

	alarm(patience);
	pthread_create(&id, nullptr, thread_in_c, nullptr);
	count_in_cpp();
	pthread_join(id, nullptr);
	if (under_ticket != 2 * times || under_mcs != 2 * times ||
	    under_clh != 2 * times) {
		printf("counts are lost: %u, %u, %u of %u\n", under_ticket,
		       under_mcs, under_clh, 2 * times);
		return 1;
	}
	printf("C and C++ share one lock\n");
	return 0;
}
