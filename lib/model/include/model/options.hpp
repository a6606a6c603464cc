/* SPDX-License-Identifier: MIT */
/*
 * options - what to explore; result - what was found
 */
#pragma once

#include <klock/types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace model {

using klock::order;
using klock::u64;
using klock::u8;

/* The writes that belong to a release sequence. */
enum class release_sequence : u8 {
	cxx20, /* the release, and RMWs on top of it: ISO C++20 */
	rc11,  /* later stores of the same CPU, too: up to C++17, stronger */
};

inline constexpr unsigned unbounded = ~0u;

/*
 * The memory model whose executions are explored. A machine's is what it does
 * with each operation as written; compiler optimisations are left out.
 */
enum class machine : u8 {
	rc11, /* C++ on any machine */
	sc,   /* one operation after another */
	x86,  /* TSO: stores wait in a buffer */
};

/* A kind of operation, as far as its orders go. */
enum class operation : u8 { load, store, rmw, fence };

/* An operation in the code under test, and the order written there. */
struct use {
	std::string file;
	int line;
	operation what;
	order written;

	/* In any execution: it read another CPU's write; another CPU read its
	 * write. */
	bool reads = false, is_read = false;
	/* It put data of two CPUs into an order: with record_uses. */
	bool acquires = false, releases = false;

	friend bool operator==(const use &a, const use &b)
	{
		return a.file == b.file && a.line == b.line &&
		       a.what == b.what && a.written == b.written;
	}
};

/* Changes that operation's order. */
struct weakening {
	use where;
	order to;
};

struct options {
	/* How often each CPU runs the body; as many CPUs as entries. */
	std::vector<unsigned> sections = {};
	/* `sections` by a name for code that is no lock; give one of them. */
	std::vector<unsigned> runs = {};

	/*
	 * The number of executions after which to give up; result.exhaustive
	 * then is false.
	 */
	u64 max_executions = 20'000'000;
	unsigned max_events = 240; /* of one CPU in one execution */

	/*
	 * The seconds of CPU time that the code may run, in one execution, and
	 * do nothing that the checker sees. More is a finding: a loop without
	 * an end. 0: no bound.
	 */
	double idle_seconds = 10;

	/* The stack of each CPU, with what the checker itself takes of it. */
	klock::usize stack_bytes = 64 * 1024;

	/* How often the handler may interrupt each CPU, wherever it can. */
	unsigned interrupts = 0;
	bool non_maskable = false; /* whatever the interrupt flag says */

	/*
	 * Bounds for code that is too large: only executions near to the one in
	 * which the CPUs run one after another. preemptions: how many reads may
	 * find what a later CPU writes. max_reorder: how many reads and writes
	 * may come before a write that was there. What is beyond is left out,
	 * and the result is not exhaustive.
	 */
	unsigned preemptions = unbounded;
	unsigned max_reorder = unbounded;

	/*
	 * For code without known bounds: explore in levels, with both bounds at
	 * 1 (or as given), at one more, and so on, until nothing is left out,
	 * something is found, or this many seconds have passed. The first level
	 * is always explored to its end. The result is that of the last one
	 * that was; limit says which.
	 */
	std::optional<double> deepen = {};

	/*
	 * How often each CPU's compare_exchange_weak may fail though it finds
	 * what it expects: on AArch64 and RISC-V it does, on x86 never. 0: as
	 * often as compare_exchange_strong. A wait with a condition variable
	 * may end as often without a notification.
	 */
	unsigned spurious = 1;

	/*
	 * A compare_exchange's failure order of release or acq_rel, which C++
	 * forbids, is taken as clang takes it: relaxed, acquire. Else it is a
	 * finding.
	 */
	bool any_failure_order = false;

	/*
	 * A mask of CPUs. A wait with patience may end at any look, as if there
	 * had been as many before it as it takes; these CPUs' never does.
	 */
	unsigned patient = 0;

	/*
	 * Makes the halves of a pair and the fields of a word locations of
	 * their own, ordered by happens-before alone, as on machines that keep
	 * coherence by byte. A compare-and-swap over all reads those that it
	 * leaves, swaps the last that it changes, and stores the rest, in
	 * steps: changes in between that cancel out are not seen (ABA). This is
	 * worse than any machine. Fields that are accessed together
	 * (paired_fields) stay one location.
	 */
	bool split_pairs = false;

	/*
	 * Makes unsigned integers of up to 4 bytes, and the fields of words,
	 * wrap at this many bits, so that few CPUs reach the wrap of a counter.
	 * Only results of the functions in <klock/atomic.hpp> wrap there. 0:
	 * they wrap at their own width.
	 */
	unsigned counter_bits = 0;

	release_sequence sequence = release_sequence::cxx20;

	model::machine machine = model::machine::rc11;

	/*
	 * After RC11's executions, explore those in which a load reads a value
	 * that a store wrote because of that load, though no dependency leads
	 * from the load to the store (load buffering): ISO C++ leaves them
	 * open, and Arm has some of them. A finding in them is marked:
	 * result.open. At most eight of the loads that lead to a store read it.
	 * The code runs in each; symmetric and workers do nothing.
	 */
	bool load_buffering = false;

