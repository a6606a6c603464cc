/* SPDX-License-Identifier: MIT */
/*
 * checked - the inside of checked_lock: the checks of a lock, and their state
 *
 * usage		the state of the checks of one lock, and the reports
 * checked_parts	the types that checked_lock is put together with
 * checked_calls	functions of any lock that do something if it is checked
 * checked_core		the checks before and after each verb
 */
#pragma once

#include <klock/arch/irq.hpp>
#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/detail/order_hook.hpp>
#include <klock/detail/owners.hpp>
#include <klock/detail/text.hpp>
#include <klock/detail/unordered.hpp>
#include <klock/detail/unparked.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * usage - the state of the checks of one lock, and the reports of misuse
 *
 * Why every interrupt is noted: "interrupts on" is noted before the lock is
 * touched, and again at the unlock. A handler that interrupts its own CPU
 *	- before that note finds the lock untouched by this CPU and goes on;
 *	  the note then finds the handler's
 *	- after it (before the ticket, in the wait, before the holder is noted,
 *	  in the critical section or in unlock()) finds the note
 * Two CPUs that note at the same time may miss each other's note. Neither then
 * waits for code that it interrupted: a handler that does sees the note of its
 * own CPU.
 *
 * Why unlock() may be a lock's last use: it notes that the holder is leaving
 * before it releases the lock inside, as the memory may be freed right after
 * the release. The departure itself cannot be noted, so the last holder counts
 * as a contender until the next holder is noted: see count_in().
 *
 * All accesses but one are relaxed. Only the holder writes what the checks
 * compare. A CPU that asks whether it is the holder reads what it wrote itself.
 * A check may miss what another CPU noted meanwhile; the next check sees it.
 *
 * Contenders are counted at both ends: `arrivals` by each, before it waits, and
 * `departures` by the holder alone, before it releases the lock inside. The
 * difference is that of all who wait or hold, so the holder needs no RMW. The
 * low bits of `departures` say where the last holder is.
 *	- Nobody is counted who has left before: if A's departure comes before
 *	  B's arrival, and C counts B, it sees A's departure. The add to
 *	  arrivals acquires what those that arrived earlier have released by
 *	  theirs. With a relaxed add, a right program could be named. So it
 *	  could if downgrade(), which departs and arrives, did not release.
 *	- C may see departures of some that arrived later, and find fewer than
 *	  there are. Then these have found C: one contender too many is named,
 *	  if not by C.
 */

/* The holder as the kernel's order has it; without one, as the table of
 * spinning locks has it. Nobody, if neither knows. */
inline known_holder holder_apart(const void *lock, bool mine, bool sleeps)
{
	if (lock_order *const order = kernel_lock_order())
		return order->on_doubt(*order, lock, mine);
	const held_spin *const at =
		sleeps ? nullptr : spins_held.holder(lock, mine);

	if (!at)
		return {};
	const u64 cpu = at->owner();
	return {true, at->taken.label(), at->taken.site(), at->owner(),
		static_cast<u32>(cpu)};
}

/*
 * The state of one lock's checks: its holder and call site, the number of
 * contenders, the contexts in which it was taken. All zero bytes: a lock
 * without a name that nobody has used.
 */
struct lock_usage {
	constexpr lock_usage() = default;
	/* of_hash: hash_of() the name, or 0. */
	constexpr lock_usage(const char *of, u32 of_hash)
	    : name(of), hash(of_hash)
	{
	}

	/* The text is not copied: it must live as long as the lock, unchanged.
	 */
	void set_name(const char *to)
	{
		name.store_relaxed(to);
		write_unordered(hash, lock_label::hash_of(to));
	}
	void set_name(const char *to, u32 element)
	{
		set_name(to);
		index_plus_1.store_relaxed(element + 1);
	}

	[[nodiscard]] lock_label label() const
	{
		return {name.load_relaxed(), index_plus_1.load_relaxed()};
	}

	/* hash_of() its name; 0: to be computed, as C did not. */
	[[nodiscard]] u32 name_hash() const { return read_unordered(hash); }

	/* -- Memory that is no lock's any more -- */

	/*
	 * Panics if the lock was overwritten. Called first by each verb:
	 * nothing in the lock is then worth a look. sleeps: its waiters do.
	 */
	void check_memory(call_site by, bool sleeps) const
	{
		if (const usize found = read_unordered(zero))
			complain_of_memory(found, by, sleeps);
	}
	/* Panics if a holder is known that the lock does not know. mine: if it
	 * is the caller. */
	void check_lost(call_site by, bool mine, bool sleeps) const
	{
		const known_holder its = holder_apart(this, mine, sleeps);

		if (its.is_known)
			complain_of_loss(by, its);
	}
	[[gnu::noinline]] void complain_of_loss(call_site by,
						const known_holder &its) const
	{
		misuse_text text = misuse_at("its memory was overwritten or "
					     "made anew while it was held",
					     by);

		say_apart(text, its);
	}
	/* Whether it says that nobody has ever taken it. */
	[[nodiscard]] bool is_untaken() const { return taken.empty(); }

	/* -- Called before and after a lock's operations -- */

	/* The caller is about to sleep. */
	void before_sleep(call_site by) const
	{
		if (current_context() != context::thread)
			complain("may sleep, but was called in an interrupt "
				 "handler",
				 by);
		if (!arch::irqs_enabled())
			complain(
				"may sleep, but was called with interrupts off",
				by);
	}

	/* The caller is about to take the inner lock of a lock whose waiters
	 * sleep: an NMI handler may have interrupted its holder. */
	void before_inner(call_site by) const
	{
		if (current_context() == context::nmi)
			complain("may sleep, but was called in an NMI handler",
				 by);
	}

	/* Called at the end of an irq_lock's section. */
	void check_irqs_off(call_site by) const
	{
		if (arch::irqs_enabled())
			complain("interrupts were turned on while an irq_lock "
				 "was held",
				 by);
	}

	/* The caller is about to take or try a lock of threads alone. */
	void before_taken_in_thread(call_site by) const
	{
		if (current_context() != context::thread)
			complain("taken in an interrupt handler, but it is for "
				 "threads only",
				 by);
	}

