/* SPDX-License-Identifier: MIT */
/*
 * pretended_kernel - what klock/os.hpp asks of a kernel, for tests of checks
 *
 * The panic throws, so that a test can read it. A test says as which CPU and in
 * which context code runs; a handler has interrupts off, as on a machine.
 */
#pragma once

#include <klock/detail/text.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>

#include <catch.hpp>

#include <stdexcept>
#include <string>

inline thread_local unsigned current_cpu = 0;
inline thread_local klock::context running_in = klock::context::thread;
/* The thread that runs: the owner of locks, where a test says so. */
inline thread_local unsigned long current_thread = 0;

/* Returns the panic's text, or "" without one. */
template <typename Misuse>
std::string panic_of(Misuse misuse)
{
	try {
		misuse();
	} catch (const std::runtime_error &e) {
		return e.what();
	}
	return "";
}

inline bool has(const std::string &text, const std::string &part)
{
	INFO(text);
	INFO("lacks: " << part);
	CHECK(text.find(part) != std::string::npos);
	return text.find(part) != std::string::npos;
}

/* A file's path as reports show it: of a long one, the end. */
inline std::string shown(const char *file)
{
	const std::string with_line =
		klock::misuse_text().add(klock::call_site{file, 0}).c_str();

	return with_line.substr(0, with_line.size() - 2);
}

/* Interrupts as they are inside, and after it as they were. */
struct irqs {
	explicit irqs(bool on) : before(klock::irqs_enabled()) { set(on); }
	~irqs() { set(before); }
	irqs(const irqs &) = delete;
	irqs &operator=(const irqs &) = delete;

      private:
	static void set(bool on)
	{
		if (on)
			klock::irq_restore(true);
		else
			(void)klock::irq_save();
	}

	bool before;
};

/* Runs code as this CPU, in this context, for the length of a block. */
struct running {
	running(unsigned cpu, klock::context where)
	    : flag(where == klock::context::thread && klock::irqs_enabled()),
	      cpu_before(current_cpu), before(running_in)
	{
		current_cpu = cpu;
		running_in = where;
	}
	~running()
	{
		current_cpu = cpu_before;
		running_in = before;
	}
	running(const running &) = delete;
	running &operator=(const running &) = delete;

      private:
	irqs flag;
	unsigned cpu_before;
	klock::context before;
};

template <typename Code>
void as(unsigned cpu, klock::context where, Code code)
{
	running here(cpu, where);

	code();
}
