/* SPDX-License-Identifier: MIT */
/*
 * guard - takes a lock for the length of a block
 *
 *	{
 *		klock::guard held(lock);		any plain lock
 *		klock::guard held(lock, cpu);		one indexed by CPU
 *		klock::guard held(mcs);			brings the node along
 *		klock::guard held(clh, node);		a node that outlives it
 *	}						unlocked here
 *
 * Context: that of the lock inside. A lock that an interrupt handler takes too
 * needs irq_guard instead: the handler would wait for the code it interrupted.
 * Recursion: waits for itself, for ever.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

template <any_lock L>
struct guard;

template <plain_lock L>
struct [[nodiscard]] guard<L> {
	explicit guard(L &lock) : held(lock) { held.lock(); }
	~guard() { held.unlock(); }
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

      private:
	L &held;
};

/* With no number given, asks the kernel for it (klock/os.hpp). */
template <cpu_lock L>
struct [[nodiscard]] guard<L> {
	explicit guard(L &lock) : guard(lock, cpu_id()) {}
	guard(L &lock, unsigned cpu) : held(lock), by(cpu) { held.lock(by); }
	~guard() { held.unlock(by); }
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

      private:
	L &held;
	unsigned by;
};

/* A node that must outlive the section is the caller's to bring. */
template <node_lock L>
struct [[nodiscard]] guard<L> {
	guard(L &lock, typename L::node &node) : held(lock), with(node)
	{
		held.lock(with);
	}
	~guard() { held.unlock(with); }
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

      private:
	L &held;
	typename L::node &with;
};

/* Brings the node along: guard held(lock); */
template <stack_node_lock L>
struct [[nodiscard]] guard<L> {
	explicit guard(L &lock) : held(lock) { held.lock(with); }
	~guard() { held.unlock(with); }
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

      private:
	L &held;
	typename L::node with;
};

template <typename L, typename... With>
guard(L &, With &&...) -> guard<L>;

} // namespace klock
