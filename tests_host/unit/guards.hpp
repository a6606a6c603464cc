/* SPDX-License-Identifier: MIT */
/*
 * guards - what the tests of the guards have in common
 */
#pragma once

#include <klock/irq.hpp>
#include <klock/types.hpp>

#include <string>

/* What klock_os_cpu_id() answers in this thread. */
extern constinit thread_local unsigned current_cpu;

/* Locks that note whether an interrupt could come while they are touched. */
struct watchful_lock {
	void lock() { seen += klock::irqs_enabled() ? "L" : "l"; }
	void unlock() { seen += klock::irqs_enabled() ? "U" : "u"; }

	bool try_lock()
	{
		seen += klock::irqs_enabled() ? "T" : "t";
		return free;
	}

	std::string seen;
	bool free = true;
};

struct watchful_node_lock {
	struct node {};
	static constexpr bool node_may_live_on_stack = true;

	void lock(node &) { seen += klock::irqs_enabled() ? "L" : "l"; }
	void unlock(node &) { seen += klock::irqs_enabled() ? "U" : "u"; }

	std::string seen;
};

struct watchful_cpu_lock {
	void lock(unsigned) { seen += klock::irqs_enabled() ? "L" : "l"; }
	void unlock(unsigned) { seen += klock::irqs_enabled() ? "U" : "u"; }

	std::string seen;
};

/* The number 0 or a node, asked for; notes whether an interrupt could come. */
template <typename Node>
struct watchful_choice {
	Node &operator()()
	{
		enabled = klock::irqs_enabled();
		asked++;
		return node;
	}

	Node &node;
	bool enabled = true;
	int asked = 0;
};
