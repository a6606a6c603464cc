/* SPDX-License-Identifier: MIT */
/*
 * checks - what a debug build costs: checked locks, with a lock order and
 * without; locks that count; waits that serve; and the bytes of an order
 *
 * A program of its own: the order of locks is learned in all of a program.
 * Ratios of the least of interleaved rounds; --smoke: two short ones.
 */
#include "../tool.hpp"
#include "machine.hpp"
#include "report.hpp"

#include <klock/checked_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/queued_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/too_long.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace klock;
using bench::least;
using bench::series;

namespace {

constexpr u32 most_held = 8, cpus = 2;

thread_local unsigned number = 0;
bool ordered = false; /* changed while no lock is held */
constinit section_maxima<cpus> maxima;

using ticket = ticket_lock<u8>;
using checked = checked_lock<ticket>;

template <typename L>
struct alignas(cache_line) apart {
	L lock;
};

/* One CPU's locks; the last one is measured. */
template <typename L>
struct locks {
	locks()
	{
		static constexpr const char *names[most_held + 1] = {
			"a", "b", "c", "d", "e", "f", "g", "h", "measured"};

		for (u32 i = 0; i <= most_held; i++)
			set_name(all[i].lock, names[i]);
	}

	/* Cycles of lock() and unlock(), with so many others held. */
	double cycles_with(u32 held, u32 turns)
	{
		L &last = all[most_held].lock;

		for (u32 i = 0; i < held; i++)
			all[i].lock.lock();
		const u64 start = cycles();
		for (u32 i = 0; i < turns; i++) {
			last.lock();
			last.unlock();
		}
		const u64 end = cycles();
		for (u32 i = held; i-- > 0;)
			all[i].lock.unlock();
		return static_cast<double>(end - start) / turns;
	}

	apart<L> all[most_held + 1];
};

struct plan {
	unsigned rounds;
	u32 turns;
};

/* Each CPU with locks of its own, all at once; the mean of their cycles. */
template <typename L>
double cycles_at_once(locks<L> (&of)[cpus], u32 threads, u32 turns)
{
	atomic<u32> here;
	double sum[cpus] = {};
	const auto run = [&](u32 mine) {
		number = mine;
		bench::pin_to_core(mine);
		here.fetch_add_relaxed(1);
		here.await_eq_relaxed(threads);
		sum[mine] = of[mine].cycles_with(1, turns);
	};
	std::thread second;

	if (threads == 2)
		second = std::thread(run, 1);
	std::thread(run, 0).join();
	if (threads == 2)
		second.join();
	return (sum[0] + sum[1]) / threads;
}

void print_fast_path(const plan &p)
{
	static locks<ticket> plain;
	static locks<checked> watched;

	std::puts("Cycles of lock() and unlock(), uncontended, others held:\n"
		  "  held  unchecked  checked  with an order  ratio");
	for (u32 held : {0u, 1u, 4u, most_held}) {
		series without, with, in_order;

		for (unsigned i = 0; i < p.rounds; i++) {
			without.push_back(plain.cycles_with(held, p.turns));
			ordered = false;
			with.push_back(watched.cycles_with(held, p.turns));
			ordered = true;
			in_order.push_back(watched.cycles_with(held, p.turns));
		}
		std::printf("  %4u  %9.1f  %7.1f  %13.1f  %5.2f\n", held,
			    least(without), least(with), least(in_order),
			    least(in_order) / least(without));
	}
}

void print_scaling(const plan &p)
{
	static locks<ticket> plain[cpus];
	static locks<checked> watched[cpus];
	series one, two, one_ordered, two_ordered;

	ordered = true;
	for (unsigned i = 0; i < p.rounds; i++) {
		one.push_back(cycles_at_once(plain, 1, p.turns));
		two.push_back(cycles_at_once(plain, 2, p.turns));
		one_ordered.push_back(cycles_at_once(watched, 1, p.turns));
		two_ordered.push_back(cycles_at_once(watched, 2, p.turns));
	}
	std::printf("On 2 cores, each with locks of its own, 1 held: cycles "
		    "beside those of 1 core\n"
		    "  unchecked %.2f, with an order %.2f\n",
		    least(two) / least(one),
		    least(two_ordered) / least(one_ordered));
}

/* Its try_lock() for lock(). */
template <typename L>
struct tried : L {
	void lock()
	{
		if (!L::try_lock())
			L::lock();
	}
};

/* Its lock(serve) for lock(). */
[[gnu::noinline]] void answer() { asm volatile(""); }
template <typename L>
struct served : L {
	void lock() { L::lock(answer); }
};

/* A reader's verbs, by a writer's names. */
template <typename L>
struct read : L {
	void lock()
	{
		if constexpr (cpu_shared_lock<L>)
			L::lock_shared(0);
		else
			L::lock_shared();
	}
	bool try_lock()
	{
		if constexpr (cpu_shared_lock<L>)
			return L::try_lock_shared(0);
		else
			return L::try_lock_shared();
	}
	void unlock()
	{
		if constexpr (cpu_shared_lock<L>)
			L::unlock_shared(0);
		else
			L::unlock_shared();
	}
};

template <typename L, typename Counted = counted_lock<L>>
void print_counted(const char *name, const plan &p)
{
	static locks<L> plain;
	static locks<tried<L>> trying;
	static locks<Counted> counting;
	series without, by_try, with;

	for (unsigned i = 0; i < p.rounds; i++) {
		without.push_back(plain.cycles_with(0, p.turns));
		by_try.push_back(trying.cycles_with(0, p.turns));
		with.push_back(counting.cycles_with(0, p.turns));
	}
	std::printf("  %-18s %6.1f %8.1f %7.1f\n", name, least(without),
		    least(by_try), least(with));
}

template <typename L>
void print_counted_reads(const char *name, const plan &p)
{
	print_counted<read<L>, read<counted_lock<L>>>(name, p);
}

template <u32 Classes>
void print_bytes()
{
	const usize one = sizeof(lock_order_memory<Classes, 1>);
	const usize two = sizeof(lock_order_memory<Classes, 2>);

	std::printf("  %5u  %9zu  %8zu  %12zu\n", Classes,
		    2 * Classes * sizeof(usize) * class_set::words_for(Classes),
		    one - (two - one), two - one);
}

} // namespace

