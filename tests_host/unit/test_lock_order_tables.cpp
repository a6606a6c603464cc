/* SPDX-License-Identifier: MIT */
/*
 * lock_order: interrupts, readers, declared orders, tables that are full.
 */
#include <klock/guard.hpp>
#include <klock/order_calls.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/print_held.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "order_kernel.hpp"
#include "hooked_lock.hpp"
#if __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

using namespace klock;

namespace klock {

/*
 * lock_order's memory with each table in an allocation of its own. In one
 * object, what lies behind a table is the next one, and a sanitizer sees
 * nothing wrong in a step past its end.
 */
template <u32 Classes, u32 Owners>
struct tables_apart {
	template <typename T>
	struct table {
		explicit table(u32 size) : begin(new T[size]()) {}

		T *get() const { return begin.get(); }

		std::unique_ptr<T[]> begin;
	};

	static constexpr u32 edges = 2 * Classes;

	/* Behind the last place of a stack is padding. */
	tables_apart()
	{
#if __SANITIZE_ADDRESS__
		for (u32 i = 0; i < Owners; i++) {
			auto *const last = reinterpret_cast<char *>(
				held[i].at + held_locks::most);
			auto *const end =
				reinterpret_cast<char *>(&held[i + 1]);
			ASAN_POISON_MEMORY_REGION(last, end - last);
		}
#endif
	}

	order_learning learning()
	{
		return {{slot.get(), slots_for(Classes), names.get(),
			 sub_ranks.get(), families.get(), Classes},
			{seen.get(), strict.get(), declared.get(),
			 ignored.get(), harmless.get(), awaited.get(),
			 needed.get(), set_once.get(), Classes, route.get(),
			 queue.get(), came_from.get()},
			{{handlers.get()}, {handlers_by_others.get()}},
			{{open.get()}, {open_by_others.get()}},
			{edge.get(), &edge_count, edges, in_handler.get(),
			 opened.get(), ranks.get()},
			&busy,
			false};
	}

	table<held_locks> stacks{Owners};
	held_locks *held = stacks.get();

      private:
	static constexpr u32 words = class_set::words_for(Classes);
	table<atomic<usize>> places{Owners * held_locks::most * words};

      public:
	atomic<usize> *sums = places.get();

      private:
	table<atomic<usize>> seen{Classes * words}, strict{Classes * words},
		declared{Classes * words}, ignored{Classes * words},
		harmless{Classes * words}, awaited{Classes * words},
		needed{Classes * words};
	table<atomic<usize>> set_once{words};
	table<atomic<usize>> handlers{words}, handlers_by_others{words},
		open{words}, open_by_others{words};
	table<class_slot> slot{slots_for(Classes)};
	table<class_name> names{Classes};
	table<plain<u8>> sub_ranks{Classes}, families{Classes};
	table<order_edge_slot> edge{edges};
	plain<u32> edge_count;
	table<plain_site> in_handler{Classes}, opened{Classes};
	table<plain<u32>> ranks{Classes};
	table<plain<u8>> route{2 * Classes}, queue{Classes}, came_from{Classes};
	tas_lock busy;
};

/* One class more than a word has bits; the most; one. */
constexpr u32 odd_classes = class_set::word_bits + 1;

template <>
struct lock_order_memory<odd_classes, 3> : tables_apart<odd_classes, 3> {};
template <>
struct lock_order_memory<256, 3> : tables_apart<256, 3> {};
template <>
struct lock_order_memory<1, 1> : tables_apart<1, 1> {};

} // namespace klock

/*
 * lock_order: what is declared, what readers do, and what is said when a table
 * is full: once, and the rest goes on being checked.
 */
namespace lock_order_tables_tests {

namespace {

/* Returns the finding on a list of declarations. */
template <usize Size>
std::string declaring(const declared_order (&list)[Size])
{
	return panic_of([&] { declare(list); });
}

/* "lock0", "lock1", ..: for ever, as a literal. */
const char *numbered(unsigned i)
{
	static std::vector<std::unique_ptr<std::string>> all;

	while (all.size() <= i)
		all.emplace_back(
			new std::string("lock" + std::to_string(all.size())));
	return all[i]->c_str();
}

struct many_locks {
	explicit many_locks(unsigned count) : all(count)
	{
		for (unsigned i = 0; i < count; i++)
			set_name(all[i], numbered(i));
	}
	checked_lock<byte_lock> &operator[](unsigned i) { return all[i]; }

