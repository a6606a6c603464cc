/* SPDX-License-Identifier: MIT */
/*
 * peers - what a user would pick instead of klock: the adapters, and the table
 *
 * CMake says which sources are there by KLOCK_BENCH_WITH_...; what is not there
 * is named in the output. Of Abseil its SpinLock is internal.
 */
#pragma once

#include "qspinlock.hpp"
#ifdef KLOCK_BENCH_WITH_CK
#include "ck.h"
#endif

#include <klock/selftest/locks.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <shared_mutex>

#include <pthread.h>
#include <semaphore.h>

#ifdef KLOCK_BENCH_WITH_TBB
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/queuing_rw_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>
#endif
#ifdef KLOCK_BENCH_WITH_ABSEIL
#include <absl/base/internal/spinlock.h>
#include <absl/synchronization/mutex.h>
#endif
#ifdef KLOCK_BENCH_WITH_NSYNC
#include <nsync.h>
#endif
#ifdef KLOCK_BENCH_WITH_LIBVSYNC
#include <vsync/spinlock/mcslock.h>
#include <vsync/spinlock/ticketlock.h>
#include <vsync/spinlock/ttaslock.h>
#include <vsync/thread/mutex.h>
#endif

namespace bench {

using klock::selftest::list;
using klock::selftest::service;
using klock::selftest::subject;
using klock::selftest::text;

/* Family: what the name of the klock lock begins with that does the same. */
template <text Name, klock::any_lock L, service Service, text Family>
struct peer : subject<Name, L, Service> {
	static constexpr const char *counterpart = Family.chars;
};

/* A peer that readers share; fair: nobody waits for ever. */
template <text Name, typename L, bool Fair, text Family>
struct shared_peer {
	using lock = L;
	static constexpr const char *name = Name.chars;
	static constexpr bool fair = Fair;
	static constexpr const char *counterpart = Family.chars;
};

/* Two threads hand a turn to and fro by this. */
template <text Name, typename T>
struct turn_peer {
	using type = T;
	static constexpr const char *name = Name.chars;
};

/* The base of an adapter whose number of contenders does not matter. */
struct any_number {
	static constexpr klock::u64 max_contenders = ~klock::u64{0};
};

/* -- pthread's and the standard library's -- */

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

/* The kernel's queue and its loans once threads wait. */
struct lending_mutex : any_number {
	lending_mutex()
	{
		pthread_mutexattr_t kind;

		pthread_mutexattr_init(&kind);
		pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&mutex, &kind);
	}
	void lock() { pthread_mutex_lock(&mutex); }
	bool try_lock() { return pthread_mutex_trylock(&mutex) == 0; }
	void unlock() { pthread_mutex_unlock(&mutex); }
	pthread_mutex_t mutex;
};

struct standard_mutex : any_number {
	void lock() { mutex.lock(); }
	bool try_lock() { return mutex.try_lock(); }
	void unlock() { mutex.unlock(); }
	std::mutex mutex;
};

/*
 * The mutex that std::atomic's wait() makes: 1 held, 2 held and waited for
 * (Drepper, "Futexes Are Tricky", 2011, section 6).
 */
