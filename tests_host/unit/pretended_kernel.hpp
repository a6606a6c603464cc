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
#include <type_traits>

inline thread_local unsigned current_cpu = 0;
inline thread_local klock::context running_in = klock::context::thread;
/* The thread that runs: the owner of locks, where a test says so. */
inline thread_local unsigned long current_thread = 0;

/*
 * Code of a test, that is called while it is handed over: what takes it is
 * compiled once, and not for each piece of code.
 */
struct block {
	template <typename Code>
	block(Code &&code)
	    : at(const_cast<void *>(static_cast<const void *>(&code))),
	      call(run<std::remove_reference_t<Code>>)
	{
	}
	block(const block &) = default;
	void operator()() const { call(at); }

      private:
	template <typename Code>
	static void run(void *it)
	{
		(*static_cast<Code *>(it))();
	}

	void *at;
	void (*call)(void *);
};

/* Returns the panic's text, or "" without one. */
std::string panic_of(block misuse);

bool has(const std::string &text, const std::string &part);

/*
 * A panic leaves by an exception, and a test may end with locks held: another
 * lock may come to lie at the address. Called before each test case.
 */
void forget_locks();

/* "this file:line", as a panic prints it */
std::string site_text(const char *file, int line);

/* A line of the file that calls it. */
inline std::string at_line(int number, const char *file = __builtin_FILE())
{
	return site_text(file, number);
}

/* A file's path as reports show it: of a long one, the end. */
std::string shown(const char *file);

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

void as(unsigned cpu, klock::context where, block code);
