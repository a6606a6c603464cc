/* SPDX-License-Identifier: MIT */
/*
 * rows - what is measured: floors, every lock of klock's list, every peer
 */
#pragma once

#include "bed.hpp"

#include <string>
#include <vector>

namespace bench {

/* The floors that ratios are taken to. */
inline constexpr const char *bare_xadd_name = "bare lock xadd";
inline constexpr const char *bare_exchange_name = "bare exchange";
inline constexpr const char *exchange_and_store_name = "exchange and store";
inline constexpr const char *ping_pong_name = "ping-pong";

enum class kind { floor, klock, peer };

struct row {
	std::string name;
	kind what;
	std::string counterpart; /* a peer's: the klock lock of its family */
	bool fifo;
	u64 capacity; /* contenders that it is made for */
	usize bytes;
	std::unique_ptr<bed> (*make)(unsigned threads);
	/* With the lock beside the data; null if both do not fit one line. */
	std::unique_ptr<bed> (*make_together)(unsigned threads);

	bool is_lock() const { return what != kind::floor; }
};

/*
 * The rows for trials of so many threads. Locks that are built for a number of
 * CPUs are built for the smallest of 2, KLOCK_BENCH_CPUS and 8 times that
 * which is enough; where none is, their capacity says so.
 */
const std::vector<row> &rows_for(unsigned threads);

/* Null if there is none of that name. */
const row *find_row(const std::string &name);

/* Of one trial, at most. */
inline constexpr unsigned most_threads_a_core = 8;

/* The peers that were not found when this was built. */
std::vector<std::string> missing_peers();

const char *name_of(kind);

} // namespace bench