unsigned klock_os_cpu_id(void) { return number; }
int klock_os_context(void) { return 0; }

lock_order *klock_os_lock_order(void)
{
	return ordered ? lock_order_of<64, cpus>() : nullptr;
}

void klock_os_panic(const char *name, const void *, unsigned, const char *what)
{
	std::fprintf(stderr, "%s: %s\n", name, what);
	std::abort();
}

int main(int argc, char **argv)
{
	tool::begin(argc, argv, "usage: klock_bench_checks [--smoke]\n");
	const bool smoke = argc == 2 && std::strcmp(argv[1], "--smoke") == 0;
	if (argc > 1 && !smoke)
		tool::mistake(argv[1] + std::string(": unknown"));
	const plan p = smoke ? plan{2, 100} : plan{200, 2000};

	bench::pin_to_core(0);
	print_fast_path(p);
	print_scaling(p);
	std::puts("A counted lock, uncontended, in cycles:\n"
		  "                       lock try_lock counted");
	print_counted<ticket>("ticket_lock", p);
	print_counted<tas_lock>("tas_lock", p);
	print_counted<queued_lock<cpus>>("queued_lock", p);
	print_counted<rw_ticket_lock<u16>>("rw_ticket_lock", p);
	print_counted_reads<rw_ticket_lock<u16>>("the same, read", p);
	print_counted_reads<phase_fair_lock<u16>>("phase_fair, read", p);
	print_counted_reads<reader_lock<cpus>>("reader_lock, read", p);
	print_counted<ticket, counted_lock<hold_times<ticket>>>("hold_times",
								p);
	print_counted<ticket, timed_lock<ticket, maxima>>("timed_lock", p);
	std::puts("A wait that serves, uncontended, in cycles:\n"
		  "                       lock try_lock lock(serve)");
	print_counted<ticket, served<ticket>>("ticket_lock", p);
	using preemptable = preemptable_ticket_lock<u8>;
	print_counted<preemptable, served<preemptable>>("preemptable", p);
	print_counted<tas_lock, served<tas_lock>>("tas_lock", p);
	std::puts("Bytes of an order, on this machine:\n"
		  "  names    bitmaps  together  and an owner");
	print_bytes<16>();
	print_bytes<64>();
	print_bytes<128>();
	print_bytes<256>();
	return tool::end(0);
}
