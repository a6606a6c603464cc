/* SPDX-License-Identifier: MIT */
/*
 * C and C++ files of one program share its locks: a thread that counts in C,
 * and one that counts in C++. Compiled as each of them.
 */
#include <klock/klock.h>

enum {
	times = 20000,
	patience = 60, /* s of CPU time, until a test that hangs is ended */
};

#ifndef __cplusplus

struct klock_ticket_u8 ticket = KLOCK_TICKET_INIT;
struct klock_mcs mcs = KLOCK_MCS_INIT;
struct klock_clh clh = KLOCK_CLH_INIT(clh);
struct klock_clh_node clh_nodes[2];
unsigned under_ticket, under_mcs, under_clh;

void *count_in_c(void *unused);

void *count_in_c(void *unused)
{
	for (unsigned i = 0; i < times; i++) {
		struct klock_mcs_node mine;

		klock_lock(&ticket);
		under_ticket++;
		klock_unlock(&ticket);
		klock_lock(&mcs, &mine);
		under_mcs++;
		klock_unlock(&mcs, &mine);
		klock_lock(&clh, &clh_nodes[0]);
		under_clh++;
		klock_unlock(&clh, &clh_nodes[0]);
	}
	return unused;
}

#else

#include <klock/c_lock.hpp>
#include <klock/guard.hpp>

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

extern "C" {
extern klock_ticket_u8 ticket;
extern klock_mcs mcs;
extern klock_clh clh;
extern klock_clh_node clh_nodes[2];
extern unsigned under_ticket, under_mcs, under_clh;

void *count_in_c(void *unused);
}

static void count_in_cpp()
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

/* A wait that never ends costs CPU time; a machine that stands still does not.
 */
static void limit_cpu_time(void)
{
	const struct rlimit most = {patience, patience};

	setrlimit(RLIMIT_CPU, &most);
}

int main()
{
	pthread_t id;

	limit_cpu_time();
	pthread_create(&id, nullptr, count_in_c, nullptr);
	count_in_cpp();
	pthread_join(id, nullptr);
	if (under_ticket != 2 * times || under_mcs != 2 * times ||
	    under_clh != 2 * times) {
		printf("counts are lost: %u, %u, %u of %u\n", under_ticket,
		       under_mcs, under_clh, unsigned{2 * times});
		return 1;
	}
	printf("C and C++ share one lock\n");
	return 0;
}

#endif