	/*
	 * The caller is about to wait.
	 * for_readers: it waits for readers, too.
	 * takes: it will have the lock, and others will wait for it.
	 * may_be_mine: false if the holder's thread has ended, and the caller's
	 * has the same number.
	 */
	void before_wait(call_site by, bool for_readers = true,
			 bool takes = true, bool may_be_mine = true)
	{
		const context here = current_context();

		if (here == context::nmi)
			complain("lock() in an NMI handler: only try_lock() is "
				 "allowed there",
				 by);
		if (here == context::interrupt)
			note_first(in_handler, by, for_readers);
		if (takes)
			note_interrupts_on(here, by, for_readers);
		if (is_held_by_me() && may_be_mine)
			complain("recursion: the caller already holds it", by);
	}

	/*
	 * Counts the caller as a contender, before it waits. Not called for
	 * readers that shared_usage counts. Returns what has_waited() is told.
	 */
	u32 count_in(u64 capacity, call_site by)
	{
		const contention found = arrive();

		if (found.is_unclear(capacity))
			count_in_later(capacity, by);
		else
			check_capacity(found, capacity, by);
		return found.departed;
	}
	/* Whether another writer may have had the lock since count_in()
	 * returned that, or `unknown`. */
	[[nodiscard]] bool has_waited(u32 departed) const
	{
		return departures.load_relaxed() != departed;
	}
	static constexpr u32 unknown = 3;

	/* A reader entered, so no writer is on its way out. */
	void clear_left()
	{
		u32 now = departures.load_relaxed();

		if ((now & place_bits) == leaving)
			(void)departures.compare_exchange_relaxed(
				now, now & ~place_bits);
	}

	/* -- The inner lock of a type that has no holder, as a condition -- */

	void enter_inner(call_site by) { note_owner(owner_id(), by); }
	void leave_inner() { owner_plus_1.store_relaxed(nobody); }

	/* A reader is about to try, or to unlock: it does not wait. */
	void before_try(call_site by, bool for_readers)
	{
		note_interrupts_on(current_context(), by, for_readers);
	}

	/* False: as many as the lock's capacity are about to take it. */
	[[nodiscard]] bool before_try_lock(u64 capacity, call_site by,
					   bool for_readers = true)
	{
		note_interrupts_on(current_context(), by, for_readers);

		const contention found = arrive();
		if (!found.is_unclear(capacity)) {
			check_capacity(found, capacity, by);
			return true;
		}
		count_out();
		return false;
	}

	/* The caller is no contender any more, as its try failed. */
	void count_out() { (void)arrivals.fetch_add_relaxed(0 - one); }

	/* The caller is the holder now, with this number or node. numbered:
	 * each contender has a number of its own. sleeps: its waiters do.
	 * died: the holder before has ended, and did not release it. */
	void after_lock(usize with, call_site by, bool numbered,
			bool sleeps = false, bool died = false)
	{
		const bool was_held = holder() == inside;

		if (was_held && !died)
			complain(
				numbered && taken_with.load_relaxed() == with
					? "two holders with the same CPU number"
					: "two holders: the lock let a second "
					  "one in",
				by);
		taken_with.store_relaxed(with);
		note_owner(owner_id(sleeps), by);
		/* The one that has died will not leave. */
		if (was_held)
			depart();
		set_holder(inside);
	}

	/* The caller releases the lock next; nothing here is accessed later.
	 * verb: by this one. */
	void before_unlock(usize with, call_site by, bool sleeps = false,
			   const char *verb = "unlock()")
	{
		if (!is_held()) {
			/* Others may have had it since: is it the caller's? */
			check_lost(by, !is_untaken(), sleeps);
			return complain(" of a lock that nobody holds", by,
					verb);
		}
		if (!is_held_by_me()) {
			check_lost(by, true, sleeps);
			complain(" by a caller that does not hold it", by,
				 verb);
		}
		if (!is_taken_here())
			complain(" in another context (thread, handler) than "
				 "its lock()",
				 by, verb);
		if (taken_with.load_relaxed() != with)
			complain(" does not match lock(): another CPU number, "
				 "node, or verb",
				 by, verb);
		note_interrupts_on(current_context(), by, true);
		owner_plus_1.store_relaxed(nobody);
		depart();
	}

	/* The caller goes on with what another owner took. */
	void note_handed_over(call_site by, bool is_read = false)
	{
		if (!is_held())
			return complain(
				is_read ? "handed_over() of a lock that is "
					  "held for reading: its reader "
					  "releases it"
					: "handed_over() of a lock that nobody "
					  "holds",
				by);
		note_owner(owner_id(is_thread(owner_plus_1.load_relaxed() - 1)),
			   by);
	}

	/* taken_with of an upgradable reader. */
	static constexpr usize upgradable = ~usize{0};

	void before_upgrade(call_site by) const
	{
		if (!is_held_by_me())
			complain("upgrade() by a caller that does not hold it "
				 "upgradable",
				 by);
		else if (taken_with.load_relaxed() != upgradable)
			complain("upgrade: the caller already holds it for "
				 "writing",
				 by);
		else if (!is_taken_here())
			complain("upgrade() in another context than its "
				 "lock_upgradable()",
				 by);
	}
	/* The upgraded holder contends once from here on, as every writer. */
	void note_upgraded()
	{
		taken_with.store_relaxed(0);
		count_out();
	}

	/* The holder became a reader that counts as a contender. Releases its
	 * own departure to all who count it in: see above. */
	void note_downgraded() { (void)arrivals.fetch_add_release(one); }

	/* Whether the caller holds it, or code that the caller interrupted. */
	[[nodiscard]] bool is_held_by_me() const
	{
		return is_me(owner_plus_1.load_relaxed() - 1);
	}

	/* Whether it was taken in the caller's context: a handler does not hold
	 * what the code that it interrupted took. */
	[[nodiscard]] bool is_taken_here() const
	{
		return taken.mark() == static_cast<u32>(current_context());
	}

	/* Checks that the caller holds it, and took it in this context. */
	void assert_held(call_site by, bool may_be_mine = true) const
	{
		check_memory(by, true);
		if (!is_held_by_me() || !may_be_mine)
			complain("the caller does not hold it", by);
		if (!is_taken_here())
			complain("held in another context of this CPU, not by "
				 "the caller",
				 by);
	}

