/* SPDX-License-Identifier: MIT */
/*
 * too_long - the longest critical sections of each CPU, and where they are
 *
 * timed_lock<L, maxima> notes how long it was waited for, how long it was held,
 * and how long interrupts were off, each with the line that took it. maxima, a
 * section_maxima<Cpus>, has the longest of each CPU; print_maxima() prints
 * them. With a limit, a longer one is reported by klock_os_note() when it is
 * over, once for each line. An example: lib/docs/find-a-deadlock.md.
 *
 * Interrupts off: from the first timed lock that a CPU takes with interrupts
 * off, the wait for it included, to the release of the last, in any order.
 * irq_guard disables them a few instructions earlier. Of a whole handler, or of
 * what irq_save() surrounds, the kernel takes the time and calls
 * note_section().
 *
 * Readers: how long they waited. Not timed: try_lock_until(), lock_paced(), who
 * may upgrade; and nothing where cycles_if_usable() is 0. It stands outside of
 * checked_lock and counted_lock, inside of irq_lock; of irq_shared_lock, where
 * it is of a checked_lock.
 *
 * A CPU's figures are written by that CPU with interrupts off: no handler
 * writes in the middle, and what ends in an NMI handler is not noted. They are
 * read by seq_latch, so that an NMI handler over the writer reads whole ones at
 * once; by seq_count it would have none.		Checked: model/too_long
 *
 * Context: longest() and print_maxima(): any, NMI too. Else that of the lock
 * inside, which is released on the CPU that took it, if interrupts are off.
 * Asks klock_os_cpu_id(); of what is long klock_os_context().
 * Errors: a CPU's number from Cpus on panics; longest() of it has none.
 * Size: a lock 40 bytes more (28 on 32 bits), a CPU 4 cache lines. Zero bytes:
 * nothing was noted, no limit.			Checked: unit/too_long
 * Cost: three looks at the clock.	Measured: tests_host/bench/README.md
 * Source: the idea of Linux's irqsoff tracer, by its document; code is ours.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/detail/checked.hpp>
#include <klock/detail/taking.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>
#include <klock/print_counts.hpp>
#include <klock/seq_latch.hpp>

namespace klock {

enum class section_kind : u8 { irqs_off, wait, hold };

/* In cycles(), at most a word's. 0: there was none yet. */
struct longest_section {
	usize cycles;
	call_site by;
};

namespace detail {
inline constexpr u32 sections = 3;

/* "CPU 3: held for 4711 cycles at kernel.cpp:12" */
inline void add_section(count_text &text, u32 cpu, u32 of, longest_section one)
{
	static constexpr const char *names[sections] = {"interrupts off",
							"waited", "held"};

	text.add("CPU ").add(cpu).add(": ").add(names[of]);
	add_number(text.add(" for "), one.cycles, 0);
	text.add(" cycles at ").add(one.by);
}
} // namespace detail

/* Sites: so many lines are reported; that there are more is said once. */
template <u32 Cpus, u32 Sites = 32>
struct section_maxima {
	/* In cycles; 0: none. */
	constexpr explicit section_maxima(usize at_first = 0) : limit(at_first)
	{
	}
	void set_limit(usize cycles) { limit.store_relaxed(cycles); }

	/* The longest so far on a CPU. Waits for nobody. */
	[[nodiscard]] longest_section longest(unsigned cpu,
					      section_kind of) const
	{
		if (cpu >= Cpus)
			return {0, {}};
		return at[cpu].kinds[static_cast<u8>(of)].longest.read();
	}

	/* One is over, on this CPU. Any context; in an NMI handler nothing. */
	void note_section(section_kind of, u64 cycles,
			  call_site by = caller_site())
	{
		const u8 kind = static_cast<u8>(of);
		const usize took = detail::at_most<usize>(cycles);
		const usize most = here().kinds[kind].most.load_relaxed();
		const usize bound = limit.load_relaxed();

		if (took > most || (bound && took > bound)) [[unlikely]]
			note_long(kind, {took, by}, bound);
	}