	/*
	 * The CPUs run the same body, which uses the number of its CPU only to
	 * find its own data. Of executions that differ by a renaming of CPUs,
	 * one is explored: that in which CPUs with the same number of sections
	 * come to their first unconditional read-modify-write in the order of
	 * their numbers. That must be of the same word for all, which only
	 * read-modify-writes change; otherwise no execution is left out.
	 */
	bool symmetric = false;

	/*
	 * Processes that share the work, if there is enough; 0: one a core. The
	 * result is the same. If the functions write outside of the world, that
	 * stays in those processes.
	 */
	unsigned workers = 1;

	/*
	 * Run the code in every execution. Without this, its steps are learnt:
	 * a CPU that reads the same values as before is taken to do the same.
	 */
	bool run_all = false;

	/* Explore every failed read of a wait, though none leads anywhere. */
	bool stale_waits = false;

	/*
	 * Cut the failed turns of all loops: fewer executions if code tries
	 * again, each for more time. Without this, they are cut only if
	 * max_events is hit, as if a loop went on for ever: all is then
	 * explored anew.
	 */
	bool cut_loops = false;

	/*
	 * A bound for loops that cannot be cut, as each turn writes or counts:
	 * how often a CPU does each operation of the code in one section, at
	 * one address. Executions in which it would do more are followed up to
	 * there; if there are any, the result is not exhaustive. 0: no bound.
	 */
	unsigned unroll = 0;

	/*
	 * Explore and count the turns in vain of loops, too, except those of a
	 * loop that would not end.
	 */
	bool every_turn = false;

	/* CPUs that wait for ever are no bug: litmus tests. */
	bool may_deadlock = false;

	/*
	 * A panic is no bug: that CPU stops there, and the others go on as far
	 * as they can. An execution is then found in result.panicked alone.
	 */
	bool may_panic = false;

	/*
	 * The most executions in which the shortest one with a fault is sought.
	 * It is also at most the number that the first finding took, plus 64.
	 */
	u64 shorten = 2000;

	/*
	 * Show every row: also CPUs on which the finding does not depend, and
	 * each access to memory that only one CPU touches.
	 */
	bool every_row = false;

	/*
	 * Seek the cause of a finding, result.cause: the program is explored
	 * again, each time for at most 5000 runs. By default yes, but not with
	 * weaken, which is itself the cause.
	 */
	std::optional<bool> cause = {};

	/* Put the operations' uses into result.uses. */
	bool record_uses = false;

	std::optional<weakening> weaken = {};

	/*
	 * Plain data that others may access at the same time, as their authors
	 * meant it: each access is a relaxed atomic one. "file.hpp:12", a line
	 * of code; or the name of an object, as by model::name(). The result
	 * says which were met, and which were not: result.notes.
	 */
	std::vector<std::string> relaxed = {};
	/* All accesses to volatile data, likewise. */
	bool relaxed_volatile = false;
};

enum class bug {
	none,
	data_race,
	failed_check,
	deadlock,
	dead_object,
	mixed_access, /* plain and atomic, or of two sizes, at one address */
	panic,
	crash,		/* a signal, std::terminate(), exit() */
	bad_memory,	/* out of bounds, or a read where nothing was stored */
	not_repeatable, /* the code does not do the same twice */
	unseen,		/* what the checker cannot see, it refuses */
};

struct result {
	bug found = bug::none;
	std::string notes;    /* what of it is not as the code says */
	std::string message;  /* what is wrong, in a line */
	std::string cause;    /* what is missing, as far as it is known */
	std::string timeline; /* the execution that shows it */
	std::string svg;      /* the same as a picture */
	std::string replay;   /* a command that runs it under gdb */

	u64 complete = 0;    /* executions in which every CPU finished */
	u64 blocked = 0;     /* in which one waits for what happens elsewhere */
	u64 panicked = 0;    /* in which one has panicked: options.may_panic */
	u64 left_out = 0;    /* beyond preemptions, max_reorder, unroll */
	unsigned levels = 0; /* explored to their end: options.deepen */
	u64 explored = 0;    /* of complete: the others differ in who is who */
	u64 ran = 0; /* in how many the code ran; the others are learnt */
	u64 load_buffered = 0; /* not counted: options.load_buffering */
	u64 in_vain = 0; /* not counted: others, with a loop's turn more */
	double time = 0; /* seconds */

	bool exhaustive = false; /* nothing was left out */
	std::string limit;	 /* else why */

	std::vector<use> uses;

	/*
	 * Operations stronger than relaxed of which this client says little:
	 * they never read another CPU's write, or no other CPU read theirs;
	 * with record_uses, also those that put no data into an order. As text:
	 * text_of_unmet().
	 */
	std::vector<use> unmet;

	/* The finding needs load buffering, which ISO C++ leaves open. */
	bool open = false;

	/* Plain variables were not checked: model_std, without model_plain.
	 */
	bool atomics_only = false;

	/* Whether no bug was found; says little without exhaustive. */
	bool ok() const { return found == bug::none; }
	/*
	 * No execution goes wrong, none was left out, and at least one was
	 * complete.
	 */
	bool proved() const { return ok() && exhaustive && complete; }
};

} // namespace model
