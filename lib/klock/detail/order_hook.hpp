/* SPDX-License-Identifier: MIT */
/*
 * order_hook - the ten calls by which lock_order.hpp learns of checked locks
 *
 * They are pointers, so that a file which takes checked locks does not compile
 * lock_order.hpp: only the file that defines klock_os_lock_order() does.
 */
#pragma once

#include <klock/arch/irq.hpp>
#include <klock/detail/text.hpp>
#include <klock/detail/unparked.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

struct held_lock;
struct held_locks;
struct inheriting_thread;

/* A lock that the caller is about to wait for or try, and the call site. */
struct wanted_lock {
	const void *lock;
	lock_label label;
	call_site by;
	bool shared;	     /* to read */
	bool nests;	     /* and its readers may read it again */
	bool sleeps = false; /* its waiters give their CPU away */
	bool looks = false;  /* as a seq_lock's reader: waits, blocks nobody */
	bool upgradable = false; /* to read, and perhaps to write later */
	/* the caller, where the lock is another's once that has ended */
	const inheriting_thread *thread = nullptr;
	/* hash_of() the label's name; 0: to be computed */
	u32 name_hash = 0;

	[[nodiscard]] bool is_nested() const { return shared && nests; }
	/* The flags that an entry has (order/held.hpp). */
	[[nodiscard]] u8 mode() const
	{
		return static_cast<u8>((shared && !looks ? mode_reads : 0) |
				       (is_nested() ? mode_nests : 0) |
				       (sleeps ? mode_sleeps : 0) |
				       (thread ? mode_inherits : 0) |
				       (looks ? mode_looks : 0) |
				       (upgradable ? mode_upgradable : 0));
	}

	static constexpr u8 mode_reads = 1, mode_nests = 2, mode_sleeps = 4,
			    mode_inherits = 8, mode_looks = 16,
			    mode_upgradable = 32;
};

/* The entry that an acquisition has in a stack of held locks; nulls: none. */
struct held_place {
	held_locks *stack;
	held_lock *at;
};

/* A held_place, and the kernel's order that has it. A base would be copied as
 * one word, behind two stores of its halves, for which a CPU waits. */
struct noted_place {
	constexpr noted_place() = default;
	noted_place(held_place from, lock_order *of)
	    : stack(from.stack), at(from.at), order(of)
	{
	}

	[[nodiscard]] held_place place() const { return {stack, at}; }

	held_locks *stack = nullptr;
	held_lock *at = nullptr;
	lock_order *order = nullptr;
};

/* Two locks taken in the order of addresses, now the higher; zeros: none. */
struct address_pair {
	usize lower, higher;
	bool sleep = false; /* their waiters do */
};

/* A lock's holder, as it is noted apart from the lock. */
struct known_holder {
	bool is_known = false;
	lock_label label = {};
	call_site taken = {};
	usize owner = 0;
	u32 cpu = 0;
};

struct lock_order {
	held_place (*on_wait)(lock_order &, const wanted_lock &);
	held_place (*on_try)(lock_order &, const wanted_lock &);
	void (*on_taken)(held_place, bool waited);
	held_place (*on_leave)(lock_order &, const void *lock);
	void (*on_gone)(held_place);
	void (*on_mode)(lock_order &, const wanted_lock &);
	address_pair (*on_pair)(lock_order &, const address_pair &next);
	void (*on_set)(lock_order &, const wanted_lock &);
	void (*on_end)(lock_order &, const inheriting_thread &);
	known_holder (*on_doubt)(lock_order &, const void *lock, bool mine);
};

/* The caller is about to wait for wanted(), which is asked for only if the
 * kernel has an order. Returns nulls otherwise, and if it is not noted. */
template <typename Wanted>
noted_place note_wait(Wanted wanted)
{
	lock_order *const order = kernel_lock_order();

	if (!order)
		return {};
	return {order->on_wait(*order, wanted()), order};
}

/* The caller is about to end waits for an event, which wanted() names. */
template <typename Wanted>
void note_set(Wanted wanted)
{
	if (lock_order *const order = kernel_lock_order())
		order->on_set(*order, wanted());
}

/* The caller released the lock, or gave up its try or wait. */
inline void note_gone(noted_place mine)
{
	if (mine.at)
		mine.order->on_gone(mine.place());
}

/* Interrupts are off while it lives, if it says so: around a section of a spin
 * lock inside another lock. */
struct irqs_off_if {
	explicit irqs_off_if(bool off)
	    : are_off(off), before(off ? arch::irq_save() : arch::irq_state{})
	{
	}
	/* A kernel may put off a part of klock_os_unpark() until interrupts are
	 * on. The release inside of this section found them off, so the kernel
	 * is told again here. */
	~irqs_off_if()
	{
		if (!are_off)
			return;
		arch::irq_restore(before);
		if (arch::irqs_enabled())
			arch::unparked(before);
	}
	irqs_off_if(const irqs_off_if &) = delete;
	irqs_off_if &operator=(const irqs_off_if &) = delete;

      private:
	bool are_off;
	arch::irq_state before;
};

/*
 * A domain's lock, in which code of the kernel runs (klock_os_unpark(),
 * klock_os_run_with_priority()), which may take the scheduler's lock. All
 * inheriting mutexes of a domain have it inside, so it is one lock of the
 * order; those of all domains are one class, and none is taken in another.
 */
inline constexpr char domain_name[] = "inheriting_mutex";
inline wanted_lock wanted_domain(call_site by)
{
	return {domain_name,
		{domain_name, lock_label::inner},
		by,
		false,
		false};
}
inline noted_place note_domain(call_site by)
{
	return note_wait([by] { return wanted_domain(by); });
}

/* While it lives, the order knows that the caller has a domain's lock, or is
 * about to wait for it. */
struct domain_seen {
	explicit domain_seen(call_site by) : irqs(kernel_lock_order())
	{
		mine = note_domain(by);
		if (mine.at)
			mine.order->on_taken(mine.place(), false);
	}
	~domain_seen() { note_gone(mine); }
	domain_seen(const domain_seen &) = delete;
	domain_seen &operator=(const domain_seen &) = delete;

      private:
	irqs_off_if irqs;
	noted_place mine = {};
};

/* While it lives, a callback runs with the domain's lock held: the order names
 * it if it comes back. A try, as nobody waits here: the lock, if it is a
 * checked one, is noted already. */
struct domain_held {
	explicit domain_held(call_site by)
	{
		lock_order *const order = kernel_lock_order();

		if (!order)
			return;
		mine = {order->on_try(*order, wanted_domain(by)), order};
		order->on_taken(mine.place(), false);
	}
	~domain_held() { note_gone(mine); }
	domain_held(const domain_held &) = delete;
	domain_held &operator=(const domain_held &) = delete;

      private:
	noted_place mine = {};
};

} // namespace klock
