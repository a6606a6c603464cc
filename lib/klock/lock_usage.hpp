/* SPDX-License-Identifier: MIT */
/*
 * lock_usage - what a checked lock knows of its use, and what it says of misuse
 *
 * Why no interrupt comes too early or too late to be noted: "interrupts on" is
 * noted before the lock is touched, and at the unlock as well. A handler that
 * interrupts its own CPU
 *	- before that note: finds the lock untouched by this CPU and goes on;
 *	  then the note finds the handler's
 *	- after it, be it before the ticket, in the wait, before the holder is
 *	  noted, in the critical section or in unlock(): finds the note
 * Two CPUs that note at the same time may miss each other; neither then waits
 * for what it interrupted, and whoever does sees its own CPU's note.
 *
 * Why unlock() may be a lock's last use: it notes that the holder leaves, and
 * then releases the lock inside, whose memory may be gone with that. So nobody
 * can note that it has left. It counts as a contender until the next holder is
 * noted: see count_in().
 *
 * Everything is relaxed. The holder alone writes what the checks compare;
 * whoever asks whether it is the holder itself reads what it wrote itself; what
 * another CPU noted meanwhile may be missed, and is seen by the next.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/irq.hpp>
#include <klock/misuse_text.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * A call site that other CPUs read for their reports. One that is being
 * written meanwhile may be reported with another's line: it is a hint to
 * people, and decides nothing.
 */
struct noted_site {
	/* The file last: whoever sees it on this CPU sees the rest. */
	void note(call_site at)
	{
		on_cpu.store_relaxed(cpu_id());
		line.store_relaxed(static_cast<u32>(at.line));
		file.store_relaxed(at.file);
	}

	[[nodiscard]] call_site get() const
	{
		return {file.load_relaxed(),
			static_cast<int>(line.load_relaxed())};
	}

	[[nodiscard]] u32 cpu() const { return on_cpu.load_relaxed(); }
	[[nodiscard]] bool empty() const { return !file.load_relaxed(); }

      private:
	/* null: nothing noted yet */
	atomic<const char *> file;
	/* meaningless without file */
	atomic<u32> line;
	atomic<u32> on_cpu;
};

/*
 * One lock's: who holds it since when, how many contend, in which contexts it
 * was taken. All zero bytes: a lock without a name that nobody has used.
 */
struct lock_usage {
	constexpr lock_usage() = default;
	constexpr explicit lock_usage(const char *of) : name(of) {}

	/* Not copied: it must live as long as the lock. */
	void set_name(const char *to) { name.store_relaxed(to); }
	void set_name(const char *to, u32 element)
	{
		name.store_relaxed(to);
		index_plus_1.store_relaxed(element + 1);
	}

	[[nodiscard]] lock_label label() const
	{
		return {name.load_relaxed(), index_plus_1.load_relaxed()};
	}

	/* -- What a lock's operations say, before and after ------------------
	 */

	/* Who is about to take or try a lock of threads alone. */
	void before_taken_in_thread(call_site by) const
	{
		if (current_context() != context::thread)
			complain("taken in a handler, but it is a lock of "
				 "threads alone",
				 by);
	}

	/* Who is about to wait for it. */
	void before_wait(call_site by)
	{
		const context here = current_context();

		if (here == context::nmi)
			complain("lock() in an NMI handler, which may only "
				 "try_lock()",
				 by);
		if (here == context::interrupt)
			note_handler(by);
		note_interrupts_on(here, by);
		if (is_held_by_me())
			complain("recursion: the caller holds it", by);
	}

	/* The same; a reader whom others count, not. */
	void count_in(u64 capacity, call_site by)
	{
		const u32 found = contenders.fetch_add_relaxed(1);

		if (is_unclear(found, capacity))
			count_in_later(capacity, by);
		else
			check_crowd(found, capacity, by);
	}

	/*
	 * Such a reader is in, and stays counted: the last writer has left for
	 * good, and nobody waits to be told so by the next.
	 */
	void is_read() { contenders.fetch_and_relaxed(~left); }

	/* A reader that does not wait. */
	void before_try(call_site by)
	{
		note_interrupts_on(current_context(), by);
	}

	/* Returns false where it is about to be taken by others, all of them */
	[[nodiscard]] bool before_try_lock(u64 capacity, call_site by)
	{
		note_interrupts_on(current_context(), by);

		const u32 found = contenders.fetch_add_relaxed(1);
		if (!is_unclear(found, capacity)) {
			check_crowd(found, capacity, by);
			return true;
		}
		count_out();
		return false;
	}

	/* Counts out who has tried in vain. */
	void count_out() { contenders.fetch_add_relaxed(~u32{0}); }