	/* -- By timed_lock, around a lock -- */

	/* Whether they are off; then irqs_come_on() follows. */
	[[nodiscard]] bool irqs_go_off(u64 since, call_site by)
	{
		if (irqs_enabled())
			return false;
		one_cpu &mine = here();
		const u32 open = mine.open.get();

		/* First: an NMI handler in between is not the outermost. */
		mine.open.set(open + 1);
		if (open == 0)
			mine.since.set({since, by});
		return true;
	}
	void irqs_come_on()
	{
		one_cpu &mine = here();
		const u32 open = mine.open.get();
		const began since = mine.since.get();

		if (open == 0)
			return;
		mine.open.set(open - 1);
		if (open == 1)
			note_section(section_kind::irqs_off,
				     cycles_since(since.at), since.by);
	}

	static constexpr u32 cpus = Cpus;

      private:
	struct one_kind {
		/* Of `longest`: to compare with. */
		atomic<usize> most;
		seq_latch<longest_section> longest;
	};
	struct began {
		u64 at;
		call_site by;
	};
	struct alignas(cache_line) one_cpu {
		one_kind kinds[detail::sections];
		/* Timed locks that are held with interrupts off. */
		plain<u32> open;
		plain<began> since;
	};

	one_cpu &here()
	{
		const u32 cpu = cpu_id();

		if (cpu >= Cpus)
			panic("section_maxima", this, cpu,
			      "section_maxima: made for fewer CPUs");
		return at[cpu];
	}

	[[gnu::noinline]] void note_long(u8 kind, longest_section now,
					 usize bound)
	{
		u32 said_at = nowhere;

		if (current_context() == context::nmi)
			return;
		const irq_state before = irq_save();
		const u32 cpu = cpu_id();
		one_kind &mine = here().kinds[kind];

		if (now.cycles > mine.most.load_relaxed()) {
			mine.most.store_relaxed(now.cycles);
			mine.longest.write(now);
		}
		irq_restore(before);
		if (bound && now.cycles > bound)
			said_at = new_place(kind, now.by);
		if (said_at == nowhere)
			return;
		detail::count_text text;

		detail::add_section(text, cpu, kind, now);
		detail::add_number(text.add(", limit "), bound, 0);
		if (said_at == Sites)
			text.add("; no place to note more lines");
		klock::note(text.c_str());
	}

	/* Where it is noted now among those that were said; or nowhere. */
	u32 new_place(u8 kind, call_site by)
	{
		const u32 line = static_cast<u32>(by.line) * 4 + kind + 1;
		const usize key = reinterpret_cast<usize>(by.file) +
				  usize{line} * 2654435761u;

		for (u32 i = 0; i < Sites; i++) {
			usize found = said[i].load_relaxed();

			if (!found &&
			    said[i].compare_exchange_relaxed(found, key))
				return i;
			if (found == key)
				return nowhere;
		}
		return full.exchange_relaxed(1) ? nowhere : Sites;
	}

	static constexpr u32 nowhere = ~u32{0};
	one_cpu at[Cpus];
	atomic<usize> limit;
	/* Of each line and kind that was reported: both, as one word. */
	atomic<usize> said[Sites];
	/* 1: that there are more was said. */
	atomic<u8> full;
};

/* L, timed: Maxima, an object of the kernel, has the longest. */
template <any_lock L, auto &Maxima>
struct timed_lock : L {
	/* A checked_lock and a counted_lock look for it. */
	using timed = L;
	using L::L;

	/* -- As L; by: the caller, found out by itself -- */

	void lock(call_site by = caller_site())
		requires plain_lock<L>
	{
		take_timed(by);
	}
	template <typename With>
		requires requires(L &l, With &with) { l.lock(with); }
	void lock(With &&with, call_site by = caller_site())
	{
		take_timed(by, with);
	}

