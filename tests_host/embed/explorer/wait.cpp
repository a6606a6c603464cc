/* SPDX-License-Identifier: MIT */
/*
 * A waiting CPU of AArch64 sleeps in WFE until the line that it has
 * reserved by an exclusive load is written.
 *
 * Compilers: aarch64-linux-gnu-g++, clang++ --target=aarch64-none-elf
 * Options:   -std=c++20 -O2 -ffreestanding -mgeneral-regs-only
 * Shows:     ldaxrb, wfe, stlrb
 */
#include "https://example.org/klock-0.4.0/aarch64.hpp"

klock::ticket_lock<klock::u8> lock;

void take() { lock.lock(); }
void give() { lock.unlock(); }
