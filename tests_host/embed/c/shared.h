/* SPDX-License-Identifier: MIT */
#pragma once

#include <klock/klock.h>

#ifdef __cplusplus
extern "C" {
#endif

extern struct klock_ticket_u8 ticket;
extern struct klock_mcs mcs;
extern struct klock_clh clh;
extern struct klock_clh_node clh_nodes[2];
extern unsigned under_ticket, under_mcs, under_clh;

void count_in_c(unsigned times);

#ifdef __cplusplus
}
#endif
