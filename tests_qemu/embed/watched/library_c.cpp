/* SPDX-License-Identifier: MIT */
/*
 * library_c - what kernel_c calls of lib/c, as one file: compiled at once
 */
#include "../../../lib/c/checked_queue.cpp"
#include "../../../lib/c/checked_readers.cpp"
#include "../../../lib/c/checked_tickets.cpp"
#include "../../../lib/c/cpu.cpp"
#include "../../../lib/c/once.cpp"
#include "../../../lib/c/sequences.cpp"
