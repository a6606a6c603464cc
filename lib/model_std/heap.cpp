/* SPDX-License-Identifier: MIT */
/*
 * arena - operator new, for code under test
 *
 * Executions are replayed, and values may be addresses: a CPU that does the
 * same must get the same memory. So each CPU has an arena of its own, and so
 * has the construction of the world. Freed memory is not allocated again: so a
 * use of it is found, and no CPU meets the same address twice (ABA by reuse is
 * not seen). All memory is taken back when the next world is made.
 *
 * The checker's own memory, and all memory outside a run, comes from the
 * ordinary heap.
 */
#include "imports.hpp"
#include "threads.hpp"

#include <model/access.hpp>
#include <model/body.hpp>
#include <model/model.hpp>
#include <model/places.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <sys/single_threaded.h>
#include <vector>

namespace klock_own {
namespace {

using klock::usize;

constexpr usize arena_bytes = usize{1} << 20;

enum class made_by : klock::u8 { operator_new, new_array, malloc };

struct block {
	usize start, bytes;
	bool freed;
	made_by by;
	/* The lines that allocated and freed it, and who freed it. */
	klock::arch::site made_at, freed_at{nullptr, 0};
	unsigned freed_by = 0;
};

/* Bytes between two blocks, which no access may touch. */
constexpr usize red_zone = 512;

/* The alignment of malloc(). */
constexpr usize usual = 16;

/* The world's, and 16 CPUs'. */
alignas(4096) unsigned char room[17][arena_bytes];
std::vector<block> blocks[17];
/* True for a byte of it that the code has told to store to. */
bool is_set[17][arena_bytes];
constexpr unsigned char never_written = 0xdb;

void refuse(const char *what, const void *caller)
{
	model::detail::misuse(what, model::detail::place_of_return(caller));
}

void *take(usize bytes, usize aligned, made_by by, const void *caller)
{
	const model::detail::checker_runs now;
	const unsigned mine =
		klock::arch::hooked::running ? 1 + model::cpu() : 0;
	std::vector<block> &all = blocks[mine];
	const usize used =
		all.empty() ? 0 : all.back().start + all.back().bytes;
	const usize start = (used + red_zone + aligned - 1) & ~(aligned - 1);

	if (bytes > arena_bytes || start + bytes > arena_bytes)
		refuse("a CPU's operator new has 1 MiB in one execution",
		       caller);
	all.push_back({start, bytes, false, by,
		       model::detail::place_of_return(caller)});
	std::memset(&is_set[mine][start], 0, bytes);
	return std::memset(room[mine] + start, never_written, bytes);
}

/* A block's place; start is its offset in its room. */
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
	return {nullptr, maker, 0};
}

void refuse_end(made_by by, made_by ended_as, const void *caller)
{
	constexpr const char *makers[] = {"operator new", "operator new[]",
					  "malloc()"};
	constexpr const char *ends[] = {"operator delete", "operator delete[]",
					"free()"};
	const model::detail::checker_runs now;

	refuse((std::string(ends[static_cast<int>(ended_as)]) +
		" of memory of " + makers[static_cast<int>(by)])
		       .c_str(),
	       caller);
}

void give_back(void *p, made_by by, const void *caller)
{
	const found_block f = find(p);

	if (!f.at || p != &room[f.maker][f.at->start])
		refuse("memory is freed by an address that is not its start",
		       caller);
	if (f.at->freed)
		model::detail::freed_twice(
			{p, f.at->made_at, f.at->freed_at, f.at->freed_by},
			model::detail::place_of_return(caller));
	if (by != f.at->by)
		refuse_end(f.at->by, by, caller);
	model::detail::look_for_held(p, f.at->bytes, caller);
	model::detail::storage_ends(p, f.at->bytes, caller);
	f.at->freed = true;
	f.at->freed_at = model::detail::place_of_return(caller);
	f.at->freed_by = model::cpu();
}

void *allocate(usize bytes, usize aligned, made_by by, const void *caller)
{
	if (model::detail::in_body)
		return take(bytes, aligned, by, caller);

	bytes = (bytes ? bytes + aligned - 1 : aligned) & ~(aligned - 1);
	void *const p = std::aligned_alloc(aligned, bytes);
	if (!p)
		throw std::bad_alloc();
	return p;
}

/* False: it is the ordinary heap's. */
bool release(void *p, made_by by, const void *caller)
{
	if (!is_taken(p)) {
		if (p && model::detail::cpu_runs())
			model::detail::refuse(
				"the end of memory that neither the CPUs nor "
				"their world have made",
				caller);
		return false;
	}
	if (model::detail::in_body)
		give_back(p, by, caller);
	return true;
}

void end(void *p, made_by by, const void *caller)
{
	if (!release(p, by, caller))
		std::free(p);
}

} // namespace
} // namespace klock_own
using namespace klock_own;

