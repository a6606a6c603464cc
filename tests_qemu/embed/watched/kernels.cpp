/* SPDX-License-Identifier: MIT */
/*
 * watched - the embed kernels as they stand, but with all of their locks
 * checked and their order learned: they must stay silent
 *
 * Each kernel's source is included in a namespace of its own; its headers are
 * all above it. Its locks' names become those of checked ones, a class each;
 * and its handler says what it is, as a kernel that checks does in its entry
 * code. The one that starts up has words of its own, and is alone where lock=
 * is said.
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
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/seq_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/synchronized.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

namespace klock {

template <u64 Contenders>
using watched_ticket_lock_for =
	checked_lock<ticket_lock_for<Contenders>, "log">;
template <u64 Contenders>
using watched_rw_ticket_lock_for =
	checked_lock<rw_ticket_lock_for<Contenders>, "routes">;
template <counter Counter>
using watched_ticket_lock = checked_lock<ticket_lock<Counter>, "pages">;
template <counter Counter>
using watched_preemptable_ticket_lock =
	checked_lock<preemptable_ticket_lock<Counter>, "pages">;
using watched_backoff_ttas_lock = checked_lock<backoff_ttas_lock, "pages">;

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
#define ticket_lock watched_ticket_lock
#define preemptable_ticket_lock watched_preemptable_ticket_lock
#define backoff_ttas_lock watched_backoff_ttas_lock
#define set_interrupt_handler set_watched_handler

namespace kernel_cpp {
#include "../kernel_cpp/kernel.cpp"
}

namespace kernel_data {
#include "../kernel_data/kernel.cpp"
}

namespace kernel_startup {
#include "../kernel_startup/kernel.cpp"
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
			       {"kernel_data", kernel_data::payload_main},
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
	if (boot::command_line().find("lock"))
		return run({"kernel_startup", kernel_startup::payload_main});
	for (const watched &one : kernels)
		status |= run(one);
	return status;
}
