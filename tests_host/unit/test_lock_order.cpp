/* SPDX-License-Identifier: MIT */
/*
 * lock_order: what is learned, and what is then said of which lines.
 */
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/once.hpp>
#include <klock/order_calls.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/print_held.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/seq_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/timeout_lock.hpp>
#include <klock/try_lock_until.hpp>

#include <cstring>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "hooked_lock.hpp"
#include "order_kernel.hpp"
#include "stepper.hpp"
#include "words.hpp"
using namespace klock;

/*
 * lock_order: two orders are named when both were seen, whoever took the locks,
 * however far apart; what is right is left alone.
 */
namespace lock_order_tests {

TEST_CASE("lock_order: two orders of two locks, all four lines named")
{
	new_order<> fresh;
	five_locks of;
	std::string said;
	int first = 0, second = 0;

	on_cpu(3, [&] {
		first = __LINE__ + 1;
		of.a.lock();
		of.b.lock();
		of.b.unlock();
		of.a.unlock();
	});
	on_cpu(5, [&] {
		second = __LINE__ + 1;
		of.b.lock();
		said = panic_of([&] { of.a.lock(); });
	});
	CHECK(said == "a, CPU 5: lock order: b (" + at_line(second) +
			      ") then a (" + at_line(second + 1) +
			      ") on CPU 5; known: a (" + at_line(first) +
			      ") then b (" + at_line(first + 1) + ") on CPU 3");
}

TEST_CASE("lock_order: a report comes before the lock is touched, and once")
{
	new_order<> fresh;
	checked_lock<byte_lock, "first"> first;
	checked_lock<hooked_lock, "second"> second;
	bool touched = false;

	on_cpu(0, [&] {
		second.lock();
		first.lock();
		first.unlock();
		second.unlock();
		first.lock();
		next_hook = {place::before_ticket, [&] { touched = true; }};
		has(panic_of([&] { second.lock(); }), "lock order");
		CHECK_FALSE(touched);
		next_hook.run = nullptr;
	});
	/* Others of the same names: these are still held. */
	checked_lock<byte_lock, "first"> another_first;
	checked_lock<byte_lock, "second"> another_second;

	CHECK(taking(1, another_first, another_second) == "");
	CHECK(taking(1, another_second, another_first) == "");
}

TEST_CASE("lock_order: what a try_lock() has not taken is not held")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] { of.a.lock(); });
	on_cpu(1, [&] {
		CHECK_FALSE(of.a.try_lock());
		of.b.lock();
		of.b.unlock();
	});
	on_cpu(0, [&] { of.a.unlock(); });
	CHECK(taking(1, of.b, of.a) == "");
}

TEST_CASE("lock_order: hand over hand, through more locks than are ever held")
{
	new_order<> fresh;
	checked_lock<byte_lock> chain[3 * held_locks::most];

	for (auto &one : chain)
		set_name(one, "node");
	on_cpu(0, [&] {
		chain[0].lock();
		for (usize i = 1; i < 3 * held_locks::most; i++) {
			chain[i].lock();
			chain[i - 1].unlock();
		}
		has(panic_of([&] { chain[0].lock(); }), "same class");
	});
	CHECK(notes.empty());
}

/*
 * One lock that is held is not known to come first: wherever it stands, one
 * look at the sum is not enough.
 */
TEST_CASE("lock_order: one look: a lock that takes a free place below")
{
	new_order<> fresh;
	five_locks of;

	CHECK(taking(1, of.a, of.b, of.c, of.d) == "");
	on_cpu(0, [&] {
		of.a.lock();
		of.b.lock();
		of.c.lock();
		of.a.unlock();
		of.e.lock();
		of.d.lock();
		of.d.unlock();
	});
	has(taking(1, of.d, of.e), "known: e (");
}

/* The handler's place is below that of the wait. */
TEST_CASE("lock_order: what a handler reads and releases leaves the wait")
{
	new_order<> fresh;
	checked_lock<reader_lock<2>, "readers"> readers;
	five_locks of;
	const wanted_lock want = {
		&readers, {"readers", 0}, {"f.c", 1}, true, true};

	on_cpu(0, [&] {
		of.a.lock();
		of.b.lock();
		const held_place waits = fresh.order.before_wait(want);
		of.a.unlock();
		as(0, context::interrupt, [&] {
			readers.lock_shared(0);
			readers.unlock_shared(0);
		});
		CHECK(waits.at->is_waiting());
		CHECK(waits.at->is_of(&readers));
		order_keeper::gone(waits);
		of.b.unlock();
	});
	CHECK(fresh.order.mine() == nullptr);
}

TEST_CASE("lock_order: one look: above a lock that a try has taken")
{
	new_order<> fresh;
	five_locks of;

	CHECK(taking(0, of.a, of.b, of.d) == "");
	on_cpu(0, [&] {
		of.e.lock();
		CHECK(of.b.try_lock());
		of.d.lock();
		of.d.unlock();
	});
	has(taking(1, of.d, of.e), "known: e (");
}

TEST_CASE("lock_order: one look: above a lock that a look let pass")
{
	new_order<> fresh;
	five_locks of;

	CHECK(taking(0, of.a, of.b) == "");
	CHECK(taking(0, of.a, of.c) == "");
	CHECK(taking(0, of.a, of.b, of.c) == "");
	has(taking(1, of.c, of.b), "known: b (");
}

TEST_CASE("lock_order: one look: a held lock gets another sub-rank")
{
	new_order<> fresh;
	checked_lock<byte_lock, "directory"> at[2];
	five_locks of;

	CHECK(taking(0, at[0], of.a, of.b) == "");
	on_cpu(0, [&] {
		at[0].lock();
		of.a.lock();
		set_sub_rank(at[0], 1);
		of.b.lock();
		of.b.unlock();
	});
	on_cpu(1, [&] {
		const nested one_down(at[1], 1);

		of.b.lock();
		has(panic_of([&] { at[1].lock(); }),
		    "known: directory (nested 1) (");
	});
}

/* Its other class is known to come behind all that is held. */
TEST_CASE("lock_order: one look: one held again, by another sub-rank or name")
{
	const bool by_name = GENERATE(false, true);
	const char *const name = by_name ? "file" : "inode";
	const u8 rank = by_name ? 0 : 1;
	new_order<> fresh;
	char above[3], held, other;

	on_cpu(0, [&] {
		/* acquired() leaves the first place free, and fills it next. */
		acquired(&above[0], "mount");
		acquired(&above[1], "volume");
		acquired(&above[2], "directory");
		acquired(&held, "inode");
		acquired(&other, name, rank);
		released(&other);
		has(panic_of([&] { acquired(&held, name, rank); }),
		    "recursion: the caller already holds it");
	});
}