      private:
	std::vector<checked_lock<byte_lock>> all;
};

} // namespace

/* -- Declared ------------------------------------------------------------- */

TEST_CASE("lock_order: a list that contradicts itself, or what was seen")
{
	static constexpr declared_order list[] = {
		before("a", "b"), before("b", "c"), before("c", "a")};
	static constexpr declared_order late[] = {before("b", "a")};
	new_order<> fresh;
	const int declared = __LINE__ + 1;
	const std::string said = panic_of([&] { declare(list); });

	has(said, "a, CPU 0: lock order: declared at " + at_line(declared));
	has(said, "known: a then b (declared), b then c (declared)");

	new_order<> again;
	five_locks of;
	CHECK(taking(3, of.a, of.b) == "");
	has(declaring(late), "known: a (");
}

/* -- Readers -------------------------------------------------------------- */

TEST_CASE("lock_order: readers of a fair lock order as writers do")
{
	new_order<> fresh;
	checked_lock<rw_ticket_lock<u8>, "table"> table;
	five_locks of;

	on_cpu(0, [&] {
		table.lock_shared();
		of.a.lock();
		of.a.unlock();
		table.unlock_shared();
	});
	CHECK(fresh.order.mine() == nullptr);
	on_cpu(1, [&] {
		of.a.lock();
		has(panic_of([&] { table.lock_shared(); }), "known: table (");
	});
}

TEST_CASE("lock_order: a try to read adds no edge, and holds what it has")
{
	new_order<> fresh;
	checked_lock<rw_ticket_lock<u8>, "table"> table;
	five_locks of;

	on_cpu(0, [&] {
		of.b.lock();
		CHECK(table.try_lock_shared());
		of.a.lock();
		of.a.unlock();
		table.unlock_shared();
		of.b.unlock();
		table.lock();
		CHECK_FALSE(panic_of([&] {
				    as(1, context::thread, [&] {
					    CHECK_FALSE(
						    table.try_lock_shared());
				    });
			    }) != "");
		table.unlock();
	});
	CHECK(fresh.memory->held[1].size() == 0);
	CHECK(taking(1, table, of.b) == "");
	has(taking(1, of.a, table), "known: table (");
}

namespace {

/* Nine read; the ninth is one more than a checked lock notes. */
template <typename Last>
std::string ninth_of(checked_lock<phase_fair_lock<u8>, "table"> &table,
		     Last last)
{
	std::string said;

	for (unsigned cpu = 0; cpu < 9; cpu++)
		on_cpu(cpu, [&] { table.lock_shared(); });
	on_cpu(8, [&] { said = panic_of(last); });
	return said;
}

} // namespace

TEST_CASE("lock_order: read recursion of the ninth reader")
{
	new_order<64, 16> fresh;
	checked_lock<phase_fair_lock<u8>, "table"> table;
	const std::string said = ninth_of(table, [&] { table.lock_shared(); });

	has(said, "table, CPU 8: read recursion: the caller already holds it "
		  "for reading; at " +
			  at_line(__LINE__ - 4));
	has(said, "table was taken at ");
}

TEST_CASE("lock_order: upgrade of the ninth reader")
{
	new_order<64, 16> fresh;
	checked_lock<phase_fair_lock<u8>, "table"> table;

	has(ninth_of(table, [&] { table.lock(); }),
	    "table, CPU 8: upgrade: the caller already holds it for reading; "
	    "at " + at_line(__LINE__ - 2));
}

TEST_CASE("lock_order: where reads nest, they do")
{
	new_order<> fresh;
	checked_lock<reader_lock<4>, "table"> table;
	five_locks of;

	on_cpu(0, [&] {
		table.lock_shared(0);
		table.lock_shared(0);
		table.unlock_shared(0);
		of.a.lock();
		of.a.unlock();
		table.unlock_shared(0);
	});
	CHECK(fresh.order.mine() == nullptr);
	has(taking(1, of.a, of.a), "recursion");
	on_cpu(2, [&] {
		checked_lock<byte_lock, "a"> another;

		another.lock();
		has(panic_of([&] { table.lock_shared(2); }), "known: table (");
	});
}

TEST_CASE("lock_order: a handler reads what its thread waits to read")
{
	new_order<> fresh;
	const lock_usage table("table", 0);
	const wanted_lock want = {&table, table.label(), {}, true, true};
	lock_order &hooks = fresh.order;

	on_cpu(0, [&] {
		const held_place thread = hooks.on_wait(hooks, want);

		as(0, context::interrupt, [&] {
			CHECK(panic_of([&] {
				      hooks.on_taken(hooks.on_wait(hooks, want),
						     true);
			      }) == "");
			hooks.on_gone(hooks.on_leave(hooks, &table));
		});
		hooks.on_gone(thread);
	});
	CHECK(fresh.order.mine() == nullptr);
	/* Both wait for a writer, whom a handler must not interrupt. */
	has(panic_of([&] {
		    const irqs on(true);
		    const wanted_lock writes = {
			    &table, table.label(), {}, false, true};

		    (void)hooks.on_wait(hooks, writes);
	    }),
	    "interrupts: a handler waits for table at ");
}

/* -- Full ----------------------------------------------------------------- */

TEST_CASE("lock_order: more names than there is room for")
{
	new_order<4, 2> fresh;
	many_locks of(6);

	for (unsigned i = 0; i + 1 < 6; i++)
		CHECK(taking(0, of[i], of[i + 1]) == "");
	CHECK(notes ==
	      std::vector<std::string>{
		      "klock: lock_order is full: too many names of locks"});
	CHECK(taking(1, of[5], of[4]) == "");
	has(taking(1, of[3], of[0]), "known: lock0 (");
	CHECK(notes.size() == 1);
}

TEST_CASE("lock_order: the same name at more addresses than there is room for")
{
	new_order<2, 2> fresh;
	std::vector<std::unique_ptr<std::string>> texts;
	checked_lock<byte_lock> lock, other;

	set_name(other, "other");
	for (int i = 0; i < 6; i++) {
		texts.emplace_back(new std::string("a lock of one name"));
		set_name(lock, texts.back()->c_str());
		CHECK(taking(0, lock, other) == "");
	}
	CHECK(notes.empty());
	has(taking(1, other, lock), "known: a lock of one name (");
}

TEST_CASE("lock_order: more edges than there is room for the lines of")
{
	new_order<8, 2> fresh;
	many_locks of(8);
	unsigned edges = 0;

	for (unsigned from = 0; from < 7; from++)
		for (unsigned to = from + 1; to < 8; to++, edges++)
			CHECK(taking(0, of[from], of[to]) == "");
	CHECK(edges > fresh.memory->edges);
	CHECK(notes ==
	      std::vector<std::string>{"klock: lock_order is full: it has no "
				       "room for the lines of more pairs"});
	const std::string said = taking(1, of[7], of[6]);

	has(said, "lock order: lock7 (");
	has(said, "known: lock6 then lock7 (no room for its lines)");
}

TEST_CASE("lock_order: more locks held at once than are seen")
{
	constexpr unsigned count = held_locks::most + 2;
	new_order<64, 2> fresh;
	checked_lock<byte_lock> node[count];
	five_locks of;

	for (auto &one : node)
		set_name(one, "node");
	on_cpu(0, [&] {
		for (auto &one : node)
			one.lock();
		of.a.lock();
		of.a.unlock();
		for (auto &one : node)
			one.unlock();
	});
	CHECK(notes ==
	      std::vector<std::string>{"klock: lock_order is full: one owner "
				       "holds too many locks at once"});
	CHECK(fresh.order.mine() == nullptr);
	/* It was wanted while others were held, all the same. */
	has(taking(1, of.a, node[0]), "known: node (");
}

TEST_CASE("lock_order: more owners than there is room for")
{
	new_order<64, 2> fresh;
	five_locks of;

	CHECK(taking(2, of.a, of.b) == "");
	CHECK(taking(2, of.b, of.a) == "");
	CHECK(notes ==
	      std::vector<std::string>{"klock: lock_order is full: too many "
				       "owners (CPUs or threads)"});
	CHECK(taking(0, of.a, of.b) == "");
	has(taking(1, of.b, of.a), "lock order");
}

/* -- Full, each table by itself: unit_checked_asan_ubsan looks at the ends --
 */

namespace {

/* A cycle over all names that there is room for, and a name more. */
template <u32 Classes>
void check_full_classes()
{
	constexpr unsigned last = Classes - 1;
	new_order<Classes, 3> fresh;
	many_locks of(Classes + 1), others(Classes), two(2);

	for (unsigned i = 0; i < last; i++)
		CHECK(taking(2, of[i], of[i + 1]) == "");
	CHECK(taking(2, of[last]) == "");
	/* All that is known is searched, and closes no cycle. */
	on_cpu(2, [&] { pair_guard both(of[0], of[last]); });
	set_name(two[0], numbered(last));
	set_name(two[1], numbered(last));
	CHECK(taking(2, two[0], two[1]) == "");
	CHECK(notes.empty());
	CHECK(taking(0, of[last], of[Classes]) == "");
	has(notes.at(0), "too many names of locks");
	/* These stay held. */
	has(taking(0, others[last], others[0]), "lock order: ");

	/* The last rank and the last mark. */
	const declared_order list[] = {
		rank<1>("lock0"),
		{numbered(last), nullptr, 2},
		harmless(numbered(last), "lock0"),
	};
	CHECK(declaring(list) == "");
	const auto takes = [&](unsigned i, context where) {
		return panic_of(
			[&] { as(1, where, [&] { guard held(of[i]); }); });
	};
	CHECK(takes(last, context::thread) == "");
	has(takes(0, context::interrupt), "a handler waits for lock0 at ");
	CHECK(takes(last, context::interrupt) != "");
}

} // namespace

TEST_CASE("lock_order: a cycle over all the names that there is room for")
{
	check_full_classes<odd_classes>();
	check_full_classes<256>();
}

TEST_CASE("lock_order: one name, at more addresses than slots, one owner")
{
	new_order<1, 1> fresh;
	std::vector<std::unique_ptr<std::string>> texts;
	std::vector<checked_lock<byte_lock>> two(2);

	for (int i = 0; i < 8; i++) {
		texts.emplace_back(new std::string("a lock of one name"));
		for (auto &one : two)
			set_name(one, texts.back()->c_str());
		CHECK(taking(0, two[0], two[1]) == "");
	}
	CHECK(notes.empty());
	CHECK(taking(1, two[0]) == "");
	has(notes.at(0), "too many owners");
	has(taking(0, two[1], two[0]), "same class: ");
}

/*
 * A ring of pairs by address is no cycle. The route of an inversion goes round
 * it twice: from a handler's class to the new edge, and from there to an open
 * one.
 */
TEST_CASE("lock_order: interrupts: the longest route, and lines of all edges")
{
	constexpr unsigned last = odd_classes - 1;
	new_order<odd_classes, 3> fresh(on_finding::note);
	std::vector<checked_lock<byte_lock>> of(odd_classes + 1);
	const auto pair = [&](unsigned i, unsigned j) {
		on_cpu(0, [&] { pair_guard both(of[i], of[j]); });
	};

	/* First the one that comes behind the last. */
	set_name(of[0], numbered(last));
	for (unsigned i = 0; i <= last; i++)
		set_name(of[i + 1], numbered(i));
	for (unsigned i = 0; i < last; i++)
		pair(i + 1, i + 2);
	as(0, context::thread, [&] { guard held(of[last + 1]); });
	CHECK(notes.empty());
	as(1, context::interrupt, [&] { guard held(of[1]); });
	REQUIRE(notes.size() == 1);
	pair(0, 1);
	REQUIRE(notes.size() == 2);
	has(notes[1], "a handler waits for lock0 at ");
	/* Each edge that is new shows an inversion more. */
	const auto is_full = [] {
		return notes.back().find("more pairs") != std::string::npos;
	};
	for (unsigned from = 1; !is_full() && from < last; from++)
		for (unsigned to = from + 2; !is_full() && to <= last + 1; to++)
			pair(from, to);
	CHECK(is_full());
	CHECK(notes.size() > fresh.memory->edges - last);
}

TEST_CASE("lock_order: the last owner's stack is full, and looked through")
{
	new_order<odd_classes, 3> fresh;
	std::vector<checked_lock<byte_lock>> node(held_locks::most + 1);

	for (auto &one : node)
		set_name(one, "node");
	on_cpu(2, [&] {
		cpu_context mine;

		for (usize i = 0; i + 2 < node.size(); i++)
			node[i].lock();
		handler_scope in(mine, context::interrupt);
		node[held_locks::most - 1].lock();
		CHECK(notes.empty());
		node[held_locks::most].lock();
		has(notes.at(0), "too many locks at once");
		has(panic_of([&] { in.end(); }),
		    "an interrupt handler returns with it held");
		print_held([](const char *) {});
		has(panic_of([&] {
			    irqs on(true);
			    might_wait();
		    }),
		    "with a lock held");
		has(panic_of([&] {
			    none_held_in(&node[held_locks::most - 1], 1);
		    }),
		    "memory was freed with a lock in it that is held");
		for (auto &one : node)
			one.unlock();
		none_held_in(node.data(), node.size() * sizeof(node[0]));
	});
	CHECK(fresh.order.mine() == nullptr);
	on_cpu(3, [&] {
		CHECK(fresh.order.mine() == nullptr);
		node[0].lock();
		node[0].unlock();
	});
	has(notes.at(1), "too many owners");
}

TEST_CASE("lock_order: what it keeps, in bytes")
{
	constexpr bool wide = sizeof(void *) == 8;
	/* Each owner adds so much. */
	constexpr auto owner = [](u32 classes) {
		return sizeof(held_locks) +
		       held_locks::most * sizeof(usize) *
			       class_set::words_for(classes);
	};

	STATIC_REQUIRE(sizeof(held_locks) == (wide ? 832 : 640));
	STATIC_REQUIRE(sizeof(lock_order_memory<16, 1>) - owner(16) ==
		       (wide ? 4032 : 2496));
	STATIC_REQUIRE(sizeof(lock_order_memory<64, 1>) - owner(64) ==
		       (wide ? 15808 : 11712));
	STATIC_REQUIRE(sizeof(lock_order_memory<128, 1>) - owner(128) ==
		       (wide ? 38784 : 30592));
}

} // namespace lock_order_tables_tests

