/* SPDX-License-Identifier: MIT */
/*
 * perf_counter - cache misses of the calling thread, where the system counts
 *
 * Source: perf_event_open(2). Virtual machines often have no such counter, and
 * systems may forbid it (perf_event_paranoid); then works() is false.
 */
#pragma once

#include <cstdint>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench {

struct perf_counter {
	perf_counter()
	{
		perf_event_attr what{};

		what.type = PERF_TYPE_HARDWARE;
		what.size = sizeof(what);
		what.config = PERF_COUNT_HW_CACHE_MISSES;
		what.exclude_kernel = 1;
		what.exclude_hv = 1;
		/* this thread, on any core, in no group */
		file = static_cast<int>(
			syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
	}

	~perf_counter()
	{
		if (works())
			close(file);
	}

	perf_counter(const perf_counter &) = delete;
	perf_counter &operator=(const perf_counter &) = delete;

	[[nodiscard]] bool works() const { return file >= 0; }

	/* Misses since this was made. */
	[[nodiscard]] double misses() const
	{
		std::uint64_t count = 0;

		if (!works() || read(file, &count, sizeof(count)) < 0)
			return 0;
		return static_cast<double>(count);
	}

      private:
	int file;
};

} // namespace bench
