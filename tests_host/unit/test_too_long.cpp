/* SPDX-License-Identifier: MIT */
/*
 * too_long: the longest sections, by the clock of scripted/.
 */
#include <klock/checked_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/too_long.hpp>

#include "order_kernel.hpp"

#include <catch.hpp>

using namespace klock;
using klock::arch::time_now;

namespace {

using ticket = ticket_lock<u8>;

/* It is waited for so long. */
template <typename L>
struct slow : L {
	template <typename... With>
		requires requires(L &l, With &...with) { l.lock(with...); }
	void lock(With &&...with)
	{
		time_now += 30;
		L::lock(with...);
	}
	void lock_shared(unsigned cpu)
	{
		time_now += 40;
		L::lock_shared(cpu);
	}
};
template <typename L, auto &Maxima>
using timed = timed_lock<slow<L>, Maxima>;

template <typename Maxima>
std::string of(const Maxima &maxima, section_kind kind, unsigned cpu = 0)
{
	const longest_section one = maxima.longest(cpu, kind);

	return std::to_string(one.cycles) + " at " +
	       std::to_string(one.by.line);
}
std::string at(u64 cycles, int line = __builtin_LINE())
{
	return std::to_string(cycles) + " at " + std::to_string(line);
}

} // namespace

TEST_CASE("too_long: the longest of each kind and CPU, and who took it")
{
	static constinit section_maxima<2> maxima;
	static constinit irq_lock<timed<ticket, maxima>> lock;
	std::string lines;

	static_assert(sizeof(lock) <= 48);
	static_assert(sizeof(maxima) <= 9 * cache_line + 32 * sizeof(usize));
	static_assert(same_as<timed_if<false, ticket, maxima>, ticket>);
	CHECK(std::string(reinterpret_cast<char *>(&maxima), sizeof(maxima)) ==
	      std::string(sizeof(maxima), 0));
	for (u64 cycles : {50u, 20u, 60u, 10u, 7u, 70u}) {
		running in(cycles < 10,
			   cycles == 70 ? context::nmi : context::thread);
		irq_guard held(lock);
		time_now += cycles;
	}
	CHECK(of(maxima, section_kind::hold) == at(60, __LINE__ - 3));
	CHECK(of(maxima, section_kind::wait) == at(30, __LINE__ - 4));
	CHECK(of(maxima, section_kind::irqs_off) == at(90, __LINE__ - 5));
	CHECK(of(maxima, section_kind::hold, 1) == at(7, __LINE__ - 6));
	print_maxima(maxima, [&](const char *line) { lines += line; });
	CHECK(has(lines, "CPU 0: held for 60 cycles at "));
	CHECK(has(lines, "CPU 1: interrupts off for 37 cycles at "));
	running in(2, context::thread);
	CHECK(has(panic_of([] { maxima.note_section(section_kind::hold, 1); }),
		  "made for fewer CPUs"));
	CHECK(maxima.longest(2, section_kind::hold).cycles == 0);
}

TEST_CASE("too_long: of a recursive lock the outermost section is timed")
{
	static constinit section_maxima<1> maxima;
	static constinit timed_lock<recursive_lock<ticket>, maxima> lock;

	for (u64 cycles : {20u, 30u}) {
		const irq_guard held(lock);

		time_now += cycles;
		{
			const irq_guard again(lock);
			const irq_try_guard once_more(lock);

			time_now += cycles;
		}
		time_now += cycles;
	}
	CHECK_FALSE(lock.is_locked());
	CHECK(of(maxima, section_kind::hold) == at(90, __LINE__ - 12));
	CHECK(of(maxima, section_kind::irqs_off) == at(90, __LINE__ - 13));
}