TEST_CASE("lock_order: who waits until a deadline waits")
{
	new_order<> fresh;
	checked_lock<timeout_lock<4>, "patient"> patient;
	five_locks of;

	on_cpu(0, [&] {
		of.a.lock();
		CHECK(patient.try_lock_for(0, 1000000));
		patient.unlock(0);
		of.a.unlock();
	});
	on_cpu(1, [&] {
		CHECK(patient.try_lock_for(1, 1000000));
		has(panic_of([&] { of.a.lock(); }), "known: a (");
	});
}

TEST_CASE("lock_order: who tries again and again until a deadline waits")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] {
		of.a.lock();
		CHECK(try_lock_for(of.b, 1000000));
		of.b.unlock();
		of.a.unlock();
	});
	on_cpu(1, [&] {
		of.b.lock();
		const int line = __LINE__ + 2;
		const std::string said =
			panic_of([&] { (void)try_lock_for(of.a, 5); });
		has(said, "known: a (");
		has(said, "test_lock_order.cpp:" + std::to_string(line));
	});
	on_cpu(2, [&] {
		of.c.lock();
		on_cpu(3, [&] {
			CHECK_FALSE(try_lock_until(of.c, 0));
			CHECK(fresh.order.mine() == nullptr);
		});
		of.c.unlock();
	});
}

namespace {
struct lock_for_two : hooked_lock {
	static constexpr u64 max_contenders = 2;
};
} // namespace

/* CPU 0 leaves, and CPU 1 has it next: CPU 2 cannot even try. */
TEST_CASE("lock_order: who finds no room until its deadline holds nothing")
{
	new_order<> fresh;
	checked_lock<lock_for_two, "lock"> lock;

	on_cpu(0, [&] { lock.lock(), lock.unlock(); });
	on_cpu(1, [&] {
		next_hook = {place::taken, [&] {
				     on_cpu(2, [&] {
					     CHECK_FALSE(
						     try_lock_until(lock, 0));
					     CHECK(!fresh.order.mine());
				     });
			     }};
		lock.lock();
		lock.unlock();
	});
}

TEST_CASE("lock_order: who has given up waiting holds nothing")
{
	new_order<> fresh;
	checked_lock<timeout_lock<4>, "patient"> patient;
	five_locks of;

	on_cpu(0, [&] { CHECK(patient.try_lock_for(0, 1000000)); });
	on_cpu(1, [&] {
		CHECK_FALSE(patient.try_lock_until(1, 0));
		CHECK(fresh.order.mine() == nullptr);
		of.a.lock();
		of.a.unlock();
	});
	on_cpu(0, [&] { patient.unlock(0); });
	on_cpu(2, [&] {
		of.a.lock();
		CHECK(panic_of([&] {
			      CHECK(patient.try_lock_for(2, 1000000));
		      }) == "");
	});
}

TEST_CASE("lock_order: might_wait() with nothing held, and with a lock")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] {
		has(panic_of([] { might_wait(); }),
		    "might_wait(), CPU 0: with interrupts off; at ");
		CHECK(panic_of([] { might_switch(); }) == "");
		const irqs on(true);

		CHECK(panic_of([] { might_wait(); }) == "");
		const int taken = __LINE__ + 1;
		of.a.lock();
		const std::string said = panic_of([] { might_wait(); });

		has(said, "a, CPU 0: might_wait() with a lock held; at " +
				  at_line(taken + 1));
		has(said, "taken at " + at_line(taken));
		of.a.unlock();
		CHECK(panic_of([] { might_wait(); }) == "");
	});
}

TEST_CASE("lock_order: what serve() takes is behind what its waiter wants")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(1, [&] { of.a.lock(), of.c.lock(); });
	on_cpu(0, [&] {
		const auto again = [&] { of.c.lock([&] { of.c.lock(); }); };

		of.a.lock([&] {
			guard held(of.b);
			on_cpu(1, [&] { of.a.unlock(); });
		});
		of.a.unlock();
		has(panic_of(again),
		    "recursion: the caller already waits for it");
	});
	has(taking(1, of.b, of.a), "lock order: ");
}

TEST_CASE("lock_order: what serve() takes is learned though nobody waits")
{
	new_order<> fresh;
	five_locks free;
	unsigned served = 0;

	on_cpu(0, [&] {
		free.c.lock([&] {
			guard held(free.b);
			served++;
		});
		free.c.unlock();
	});
	CHECK(served == 1);
	has(taking(1, free.b, free.c), "known: c (");
}

TEST_CASE("lock_order: a kernel without one checks what it checked before")
{
	five_locks of;

	CHECK_FALSE(order_is_checked());
	CHECK(taking(0, of.a, of.b) == "");
	CHECK(taking(1, of.b, of.a) == "");
	on_cpu(0, [&] {
		nested no_matter(of.a, 1);

		of.a.lock();
		has(panic_of([] { might_switch(); }),
		    "might_switch() with a spinlock held");
		has(panic_of([&] { of.a.lock(); }), "recursion");
	});
}

TEST_CASE("lock_order: of a lock that is not checked nothing is kept")
{
	new_order<> fresh;
	checked_if<false, byte_lock, "a"> a;
	checked_if<false, byte_lock, "b"> b;

	CHECK(taking(0, a, b) == "");
	CHECK(taking(0, b, a) == "");
	on_cpu(0, [&] {
		nested nothing(a, 1);

		STATIC_REQUIRE(sizeof(nothing) == 1);
		a.lock();
		might_wait<false>();
		a.unlock();
	});
	STATIC_REQUIRE(sizeof(a) == 2);
	CHECK(lock_order_if<false, 64, 8>() == nullptr);
	CHECK(lock_order_if<true, 64, 8>() == lock_order_of<64, 8>());
}

} // namespace lock_order_tests

/*
 * lock_order by a script: which CPU takes which locks, and what is said of the
 * last that does.
 *
 *	0:ab		CPU 0 takes a, then b, and releases both; interrupts off
 *	0:?ab		takes a by try_lock()
 *	0:ab-a-bc	releases a and b before it takes c
 *	0:(ab)		takes both by a pair_guard
 *	0i:a, 0t:a	in its interrupt handler; in a thread, interrupts on
 *
 * A is another lock of a's name, and at a higher address.
 */
namespace lock_order_script_tests {

namespace {

struct lettered_locks {
	lettered_locks()
	{
		for (usize i = 0; i < std::size(all); i++)
			set_name(all[i], names[i]);
	}
	checked_lock<ticket_lock<u8>> &operator[](char letter)
	{
		return letter == 'A' ? all[5] : all[letter - 'a'];
	}

