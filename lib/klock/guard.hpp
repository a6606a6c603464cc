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

namespace detail {
/* A checked lock is told who takes it; the others have no use for that. */
template <typename L, typename... With>
void lock_for(call_site by, L &lock, With &...with)
{
	if constexpr (requires { lock.lock(with..., by); })
		lock.lock(with..., by);
	else
		lock.lock(with...);
}
} // namespace detail

template <any_lock L>
struct guard;

template <plain_lock L>
struct [[nodiscard]] guard<L> {
	explicit guard(L &lock,
		       call_site by = {__builtin_FILE(), __builtin_LINE()})
	    : held(lock)
	{
		detail::lock_for(by, held);
	}
	~guard() { held.unlock(); }
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

      private:
	L &held;
};

/* With no number given, asks the kernel for it (klock/os.hpp). */
template <cpu_lock L>
struct [[nodiscard]] guard<L> {
	explicit guard(L &lock,
		       call_site by = {__builtin_FILE(), __builtin_LINE()})
	    : guard(lock, cpu_id(), by)
	{
	}
	guard(L &lock, unsigned cpu,
	      call_site by = {__builtin_FILE(), __builtin_LINE()})
	    : held(lock), number(cpu)
	{
		detail::lock_for(by, held, number);
	}
	~guard() { held.unlock(number); }
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

      private:
	L &held;
	unsigned number;
};

/* A node that must outlive the section is the caller's to bring. */
template <node_lock L>
struct [[nodiscard]] guard<L> {
	guard(L &lock, typename L::node &node,
	      call_site by = {__builtin_FILE(), __builtin_LINE()})
	    : held(lock), with(node)
	{
		detail::lock_for(by, held, with);
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
	explicit guard(L &lock,
		       call_site by = {__builtin_FILE(), __builtin_LINE()})
	    : held(lock)
	{
		detail::lock_for(by, held, with);
	}
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