	/* verb: what the text begins with, or nothing. */
	[[gnu::noinline]] void complain(const char *what, call_site by,
					const char *verb = "") const
	{
		misuse_text text = misuse_at(what, by, verb);

		add_holder(text);
		say(text);
	}

	/* read: where it was read last */
	[[gnu::noinline]] void complain_of_reader(const char *what,
						  call_site by, call_site read,
						  const char *verb = "") const
	{
		say(misuse_at(what, by, verb).add("; last read at ").add(read));
	}

	template <usize Size>
	void say(const bounded_text<Size> &text) const
	{
		bounded_text<80> known;

		report_misuse(known.add(label()).c_str(), this, text.c_str());
	}

      private:
	static constexpr usize nobody = 0;

	/* Where the last holder is: in `departures`, below the count. Both
	 * counts are in units of `one`. */
	static constexpr u32 nowhere = 0, inside = 1, leaving = 2;
	static constexpr u32 place_bits = unknown;
	static constexpr u32 one = place_bits + 1;
	/* From here on, a difference is less than 0. */
	static constexpr u32 later = (u32{1} << 31) / one;

	/* The contenders ahead of one that arrives. */
	struct contention {
		/*
		 * Whether one contender more may be too many: the last holder
		 * has left or is about to, and the lock is full with it. That
		 * is decided when the next holder is noted.
		 */
		[[nodiscard]] bool is_unclear(u64 capacity) const
		{
			return (departed & place_bits) == leaving &&
			       capacity > 1 && ahead + u64{1} == capacity;
		}

		u32 ahead;
		u32 departed;
	};

	static contention seen(u32 arrived, u32 departed)
	{
		const u32 ahead = (arrived - departed + place_bits) / one;

		return {ahead < later ? ahead : 0, departed};
	}

	contention arrive()
	{
		const u32 arrived = arrivals.fetch_add_acq_rel(one);

		return seen(arrived, departures.load_relaxed());
	}

	[[nodiscard]] u32 holder() const
	{
		return departures.load_relaxed() & place_bits;
	}
	void set_holder(u32 to)
	{
		departures.store_relaxed(
			(departures.load_relaxed() & ~place_bits) | to);
	}
	void depart()
	{
		departures.store_relaxed(
			(departures.load_relaxed() & ~place_bits) + one +
			leaving);
	}

	[[nodiscard]] bool is_held() const
	{
		return owner_plus_1.load_relaxed() != nobody;
	}

	/* Notes this owner, who took it in the caller's context. */
	void note_owner(usize owner, call_site by)
	{
		taken.note(by, static_cast<u32>(current_context()));
		owner_plus_1.store_relaxed(key_of(owner));
	}

	/* -- Interrupts ------------------------------------------------------
	 *
	 * Returns the mark of a site: whether its caller and a handler would
	 * wait for each other. If reads nest, a reader does not wait for a
	 * reader of its own CPU.
	 */

	/* In an NMI handler the flag says nothing: no interrupt comes. */
	void note_interrupts_on(context here, call_site by, bool waits)
	{
		if (here != context::nmi && arch::irqs_enabled())
			note_first(open, by, waits);
	}

	void note_first(noted_site &at, call_site by, bool waits)
	{
		if (at.empty() || at.mark() < u32{waits})
			at.note(by, waits);
		if (!open.empty() && !in_handler.empty() &&
		    (open.mark() || in_handler.mark()))
			complain_of_interrupts(by);
	}

	/* -- Capacity --------------------------------------------------------
	 */

	/*
	 * Waits until it is clear whether there is room for the caller. The
	 * wait ends, as the contenders ahead are counted and one of them gets
	 * the lock, or gives up.
	 */
	[[gnu::noinline]] void count_in_later(u64 capacity, call_site by)
	{
		contention found;

		do {
			count_out();
			await_clear(capacity);
			found = arrive();
		} while (found.is_unclear(capacity));
		check_capacity(found, capacity, by);
	}

	void await_clear(u64 capacity) const
	{
		for (;;) {
			const u32 here = arrivals.load_relaxed();
			const u32 gone = departures.load_relaxed();

			if (!seen(here, gone).is_unclear(capacity))
				return;
			arrivals.await_either_acquire(
				[here](u32 now) { return now != here; },
				departures,
				[gone](u32 now) { return now != gone; });
		}
	}

	/* found: before the caller was counted in */
	void check_capacity(contention found, u64 capacity, call_site by)
	{
		if (found.ahead < capacity)
			return;
		count_out();
		complain("more contenders than the lock has room for", by);
		(void)arrivals.fetch_add_relaxed(one);
	}

	/* -- Reports -- */

	[[gnu::noinline]] void complain_of_interrupts(call_site by) const
	{
		misuse_text text;

		text.add("held or waited for with interrupts on at ");
		text.add(open.site());
		text.add(", but waited for in an interrupt handler at ");
		text.add(in_handler.site()).add("; found at ").add(by);
		say(text);
	}

	[[gnu::noinline]] void complain_of_memory(usize found, call_site by,
						  bool sleeps) const
	{
		misuse_text text;

		text.add("its memory was overwritten: ").add_hex(found);
		text.add(" is in it; at ").add(by);
		say_apart(text, holder_apart(this, false, sleeps));
	}

	/* Reports without a word out of the lock: a name in it may lead
	 * anywhere. */
	void say_apart(misuse_text &text, const known_holder &its) const
	{
		bounded_text<80> known;

		if (its.is_known) {
			add_owner(text.add("; held by "), its.cpu, its.owner);
			text.add(", taken at ").add(its.taken);
		}
		report_misuse(known.add(its.label).c_str(), this, text.c_str());
	}

	void add_holder(misuse_text &text) const
	{
		const usize owner = owner_plus_1.load_relaxed();

		if (owner == nobody) {
			if (!taken.empty())
				text.add("; last taken at ").add(taken.site());
			return;
		}
		add_owner(text.add("; held by "), taken.cpu(), owner - 1);
		text.add(", taken at ").add(taken.site());
	}

