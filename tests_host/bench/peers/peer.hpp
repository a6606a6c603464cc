/* SPDX-License-Identifier: MIT */
/*
 * peer - one line of the table of peers
 */
#pragma once

#include <klock/selftest/locks.hpp>

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

/* The same of one that readers share; fair: nobody waits for ever. */
template <text Name, typename L, bool Fair, text Family>
struct shared_peer {
	using lock = L;
	static constexpr const char *name = Name.chars;
	static constexpr bool fair = Fair;
	static constexpr const char *counterpart = Family.chars;
};

/* What an adapter derives from: nobody asks how many may contend. */
struct any_number {
	static constexpr klock::u64 max_contenders = ~klock::u64{0};
};

} // namespace bench