	static constexpr const char *names[] = {"a", "b", "c", "d", "e", "a"};
	checked_lock<ticket_lock<u8>> all[std::size(names)];
};

/* Takes what the letters name, then releases it. */
void takes(lettered_locks &of, const std::string &letters)
{
	std::vector<char> taken;

	for (usize i = 0; i < letters.size(); i++) {
		if (letters[i] == '(') {
			pair_guard both(of[letters[i + 1]], of[letters[i + 2]]);
			i += 3;
			continue;
		}
		if (letters[i] == '-') {
			of[letters[++i]].unlock();
			std::erase(taken, letters[i]);
			continue;
		}
		if (letters[i] == '?')
			CHECK(of[letters[++i]].try_lock());
		else
			of[letters[i]].lock();
		taken.push_back(letters[i]);
	}
	for (char letter : taken)
		of[letter].unlock();
}

/* Returns the finding on this step. */
std::string said_of_step(lettered_locks &of, const std::string &step)
{
	const usize colon = step.find(':');
	const unsigned cpu = step[0] - '0';
	const auto does = [&] { takes(of, step.substr(colon + 1)); };

	return panic_of([&] {
		if (step[1] == 'i')
			as(cpu, context::interrupt, does);
		else if (step[1] == 't')
			as(cpu, context::thread, does);
		else
			on_cpu(cpu, does);
	});
}

/*
 * The right steps, the last one, and the parts of its report in this order.
 * Nothing is said where it is right, too. What the kernel declares before.
 */
struct order_case {
	const char *name, *right, *last, *said = "";
	std::span<const declared_order> declared = {};
};

constexpr declared_order a_b[] = {before("a", "b")};
constexpr declared_order a_b_c[] = {before("a", "b"), before("b", "c")};
constexpr declared_order ranks[] = {rank<30>("c"), rank<10>("a"), rank<20>("b"),
				    rank<20>("d")};
constexpr declared_order b_a_is_harmless[] = {harmless("b", "a")};

constexpr order_case order_cases[] = {
	{"one order, by all, is right", "0:abcde 1:abcde 2:be 3:ad 0:be 1:ad",
	 "2:abcde"},
	{"a cycle of three over three CPUs", "0:ab 1:bc", "2:ca",
	 "a, CPU 2: lock order: c ( ... ) then a ( ... on CPU 2; known: a ( "
	 "... ) then b ( ... on CPU 0, b ( ... ) then c ( ... on CPU 1"},
	{"a cycle of five", "0:ab 1:bc 2:cd 3:de", "4:ea",
	 "on CPU 0, b ( ... on CPU 1, c ( ... on CPU 2, d ( ... on CPU 3"},
	{"of two ways the shorter is named", "0:ab 1:be 5:ae", "4:ea",
	 "known: a ( ... ) then e ( ... on CPU 5"},
	/* No way over b: a try adds no edge from a to it. */
	{"what is held, not only what was taken last, comes first", "0:a?bc",
	 "1:ca", "known: a ("},
	{"what is held, not only what was taken first, comes first", "0:abc",
	 "1:cb", "known: b ("},
	{"try_lock() adds no edge to what it tries", "0:a?b", "1:ba"},
	{"what a try_lock() has taken is held", "0:?ab", "1:ba",
	 "lock order: b ("},
	/* Released in any order: b is held when c is taken, and a is not. */
	{"what was released first is held no more", "0:a?b-ac-b-c", "1:ca"},
	{"what was released last was held", "0:a?b-ac-b-c", "1:cb",
	 "lock order: c ("},

	/* Declared. */
	{"one order that is declared, and the other seen", "", "1:ca",
	 "known: a then b (declared), b then c (declared)", a_b_c},
	{"one order that is declared and seen, and the other", "0:abc", "1:ca",
	 "on CPU 1; known: a (", a_b_c},
	{"ranks order all that have one", "", "1:ba",
	 "known: a then b (declared)", ranks},
	{"a rank orders what was ranked before it", "", "1:cb",
	 "known: b then c (declared)", ranks},
	{"equal ranks do not, nor what is seen besides", "0:abc 0:bd", "1:ca",
	 "lock order: c (", ranks},
	{"what is only declared is no inversion of interrupts", "0i:a 0t:b",
	 "0:ab", "interrupts: a handler waits for a at ", a_b},
	{"a pair that is declared harmless closes no cycle", "0:ab 1:ba 1:bc",
	 "1:ca", "lock order: c (", b_a_is_harmless},

	/* Pairs by address. */
	{"pairs of two classes, by address both ways round",
	 "0:(ab) 1:(Ab) 2:(ba)", "3:ab", "lock order: a ("},
	{"a pair by address behind an order that is not", "0:ab 1:(ab)",
	 "2:(bA)", "lock order: b ("},
	{"pairs in a ring with one order that is not by address", "0:(bA) 1:Ac",
	 "2:cb", "known: b ("},
	{"a pair by address against two orders that are declared", "", "2:(cA)",
	 "known: a then b (declared), b then c (declared)", a_b_c},

	/*
	 * CPU 1 holds what a handler of CPU 0 waits for, and waits for what
	 * CPU 0 has held when it was interrupted.
	 */
	{"interrupts: the handler closes it", "1:ac 0t:c", "2i:a",
	 "interrupts: a handler waits for a at ... ; c is held or waited for "
	 "with interrupts on at "},
	{"interrupts: who has them on closes it", "2i:a 1:ac", "0t:c",
	 "interrupts: a handler waits for a at ... ; c is held or waited for "
	 "with interrupts on at "},
	{"interrupts: over three locks, by the first edge", "2i:a 0t:c 1:bc",
	 "1:ab",
	 "interrupts: a handler waits for a at ... ; c is held or waited for "
	 "with interrupts on at ... known: a ( ... ) then b ( ... , b ( ... ) "
	 "then c ("},
	{"interrupts: over three locks, by the last edge", "2i:a 0t:c 1:ab",
	 "1:bc",
	 "interrupts: a handler waits for a at ... ; c is held or waited for "
	 "with interrupts on at ... known: a ( ... ) then b ( ... , b ( ... ) "
	 "then c ("},
	{"interrupts: two locks of one class, one in a handler", "0i:a", "1t:A",
	 "a handler waits for a at ... ; a is held or waited for with "
	 "interrupts on at ... ; found at "},
	/* Nothing that handlers wait for comes before d. */
	{"interrupts off, and all is right", "0:abc 1i:a 2i:c 3:ac 0t:d",
	 "0:da"},
	{"a handler that only tries waits for nobody", "0t:c 1:ac", "0i:?a"},
	{"a try with interrupts on is held with interrupts on", "1:ac 0t:?c",
	 "2i:a",
	 "interrupts: a handler waits for a at ... ; c is held or waited for "
	 "with interrupts on at "},
};

void check(const order_case &row)
{
	new_order<> fresh;
	lettered_locks of;
	const auto &declared = row.declared;

	fresh.order.declare(declared.data(), declared.size(), caller_site());
	for (const std::string &step : unit::words_of(row.right)) {
		INFO(step);
		CHECK(said_of_step(of, step) == "");
	}
	const std::string said = said_of_step(of, row.last);

	INFO(said << "\nlacks: " << row.said);
	CHECK(said.empty() == !*row.said);
	CHECK(unit::has_parts(said, row.said));
	CHECK(notes.empty());
}

} // namespace

TEST_CASE("lock_order: scripts")
{
	for (const order_case &row : order_cases)
		DYNAMIC_SECTION(row.name) { check(row); }
}

} // namespace lock_order_script_tests

