/* SPDX-License-Identifier: MIT */
/* The C half of a program whose C and C++ files share locks: shared.cpp. */
#include "shared.h"

struct klock_ticket_u8 ticket = KLOCK_TICKET_INIT;
struct klock_mcs mcs = KLOCK_MCS_INIT;
struct klock_clh clh = KLOCK_CLH_INIT(clh);
struct klock_clh_node clh_nodes[2];
unsigned under_ticket, under_mcs, under_clh;

void count_in_c(unsigned times)
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
}
