/* SPDX-License-Identifier: MIT */
/*
 * sleepless - a kernel with one thread that may sleep and never does, for tests
 * that take locks that sleep and find them free
 */
#include <klock/os.hpp>

#include <stdexcept>

klock::usize klock_os_thread(void) { return 1; }
void klock_os_park(void) { throw std::logic_error("it would sleep"); }
bool klock_os_park_until(klock::u64) { return false; }
void klock_os_unpark(klock::usize) {}
