/* SPDX-License-Identifier: MIT */
/*
 * relaxed - plain data that the options take as relaxed atomics
 *
 * The compiler's hook comes before an access; the code makes the access itself.
 * So the value for a load is put into memory while the statement lasts, and the
 * value of a store is read when the CPU next comes here. No other CPU runs in
 * between. Then memory gets back the value that it had at first, which is a
 * location's first value in the graphs.
 *
 * A location is as small as the smallest access to its bytes: if an access is
 * to a part of a word of 8 bytes, the word is split in halves, and everything
 * is explored again.
 */
#pragma once

#include "brancher.hpp"
#include "exploration.hpp"
#include "interrupts.hpp"
#include "memory.hpp"
#include "reporter.hpp"
#include "scheduler.hpp"
#include "work_list.hpp"

#include <model/access.hpp>
#include <model/body.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace model {

struct loop_cutter;

struct relaxed_data {
	relaxed_data(exploration &of, scheduler &those, const work_list &graphs,
		     reporter &to, model::memory &of_run, const brancher &adds,
		     const interrupts &flags, loop_cutter &called)
	    : task(of), cpus(those), work(graphs), reports(to), memory(of_run),
	      branches(adds), irqs(flags), loops(called)
	{
	}

	/* An exploration begins; returns whether there are such data. */
	bool start();
	void start_run(unsigned count);

	/* A world is made. */
	void forget_names() { named.clear(); }
	/* It names an object that the options may name, too. */
	void name(const void *object, usize bytes, const char *text);
	/*
	 * The current CPU is about to access these bytes. Returns true if they
	 * are relaxed data.
	 */
	bool access(const void *at, usize bytes, bool writes,
		    const void *caller, detail::access_of by);
	/* Called at each hook: the code's last such access is done. */
	void settle();
	/* Whether the operation under way is of such data. */
	bool is_accessing() const { return of[cpus.current()].accesses; }

	/* The first lines of a result, which say what the options did. */
	std::string notes() const;

      private:
	/* A word that a statement of the code accesses. */
	struct word {
		char *at;
		u8 bytes;
		u64 was; /* at first, and again when the statement is over */
		bool writes;
		u64 shows;
	};
	struct statement {
		static constexpr usize most = 32;

		/* Puts the first values back into memory. */
		void hide() const;

		word of[most];
		usize count = 0, bytes = 0;
		const void *caller = nullptr;
		bool writes = false, joined = false, settled = true;
	};
	struct of_cpu {
		bool accesses = false;
		/* One CPU's statements: its own, and its handlers'. */
		std::vector<statement> statements;
	};
	struct named_range {
		const char *at;
		usize bytes;
		u8 entry; /* of options.relaxed */
	};

	statement &now();
	unsigned entry_of(const void *caller);
	bool match(const void *at, usize bytes, const void *caller,
		   bool is_volatile);
	void split_access(const char *word, usize size, const char *first,
			  const char *last);
	u64 oldest(const char *at, usize bytes);
	void touch(const void *at, usize bytes, bool writes,
		   const void *caller);
	bool copies(usize bytes, bool writes, const void *caller);

	static constexpr unsigned none = ~0u;

	exploration &task;
	scheduler &cpus;
	const work_list &work;
	reporter &reports;
	model::memory &memory;
	const brancher &branches;
	const interrupts &irqs;
	loop_cutter &loops;

	of_cpu of[max_cpus];
	std::vector<named_range> named; /* of this run's world */
	std::map<const void *, unsigned> lines;
	std::set<std::pair<const char *, usize>> split;
	std::vector<bool> matched; /* which of options.relaxed was met */
	bool volatile_matched = false;
};

} // namespace model
