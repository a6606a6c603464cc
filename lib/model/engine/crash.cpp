/* SPDX-License-Identifier: MIT */
/*
 * crash - a signal, std::terminate() or exit() of the code under test
 *
 * It ends the run as a failed check does: the fiber is left for good, by the
 * signal's handler on its own stack. No frame is unwound and no destructor
 * runs, so resources of the body (memory of the host's heap, a stream's lock)
 * are lost. The world's destructor is left in the same way. A crash elsewhere,
 * in the world's constructor or in the checker, goes to the handler that was
 * there before.
 */
#include "crash.hpp"
#include "checker.hpp"
#include "lines.hpp"

#include <cinttypes>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <exception>
#include <string>
#include <string_view>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#include <utility>

namespace model {

constinit thread_local bool explores = false;

namespace {

struct {
	int number;
	const char *name;
} const kinds[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
		   {SIGILL, "SIGILL"},	 {SIGFPE, "SIGFPE"},
		   {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}};
static_assert(std::size(kinds) == crash_handlers::signals);

crash_handlers *ours = nullptr;
/* The signals whose handlers wait. */
sigset_t waiting;
/* The memory that the engine accesses for the code; null: none. */
const site *volatile accesses = nullptr;

/* If the stack is broken, the walk ends. */
sigjmp_buf no_way;
volatile std::sig_atomic_t walks = 0;

/* Whether the checker, which runs on a CPU's stack, has that line. */
bool is_of_checker(site s)
{
	constexpr std::string_view here = __FILE__;
	std::string root(here.substr(0, here.rfind("model/engine/")));

	while (root.starts_with("../"))
		root.erase(0, 3);
	for (const char *const part :
	     {"model/engine/", "model_std/", "model/include/", "fiber/"})
		if (s.file && std::strstr(s.file, (root + part).c_str()))
			return true;
	return false;
}

/* The line, if it is the code's and no library's; else no line. */
site line_of_code(const void *returns_to)
{
	Dl_info where{};

	if (!::dladdr(returns_to, &where) ||
	    std::strncmp(where.dli_fname, "/lib", 4) == 0 ||
	    std::strncmp(where.dli_fname, "/usr/lib", 8) == 0)
		return {nullptr, 0};
	const site s = line_of_return(returns_to);
	if (is_of_library(s) || is_of_checker(s))
		return {nullptr, 0};
	return s;
}

struct stack_walk {
	const void *from; /* frames below it are not of the code; null: none */
	site found{nullptr, 0};
	const void *at = nullptr; /* the address of that line */
};

_Unwind_Reason_Code one_frame(_Unwind_Context *frame, void *to)
{
	stack_walk &w = *static_cast<stack_walk *>(to);
	int before = 0;
	const usize pc = _Unwind_GetIPInfo(frame, &before);
	const void *const at = reinterpret_cast<const void *>(pc);

	if (w.from && at != w.from)
		return _URC_NO_REASON;
	w.from = nullptr;
	w.at = at;
	w.found = line_of_code(
		reinterpret_cast<const void *>(pc + (before ? 1 : 0)));
	return w.found.line ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/*
 * The frame that a signal interrupted. If the code called an invalid pointer,
 * the caller's frame, which the unwinder does not find.
 */
const void *frame_of(const void *context, bool &whole)
{
	const auto &m = static_cast<const ucontext_t *>(context)->uc_mcontext;
	const void *pc = nullptr, *caller = nullptr;
	Dl_info in{};

#if defined(__x86_64__)
	pc = reinterpret_cast<const void *>(m.gregs[REG_RIP]);
#elif defined(__aarch64__)
	pc = reinterpret_cast<const void *>(m.pc);
#endif
	whole = ::dladdr(pc, &in) != 0;
	if (whole)
		return pc;
#if defined(__x86_64__)
	/* on_signal() survives a fault of this read: the stack pointer may be
	 * wrong. */
	caller = *reinterpret_cast<const void *const *>(m.gregs[REG_RSP]);
#elif defined(__aarch64__)
	caller = reinterpret_cast<const void *>(m.regs[30]);
#endif
	return caller;
}

/*
 * The innermost line of the code: from the frame at this address on, or from
 * the frame that the signal interrupted.
 */
stack_walk walk_from(const void *pc, const void *context = nullptr)
{
	static stack_walk w;
	bool whole = true;

	w = {pc};
	if (sigsetjmp(no_way, 0) == 0) {
		walks = 1;
		if (context)
			w.from = frame_of(context, whole);
		if (whole)
			_Unwind_Backtrace(one_frame, &w);
		else
			w.found = line_of_code(w.from);
	}
	walks = 0;
	if (!w.found.line)
		w.found = {nullptr, 0};
	return w;
}

site line_from(const void *pc, const void *context = nullptr)
{
	return walk_from(pc, context).found;
}

std::string in_hex(const void *at)
{
	char text[32];

	std::snprintf(text, sizeof(text), "0x%" PRIxPTR,
		      reinterpret_cast<std::uintptr_t>(at));
	return text;
}

std::string text_of(int number, const siginfo_t &info, const checker &c)
{
	std::string text;

	for (const auto &k : kinds)
		if (k.number == number)
			text = k.name;
	if (info.si_code <= 0)
		return text; /* raise() and abort() */
	if (number != SIGSEGV && number != SIGBUS)
		return text;
	if (c.runs.is_below_stack(info.si_addr)) {
		text += ": the CPU's stack is full";
		if (const usize bytes = c.runs.stack_bytes())
			text += ": options.stack_bytes is " +
				std::to_string(bytes);
		return text;
	}
	/* The machine does not report an address that no pointer can have. */
	if (info.si_code == SI_KERNEL)
		return text + " at an address that no memory can have";
	return text + " at " + in_hex(info.si_addr);
}

/* The line of an instruction, from the call that would return after it. */
site place_of(const void *instruction)
{
	return line_of_return(static_cast<const char *>(instruction) + 1);
}

/* The message for an instruction of the code that the compiler does not
 * report. */
std::string text_of(const detail::trapped &t)
{
	char *const plain =
		abi::__cxa_demangle(t.function, nullptr, nullptr, nullptr);
	const std::string in = plain ? plain : t.function;
	/* If the code is inlined into the checker's, it has no function of its
	 * own. */
	const bool inlined = in.find("model::") < in.find('(');

	std::free(plain);
	return std::string("refused: ") + t.text +
	       (inlined ? "" : ", in " + in) +
	       ": inline assembly, or code that is not compiled for the "
	       "checker";
}

/* Ends a run whose code would end the process; does not return. */
[[noreturn]] void crash(const std::string &message, site where)
{
	if (ours)
		ours->forget_exceptions();
	the_checker().runs.crash(message, where);
}

/*
 * Handles a trap of the checker's (model_std/assembly.cpp): an error if a CPU
 * runs into it. Returns false if this is no such trap.
 */
bool goes_on_after_trap(void *context)
{
	const detail::trapped *const t = detail::trap_of(context);

	if (!t)
		return false;
	const bool by_cpu = detail::cpu_runs();
	const detail::checker_runs now;
	const site where = place_of(t->at);
	const bool nobodys = is_of_checker(where) ||
			     (is_of_library(where) && !detail::sees_plain());

	if (by_cpu && !nobodys && explores) {
		if (the_checker().looks.adopts(*t, context))
			return true;
		hooked::running = nullptr;
		the_checker().runs.refuse(text_of(*t), where);
	}
	detail::lift_trap(context, nobodys);
	return true;
}

/* The message for an access that the compiler does not tell of. */
std::string text_of_untold(const void *at, bool writes)
{
	return std::string("refused: the compiler does not tell of this ") +
	       (writes ? "write: " : "read: ") +
	       the_checker().reports.known.of(at) +
	       " (a struct passed or returned by value, a builtin, inline "
	       "assembly, or code that is not compiled for the checker)";
}

/* Handles a fault of the lookout's. Returns false if this is none. */
bool goes_on_after_fault(const void *at, void *context, bool by_code)
{
	checker &c = the_checker();
	const auto is = c.looks.fault_at(at, context, by_code);

	if (is != lookout::fault::untold)
		return is == lookout::fault::goes_on;
	const site where = c.memory.line_of_caller(
		place_of(lookout::instruction_of(context)));
	if (is_of_checker(where)) {
		c.looks.open_all();
	} else if (!c.looks.marks(context)) {
		hooked::running = nullptr;
		c.runs.refuse(text_of_untold(at, lookout::is_write(context)),
			      where);
	}
	return true;
}

/* The memory may be open for an instruction: it is not closed here. */
bool goes_on_after_look(int number, const siginfo_t &info, void *context)
{
	lookout &looks = the_checker().looks;
	const bool by_code = std::exchange(detail::in_body, false);
	const bool goes_on =
		number == SIGSEGV
			? goes_on_after_fault(info.si_addr, context, by_code)
			: number == SIGTRAP && (looks.steps(context) ||
						looks.tells(context, by_code));
	detail::in_body = by_code;
	return goes_on;
}

void handle(int number, siginfo_t *info, void *context)
{
	if (goes_on_after_look(number, *info, context))
		return;
	if (number == SIGTRAP && goes_on_after_trap(context))
		return;
	const detail::checker_runs now;
	if (walks && explores)
		siglongjmp(no_way, 1);
	if (!ours || !explores || !the_checker().runs.runs_code()) {
		if (ours)
			ours->pass_on(number);
		/* An instruction that faulted runs again by itself. */
		if (info->si_code <= 0)
			std::raise(number);
		return;
	}
	checker &c = the_checker();
	site where{nullptr, 0};

	hooked::running = nullptr;
	if (accesses) {
		where = *accesses;
		accesses = nullptr;
	} else if (c.reports.is_showing()) {
		where = line_from(nullptr, context);
	}
	crash(text_of(number, *info, c), where);
}

/*
 * The engine's own data may be where the code's are, which are protected. A
 * fault there opens them before it accesses anything, as a profile's counters.
 */
[[gnu::no_profile_instrument_function]] void
on_signal(int number, siginfo_t *info, void *context)
{
	const bool is_data = lookout::data.open_at(info->si_addr);

	/* Another thread of the program's has global variables, too. */
	if (is_data && !explores) {
		lookout::data.is_wanted = false;
		return;
	}
	handle(number, info, context);
	lookout::data.settle();
}

/*
 * A loop that accesses nothing that is shared calls no hook, so a timer looks.
 * If the tick has come within a hook, the next one looks again.
 */
void look_for_loop(const void *context)
{
	checker &c = the_checker();

	look_at_the_end();
	if (!explores || walks || !c.runs.runs_code() ||
	    !(detail::in_body || c.cpus.now() == scheduler::phase::ending))
		return;
	const detail::checker_runs now;
	if (!c.runs.note_tick())
		return;
	hooked::running = nullptr;
	site where{nullptr, 0};
	std::string function;
	if (c.reports.is_showing()) {
		stack_walk w = walk_from(nullptr, context);
		where = w.found;
		function = function_at(w.at);
	}
	c.runs.loop_for_ever(function, where);
}

[[gnu::no_profile_instrument_function]] void on_tick(int, siginfo_t *,
						     void *context)
{
	const bool wanted = lookout::data.is_wanted;

	lookout::data.is_wanted = false;
	lookout::data.settle();
	if (explores)
		handlers_wait::let_in();
	look_for_loop(context);
	lookout::data.is_wanted = wanted;
	lookout::data.settle();
}

/* Prints why std::terminate() was called. */
std::string what_was_thrown()
{
	const std::type_info *const type = abi::__cxa_current_exception_type();

	if (!type)
		return "std::terminate()";
	char *const plain =
		abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr);
	std::string text = std::string("std::terminate(), of an exception: ") +
			   (plain ? plain : type->name());
	std::free(plain);
	try {
		throw;
	} catch (const std::exception &e) {
		text += std::string(": ") + e.what();
	} catch (...) {
	}
	return text;
}

[[gnu::noinline]] void on_terminate()
{
	const detail::checker_runs now;
	checker &c = the_checker();

	if (!explores || !c.runs.runs_code()) {
		if (ours && ours->terminates)
			ours->terminates();
		std::abort();
	}
	const void *const from = KLOCK_CALLER;

	hooked::running = nullptr;
	crash(what_was_thrown(),
	      c.reports.is_showing() ? line_from(from) : site{nullptr, 0});
}

/*
 * Called when a library calls exit(). Functions that were registered later have
 * run before this, and the thread's own objects are gone; nothing else is lost.
 */
void on_exit(void *)
{
	if (!code_ends())
		return;
	const detail::checker_runs now;

	abi::__cxa_atexit(on_exit, nullptr, ours);
	ends("exit(), by a library", nullptr);
}

} // namespace

crash_handlers::crash_handlers()
{
	alignas(pages_of_data) static char stack[256 * 1024];
	struct sigaction act {};
	stack_t other{};

	other.ss_sp = stack;
	other.ss_size = sizeof(stack);
	::sigaltstack(&other, &stack_before);
	act.sa_sigaction = on_signal;
	/* The handler does not return, so no signal may stay blocked. */
	act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	for (unsigned i = 0; i < signals; i++)
		::sigaction(kinds[i].number, &act, &before[i]);
	terminates = std::set_terminate(on_terminate);
	std::memcpy(&exceptions, abi::__cxa_get_globals(), sizeof(exceptions));
	explores = true;
	abi::__cxa_atexit(on_exit, nullptr, this);
	hear_sanitizers(true);
	ours = this;
}

crash_handlers::~crash_handlers()
{
	ours = nullptr;
	explores = false;
	hear_sanitizers(false);
	abi::__cxa_finalize(this);
	std::set_terminate(terminates);
	for (unsigned i = 0; i < signals; i++)
		::sigaction(kinds[i].number, &before[i], nullptr);
	::sigaltstack(&stack_before, nullptr);
}

static void tick_every(long microseconds)
{
	const itimerval often{{0, microseconds}, {0, microseconds}};

	::setitimer(ITIMER_VIRTUAL, &often, nullptr);
}

timer::timer()
{
	struct sigaction act {};

	act.sa_sigaction = on_tick;
	act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
	::sigaction(SIGVTALRM, &act, &others);
	start();
}

timer::~timer()
{
	tick_every(0);
	::sigaction(SIGVTALRM, &others, nullptr);
}

void timer::start() { tick_every(1'000'000 / ticks_a_second); }

handlers_wait::handlers_wait()
{
	struct sigaction act;
	sigset_t before;
	const auto is_programs = [&act] {
		return act.sa_sigaction != on_signal &&
		       act.sa_sigaction != on_tick &&
		       detail::is_of_code(reinterpret_cast<const void *>(
			       act.sa_sigaction));
	};

	::pthread_sigmask(SIG_SETMASK, nullptr, &before);
	::sigemptyset(&waiting);
	for (int number = 1; number < NSIG; number++)
		if (!::sigismember(&before, number) &&
		    !::sigaction(number, nullptr, &act) && is_programs())
			::sigaddset(&waiting, number);
	::pthread_sigmask(SIG_BLOCK, &waiting, nullptr);
}

handlers_wait::~handlers_wait()
{
	::pthread_sigmask(SIG_UNBLOCK, &waiting, nullptr);
}

void handlers_wait::let_in()
{
	const bool by_code = std::exchange(detail::in_body, false);
	hooked::engine *const cpus = std::exchange(hooked::running, nullptr);

	::pthread_sigmask(SIG_UNBLOCK, &waiting, nullptr);
	::pthread_sigmask(SIG_BLOCK, &waiting, nullptr);
	hooked::running = cpus;
	detail::in_body = by_code;
}

void crash_handlers::pass_on(int number) const
{
	for (unsigned i = 0; i < signals; i++)
		if (kinds[i].number == number)
			::sigaction(number, &before[i], nullptr);
}

void crash_handlers::forget_exceptions() const
{
	std::memcpy(abi::__cxa_get_globals(), &exceptions, sizeof(exceptions));
}

bool detail::is_users(const void *instruction)
{
	const site s = place_of(instruction);

	return s.line && !is_of_checker(s);
}

site line_of_caller(const void *returns_to) { return line_from(returns_to); }

void must_be_memory(const void *at, site s)
{
	accesses = &s;
	asm volatile("" ::: "memory"); /* the handler reads s */
	(void)*static_cast<const volatile char *>(at);
	accesses = nullptr;
}

void ends(const std::string &what, const void *caller)
{
	const detail::checker_runs now;
	checker &c = the_checker();

	hooked::running = nullptr;
	crash(what,
	      c.reports.is_showing() ? line_from(caller) : site{nullptr, 0});
	std::abort();
}

bool code_ends() { return ours && explores && the_checker().runs.runs_code(); }

} // namespace model

