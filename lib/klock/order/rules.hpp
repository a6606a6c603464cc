/* SPDX-License-Identifier: MIT */
/*
 * rules - checks an acquisition against the order, and reports what breaks it
 *
 * Each check compares a lock that the owner holds with the lock that it wants;
 * lock_order.hpp lists the findings, and says when no pair is compared.
 */
#pragma once

#include <klock/detail/text.hpp>
#include <klock/irq.hpp>
#include <klock/order/graph.hpp>
#include <klock/order/held.hpp>
#include <klock/os.hpp>
#include <klock/tas_lock.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * order_learning - adds edges to the order of locks, and finds what they break
 *
 * Callers check without the lock whether an edge is known; each function checks
 * again under it, with interrupts off. It then searches, and notes the edge,
 * broken or not. So each new edge is searched once, by one CPU, that sees all
 * edges noted before: if several CPUs close a cycle at the same time, exactly
 * the last one reports it. lock_order.hpp has the argument.
 *
 * found(what, length, one) is called for a finding: its kind, the number of
 * classes of the graph's route that show it, and the lock, which it releases
 * before it panics.
 */

/* The kind of a finding, and the route in the graph that shows it. */
enum class finding {
	cycle,	   /* from what was waited for to what was held */
	inversion, /* from a handler's to what is held with interrupts on */
	declared,  /* against what was declared before */
	two_ways,  /* two of a name by address, and two by sub-rank */
	backwards, /* two of a name, the second of a lower sub-rank */
	event,	   /* from what its setter needs to what its waiter holds; the
		      event's own class is behind the route */
};

/* A search's target: a class of this set. */
struct is_in {
	bool operator()(u32 number) const { return set.has(number); }

	const class_set &set;
};

/*
 * Holds the lock, with interrupts off, until unlock(). It has no destructor,
 * which would need a C++ runtime on a host whose panic throws.
 */
struct one_at_a_time {
	explicit one_at_a_time(tas_lock &of) : before(irq_save()), lock(&of)
	{
		of.lock();
	}
	one_at_a_time(const one_at_a_time &) = delete;
	one_at_a_time &operator=(const one_at_a_time &) = delete;

	/* Releases the lock; does nothing if it was released. */
	void unlock()
	{
		if (!lock)
			return;
		lock->unlock();
		lock = nullptr;
		irq_restore(before);
	}

      private:
	irq_state before;
	tas_lock *lock;
};

struct order_learning {

	[[nodiscard]] u32 add_class(const class_key &of, u32 sub_rank) const
	{
		one_at_a_time one(*busy);
		const u32 number = classes.add(of, sub_rank);

		one.unlock();
		return number;
	}

	/* Adds an edge; false: there was no room for its lines. */
	template <typename Found>
	[[gnu::noinline]] bool learn(const order_edge &e, Found found) const
	{
		one_at_a_time one(*busy);

		if (is_known(e.from, e.to, e.by_address) ||
		    ignore_if_harmless(e)) {
			one.unlock();
			return true;
		}
		if (report_if_wrong(e, found, one))
			return true;
		graph.seen_after(e.from).set(e.to);
		if (!e.by_address)
			graph.strictly_before(e.to).set(e.from);
		const bool noted = sites.note(e);

		if (const u32 length = inversion_by(e.from, e.to))
			found(finding::inversion, length, one);
		one.unlock();
		return noted;
	}

	/* Whether it is known that this event is waited for with that lock
	 * held, or is ignored. */
	[[nodiscard]] bool is_known_wait(u32 held, u32 event) const
	{
		return graph.awaited_with(held).has(event) ||
		       graph.ignored_after(held).has(event);
	}

