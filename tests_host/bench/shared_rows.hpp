/* SPDX-License-Identifier: MIT */
/*
 * shared_rows - every lock of klock that readers share, every peer that does,
 * and an exclusive lock to compare with
 */
#pragma once

#include "rows.hpp"
#include "shared_bed.hpp"

namespace bench {

struct shared_row {
	std::string name;
	kind what;
	bool fair;   /* nobody, reader or writer, waits for ever */
	bool shares; /* else readers are alone, too */
	u64 capacity;
	usize bytes;
	std::unique_ptr<shared_bed> (*make)(unsigned threads);
};

/* The rows for trials of so many threads, as rows_for(). */
const std::vector<shared_row> &shared_rows_for(unsigned threads);

} // namespace bench