	/* null: "lock" */
	atomic<const char *> name;
	/* never written by klock: somebody else wrote what is not 0 */
	usize zero = 0;
	/* its index in an array; 0: it is in none */
	atomic<u32> index_plus_1;
	/* contenders that came, but for those that gave up; readers inside, if
	 * they count */
	atomic<u32> arrivals;
	/* holders that left, and where the last one is */
	atomic<u32> departures;
	/* hash_of() the name */
	u32 hash = 0;
	/* the holder; 0: nobody */
	atomic<usize> owner_plus_1;
	/* the holder's number or node */
	atomic<usize> taken_with;
	/* where it was taken last */
	noted_site taken;
	/* where it was first held or waited for with interrupts on */
	noted_site open;
	/* where an interrupt handler first waited for it */
	noted_site in_handler;
};

/* Makes the caller the owner of a lock that another took: order_calls.hpp. */
inline void take_over(lock_usage &lock, call_site by, bool is_read = false)
{
	lock.note_handed_over(by, is_read);
	if (!kernel_lock_order())
		spins_held.take_over(&lock, lock.label(), by);
}

/*
 * Panics if the caller holds a spinning lock and the kernel has no lock order,
 * which would report it. want: the lock that the caller waits for; null: no
 * lock. but: a lock that the wait releases, or null.
 */
[[gnu::noinline]] inline void check_no_spin(const lock_usage *want,
					    const char *what, call_site by,
					    const void *but = nullptr)
{
	const held_spin *const held =
		kernel_lock_order() ? nullptr : spins_held.mine(but);

	if (!held)
		return;
	const lock_label label = held->taken.label();
	misuse_text text = misuse_at(what, by);
	bounded_text<80> name;

	text.add("; ").add(label).add(" was taken at ");
	text.add(held->taken.site());
	name.add(want ? want->label() : label);
	report_misuse(name.c_str(), want ? want : held->lock.load_relaxed(),
		      text.c_str());
}

/*
 * inner_seen - while it lives, the caller has the inner lock of this one
 *
 * A lock whose waiters sleep has a spin lock inside (detail/sleeping.hpp). Code
 * that the kernel runs under it (klock_os_unpark(), a predicate, a change) may
 * take other locks, and other code may use this lock with those held. So the
 * inner lock takes part in the order, as "jobs (inner)". It is noted for the
 * whole verb, with interrupts off as under the inner lock, though the verb
 * takes that lock later, or only if somebody waits: so the order is learned
 * before it can cause a deadlock.
 */
struct inner_seen {
	/* of_domain: it is that of all inheriting mutexes of a domain. */
	inner_seen(const lock_usage &of, call_site by, bool of_domain = false)
	{
		of.before_inner(by);
		if (current_context() == context::nmi)
			return;
		if (!kernel_lock_order()) {
			noted = &of;
			spins_held.note(noted, of.label(), by);
			return;
		}
		mine = of_domain ? note_domain(by) : note_inner(of, by);
		if (mine.at)
			mine.order->on_taken(mine.place(), false);
	}
	~inner_seen()
	{
		note_gone(mine);
		if (noted)
			spins_held.forget(noted);
	}
	inner_seen(const inner_seen &) = delete;
	inner_seen &operator=(const inner_seen &) = delete;

      private:
	static noted_place note_inner(const lock_usage &of, call_site by)
	{
		/* An address in the lock, but not the first, which its holder's
		 * entry has. */
		const void *const address =
			reinterpret_cast<const char *>(&of) + 1;

		return note_wait([&] {
			const char *const name = of.label().name;

			return wanted_lock{address,
					   {name, lock_label::inner},
					   by,
					   false,
					   false};
		});
	}

	/* A member, as on_wait() may throw, in a test's panic. */
	irqs_off_if irqs{true};
	noted_place mine = {};
	/* noted in spins_held, if there is no order; it may be gone */
	const lock_usage *noted = nullptr;
};

namespace detail {
/* Reports a guard that is used as if it held its lock. name: the lock's, or
 * "guard". */
[[gnu::noinline]] inline void complain_of_guard(const char *name,
						const char *what, call_site by)
{
	report_misuse(name, nullptr, misuse_at(what, by).c_str());
}

/* The place of shared_usage in a lock without readers. */
struct no_shared_usage {
	bool is_mine() const { return false; }
	bool is_read() const { return false; }
	call_site last() const { return {}; }
};

template <typename L>
struct shared_usage_for {
	using type = no_shared_usage;
	static constexpr u64 readers = 0;
	static constexpr bool nests = false;
	static constexpr bool contends = false;
};
/* Reads nest in a lock that is indexed by CPU, and in a gate. */
template <shared_lockable L>
struct shared_usage_for<L> {
	using type = shared_usage;
	static constexpr u64 readers = L::max_readers;
	static constexpr bool nests =
		cpu_shared_lock<L> || requires { requires L::is_gate; };
	/* Whether readers and writers share one capacity. */
	static constexpr bool contends =
		requires { requires L::readers_contend; };
};
} // namespace detail

/*
 * checked_parts - the types that checked_lock is put together with
 */

/* A lock's name, as a template argument. */
template <usize Size>
struct lock_name {
	char chars[Size];

	consteval lock_name(const char (&from)[Size])
	{
		for (usize i = 0; i < Size; i++)
			chars[i] = from[i];
	}
};
template <usize Size>
lock_name(const char (&)[Size]) -> lock_name<Size>;

template <typename T>
struct seq_lock;

namespace detail {
template <typename>
inline constexpr bool is_seq_lock = false;
template <typename T>
inline constexpr bool is_seq_lock<seq_lock<T>> = true;

template <typename L>
concept checkable = any_lock<L> || is_seq_lock<L> || sleeping<L>;
/* A type that threads wait for and that has no holder: a semaphore, a
 * condition, ... */
template <typename L>
concept awaited = sleeping<L> && !any_lock<L>;
} // namespace detail

/* The name is in the type, or set at run time (set_name), or there is none. */
template <detail::checkable L, lock_name... Name>
struct checked_lock;