/*
 * lock_order: a class is a name; two locks of one class are taken in the order
 * of their addresses, or of sub-ranks that are declared.
 */
namespace lock_order_classes_tests {

TEST_CASE("lock_order: two of one class, by ascending address")
{
	new_order<> fresh;
	checked_lock<byte_lock> queues[2];

	set_name(queues[0], "runqueue", 0);
	set_name(queues[1], "runqueue", 1);
	CHECK(taking(0, queues[0], queues[1]) == "");
	on_cpu(1, [&] {
		const int first = __LINE__ + 1;
		queues[1].lock();
		const std::string said = panic_of([&] { queues[0].lock(); });

		has(said,
		    "runqueue[0], CPU 1: same class: not at a higher "
		    "address, nor of a higher sub-rank, than the one that "
		    "is held; ");
		has(said, "at " + at_line(first + 1));
		has(said, "runqueue[1] was taken at " + at_line(first));
	});
}

namespace {

/* The first at the lower address. */
struct directories {
	checked_lock<byte_lock, "directory"> at[3];
};

} // namespace

TEST_CASE("lock_order: two of one class, by a declared sub-rank")
{
	new_order<> fresh;
	directories of;

	on_cpu(0, [&] {
		of.at[1].lock();
		{
			nested one_down(of.at[0], 1);
			CHECK(panic_of([&] { of.at[0].lock(); }) == "");
		}
		of.at[0].unlock();
		of.at[1].unlock();
	});
}

TEST_CASE("lock_order: a sub-rank ends with its block")
{
	new_order<> fresh;
	directories of;

	on_cpu(0, [&] {
		of.at[1].lock();
		{
			nested one_down(of.at[0], 1);
		}
		has(panic_of([&] { of.at[0].lock(); }), "same class");
	});
}

TEST_CASE("lock_order: a sub-rank is of one lock alone")
{
	new_order<> fresh;
	directories of;

	on_cpu(0, [&] {
		of.at[2].lock();
		nested one_down(of.at[1], 1);
		has(panic_of([&] { of.at[0].lock(); }), "same class");
	});
}

TEST_CASE("lock_order: sub-ranks nest, and must go up")
{
	new_order<> fresh;
	directories of;
	five_locks others;

	on_cpu(0, [&] {
		others.a.lock();
		nested outer(of.at[0], 2);
		{
			nested inner(of.at[1], 3);
		}
		of.at[0].lock();
		nested lower(of.at[2], 1);
		has(panic_of([&] { of.at[2].lock(); }), "same class");
	});
}

namespace {

/* A child at the lower address, taken in two ways that are right alone. */
struct parent_and_child {
	void by_sub_rank(unsigned cpu)
	{
		on_cpu(cpu, [&] {
			nested one_down(of.at[0], 1);
			ranked_at = __LINE__ + 1;
			of.at[1].lock();
			said = panic_of([&] { of.at[0].lock(); });
		});
	}
	void by_address(unsigned cpu)
	{
		on_cpu(cpu, [&] {
			plain_at = __LINE__ + 1;
			of.at[0].lock();
			said = panic_of([&] { of.at[1].lock(); });
		});
	}
	void unlock(unsigned cpu)
	{
		CHECK(said == "");
		on_cpu(cpu, [&] {
			of.at[0].unlock();
			of.at[1].unlock();
		});
	}

