/* SPDX-License-Identifier: MIT */
/*
 * options - what the kernel command line asks of the lab
 *
 *	run=measure lock=mcs_lock,tas_lock cpus=1,2,4 section=500 seconds=2
 *
 * Words are name=value, in any order, each at most once. The first that is
 * wrong, or that this run= does not use, ends the run by one line that says why
 * and what may be right: nothing is guessed. The word help prints the list.
 */
#pragma once

#include <boot/cpus.hpp>
#include <klock/selftest/measure.hpp>
#include <klock/types.hpp>

namespace lab {

using klock::u32;
using klock::u64;
using klock::selftest::range;

/* A table for people, comma-separated values for a script, or KTAP. */
enum class mode : u32 { table, csv, tap };

/*
 * The parts of a storm, as a mask. A run in which a part did not happen was no
 * storm, whatever else it shows.
 */
enum storm_part : u32 {
	part_handler = 1,  /* timer or IPI handlers took the lock */
	part_nmi = 2,	   /* NMI handlers took the lock */
	part_halt = 4,	   /* a holder halted */
	part_leave = 8,	   /* a CPU left and came back */
	part_nest = 16,	   /* another lock was taken inside */
	part_handoff = 32, /* the lock went from CPU to CPU */
	part_update = 64,  /* critical sections write; nothing without them */
};

/*
 * Faults of a run itself, each for one of the lab's verdicts: the run that has
 * it must end with FAIL. A run that has no place for it leaves the word fault=
 * unread, which is FAIL, too.
 */
enum class seeded : u32 {
	nothing,
	lost_row,      /* any run: a row that was planned is not printed */
	no_timer,      /* storms: no timer interrupt comes */
	no_ipi,	       /* nobody sends an IPI */
	no_nmi,	       /* nobody sends an NMI */
	no_handler,    /* handlers do nothing */
	nmi_enters,    /* an NMI handler does not ask for the lock */
	lost_inner,    /* the section of the inner lock does not write */
	lost_update,   /* sequences, sleep: one write is counted, not made */
	lost_permit,   /* sleep: a permit vanishes */
	nobody_sleeps, /* threads without a permit spin */
	no_exclusion,  /* sleep, measure, deadline: a section sees another */
	early,	       /* deadline: gives up at once */
	late,	       /* gives up after three times the deadline */
	let_in,	       /* gets in beside the holder */
	no_attempt,    /* asks once, and then no more */
	right_mutant,  /* busted: a right lock instead of each mutant */
	wrong_control, /* busted_shared: the control runs a mutant, too */
	lost_count,    /* counts: an acquisition is not made */
	too_few,       /* measure: half of the acquisitions */
	percentiles,   /* median and 99 % change places */
	no_work,       /* instructions, pairs, sleep: nothing is measured */
	silent_cpu,    /* stuck: a CPU does not answer the watchdog */
	read_order,    /* percentiles, of reads alone */
	write_order,   /* percentiles, of writes alone */
};

/* CPUs that the lab's locks are made for: boot's most. */
inline constexpr unsigned most_cpus = boot::max_cpus;

inline constexpr unsigned most_counts = 16;

/*
 * A row of `words` in options.cpp each; a mask. Behind `help` are values that
 * some runs do not take of words that they use, and more about runs.
 */
enum word : u32 {
	word_run = 1u << 0,
	word_mode = 1u << 1,
	word_lock = 1u << 2,
	word_cpus = 1u << 3,
	word_section = 1u << 4,
	word_think = 1u << 5,
	word_seconds = 1u << 6,
	word_acquisitions = 1u << 7,
	word_writers = 1u << 8,
	word_irq = 1u << 9,
	word_seed = 1u << 10,
	word_detail = 1u << 11,
	word_convoys = 1u << 12,
	word_pauses = 1u << 13,
	word_rest = 1u << 14,
	word_try = 1u << 15,
	word_without = 1u << 16,
	word_fault = 1u << 17,
	word_what = 1u << 18,
	word_patience = 1u << 19,
	word_parallel = 1u << 20,
	word_pin = 1u << 21,
	word_x2apic = 1u << 22,
	word_help = 1u << 23,
	list_of_cpus = 1u << 24, /* cpus=1,2: one run after another */
	mode_csv = 1u << 25,
	/* A run's kind, and its needs of the machine: */
	prints_times = 1u << 26, /* the clock must be known */
	has_readers = 1u << 27,	 /* lock= names those that readers share */
	wants_ipis = 1u << 28,	 /* and a timer's interrupts */
	wants_watchdog = 1u << 29,
};

struct options;

/* A value of run=: a row of runs.cpp. */
struct named_run {
	const char *name;
	int (*run)(const options &); /* returns the exit status */
	u32 words;		     /* that it reads; what it is and wants */
	const char *means;
	/*
	 * The most acquisitions of a row of its report, for the host's plan:
	 * so many tortures and storms. None: acquisitions=.
	 */
	u32 tortures = 0;
	u32 storms = 0;
};
/* The last has no name. */
extern const named_run runs[];

/* A value of what=, a misuse or a deadlock: a row of runs.cpp. */
struct named_bug {
	const char *name;
	void (*run)(); /* returns only where nobody noticed */
	const char *picture;
	enum : u32 { is_wrong, is_right, wants_nmis } kind = is_wrong;
};
extern const named_bug bugs[];

/*
 * Called when a run reads the value of a word: a panic, if its row of `runs`
 * has no such word.
 */
void note_read(u32 word);

/*
 * The value of a word. Each read is noted but those of `unchecked`, which are
 * for options.cpp and for what is no part of a run: the host's plan.
 */
template <u32 Word, typename T>
struct option {
	T unchecked;