namespace detail {
/* Members that only some locks have; a checked_lock of these has them, too. */
struct no_node {};

template <typename L>
struct nodes_of {
	using lent_type = no_node;
};
template <node_lock L>
struct nodes_of<L> {
	using node = typename L::node;
	using lent_type = node;
	static constexpr bool node_may_live_on_stack = stack_node_lock<L>;
};

template <typename L>
struct constants_of {};
template <typename L>
	requires requires { L::default_base; }
struct constants_of<L> {
	static constexpr auto default_base = L::default_base;
};

/* One of two types: the second where checks are on. */
template <bool Checks, typename Unchecked, typename Checked>
struct chosen {
	using type = Unchecked;
};
template <typename Unchecked, typename Checked>
struct chosen<true, Unchecked, Checked> {
	using type = Checked;
};

template <typename L>
struct contends_of {};
template <typename L>
	requires requires { L::readers_contend; }
struct contends_of<L> {
	static constexpr bool readers_contend = L::readers_contend;
};

/* The nodes that a CPU has for all locks of a type. */
template <typename L>
struct cpus_of {};
template <per_cpu_lock L>
struct cpus_of<L> {
	[[nodiscard]] static bool has_node(unsigned cpu)
	{
		return L::has_node(cpu);
	}
	[[nodiscard]] static bool is_clean(unsigned cpu)
	{
		return L::is_clean(cpu);
	}
	static void forget_waits(unsigned cpu) { L::forget_waits(cpu); }
};

/*
 * A constructor's argument that is not for the lock inside: its name, and
 * hash_of() that, or 0. A lock_name is not compared with null: with
 * -fno-delete-null-pointer-checks, which -fsanitize=undefined implies, GCC does
 * not do so in a constant.
 */
struct named {
	constexpr named() = default;
	constexpr explicit named(const char *text)
	    : name(text), hash(lock_label::hash_of(text))
	{
	}
	template <usize Size>
	constexpr explicit named(const lock_name<Size> &its)
	    : name(its.chars), hash(lock_label::hash_of_chars(its.chars))
	{
	}

	const char *name = nullptr;
	u32 hash = 0;
};

/* Not taken_already: the checks would not know the holder. */
template <typename L, typename... From>
concept made_of = requires(From... from) { L(from...); } &&
		  !is_one_of<taken_already, From...>;
} // namespace detail

/*
 * checked_calls - functions for any lock, which do something if it is checked
 *
 * Part of <klock/checked_lock.hpp>, and of <klock/counted_lock.hpp>, whose
 * locks have names, too: include those. They compile, and do nothing, for a
 * lock without checks.
 */

/*
 * Names a lock at run time, before others use it; the text must live as long as
 * the lock, unchanged. With a number it names an element of an array:
 * "runqueue[3]". Takes any lock, also one in an irq_lock, and a semaphore,
 * completion, condition or wait_queue. Does nothing if it is not checked.
 */
template <typename L>
	requires(any_lock<detail::inside<L>> || sleeping<L>)
void set_name(L &lock, const char *name)
{
	if constexpr (requires { lock.set_name(name); })
		lock.set_name(name);
}
template <typename L>
	requires(any_lock<detail::inside<L>> || sleeping<L>)
void set_name(L &lock, const char *name, u32 element)
{
	if constexpr (requires { lock.set_name(name, element); })
		lock.set_name(name, element);
}

/*
 * Panics unless the caller holds the lock. Does nothing if it is not checked.
 * In any context.
 */
template <typename L>
	requires any_lock<detail::inside<L>>
void assert_held(const L &lock, call_site by = caller_site())
{
	if constexpr (requires { lock.assert_held(by); })
		lock.assert_held(by);
}

} // namespace klock

namespace klock::detail {

/* A timed_lock (too_long.hpp). */
template <typename L>
concept notes_times = requires { typename L::timed; };

/* While it lives, the caller waits for this lock, which knows its owner. */
struct wanted_mutex {
	wanted_mutex(const lock_usage &lock, call_site by)
	{
		mutexes_waited_for.note(thread, &lock, lock.label(), by);
	}
	~wanted_mutex() { mutexes_waited_for.forget(thread); }
	wanted_mutex(const wanted_mutex &) = delete;
	wanted_mutex &operator=(const wanted_mutex &) = delete;

	/* Calls link(thread, mutex) with the checked mutex around it. */
	template <typename Link>
	static auto with_outer(Link &link, call_site by)
	{
		return [&link, by](const inheriting_thread &waits,
				   const void *mutex) {
			const auto *const its = mutexes_waited_for.of(&waits);
			const domain_held inside(by);

			link(waits, its ? its->lock.load_relaxed() : mutex);
		};
	}

      private:
	const void *thread = klock_os_inheriting_thread();
};
/* Any other lock. */
struct no_wanted_mutex {
	no_wanted_mutex(const lock_usage &, call_site) {}
};

/* Reports a wait that such a lock refuses: inheriting_mutex.hpp, lock(). */
struct refused_wait {
	/* walk(link) calls link(thread, mutex) for each that waits. */
	template <typename Walk>
	[[gnu::noinline]] void refused(wait_result why, Walk walk) const
	{
		bounded_text<1024> text;

		text.add(why == wait_result::deadlock ? "deadlock"
						      : waits_too_deep);
		text.add("; at ").add(by);
		walk([&](const auto &waits, const void *mutex) {
			add(text, &waits, mutex);
		});
		usage.say(text);
	}

	template <usize Size>
	static void add(bounded_text<Size> &text, const void *thread,
			const void *mutex)
	{
		const mutex_wanted *const its = mutexes_waited_for.of(thread);

		text.add("; thread ").add_hex(reinterpret_cast<usize>(thread));
		text.add(" waits for ");
		if (!its) {
			text.add_hex(reinterpret_cast<usize>(mutex));
			return;
		}
		text.add(its->at.label()).add(" (");
		text.add_hex(reinterpret_cast<usize>(its->lock.load_relaxed()));
		text.add(") at ").add(its->at.site());
	}

	const lock_usage &usage;
	call_site by;
};

/* The checks before and after each verb of the lock inside. */
template <any_lock L>
struct checked_core {
	using lent_node = typename nodes_of<L>::lent_type;
	using shared = detail::shared_usage_for<L>;

	/* Nested reads have no limit. */
	static constexpr u64 room_for_reads =
		shared::nests ? ~u32{0} : shared::readers;

