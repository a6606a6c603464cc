/* SPDX-License-Identifier: MIT */
/*
 * crash - takes over signals, their stack and std::terminate() for an
 * exploration
 */
#pragma once

#include <klock/arch/engine.hpp>

#include <csignal>
#include <exception>
#include <string>

namespace model {

/* True in the exploration's thread. pthread_self() would look like a call by
 * the code. */
extern constinit thread_local bool explores;

struct crash_handlers {
	static constexpr unsigned signals = 6;

	crash_handlers();
	~crash_handlers();
	crash_handlers(const crash_handlers &) = delete;
	crash_handlers &operator=(const crash_handlers &) = delete;

	/* Passes the signal to the handler that was there before. */
	void pass_on(int number) const;

	/* Drops the exceptions of a fiber that is left for good. */
	void forget_exceptions() const;

	std::terminate_handler terminates;

      private:
	struct sigaction before[signals];
	stack_t stack_before;
	/* abi::__cxa_eh_globals: the caught exceptions, and how many are
	 * uncaught. */
	struct {
		void *caught;
		unsigned uncaught;
	} exceptions;
};

/* Ticks while it lives: SIGVTALRM, by CPU time. */
struct timer {
	timer();
	~timer();
	timer(const timer &) = delete;
	timer &operator=(const timer &) = delete;

	/* A process that was forked has no timer. */
	static void start();

      private:
	struct sigaction others {};
};

/*
 * While it lives, the program's handlers of signals wait for the next tick.
 * They access its variables, wherever they interrupt a CPU that knows nothing
 * of it.
 */
struct handlers_wait {
	handlers_wait();
	~handlers_wait();
	handlers_wait(const handlers_wait &) = delete;
	handlers_wait &operator=(const handlers_wait &) = delete;

	/* Runs those whose signals have come. */
	static void let_in();
};

/* Fails at this line if there is no memory, before the engine notes an
 * access. */
void must_be_memory(const void *at, klock::arch::site);

/* The line of the code's call that led to the call which returns there; no
 * line: it is not known. */
klock::arch::site line_of_caller(const void *returns_to);

/* Whether the code under test runs, which crash() ends. */
bool code_ends();
/* The code calls a function that ends the process: from this address, or from
 * its current frame. */
[[noreturn]] void ends(const std::string &what, const void *caller);

/* Makes the sanitizers' reports findings from now on, or no more. */
void hear_sanitizers(bool hears);

} // namespace model