	/* The event is waited for with this lock held. Returns false if there
	 * was no room for its lines. */
	template <typename Found>
	[[gnu::noinline]] bool learn_wait(const order_edge &e,
					  Found found) const
	{
		one_at_a_time one(*busy);
		bool noted = true;

		if (!is_known_wait(e.from, e.to) && !ignore_if_harmless(e)) {
			noted = sites.note(e);
			if (const u32 length = from_needed(e.to, e.from)) {
				graph.ignored_after(e.from).set(e.to);
				found(finding::event, length, one);
			} else {
				graph.awaited_with(e.from).set(e.to);
			}
		}
		one.unlock();
		return noted;
	}

	/* Whether a set of this event with these locks held says nothing new.
	 */
	[[nodiscard]] bool is_known_set(u32 event,
					const some_classes &held) const
	{
		return graph.were_set().has(event) &&
		       !graph.needs_more_than(event, held);
	}

	/* The event was set by a caller that holds these locks. needs(found):
	 * calls found(edge) for those that it waited for; the first time, each
	 * is an edge from the event. Returns false if there was no room for the
	 * lines of one. */
	template <typename Needs, typename Found>
	[[gnu::noinline]] bool learn_set(u32 event, const some_classes &held,
					 Needs needs, Found found) const
	{
		one_at_a_time one(*busy);
		bool noted = true;
		u32 wrong = lock_classes::none;

		if (graph.were_set().has(event)) {
			graph.need_only(event, held);
			one.unlock();
			return true;
		}
		graph.were_set().set(event);
		needs([&](const order_edge &e) {
			if (e.to == event || is_harmless(e))
				return;
			noted &= sites.note(e);
			if (to_waiter(e.to, event))
				wrong = e.to;
			else
				graph.needed_by(event).set(e.to);
		});
		if (wrong != lock_classes::none)
			found(finding::event, to_waiter(wrong, event), one);
		one.unlock();
		return noted;
	}

	/* Whether this edge was seen before, or is ignored. */
	[[nodiscard]] bool is_known(u32 from, u32 to, bool by_address) const
	{
		return (by_address ? graph.seen_after(from).has(to)
				   : graph.strictly_before(to).has(from)) ||
		       graph.ignored_after(from).has(to);
	}

	/* Declares the edge from one family to another harmless. */
	void declare_harmless(u32 first, u32 second) const
	{
		one_at_a_time one(*busy);

		graph.harmless_after(classes.family(first))
			.set(classes.family(second));
		one.unlock();
	}

	[[nodiscard]] bool is_declared_harmless(u32 first, u32 second) const
	{
		one_at_a_time one(*busy);
		const bool declared =
			graph.harmless_after(classes.family(first))
				.has(classes.family(second));

		one.unlock();
		return declared;
	}

	/*
	 * Notes that two locks of one class nest with neither address nor
	 * sub-rank to order them. Returns true the first time.
	 */
	[[nodiscard]] bool note_mistake(u32 number) const
	{
		one_at_a_time one(*busy);
		const bool known = graph.ignored_after(number).has(number);

		graph.ignored_after(number).set(number);
		one.unlock();
		return !known;
	}

	/* An interrupt handler waits for the class. */
	template <typename Found>
	[[gnu::noinline]] void learn_handler(u32 number, bool by_reads,
					     call_site by, Found found) const
	{
		one_at_a_time one(*busy);

		if (!handlers.has(number, by_reads)) {
			handlers.set(number, by_reads);
			sites.in_handler[number].set(by);
			if (const u32 length = to_open(number))
				found(finding::inversion, length, one);
		}
		one.unlock();
	}

	/* The class is held or waited for with interrupts on. */
	template <typename Found>
	[[gnu::noinline]] void learn_open(u32 number, bool by_reads,
					  call_site by, Found found) const
	{
		one_at_a_time one(*busy);

		if (!open.has(number, by_reads)) {
			open.set(number, by_reads);
			sites.open[number].set(by);
			if (const u32 length =
				    from_handlers(number, is_only_read(number)))
				found(finding::inversion, length, one);
		}
		one.unlock();
	}

