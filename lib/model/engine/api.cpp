/* SPDX-License-Identifier: MIT */
/*
 * api - the functions that a test's body may call, and a kernel's of
 * klock/os.hpp
 */
#include "checker.hpp"

#include <model/places.hpp>

#include <klock/os.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <utility>

namespace model {

/* Defaults for programs without the checker's heap (model_std). */
[[gnu::weak]] hooked::engine *detail::gate_to(hooked::engine &e) { return &e; }
[[gnu::weak]] void detail::empty_heap() {}
[[gnu::weak]] detail::part_of_heap detail::heap_of(unsigned) { return {}; }
[[gnu::weak]] detail::block_of detail::block_at(const void *) { return {}; }
[[gnu::weak]] void detail::heap_written(const void *, usize) {}
[[gnu::weak]] bool detail::is_unset(const void *, usize) { return false; }
[[gnu::weak]] const char *detail::not_wrapped() { return nullptr; }
[[gnu::weak]] bool detail::is_of_code(const void *) { return false; }
[[gnu::weak]] detail::variables detail::variables_of_code() { return {}; }
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

	if (!holds && hooked::running)
		the_checker().memory.report_unset();
	if (!holds)
		the_checker().reports.report(bug::failed_check,
					     std::string("failed: ") + text, s);
}

unsigned cpu() { return the_checker().cpus.current(); }

unsigned choose(unsigned n)
{
	const detail::code_calls now;

	if (!hooked::running || n < 2)
		return 0;
	return static_cast<unsigned>(the_checker().code.choose(n));
}

void assume(bool holds)
{
	const detail::code_calls now;

	if (hooked::running)
		the_checker().code.assume(holds);
}

bool detail::happens_for_no_reason()
{
	const detail::code_calls now;

	return the_checker().code.happens_for_no_reason();
}

bool interrupts_on() { return the_checker().code.interrupts_on(); }

void name(const void *object, klock::usize bytes, const char *text,
	  const void *type)
{
	const detail::checker_runs now;

	checker &c = the_checker();

	if (detail::intends)
		c.relaxed.name(object, bytes, text);
	if (c.reports.is_showing())
		c.reports.known.add(object, bytes, text, type);
}

before_waits::before_waits(void (*call)(void *), void *what)
{
	the_checker().code.set_on_wait(call, what);
}

before_waits::~before_waits()
{
	the_checker().code.set_on_wait(nullptr, nullptr);
}

/* -- Calls of instrumented code ----------------------------------------------
 */

void detail::storage_ends(const void *at, usize bytes, const void *caller)
{
	const code_calls now;

	if (hooked::running)
		the_checker().memory.storage_ends(at, bytes, caller);
}

void detail::storage_is_given(const void *at, usize bytes)
{
	const code_calls now;

	if (hooked::running)
		the_checker().memory.storage_is_given(at, bytes);
}

bool detail::is_held(const void *word)
{
	const code_calls now;

	return hooked::running && the_checker().memory.newest_of(word) != 0;
}

void detail::frame(const void *at, const void *returns_to, const void *caller)
{
	const code_calls now;
	const usize depth = the_checker().memory.frame(
		static_cast<const char *>(at), returns_to, caller);

	the_checker().looks.goes_on_from(caller);
	the_checker().loops.leave_no_traces(depth);
}

void detail::plain_access(const void *at, usize bytes, bool writes,
			  const void *caller, access_of by)
{
	const checker_runs now;
	usize depth = shallow_depth;

	if (writes)
		heap_written(at, bytes);
	if (hooked::running) {
		the_checker().looks.goes_on_from(caller);
		depth = the_checker().code.touch(at, bytes, writes, caller, by);
		if (by != access_of::untold)
			the_checker().looks.told(at, bytes, writes);
	}
	the_checker().loops.leave_no_traces(depth);
}

void detail::tell(const void *at, usize bytes, bool writes)
{
	the_checker().looks.told(at, bytes, writes, true);
}

void detail::close_memory()
{
	lookout &looks = the_checker().looks;

	/* A timer's tick may come before the instruction that it is open for.
	 */
	if (!looks.is_stepping())
		looks.leave();
	the_checker().loops.leave_no_traces(shallow_depth);
	in_body = true;
	__asm__ volatile("" ::: "memory");
	looks.data.settle();
}
void detail::open_memory()
{
	const bool before = std::exchange(in_body, false);

	the_checker().looks.let_others_access();
	in_body = before;
}

void detail::misuse(const char *what, site s)
{
	const detail::checker_runs now;

	the_checker().reports.report(bug::failed_check,
				     std::string("failed: ") + what, s);
}

void detail::note_struct(const void *at, usize bytes, u64 of_value,
			 const void *type)
{
	const code_calls now;
	reporter &to = the_checker().reports;
	auto *const byte = static_cast<u8 *>(const_cast<void *>(at));

	for (usize i = 0; i < bytes; i++)
		if (const auto other = static_cast<u8>(~(of_value >> 8 * i)))
			byte[i] &= static_cast<u8>(~other);
	if (to.is_showing())
		to.known.add_struct(at, type, of_value);
}

void detail::freed_twice(const freed_block &b, site s)
{
	const detail::checker_runs now;
	reporter &to = the_checker().reports;
	const auto at = [](site where) {
		return where.file ? " at " + text(where) : "";
	};

	to.report(bug::failed_check,
		  "failed: memory is freed twice: " + to.known.of(b.start) +
			  ", allocated" + at(b.made_at) +
			  ", freed before by cpu" + std::to_string(b.freed_by) +
			  at(b.freed_at),
		  s);
}

void detail::refuse(const char *what, const void *caller)
{
	const detail::checker_runs now;
	char *const plain =
		abi::__cxa_demangle(what, nullptr, nullptr, nullptr);
	std::string text = std::string("refused: ") + (plain ? plain : what);

	if (!plain && !std::strchr(what, ' '))
		text += "()";
	if (plain || !std::strchr(what, ' '))
		text += ", of which the checker cannot see what it does";
	std::free(plain);
	if (hooked::running)
		the_checker().reports.report(
			bug::unseen, text,
			the_checker().memory.place_of_return(caller));
	std::fprintf(stderr, "%s\n", text.c_str());
	std::abort();
}

void detail::settle()
{
	const checker_runs here;

	if (hooked::running)
		the_checker().relaxed.settle();
}

site detail::place_of_return(const void *to)
{
	const detail::checker_runs now;

	return the_checker().memory.place_of_return(to);
}

} // namespace model

extern "C" unsigned klock_os_cpu_id(void) { return model::cpu(); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned cpu, const char *what)
{
	const model::detail::checker_runs now;

	/* Each execution reports by itself. */
	klock::set_checks(true);
	model::the_checker().runs.panic(std::string("panic: ") + lock_name +
					", cpu" + std::to_string(cpu) + ": " +
					what);
}

/* Weak: a test may define its own. */
extern "C" [[gnu::weak]] int klock_os_context(void)
{
	return model::the_checker().code.context();
}
