/* SPDX-License-Identifier: MIT */
/*
 * lock_usage - what a checked lock knows of its use, and what it says of misuse
 *
 * The text of a panic is put together on the stack of the CPU that found the
 * misuse: no heap, no buffer that two CPUs could share, at most `size`
 * characters.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/* A text that grows, and is cut where its room ends. */
struct misuse_text {
	static constexpr usize size = 256;

	misuse_text &add(const char *more)
	{
		while (*more && length < size - 1)
			chars[length++] = *more++;
		chars[length] = 0;
		return *this;
	}

	misuse_text &add(u32 number)
	{
		char digits[11];
		char *at = digits + sizeof(digits) - 1;

		*at = 0;
		do {
			*--at = static_cast<char>('0' + number % 10);
			number /= 10;
		} while (number);
		return add(at);
	}

	/* file:line */
	misuse_text &add(call_site at)
	{
		if (!at.file)
			return add("(nowhere)");
		return add(at.file).add(":").add(static_cast<u32>(at.line));
	}

	const char *c_str() const { return chars; }

      private:
	usize length = 0;
	char chars[size] = {};
};

/*
 * A call site that other CPUs read for their reports. One that is being
 * written meanwhile may be reported with another's line: it is a hint to
 * people, and decides nothing.
 */
struct noted_site {
	void note(call_site at)
	{
		file.store_relaxed(at.file);
		line.store_relaxed(static_cast<u32>(at.line));
	}

	[[nodiscard]] call_site get() const
	{
		return {file.load_relaxed(),
			static_cast<int>(line.load_relaxed())};
	}

	[[nodiscard]] bool empty() const { return !file.load_relaxed(); }

      private:
	/* null: nothing noted yet */
	atomic<const char *> file;
	/* meaningless without file */
	atomic<u32> line;
};

/*
 * One lock's: who holds it since when, how many contend, in which contexts it
 * was taken. Everything is relaxed: the holder alone writes what the checks
 * compare, and a CPU that asks whether it is the holder itself reads what it
 * wrote itself.
 */
struct lock_usage {
	struct facts {
		const char *name;
		u64 capacity;
	};

	/* Who is about to wait for it. */
	void before_lock(const facts &of, call_site by)
	{
		const context here = current_context();

		if (here == context::nmi)
			complain(of,
				 "lock() in an NMI handler, which may only "
				 "try_lock()",
				 by);
		if (holder.load_relaxed() == cpu_id() + 1)
			complain(of, "recursion: this CPU holds it", by);
		if (here == context::interrupt)
			note_handler(of, by);
		before_try_lock(of, by);
	}

	void before_try_lock(const facts &of, call_site by)
	{
		if (contenders.fetch_add_relaxed(1) >= of.capacity)
			complain(of, "more contenders than its capacity", by);
	}

	/* The caller is the holder now. */
	void after_lock(const facts &of, call_site by)
	{
		taken.note(by);
		holder.store_relaxed(cpu_id() + 1);
		if (!irqs_enabled() || current_context() != context::thread)
			return;
		if (open.empty())
			open.note(by);
		if (!in_handler.empty())
			complain_of_interrupts(of, by);
	}

	void before_unlock(const facts &of, call_site by)
	{
		const u32 held_by = holder.load_relaxed();

		if (held_by == nobody)
			complain(of, "unlock of a free lock", by);
		if (held_by != cpu_id() + 1)
			complain(of, "unlock by a CPU that does not hold it",
				 by);
		holder.store_relaxed(nobody);
	}

	/*
	 * After unlock, or a try_lock() in vain: counted out last, for until
	 * then the lock has one contender more.
	 */
	void gone() { contenders.fetch_add_relaxed(~u32{0}); }

	[[nodiscard]] bool is_held() const
	{
		return holder.load_relaxed() != nobody;
	}

	[[noreturn, gnu::noinline]] void
	complain(const facts &of, const char *what, call_site by)
	{
		const u32 held_by = holder.load_relaxed();
		misuse_text text;

		text.add(what).add("; at ").add(by);
		if (held_by != nobody)
			text.add("; held by CPU ").add(held_by - 1);
		text.add(held_by != nobody ? ", taken at " : "; last taken at ")
			.add(taken.get());
		panic(of.name, this, cpu_id(), text.c_str());
	}

      private:
	static constexpr u32 nobody = 0;

	void note_handler(const facts &of, call_site by)
	{
		if (in_handler.empty())
			in_handler.note(by);
		if (!open.empty())
			complain_of_interrupts(of, by);
	}

	[[noreturn, gnu::noinline]] void complain_of_interrupts(const facts &of,
								call_site by)
	{
		misuse_text text;

		text.add("held with interrupts on at ")
			.add(open.get())
			.add(", but waited for in an interrupt handler at ")
			.add(in_handler.get())
			.add("; found at ")
			.add(by);
		panic(of.name, this, cpu_id(), text.c_str());
	}

	/* The CPU that holds it, plus 1; 0: nobody. */
	atomic<u32> holder;
	/* Between their lock() and the end of their unlock(). */
	atomic<u32> contenders;
	/* Where it was taken last. */
	noted_site taken;
	/* Where it was held with interrupts on, first. */
	noted_site open;
	/* Where an interrupt handler waited for it, first. */
	noted_site in_handler;
};

} // namespace klock
