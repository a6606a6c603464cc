/* SPDX-License-Identifier: MIT */
/*
 * registers - how many a lock without read-modify-write has, and uses
 *
 * Burns and Lynch, Information and Computation 107(2), 1993: by loads and
 * stores alone, n CPUs need n registers at least, however wide.
 */
#pragma once

#include "stage.hpp"

#include <klock/bakery_lock.hpp>
#include <klock/tournament_lock.hpp>

namespace claims {

/* What a CPU reads or writes at once: bytes of a lock's register. */
template <typename L>
inline constexpr usize register_bytes = 1;
template <unsigned Cpus>
inline constexpr usize register_bytes<klock::bakery_lock<Cpus>> = sizeof(u32);

template <typename L>
inline constexpr usize registers_of = sizeof(L) / register_bytes<L>;

/* How many hold something when so many CPUs contend: seen, not counted. */
template <typename L>
unsigned registers_in_use(unsigned cpus)
{
	stage<L> s(cpus);
	unsigned used = 0;

	for (unsigned i = 0; i < cpus; i++)
		s.step(i);
	const auto bytes = s.bytes();
	for (usize at = 0; at < bytes.size(); at += register_bytes<L>) {
		bool zero = true;
		for (usize i = 0; i < register_bytes<L>; i++)
			zero &= bytes[at + i] == 0;
		used += !zero;
	}
	return used;
}

} // namespace claims
