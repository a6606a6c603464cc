/* SPDX-License-Identifier: MIT */
/*
 * abseil - peers of Abseil: its Mutex, and its SpinLock, which is internal
 */
#pragma once

#include "peer.hpp"

#include <absl/base/internal/spinlock.h>
#include <absl/synchronization/mutex.h>

namespace bench {

struct abseil_spinlock : any_number {
	void lock() { spin.Lock(); }
	bool try_lock() { return spin.TryLock(); }
	void unlock() { spin.Unlock(); }
	absl::base_internal::SpinLock spin;
};

struct abseil_mutex : any_number {
	void lock() { mutex.Lock(); }
	void unlock() { mutex.Unlock(); }
	void lock_shared() { mutex.ReaderLock(); }
	void unlock_shared() { mutex.ReaderUnlock(); }
	absl::Mutex mutex;
};

using abseil_shared_peers =
	list<shared_peer<"absl Mutex", abseil_mutex, false, "none">>;

using abseil_peers = list<peer<"absl SpinLock", abseil_spinlock, service::none,
			       "backoff_ttas_lock">>;

} // namespace bench
