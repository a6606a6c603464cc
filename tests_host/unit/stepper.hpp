/* SPDX-License-Identifier: MIT */
/*
 * stepper - runs something between any two instructions of a function
 *
 * How a test drives code that has no hook: it sets the CPU's trap flag, and
 * after the n-th instruction, in the trap's signal handler, the others' turn
 * comes. For n = 0, 1, 2, .. every place is tried, and each run is the same.
 */
#pragma once

#include "../watchdog.hpp"

#include <signal.h>
#include <ucontext.h>

namespace unit {

#if defined(__x86_64__) && defined(__linux__)

inline constexpr bool can_step = true;

namespace stepping {

inline volatile unsigned long steps_left;
/* The others' turn comes after each instruction, not after one alone. */
inline volatile bool each;
inline void (*volatile intrude)(void *);
inline void *volatile argument;

/*
 * The kernel runs it with the trap flag off; the code goes on with it, until
 * the others have had their turn: the rest is none of this header's business,
 * and may be long (a sanitizer's report).
 */
inline void on_step(int, siginfo_t *, void *context)
{
	greg_t &flags =
		static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL];

	if (steps_left == 0)
		return;
	steps_left = steps_left - 1;
	if (each)
		return intrude(argument);
	if (steps_left != 0)
		return;
	flags &= ~greg_t{0x100};
	intrude(argument);
}

/* Below the red zone, which is the compiler's. */
[[gnu::always_inline]] inline void set_trap_flag()
{
	asm volatile("sub $128, %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\t"
		     "popfq\n\tadd $128, %%rsp" ::
			     : "memory", "cc");
}

[[gnu::always_inline]] inline void clear_trap_flag()
{
	asm volatile("sub $128, %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\t"
		     "popfq\n\tadd $128, %%rsp" ::
			     : "memory", "cc");
}

} // namespace stepping

/*
 * Calls function(); after its n-th instruction, others(), once. Returns whether
 * the function was long enough for that.
 */
template <typename Function, typename Others>
inline bool with_intrusion(unsigned long n, Function function, Others others)
{
	struct sigaction step = {}, before = {};
	bool intruded = false;
	auto both = [&] {
		intruded = true;
		others();
	};

	watchdog::note<Function>("others' turn after instruction", n);
	stepping::argument = &both;
	stepping::intrude = [](void *p) {
		(*static_cast<decltype(both) *>(p))();
	};
	step.sa_sigaction = stepping::on_step;
	step.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &step, &before);
	stepping::steps_left = n;
	stepping::set_trap_flag();
	function();
	stepping::clear_trap_flag();
	stepping::steps_left = 0;
	sigaction(SIGTRAP, &before, nullptr);
	return intruded;
}

/* Calls look(), which changes nothing, after each instruction of function().
 * Returns how often. */
template <typename Function, typename Look>
inline unsigned long look_between(Function function, Look look)
{
	unsigned long looks = 0;

	stepping::each = true;
	with_intrusion(~0ul, function, [&] {
		looks++;
		look();
	});
	stepping::each = false;
	return looks;
}

/* Within the function: what is between the two is not counted. */
inline void rest() { stepping::clear_trap_flag(); }
inline void step_on() { stepping::set_trap_flag(); }

#else

inline constexpr bool can_step = false;

inline void rest() {}
inline void step_on() {}

template <typename Function, typename Others>
inline bool with_intrusion(unsigned long, Function, Others)
{
	return false;
}

template <typename Function, typename Look>
inline unsigned long look_between(Function, Look)
{
	return 0;
}

#endif

} // namespace unit
