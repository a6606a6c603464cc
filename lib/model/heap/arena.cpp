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
