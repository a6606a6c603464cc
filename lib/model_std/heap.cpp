/* SPDX-License-Identifier: MIT */
/*
 * arena - operator new, for code under test
 *
 * Executions are replayed, and values are addresses: a CPU that does the same
 * must be given the same memory. So each CPU has an arena of its own, and the
 * world's making another. What is freed is not given again: who still uses it
 * is found, and nobody meets the same address twice (ABA by reuse is not
 * seen). All is taken back when the next world is made.
 *
 * Whatever the checker allocates, and all that is outside of a run, has the
 * ordinary heap.
 */
#include <model/access.hpp>
#include <model/body.hpp>
#include <model/model.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace {

using klock::usize;

constexpr usize arena_bytes = usize{1} << 20;

struct block {
	usize start, bytes;
	bool freed;
};

/* What malloc aligns to. */
constexpr usize usual = 16;

/* The world's, and 16 CPUs'. */
alignas(4096) unsigned char room[17][arena_bytes];
std::vector<block> blocks[17];

constexpr unsigned char never_written = 0xdb;

void refuse(const char *what) { model::detail::misuse(what, {nullptr, 0}); }

void *take(usize bytes, usize aligned)
{
	const model::detail::checker_runs now;
	const unsigned mine =
		klock::arch::hooked::running ? 1 + model::cpu() : 0;
	std::vector<block> &all = blocks[mine];
	const usize used =
		all.empty() ? 0 : all.back().start + all.back().bytes;
	/* A byte apart: the end of one is not the start of the next. */
	const usize start = (used + aligned) & ~(aligned - 1);

	if (bytes > arena_bytes || start + bytes > arena_bytes)
		refuse("a CPU's operator new has 1 MiB in one execution");
	all.push_back({start, bytes, false});
	return std::memset(room[mine] + start, never_written, bytes);
}

/* Where a block is; start: in its room. */
struct found_block {
	block *at = nullptr;
	unsigned maker = 0;
	usize number = 0;
};

bool is_taken(const void *p)
{
	const auto at = reinterpret_cast<std::uintptr_t>(p);
	const auto start = reinterpret_cast<std::uintptr_t>(&room);

	return at >= start && at < start + sizeof(room);
}

found_block find(const void *p)
{
	if (!is_taken(p))
		return {};

	const usize from_first = static_cast<usize>(
		static_cast<const unsigned char *>(p) - &room[0][0]);
	const unsigned maker = static_cast<unsigned>(from_first / arena_bytes);
	const usize at = from_first % arena_bytes;
	std::vector<block> &all = blocks[maker];
	for (usize i = all.size(); i-- > 0;)
		if (all[i].start <= at)
			return {&all[i], maker, i};
	return {};
}

void give_back(void *p)
{
	block *const b = find(p).at;

	if (!b || b->freed)
		refuse("memory is freed twice");
	b->freed = true;
}

void *allocate(usize bytes, usize aligned)
{
	if (model::detail::in_body)
		return take(bytes, aligned);

	bytes = (bytes ? bytes + aligned - 1 : aligned) & ~(aligned - 1);
	void *const p = std::aligned_alloc(aligned, bytes);
	if (!p)
		throw std::bad_alloc();
	return p;
}

void release(void *p)
{
	if (!is_taken(p))
		std::free(p);
	else if (model::detail::in_body)
		give_back(p);
}

} // namespace

void model::detail::empty_heap()
{
	for (std::vector<block> &all : blocks)
		all.clear();
}

model::detail::part_of_heap model::detail::heap_of(unsigned maker)
{
	const std::vector<block> &all = blocks[maker];

	if (all.empty())
		return {};
	return {room[maker], all.back().start + all.back().bytes};
}

model::detail::block_of model::detail::block_at(const void *p)
{
	const found_block f = find(p);

	if (!f.at)
		return {};
	return {&room[f.maker][f.at->start], f.maker,
		static_cast<unsigned>(f.number), f.at->freed};
}