	/* Declares an edge, before others use the locks. */
	template <typename Found>
	[[gnu::noinline]] void declare(u32 first, u32 second, Found found) const
	{
		one_at_a_time one(*busy);
		const u32 length = graph.find(
			second, true, [first](u32 at) { return at == first; });

		graph.declared_after(first).set(second);
		if (length)
			found(finding::declared, length, one);
		one.unlock();
	}

	lock_classes classes;
	order_graph graph;
	/* Classes that handlers wait for. */
	class_marks handlers;
	/* Classes that were held or waited for with interrupts on. */
	class_marks open;
	order_sites sites;
	tas_lock *busy;
	/* findings are noted, without a panic */
	bool goes_on;

      private:
	/*
	 * Returns false if the edge breaks no order. Otherwise reports the edge
	 * once, does not add it to the graph, and releases `one`.
	 */
	template <typename Found>
	bool report_if_wrong(const order_edge &e, Found found,
			     one_at_a_time &one) const
	{
		const bool backwards = is_backwards(e);
		const bool two_ways = !backwards && find_other_order(e);
		const u32 cycle = backwards || two_ways ? 0 : cycle_by(e);

		if (!backwards && !two_ways && !cycle)
			return false;
		graph.ignored_after(e.from).set(e.to);
		found(backwards	 ? finding::backwards
		      : two_ways ? finding::two_ways
				 : finding::cycle,
		      two_ways ? 2 : cycle, one);
		one.unlock();
		return true;
	}

	bool is_harmless(const order_edge &e) const
	{
		return graph.harmless_after(classes.family(e.from))
			.has(classes.family(e.to));
	}

	/* Ignores the edge, and returns true, if it was declared harmless. */
	bool ignore_if_harmless(const order_edge &e) const
	{
		const bool declared = is_harmless(e);

		if (declared)
			graph.ignored_after(e.from).set(e.to);
		return declared;
	}

	bool is_backwards(const order_edge &e) const
	{
		return classes.family(e.from) == classes.family(e.to) &&
		       classes.sub_rank(e.from) > classes.sub_rank(e.to);
	}

	/*
	 * Locks of one name are ordered either by address or by sub-rank. With
	 * both, a lock that is the child for one CPU and has no rank for
	 * another would come second for one and first for the other. Returns
	 * true if an edge of the other order is known, and sets the route to
	 * that edge.
	 */
	bool find_other_order(const order_edge &e) const
	{
		const u32 family = classes.family(e.from);

		if (classes.family(e.to) != family)
			return false;
		for (u32 i = 0; i < graph.classes; i++) {
			for (u32 j = 0; j < graph.classes; j++) {
				if ((i == j) == (e.from == e.to) ||
				    classes.family(i) != family ||
				    !graph.seen_after(i).has(j) ||
				    classes.family(j) != family)
					continue;
				graph.route[0].set(static_cast<u8>(i));
				graph.route[1].set(static_cast<u8>(j));
				return true;
			}
		}
		return false;
	}

	u32 cycle_by(const order_edge &e) const
	{
		if (e.from == e.to)
			return 0;
		return e.by_address ? graph.find_strict(e.to, e.from)
				    : graph.find(e.to, true, [&e](u32 at) {
					      return at == e.from;
				      });
	}

	/* The path from a lock that the event's setter needs to this one; 0:
	 * none. */
	u32 from_needed(u32 event, u32 held) const
	{
		for (u32 i = 0; i < graph.classes; i++) {
			if (!graph.needed_by(event).has(i))
				continue;
			if (const u32 length =
				    graph.find(i, true, [held](u32 at) {
					    return at == held;
				    }))
				return with_event(length, event);
		}
		return 0;
	}

	/* The path from this lock to one with which the event is waited for; 0:
	 * none. */
	u32 to_waiter(u32 needed, u32 event) const
	{
		const u32 length = graph.find(needed, true, [&](u32 at) {
			return graph.awaited_with(at).has(event);
		});

		return length ? with_event(length, event) : 0;
	}

