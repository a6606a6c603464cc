/* SPDX-License-Identifier: MIT */
/*
 * tbb - peers of oneTBB: the adapters
 */
#pragma once

#include "peer.hpp"

#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>

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

using tbb_peers =
	list<peer<"tbb spin_mutex", tbb_spin_mutex, service::none, "ttas_lock">,
	     peer<"tbb queuing_mutex", tbb_queuing_mutex, service::fifo,
		  "mcs_lock">>;

} // namespace bench
