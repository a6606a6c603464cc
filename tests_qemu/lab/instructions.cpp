/* SPDX-License-Identifier: MIT */
/*
 * instructions - what taking and leaving a lock costs when nobody else does
 */
#include "options.hpp"
#include "machine.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <klock/cpu.hpp>

namespace lab {

namespace {

using klock::u64;
using namespace klock::selftest;

constexpr u32 pairs = 1000;

/* Keeps the compiler from joining two turns of the loop. */
void keep() { asm volatile("" ::: "memory"); }

template <typename Body>
u64 cycles_of(Body body)
{
	const boot::interrupts_off quiet;
	const u64 start = klock::cycles();

	for (u32 i = 0; i < pairs; i++) {
		body();
		keep();
	}
	return klock::cycles() - start;
}

/* Hundredths of a cycle for one lock() and unlock(), without the loop. */
template <typename Subject>
u64 cost_of()
{
	static constinit typename Subject::lock lock;
	static constinit contender<typename Subject::lock> alone;
	const auto pair = [] {
		alone.lock(lock);
		keep();
		alone.unlock(lock);
	};

	pair(); /* TCG translates the code at its first execution */
	const u64 empty = cycles_of([] {});
	const u64 all = asks_for(seeded::no_work) ? empty : cycles_of(pair);

	return all > empty ? divide((all - empty) * 100, pairs) : 0;
}

void print_cost(const options &o, const char *lock, u64 hundredths)
{
	const u64 whole = divide(hundredths, 100);
	const u64 rest = hundredths - whole * 100;

	if (o.output == mode::csv)
		boot::print("row,%s,%u.%02u\n", lock, whole, rest);
	else
		boot::print("%s%-30s %4u.%02u\n",
			    o.output == mode::tap ? "# " : "", lock, whole,
			    rest);
}

} // namespace

int run_instructions(const options &o)
{
	using locks = all_locks<2>;

	begin_report(o, locks_asked_for(o));
	print_machine();
	if (o.output == mode::csv)
		boot::print("head,lock,cycles\n");
	else
		boot::print("# cycles of lock() and unlock(), one CPU alone; "
			    "instructions under icount\n");
	locks::for_each([&]<typename Subject>() {
		if (!asks_for(o, Subject::name))
			return;
		if (boot::coarse_step_ns())
			return print_skipped(o, Subject::name,
					     "the clock's steps are too long");
		const u64 cost = cost_of<Subject>();
		const char *wrong = cost ? nullptr : "the clock stands still";

		note_row(Subject::name, wrong);
		print_cost(o, Subject::name, cost);
		print_verdict(o, Subject::name, wrong);
	});
	return end_report();
}

} // namespace lab
