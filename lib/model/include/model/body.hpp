/* SPDX-License-Identifier: MIT */
/*
 * body - whether code under test runs, or the checker
 *
 * Memory that the code allocates lives as long as an execution; the checker's
 * own does not (model_std/heap.cpp). All fibers are one thread: between two of
 * them, the checker runs.
 */
#pragma once

#include <klock/arch/engine.hpp>

#include <span>

namespace model::detail {

/* The hooks look here first. It has a page of its own, apart from the code's
 * data: pages with such data are protected while the code runs
 * (engine/lookout.hpp). */
struct alignas(4096) state_of_hooks {
	bool in_body = false; /* the first: klock_gate reads it */
	bool looks = false;
	bool intends = false;
	bool probe_seen = false;
	bool trap_lifted = false;
	const void *probe = nullptr;
};
[[gnu::section("klock_hooks")]] inline constinit state_of_hooks state;

inline constexpr bool &in_body = state.in_body;

/*
 * The memory is protected while the code runs: by close_memory(), which also
 * sets in_body, until the checker needs it.
 */
inline constexpr bool &looks = state.looks;
void close_memory();

/* No store of it is dead: plain_access() looks, which compilers do not know. */
struct runs {
	explicit runs(bool body) : before(in_body) { set(body); }
	~runs()
	{
		if (before && looks)
			close_memory();
		else
			set(before);
	}
	runs(const runs &) = delete;
	runs &operator=(const runs &) = delete;

      private:
	static void set(bool body)
	{
		in_body = body;
		__asm__ volatile("" ::: "memory");
	}