	directories of;
	int ranked_at = 0, plain_at = 0;
	std::string said;
};

} // namespace

TEST_CASE("lock_order: two of a name by sub-rank, and two by address")
{
	new_order<> fresh;
	parent_and_child pair;

	pair.by_sub_rank(0);
	pair.unlock(0);
	pair.by_address(1);
	CHECK(pair.said ==
	      "directory, CPU 1: same class, by address and by sub-rank: "
	      "directory (" +
		      at_line(pair.plain_at) + ") then directory (" +
		      at_line(pair.plain_at + 1) +
		      ") on CPU 1; known: directory (" +
		      at_line(pair.ranked_at) +
		      ") then directory (nested 1) (" +
		      at_line(pair.ranked_at + 1) + ") on CPU 0");
}

TEST_CASE("lock_order: two of a name by address, and two by sub-rank")
{
	new_order<> fresh;
	parent_and_child pair;

	pair.by_address(1);
	pair.unlock(1);
	pair.by_sub_rank(0);
	has(pair.said, "by sub-rank: directory (" + at_line(pair.ranked_at));
	has(pair.said, "known: directory (" + at_line(pair.plain_at) +
			       ") then directory (" +
			       at_line(pair.plain_at + 1));
}

TEST_CASE("lock_order: a sub-rank is declared before anything is held")
{
	new_order<> fresh;
	directories of;
	five_locks others;

	on_cpu(0, [&] {
		{
			nested one_down(of.at[0], 1);
			as(0, context::interrupt, [&] {
				others.a.lock();
				others.a.unlock();
			});
			of.at[1].lock();
			CHECK(panic_of([&] { of.at[0].lock(); }) == "");
		}
		of.at[1].unlock();
		of.at[0].unlock();
		CHECK(fresh.order.mine() == nullptr);
		{
			nested none_taken(of.at[0], 1);
		}
		CHECK(fresh.order.mine() == nullptr);
	});
}

TEST_CASE("lock_order: a sub-rank that does not fit is refused")
{
	new_order<> fresh;
	directories of;

	on_cpu(0, [&] {
		has(panic_of([&] { nested wide(of.at[0], 256); }),
		    "a sub-rank above 255");
		of.at[0].lock();
		has(panic_of([&] { set_sub_rank(of.at[0], 257); }),
		    "a sub-rank above 255");
	});
}

TEST_CASE("lock_order: a parent, the parent's pages, and a child")
{
	new_order<> fresh;
	directories of;
	checked_lock<byte_lock, "page"> page;

	on_cpu(0, [&] {
		nested one_down(of.at[0], 1);
		of.at[1].lock();
		page.lock();
		CHECK(panic_of([&] { of.at[0].lock(); }) == "");
		of.at[0].unlock();
		page.unlock();
		of.at[1].unlock();
	});
	has(taking(1, page, of.at[2]), "known: directory (");
}

TEST_CASE("lock_order: hand over hand along a list, one that is a sub-rank up")
{
	new_order<> fresh;
	directories of;

	on_cpu(0, [&] {
		of.at[2].lock();
		for (int i = 1; i >= 0; i--) {
			nested one_down(of.at[i], 1);
			CHECK(panic_of([&] { of.at[i].lock(); }) == "");
			of.at[i + 1].unlock();
			set_sub_rank(of.at[i], 0);
		}
		of.at[0].unlock();
	});
}

TEST_CASE("lock_order: sub-ranks, names and who holds it, of an irq_lock")
{
	new_order<> fresh;
	irq_lock<checked_lock<byte_lock, "directory">> at[2];

	set_name(at[1], "parent");
	set_name(at[1], "directory", 1);
	on_cpu(0, [&] {
		nested one_down(at[0], 1);
		irq_guard outer(at[1]);
		CHECK(panic_of([&] {
			      irq_guard inner(at[0]);
			      at[0].assert_held();
		      }) == "");
		has(panic_of([&] { at[0].assert_held(); }), "directory");
	});
}

/* The lower one of the pair is not checked: it gives no other way round. */
TEST_CASE("lock_order: a lock that is held besides a pair is not by address")
{
	new_order<> fresh;
	struct {
		byte_lock lower;
		checked_lock<byte_lock, "a"> a;
		checked_lock<byte_lock, "b"> b;
	} of;

	on_cpu(0, [&] {
		of.b.lock();
		{
			pair_guard both(of.lower, of.a);
		}
		of.b.unlock();
	});
	on_cpu(1, [&] {
		has(panic_of([&] { pair_guard both(of.a, of.b); }),
		    "known: b (");
	});
}

/* Pairs are two words, and so is a sub-rank with its lock. */
TEST_CASE("lock_order: a handler between the stores of a pair or a sub-rank")
{
	new_order<> fresh;
	five_locks of;
	unsigned mixed = 0;

	of.a.lock();
	const nested outer(of.b, 1);
	const held_locks &mine = *fresh.order.mine();
	const auto sets_pair = [&] {
		(void)fresh.order.next_by_address({3, 4});
	};
	const auto sets_rank = [&] { const nested inner(of.c, 2); };
	const auto handler = [&] {
		const usize ranked = mine.ranked.load_relaxed();
		const u8 rank = mine.rank.load_relaxed();

		mixed += mine.takes_by_address(1, 4);
		mixed += mine.takes_by_address(3, 2);
		mixed += ranked == reinterpret_cast<usize>(&of.b) && rank != 1;
		mixed += ranked == reinterpret_cast<usize>(&of.c) && rank != 2;
	};

	(void)fresh.order.next_by_address({1, 2});
	for (const unsigned long looks :
	     {unit::look_between(sets_pair, handler),
	      unit::look_between(sets_rank, handler)})
		CHECK((looks > 20 || !unit::can_step));
	CHECK(mixed == 0);
	of.a.unlock();
}

/* The handler's entry is below that of the release. */
TEST_CASE("lock_order: a handler takes what is being released")
{
	new_order<> fresh;
	checked_lock<hooked_lock, "b"> b;
	five_locks of;

	on_cpu(0, [&] {
		of.a.lock();
		b.lock();
		of.a.unlock();
		next_hook = {place::released, [&] {
				     as(0, context::interrupt, [&] {
					     CHECK(b.try_lock());
					     b.unlock();
				     });
			     }};
		b.unlock();
	});
	CHECK(fresh.order.mine() == nullptr);
}

TEST_CASE("lock_order: what nests is read again, with a lock between")
{
	new_order<> fresh;
	checked_lock<reader_lock<8>, "list"> list;
	five_locks of;

	on_cpu(0, [&] {
		list.lock_shared(0);
		of.a.lock();
		CHECK(panic_of([&] { list.lock_shared(0); }) == "");
		list.unlock_shared(0);
		of.a.unlock();
		list.unlock_shared(0);
	});
	on_cpu(1, [&] {
		of.a.lock();
		has(panic_of([&] { list.lock_shared(1); }), "known: list (");
	});
}

TEST_CASE("lock_order: a name is a class, wherever its text stands")
{
	new_order<> fresh;
	static const char here[] = "inode", there[] = "inode";
	checked_lock<byte_lock> one, other;
	five_locks of;

	set_name(one, here);
	set_name(other, there);
	CHECK(taking(0, one, of.a) == "");
	has(taking(1, of.a, other), "known: inode (");
}

TEST_CASE("lock_order: a name that ends with its lock, and another one there")
{
	new_order<> fresh;
	char text[40] = "the first of its kind";
	checked_lock<byte_lock> one;
	five_locks of;

	set_name(one, text);
	REQUIRE(taking(0, one, of.a) == "");
	/* Its memory is another lock's next, and the text's another text's. */
	std::strcpy(text, "second");
	set_name(one, text);
	REQUIRE(taking(0, of.a, one) == "");
	has(taking(1, one, of.a), "known: a (");
	std::strcpy(text, "the first of its kind");
	set_name(one, text);
	has(taking(2, of.a, one), "known: the first of its kind (");
}

TEST_CASE("lock_order: a long name is cut, and differs in its end")
{
	new_order<> fresh;
	static const char one_text[] = "a name of more than thirty-two, 1";
	static const char other_text[] = "a name of more than thirty-two, 2";
	checked_lock<byte_lock> one, other;
	five_locks of;

	set_name(one, one_text);
	set_name(other, other_text);
	CHECK(taking(0, one, of.a) == "");
	CHECK(taking(0, of.a, other) == "");
	has(taking(1, of.a, one), "known: a name of more than thirty-two, (");
}

TEST_CASE("lock_order: a lock without a name has no order")
{
	new_order<> fresh;
	checked_lock<byte_lock> one, other;
	five_locks of;

	CHECK(taking(0, one, of.a, other) == "");
	CHECK(taking(1, other, of.a, one) == "");
}

/* -- After the first report, and reports that go on ---------------------- */

TEST_CASE("lock_order: after the first report nothing is checked or said")
{
	new_order<> fresh;
	five_locks of, others;
	checked_lock<thread_lock<byte_lock>, "threads"> plain;
	struct checks_again {
		~checks_again() { set_checks(true); }
	} at_end;

	CHECK(taking(0, of.a, of.b) == "");
	has(taking(1, of.b, of.a), "lock order: ");
	/* A panic that does not come back. */
	set_checks(false);
	CHECK(taking(1, others.b, others.a) == "");
	on_cpu(1, [&] {
		of.c.lock();
		CHECK(panic_of([&] { might_switch(); }) == "");
		CHECK(panic_of([&] { assert_held(of.d); }) == "");
		as(1, context::interrupt, [&] {
			CHECK(panic_of([&] {
				      rescue_guard held(plain);
				      CHECK(held);
			      }) == "");
			/* It does not do what it cannot survive. */
			rescue_guard mine(of.c);
			CHECK_FALSE(mine);
		});
		of.c.unlock();
		rescue_guard free(of.c);
		CHECK(free);
	});
}

TEST_CASE("lock_order: findings that are noted, each once, and it goes on")
{
	new_order<> fresh(on_finding::note);
	five_locks of;
	checked_lock<byte_lock, "e"> low;

	CHECK(taking(0, of.a, of.b) == "");
	for (unsigned cpu = 0; cpu < 3; cpu++)
		CHECK(taking(cpu, of.b, of.a) == "");
	REQUIRE(notes.size() == 1);
	CHECK(has(notes[0], "a, CPU 0: lock order: b ("));
	/* It is no part of the order: a then b is right as before. */
	CHECK(taking(1, of.a, of.b) == "");
	CHECK(taking(1, of.b, of.c, of.a) == "");
	CHECK(notes.size() == 2);
	for (unsigned cpu = 0; cpu < 3; cpu++)
		CHECK((&low < &of.e ? taking(cpu, of.e, low)
				    : taking(cpu, low, of.e)) == "");
	REQUIRE(notes.size() == 3);
	CHECK(has(notes[2], "e, CPU 0: same class: "));
	/* Recursion panics even here: the CPU would wait for ever. */
	on_cpu(0, [&] {
		of.d.lock();
		CHECK(has(panic_of([&] { of.d.lock(); }), "recursion"));
		of.d.unlock();
	});
}

/* -- Locks that are not klock's, and memory that is freed ---------------- */

TEST_CASE("lock_order: a kernel's own lock that sleeps has its place")
{
	new_order<> fresh;
	five_locks of;
	int inode = 0, other_inode[2] = {};

	on_cpu(0, [&] {
		acquired(&inode, "inode");
		CHECK(taking(0, of.a) == "");
		const irqs on(true);

		might_wait();
		released(&inode);
	});
	on_cpu(1, [&] {
		of.a.lock();
		CHECK(has(panic_of([&] { acquired(&inode, "inode"); }),
			  "may sleep, but the caller holds"));
		of.a.unlock();
		/* The other way round over a sleeping one. */
		acquired(&other_inode[1], "buffer");
		acquired(&inode, "inode");
		released(&inode);
		released(&other_inode[1]);
		acquired(&inode, "inode");
		CHECK(has(
			panic_of([&] { acquired(&other_inode[0], "buffer"); }),
			"buffer, CPU 1: lock order: inode ("));
		CHECK(has(panic_of([&] { acquired(&inode, "inode"); }),
			  "recursion: the caller already holds it"));
		released(&inode);
	});
	CHECK(fresh.order.mine() == nullptr);
	as(0, context::interrupt, [&] {
		CHECK(has(panic_of([&] { acquired(&inode, "inode"); }),
			  "in an interrupt handler"));
	});
}

TEST_CASE("lock_order: a lock that sleeps, known to be free, under a spinning")
{
	new_order<> fresh;
	static constexpr declared_order list[] = {harmless("a", "inode")};
	five_locks of;
	int inode = 0;

	declare(list);
	on_cpu(0, [&] {
		of.a.lock();
		acquired(&inode, "inode");
		of.a.unlock();
		of.b.lock();
		released(&inode);
		has(panic_of([&] { acquired(&inode, "inode"); }),
		    "inode, CPU 0: may sleep, but the caller holds a spinlock; "
		    "at ");
		of.b.unlock();
	});
}

TEST_CASE("lock_order: a lock that sleeps is printed, and has a sub-rank")
{
	new_order<> fresh;
	int parent[2] = {};
	std::string lines;

	on_cpu(2, [&] {
		acquired(&parent[1], "directory");
		acquired(&parent[0], "directory", 1);
		print_held([&](const char *line) { lines += line; });
		CHECK(has(lines, "CPU 2 holds directory ("));
		released(&parent[0]);
		CHECK(has(panic_of([&] { acquired(&parent[0], "directory"); }),
			  "same class"));
		released(&parent[1]);
	});
}

TEST_CASE("lock_order: a lock that sleeps is released by its owner")
{
	int inode = 0, other = 0;
	const auto release = [](int &lock) {
		return panic_of([&] { released(&lock); });
	};

	{
		new_order<> fresh;

		on_cpu(0, [&] {
			acquired(&inode, "inode");
			CHECK(release(other) == "");
		});
		on_cpu(1, [&] {
			const std::string said = release(inode);

			has(said, "inode, CPU 1: released() by a caller that "
				  "did not acquire it; at ");
			has(said, "; taken at ");
			has(said, " on CPU 0");
		});
		on_cpu(0, [&] { CHECK(release(inode) == ""); });
	}
	/* Where there was no room, it may be another's, too: a reader's. */
	new_order<64, 1> full;

	on_cpu(0, [&] { acquired(&inode, "inode"); });
	on_cpu(1, [&] {
		acquired(&inode, "inode");
		CHECK(release(inode) == "");
	});
	on_cpu(0, [&] { CHECK(release(inode) == ""); });
}

TEST_CASE("once: two that wait for each other's lock, reported around the call")
{
	new_order<> fresh;
	once tables;
	int pool = 0;
	const auto get = [&] {
		acquired(&tables, "tables");
		tables.call([&] {
			acquired(&pool, "pool");
			released(&pool);
		});
		released(&tables);
	};

	on_cpu(0, get);
	on_cpu(1, [&] {
		acquired(&pool, "pool");
		has(panic_of(get), "tables, CPU 1: lock order: pool (");
	});
}

TEST_CASE("lock_order: a wait that lets go of one lock, and of no other")
{
	new_order<> fresh;
	five_locks of;

	on_cpu(0, [&] {
		CHECK(has(panic_of([&] { might_wait_with(of.a); }),
			  "the caller does not hold it"));
		of.a.lock();
		CHECK(panic_of([&] { might_wait_with(of.a); }) == "");
		of.b.lock();
		CHECK(has(panic_of([&] { might_wait_with(of.a); }),
			  "b, CPU 0: might_wait() with a lock held"));
		of.b.unlock();
		of.a.unlock();
	});
}

TEST_CASE("lock_order: memory that is freed with a lock in it held")
{
	new_order<> fresh;
	five_locks of;

	CHECK(panic_of([&] { none_held_in(&of, sizeof(of)); }) == "");
	on_cpu(1, [&] { of.e.lock(); });
	const std::string said =
		panic_of([&] { none_held_in(&of, sizeof(of)); });
	CHECK(has(said, "e, CPU 0: memory was freed with a lock in it that is "
			"held; at "));
	CHECK(has(said, "on CPU 1"));
	CHECK(panic_of([&] { none_held_in(&of, sizeof(of) - sizeof(of.e)); }) ==
	      "");
	on_cpu(1, [&] { of.e.unlock(); });
	CHECK(panic_of([&] { none_held_in(&of, sizeof(of)); }) == "");
}

namespace {
std::function<void()> when_free;

struct frees_in_unlock : byte_lock {
	void unlock()
	{
		byte_lock::unlock();
		when_free();
	}
};
} // namespace

TEST_CASE("lock_order: who has released it may find it freed by another")
{
	new_order<> fresh;
	checked_lock<frees_in_unlock, "page"> page;
	std::string said = "nobody came";

	/* CPU 1 frees it before CPU 0 has noted that it holds nothing. */
	when_free = [&] {
		said = panic_of([&] {
			as(1, context::thread,
			   [&] { none_held_in(&page, sizeof(page)); });
		});
	};
	on_cpu(0, [&] {
		page.lock();
		page.unlock();
	});
	CHECK(said == "");
}

/* -- Handlers that return ------------------------------------------------- */

TEST_CASE("lock_order: a handler that returns with a lock held")
{
	new_order<> fresh;
	cpu_context mine;
	five_locks of;

	on_cpu(0, [&] {
		of.a.lock();
		const int line = __LINE__ + 1;
		handler_scope interrupt(mine, context::interrupt);
		CHECK(mine.get() == context::interrupt);
		as(0, context::interrupt, [&] {
			{
				handler_scope nmi(mine, context::nmi);
				CHECK(mine.get() == context::nmi);
			}
			CHECK(mine.get() == context::interrupt);
			CHECK(of.b.try_lock());
		});
		const std::string said = panic_of([&] { interrupt.end(); });
		CHECK(has(said, "b, CPU 0: an interrupt handler returns with "
				"it held; at "));
		CHECK(has(said, site_text(__FILE__, line)));
		CHECK(mine.get() == context::thread);
		as(0, context::interrupt, [&] { of.b.unlock(); });
		CHECK(panic_of([&] {
			      handler_scope right(mine, context::interrupt);
			      right.end();
		      }) == "");
		of.a.unlock();
	});
}

/* -- An irq_shared_lock's gate -------------------------------------------- */

TEST_CASE("irq_shared_lock: its gate is checked as the lock is")
{
	new_order<> fresh;
	five_locks of;
	irq_shared_lock<checked_lock<phase_fair_lock<u8>, "routes">> routes;

	/*
	 * The right case: threads read with interrupts on, handlers interrupt
	 * them.
	 */
	as(0, context::thread, [&] {
		shared_guard reads(routes);
		as(0, context::interrupt, [&] {
			irqs off(false);
			handler_shared_guard outer(routes);
			handler_shared_guard inner(routes);
			CHECK(taking(0, of.a) == "");
		});
	});
	on_cpu(1, [&] { irq_guard writes(routes); });
	/* An NMI over the writer. */
	on_cpu(1, [&] {
		irq_guard writes(routes);
		as(1, context::nmi, [&] {
			CHECK(has(panic_of([&] {
					  handler_shared_guard reads(routes);
				  }),
				  "routes, CPU 1: lock() in an NMI handler"));
			handler_shared_try_guard reads(routes);
			CHECK_FALSE(reads);
		});
	});
	/* A handler that reads, and writes. */
	as(2, context::interrupt, [&] {
		irqs off(false);
		irq_shared_lock<checked_lock<phase_fair_lock<u8>>> paths;
		handler_shared_guard reads(paths);
		CHECK(has(panic_of([&] { irq_guard writes(paths); }),
			  "upgrade: the caller already holds it for reading"));
	});
}

TEST_CASE("irq_shared_lock: two orders over its gate")
{
	new_order<> fresh;
	five_locks of;
	irq_shared_lock<checked_lock<phase_fair_lock<u8>, "routes">> routes;

	on_cpu(0, [&] {
		irq_guard writes(routes);
		CHECK(taking(0, of.a) == "");
	});
	as(1, context::interrupt, [&] {
		irqs off(false);
		of.a.lock();
		CHECK(has(panic_of([&] { handler_shared_guard reads(routes); }),
			  "known: routes (gate) ("));
		of.a.unlock();
	});
}

/* -- A seq_lock: its readers hold nothing, and wait for its writer --------- */

TEST_CASE("lock_order: seq_lock: what is right, in threads and handlers")
{
	new_order<> fresh;
	five_locks of;
	constinit static checked_if<true, seq_lock<unsigned>, "clock"> clock(
		4u);
	const auto tick = [&] {
		irq_guard held(of.a);
		clock.write(clock.read() + 1);
	};
	const auto tick_in_handler = [&] { as(0, context::interrupt, tick); };

	STATIC_REQUIRE(same_as<checked_if<false, seq_lock<unsigned>, "clock">,
			       seq_lock<unsigned>>);
	/* A thread reads with interrupts on, whatever handlers take. */
	tick_in_handler();
	CHECK(clock.read() == 5);
	tick_in_handler();
	on_cpu(0, [&] {
		clock.update([&](unsigned &now) {
			unsigned seen = 0;

			CHECK(clock.is_locked());
			CHECK_FALSE(clock.try_read(seen));
			now++;
		});
	});
	unsigned seen = 0;
	CHECK(clock.try_read(seen));
	CHECK(seen == 7);
}

TEST_CASE("lock_order: seq_lock: a handler over a thread that waits to read")
{
	new_order<> fresh;
	five_locks of;
	checked_lock<seq_lock<unsigned>, "clock"> clock;
	const wanted_lock look = {&clock, {"clock", 0}, {"f.c", 1}, true,
				  false,  false,	true};

	on_cpu(0, [&] {
		irq_guard held(of.a);
		clock.write(1);
	});
	/* It is behind nothing that the handler takes. */
	const held_place reader = order_now->on_wait(*order_now, look);
	as(0, context::interrupt, [&] { CHECK(taking(0, of.a) == ""); });
	order_now->on_gone(reader);
}

TEST_CASE("lock_order: seq_lock: an update that reads it, or writes it")
{
	for (const bool writes : {false, true}) {
		new_order<> fresh;
		checked_lock<seq_lock<unsigned>, "clock"> clock;
		const auto read = [&] { return clock.read(); };
		const auto write = [&] { return clock.write(1), 1u; };
		const int second = __LINE__ - (writes ? 1 : 2);
		const auto again = [&](unsigned &now) {
			now = writes ? write() : read();
		};
		const int first = __LINE__ + 1;
		const auto misuse = [&] { clock.update(again); };
		const std::string said = panic_of(misuse);

		has(said,
		    "clock, CPU 0: recursion: the caller already holds it; "
		    "at " + at_line(second));
		has(said, "taken at " + at_line(first));
	}
}

TEST_CASE("lock_order: seq_lock: read over its writer, and under what it takes")
{
	new_order<> fresh;
	five_locks of;
	checked_lock<seq_lock<unsigned>> open;
	checked_lock<seq_lock<unsigned>, "clock"> clock(0u, 3);

	const int first = __LINE__ + 1;
	open.write(1);
	as(0, context::interrupt, [&] {
		has(panic_of([&] { (void)open.read(); }),
		    "interrupts on at " + at_line(first));
	});
	as(0, context::nmi, [&] {
		has(panic_of([&] { (void)clock.read(); }), "in an NMI handler");
	});
	on_cpu(0, [&] {
		irq_guard held(of.a);
		(void)clock.read();
	});
	on_cpu(1, [&] {
		const auto change = [&](unsigned &) { of.a.lock(); };
		has(panic_of([&] { clock.update(change); }), "known: a (");
	});
}

} // namespace lock_order_classes_tests

