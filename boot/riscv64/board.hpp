/* SPDX-License-Identifier: MIT */
/*
 * board - the device tree, and what is read from it (private to boot/riscv64)
 */
#pragma once

#include <boot/board/device_tree.hpp>
#include <boot/types.hpp>

namespace boot {

/* The firmware's; empty where it was none. */
extern device_tree board_tree;

/* How often timer_now() counts in a second; 0: the tree does not say. */
u64 timer_hz();

/* This CPU's, before hardware_id_of() knows it: of the first one. */
u64 first_hart();

} // namespace boot