	bool before;
};

struct body_runs : runs {
	body_runs() : runs(true) {}
};

struct checker_runs : runs {
	checker_runs() : runs(false) {}
};

/* Plain data are relaxed atomics by the options: engine/relaxed.hpp. */
inline constexpr bool &intends = state.intends;
void settle();

/* Called by each hook: the value of the code's last store is there by now. */
struct code_calls : checker_runs {
	code_calls()
	{
		if (intends)
			settle();
	}
};

/* An object whose accesses are told of where any are; whether one was. */
inline constexpr const void *&probe = state.probe;
inline constexpr bool &probe_seen = state.probe_seen;

/* The engine in front of this one: the heap's, if the program has it. */
klock::arch::hooked::engine *gate_to(klock::arch::hooked::engine &);

/* Called before a world is made: takes back the memory of the last run. */
void empty_heap();

/* The block of the heap that an address is in, or behind. */
struct block_of {
	const void *start = nullptr; /* none */
	unsigned maker = 0;	     /* the world; 1 ..: a CPU */
	unsigned number = 0;	     /* how many it had before */
	bool freed = false;
	klock::usize bytes = 0;
	const void *next = nullptr; /* the start of the next one, if any */
};
block_of block_at(const void *);

/* Notes a store to memory, if that is the heap's. */
void heap_written(const void *at, klock::usize bytes);

/* Whether this is a part of the heap that nothing was stored to. */
bool is_unset(const void *at, klock::usize bytes);

/* Whether the code holds a lock whose word this is. */
bool is_held(const void *word);

/* Whether the CPU's wait ends for no reason, or its compare-and-swap fails:
 * options.spurious. */
bool happens_for_no_reason();

/* The part of the heap that the world (0) or a CPU (1 ..) has allocated. */
struct part_of_heap {
	const void *start = nullptr;
	klock::usize bytes = 0;
};
part_of_heap heap_of(unsigned maker);

/*
 * The kind of an access: a statement's, or that of a function whose use of the
 * data the checker does not see. joined: of the same statement as the one
 * before. untold: of which the compiler does not tell (engine/lookout.hpp).
 */
enum class access_of { statement, is_volatile, joined, function, untold };

/* The compiler's hook before each access to a plain variable. */
void plain_access(const void *at, klock::usize bytes, bool writes,
		  const void *caller, access_of = access_of::function);

/* The code is about to make this access, of which nothing else is to know. */
void tell(const void *at, klock::usize bytes, bool writes);

/* A library is about to access what was told of. */
void open_memory();

/* The compiler's hook where a function begins, and where it ends (null). */
void frame(const void *at, const void *returns_to, const void *caller);

/* Reports that a block is freed here that was freed there. */
struct freed_block {
	const void *start;
	klock::arch::site made_at, freed_at;
	unsigned freed_by;
};
void freed_twice(const freed_block &, klock::arch::site);

/* Ends the objects in this storage: nothing uses it any more. */
void storage_ends(const void *at, klock::usize bytes, const void *caller);

/* A library gives this storage, which it may have taken back from another
 * CPU: its own locks order the two. */
void storage_is_given(const void *at, klock::usize bytes);

/*
 * Ends the run, or the program outside of one, at a call that the checker does
 * not see through.
 */
void refuse(const char *what, const void *caller);

/* The function that the linker was not told to wrap; null: there is none. */
const char *not_wrapped();

/* Aligned to its size: they are one array, which the linker makes. */
struct alignas(32) wrapped {
	const char *name;
	void (*real)(); /* null: the program was linked without --wrap of it */
	void (*ours)();
};

/*
 * imports - calls of library functions, whose accesses no compiler reports
 *
 * Before the first exploration each function that the program imports is looked
 * up by its name. Functions whose accesses the checker does not see are
 * refused: no CPU may call them.
 */
enum class imported { harmless, seen, refused };
imported what_is(const char *name);

/* Whether it is an instruction of a part that tells the checker. */
bool is_of_code(const void *instruction);

/* The variables of these parts that live as long as the program, by their
 * addresses; why some are not known, or null. */
struct variable {
	const char *at;
	klock::usize bytes;
};
struct variables {
	std::span<const variable> all;
	const char *unseen = nullptr;
};
variables variables_of_code();

/* Plain variables are seen (model_plain), and not atomics alone. */
bool sees_plain();

/* Returns why calls of libraries are not seen; null: they are. */
const char *see_imports();

/*
 * assembly - instructions that do not come from instrumented code
 *
 * At each of them a trap is set while the checker explores: no CPU may run it.
 */
const char *set_traps(); /* what is not seen, or null */
void unset_traps();

/* Traps that code outside the CPUs has run into, and that must be set again. */
inline constexpr bool &trap_lifted = state.trap_lifted;

/* The instruction at whose trap a signal came; null: it is another's. */
struct trapped {
	const void *at;
	const char *text, *function;
	unsigned char was; /* the first byte under the trap */
	bool of_function;  /* it stands for all of the function */
};
const trapped *trap_of(const void *context);

/* Whether an instruction has a line, and not one of the checker's. */
bool is_users(const void *instruction);

/* Goes on after the trap, which is not set again if it is nobody's. */
void lift_trap(void *context, bool for_good);

inline bool cpu_runs() { return in_body && klock::arch::hooked::running; }

} // namespace model::detail

/* The return address of a function that is not inlined. */
#define KLOCK_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/*
 * Defines what a function of the C library is under the checker: by --wrap of
 * it. lib/CMakeLists.txt reads the names from these lines.
 */
#define KLOCK_WRAPPED(RETURNS, NAME, ...)                                      \
	[[gnu::weak]] RETURNS __real_##NAME(__VA_ARGS__);                      \
	RETURNS __wrap_##NAME(__VA_ARGS__);                                    \
	[[gnu::used,                                                           \
	  gnu::section("klock_wrapped")]] static model::detail::wrapped        \
		is_wrapped_##NAME{                                             \
			#NAME, reinterpret_cast<void (*)()>(&__real_##NAME),   \
			reinterpret_cast<void (*)()>(&__wrap_##NAME)};         \
	RETURNS __wrap_##NAME(__VA_ARGS__)
