/* SPDX-License-Identifier: MIT */
/*
 * fiber - a function with a stack of its own that can be left and gone on with
 *
 * What the model checker and the simulator run their CPUs on. All fibers of a
 * program share one host thread. A fiber that is never gone on with costs
 * nothing and runs no destructors: what it runs must own no heap.
 */
#pragma once

#include <cstddef>

struct fiber {
	/* A stack of so many bytes, with a page below that faults. */
	explicit fiber(std::size_t stack_bytes = 64 * 1024);
	~fiber();
	fiber(const fiber &) = delete;
	fiber &operator=(const fiber &) = delete;

	/*
	 * Makes entry(argument) what the next resume() begins with; a fiber
	 * that was left half-way is forgotten. Not from within the fiber.
	 */
	void start(void (*entry)(void *), void *argument);

	/*
	 * Goes on with it until it suspends or returns; true if it can be gone
	 * on with. Not from within a fiber.
	 */
	bool resume();

	/* Back to whoever resumed the fiber that calls this. */
	static void suspend();

	/* Its stack, from the lowest byte to above the highest. */
	const char *low() const { return stack; }
	const char *high() const { return stack + bytes; }

      private:
	struct machine; /* what the switch needs: fiber.cpp */

	static void begin();

	void (*entry)(void *) = nullptr;
	void *argument = nullptr;
	bool live = false;
	char *stack = nullptr; /* lowest byte, above the guard page */
	std::size_t bytes = 0;
	machine *its = nullptr;
};
