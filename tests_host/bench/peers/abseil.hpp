/* SPDX-License-Identifier: MIT */
/*
 * abseil - the peer of Abseil: its SpinLock, which is internal to it
 */
#pragma once

#include "peer.hpp"

#include <absl/base/internal/spinlock.h>

namespace bench {

struct abseil_spinlock : any_number {
	void lock() { spin.Lock(); }
	bool try_lock() { return spin.TryLock(); }
	void unlock() { spin.Unlock(); }
	absl::base_internal::SpinLock spin;
};

using abseil_peers = list<peer<"absl SpinLock", abseil_spinlock, service::none,
			       "backoff_ttas_lock">>;

} // namespace bench
