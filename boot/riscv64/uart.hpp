/* SPDX-License-Identifier: MIT */
/*
 * uart - the 16550 that the device tree names (private to boot/riscv64)
 */
#pragma once

#include <boot/board/device_tree.hpp>

namespace boot {

/* Without one there is silence. */
void uart_init(const device_tree &tree);

void uart_put(char c);

/* Waits until all is sent. Any context. */
void uart_drain();

} // namespace boot
