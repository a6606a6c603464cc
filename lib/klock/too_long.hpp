/* SPDX-License-Identifier: MIT */
/*
 * too_long - the longest critical sections of each CPU, and where they are
 *
 * timed_lock<L, maxima> measures how long it was waited for, how long it was
 * held, and how long interrupts were off, each with the line that took it.
 * maxima, a section_maxima<Cpus>, has the longest of each CPU; print_maxima()
 * prints them. With a limit, a longer section is reported by klock_os_note()
 * when it is over, once for each line. An example: lib/docs/find-a-deadlock.md.
 *
 * Interrupts are counted as off from the first timed lock that a CPU takes with
 * interrupts off, including the wait for it, until the release of the last one,
 * in any order. irq_guard disables them a few instructions earlier. A kernel
 * measures a whole handler, or code between irq_save() and irq_restore(), by
 * itself, and calls note_section().
 *
 * For readers, only the waits are timed: a downgrade() ends the writer's
 * section, also that with interrupts off. try_lock_until(), lock_paced() and
 * upgradable readers are not timed. Nothing is if cycles_if_usable() is 0. Put
 * a timed_lock around checked_lock and counted_lock, and inside irq_lock; also
 * inside irq_shared_lock, if it is around a checked_lock.
 *
 * A CPU writes its own figures, with interrupts off: no handler writes in
 * between, and a section that ends in an NMI handler is not noted. They are in
 * a seq_latch, so an NMI handler that interrupts the writer reads whole figures
 * at once; with a seq_count it would get none.		Checked: model/too_long
 *
 * Context: longest() and print_maxima(): any, NMI too. Otherwise that of the
 * lock inside, which must be released on the CPU that took it if interrupts are
 * off. Calls klock_os_cpu_id(), and klock_os_context() for long sections.
 * Errors: panics on a CPU whose number is not below Cpus; longest() of such a
 * number is empty.
 * Size: 40 bytes more for a lock (28 on 32 bits), 4 cache lines for a CPU. Zero
 * bytes: nothing was noted, no limit.		Checked: unit/too_long
 * Cost: three reads of the clock.	Measured: tests_host/bench/README.md
 * Source: the idea of Linux's irqsoff tracer, by its document; code is ours.
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/detail/checked.hpp>
#include <klock/detail/verbs.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>
#include <klock/print_counts.hpp>
#include <klock/seq_latch.hpp>

namespace klock {

enum class section_kind : u8 { irqs_off, wait, hold };

/* A time in cycles(), at most the largest word; 0: there was none yet. */
struct longest_section {
	usize cycles;
	call_site by;
};

namespace detail {
inline constexpr u32 sections = 3;

/* Adds "CPU 3: held for 4711 cycles at kernel.cpp:12". */
inline void add_section(count_text &text, u32 cpu, u32 of, longest_section one)
{
	static constexpr const char *names[sections] = {"interrupts off",
							"waited", "held"};

	text.add("CPU ").add(cpu).add(": ").add(names[of]);
	add_number(text.add(" for "), one.cycles, 0);
	text.add(" cycles at ").add(one.by);
}
} // namespace detail

/* Sites: how many lines are reported; one more report says that there are
 * others. */
template <u32 Cpus, u32 Sites = 32>
struct section_maxima {
	/* at_first: the limit in cycles; 0: none. */
	constexpr explicit section_maxima(usize at_first = 0) : limit(at_first)
	{
	}
	void set_limit(usize cycles) { limit.store_relaxed(cycles); }

	/* Returns the longest so far on a CPU. Waits for nobody. */
	[[nodiscard]] longest_section longest(unsigned cpu,
					      section_kind of) const
	{
		if (cpu >= Cpus)
			return {0, {}};
		return at[cpu].kinds[static_cast<u8>(of)].longest.read();
	}

	/* Notes a section that is over on this CPU. Any context; ignored in NMI
	 * handlers.
	 */
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

	/* -- Called by timed_lock -- */

