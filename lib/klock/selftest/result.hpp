/* SPDX-License-Identifier: MIT */
/*
 * result - what a torture run saw, and whether that is a pass
 */
#pragma once

#include <klock/selftest/locks.hpp>
#include <klock/types.hpp>

namespace klock::selftest {

struct result {
	const char *lock;     /* its name in the list */
	service promised;     /* its order of service */
	unsigned cpus;	      /* that took part */
	u32 bytes;	      /* sizeof the lock */
	u64 acquisitions;     /* critical sections entered, all CPUs */
	u64 handoffs;	      /* of them: after another CPU's section */
	u64 forced;	      /* handoffs that the convoys forced */
	u64 exclusion_errors; /* sections that saw another inside */
	u64 lost_updates;     /* increments that vanished */
	u64 fifo_violations;  /* entries out of the order of arrival */
	u64 try_failures;     /* try_lock() that found it taken */
	u64 visits;	      /* of NMI handlers, by try_lock() */
	u32 jain_permille;    /* fairness: 1000 is even */
	u32 max_consecutive;  /* consecutive sections of one CPU */
	u64 cycles;	      /* an acquisition, contended */
	u64 longest_wait;     /* cycles from lock() to the section */
	bool gave_up;	      /* no progress: the watchdog ended it */

	/* -- shared_torture.hpp alone -- */
	bool shared;	       /* readers were among them */
	u64 reads;	       /* acquisitions to read */
	u32 most_together;     /* readers inside at once */
	u64 longest_read_wait; /* cycles from lock_shared() to the section */
};

/* A null pointer: passed. Else what is wrong, in words. */
constexpr const char *fault(const result &r)
{
	if (r.exclusion_errors)
		return "two CPUs were in the section at once";
	if (r.lost_updates)
		return "an update made under the lock was lost";
	if (r.promised == service::fifo && r.fifo_violations)
		return "served out of the order of arrival";
	if (r.gave_up)
		return "no progress: everybody waits";
	if (r.handoffs < r.forced)
		return "vacuous: the lock did not go from CPU to CPU";
	if (r.shared && r.most_together < (r.cpus < 2 ? r.cpus : 2))
		return "vacuous: no two readers were inside at once";
	return nullptr;
}

} // namespace klock::selftest