/*
 * print_held: who holds and wants what, with lines and ages, from any context.
 */
namespace print_held_tests {

namespace {

std::vector<std::string> held_now()
{
	std::vector<std::string> all;

	print_held([&all](const char *text) { all.push_back(text); });
	return all;
}

std::string address_of(const void *lock)
{
	return misuse_text().add_hex(reinterpret_cast<usize>(lock)).c_str();
}

} // namespace

TEST_CASE("print_held: what is held and what is waited for, and by whom")
{
	new_order<> fresh;
	checked_lock<byte_lock, "log"> log;
	checked_lock<hooked_lock> queues[3];
	std::vector<std::string> all;
	int logged = 0, queued = 0;

	set_name(queues[2], "runqueue", 2);
	logged = __LINE__ + 1;
	on_cpu(1, [&] { log.lock(); });
	next_hook = {place::before_ticket, [&] {
			     /* As its NMI handler, or a watchdog. */
			     as(0, context::nmi, [&] { all = held_now(); });
		     }};
	on_cpu(0, [&] {
		queued = __LINE__ + 1;
		queues[2].lock();
		CHECK(all.size() == 2);
		has(all.at(0), "CPU 0 waits for runqueue[2] (" +
				       address_of(&queues[2]) + ") at " +
				       at_line(queued) + "; ");
		has(all.at(0), " Kcycles");
		has(all.at(1), "CPU 1 holds log (" + address_of(&log) +
				       "), taken at " + at_line(logged) + "; ");
		all = held_now();
		has(all.at(0), "CPU 0 holds runqueue[2] (");
		queues[2].unlock();
	});
	on_cpu(1, [&] { log.unlock(); });
	CHECK(held_now().empty());
}

TEST_CASE("print_held: of what is waited for, who has it")
{
	new_order<> fresh;
	checked_lock<hooked_lock, "log"> log;
	std::vector<std::string> all;

	on_cpu(1, [&] { log.lock(); });
	next_hook = {place::before_ticket, [&] { all = held_now(); }};
	on_cpu(0, [&] { (void)panic_of([&] { log.lock(); }); });
	CHECK(all.size() == 2);
	has(all.at(0), "CPU 0 waits for log (");
	has(all.at(0), ", held by CPU 1; ");
}

TEST_CASE("print_held: readers, and who only tries")
{
	new_order<> fresh;
	checked_lock<rw_ticket_lock<u8>, "table"> table;
	checked_lock<hooked_lock, "log"> log;
	std::vector<std::string> all;

	on_cpu(2, [&] { table.lock_shared(); });
	has(held_now().at(0), "CPU 2 reads table (");
	next_hook = {place::before_ticket, [&] { all = held_now(); }};
	on_cpu(0, [&] { CHECK(log.try_lock()); });
	has(all.at(0), "CPU 0 tries log (");
	has(held_now().at(0), "CPU 0 holds log (");
}

TEST_CASE("print_held: an upgradable reader, until it writes")
{
	new_order<> fresh;
	checked_lock<phase_fair_lock<u8>, "routes"> routes;

	on_cpu(0, [&] {
		routes.lock_upgradable();
		has(held_now().at(0), "CPU 0 reads routes (");
		routes.upgrade();
		has(held_now().at(0), "CPU 0 holds routes (");
		routes.downgrade();
		has(held_now().at(0), "CPU 0 reads routes (");
		routes.unlock_shared();
		CHECK(routes.try_lock_upgradable());
		has(held_now().at(0), "CPU 0 reads routes (");
		routes.unlock_upgradable();
	});
	CHECK(held_now().empty());
}

TEST_CASE("print_held: an age is that of the wait, then that of the section")
{
	held_by_owners all = {nullptr, 1};
	std::unique_ptr<held_locks> stack(new held_locks());
	const wanted_lock want = {&all, {"log", 0}, {"f.c", 1}, false, false};
	u32 ages[3] = {};

	all.all = stack.get();
	const held_place mine = all.push();
	mine.at->note(want, hold::waiting, 0);
	mine.at->since.store_relaxed(held_lock::clock() - 1000);
	for_each_held(all, [&](const held_view &v) { ages[0] = v.age; });
	mine.at->take();
	for_each_held(all, [&](const held_view &v) { ages[1] = v.age; });
	/* The clock has come round. */
	mine.at->since.store_relaxed(held_lock::clock() + 1000);
	for_each_held(all, [&](const held_view &v) { ages[2] = v.age; });
	CHECK(ages[0] >= 1000);
	CHECK(ages[1] < ages[0]);
	CHECK(ages[2] >= ~u32{0} - 1000);
}

namespace {

/* lock() begins to wait, and then does this. */
std::function<void()> in_lock;
struct waited_for : rw_ticket_lock<u8> {
	void lock()
	{
		in_lock();
		rw_ticket_lock<u8>::lock();
	}
};

} // namespace

TEST_CASE("print_held: a writer's wait for a reader is no part of its section")
{
	new_order<> fresh;
	checked_lock<waited_for, "table"> table;

	on_cpu(1, [&] { table.lock_shared(); });
	in_lock = [&] {
		make_waits_older(fresh.order, 1u << 30);
		on_cpu(1, [&] { table.unlock_shared(); });
	};
	on_cpu(0, [&] { table.lock(); });
	CHECK(greatest_age(fresh.order) < 1u << 30);
	on_cpu(0, [&] { table.unlock(); });
}

TEST_CASE("print_held: a wait that is long is noted once, by anybody")
{
	new_order<> fresh;
	checked_lock<byte_lock, "log"> log;
	const wanted_lock want = {&log, {"log", 0}, {"f.c", 7}, false, false};

	on_cpu(0, [&] { log.lock(); });
	on_cpu(1, [&] {
		const held_place waits = fresh.order.before_wait(want);

		waits.at->since.store_relaxed(held_lock::clock() - 1000);
		CHECK(note_long_waits(~u32{0}) == 0);
		CHECK(note_long_waits(1000) == 1);
		CHECK(note_long_waits(1000) == 0);
		REQUIRE(notes.size() == 1);
		has(notes[0], "a long wait: CPU 1 waits for log (0x");
		has(notes[0], " at f.c:7, held by CPU 0; ");
		/* It is printed as before. */
		std::string lines;
		print_held([&](const char *line) { lines += line; });
		has(lines, "CPU 1 waits for log");
		order_keeper::taken(waits);
		CHECK(note_long_waits(0) == 0);
		order_keeper::gone(waits);
	});
	on_cpu(0, [&] { log.unlock(); });
}

TEST_CASE("print_held: a kernel without a lock order has nothing to print")
{
	checked_lock<byte_lock, "log"> log;

	on_cpu(1, [&] { log.lock(); });
	CHECK(held_now().empty());
}

} // namespace print_held_tests
