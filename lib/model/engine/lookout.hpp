/* SPDX-License-Identifier: MIT */
/*
 * lookout - finds accesses that the compiler does not tell of
 *
 * While a CPU's own code runs, the memory of the world and of the heap is
 * protected. Each access faults; it must be one that the compiler has told of
 * just before. If it is, the memory is opened for this one instruction (a
 * single step). The engine's own accesses open the memory until the code goes
 * on. Libraries' do, too: which of their functions a CPU may call is decided by
 * their names (model_std/imports.cpp).
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

#include <string>
#include <vector>

namespace model {

using klock::usize;

struct lookout {
	lookout(exploration &of, const scheduler &those) : task(of), cpus(those)
	{
	}

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
	/* Other code makes the accesses that the current CPU was told of. */
	void let_others_access();

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
	const scheduler &cpus;
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
	part parts[2 + max_cpus]; /* the world's, and the heaps */
	tales of[max_cpus];
	static constexpr usize ways = 1 << 17;
	std::vector<u16> times = std::vector<u16>(ways);
};

} // namespace model