	/* Notes the event behind the route, which has room for two. */
	u32 with_event(u32 length, u32 event) const
	{
		graph.route[length].set(static_cast<u8>(event));
		return length;
	}

	/*
	 * Whether a handler and the code that it interrupts only read this
	 * class: reads of one CPU nest, so neither waits. A path over other
	 * locks is a danger even then, and so are two locks of the class that
	 * are held at once.
	 */
	bool is_only_read(u32 number) const
	{
		return !handlers.by_others.has(number) &&
		       !open.by_others.has(number) &&
		       !graph.seen_after(number).has(number);
	}

	/* The path from a handler's class to an open one; 0: none. */
	u32 to_open(u32 number) const
	{
		const bool alone_is_right = is_only_read(number);

		return graph.find(number, false, [&](u32 at) {
			return open.any.has(at) &&
			       !(alone_is_right && at == number);
		});
	}

	/* The first path from a handler's class to this one; 0: none. */
	u32 from_handlers(u32 number, bool alone_is_right) const
	{
		for (u32 i = 0; i < graph.classes; i++) {
			if (!handlers.any.has(i) ||
			    (alone_is_right && i == number))
				continue;
			if (const u32 length =
				    graph.find(i, false, [number](u32 at) {
					    return at == number;
				    }))
				return length;
		}
		return 0;
	}

	/* The path from a handler's class over the new edge to an open class.
	 */
	u32 inversion_by(u32 from, u32 to) const
	{
		if (!graph.find(to, false, is_in{open.any}))
			return 0;
		const u32 before = from_handlers(from, false);

		if (!before)
			return 0;
		return before + graph.find(to, false, is_in{open.any}, before);
	}
};

/*
 * order_memory - the memory of lock_order.hpp, in one object of fixed size
 */

/* The size of the hash table: a power of two, at least two times `classes`. */
constexpr u32 slots_for(u32 classes)
{
	u32 power = 1;

	while (power < 2 * classes)
		power *= 2;
	return power;
}

/* Zero bytes: nothing is known yet. */
template <u32 Classes, u32 Owners>
struct lock_order_memory {
	static_assert(Classes >= 1 && Classes <= order_graph::limit,
		      "lock_order: 1 to 256 names of locks");
	static_assert(Owners >= 1, "lock_order: one owner at least");

	/* The number of edges whose lines can be reported. */
	static constexpr u32 edges = 2 * Classes;

	constexpr lock_order_memory() = default;

	constexpr order_learning learning()
	{
		return {{slot, slots, names, sub_ranks, families, Classes},
			{seen, strict, declared, ignored, harmless, awaited,
			 needed, set_once, Classes, route, queue, came_from},
			{{handlers}, {handlers + words}},
			{{open}, {open + words}},
			{edge, &edge_count, edges, in_handler, opened, ranks},
			&busy,
			false};
	}

	static constexpr u32 words = class_set::words_for(Classes);

	held_locks held[Owners];
	/* by place: the sum of lock_order.hpp, One look */
	atomic<usize> sums[Owners * held_locks::most * words];

      private:
	static constexpr u32 slots = slots_for(Classes);

	atomic<usize> seen[Classes * words];
	atomic<usize> strict[Classes * words];
	atomic<usize> declared[Classes * words];
	atomic<usize> ignored[Classes * words];
	atomic<usize> harmless[Classes * words];
	atomic<usize> awaited[Classes * words];
	atomic<usize> needed[Classes * words];
	atomic<usize> set_once[words];
	atomic<usize> handlers[2 * words];
	atomic<usize> open[2 * words];
	class_slot slot[slots];
	class_name names[Classes];
	plain<u8> sub_ranks[Classes];
	plain<u8> families[Classes];
	order_edge_slot edge[edges];
	plain<u32> edge_count;
	plain_site in_handler[Classes];
	plain_site opened[Classes];
	plain<u32> ranks[Classes];
	plain<u8> route[2 * Classes];
	plain<u8> queue[Classes];
	plain<u8> came_from[Classes];
	tas_lock busy;
};

