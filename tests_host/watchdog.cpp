/* SPDX-License-Identifier: MIT */
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "watchdog.hpp"

#include <catch.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <cxxabi.h>
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace watchdog {
namespace {

#if __has_include(<catch2/catch_all.hpp>)
using listener_base = Catch::EventListenerBase;
#else
using listener_base = Catch::TestEventListenerBase;
#endif

/* The test case's name, which outlives the test: the watchdog reads it late. */
char test_name[256];
std::atomic<bool> in_test{false};

/* The CPU time of all threads of this process, in milliseconds. */
unsigned long cpu_time_ms()
{
	timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return static_cast<unsigned long>(now.tv_sec) * 1000 +
	       static_cast<unsigned long>(now.tv_nsec) / 1000000;
}

std::string lock_name()
{
	const std::type_info *type = here.type;
	const char *lock = here.lock;
	int status = 0;

	if (type == nullptr)
		return lock != nullptr ? lock : "no lock named";
	char *words =
		abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
	const std::string name = status == 0 ? words : type->name();
	std::free(words);
	return name;
}

/* -- The threads of this process, as Linux shows them -- */

/* The watchdog's own, which is none of the test's. */
std::atomic<pid_t> watchdog_thread{0};

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/* Empty: they cannot be seen here. */
std::vector<pid_t> threads()
{
	std::vector<pid_t> found;
	DIR *const folder = opendir("/proc/self/task");

	if (folder == nullptr)
		return found;
	while (const dirent *entry = readdir(folder)) {
		const pid_t thread = std::atoi(entry->d_name);

		if (thread > 0 && thread != watchdog_thread)
			found.push_back(thread);
	}
	closedir(folder);
	return found;
}

/* The word that a thread sleeps at, without a deadline; 0: it does not. */
unsigned long sleeps_at(pid_t thread)
{
	unsigned long word = 0, operation = 0, value = 0, deadline = 1;
	long number = -1;

	const std::string path =
		"/proc/self/task/" + std::to_string(thread) + "/syscall";
	std::FILE *const file = std::fopen(path.c_str(), "r");

	if (file == nullptr)
		return 0;
	const int read = std::fscanf(file, "%ld %lx %lx %lx %lx", &number,
				     &word, &operation, &value, &deadline);
	std::fclose(file);
	return read == 5 && number == SYS_futex && deadline == 0 ? word : 0;
}

/* Whether each of them sleeps until another wakes it. */
bool all_sleep(const std::vector<pid_t> &of, pid_t but = 0)
{
	for (const pid_t thread : of)
		if (thread != but && sleeps_at(thread) == 0)
			return false;
	return !of.empty();
}

/* The CPU time of these threads, in nanoseconds: Linux numbers their clocks. */
unsigned long cpu_time_of(const std::vector<pid_t> &some)
{
	unsigned long sum = 0;

	for (const pid_t thread : some) {
		timespec used = {};

		clock_gettime(static_cast<clockid_t>(
				      ~static_cast<unsigned>(thread) << 3 | 6),
			      &used);
		sum += static_cast<unsigned long>(used.tv_sec) * 1000000000 +
		       static_cast<unsigned long>(used.tv_nsec);
	}
	return sum;
}

/*
 * Whether all sleep, and none has run since the last time that this was asked:
 * one that is being woken runs.
 */
bool all_have_slept()
{
	static unsigned long before = ~0ul;
	const std::vector<pid_t> now = threads();
	const unsigned long used = all_sleep(now) ? cpu_time_of(now) : ~0ul;
	const bool same = used != ~0ul && used == before;

	before = used;
	return same;
}

/* -- The report -- */

/* Not this file's, nor a library's. */
bool is_of_test(const std::string &name)
{
	for (const char *other : {"watchdog::", "Catch::", "std::"})
		if (name.find(other) == 0)
			return false;
	return true;
}

/* The names of this thread's callers, the innermost first. */
void print_callers()
{
	constexpr int most = 64, enough = 8;
	void *at[most];
	const int count = backtrace(at, most);

	for (int i = 0, printed = 0; i < count && printed < enough; i++) {
		Dl_info info = {};
		int status = 1;

		if (!dladdr(at[i], &info) || info.dli_sname == nullptr)
			continue;
		char *const words = abi::__cxa_demangle(info.dli_sname, nullptr,
							nullptr, &status);

		if (status == 0 && is_of_test(words)) {
			std::fprintf(stderr, "    in %.150s\n", words);
			printed++;
		}
		std::free(words);
	}
}

std::atomic<bool> has_printed{false};

void on_report(int)
{
	print_callers();
	has_printed = true;
}

/*
 * Prints where a thread waits. A signal has it print its callers itself; one
 * that does not answer is left.
 */
void print_thread(pid_t thread)
{
	const unsigned long word = sleeps_at(thread);

	if (word)
		std::fprintf(stderr, "  a thread sleeps, at %#lx\n", word);
	else
		std::fprintf(stderr, "  a thread runs\n");
	has_printed = false;
	syscall(SYS_tgkill, getpid(), thread, SIGUSR2);
	for (int i = 0; i < 100 && !has_printed; i++)
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

[[noreturn]] void bark(const char *why)
{
	const char *step = here.step;

	std::fprintf(stderr, "stands still: \"%s\": %s: %s (%lu): %s\n",
		     test_name, lock_name().c_str(),
		     step != nullptr ? step : "before its first step",
		     here.number.load(), why);
	signal(SIGUSR2, on_report);
	for (const pid_t thread : threads())
		if (thread == this_thread())
			print_callers();
		else
			print_thread(thread);
	std::_Exit(EXIT_FAILURE);
}

/* Looks every now and then; CPU time, steps and threads that sleep decide. */
[[noreturn]] void watch()
{
	unsigned seen = here.steps;
	unsigned long since = cpu_time_ms();

	watchdog_thread = this_thread();
	for (;;) {
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
		const unsigned now = here.steps;
		if (now != seen) {
			seen = now;
			since = cpu_time_ms();
		} else if (cpu_time_ms() - since > patience_ms) {
			bark((std::to_string(patience_ms) +
			      " ms of CPU time without a step")
				     .c_str());
		}
		if (all_have_slept())
			bark("all threads sleep, and nobody wakes them");
	}
}

/*
 * -- A wait of the only thread that runs --
 *
 * It looks at what nobody changes. The hosted port yields in each long wait,
 * and the program's sched_yield() is here.
 */

/* In one step, alone: some millions of looks. Deadlines of tests are nearer. */
constexpr unsigned yields_alone = 50000;
constexpr unsigned yields_a_look = 64;

struct lone_wait {
	unsigned yields = 0;
	unsigned step = 0;
	bool is_alone = false;

	/* Whether another thread may want the core. */
	bool yield()
	{
		if (here.steps != step) {
			*this = {.step = here.steps};
			return true;
		}
		if (++yields % yields_a_look == 0) {
			is_alone = watchdog_thread != 0 &&
				   all_sleep(threads(), this_thread());
			if (!is_alone)
				yields = 0;
		}
		if (yields >= yields_alone)
			bark("it waits, and no other thread runs");
		return !is_alone;
	}
};
thread_local constinit lone_wait waits_alone;

/* Each test case is a step, so that those that say nothing are watched too. */
struct listener final : listener_base {
	using listener_base::listener_base;

	void testCaseStarting(const Catch::TestCaseInfo &test) override
	{
		static const bool started = [] {
			std::thread(watch).detach();
			return true;
		}();

		(void)started;
		std::snprintf(test_name, sizeof(test_name), "%s",
			      test.name.c_str());
		note(nullptr, nullptr);
		in_test = true;
		if (before_each)
			before_each();
	}

	void testCaseEnded(const Catch::TestCaseStats &) override
	{
		in_test = false;
		step();
	}
};

CATCH_REGISTER_LISTENER(listener)

} // namespace
} // namespace watchdog

/*
 * In front of the C library's. LeakSanitizer calls it, too, at the program's
 * end: it holds malloc()'s locks then, which looking for threads would take.
 */
extern "C" int sched_yield() noexcept
{
	if (!watchdog::in_test || watchdog::waits_alone.yield())
		return static_cast<int>(syscall(SYS_sched_yield));
	return 0;
}
