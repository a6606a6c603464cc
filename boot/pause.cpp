/* SPDX-License-Identifier: MIT */
/*
 * pause - a look at CPUs that wait, on machines without NMIs
 */
#include <boot/cpus.hpp>
#include <boot/pause.hpp>
#include <boot/report.hpp>
#include <klock/atomic.hpp>

namespace boot {

namespace {

constinit klock::atomic<pause_visitor> visitor;
constinit klock::atomic<bool> yields{true};

} // namespace

void set_pause_visitor(pause_visitor visit) { visitor.store_release(visit); }

void let_pauses_yield(bool yes) { yields.store_relaxed(yes); }

bool pauses_yield() { return yields.load_relaxed(); }

void visit_pause(usize at)
{
	(void)is_reporting(); /* stands still if another CPU does */
	if (const pause_visitor visit = visitor.load_acquire())
		visit(this_cpu(), at);
}

} // namespace boot