/*
 * lock_order and handlers: what they take counts, over any number of locks; and
 * wherever one comes, it sees what is held, and leaves what it found.
 */
namespace lock_order_interrupts_tests {

namespace {

struct three_locks {
	checked_lock<byte_lock, "device"> device;
	checked_lock<byte_lock, "middle"> middle;
	checked_lock<byte_lock, "log"> log;
};

template <typename Lock>
std::string handler_takes(unsigned cpu, Lock &lock)
{
	return panic_of([&] {
		as(cpu, context::interrupt, [&] {
			lock.lock();
			lock.unlock();
		});
	});
}

template <typename Lock>
std::string open_takes(unsigned cpu, Lock &lock)
{
	return panic_of([&] {
		as(cpu, context::thread, [&] {
			irqs on(true);
			lock.lock();
			lock.unlock();
		});
	});
}

} // namespace

TEST_CASE("lock_order: interrupts: the edge closes it; all lines are named")
{
	new_order<> fresh;
	three_locks of;
	const int handler = __LINE__ + 1;
	as(0, context::interrupt, [&] { guard held(of.device); });
	const int open = __LINE__ + 1;
	of.log.lock();
	of.log.unlock();
	on_cpu(1, [&] {
		const int first = __LINE__ + 1;
		of.device.lock();
		const std::string said = panic_of([&] { of.log.lock(); });

		CHECK(said == "log, CPU 1: interrupts: a handler waits for "
			      "device at " +
				      at_line(handler) +
				      "; log is held or waited for with "
				      "interrupts on at " +
				      at_line(open) + "; known: device (" +
				      at_line(first) + ") then log (" +
				      at_line(first + 1) +
				      ") on CPU 1; found at " +
				      at_line(first + 1));
	});
}

TEST_CASE("lock_order: interrupts: what nests is read in a handler, too")
{
	new_order<> fresh;
	checked_lock<reader_lock<4>, "table"> table;
	three_locks of;
	const auto reads = [&](context here) {
		std::string said;

		as(0, here, [&] {
			said = panic_of([&] {
				table.lock_shared(0);
				table.unlock_shared(0);
			});
		});
		return said;
	};

	CHECK(reads(context::thread) == "");
	CHECK(reads(context::interrupt) == "");
	CHECK(reads(context::thread) == "");
	/* The table's writer waits for who holds the log, and is waited for. */
	CHECK(open_takes(1, of.log) == "");
	has(taking(2, table, of.log), "a handler waits for table at ");
}

TEST_CASE("lock_order: interrupts: what nests is written with interrupts on")
{
	new_order<> fresh;
	checked_lock<reader_lock<4>, "table"> table, another;

	as(0, context::thread, [&] {
		table.lock_shared(0);
		table.unlock_shared(0);
	});
	as(0, context::interrupt, [&] {
		another.lock_shared(0);
		another.unlock_shared(0);
	});
	has(open_takes(1, table), "a handler waits for table at ");
}

/*
 * A handler reads the second and waits for its writer, which waits for the
 * first, which the interrupted thread reads. Whatever is seen last closes it.
 */
TEST_CASE(
	"lock_order: interrupts: what nests is read, and two are held at once")
{
	for (int last = 0; last < 3; last++) {
		new_order<> fresh;
		checked_lock<reader_lock<4>, "table"> table[2];
		const auto reads = [&](unsigned which, context here) {
			return panic_of([&] {
				as(0, here, [&] {
					table[which].lock_shared(0);
					table[which].unlock_shared(0);
				});
			});
		};
		std::string said;

		for (int step = 1; step <= 3; step++) {
			CHECK(said == "");
			const int what = (last + step) % 3;

			said = what == 0   ? taking(1, table[0], table[1])
			       : what == 1 ? reads(0, context::thread)
					   : reads(1, context::interrupt);
		}
		has(said, "a handler waits for table at ");
	}
}

TEST_CASE("lock_order: interrupts that go on inside of a section, and a lock")
{
	new_order<> fresh;
	three_locks of;
	int inside = 0;

	/* The pair is known, and the lock inside with interrupts on. */
	CHECK(taking(1, of.log, of.middle) == "");
	on_cpu(1, [&] {
		irqs on(true);
		of.middle.lock();
		of.middle.unlock();
	});
	on_cpu(0, [&] {
		of.log.lock();
		{
			irqs on(true);
			inside = __LINE__ + 1;
			of.middle.lock();
			of.middle.unlock();
		}
		of.log.unlock();
	});
	CHECK(taking(1, of.device, of.log) == "");
	has(handler_takes(1, of.device),
	    "log is held or waited for with interrupts on at " +
		    at_line(inside));
}

TEST_CASE("lock_order: a handler that has interrupted a waiter or a holder")
{
	for (const place where :
	     {place::before_ticket, place::taken, place::before_release}) {
		new_order<> fresh;
		checked_lock<hooked_lock, "outer"> outer;
		three_locks of;
		bool ran = false;

		next_hook = {where, [&] {
				     CHECK(handler_takes(0, of.log) == "");
				     ran = true;
			     }};
		on_cpu(0, [&] {
			outer.lock();
			outer.unlock();
		});
		CHECK(ran);
		CHECK(fresh.order.mine() == nullptr);
		has(taking(1, of.log, outer), "known: outer (");
	}
}

TEST_CASE("lock_order: the same in try_lock()")
{
	new_order<> fresh;
	checked_lock<hooked_lock, "outer"> outer;
	three_locks of;

	next_hook = {place::taken,
		     [&] { CHECK(handler_takes(0, of.log) == ""); }};
	on_cpu(0, [&] {
		CHECK(outer.try_lock());
		outer.unlock();
	});
	CHECK_FALSE(next_hook.run);
	has(taking(1, of.log, outer), "known: outer (");
}

TEST_CASE("lock_order: might_wait() in a handler, with the thread's lock held")
{
	new_order<> fresh;
	three_locks of;

	on_cpu(0, [&] {
		of.log.lock();
		as(0, context::interrupt, [] {
			has(panic_of([] { might_wait(); }),
			    "log, CPU 0: might_wait() with a lock held");
			has(panic_of([] { might_switch(); }),
			    "log, CPU 0: might_switch() with a spinlock held");
		});
		of.log.unlock();
		as(0, context::interrupt, [] {
			const irqs on(true);

			has(panic_of([] { might_wait(); }),
			    "might_wait(), CPU 0: in a handler; at ");
			CHECK(panic_of([] { might_switch(); }) == "");
		});
	});
}

} // namespace lock_order_interrupts_tests
