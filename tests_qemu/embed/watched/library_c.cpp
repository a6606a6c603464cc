/* SPDX-License-Identifier: MIT */
/*
 * library_c - what kernel_c calls of lib/c, as one file: compiled at once
 */
#include "../../../lib/c/barrier.cpp"
#include "../../../lib/c/checked_clh.cpp"
#include "../../../lib/c/checked_mcs.cpp"
#include "../../../lib/c/checked_rw_ticket_u8.cpp"
#include "../../../lib/c/checked_ticket_u8.cpp"
#include "../../../lib/c/once.cpp"
#include "../../../lib/c/seq_count.cpp"
#include "../../../lib/c/version.cpp"
