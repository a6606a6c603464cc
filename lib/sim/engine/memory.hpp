/* SPDX-License-Identifier: MIT */
/*
 * memory - the CPUs' stacks and the simulated objects, always laid out alike
 *
 * The kernel places mappings as it likes, and at random. A lock that tells
 * waiters apart by the distance from itself to their stacks would see other
 * distances at each run. So all stacks are made at once, below one block of
 * memory, each next to the one before: distances are then constants.
 */
#pragma once

#include <sim/machine.hpp>

#include <fiber/fiber.hpp>

#include <klock/types.hpp>

#include <memory>
#include <vector>

namespace sim {

using klock::usize;

struct simulated_memory {
	static simulated_memory &the();

	/* CPU number cpu's stack. */
	fiber &stack(unsigned cpu) { return *stacks[cpu]; }

	/* A piece of the block; pieces are given back last one first. */
	void *lend(usize bytes, usize alignment);
	void take_back(void *at);

      private:
	static constexpr usize block_bytes = usize{4} << 20;
	static constexpr usize stack_bytes = usize{64} << 10;
	static constexpr usize line_alignment = 64; /* no false sharing */

	simulated_memory();

	fiber block{block_bytes}; /* never run: its stack is the block */
	std::vector<std::unique_ptr<fiber>> stacks;
	std::vector<std::unique_ptr<fiber>> elsewhere; /* did not fit in line */
	usize used = 0;
};

} // namespace sim
