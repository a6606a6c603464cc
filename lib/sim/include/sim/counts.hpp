/* SPDX-License-Identifier: MIT */
/*
 * counts - what a CPU's memory operations did
 */
#pragma once

#include <klock/types.hpp>

namespace sim {

using klock::u64;

struct counts {
	u64 loads = 0;	   /* atomic and plain, the turns of waits included */
	u64 stores = 0;	   /* atomic and plain */
	u64 rmws = 0;	   /* read-modify-writes, failed ones too */
	u64 fences = 0;	   /* full ones */
	u64 misses = 0;	   /* operations that the CPU's cache could not serve */
	u64 memory = 0;	   /* of them: no cache had the line */
	u64 transfers = 0; /* of them: the line came from another cache */
	u64 upgrades = 0;  /* of them: it was here, but others had it too */
	u64 sent = 0;	   /* copies of others that this CPU's writes took */
	u64 received = 0;  /* copies that it lost to others' writes */

	counts &operator+=(const counts &o)
	{
		loads += o.loads;
		stores += o.stores;
		rmws += o.rmws;
		fences += o.fences;
		misses += o.misses;
		memory += o.memory;
		transfers += o.transfers;
		upgrades += o.upgrades;
		sent += o.sent;
		received += o.received;
		return *this;
	}

	/* What came after `before`. */
	counts since(const counts &before) const
	{
		return {loads - before.loads,
			stores - before.stores,
			rmws - before.rmws,
			fences - before.fences,
			misses - before.misses,
			memory - before.memory,
			transfers - before.transfers,
			upgrades - before.upgrades,
			sent - before.sent,
			received - before.received};
	}

	friend bool operator==(const counts &, const counts &) = default;
};

} // namespace sim
