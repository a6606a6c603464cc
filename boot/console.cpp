/* SPDX-License-Identifier: MIT */
/*
 * console - text for whoever watches
 */
#include <boot/console.hpp>
#include <boot/panic.hpp>
#include <boot/machine.hpp>
#include <klock/irq_guard.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/ticket_lock.hpp>

namespace boot {

namespace {

/*
 * One contender a CPU: with interrupts off, no handler contends beside the code
 * that it interrupted, and NMI handlers do not print.
 */
constinit klock::ticket_lock_for<max_cpus> lock;

/* Under the lock. */
constinit bool line_begun = false;

/* The CPU that reports could not have the lock: it does not ask again. */
constinit bool goes_without = false;

void put(void *, char c)
{
	line_begun = c != '\n';
	if (c == '\n')
		output_put('\r');
	output_put(c);
}

void print_held(const char *format, const format_argument *arguments)
{
	format_list({put, nullptr}, format, arguments);
	output_shown();
}

} // namespace

void print_list(const char *format, const format_argument *arguments)
{
	(void)give_way_to_report(); /* stands still if another CPU does */
	klock::irq_guard held(lock);

	print_held(format, arguments);
}

void print_anyway(const char *format, const format_argument *arguments)
{
	if (goes_without) {
		print_held(format, arguments);
		return;
	}
	klock::rescue_guard held(lock);

	goes_without = !held;
	print_held(format, arguments);
}

void start_line_anyway()
{
	if (line_begun)
		print_anyway("\n", nullptr);
}

} // namespace boot
