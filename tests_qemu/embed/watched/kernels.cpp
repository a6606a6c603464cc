/* SPDX-License-Identifier: MIT */
/*
 * watched - the embed kernels as they stand, but with all of their locks
 * checked and their order learned: they must stay silent
 *
 * Each kernel's source is included in a namespace of its own; its headers are
 * all above it. Its locks' names become those of checked ones, a class each;
 * and its handler says what it is, as a kernel that checks does in its entry
 * code.
 */
#include "../../lab/context.hpp"
#include "../kernel_c/boot_c.h"

#include <boot/kernel.hpp>

#include <klock/barrier.hpp>
#include <klock/checked_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/once.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/seq_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/synchronized.hpp>
#include <klock/ticket_lock.hpp>

namespace klock {

template <u64 Contenders>
using watched_ticket_lock_for =
	checked_lock<ticket_lock_for<Contenders>, "log">;
template <u64 Contenders>
using watched_rw_ticket_lock_for =
	checked_lock<rw_ticket_lock_for<Contenders>, "routes">;

} // namespace klock

namespace boot {

constinit interrupt_handler watched_handler = nullptr;

void set_watched_handler(u8 vector, interrupt_handler handler)
{
	watched_handler = handler;
	set_interrupt_handler(vector, [](interrupt_frame &frame) {
		const lab::in_handler here(this_cpu(),
					   klock::context::interrupt);
		watched_handler(frame);
	});
}

} // namespace boot

#define ticket_lock_for watched_ticket_lock_for
#define rw_ticket_lock_for watched_rw_ticket_lock_for
#define set_interrupt_handler set_watched_handler

namespace kernel_cpp {
#include "../kernel_cpp/kernel.cpp"
}

/* Not this one's: C calls it. */
#define payload_main kernel_c_main
#include "../kernel_c/boot_c.cpp"
#undef payload_main

namespace {

/* A hint: CPUs count at once. */
volatile unsigned asked;

struct watched {
	const char *name;
	int (*run)();
};
/* The one in C ends with a lock that it keeps. */
constexpr watched kernels[] = {{"kernel_cpp", kernel_cpp::payload_main},
			       {"kernel_c", kernel_c_main}};

int run(const watched &one)
{
	asked = 0;
	const int status = one.run();

	boot::print("# watched: %s, %s\n", one.name,
		    asked > 1000 ? "all of its locks" : "none of its locks");
	return status;
}

} // namespace

klock::lock_order *klock_os_lock_order(void)
{
	asked = asked + 1;
	return klock::lock_order_of<8, boot::max_cpus>();
}

int payload_main()
{
	int status = 0;
	const bool boot_asked = asked > 0;

	boot::print("# watched: boot, %s\n",
		    boot_asked ? "its console's lock" : "none of its locks");
	for (const watched &one : kernels)
		status |= run(one);
	return status;
}