void model::detail::empty_heap()
{
	for (std::vector<block> &all : blocks)
		all.clear();
	forget_threads();
	forget_calls();
	/* The C++ library counts its shared pointers by atomics then. */
	__libc_single_threaded = false;
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

	if (!is_taken(p))
		return {};
	const usize next = f.at ? f.number + 1 : 0;
	const void *const behind =
		next < blocks[f.maker].size()
			? &room[f.maker][blocks[f.maker][next].start]
			: nullptr;
	if (!f.at)
		return {.maker = f.maker, .next = behind};
	return {&room[f.maker][f.at->start],
		f.maker,
		static_cast<unsigned>(f.number),
		f.at->freed,
		f.at->bytes,
		behind};
}

void model::detail::heap_written(const void *at, klock::usize bytes)
{
	if (!is_taken(at))
		return;
	bool *const first =
		&is_set[0][0] +
		(static_cast<const unsigned char *>(at) - &room[0][0]);
	for (usize i = 0; i < bytes && &first[i] < *std::end(is_set); i++)
		first[i] = true;
}

/*
 * Not all stores are told: the memory also still has what it was made with.
 */
bool model::detail::is_unset(const void *at, klock::usize bytes)
{
	const auto *const memory = static_cast<const unsigned char *>(at);
	const block_of in = block_at(at);

	if (!in.start || in.freed)
		return false;
	const bool *const first = &is_set[0][0] + (memory - &room[0][0]);
	for (usize i = 0; i < bytes; i++)
		if (first[i] || memory[i] != never_written)
			return false;
	return true;
}

#define KLOCK_OPERATORS(ARRAY, BY)                                             \
	void *operator new ARRAY(std::size_t bytes)                            \
	{                                                                      \
		return allocate(bytes, usual, made_by::BY, KLOCK_CALLER);      \
	}                                                                      \
	void *operator new ARRAY(std::size_t bytes, std::align_val_t aligned)  \
	{                                                                      \
		return allocate(bytes, static_cast<std::size_t>(aligned),      \
				made_by::BY, KLOCK_CALLER);                    \
	}                                                                      \
	void operator delete ARRAY(void *p) noexcept                           \
	{                                                                      \
		end(p, made_by::BY, KLOCK_CALLER);                             \
	}                                                                      \
	void operator delete ARRAY(void *p, std::align_val_t) noexcept         \
	{                                                                      \
		end(p, made_by::BY, KLOCK_CALLER);                             \
	}                                                                      \
	void operator delete ARRAY(void *p, std::size_t) noexcept              \
	{                                                                      \
		end(p, made_by::BY, KLOCK_CALLER);                             \
	}                                                                      \
	void operator delete ARRAY(void *p, std::size_t,                       \
				   std::align_val_t) noexcept                  \
	{                                                                      \
		end(p, made_by::BY, KLOCK_CALLER);                             \
	}
KLOCK_OPERATORS(, operator_new)
KLOCK_OPERATORS([], new_array)

/* The linker takes imports.cpp and assembly.cpp along with this. */
[[gnu::used]] static const char *(*const along[])() = {
	model::detail::see_imports, model::detail::set_traps};

/* -- malloc() --------------------------------------------------------------
 */

extern "C" {

KLOCK_WRAPPED(void *, malloc, usize bytes)
{
	return model::detail::in_body
		       ? take(bytes, usual, made_by::malloc, KLOCK_CALLER)
		       : __real_malloc(bytes);
}
KLOCK_WRAPPED(void *, calloc, usize many, usize bytes)
{
	usize all;

	if (!model::detail::in_body)
		return __real_calloc(many, bytes);
	if (__builtin_mul_overflow(many, bytes, &all))
		return nullptr;
	void *const p = take(all, usual, made_by::malloc, KLOCK_CALLER);
	model::detail::plain_access(p, all, true, KLOCK_CALLER);
	/* The code's own accesses are not excused by this one. */
	model::detail::open_memory();
	const model::detail::checker_runs now;
	/* A loop, as a wrapped memset() would be reported as another access. */
	for (usize i = 0; i < all; i++)
		static_cast<volatile char *>(p)[i] = 0;
	return p;
}
KLOCK_WRAPPED(void *, aligned_alloc, usize aligned, usize bytes)
{
	return model::detail::in_body
		       ? take(bytes, aligned, made_by::malloc, KLOCK_CALLER)
		       : __real_aligned_alloc(aligned, bytes);
}
KLOCK_WRAPPED(void, free, void *p)
{
	if (!release(p, made_by::malloc, KLOCK_CALLER))
		__real_free(p);
}
KLOCK_WRAPPED(void *, realloc, void *p, usize bytes)
{
	if (!model::detail::in_body && !is_taken(p))
		return __real_realloc(p, bytes);
	if (!p)
		return take(bytes, usual, made_by::malloc, KLOCK_CALLER);

	const found_block f = find(p);
	const usize kept =
		f.at ? (f.at->bytes < bytes ? f.at->bytes : bytes) : 0;
	void *const to = take(bytes, usual, made_by::malloc, KLOCK_CALLER);
	model::detail::plain_access(p, kept, false, KLOCK_CALLER);
	model::detail::plain_access(to, kept, true, KLOCK_CALLER,
				    model::detail::access_of::joined);
	model::detail::open_memory();
	std::memcpy(to, p, kept);
	release(p, made_by::malloc, KLOCK_CALLER);
	return to;
}

/* The C++ library's memory, not this heap's. */
KLOCK_WRAPPED(void *, __cxa_allocate_exception, usize bytes)
{
	void *const p = __real___cxa_allocate_exception(bytes);

	model::detail::storage_is_given(p, bytes);
	model::detail::exception_is_made(p);
	return p;
}

} /* extern "C" */

