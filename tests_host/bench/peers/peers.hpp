/* SPDX-License-Identifier: MIT */
/*
 * peers - what a user would pick instead of klock: the table
 *
 * A header a source of peers: its adapters (6 lines each) and its part of the
 * table. CMake says which sources are there by KLOCK_BENCH_WITH_...; what is
 * not there is named in the output.
 */
#pragma once

#include "peer.hpp"
#include "system.hpp"
#ifdef KLOCK_BENCH_WITH_CK
#include "ck.hpp"
#endif
#ifdef KLOCK_BENCH_WITH_TBB
#include "tbb.hpp"
#endif
#ifdef KLOCK_BENCH_WITH_ABSEIL
#include "abseil.hpp"
#endif

namespace bench {

/* Calls visit.operator()<Peer>() for each that was found. */
template <typename Visit>
void for_each_peer(Visit visit)
{
#ifdef KLOCK_BENCH_WITH_CK
	ck_peers::for_each(visit);
#endif
#ifdef KLOCK_BENCH_WITH_TBB
	tbb_peers::for_each(visit);
#endif
#ifdef KLOCK_BENCH_WITH_ABSEIL
	abseil_peers::for_each(visit);
#endif
	system_peers::for_each(visit);
}

/* The same for those that readers share. */
template <typename Visit>
void for_each_shared_peer(Visit visit)
{
#ifdef KLOCK_BENCH_WITH_CK
	ck_shared_peers::for_each(visit);
#endif
#ifdef KLOCK_BENCH_WITH_TBB
	tbb_shared_peers::for_each(visit);
#endif
#ifdef KLOCK_BENCH_WITH_ABSEIL
	abseil_shared_peers::for_each(visit);
#endif
	system_shared_peers::for_each(visit);
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
	nullptr};

} // namespace bench