/*
 * order_report - the text of a finding
 *
 * It is built on the stack of the CPU that panics, while it holds the lock of
 * order_learning: names, lines and the route are then as they were found. That
 * lock is released before the panic.
 */

/* Has room for a cycle of five classes with all its lines. */
using order_text = bounded_text<1000>;

/* A finding, which the first `length` classes of the route show. */
struct order_finding {
	finding what;
	u32 length;
	const held_lock *held; /* null: nothing was, or it does not matter */
	const wanted_lock &want;
};

struct order_report {
	void add(const order_finding &of)
	{
		if (of.what == finding::inversion)
			add_inversion(of.length, of.want.by);
		else if (of.what == finding::event)
			add_event(of.length);
		else
			add_cycle(of);
	}

	order_text &text;
	const order_learning &known;

      private:
	void add_cycle(const order_finding &of)
	{
		text.add(of.what == finding::two_ways
				 ? "same class, by address and by sub-rank: "
				 : "lock order: ");
		if (of.held)
			add_step(of.held->label(), of.held->site(),
				 of.want.label, of.want.by, cpu_id());
		else
			text.add("declared at ").add(of.want.by);
		text.add("; known: ");
		add_route(of.length);
	}

	/* A handler interrupts the holder of the last class and waits for the
	 * first one, whose holder waits for the last. */
	void add_inversion(u32 length, call_site by)
	{
		const u32 first = number(0), last = number(length - 1);

		text.add("interrupts: a handler waits for ");
		add_class(first);
		text.add(" at ").add(known.sites.in_handler[first].get());
		text.add("; ");
		add_class(last);
		text.add(" is held or waited for with interrupts on at ")
			.add(known.sites.open[last].get());
		if (length > 1)
			text.add("; known: ");
		add_route(length);
		text.add("; found at ").add(by);
	}

	/* The holder of the route's last class waits for the event, which the
	 * holder of the first one sets. */
	void add_event(u32 length)
	{
		const u32 event = number(length);
		order_edge wait{}, set{};
		const bool has_wait =
			known.sites.find(number(length - 1), event, wait);
		const bool has_set = known.sites.find(event, number(0), set);

		text.add("event: ");
		add_class(event);
		text.add(" is waited for at ").add(wait.here);
		add_cpu(wait, has_wait);
		text.add(" with ");
		add_class(number(length - 1));
		text.add(" held (taken at ").add(wait.there);
		text.add("); its setter needs ");
		add_class(number(0));
		text.add(" (taken at ").add(set.there);
		text.add("), to set it at ").add(set.here);
		add_cpu(set, has_set);
		if (length > 1)
			text.add("; known: ");
		add_route(length);
	}
	void add_cpu(const order_edge &e, bool has_lines)
	{
		if (has_lines)
			text.add(" on CPU ").add(e.cpu);
	}

	void add_route(u32 length)
	{
		for (u32 i = 0; i + 1 < length; i++) {
			if (i > 0)
				text.add(", ");
			add_edge(number(i), number(i + 1));
		}
	}

	void add_edge(u32 from, u32 to)
	{
		const u32 event = known.graph.event_between(from, to);

		if (event == known.graph.classes ||
		    known.graph.seen_after(from).has(to) ||
		    known.graph.declared_after(from).has(to))
			return add_seen(from, to);
		add_seen(from, event);
		text.add(", whose setter needs ");
		add_class(to);
		order_edge set{};
		if (known.sites.find(event, to, set))
			text.add(" (").add(set.there).add(") at ").add(
				set.here);
	}
	void add_seen(u32 from, u32 to)
	{
		order_edge seen{};
		const bool has_lines = known.sites.find(from, to, seen);

		add_class(from);
		if (has_lines)
			text.add(" (").add(seen.there).add(")");
		text.add(" then ");
		add_class(to);
		if (has_lines) {
			text.add(" (").add(seen.here).add(") on CPU ");
			text.add(seen.cpu);
			return;
		}
		text.add(known.graph.seen_after(from).has(to)
				 ? " (no room for its lines)"
				 : " (declared)");
	}