extern "C" {

KLOCK_WRAPPED(void, exit, int status)
{
	if (model::code_ends()) {
		const model::detail::checker_runs now;
		model::ends("exit(" + std::to_string(status) + ")",
			    KLOCK_CALLER);
	}
	__real_exit(status);
}
KLOCK_WRAPPED(void, _exit, int status)
{
	if (model::code_ends()) {
		const model::detail::checker_runs now;
		model::ends("_exit(" + std::to_string(status) + ")",
			    KLOCK_CALLER);
	}
	__real__exit(status);
}
KLOCK_WRAPPED(void, _Exit, int status)
{
	if (model::code_ends()) {
		const model::detail::checker_runs now;
		model::ends("_Exit(" + std::to_string(status) + ")",
			    KLOCK_CALLER);
	}
	__real__Exit(status);
}
KLOCK_WRAPPED(void, quick_exit, int status)
{
	if (model::code_ends()) {
		const model::detail::checker_runs now;
		model::ends("quick_exit(" + std::to_string(status) + ")",
			    KLOCK_CALLER);
	}
	__real_quick_exit(status);
}
/* The C library's assert(). */
KLOCK_WRAPPED(void, __assert_fail, const char *text, const char *file,
	      unsigned line, const char *function)
{
	if (model::code_ends()) {
		const model::detail::checker_runs now;
		model::ends(std::string("assert(") + text + ")", KLOCK_CALLER);
	}
	__real___assert_fail(text, file, line, function);
}

} /* extern "C" */
