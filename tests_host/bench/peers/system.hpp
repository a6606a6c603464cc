/* SPDX-License-Identifier: MIT */
/*
 * system - peers that every host has: pthread's and the standard library's
 */
#pragma once

#include "peer.hpp"

#include <mutex>
#include <shared_mutex>

#include <pthread.h>

namespace bench {

struct system_spinlock : any_number {
	system_spinlock() { pthread_spin_init(&spin, 0); }
	void lock() { pthread_spin_lock(&spin); }
	bool try_lock() { return pthread_spin_trylock(&spin) == 0; }
	void unlock() { pthread_spin_unlock(&spin); }
	pthread_spinlock_t spin;
};

struct system_mutex : any_number {
	void lock() { pthread_mutex_lock(&mutex); }
	bool try_lock() { return pthread_mutex_trylock(&mutex) == 0; }
	void unlock() { pthread_mutex_unlock(&mutex); }
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

struct standard_mutex : any_number {
	void lock() { mutex.lock(); }
	bool try_lock() { return mutex.try_lock(); }
	void unlock() { mutex.unlock(); }
	std::mutex mutex;
};

struct system_rwlock : any_number {
	void lock() { pthread_rwlock_wrlock(&rwlock); }
	void unlock() { pthread_rwlock_unlock(&rwlock); }
	void lock_shared() { pthread_rwlock_rdlock(&rwlock); }
	void unlock_shared() { pthread_rwlock_unlock(&rwlock); }
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
};

struct standard_shared_mutex : any_number {
	void lock() { mutex.lock(); }
	void unlock() { mutex.unlock(); }
	void lock_shared() { mutex.lock_shared(); }
	void unlock_shared() { mutex.unlock_shared(); }
	std::shared_mutex mutex;
};

using system_shared_peers = list<
	shared_peer<"pthread_rwlock", system_rwlock, false, "none">,
	shared_peer<"std::shared_mutex", standard_shared_mutex, false, "none">>;

using system_peers = list<
	peer<"pthread_spinlock", system_spinlock, service::none, "ttas_lock">,
	peer<"pthread_mutex", system_mutex, service::none, "none">,
	peer<"std::mutex", standard_mutex, service::none, "none">>;

} // namespace bench
