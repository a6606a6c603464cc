/* SPDX-License-Identifier: MIT */
/*
 * console - boot's own lock, watched like those of the kernels on top of it
 */
#include <boot/types.hpp>

#include <klock/checked_lock.hpp>
#include <klock/ticket_lock.hpp>

namespace klock {

template <u64 Contenders>
using watched_console_lock_for =
	checked_lock<ticket_lock_for<Contenders>, "boot's console">;

} // namespace klock

#define ticket_lock_for watched_console_lock_for

#include "../../../boot/console.cpp"