	/* Adds "inode", or "inode (nested 1)" with a sub-rank. */
	void add_class(u32 of)
	{
		text.add(known.classes.name(of).c_str());
		if (const u32 rank = known.classes.sub_rank(of))
			text.add(" (nested ").add(rank).add(")");
	}

	/* Adds "A (a.c:10) then B (a.c:12) on CPU 1". */
	void add_step(lock_label from, call_site there, lock_label to,
		      call_site here, u32 cpu)
	{
		text.add(from).add(" (").add(there).add(") then ");
		text.add(to).add(" (").add(here).add(") on CPU ").add(cpu);
	}

	u32 number(u32 i) const { return known.graph.route[i].get(); }
};

inline void say_order(const wanted_lock &want, const char *text)
{
	bounded_text<80> name;

	report_misuse(name.add(want.label).c_str(), want.lock, text);
}

/* Reports a finding: as a note if goes_on and the kernel takes notes; else by a
 * panic. */
[[gnu::noinline]] inline void say_finding(const wanted_lock &want,
					  const char *text, bool goes_on)
{
	if (!goes_on || !defined_or_null<klock_os_note>())
		return say_order(want, text);
	order_text line;

	line.add(want.label).add(", CPU ").add(cpu_id()).add(": ");
	note(line.add(text).c_str());
}

[[gnu::noinline]] inline void complain_of_order(const order_finding &of,
						const order_learning &known,
						one_at_a_time &one)
{
	order_text text;

	order_report{text, known}.add(of);
	one.unlock();
	say_finding(of.want, text.c_str(), known.goes_on);
}

inline misuse_text text_of_pair(const char *what, const held_lock &held,
				const wanted_lock &want)
{
	misuse_text text = misuse_at(what, want.by);

	text.add("; ").add(held.label());
	text.add(held.is_waiting() ? " is waited for at " : " was taken at ");
	text.add(held.site());
	return text;
}

[[gnu::noinline]] inline void complain_of_same_class(const held_lock &held,
						     const wanted_lock &want,
						     bool goes_on)
{
	say_finding(want,
		    text_of_pair("same class: not at a higher address, nor of "
				 "a higher sub-rank, than the one that is held",
				 held, want)
			    .c_str(),
		    goes_on);
}

/* The `found` of order_learning: reports a finding. */
struct order_reporter {
	void operator()(finding what, u32 length, one_at_a_time &one) const
	{
		if (what == finding::backwards) {
			one.unlock();
			return complain_of_same_class(*held, want,
						      known.goes_on);
		}
		complain_of_order({what, length, held, want}, known, one);
	}

	const order_learning &known;
	const held_lock *held;
	const wanted_lock &want;
};

/* Panics about a wait that sleeps with a spinning lock held. */
[[gnu::noinline]] inline void complain_of_sleep(const held_lock &held,
						const wanted_lock &want)
{
	say_order(want, text_of_pair(sleeps_with_a_spin, held, want).c_str());
}

/* Panics about something that is forbidden while this lock is held. */
[[gnu::noinline]] inline void
complain_of_held(const char *what, const held_lock &held, call_site by)
{
	const void *const lock =
		reinterpret_cast<const void *>(held.address.load_relaxed());
	misuse_text text = misuse_at(what, by);

	text.add("; taken at ").add(held.site());
	text.add(" on CPU ").add(u32{held.on_cpu.load_relaxed()});
	say_order({lock, held.label(), by, false, false}, text.c_str());
}

struct order_rules : order_learning {
	constexpr explicit order_rules(const order_learning &of,
				       bool goes_on_then)
	    : order_learning(of)
	{
		goes_on = goes_on_then;
	}

	/* -- Classes ---------------------------------------------------------
	 */

