/* SPDX-License-Identifier: MIT */
/*
 * fiber - a function with a stack of its own, which can suspend and be resumed
 *
 * The model checker and the simulator run their CPUs on fibers. All fibers of a
 * program share one host thread. A fiber that is never resumed costs nothing
 * and runs no destructors: so its function must own no heap.
 */
#pragma once

#include <cstddef>

struct fiber {
	/* Makes a stack of that many bytes, with a page below that faults. */
	explicit fiber(std::size_t stack_bytes = 64 * 1024);
	~fiber();
	fiber(const fiber &) = delete;
	fiber &operator=(const fiber &) = delete;

	/*
	 * The next resume() begins with entry(argument); a suspended run is
	 * dropped. Not called within the fiber.
	 */
	void start(void (*entry)(void *), void *argument);

	/*
	 * Runs it until it suspends or returns; true: it has suspended. Not
	 * called within a fiber.
	 */
	bool resume();

	/* Suspends the calling fiber, and returns to its resume(). */
	static void suspend();

	/* Its stack, from the lowest byte to above the highest. */
	const char *low() const { return stack; }
	const char *high() const { return stack + bytes; }

      private:
	struct machine; /* what the switch needs: fiber.cpp */

	static void begin();

	/* The one that runs. Plain: all fibers share one host thread. */
	static fiber *current;

	void (*entry)(void *) = nullptr;
	void *argument = nullptr;
	bool live = false;
	char *stack = nullptr; /* lowest byte, above the guard page */
	std::size_t bytes = 0;
	machine *its = nullptr;
};