	[[nodiscard]] bool try_lock(call_site by = caller_site())
		requires try_plain_lock<L>
	{
		return try_to_take(by);
	}
	template <typename With>
		requires requires(L &l, With &with) { l.try_lock(with); }
	[[nodiscard]] bool try_lock(With &&with, call_site by = caller_site())
	{
		return try_to_take(by, with);
	}

	void unlock(call_site by = caller_site())
		requires plain_lock<L>
	{
		release_timed([&] {
			detail::unlocking::call(by, static_cast<L &>(*this));
		});
	}
	template <typename With>
		requires requires(L &l, With &with) { l.unlock(with); }
	void unlock(With &&with, call_site by = caller_site())
	{
		release_timed([&] {
			detail::unlocking::call(by, static_cast<L &>(*this),
						with);
		});
	}

	/* A reader's from here: that is not timed. */
	void downgrade(call_site by = caller_site())
		requires requires(L &l) { l.downgrade(); }
	{
		release_timed([&] {
			detail::downgrading::call(by, static_cast<L &>(*this));
		});
	}

	void lock_shared(call_site by = caller_site())
		requires plain_shared_lock<L>
	{
		read_timed(by);
	}
	void lock_shared(unsigned cpu, call_site by = caller_site())
		requires cpu_shared_lock<L>
	{
		read_timed(by, cpu);
	}

      private:
	/* at: 0 where it is free, or was taken by a verb that is L's. */
	struct taken {
		u64 at;
		u64 waited;
		call_site by;
		bool irqs_off;
	};

	template <typename... With>
	void take_timed(call_site by, With &...with)
	{
		const u64 asked = cycles_if_usable();
		const bool off = Maxima.irqs_go_off(asked, by);

		detail::locking::call(by, static_cast<L &>(*this), with...);
		const u64 now = cycles_if_usable();
		holder.set({now, now > asked ? now - asked : 0, by, off});
	}
	template <typename... With>
	bool try_to_take(call_site by, With &...with)
	{
		if (!detail::asking::call(by, static_cast<L &>(*this), with...))
			return false;
		const u64 now = cycles_if_usable();
		holder.set({now, 0, by, Maxima.irqs_go_off(now, by)});
		return true;
	}

	/* Notes when the lock is free; and perhaps no more there. */
	template <typename Release>
	[[gnu::always_inline]] void release_timed(Release release)
	{
		const taken its = holder.get();

		holder.set({});
		release();
		if (!its.at)
			return;
		Maxima.note_section(section_kind::hold, cycles_since(its.at),
				    its.by);
		Maxima.note_section(section_kind::wait, its.waited, its.by);
		if (its.irqs_off)
			Maxima.irqs_come_on();
	}

	template <typename... With>
	void read_timed(call_site by, With &...with)
	{
		const u64 asked = cycles_if_usable();

		detail::locking_shared::call(by, static_cast<L &>(*this),
					     with...);
		Maxima.note_section(section_kind::wait, cycles_since(asked),
				    by);
	}

	plain<taken> holder;
};

/* timed_lock<L, Maxima> where Times, L itself where not. */
template <bool Times, any_lock L, auto &Maxima>
using timed_if = typename detail::chosen<Times, L, timed_lock<L, Maxima>>::type;

/* sink(line): each CPU's longest of each kind. */
template <typename Maxima, typename Sink>
void print_maxima(const Maxima &of, Sink &&sink)
{
	for (u32 i = 0; i < Maxima::cpus * detail::sections; i++) {
		const u32 cpu = i / detail::sections,
			  kind = i % detail::sections;
		const longest_section one =
			of.longest(cpu, static_cast<section_kind>(kind));
		detail::count_text text;

		detail::add_section(text, cpu, kind, one);
		if (one.cycles)
			sink(text.c_str());
	}
}

} // namespace klock
