/* SPDX-License-Identifier: MIT */
/*
 * api - what a test's body may call, and what klock/os.hpp asks of a kernel
 */
#include "checker.hpp"

#include <klock/os.hpp>

namespace model {

/* Defaults for programs without the checker's heap (model_std). */
[[gnu::weak]] hooked::engine *detail::gate_to(hooked::engine &e) { return &e; }
[[gnu::weak]] void detail::empty_heap() {}
[[gnu::weak]] detail::part_of_heap detail::heap_of(unsigned) { return {}; }
[[gnu::weak]] detail::block_of detail::block_at(const void *) { return {}; }
[[gnu::weak]] const char *detail::not_wrapped() { return nullptr; }
[[gnu::weak]] bool detail::sees_plain() { return false; }
[[gnu::weak]] const char *detail::see_imports() { return nullptr; }
[[gnu::weak]] const char *detail::set_traps() { return nullptr; }
[[gnu::weak]] void detail::unset_traps() {}
[[gnu::weak]] const detail::trapped *detail::trap_of(const void *)
{
	return nullptr;
}
[[gnu::weak]] void detail::lift_trap(void *, bool) {}

void check(bool holds, const char *text, site s)
{
	const detail::code_calls now;

	if (!holds)
		the_checker().reports.report(bug::failed_check,
					     std::string("failed: ") + text, s);
}

unsigned cpu() { return the_checker().current(); }

unsigned choose(unsigned n)
{
	const detail::code_calls now;

	if (!hooked::running || n < 2)
		return 0;
	return static_cast<unsigned>(the_checker().choose(n));
}

void assume(bool holds)
{
	const detail::code_calls now;

	if (hooked::running)
		the_checker().assume(holds);
}

bool interrupts_on() { return the_checker().irqs.at(cpu()).on; }

void name(const void *object, klock::usize bytes, const char *text,
	  const void *type)
{
	const detail::checker_runs now;

	the_checker().intend(object, bytes, text);
	if (the_checker().reports.is_showing())
		the_checker().reports.known.add(object, bytes, text, type);
}

before_waits::before_waits(void (*call)(void *), void *what)
{
	the_checker().me().on_wait = call;
	the_checker().me().on_wait_what = what;
}

before_waits::~before_waits() { the_checker().me().on_wait = nullptr; }

} // namespace model

extern "C" unsigned klock_os_cpu_id(void) { return model::cpu(); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned cpu, const char *what)
{
	const model::detail::checker_runs now;

	/* The next execution's report is as good. */
	klock::set_checks(true);
	model::the_checker().panic(std::string("panic: ") + lock_name +
				   ", cpu" + std::to_string(cpu) + ": " + what);
}

/* Weak: a test may have an answer of its own. */
extern "C" [[gnu::weak]] int klock_os_context(void)
{
	return model::the_checker().context();
}