void *operator new(std::size_t bytes) { return allocate(bytes, usual); }
void *operator new(std::size_t bytes, std::align_val_t aligned)
{
	return allocate(bytes, static_cast<std::size_t>(aligned));
}
void operator delete(void *p) noexcept { release(p); }
void operator delete(void *p, std::align_val_t) noexcept { release(p); }
/* The array's and the sized ones are made of these. */
void operator delete(void *p, std::size_t) noexcept { release(p); }
void operator delete(void *p, std::size_t, std::align_val_t) noexcept
{
	release(p);
}

/*
 * gate - where the code under test calls the checker, and comes back from it
 *
 * In between, operator new is the checker's (body.hpp).
 */

namespace {

using namespace klock::arch;
using namespace klock::arch::hooked;
using klock::order;
using klock::u32;
using klock::u64;
using klock::usize;
using model::detail::checker_runs;

struct gate final : engine {
	engine *to = nullptr;

	void born(const void *at, usize bytes) override
	{
		const checker_runs now;
		to->born(at, bytes);
	}
	void dead(const void *at, usize bytes) override
	{
		const checker_runs now;
		to->dead(at, bytes);
	}
	u64 load(window w, order o, site s) override
	{
		const checker_runs now;
		return to->load(w, o, s);
	}
	void store(window w, u64 v, order o, site s) override
	{
		const checker_runs now;
		to->store(w, v, o, s);
	}
	u64 rmw(window w, update how, u64 operand, order o, site s) override
	{
		const checker_runs now;
		return to->rmw(w, how, operand, o, s);
	}
	bool compare_exchange(window w, u64 &expected, u64 desired, order o,
			      site s) override
	{
		const checker_runs now;
		return to->compare_exchange(w, expected, desired, o, s);
	}
	bool compare_exchange_or(window w, u64 &expected, u64 desired, order o,
				 order failed, bool weak, site s) override
	{
		const checker_runs now;
		return to->compare_exchange_or(w, expected, desired, o, failed,
					       weak, s);
	}
	void advance(window all, u64 from, u64 till, order o, site s) override
	{
		const checker_runs now;
		to->advance(all, from, till, o, s);
	}
	void fence(order o, site s) override
	{
		const checker_runs now;
		to->fence(o, s);
	}
	u64 await(window w, test done, pace p, order o, site s) override
	{
		const checker_runs now;
		return to->await(w, done, p, o, s);
	}
	u64 await_patient(window w, patience p, order o, site s) override
	{
		const checker_runs now;
		return to->await_patient(w, p, o, s);
	}
	u64 await_until(window w, test done, u64 deadline, order o,
			site s) override
	{
		const checker_runs now;
		return to->await_until(w, done, deadline, o, s);
	}
	u64 await_exchange(window w, u64 v, test done, order o, site s) override
	{
		const checker_runs now;
		return to->await_exchange(w, v, done, o, s);
	}
	void await_either(window a, test a_done, window b, test b_done, order o,
			  site s) override
	{
		const checker_runs now;
		to->await_either(a, a_done, b, b_done, o, s);
	}
	void wait_while(window w, u64 old, order o, site s) override
	{
		const checker_runs now;
		to->wait_while(w, old, o, s);
	}
	void notify(window w, site s) override
	{
		const checker_runs now;
		to->notify(w, s);
	}
	void read_plain(const void *at, usize bytes, site s) override
	{
		const checker_runs now;
		to->read_plain(at, bytes, s);
	}
	void write_plain(const void *at, const void *with, usize bytes,
			 site s) override
	{
		const checker_runs now;
		to->write_plain(at, with, bytes, s);
	}
	void relax(u32 turns) override
	{
		const checker_runs now;
		to->relax(turns);
	}
	u64 cycles() override
	{
		const checker_runs now;
		return to->cycles();
	}
	bool irq_flag(bool enabled) override
	{
		const checker_runs now;
		return to->irq_flag(enabled);
	}
};

} // namespace

klock::arch::hooked::engine *model::detail::gate_to(engine &e)
{
	static gate one;

	one.to = &e;
	return &one;
}
