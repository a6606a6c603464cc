/* SPDX-License-Identifier: MIT */
/*
 * lookout - finds accesses that the compiler does not tell of
 *
 * While a CPU's own code runs, the world, the heap, the code's global variables
 * and the other CPUs' stacks and thread_locals are protected. Each access
 * faults; it must be one that the compiler has told of just before. If it is,
 * the memory is opened for this one instruction (a single step). The engine's
 * own accesses open the memory until the code goes on. Libraries' do, too:
 * which of their functions a CPU may call is decided by their names
 * (model_std/imports.cpp).
 *
 * An instruction whose access nobody told of is marked, if the checker knows
 * what it accesses: everything is explored once more, with a trap there. At the
 * trap the access is told, and then the instruction runs as if nothing had
 * been. Of any other the code is refused: its races would not be found.
 *
 * That costs two signals an access. So the code between two calls of the
 * checker is looked at the first four times that it runs, and then ever more
 * rarely. It is known by where the first of the two returns to, and by the last
 * operation with the value that it has read.
 */
#pragma once

#include "exploration.hpp"
#include "instruction.hpp"
#include "scheduler.hpp"

#include <model/body.hpp>

#include <span>
#include <string>
#include <vector>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace model {

using klock::usize;

/*
 * The pages that have variables of the code. They may have the engine's, too,
 * and the table by which calls find libraries. So they are closed by the last
 * step before the code goes on, and a signal's handler begins with opening
 * them. For that it needs this and its stack, which have pages of their own.
 */
struct alignas(4096) pages_of_data {
	struct range {
		char *from;
		usize bytes;
	};

	/* Finds them. Returns false if some are left out: they are too many. */
	bool find(std::span<const detail::variable>);
	/* Whether they are to be closed when the code goes on. */
	bool is_wanted = false;
	/* Closes or opens them as wanted. */
	[[gnu::always_inline]] void settle()
	{
		if (is_wanted != is_closed)
			set(is_wanted);
	}
	/* Opens them all if the address is in one. Returns whether it is. */
	[[gnu::always_inline]] bool open_at(const void *at)
	{
		const bool is_one = has(at);

		if (is_one)
			set(false);
		return is_one;
	}
	[[gnu::always_inline]] bool has(const void *at) const
	{
		for (usize i = 0; i < many; i++)
			if (static_cast<usize>(static_cast<const char *>(at) -
					       all[i].from) < all[i].bytes)
				return true;
		return false;
	}
	bool is_variable(const char *at) const;

      private:
	static constexpr usize most = 200;

	/* Calls the kernel; accesses nothing else. */
	[[gnu::always_inline]] void set(bool close);

	bool is_closed = false;
	usize many = 0;
	range all[most] = {};
	std::span<const detail::variable> variables;
};

inline void pages_of_data::set(bool close)
{
	is_closed = close;
#if defined(__x86_64__)
	for (usize i = 0; i < many; i++) {
		long called = SYS_mprotect;
		__asm__ volatile(
			"syscall"
			: "+a"(called)
			: "D"(all[i].from), "S"(all[i].bytes),
			  "d"(close ? PROT_NONE : PROT_READ | PROT_WRITE)
			: "rcx", "r11", "memory");
	}
#endif
}

struct lookout {
	lookout(exploration &of, scheduler &those) : task(of), cpus(those) {}

	/* An exploration begins: why it cannot look; empty: it can, or need
	 * not. */
	std::string start();
	/* It is over: opens all memory. */
	void end();
	/* The execution is run once more, to be shown. */
	void start_run(bool shows);

	/* The current CPU's code goes on: protects the memory, or does not. */
	void leave();
	void open_all();
	bool is_stepping() const { return stepping; }
	/* Other code makes the accesses that the current CPU was told of. */
	void let_others_access();
	static pages_of_data data;

	/* The CPU is about to make this access. alone: nothing else knows of
	 * it, so that it excuses no wider one. */
	void told(const void *at, usize bytes, bool writes, bool alone = false);
	/* The current CPU's code goes on from this call of the checker. */
	void goes_on_from(const void *caller)
	{
		if (able)
			choose(reinterpret_cast<usize>(caller));
	}
	/* It will, with what this operation has read. */
	void goes_on_with(u16 operation, u64 value)
	{
		if (able)
			choose_by(operation, value);
	}

	/* The accesses that a CPU was told of, and whether they were made. */
	struct tales {
		struct tale {
			const char *at;
			usize bytes;
			bool writes, alone;
			u64 read, written; /* the first 64 bytes, as begun */
		};
		tale last[2];
		unsigned many = 0;
		bool used = false;
		bool looks = false; /* while the code goes on */
		usize read = 0;	    /* what its last operation has read */
	};
	tales of_current() const { return of[cpus.current()]; }
	void set_of_current(const tales &t) { of[cpus.current()] = t; }

	/*
	 * A fault at this address, of the code or the checker. elsewhere: it is
	 * none of the lookout's.
	 */
	enum class fault { elsewhere, goes_on, untold };
	fault fault_at(const void *at, void *context, bool by_code);
	/* Returns false if that was no single step of the lookout's. */
	bool steps(void *context);

	/*
	 * Marks the instruction, of whose access nobody told. Returns false if
	 * it is not known what that is.
	 */
	bool marks(void *context);
	/* A world is made: the marked instructions stop from here on. */
	void set_marks();
	/*
	 * Handles a trap at a marked instruction. The CPU goes on with telling
	 * of its accesses, on its own stack. Returns false if it is another.
	 */
	bool tells(void *context, bool by_code);
	/*
	 * Handles a trap of a list (model_std/assembly.cpp) likewise, from here
	 * on. Returns false if it is not known what the instruction accesses.
	 */
	bool adopts(const detail::trapped &, void *context);

	/* The instruction of the signal, and whether it writes. */
	static const void *instruction_of(const void *context);
	static bool is_write(const void *context);

      private:
	struct part {
		char *from = nullptr;
		usize closed = 0; /* bytes that are protected */
	};

	void choose(usize what);
	void choose_by(usize operation, u64 value);
	void close();
	void open_usual();
	void close(part &, const void *from, usize bytes);
	void open(part &);
	bool was_told(const char *at, const void *context);
	bool doubts(const void *context);
	void step(void *context);

	/* An instruction that tells by a trap, and its first byte. */
	struct mark {
		u8 *at;
		u8 was;
		bool is_set;
		u8 is_at_end; /* the byte that is there in the end */
	};
	mark *mark_at(const void *instruction);
	void lift(mark &, void *context);
	void lend(u64 value);
	footprint footprint_at(const mark &, const void *context) const;
	bool goes_beyond(const tales::tale &, const void *context) const;

	exploration &task;
	scheduler &cpus;
	bool able = false;
	bool has_found = false;
	bool stepping = false;
	struct {
		const void *at = nullptr;
		bool writes = false;
		unsigned times = 0;
	} suspect;
	bool always = false;
	bool is_closed = false;
	std::vector<mark> marked;
	mark *lifted = nullptr; /* for a single step of its instruction */
	footprint told_by_trap; /* of that one */
	/* Memory that has an atomic's value for that step, and its own. */
	struct {
		void *at = nullptr;
		usize bytes = 0;
		u64 was = 0;
	} lent;
	/* The world's, the heaps', the CPUs' stacks. */
	static constexpr usize heaps = 1, stacks = heaps + 1 + max_cpus;
	part parts[stacks + max_cpus];
	tales of[max_cpus];
	static constexpr usize ways = 1 << 17;
	std::vector<u16> times = std::vector<u16>(ways);
};

} // namespace model