	constexpr checked_core() = default;
	template <typename... From>
	constexpr explicit checked_core(named of, From... from)
	    : usage(of.name, of.hash), inner(from...)
	{
	}

	using mutex_here = typename chosen<owned_lock<L>, no_wanted_mutex,
					   wanted_mutex>::type;

	/* A wait without end; a lock that refuses one says it by names. */
	template <typename Verb, typename... With>
	void lock_inner(Verb verb, [[maybe_unused]] call_site by, With &...with)
	{
		if constexpr (owned_lock<L> && sizeof...(With) == 0) {
			refused_wait refuses{usage, by};

			verb.call(inner, refuses);
		} else {
			verb.call(inner, with...);
		}
	}

	/* The number or node that lock() and unlock() must both be given. */
	static usize key(unsigned number) { return number; }
	static usize key(const lent_node &with)
	{
		return reinterpret_cast<usize>(&with);
	}
	struct may_upgrade {};
	static usize key(may_upgrade) { return lock_usage::upgradable; }

	template <typename With, typename Lock>
	void take(With &&with, call_site by, Lock lock_inner)
	{
		(void)take_until(with, by, [&] { return lock_inner(), true; });
	}

	/*
	 * The holder of a recursive_lock takes it once more, in the context in
	 * which it took it first: checks have nothing to say.
	 */
	bool takes_again([[maybe_unused]] call_site by) const
	{
		if constexpr (!recursive<L>) {
			return false;
		} else {
			if (!is_mine())
				return false;
			if (!usage.is_taken_here())
				usage.complain("taken again in another context "
					       "than its holder took it in",
					       by);
			return true;
		}
	}
	/* Whether the release leaves the lock held. */
	bool stays_held() const
	{
		if constexpr (recursive<L>)
			return is_mine() && usage.is_taken_here() &&
			       inner.depth() > 1;
		else
			return false;
	}

	template <typename With, typename Try>
	bool try_take(With &&with, call_site by, Try try_inner)
	{
		check_context(by);
		if (!usage.before_try_lock(L::max_contenders, by))
			return false;
		return taken_or_not(with, by, note_tried(by), try_inner);
	}

	/* Waits by tries, and may give up. */
	template <typename With, typename Again, typename Try>
	bool ask_inner(With &&with, call_site by, Again again, Try try_inner)
	{
		check_context(by);
		check_upgrade(by);
		const noted_place mine = note_wanted(by);

		if (again([&] {
			    return usage.before_try_lock(L::max_contenders, by);
		    }))
			return taken_or_not(with, by, mine,
					    [&] { return again(try_inner); });
		note_gone(mine);
		return false;
	}

	/* Waits, and may give up. */
	template <typename With, typename Try>
	bool take_until(With &&with, call_site by, Try try_inner)
	{
		check_context(by);
		check_may_sleep(by);
		check_upgrade(by);
		usage.before_wait(by, true, true, may_be_mine());
		const noted_place mine = note_wanted(by);
		const u32 departed = usage.count_in(L::max_contenders, by);
		[[maybe_unused]] const mutex_here wanted(usage, by);
		return taken_or_not(with, by, mine, try_inner, departed);
	}

	/* take_until(), by a wait that says why it ended. */
	template <typename Wait>
	wait_result take_until_told(call_site by, Wait wait)
	{
		auto why = wait_result::had;

		(void)take_until(0u, by, [&] {
			why = wait();
			return why == wait_result::had;
		});
		return why;
	}

	template <typename With, typename Try>
	bool taken_or_not(With &with, call_site by, noted_place mine,
			  Try try_inner, u32 departed = lock_usage::unknown)
	{
		lend(with, by);
		if (try_inner()) {
			const bool waited = may_have_waited(departed);

			note_writer(with, by);
			note_taken(mine, by, waited);
			return true;
		}
		give_back_number(with);
		give_back(with);
		usage.count_out();
		note_gone(mine);
		return false;
	}

	/* Whether the caller, which has the lock, may have waited for it since
	 * count_in() returned that. Readers and a holder that has ended do not
	 * depart. A release that has begun counts as one that is over. */
	bool may_have_waited(u32 departed) const
	{
		return shared::readers != 0 || holder_died() ||
		       usage.has_waited(departed);
	}

	/* Checks a release by the holder; a reader has another verb. */
	void before_leaving(usize with, call_site by, const char *verb)
	{
		if (readers.is_mine() && !usage.is_held_by_me())
			usage.complain_of_reader(" by a caller that holds it "
						 "for reading",
						 by, readers.last(), verb);
		usage.before_unlock(with, by, sleeping<L>, verb);
	}

	/* After unlock_inner() the lock may be gone. */
	template <typename With, typename Unlock>
	void release(With &&with, call_site by, Unlock unlock_inner)
	{
		usage.check_memory(by, sleeping<L>);
		if constexpr (sleeping<L>)
			usage.before_inner(by);
		before_leaving(key(with), by,
			       same_as<With, may_upgrade>
				       ? "unlock_upgradable()"
				       : "unlock()");
		const noted_place mine = note_leaving();
		give_back_number(with);
		over_inner(by, unlock_inner);
		give_back(with);
		note_gone(mine);
	}

	/* Releases it; where waiters sleep, this may unpark one. */
	template <typename Release>
	void over_inner([[maybe_unused]] call_site by, Release release) const
	{
		if constexpr (sleeping<L>) {
			const inner_seen seen(usage, by, owned_lock<L>);

			release();
		} else {
			release();
		}
	}

	/* An upgradable holder counts as two contenders until it upgrades or
	 * unlocks. */
	void take_upgradable(call_site by)
	{
		usage.check_memory(by, sleeping<L>);
		(void)usage.count_in(L::max_contenders, by);
		take(may_upgrade{}, by, [this] { inner.lock_upgradable(); });
		note_mode(by, false, true);
	}
	bool try_take_upgradable(call_site by)
	{
		usage.check_memory(by, sleeping<L>);
		if (!usage.before_try_lock(L::max_contenders, by))
			return false;
		if (try_take(may_upgrade{}, by,
			     [this] { return inner.try_lock_upgradable(); })) {
			note_mode(by, false, true);
			return true;
		}
		usage.count_out();
		return false;
	}
	template <typename Try>
	bool upgrade_by(call_site by, Try try_inner)
	{
		usage.check_memory(by, sleeping<L>);
		check_upgrade(by);
		usage.before_upgrade(by);
		if (!try_inner())
			return false;
		check_alone(by);
		usage.note_upgraded();
		note_mode(by, false);
		return true;
	}

