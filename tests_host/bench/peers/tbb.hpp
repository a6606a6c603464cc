/* SPDX-License-Identifier: MIT */
/*
 * tbb - peers of oneTBB: the adapters
 */
#pragma once

#include "peer.hpp"

#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/queuing_rw_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>

namespace bench {

struct tbb_spin_mutex : any_number {
	void lock() { mutex.lock(); }
	bool try_lock() { return mutex.try_lock(); }
	void unlock() { mutex.unlock(); }
	tbb::spin_mutex mutex;
};

struct tbb_queuing_mutex : any_number {
	using node = tbb::queuing_mutex::scoped_lock;
	static constexpr bool node_may_live_on_stack = true;
	void lock(node &mine) { mine.acquire(mutex); }
	bool try_lock(node &mine) { return mine.try_acquire(mutex); }
	void unlock(node &mine) { mine.release(); }
	tbb::queuing_mutex mutex;
};

struct tbb_spin_rw_mutex : any_number {
	void lock() { mutex.lock(); }
	void unlock() { mutex.unlock(); }
	void lock_shared() { mutex.lock_shared(); }
	void unlock_shared() { mutex.unlock_shared(); }
	tbb::spin_rw_mutex mutex;
};

struct tbb_queuing_rw_mutex : any_number {
	using node = tbb::queuing_rw_mutex::scoped_lock;
	static constexpr bool node_may_live_on_stack = true;
	void lock(node &mine) { mine.acquire(mutex, true); }
	void unlock(node &mine) { mine.release(); }
	void lock_shared(node &mine) { mine.acquire(mutex, false); }
	void unlock_shared(node &mine) { mine.release(); }
	tbb::queuing_rw_mutex mutex;
};

using tbb_shared_peers =
	list<shared_peer<"tbb spin_rw_mutex", tbb_spin_rw_mutex, false, "none">,
	     shared_peer<"tbb queuing_rw_mutex", tbb_queuing_rw_mutex, true,
			 "rw_ticket_lock">>;

using tbb_peers =
	list<peer<"tbb spin_mutex", tbb_spin_mutex, service::none, "ttas_lock">,
	     peer<"tbb queuing_mutex", tbb_queuing_mutex, service::fifo,
		  "mcs_lock">>;

} // namespace bench
