/* SPDX-License-Identifier: MIT */
/*
 * irq_depth - interrupts off until the last of several locks is released
 *
 * The kernel has an irq_depth for each CPU, zero at first, and one function,
 * klock_os_irq_depth(), that finds its CPU's. Then irq_depth_guard takes what
 * irq_guard takes, and two of them may end in any order: interrupts stay off
 * while one is left. All of it, with a test: lib/docs/take-a-lock.md.
 *
 * If two irq_guards end in the order in which they began, interrupts are on
 * while the second lock is held: the first guard restores the state that it
 * found. A handler that takes the second lock then waits for ever. Here, a CPU
 * counts the locks; the first push_off() notes the state of interrupts, and the
 * last pop_off() restores it, whichever lock that was.
 *
 * The state is written after interrupts went off. Written before, a handler
 * that comes in between could replace it by its own "off".
 *
 * Call these by hand for a lock that another function releases, or that is only
 * tried: push_off() before the lock is touched, pop_off() after it is released
 * or the try has failed.
 *
 * The state belongs to the thread, the depth to the CPU. A scheduler that
 * switches threads with one lock held, which the next thread releases, reads
 * irqs_before_push() before the switch, and restores it after the switch, on
 * whatever CPU, by set_irqs_before_push().
 *
 * irq_guard may be mixed in: it finds interrupts off and leaves them so, and
 * must end before the pop_off() that turns them on.
 *
 * Context: thread and maskable interrupts. An NMI handler does not need it, and
 * must not use it: it may come between the two halves of a pop_off().
 * Recursion: any depth below 2^32.
 * Size: 8 bytes for a CPU on 32 bits, 16 on 64. Zero bytes: nothing is open.
 * Errors: a pop_off() without a push_off(), or with interrupts on, panics.
 * Source: Linux's preempt_count, xv6's pushcli() and popcli() (6.828, MIT).
 *				Checked: unit/irq_depth, model/irq_depth
 */
#pragma once

#include <klock/detail/taking.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>

namespace klock {

/* A CPU's count. Only that CPU accesses it, with interrupts off. */
struct irq_depth {
	constexpr irq_depth() = default;

      private:
	friend void push_off();
	friend void pop_off();
	friend unsigned push_depth();
	friend irq_state irqs_before_push();
	friend void set_irqs_before_push(irq_state);

	/* the irq_state that the first push_off() found, of any port */
	plain<usize> before;
	/* push_off() calls that are open */
	plain<u32> depth;
};

/* Turns interrupts off, and counts. */
inline void push_off()
{
	const irq_state found = irq_save();
	irq_depth &mine = *klock_os_irq_depth();
	const u32 open = mine.depth.get();

	if (open == 0)
		mine.before.set(found);
	mine.depth.set(open + 1);
}

/* Counts down; the last restores what the first push_off() found. */
inline void pop_off()
{
	const bool on = irqs_enabled();
	irq_depth &mine = *klock_os_irq_depth();
	const u32 open = mine.depth.get();

	if (on)
		panic("irq_depth", &mine, cpu_id(),
		      "interrupts are on before the last pop_off()");
	if (open == 0)
		panic("irq_depth", &mine, cpu_id(),
		      "pop_off() without a push_off()");
	mine.depth.set(open - 1);
	if (open == 1)
		irq_restore(mine.before.get());
}

/* The number of open push_off() on this CPU; 0 if interrupts are on. */
inline unsigned push_depth()
{
	return irqs_enabled() ? 0 : klock_os_irq_depth()->depth.get();
}

/* The state that the first push_off() found. Called while one is open. */
inline irq_state irqs_before_push()
{
	return klock_os_irq_depth()->before.get();
}

/* Sets the state that the last pop_off() restores, while one is open. */
inline void set_irqs_before_push(irq_state before)
{
	klock_os_irq_depth()->before.set(before);
}

namespace detail {
struct irqs_counted {
	static constexpr bool disables = true;

	[[gnu::always_inline]] irqs_counted() { push_off(); }
	[[gnu::always_inline]] ~irqs_counted()
	{
		if (pushed)
			pop_off();
	}
	irqs_counted(const irqs_counted &) = delete;
	irqs_counted &operator=(const irqs_counted &) = delete;

	/* Restores early: the destructor then does nothing. */
	void restore()
	{
		pushed = false;
		pop_off();
	}
	/* Disables again after restore(). */
	void disable()
	{
		push_off();
		pushed = true;
	}

      private:
	bool pushed = true;
};
} // namespace detail

/*
 * irq_depth_guard - irq_guard, for locks that are released in any order
 *
 * Takes what irq_guard takes (irq_guard.hpp). held.unlock() releases early.
 */
template <typename L>
struct [[nodiscard]] irq_depth_guard
    : detail::guard_of<L, detail::to_write, detail::waiting,
		       detail::irqs_counted> {
	static_assert(!detail::guardable<L> ||
			      !sleeping<detail::inside<detail::lock_of<L>>>,
		      "a lock whose waiters sleep is taken with interrupts on: "
		      "guard");

	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_depth_guard(typename irq_depth_guard::
								lock_here at,
							With &&...with)
	    : irq_depth_guard::guard_of(at, with...)
	{
	}
	/* Deleted: it could not know the state before. */
	irq_depth_guard(typename irq_depth_guard::lock_here, adopting) = delete;
	template <typename With>
	irq_depth_guard(typename irq_depth_guard::lock_here, With &&,
			adopting) = delete;
	[[gnu::always_inline]] ~irq_depth_guard() = default;
	irq_depth_guard(const irq_depth_guard &) = delete;
	irq_depth_guard &operator=(const irq_depth_guard &) = delete;
};

template <typename L, typename... With>
irq_depth_guard(L &, With &&...)
	-> irq_depth_guard<detail::guarded<L, With...>>;
template <typename L, typename... With>
irq_depth_guard(detail::lock_and_caller<L>, With &&...)
	-> irq_depth_guard<detail::guarded<L, With...>>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
irq_depth_guard(const L &&, With &&...) -> irq_depth_guard<const L>;

} // namespace klock