	/* name_hash: hash_of() the name, or 0. */
	[[nodiscard]] u32 class_of(lock_label label, u32 sub_rank,
				   u32 name_hash = 0)
	{
		if (!label.name)
			return lock_classes::none;
		const class_key of(label, name_hash);
		const u32 known = classes.find(of, sub_rank);

		return known != lock_classes::none ? known
						   : new_class(of, sub_rank);
	}

	/* The class of a held lock; looks it up if it was taken by a try. */
	[[nodiscard]] u32 class_of(const held_lock &one)
	{
		const u32 known = one.class_plus_1();

		return known ? known - 1
			     : class_of(one.label(),
					one.sub_rank.load_relaxed());
	}

	/* -- Orders ----------------------------------------------------------
	 */

	/* Checks `want`, of class `to`, noted in `mine`, against a held lock,
	 * whose class it returns. */
	u32 check_pair(const held_lock &held, held_place mine,
		       const wanted_lock &want, u32 to)
	{
		const u32 from = class_of(held);

		if (held.is_of(want.lock))
			check_same_lock(held, want);
		else if (from != lock_classes::none && to != lock_classes::none)
			check_classes(held, from, mine, want, to);
		return from;
	}

	void check_classes(const held_lock &held, u32 from, held_place mine,
			   const wanted_lock &want, u32 to)
	{
		if (from == to && held.address.load_relaxed() >
					  reinterpret_cast<usize>(want.lock)) {
			if (note_mistake(from))
				complain_of_same_class(held, want, goes_on);
			return;
		}
		const bool by_address =
			from == to ||
			mine.stack->takes_by_address(
				held.address.load_relaxed(),
				reinterpret_cast<usize>(want.lock));

		if (!is_known(from, to, by_address))
			learn_edge(held, from, want, to, by_address);
	}

	/* -- Events ----------------------------------------------------------
	 *
	 * mine: the caller's locks whose waiters sleep, or null. With any
	 * other, no thread waits for an event.
	 */

	void check_awaited(held_locks *mine, const wanted_lock &want)
	{
		const u32 event =
			mine ? class_of(want.label, 0) : lock_classes::none;

		if (event == lock_classes::none)
			return;
		for (u32 i = 0; i < mine->size(); i++) {
			held_lock &one = mine->at[i];

			if (!blocks_setter(one))
				continue;
			if (!one.has_used(event, false))
				check_wait(one, want, event);
			one.note_event(event);
		}
	}

	void check_set(held_locks *mine, const wanted_lock &want)
	{
		const u32 event = class_of(want.label, 0);
		some_classes held;

		if (event == lock_classes::none)
			return;
		for (u32 i = 0; mine && i < mine->size(); i++)
			if (was_waited_for(mine->at[i]))
				held.set(class_of(mine->at[i]));
		if (!is_known_set(event, held))
			learn_set_by(mine, event, held, want);
		for (u32 i = 0; mine && i < mine->size(); i++)
			if (blocks_setter(mine->at[i]))
				mine->at[i].note_event(event);
	}

	void declare_edge(u32 first, u32 second, call_site by)
	{
		const class_name::text name = classes.name(second);
		const wanted_lock after = {
			nullptr, {name.c_str(), 0}, by, false, false};

		declare(first, second, order_reporter{*this, nullptr, after});
	}

	/* -- Interrupts ------------------------------------------------------
	 */

	/* An interrupt handler waits for a lock of this class. */
	void note_handler(u32 number, const wanted_lock &want)
	{
		const bool by_reads = want.is_nested();

		if (number != lock_classes::none &&
		    !handlers.has(number, by_reads))
			learn_handler(number, by_reads, want.by,
				      order_reporter{*this, nullptr, want});
	}

