/* SPDX-License-Identifier: MIT */
/*
 * busted - THE list of mutants: locks that must fail
 *
 * Every kind of test is shown these; each must be found wherever it can be
 * found at all. A test that passes them tests nothing.
 *
 * Which world can find what is not an opinion but was measured: a missing lock
 * prefix shows only where two CPUs truly run at once, a wrong order of service
 * already where they take turns.
 */
#pragma once

#include <klock/selftest/busted_queue.hpp>
#include <klock/selftest/busted_queued.hpp>
#include <klock/selftest/busted_ticket.hpp>
#include <klock/selftest/busted_timed.hpp>
#include <klock/selftest/busted_turn.hpp>
#include <klock/selftest/locks.hpp>

namespace klock::selftest {

/* The worlds in which a mistake shows; a mask. */
enum world : unsigned {
	in_model = 1,	 /* every interleaving */
	in_turns = 2,	 /* vCPUs that take turns, at each PAUSE: lab */
	in_parallel = 4, /* two at once: pinned vCPUs, native threads */
	in_crowd = 8,	 /* more than two, some of them at once: native */
	at_its_end = 16, /* where the next holder ends the lock: native */
};

/* A subject that must fail, where, and what is wrong with it. */
template <text Name, any_lock L, service Service, unsigned FoundIn,
	  text Mistake>
struct busted_subject : subject<Name, L, Service> {
	static constexpr unsigned found_in = FoundIn;
	static constexpr const char *mistake = Mistake.chars;
};

using busted_locks = list<
	busted_subject<"unlocked_take", busted::unlocked_take, service::fifo,
		       in_model | in_parallel,
		       "taking a ticket has no lock prefix">,
	busted_subject<"load_store_tas", busted::load_store_tas, service::none,
		       in_model | in_parallel,
		       "test-and-set by a load and a store">,
	busted_subject<"word_wide_unlock", busted::word_wide_unlock,
		       service::fifo, in_model | in_parallel,
		       "unlock rewrites both counters">,
	busted_subject<"aba_try_lock", busted::aba_try_lock, service::fifo,
		       in_model, "try_lock swaps next alone">,
	busted_subject<"lifo", busted::lifo, service::fifo, in_model | in_turns,
		       "serves whoever came last">,
	busted_subject<"carrying_unlock", busted::carrying_unlock,
		       service::fifo, in_model | in_turns,
		       "the unlock carries into next at the wrap">,
	busted_subject<"late_by_less", busted::late_by_less, service::fifo,
		       in_model | in_turns,
		       "preemptable tickets: late by <, not by the distance">,
	busted_subject<"impatient", busted::impatient, service::fifo,
		       in_model | in_turns,
		       "preemptable tickets: competes whenever it is free">,
	busted_subject<"hole_in_line", busted::hole_in_line, service::fifo,
		       in_model | in_turns,
		       "timeout: gives up, and its slot still waits">,
	busted_subject<"blind_leave", busted::blind_leave, service::fifo,
		       in_model | in_parallel,
		       "timeout: gives up by a store, over its grant">,
	busted_subject<"place_again", busted::place_again, service::fifo,
		       in_model | in_turns,
		       "timeout: takes a new place when it is back">,
	busted_subject<"late_flag", busted::late_flag, service::fifo,
		       in_model | in_parallel,
		       "MCS: the flag is set after the node is seen">,
	busted_subject<"own_cell", busted::own_cell, service::fifo,
		       in_model | in_crowd,
		       "CLH: keeps its own cell at unlock">,
	busted_subject<"blind_empty", busted::blind_empty, service::fifo,
		       in_model | in_parallel,
		       "queued: empties the queue by a look and a store">,
	busted_subject<"late_clean", busted::late_clean, service::fifo,
		       in_model | in_crowd,
		       "queued: cleans its node when others see it">,
	busted_subject<"early_link", busted::early_link, service::fifo,
		       in_model | in_crowd,
		       "queued: links itself before it exchanges tail">,
	busted_subject<"stealer", busted::stealer, service::fifo, in_model,
		       "queued: takes it past those who queue">,
	busted_subject<"uneven_ring", busted::uneven_ring, service::fifo,
		       in_model | in_turns,
		       "Anderson: the counter wraps within a round">,
	busted_subject<"relaxed_queue", busted::relaxed_queue, service::fifo,
		       in_model,
		       "Graunke-Thakkar: queues by a relaxed exchange">,
	busted_subject<"unfenced_peterson", busted::unfenced_peterson,
		       service::bounded, in_model | in_parallel,
		       "Peterson: no fence">,
	busted_subject<"leaf_first", busted::leaf_first,
		       service::starvation_free, in_model | in_crowd,
		       "tournament: does not wait for its own side">,
	busted_subject<"root_first", busted::root_first,
		       service::starvation_free, in_model | at_its_end,
		       "tournament: writes on after it has released">,
	busted_subject<"silent_choice", busted::silent_choice, service::fifo,
		       in_model | in_parallel,
		       "bakery: does not say that it is choosing">>;

} // namespace klock::selftest