TEST_CASE("too_long: interrupts off is of the outermost, in any order")
{
	static constinit section_maxima<1> maxima;
	static constinit timed<ticket, maxima> a, b, c;
	guard on(c);
	time_now += 1000; /* interrupts are on */
	const irq_state before = irq_save();
	a.lock(), b.lock();
	a.unlock();
	time_now += 5;
	b.unlock();
	CHECK(of(maxima, section_kind::irqs_off) == at(65, __LINE__ - 4));
	CHECK(a.try_lock());
	CHECK_FALSE(a.try_lock());
	time_now += 66;
	a.unlock();
	CHECK(of(maxima, section_kind::irqs_off) == at(66, __LINE__ - 4));
	irq_restore(before);
	on.unlock();
	CHECK(of(maxima, section_kind::hold) == at(1131, __LINE__ - 15));
	b.lock_paced([](u8) { return 1u; });
	time_now += 2000;
	b.unlock();
	CHECK(of(maxima, section_kind::hold) == at(1131, __LINE__ - 19));
}

TEST_CASE("too_long: nodes, numbers, readers, checks and counts inside")
{
	static constinit section_maxima<1> maxima;
	static timed<clh_lock, maxima> clh;
	static clh_node node;
	static timed<reader_lock<2>, maxima> marks;
	static timed_lock<checked_lock<counted_lock<ticket>>, maxima> checked;

	guard with_node(clh, node);
	time_now += 1;
	with_node.unlock();
	CHECK(of(maxima, section_kind::hold) == at(1, __LINE__ - 3));
	guard with_number(marks);
	time_now += 2;
	with_number.unlock();
	CHECK(of(maxima, section_kind::hold) == at(2, __LINE__ - 3));
	shared_guard reads(marks, 0);
	reads.unlock();
	CHECK(of(maxima, section_kind::wait) == at(40, __LINE__ - 2));
	CHECK(of(maxima, section_kind::hold) == at(2, __LINE__ - 7));
	guard with_checks(checked);
	time_now += 3;
	const std::string said = panic_of([] { checked.lock(); });
	CHECK(has(said, ":" + std::to_string(__LINE__ - 1)));
	with_checks.unlock();
	CHECK(of(maxima, section_kind::hold) == at(3, __LINE__ - 5));
	forget_counts(checked);
}

TEST_CASE("too_long: what is downgraded is over, who may upgrade not timed")
{
	static constinit section_maxima<1> maxima;
	static timed_lock<phase_fair_lock<u8>, maxima> lock;
	const irq_state before = irq_save();

	lock.lock();
	time_now += 2;
	lock.downgrade();
	time_now += 100;
	lock.unlock_shared();
	CHECK(of(maxima, section_kind::irqs_off) == at(2, __LINE__ - 5));
	upgradable_guard held(lock);
	held.upgrade();
	time_now += 100;
	held.unlock();
	irq_restore(before);
	CHECK(of(maxima, section_kind::hold) == at(2, __LINE__ - 11));
}

TEST_CASE("too_long: reported once a line, until there is no place for more")
{
	static constinit section_maxima<1, 2> maxima(100);
	const auto held = [](u64 cycles, int line) {
		notes.clear();
		maxima.note_section(section_kind::hold, cycles,
				    {"file.c", line});
		return notes.empty() ? std::string() : notes.back();
	};

	CHECK(held(100, 1) == "");
	{
		running in(0, context::nmi);
		CHECK(held(500, 1) == "");
	}
	CHECK(held(101, 2) ==
	      "CPU 0: held for 101 cycles at file.c:2, limit 100");
	CHECK(held(102, 2) == "");
	CHECK(held(101, 2) == "");
	maxima.note_section(section_kind::wait, 300, {"file.c", 2});
	CHECK(has(notes.back(), "waited for 300 cycles at file.c:2"));
	CHECK(has(held(200, 3), "; no place to note more lines"));
	CHECK(held(200, 4) == "");
	CHECK(held(200, 2) == "");
	maxima.set_limit(0);
	CHECK(held(999, 9) == "");
	CHECK(of(maxima, section_kind::hold) == at(999, 9));
}