	/* If interrupts are on, all that the owner holds is held with them on.
	 */
	void note_open(const held_locks &mine, const wanted_lock &want)
	{
		if (!irqs_enabled())
			return;
		const u32 size = mine.size();
		for (u32 i = 0; i < size; i++) {
			if (!mine.at[i].is_in_the_way())
				continue;
			const u32 number = class_of(mine.at[i]);
			const bool by_reads = mine.at[i].is_read_nested();

			if (number != lock_classes::none &&
			    !open.has(number, by_reads))
				learn_open(
					number, by_reads, want.by,
					order_reporter{*this, nullptr, want});
		}
	}

	/* -- Tables that are full --------------------------------------------
	 */

	static constexpr u32 full_classes = 1, full_edges = 2, full_stack = 4,
			     full_owners = 8;

	[[gnu::noinline]] void say_once(u32 what)
	{
		if (said.load_relaxed() & what ||
		    said.fetch_or_relaxed(what) & what)
			return;
		note(what == full_classes ? "klock: lock_order is full: too "
					    "many names of locks"
		     : what == full_edges
			     ? "klock: lock_order is full: it has no room for "
			       "the lines of more pairs"
		     : what == full_stack ? "klock: lock_order is full: one "
					    "owner holds too many locks at once"
					  : "klock: lock_order is full: too "
					    "many owners (CPUs or threads)");
	}

	/* Whether one of these was full. */
	[[nodiscard]] bool was_said(u32 what) const
	{
		return said.load_relaxed() & what;
	}

      private:
	[[gnu::noinline]] u32 new_class(const class_key &of, u32 sub_rank)
	{
		const u32 number = add_class(of, sub_rank);

		if (number == lock_classes::none)
			say_once(full_classes);
		return number;
	}

	static bool blocks_setter(const held_lock &one)
	{
		return one.is_in_the_way() && one.is_held() && one.sleeps();
	}
	/* Not taken by a try, which would have gone another way. */
	static bool was_waited_for(const held_lock &one)
	{
		return blocks_setter(one) && one.class_plus_1();
	}

	void check_wait(const held_lock &held, const wanted_lock &want,
			u32 event)
	{
		const u32 from = class_of(held);

		if (from == lock_classes::none || from == event ||
		    is_known_wait(from, event))
			return;
		if (!learn_wait({from, event, held.site(), want.by, cpu_id(),
				 false},
				order_reporter{*this, &held, want}))
			say_once(full_edges);
	}

	/*
	 * A lock that was held while its holder waited for the same event says
	 * nothing: the event is used as a lock behind it, and what is given
	 * back was taken with it held.
	 */
	[[gnu::noinline]] void learn_set_by(const held_locks *mine, u32 event,
					    const some_classes &held,
					    const wanted_lock &want)
	{
		const auto needs = [&](auto found) {
			for (u32 i = 0; mine && i < mine->size(); i++) {
				const held_lock &one = mine->at[i];

				if (was_waited_for(one) &&
				    !one.has_used(event, true))
					found(order_edge{event, class_of(one),
							 one.site(), want.by,
							 cpu_id(), false});
			}
		};

		if (!learn_set(event, held, needs,
			       order_reporter{*this, nullptr, want}))
			say_once(full_edges);
	}

	[[gnu::noinline]] void learn_edge(const held_lock &held, u32 from,
					  const wanted_lock &want, u32 to,
					  bool by_address)
	{
		const order_edge e = {from,    to,	 held.site(),
				      want.by, cpu_id(), by_address};

		if (!learn(e, order_reporter{*this, &held, want}))
			say_once(full_edges);
	}

	static void check_same_lock(const held_lock &held,
				    const wanted_lock &want)
	{
		const bool reads = held.is_read();

		if (reads && want.shared && want.nests)
			return;
		const misuse_text text = text_of_pair(
			held.is_waiting()
				? "recursion: the caller already waits for it"
			: !reads      ? "recursion: the caller already holds it"
			: want.shared ? "read recursion: the caller already "
					"holds it for reading"
				      : "upgrade: the caller already holds it "
					"for reading",
			held, want);
		say_order(want, text.c_str());
	}

	/* the tables of which it was reported that they are full */
	atomic<u32> said;
};

} // namespace klock