/*
 * gate - the calls of the code under test into the checker, and their returns
 *
 * In between, operator new is the checker's (body.hpp).
 */

namespace klock_own {
namespace {

using namespace klock::arch::hooked;
using klock::order;
using klock::u32;
using klock::u64;
using klock::arch::site;
using model::detail::code_calls;

/* The code reads it: on a page of its own, as it would be protected. */
struct alignas(4096) gate final : engine {
	engine *to = nullptr;

	void born(const void *at, usize bytes) override
	{
		const code_calls now;
		to->born(at, bytes);
	}
	void dead(const void *at, usize bytes) override
	{
		const code_calls now;
		to->dead(at, bytes);
	}
	u64 load(window w, order o, site s) override
	{
		const code_calls now;
		return to->load(w, o, s);
	}
	void store(window w, u64 v, order o, site s) override
	{
		const code_calls now;
		to->store(w, v, o, s);
	}
	u64 rmw(window w, update how, u64 operand, order o, site s) override
	{
		const code_calls now;
		return to->rmw(w, how, operand, o, s);
	}
	bool compare_exchange(window w, u64 &expected, u64 desired, order o,
			      site s) override
	{
		const code_calls now;
		return to->compare_exchange(w, expected, desired, o, s);
	}
	bool compare_exchange_or(window w, u64 &expected, u64 desired, order o,
				 order failed, bool weak, site s) override
	{
		const code_calls now;
		return to->compare_exchange_or(w, expected, desired, o, failed,
					       weak, s);
	}
	void advance(window all, u64 from, u64 till, order o, site s) override
	{
		const code_calls now;
		to->advance(all, from, till, o, s);
	}
	void fence(order o, site s) override
	{
		const code_calls now;
		to->fence(o, s);
	}
	u64 await(window w, test done, pace p, order o, site s) override
	{
		const code_calls now;
		return to->await(w, done, p, o, s);
	}
	u64 await_patient(window w, patience p, order o, site s) override
	{
		const code_calls now;
		return to->await_patient(w, p, o, s);
	}
	u64 await_until(window w, test done, u64 deadline, order o,
			site s) override
	{
		const code_calls now;
		return to->await_until(w, done, deadline, o, s);
	}
	u64 await_exchange(window w, u64 v, test done, order o, site s) override
	{
		const code_calls now;
		return to->await_exchange(w, v, done, o, s);
	}
	void await_either(window a, test a_done, window b, test b_done, order o,
			  site s) override
	{
		const code_calls now;
		to->await_either(a, a_done, b, b_done, o, s);
	}
	void wait_while(window w, u64 old, order o, site s) override
	{
		const code_calls now;
		to->wait_while(w, old, o, s);
	}
	void notify(window w, bool all, site s) override
	{
		const code_calls now;
		to->notify(w, all, s);
	}
	void read_plain(const void *at, usize bytes, site s) override
	{
		const code_calls now;
		to->read_plain(at, bytes, s);
	}
	void write_plain(const void *at, const void *with, usize bytes,
			 site s) override
	{
		const code_calls now;
		to->write_plain(at, with, bytes, s);
	}
	void relax(u32 turns) override
	{
		const code_calls now;
		to->relax(turns);
	}
	u64 cycles() override
	{
		const code_calls now;
		return to->cycles();
	}
	bool irq_flag(bool enabled) override
	{
		const code_calls now;
		return to->irq_flag(enabled);
	}
};

} // namespace
} // namespace klock_own
using namespace klock_own;

klock::arch::hooked::engine *model::detail::gate_to(engine &e)
{
	static gate one;

	one.to = &e;
	return &one;
}
