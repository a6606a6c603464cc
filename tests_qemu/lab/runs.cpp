/* SPDX-License-Identifier: MIT */
/*
 * runs - what the lab can do: a row for each value of run=, and for each of
 * what=, which run=deadlock does
 *
 * A new one is a row here, and its function where the row's comment says.
 */
#include "report.hpp"

namespace lab {

/*
 * Each in a file of its own, but for short ones in main.cpp. Weak: the host's
 * test of the words has the rows alone.
 */
using run = int(const options &);
[[gnu::weak]] run run_measure, run_locks, run_storm, run_sequences,
	run_deadline, run_sleep, run_busted, run_busted_storm, run_shared,
	run_shared_storm, run_busted_shared, run_backoff, run_instructions,
	run_pairs, run_topology, run_deadlock, run_counts, run_stuck,
	end_by_panic, end_by_fault, end_by_print_fault, end_by_report_fault,
	end_by_failure, hang, end_by_reset;

/* In deadlock.cpp. */
using bug = void();
[[gnu::weak]] bug foreign_unlock, nmi_lock, interrupted_waiter, reading_handler,
	two_orders, three_cpus, two_queues, handler_order, console_in_panic,
	sleeps, shootdown, served;

namespace {

constexpr u32 cpus = word_cpus | list_of_cpus;
constexpr u32 rows = word_mode | word_fault;
constexpr u32 torture = word_acquisitions | word_pauses | word_rest | word_try |
			word_seed | word_patience | rows;
constexpr u32 trial =
	cpus | word_acquisitions | word_seed | word_patience | rows;
constexpr u32 experiment = cpus | word_section | word_think | word_seconds |
			   word_acquisitions | word_irq | word_seed |
			   word_detail | word_patience | rows | mode_csv |
			   prints_times;

/* Tortures and storms of a wrong lock, until it is found. */
constexpr u32 tortures_to_find = attempts_a_run * busted_runs;
constexpr u32 storms_to_find = attempts_a_run * busted_storm_runs;

} // namespace

const named_run runs[] = {
	{"measure", run_measure, experiment | word_lock | word_writers,
	 "throughput, handoff, fairness of each lock"},
	{"locks", run_locks, torture | cpus | word_lock | word_convoys,
	 "torture: convoys, whose order is seen, and free contention", 1},
	{"storm", run_storm,
	 torture | cpus | word_lock | word_convoys | word_without | wants_ipis,
	 "the same under interrupts, NMIs, stalls", 1, 2},
	{"sequences", run_sequences, trial | wants_ipis,
	 "sequences, once and barrier under them; wrong ones are found", 0,
	 busted_storm_runs},
	{"deadline", run_deadline, cpus | word_patience | rows | prints_times,
	 "a holder that stays: all others give up in time"},
	{"sleep", run_sleep, trial | wants_ipis,
	 "locks whose waiters sleep; how long a wake keeps their inner lock"},
	{"busted", run_busted, torture | word_cpus | word_convoys,
	 "every wrong lock that can be found here is found", tortures_to_find},
	{"busted_storm", run_busted_storm,
	 torture | word_cpus | word_convoys | word_without | wants_ipis,
	 "the same under interrupts, NMIs, stalls", storms_to_find,
	 storms_to_find},
	{"shared", run_shared,
	 torture | cpus | word_lock | word_convoys | has_readers,
	 "torture of the locks that readers share"},
	{"shared_storm", run_shared_storm,
	 torture | cpus | word_lock | has_readers | wants_ipis,
	 "the same: handlers read and write, NMIs try"},
	{"busted_shared", run_busted_shared, torture | word_cpus | word_convoys,
	 "every wrong one of them is found"},
	{"backoff", run_backoff, experiment,
	 "what back-off does to a ticket lock"},
	{"instructions", run_instructions, word_lock | rows | mode_csv,
	 "cycles of lock() and unlock(), one CPU alone"},
	{"pairs", run_pairs, cpus | rows | mode_csv | prints_times,
	 "one handoff between every two CPUs"},
	{"topology", run_topology, rows | mode_csv | prints_times,
	 "which CPUs share a core, a cache, a package"},
	{"deadlock", run_deadlock, word_what | word_patience,
	 "a misuse or a deadlock of checked locks, which is named"},
	{"counts", run_counts, word_cpus | rows, "how locks are waited for"},
	{"stuck", run_stuck,
	 word_lock | word_cpus | word_acquisitions | word_seed | word_without |
		 word_fault | word_patience | wants_watchdog,
	 "a lock that is kept: the watchdog says so", 1, 2},
	/* These end badly, for the runner's own tests. */
	{"panic", end_by_panic, 0, "ends by a panic, for the runner's tests"},
	{"fault", end_by_fault, 0, "ends by an exception"},
	{"print_fault", end_by_print_fault, 0, "ends by one while it prints"},
	{"report_fault", end_by_report_fault, 0,
	 "ends by one in a panic's report"},
	{"fail", end_by_failure, 0, "ends by FAIL"},
	{"hang", hang, 0, "does not end"},
	{"reset", end_by_reset, 0, "ends by a reset"},
	{},
};

const named_bug bugs[] = {
	{"two_orders", two_orders,
	 "CPU 0: inode -> buffer\n"
	 "# CPU 1: buffer -> inode\n"},
	{"three_cpus", three_cpus,
	 "CPU 0: inode -> buffer\n"
	 "# CPU 1:          buffer -> disk\n"
	 "# CPU 2: inode <----------- disk\n"},
	{"two_queues", two_queues,
	 "CPU 0: runqueue[0] -> runqueue[1]\n"
	 "# CPU 1: runqueue[0] <- runqueue[1]\n"},
	{"handler_order", handler_order,
	 "CPU 0: console, interrupts on -> handler -> disk\n"
	 "# CPU 1: console  <------------------------  disk\n"},
	{"console_in_panic", console_in_panic,
	 "CPU 0: console -> panic -> console\n"},
	{"sleeps", sleeps,
	 "CPU 0: inode -> an answer of CPU 1\n"
	 "# CPU 1: inode <- that answer\n"},
	{"shootdown", shootdown,
	 "CPU 0: inode -> the answer to an IPI\n"
	 "# CPU 1: inode <- interrupts on\n"},
	/* A shootdown that is no deadlock: lock(serve). */
	{"served", served,
	 "CPU 0: inode -> the answer to an IPI\n"
	 "# CPU 1: inode, and answers meanwhile\n",
	 named_bug::is_right},
	{"interrupted_waiter", interrupted_waiter,
	 "CPU 0: waits for runqueue, interrupts on -> handler -> runqueue\n"
	 "# CPU 1: runqueue\n"},
	{"reading_handler", reading_handler,
	 "CPU 0: reads routes, interrupts on -> handler -> reads routes\n"
	 "# CPU 1: waits to write routes between the two\n"},
	{"foreign_unlock", foreign_unlock,
	 "CPU 0: runqueue\n"
	 "# the last CPU: unlocks it\n"},
	{"nmi_lock", nmi_lock, "CPU 0: NMI handler -> runqueue\n",
	 named_bug::wants_nmis},
	{},
};

} // namespace lab