	/* The caller is the holder now, by this number or node. */
	void after_lock(usize with, call_site by)
	{
		const u32 before = contenders.load_relaxed() & (held | left);

		if (before == held)
			complain("two holders: the lock let in a second one",
				 by);
		taken.note(by);
		taken_with.store_relaxed(with);
		owner_plus_1.store_relaxed(owner_id() + 1);
		contenders.fetch_add_relaxed(held - before - 1);
	}

	/* After this the lock is released, and this is touched no more. */
	void before_unlock(usize with, call_site by)
	{
		if (!is_held())
			complain("unlock of a free lock", by);
		if (!is_held_by_me())
			complain("unlock by another than its holder", by);
		if (taken_with.load_relaxed() != with)
			complain("unlock with another number or node than "
				 "lock's",
				 by);
		note_interrupts_on(current_context(), by);
		owner_plus_1.store_relaxed(nobody);
		contenders.fetch_add_relaxed(left - held);
	}

	[[nodiscard]] bool is_held_by_me() const
	{
		return owner_plus_1.load_relaxed() == owner_id() + 1;
	}

	[[noreturn, gnu::noinline]] void complain(const char *what,
						  call_site by) const
	{
		misuse_text text;

		text.add(what).add("; at ").add(by);
		add_holder(text);
		say(text);
	}

      private:
	static constexpr usize nobody = 0;

	/* Of `contenders`: who waits, and what the last holder is about. */
	static constexpr u32 waiters = (u32{1} << 30) - 1;
	static constexpr u32 held = u32{1} << 30;
	static constexpr u32 left = u32{1} << 31;

	[[nodiscard]] bool is_held() const
	{
		return owner_plus_1.load_relaxed() != nobody;
	}

	/* -- Interrupts ------------------------------------------------------
	 */

	/* In an NMI handler the flag says nothing: no interrupt comes there. */
	void note_interrupts_on(context here, call_site by)
	{
		if (here == context::nmi || !irqs_enabled())
			return;
		if (open.empty())
			open.note(by);
		if (!in_handler.empty())
			complain_of_interrupts(by);
	}

	void note_handler(call_site by)
	{
		if (in_handler.empty())
			in_handler.note(by);
		if (!open.empty())
			complain_of_interrupts(by);
	}

	/* -- Capacity --------------------------------------------------------
	 */

	/*
	 * The last holder has left, or is about to, and all others that the
	 * lock has room for are counted: is there room for one more? The next
	 * holder says that.
	 */
	static bool is_unclear(u32 word, u64 capacity)
	{
		return (word & left) && (word & waiters) + 1 == capacity &&
		       capacity > 1;
	}

	/* Those ahead of it are counted, so one of them goes on. */
	[[gnu::noinline]] void count_in_later(u64 capacity, call_site by)
	{
		u32 found;

		count_out();
		do {
			found = contenders.await_relaxed([capacity](u32 now) {
				return !is_unclear(now, capacity);
			});
		} while (
			!contenders.compare_exchange_relaxed(found, found + 1));
		check_crowd(found, capacity, by);
	}

	/* found: what was there before the caller was counted in */
	void check_crowd(u32 found, u64 capacity, call_site by)
	{
		const u64 ahead = (found & waiters) + (found & held ? 1 : 0);

		if (ahead < capacity)
			return;
		count_out();
		complain("more contenders than its capacity", by);
	}

	/* -- Reports ---------------------------------------------------------
	 */

	[[noreturn, gnu::noinline]] void
	complain_of_interrupts(call_site by) const
	{
		misuse_text text;

		text.add("held or waited for with interrupts on at ")
			.add(open.get())
			.add(", but waited for in an interrupt handler at ")
			.add(in_handler.get())
			.add("; found at ")
			.add(by);
		say(text);
	}

	void add_holder(misuse_text &text) const
	{
		const usize owner = owner_plus_1.load_relaxed();

		if (owner == nobody) {
			text.add("; last taken at ").add(taken.get());
			return;
		}
		text.add("; held by CPU ").add(taken.cpu());
		if (owner - 1 != taken.cpu())
			text.add(" (owner ").add_hex(owner - 1).add(")");
		text.add(", taken at ").add(taken.get());
	}

	[[noreturn]] void say(const misuse_text &text) const
	{
		bounded_text<80> known;

		panic(known.add(label()).c_str(), this, cpu_id(), text.c_str());
	}

	/* null: "lock" */
	atomic<const char *> name;
	/* Which of an array it is; 0: of none. */
	atomic<u32> index_plus_1;
	/* Those that wait, and readers that contend and are in; held or left:
	 * what the last holder has done. */
	atomic<u32> contenders;
	/* Who holds it; 0: nobody. */
	atomic<usize> owner_plus_1;
	/* Its number or its node. */
	atomic<usize> taken_with;
	/* Where it was taken last. */
	noted_site taken;
	/* Where it was held or waited for with interrupts on, first. */
	noted_site open;
	/* Where an interrupt handler waited for it, first. */
	noted_site in_handler;
};

} // namespace klock
