/* SPDX-License-Identifier: MIT */
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "watchdog.hpp"

#include <catch.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <cxxabi.h>
#include <time.h>

namespace watchdog {
namespace {

#if __has_include(<catch2/catch_all.hpp>)
using listener_base = Catch::EventListenerBase;
#else
using listener_base = Catch::TestEventListenerBase;
#endif

/* The test case's name, which outlives the test: the watchdog reads it late. */
char test_name[256];

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

[[noreturn]] void bark()
{
	const char *step = here.step;

	std::fprintf(stderr,
		     "stands still: \"%s\": %s: %s (%lu): %u ms of CPU time "
		     "without a step\n",
		     test_name, lock_name().c_str(),
		     step != nullptr ? step : "before its first step",
		     here.number.load(), patience_ms.load());
	std::_Exit(EXIT_FAILURE);
}

/* Looks every now and then; only CPU time and steps decide. */
[[noreturn]] void watch()
{
	unsigned seen = here.steps;
	unsigned long since = cpu_time_ms();

	for (;;) {
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
		const unsigned now = here.steps;
		if (now != seen) {
			seen = now;
			since = cpu_time_ms();
		} else if (cpu_time_ms() - since > patience_ms) {
			bark();
		}
	}
}

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
		if (before_each)
			before_each();
	}

	void testCaseEnded(const Catch::TestCaseStats &) override { step(); }
};

CATCH_REGISTER_LISTENER(listener)

} // namespace
} // namespace watchdog