	void check_context(call_site by) const
	{
		usage.check_memory(by, sleeping<L>);
		if constexpr (sleeping<L>) {
			note_sleepers();
			usage.before_inner(by);
		}
		if constexpr (thread_only_lock<L>)
			usage.before_taken_in_thread(by);
		if constexpr (requires { inner.owner_died(); })
			if (has_ended(*klock_os_inheriting_thread()))
				usage.complain("taken by a thread that has "
					       "ended",
					       by);
	}
	/* The next owner does not wait for that thread. The thread's type is
	 * complete if L uses it. */
	template <typename Thread>
	static bool has_ended(const Thread &one)
	{
		return one.ended.get();
	}

	/* Whether it says that nobody has ever taken or read it. */
	bool is_untaken() const
	{
		return usage.is_untaken() && !readers.last().file;
	}

	/*
	 * The caller got the lock to write, and nobody else may hold it. If it
	 * says that nobody has ever taken it, it may have been made anew while
	 * it was held, and the order still has its holder. That is no holder
	 * that has just released it: its note was removed before the release,
	 * which the caller has acquired. Without an order, a look at all places
	 * of spins_held would be 256 loads: the release finds it.
	 */
	void check_alone(call_site by) const
	{
		if (readers.is_read())
			usage.complain(
				"a reader is inside, too: the lock is broken",
				by);
		if (usage.is_untaken() && kernel_lock_order())
			usage.check_lost(by, false, sleeping<L>);
	}

	/* A reader that waits to become the writer waits for itself. */
	void check_upgrade(call_site by) const
	{
		if (readers.is_mine())
			complain_of_reader("upgrade: the caller already holds "
					   "it for reading",
					   by);
	}

	void check_may_sleep(call_site by) const
	{
		if constexpr (sleeping<L>) {
			usage.before_sleep(by);
			check_no_spin(&usage, sleeps_with_a_spin, by);
		}
	}

	/* -- Bounds checks: return false even after the first report, so that
	 * no access is out of bounds. -- */

	/* Whether this CPU has a node for the caller to wait with. */
	bool check_node(unsigned cpu, call_site by) const
	{
		const bool right = L::has_node(cpu);

		if (!right)
			usage.complain(
				"a CPU number beyond the lock's capacity, or "
				"more waits at once than a CPU has nodes",
				by);
		return right;
	}

	bool check_number(unsigned number, call_site by) const
	{
		return is_below(L::max_contenders, number, by);
	}

	bool check_reader(unsigned number, call_site by) const
	{
		return is_below(shared::readers, number, by);
	}

	bool is_below(u64 limit, unsigned number, call_site by) const
	{
		if (number >= limit)
			usage.complain(
				"a CPU number beyond the lock's capacity", by);
		return number < limit;
	}

	/* Whether the caller holds it, or code that the caller interrupted. */
	bool is_mine() const { return usage.is_held_by_me() && may_be_mine(); }
	/* False: a thread that ended had the caller's number, and L knows which
	 * of the two holds it. */
	bool may_be_mine() const
	{
		if constexpr (!requires { inner.owner_died(); })
			return true;
		else if constexpr (recursive<L>)
			return inner.depth();
		else
			return inner.is_owned_by_me();
	}
	void assert_held(call_site by) const
	{
		usage.assert_held(by, may_be_mine());
	}

	bool holder_died() const
	{
		if constexpr (requires { inner.owner_died(); })
			return inner.owner_died();
		else
			return false;
	}

	/* The caller got the lock with this number or node, alone or among
	 * readers. */
	template <typename With>
	void note_writer(const With &with, call_site by)
	{
		if constexpr (!same_as<With, may_upgrade>)
			check_alone(by);
		usage.after_lock(key(with), by, cpu_lock<L>, sleeping<L>,
				 holder_died());
	}

	template <typename Lock>
	void read(unsigned number, call_site by, Lock lock_inner)
	{
		check_context(by);
		check_may_sleep(by);
		check_read_number(number, by);
		usage.before_wait(by, !shared::nests);
		check_read_recursion(by);
		const noted_place mine = note_wanted(by, true);
		if constexpr (shared::contends)
			(void)usage.count_in(L::max_contenders, by);
		else
			count_reader_in(by);
		lock_inner();
		note_reader(number, by);
		note_taken(mine, by);
	}

	void check_read_recursion(call_site by) const
	{
		if (!shared::nests && readers.is_mine())
			complain_of_reader("read recursion: the caller already "
					   "holds it for reading",
					   by);
	}

	/* Reports a reader's misuse, with the line of the last reader. */
	void complain_of_reader(const char *what, call_site by) const
	{
		usage.complain_of_reader(what, by, readers.last());
	}

	/* waits: try_inner() waits until a deadline. */
	template <typename Try>
	bool try_read(unsigned number, call_site by, Try try_inner,
		      bool waits = false)
	{
		check_context(by);
		if (waits)
			check_may_sleep(by);
		check_read_number(number, by);
		if (cpu_shared_lock<L> && current_context() == context::nmi)
			usage.complain("read in an NMI handler, which must not "
				       "read this lock",
				       by);
		if constexpr (shared::contends) {
			if (!usage.before_try_lock(L::max_contenders, by,
						   !shared::nests))
				return false;
		} else {
			usage.before_try(by, !shared::nests);
			count_reader_in(by);
		}
		const noted_place mine =
			waits ? note_wanted(by, true) : note_tried(by, true);
		if (!try_inner()) {
			count_reader_out();
			note_gone(mine);
			return false;
		}
		note_reader(number, by);
		note_taken(mine, by);
		return true;
	}

	void count_reader_in(call_site by)
	{
		if (!readers.count_in(room_for_reads))
			usage.complain(
				"more readers than the lock has room for", by);
	}

