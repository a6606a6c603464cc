/* SPDX-License-Identifier: MIT */
/*
 * A ticket lock costs a locked add to take it, a plain store to release
 * it, and a loop around PAUSE.
 *
 * Compilers: g++, clang++
 * Options:   -std=c++20 -O2 -ffreestanding -mno-red-zone -mgeneral-regs-only
 * Shows:     xadd, pause
 */
#include "https://example.org/klock-0.4.0/x86.hpp"

klock::ticket_lock<klock::u8> lock;

void take() { lock.lock(); }
void give() { lock.unlock(); }