	operator const T &() const { return read(); }
	const T *operator->() const { return &read(); }
	auto operator[](u32 i) const { return read().of[i]; }
	option &operator=(const T &now)
	{
		unchecked = now;
		return *this;
	}

	[[nodiscard]] const T &read() const
	{
		note_read(Word);
		return unchecked;
	}
};

struct cpu_list {
	u32 of[most_counts];
};

/*
 * The options of a run. The value that holds without a word is in its row of
 * `words`: read_options() sets it.
 */
struct options {
	const named_run *run;
	option<word_mode, mode> output;
	option<word_what, const named_bug *> what;
	option<word_lock, const char *> lock; /* names with commas, or all */
	option<word_cpus, cpu_list> cpus;     /* that contend */
	option<list_of_cpus, u32> counts;     /* how many of them were given */
	option<word_section, range> section;  /* cycles inside */
	option<word_think, range> think;      /* cycles between two sections */
	option<word_seconds, u32> seconds;    /* 0: acquisitions count */
	option<word_acquisitions, u32> acquisitions; /* 0: seconds count */
	option<word_writers, u32> writers; /* less: locks that share */
	option<word_irq, u32> irq;
	option<word_seed, u32> seed;
	option<word_detail, u32> detail;
	option<word_convoys, u32> convoys;
	option<word_pauses, u32> pauses;
	option<word_rest, u32> rest;
	option<word_try, u32> try_one_in;
	option<word_parallel, u32> parallel;
	option<word_patience, u32> patience;
	option<word_without, u32> without; /* parts left out, and then missed */
	option<word_fault, seeded> fault;
	bool help; /* only the list of the words is wanted */
};

/* Reads the kernel command line; prints what is wrong and returns false. */
[[nodiscard]] bool read_options(options &into);

/* The list of the words: the payload's exit status. */
int print_help();

/* Whether fault= is this one, which then counts as read. Any CPU. */
[[nodiscard]] bool asks_for(seeded fault);

/* A word that was given and never read by the run; null: there is none. */
[[nodiscard]] const char *unread_word();

/* Whether the run's row has all of these. */
[[nodiscard]] bool uses(const named_run &, u32 words);

/* A row of the tables in README, which options/test_options.cpp prints. */
struct described {
	const char *name;  /* null: there is no row of that number */
	const char *usual; /* of a word: without it; null: it has no value */
	const char *means;
	u32 words; /* the word; of a run, all of its words */
};
[[nodiscard]] described describe_word(u32 row);
[[nodiscard]] described describe_run(u32 row);

/* Whether the option lock= asks for the lock of this name. */
[[nodiscard]] bool asks_for(const options &o, const char *name);

/* How many locks that readers share it asks for. */
[[nodiscard]] unsigned shared_locks_asked_for(const options &o);

/* How many locks of the list it asks for. */
[[nodiscard]] unsigned locks_asked_for(const options &o);

} // namespace lab