	/* Returns whether interrupts are off; irqs_come_on() follows then. */
	[[nodiscard]] bool irqs_go_off(u64 since, call_site by)
	{
		if (irqs_enabled())
			return false;
		one_cpu &mine = here();
		const u32 open = mine.open.get();

		/* This comes first: for an NMI handler in between, the section
		 * has then begun.
		 */
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
		/* the cycles of `longest`, for a cheap comparison */
		atomic<usize> most;
		seq_latch<longest_section> longest;
	};
	struct began {
		u64 at;
		call_site by;
	};
	struct alignas(cache_line) one_cpu {
		one_kind kinds[detail::sections];
		/* timed locks held with interrupts off */
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

	/* Returns the entry for a line that was not reported before, or
	 * `nowhere`. */
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
	/* a hash of each line and kind that was reported */
	atomic<usize> said[Sites];
	/* 1: it was reported that there are more */
	atomic<u8> full;
};

/* L, timed; Maxima, an object of the kernel, keeps the longest sections. */
template <any_lock L, auto &Maxima>
struct timed_lock : detail::verbs_of<timed_lock<L, Maxima>, L, call_site,
				     detail::every_verb, L> {
	/* checked_lock and counted_lock look for this name. */
	using timed = L;
	using timed_lock::verbs_of::verbs_of;

      private:
	friend typename timed_lock::verbs_of;
	friend typename timed_lock::questions_of;

	template <typename... With>
	void pass(detail::verb::lock, call_site by, With &...with)
	{
		take_timed(by, with...);
	}
	template <typename... With>
	bool pass(detail::verb::try_lock, call_site by, With &...with)
	{
		return try_to_take(by, with...);
	}
	/* Ends the hold: a reader's hold is not timed. */
	template <detail::does<detail::effect::releases,
			       detail::effect::downgrades>
			  Verb,
		  typename... With>
	void pass(Verb verb, call_site by, With &...with)
	{
		release_timed(
			[&] { detail::hand_on(verb, inside(), by, with...); });
	}
	template <typename... With>
	void pass(detail::verb::lock_shared, call_site by, With &...with)
	{
		read_timed(by, with...);
	}
	/* Nothing else is timed. */
	template <typename Verb, typename... With>
	decltype(auto) pass(Verb verb, call_site by, With &...with)
	{
		return detail::hand_on(verb, inside(), by, with...);
	}
	template <detail::does<detail::effect::asks> Verb, typename... With>
	decltype(auto) pass(Verb verb, call_site by, With &...with) const
	{
		const L &inside = *this;

		return detail::hand_on(verb, inside, by, with...);
	}

	L &inside() { return *this; }

	/* at: 0 if the lock is free, or was taken by a verb that is not
	 * timed. */
	struct taken {
		u64 at;
		u64 waited;
		call_site by;
		bool irqs_off;
	};

	/* The holder of a recursive_lock has taken it again: only its first
	 * lock() is timed. */
	bool is_deeper_than([[maybe_unused]] u32 depth) const
	{
		if constexpr (recursive<L>)
			return L::depth() > depth;
		else
			return false;
	}

	template <typename... With>
	void take_timed(call_site by, With &...with)
	{
		if (is_deeper_than(0))
			return detail::told(inside(), by).lock(with...);
		const u64 asked = cycles_if_usable();
		const bool off = Maxima.irqs_go_off(asked, by);

		detail::told(inside(), by).lock(with...);
		const u64 now = cycles_if_usable();
		holder.set({now, now > asked ? now - asked : 0, by, off});
	}
	template <typename... With>
	bool try_to_take(call_site by, With &...with)
	{
		const bool again = is_deeper_than(0);

		if (!detail::told(inside(), by).try_lock(with...))
			return false;
		if (again)
			return true;
		const u64 now = cycles_if_usable();
		holder.set({now, 0, by, Maxima.irqs_go_off(now, by)});
		return true;
	}

	/* Notes the times after the release, when the lock may be gone. */
	template <typename Release>
	[[gnu::always_inline]] void release_timed(Release release)
	{
		if (is_deeper_than(1))
			return release();
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

		detail::told(inside(), by).lock_shared(with...);
		Maxima.note_section(section_kind::wait, cycles_since(asked),
				    by);
	}

	plain<taken> holder;
};

/* timed_lock<L, Maxima> if Times, else L itself. */
template <bool Times, any_lock L, auto &Maxima>
using timed_if = typename detail::chosen<Times, L, timed_lock<L, Maxima>>::type;

/* Calls sink(line) for each CPU's longest section of each kind. */
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
