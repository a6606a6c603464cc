/* SPDX-License-Identifier: MIT */
/*
 * ck - peers of Concurrency Kit: the adapters
 */
#pragma once

#include "ck.h"
#include "peer.hpp"

namespace bench {

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

/* Of its readers each has a line, and is in a list that writers walk. */
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

using ck_shared_peers =
	list<shared_peer<"ck rwlock", ck_rw, false, "none">,
	     shared_peer<"ck pflock", ck_pf, true, "phase_fair_lock">,
	     shared_peer<"ck tflock", ck_tf, true, "rw_ticket_lock">,
	     shared_peer<"ck brlock", ck_br, false, "reader_lock">>;

using ck_peers =
	list<peer<"ck ticket", ck_ticket, service::fifo, "ticket_lock">,
	     peer<"ck ticket pb", ck_ticket_paced, service::fifo,
		  "proportional_ticket_lock">,
	     peer<"ck fas", ck_fas, service::none, "tas_lock">,
	     peer<"ck mcs", ck_mcs, service::fifo, "mcs_lock">,
	     peer<"ck clh", ck_clh, service::fifo, "clh_lock">,
	     peer<"ck anderson", ck_anderson, service::fifo, "anderson_lock">>;

} // namespace bench
