/* SPDX-License-Identifier: MIT */
/*
 * crash - what an exploration takes over of the process: signals, the stack
 * that they are handled on, std::terminate()
 */
#pragma once

#include <klock/arch/engine.hpp>

#include <csignal>
#include <exception>
#include <string>

namespace model {

struct crash_handlers {
	static constexpr unsigned signals = 6;

	crash_handlers();
	~crash_handlers();
	crash_handlers(const crash_handlers &) = delete;
	crash_handlers &operator=(const crash_handlers &) = delete;

	/* Gives the signal back to whom it was before. */
	void pass_on(int number) const;

	/* Drops exceptions of a fiber that is left for good. */
	void forget_exceptions() const;

	std::terminate_handler terminates;

      private:
	struct sigaction before[signals];
	stack_t stack_before;
	/* abi::__cxa_eh_globals: those caught, and how many are not yet. */
	struct {
		void *caught;
		unsigned uncaught;
	} exceptions;
};

/* Fails at this line, and before the engine knows of it, where no memory is. */
void must_be_memory(const void *at, klock::arch::site);

/* Whether the code under test runs, which crash() ends. */
bool code_ends();
/* It calls what ends the process: from this address, or from where it is. */
[[noreturn]] void ends(const std::string &what, const void *caller);

/* Makes what sanitizers report a finding from now on, or no more. */
void hear_sanitizers(bool hears);

} // namespace model