	void count_reader_out()
	{
		if constexpr (shared::contends)
			usage.count_out();
		else
			readers.count_out();
	}

	/* The caller got the lock to read, under this number. */
	void note_reader(unsigned number, call_site by)
	{
		if constexpr (shared::contends)
			usage.clear_left();
		readers.note(number, by, sleeping<L>);
	}

	/* After unlock_inner() the lock may be gone. */
	template <typename Unlock>
	void release_shared(unsigned number, call_site by, Unlock unlock_inner)
	{
		usage.check_memory(by, sleeping<L>);
		if constexpr (sleeping<L>)
			usage.before_inner(by);
		if (const char *const wrong = readers.forget(number)) {
			if (is_untaken())
				usage.check_lost(by, true, sleeping<L>);
			complain_of_reader(wrong, by);
		}
		count_reader_out();
		usage.before_try(by, !shared::nests);
		const noted_place mine = note_leaving();
		over_inner(by, unlock_inner);
		note_gone(mine);
	}

	/* -- Each step is reported to the lock order, if the kernel has one:
	 * lock_order.hpp. -- */

	/* The caller is about to wait; takes: it will hold the lock then. */
	noted_place note_wanted(call_site by, bool reads = false,
				bool takes = true) const
	{
		return note_wait([&] {
			wanted_lock want = wanted(by, reads);

			want.looks = !takes;
			return want;
		});
	}

	/* The caller tries and does not wait. */
	noted_place note_tried(call_site by, bool reads = false) const
	{
		lock_order *const order = kernel_lock_order();

		if (!order)
			return {};
		return {order->on_try(*order, wanted(by, reads)), order};
	}

	/* The caller holds the lock. */
	void note_taken(noted_place mine, call_site by,
			bool waited = true) const
	{
		if (mine.at)
			mine.order->on_taken(mine.place(), waited);
		else if (!sleeping<L> && !mine.order && !is_half())
			spins_held.note(&usage, usage.label(), by);
	}

	/* The holder reads from here on, or writes; or may upgrade. */
	void note_mode(call_site by, bool reads, bool upgradable = false) const
	{
		lock_order *const order = kernel_lock_order();
		wanted_lock now = wanted(by, reads);

		now.upgradable = upgradable;
		if (order)
			order->on_mode(*order, now);
	}

	/* Whether it is the gate of an irq_shared_lock whose writer holds the
	 * other lock, which is noted. */
	static bool is_half()
	{
		return requires { requires L::is_gate; } &&
		       current_context() == context::thread;
	}

	/* The caller begins to release the lock, which may not outlive that. */
	noted_place note_leaving() const
	{
		lock_order *const order = kernel_lock_order();

		if (!sleeping<L> && !order)
			spins_held.forget(&usage);
		if (!order)
			return {};
		return {order->on_leave(*order, &usage), order};
	}

	wanted_lock wanted(call_site by, bool reads) const
	{
		wanted_lock want = {&usage, usage.label(), by,
				    reads,  shared::nests, sleeping<L>};

		want.name_hash = usage.name_hash();
		if constexpr (requires { requires L::is_gate; })
			want.label.element_plus_1 = lock_label::gate;
		if constexpr (requires { inner.owner_died(); })
			want.thread = klock_os_inheriting_thread();
		return want;
	}

	/* Locks taken in take_it() are ordered after `lower`, by address. */
	template <typename Take>
	void after_lower(const void *lower, Take take_it) const
	{
		lock_order *const order = kernel_lock_order();

		if (!order)
			return take_it();
		const address_pair before = order->on_pair(
			*order, {reinterpret_cast<usize>(lower),
				 reinterpret_cast<usize>(&usage), sleeping<L>});
		take_it();
		(void)order->on_pair(*order, before);
	}

	/* Checks that no other CPU reads under this number. */
	void check_read_number([[maybe_unused]] unsigned number,
			       [[maybe_unused]] call_site by) const
	{
		if constexpr (cpu_shared_lock<L>)
			if (readers.is_of_another(number))
				complain_of_reader("this CPU number is in use "
						   "by another CPU's reader",
						   by);
	}

	/*
	 * The address that a node or number has in nodes_in_use; 0: none. A
	 * number's is that of the byte of this lock with that number, which no
	 * node and no other lock has. A lock of fewer bytes than CPUs checks
	 * the numbers that fit.
	 */
	usize lent_as(unsigned number) const
	{
		return cpu_lock<L> && number < sizeof(checked_core)
			       ? reinterpret_cast<usize>(this) + number
			       : 0;
	}
	static usize lent_as(may_upgrade) { return 0; }
	static usize lent_as(const lent_node &with) { return key(with); }

	template <typename With>
	void lend(const With &with, call_site by) const
	{
		const usize address = lent_as(with);

		if (address && !nodes_in_use.lend(address))
			usage.complain(
				same_as<With, lent_node>
					? "this node is already in use"
					: "this CPU number is already in use",
				by);
	}
	/* Gives a node back after the release, which uses it; the lock may be
	 * gone. */
	template <typename With>
	static void give_back(const With &with)
	{
		if constexpr (same_as<With, lent_node>)
			nodes_in_use.give_back(lent_as(with));
	}
	/* Gives a number back before the release, as another thread of this CPU
	 * may use it right after that. */
	template <typename With>
	void give_back_number(const With &with) const
	{
		if constexpr (same_as<With, unsigned>)
			if (const usize address = lent_as(with))
				nodes_in_use.give_back(address);
	}

	/* -- Passed to a counted lock inside (counted_lock.hpp), if any -- */

	void list_counts()
	{
		if constexpr (requires { inner.list_counts(); })
			inner.list_counts();
	}
	void forget_counts()
	{
		if constexpr (requires { inner.forget_counts(); })
			inner.forget_counts();
	}
	template <typename... Element>
	void name_it(const char *name, Element... element)
	{
		usage.set_name(name, element...);
		if constexpr (requires { inner.set_name(name, element...); })
			inner.set_name(name, element...);
	}

	/* The first member: its address is the lock's. */
	lock_usage usage;
	[[no_unique_address]] typename shared::type readers;
	L inner;
};

} // namespace klock::detail