struct waiting_atomic : any_number {
	void lock()
	{
		if (try_lock())
			return;
		while (state.exchange(2, std::memory_order_acquire))
			state.wait(2, std::memory_order_relaxed);
	}
	bool try_lock()
	{
		int free = 0;

		return state.compare_exchange_strong(free, 1,
						     std::memory_order_acquire);
	}
	void unlock()
	{
		if (state.exchange(0, std::memory_order_release) == 2)
			state.notify_one();
	}
	std::atomic<int> state{0};
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

struct system_semaphore {
	system_semaphore() { sem_init(&units, 0, 0); }
	void acquire() { sem_wait(&units); }
	void release() { sem_post(&units); }
	sem_t units;
};

struct standard_semaphore {
	void acquire() { units.acquire(); }
	void release() { units.release(); }
	std::counting_semaphore<> units{0};
};

/* A mutex and its condition; who waits holds the mutex. */
struct system_monitor : system_mutex {
	void wait() { pthread_cond_wait(&changed, &mutex); }
	void notify() { pthread_cond_signal(&changed); }
	pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
};

struct standard_monitor : standard_mutex {
	void wait()
	{
		std::unique_lock held(mutex, std::adopt_lock);

		changed.wait(held);
		held.release();
	}
	void notify() { changed.notify_one(); }
	std::condition_variable changed;
};

using semaphore_peers =
	list<turn_peer<"sem_t", system_semaphore>,
	     turn_peer<"std::counting_semaphore", standard_semaphore>>;

struct system_library {
	static constexpr const char *name = "pthread and C++";
	using locks = list<
		peer<"pthread_spinlock", system_spinlock, service::none,
		     "ttas_lock">,
		peer<"pthread_mutex", system_mutex, service::none, "none">,
		peer<"pthread_mutex PI", lending_mutex, service::none, "none">,
		peer<"std::atomic wait", waiting_atomic, service::none,
		     "none">>;
	using shared = list<
		shared_peer<"pthread_rwlock", system_rwlock, false, "none">,
		shared_peer<"std::shared_mutex", standard_shared_mutex, false,
			    "none">>;
	using monitors =
		list<turn_peer<"pthread_cond", system_monitor>,
		     turn_peer<"std::condition_variable", standard_monitor>>;
};

#ifdef KLOCK_BENCH_WITH_CK
/* -- Concurrency Kit's -- */

struct ck_ticket : any_number {
	void lock() { klock_ck_ticket_lock(&at); }
	bool try_lock() { return klock_ck_ticket_try_lock(&at); }
	void unlock() { klock_ck_ticket_unlock(&at); }
	klock_ck_ticket at{};
};

struct ck_ticket_paced : ck_ticket {
	void lock() { klock_ck_ticket_lock_paced(&at); }
};

struct ck_fas : any_number {
	void lock() { klock_ck_fas_lock(&at); }
	bool try_lock() { return klock_ck_fas_try_lock(&at); }
	void unlock() { klock_ck_fas_unlock(&at); }
	klock_ck_fas at{};
};

struct ck_mcs : any_number {
	using node = klock_ck_mcs_node;
	static constexpr bool node_may_live_on_stack = true;
	void lock(node &mine) { klock_ck_mcs_lock(&at, &mine); }
	bool try_lock(node &mine) { return klock_ck_mcs_try_lock(&at, &mine); }
	void unlock(node &mine) { klock_ck_mcs_unlock(&at, &mine); }
	klock_ck_mcs at{};
};

/* ck leaves the nodes' lines to the caller; klock's clh_node has its own. */
struct ck_clh : any_number {
	struct alignas(klock::cache_line) cell {
		klock_ck_clh_node words{};
	};
	struct node {
		cell first;
		klock_ck_clh_node *mine = &first.words;
	};
	static constexpr bool node_may_live_on_stack = false;
	ck_clh() { klock_ck_clh_init(&at, &unowned.words); }
	void lock(node &with) { klock_ck_clh_lock(&at, with.mine); }
	void unlock(node &with) { klock_ck_clh_unlock(&with.mine); }
	klock_ck_clh at{};
	cell unowned;
};

/* Its slots have 8 bytes each, several to a line. */
struct ck_anderson {
	using node = klock_ck_anderson_slot *;
	static constexpr bool node_may_live_on_stack = true;
	static constexpr klock::u64 max_contenders = klock_ck_slots;
	ck_anderson() { klock_ck_anderson_init(&at, slots, klock_ck_slots); }
	void lock(node &mine) { klock_ck_anderson_lock(&at, &mine); }
	void unlock(node &mine) { klock_ck_anderson_unlock(&at, mine); }
	klock_ck_anderson at{};
	klock_ck_anderson_slot slots[klock_ck_slots];
};

struct ck_rw : any_number {
	void lock() { klock_ck_rw_lock(&at); }
	void unlock() { klock_ck_rw_unlock(&at); }
	void lock_shared() { klock_ck_rw_lock_shared(&at); }
	void unlock_shared() { klock_ck_rw_unlock_shared(&at); }
	klock_ck_rw at{};
};

struct ck_pf : any_number {
	void lock() { klock_ck_pf_lock(&at); }
	void unlock() { klock_ck_pf_unlock(&at); }
	void lock_shared() { klock_ck_pf_lock_shared(&at); }
	void unlock_shared() { klock_ck_pf_unlock_shared(&at); }
	klock_ck_pf at{};
};

struct ck_tf : any_number {
	void lock() { klock_ck_tf_lock(&at); }
	void unlock() { klock_ck_tf_unlock(&at); }
	void lock_shared() { klock_ck_tf_lock_shared(&at); }
	void unlock_shared() { klock_ck_tf_unlock_shared(&at); }
	klock_ck_tf at{};
};

/* Each reader has a line of its own, in a list that writers walk. */
struct ck_br : any_number {
	struct alignas(klock::cache_line) node {
		klock_ck_br_reader words{};
	};
	void join(node &mine) { klock_ck_br_join(&at, &mine.words); }
	void lock() { klock_ck_br_lock(&at); }
	void unlock() { klock_ck_br_unlock(&at); }
	void lock_shared(node &mine)
	{
		klock_ck_br_lock_shared(&at, &mine.words);
	}
	void unlock_shared(node &mine)
	{
		klock_ck_br_unlock_shared(&mine.words);
	}
	klock_ck_br at{};
};

struct ck_library {
	static constexpr const char *name = "Concurrency Kit";
	using locks =
		list<peer<"ck ticket", ck_ticket, service::fifo, "ticket_lock">,
		     peer<"ck ticket pb", ck_ticket_paced, service::fifo,
			  "proportional_ticket_lock">,
		     peer<"ck fas", ck_fas, service::none, "tas_lock">,
		     peer<"ck mcs", ck_mcs, service::fifo, "mcs_lock">,
		     peer<"ck clh", ck_clh, service::fifo, "clh_lock">,
		     peer<"ck anderson", ck_anderson, service::fifo,
			  "anderson_lock">>;
	using shared =
		list<shared_peer<"ck rwlock", ck_rw, false, "none">,
		     shared_peer<"ck pflock", ck_pf, true, "phase_fair_lock">,
		     shared_peer<"ck tflock", ck_tf, true, "rw_ticket_lock">,
		     shared_peer<"ck brlock", ck_br, false, "reader_lock">>;
	using monitors = list<>;
};
#endif

#ifdef KLOCK_BENCH_WITH_TBB
/* -- oneTBB's -- */

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

struct tbb_library {
	static constexpr const char *name = "oneTBB";
	using locks = list<peer<"tbb spin_mutex", tbb_spin_mutex, service::none,
				"ttas_lock">,
			   peer<"tbb queuing_mutex", tbb_queuing_mutex,
				service::fifo, "mcs_lock">>;
	using shared =
		list<shared_peer<"tbb spin_rw_mutex", tbb_spin_rw_mutex, false,
				 "none">,
		     shared_peer<"tbb queuing_rw_mutex", tbb_queuing_rw_mutex,
				 true, "rw_ticket_lock">>;
	using monitors = list<>;
};
#endif

#ifdef KLOCK_BENCH_WITH_ABSEIL
/* -- Abseil's -- */

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

struct abseil_monitor : abseil_mutex {
	void wait() { changed.Wait(&mutex); }
	void notify() { changed.Signal(); }
	absl::CondVar changed;
};

struct abseil_library {
	static constexpr const char *name = "Abseil";
	using locks =
		list<peer<"absl SpinLock", abseil_spinlock, service::none,
			  "backoff_ttas_lock">,
		     peer<"absl Mutex", abseil_mutex, service::none, "none">>;
	using shared =
		list<shared_peer<"absl Mutex", abseil_mutex, false, "none">>;
	using monitors = list<turn_peer<"absl CondVar", abseil_monitor>>;
};
#endif

#ifdef KLOCK_BENCH_WITH_NSYNC
/* -- nsync's -- */

struct nsync_mutex : any_number {
	void lock() { nsync::nsync_mu_lock(&mutex); }
	bool try_lock() { return nsync::nsync_mu_trylock(&mutex) != 0; }
	void unlock() { nsync::nsync_mu_unlock(&mutex); }
	void lock_shared() { nsync::nsync_mu_rlock(&mutex); }
	void unlock_shared() { nsync::nsync_mu_runlock(&mutex); }
	nsync::nsync_mu mutex = NSYNC_MU_INIT;
};

struct nsync_monitor : nsync_mutex {
	void wait() { nsync::nsync_cv_wait(&changed, &mutex); }
	void notify() { nsync::nsync_cv_signal(&changed); }
	nsync::nsync_cv changed = NSYNC_CV_INIT;
};

struct nsync_library {
	static constexpr const char *name = "nsync";
	using locks =
		list<peer<"nsync_mu", nsync_mutex, service::none, "none">>;
	using shared =
		list<shared_peer<"nsync_mu", nsync_mutex, false, "none">>;
	using monitors = list<turn_peer<"nsync_cv", nsync_monitor>>;
};
#endif

#ifdef KLOCK_BENCH_WITH_LIBVSYNC
/* -- libvsync's -- */

struct vsync_ticket : any_number {
	vsync_ticket() { ticketlock_init(&at); }
	void lock() { ticketlock_acquire(&at); }
	bool try_lock() { return ticketlock_tryacquire(&at); }
	void unlock() { ticketlock_release(&at); }
	ticketlock_t at;
};

struct vsync_ttas : any_number {
	vsync_ttas() { ttaslock_init(&at); }
	void lock() { ttaslock_acquire(&at); }
	bool try_lock() { return ttaslock_tryacquire(&at); }
	void unlock() { ttaslock_release(&at); }
	ttaslock_t at;
};

struct vsync_mcs : any_number {
	using node = mcs_node_t;
	static constexpr bool node_may_live_on_stack = true;
	vsync_mcs() { mcslock_init(&at); }
	void lock(node &mine) { mcslock_acquire(&at, &mine); }
	bool try_lock(node &mine) { return mcslock_tryacquire(&at, &mine); }
	void unlock(node &mine) { mcslock_release(&at, &mine); }
	mcslock_t at;
};

struct vsync_mutex : any_number {
	vsync_mutex() { vmutex_init(&at); }
	void lock() { vmutex_acquire(&at); }
	void unlock() { vmutex_release(&at); }
	vmutex_t at;
};

struct libvsync_library {
	static constexpr const char *name = "libvsync";
	using locks =
		list<peer<"vsync ticket", vsync_ticket, service::fifo,
			  "ticket_lock">,
		     peer<"vsync ttas", vsync_ttas, service::none, "ttas_lock">,
		     peer<"vsync mcs", vsync_mcs, service::fifo, "mcs_lock">,
		     peer<"vsync mutex", vsync_mutex, service::none, "none">>;
	using shared = list<>;
	using monitors = list<>;
};
#endif

/* -- Linux's, by its description -- */

struct linux_library {
	static constexpr const char *name = "Linux, by its description";
	using locks = list<peer<"qspinlock", qspinlock<1024>, service::fifo,
				"queued_lock">>;
	using shared = list<>;
	using monitors = list<>;
};

/* -- The table -- */

/* Calls visit.operator()<Library>() for each that was found. */
template <typename Visit>
void for_each_library(Visit visit)
{
#ifdef KLOCK_BENCH_WITH_CK
	visit.template operator()<ck_library>();
#endif
#ifdef KLOCK_BENCH_WITH_TBB
	visit.template operator()<tbb_library>();
#endif
#ifdef KLOCK_BENCH_WITH_ABSEIL
	visit.template operator()<abseil_library>();
#endif
#ifdef KLOCK_BENCH_WITH_NSYNC
	visit.template operator()<nsync_library>();
#endif
#ifdef KLOCK_BENCH_WITH_LIBVSYNC
	visit.template operator()<libvsync_library>();
#endif
	visit.template operator()<linux_library>();
	visit.template operator()<system_library>();
}

/* Calls visit.operator()<Peer>() for each lock of theirs. */
template <typename Visit>
void for_each_peer(Visit visit)
{
	for_each_library(
		[&]<typename Library>() { Library::locks::for_each(visit); });
}

/* Calls visit for each mutex with a condition. */
template <typename Visit>
void for_each_monitor(Visit visit)
{
	for_each_library([&]<typename Library>() {
		Library::monitors::for_each(visit);
	});
}

/* Calls visit for each peer that readers share. */
template <typename Visit>
void for_each_shared_peer(Visit visit)
{
	for_each_library(
		[&]<typename Library>() { Library::shared::for_each(visit); });
}

inline constexpr const char *peers_not_found[] = {
#ifndef KLOCK_BENCH_WITH_CK
	"Concurrency Kit (libck-dev)",
#elif !defined(KLOCK_BENCH_CK_INLINED)
	"link-time optimisation (each ck row pays two calls)",
#endif
#ifndef KLOCK_BENCH_WITH_TBB
	"oneTBB (libtbb-dev)",
#endif
#ifndef KLOCK_BENCH_WITH_ABSEIL
	"Abseil (libabsl-dev)",
#endif
#ifndef KLOCK_BENCH_WITH_NSYNC
	"nsync (libnsync-dev)",
#endif
#ifndef KLOCK_BENCH_WITH_LIBVSYNC
	"libvsync (KLOCK_BENCH_LIBVSYNC)",
#endif
	nullptr};

} // namespace bench
