/* SPDX-License-Identifier: MIT */
/*
 * thread_locals - the storage of `thread_local`: one for each CPU
 *
 * The CPUs are fibers of one thread of the host. While one of them runs, the
 * machine's thread pointer leads to a copy of what lies around that thread's
 * own. So each CPU has its thread_locals, at addresses of its own, and one that
 * is shown to another CPU is memory like any other. The C and the C++ library's
 * data of the thread are copied, too. One more copy is for the code that makes
 * the world, looks at it at the end, and destroys it.
 *
 * In each execution the program's thread_locals are as at a thread's start.
 */
#pragma once

#include <klock/types.hpp>

#include <cstddef>
#include <vector>

namespace model {

using klock::usize;

struct thread_locals {
	/* An exploration begins, in this thread. */
	void start(unsigned cpus);
	/* A run begins. */
	void start_run();

	/* The code of this CPU goes on, and stops. */
	void enter(unsigned cpu)
	{
		if (cpu != closed_but)
			open();
		set(copies.empty() ? own : copies[cpu]);
	}
	void leave() { set(own); }

	/* While it lives, the code runs that makes and ends worlds. */
	struct as_maker {
		explicit as_maker(thread_locals &of) : all(of)
		{
			all.enter(all.maker());
		}
		~as_maker() { all.leave(); }
		as_maker(const as_maker &) = delete;
		as_maker &operator=(const as_maker &) = delete;

		thread_locals &all;
	};

	/* Protects all but this CPU's (lookout.hpp), until open(). */
	void close_others(unsigned cpu);
	void open();
	bool is_closed(const void *at) const
	{
		return closed_but != none && owner(at) != none &&
		       owner(at) != closed_but;
	}

	/* -- An address -- */

	/* The CPU whose storage that is, or the maker; none: nobody's. */
	static constexpr unsigned none = ~0u;
	unsigned owner(const void *at) const
	{
		const usize offset = static_cast<usize>(
			static_cast<const char *>(at) - room);

		return offset < copies.size() * stride
			       ? static_cast<unsigned>(offset / stride)
			       : none;
	}
	unsigned maker() const
	{
		return static_cast<unsigned>(copies.size()) - 1;
	}
	/* Its offset among the program's, as the program's symbols have it. */
	usize in_program(const void *at) const
	{
		return static_cast<usize>(static_cast<const char *>(at) -
					  copies[owner(at)] - program.offset);
	}
	/* Why no CPU may access it; null: it may. */
	const char *refused(const void *at) const;

	/* -- Destructors -- */

	/* Notes that this one is to be called when the CPU ends; false: it is
	 * no CPU's. */
	bool note_end(void (*end)(void *), void *of);
	/* Calls the CPU's. */
	void run_ends(unsigned cpu);

      private:
	static void set(char *pointer)
	{
#if defined(__x86_64__)
		if (pointer)
			__asm__ volatile("wrfsbase %0" ::"r"(pointer)
					 : "memory");
#else
		(void)pointer;
#endif
	}
	const char *find();
	void copy_to(char *pointer, char *dtv);

	/* Bytes, by their offset from the thread pointer, that a run finds. */
	struct part {
		std::ptrdiff_t offset = 0;
		std::vector<char> at_start;
	};
	/* A module's, in the host's thread. */
	struct range {
		const char *from;
		usize bytes;
		bool is_shared; /* of a library that is not the C or C++ one */
	};
	struct destructor {
		void (*end)(void *);
		void *of;
	};

	const char *prevents = nullptr;
	char *own = nullptr;	    /* the host's pointer; null: no copies */
	usize below = 0, above = 0; /* bytes around it */
	part program, exceptions;
	std::vector<range> modules;

	char *room = nullptr;
	usize room_bytes = 0, stride = 0;
	unsigned closed_but = none; /* none: all are open */
	std::vector<char *> copies; /* their pointers; the last: the maker's */
	std::vector<std::vector<destructor>> ends;
};

} // namespace model
