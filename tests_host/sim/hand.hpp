/* SPDX-License-Identifier: MIT */
/*
 * hand - what cases worked by hand are made of
 */
#pragma once

#include <sim/sim.hpp>

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/plain.hpp>

#include <string>
#include <vector>

/* Two counters on one line, and on a line each. */
struct alignas(klock::cache_line) packed {
	klock::atomic<klock::u32> a;
	klock::atomic<klock::u32> b;
};

struct padded {
	alignas(klock::cache_line) klock::atomic<klock::u32> a;
	alignas(klock::cache_line) klock::atomic<klock::u32> b;
};

/* The cycles that it takes the CPU that runs this. */
template <typename What>
klock::u64 cost(What what)
{
	const klock::u64 before = sim::now();

	what();
	return sim::now() - before;
}

inline bool contains(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}
