/* SPDX-License-Identifier: MIT */
/*
 * context - what each CPU is in the middle of: the lab's klock_os_context()
 *
 * Boot does not know; the lab's handlers say it themselves.
 */
#pragma once

#include <klock/os.hpp>

namespace lab {

/* In a handler, for the length of a block; they nest: an NMI in an interrupt.
 */
struct [[nodiscard]] in_handler {
	in_handler(unsigned on, klock::context what);
	~in_handler();
	in_handler(const in_handler &) = delete;
	in_handler &operator=(const in_handler &) = delete;

      private:
	unsigned cpu;
	klock::context before;
};

} // namespace lab
