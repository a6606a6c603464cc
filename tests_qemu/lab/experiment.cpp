/* SPDX-License-Identifier: MIT */
/*
 * experiment - how each lock serves its CPUs: figures, not verdicts
 */
#include "context.hpp"
#include "options.hpp"
#include "machine.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <klock/selftest/locks.hpp>
#include <klock/selftest/measure.hpp>
#include <klock/selftest/shared_measure.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

namespace lab {

/*
 * An experiment and no lock of klock: it shows why there is none (run=backoff).
 * A waiter that pauses longer and longer sleeps through its turn, and all who
 * come after it wait for the sleeper; their delays add up. Mellor-Crummey and
 * Scott, ACM TOCS 9(1), 1991, section 2.2, say so.
 */
struct exponential_ticket {
	static constexpr klock::u64 max_contenders =
		klock::ticket_lock<klock::u16>::max_contenders;

	void lock()
	{
		char here;
		klock::exponential_backoff pace(
			reinterpret_cast<klock::usize>(&here) -
			reinterpret_cast<klock::usize>(this));

		queue.lock_paced([&pace](klock::u16) { return pace(); });
	}

	void unlock() { queue.unlock(); }

      private:
	klock::ticket_lock<klock::u16> queue;
};

namespace {

using namespace klock::selftest;

constexpr klock::u8 timer_vector = 0x44;

template <typename Subject>
inline constinit measurement<Subject, most_cpus> measured_lock;

template <typename Subject>
inline constinit shared_measurement<Subject, most_cpus> shared_measured;

constinit tally tallies[most_cpus], of_writes[most_cpus];
constinit figures seen = {};
constinit shared_figures shared_seen = {};

/* A CPU's handler: its random numbers; those of the thread are in run(). */
struct alignas(klock::cache_line) handler_state {
	xorshift dice{7};
	u32 calls = 0;
};

constinit handler_state handlers[most_cpus];

/* Whether the timer's handler may still take the lock. */
constinit klock::atomic<u32> handlers_run{0};

/* A prepared measurement, without its lock's type. */
struct prepared {
	watched shown;
	void (*run)(unsigned cpu);
	void (*visit_in_handler)(unsigned cpu, xorshift &dice);
};

template <auto &Measured>
prepared prepare_for(const char *lock, unsigned cpus)
{
	return {watched_test(Measured, lock, cpus, stuck::is_a_bug),
		[](unsigned cpu) { Measured.run(cpu); },
		[](unsigned cpu, xorshift &dice) {
			Measured.visit_in_handler(cpu, dice);
		}};
}

constinit prepared prepared_now = {};

void on_timer(boot::interrupt_frame &)
{
	const unsigned cpu = boot::this_cpu();
	const in_handler here(cpu, klock::context::interrupt);

	handlers[cpu].calls++;
	if (handlers_run.load_acquire())
		prepared_now.visit_in_handler(cpu, handlers[cpu].dice);
}

experiment experiment_for(const options &o, u32 cpus)
{
	return {.cpus = cpus,
		.section = o.section,
		.think = o.think,
		.acquisitions = asks_for(seeded::too_few) ? o.acquisitions / 2
							  : o.acquisitions,
		.cycles = o.seconds * boot::clock_hz(),
		.seed = o.seed,
		.irqs_off = o.irq != 0};
}

/* Returns what was asked for and did not happen, or null. */
const char *missing(const options &o, const experiment &e, u64 acquisitions,
		    u64 in_handler)
{
	if (!acquisitions || (!e.cycles && acquisitions < o.acquisitions))
		return "fewer acquisitions than were asked for";
	if (o.irq && !in_handler)
		return "no interrupt handler took the lock: too short a run?";
	return nullptr;
}

/* Runs one of the experiment's CPUs, with a timer of that period; 0: none. */
void run_with_timer(unsigned cpu, u64 period)
{
	if (period)
		boot::timer_start_periodic(timer_vector, period);
	prepared_now.run(cpu);
	handlers_run.store_release(0);
	if (period)
		boot::timer_stop();
}

/* Runs the prepared measurement on all CPUs of the experiment. */
void run_prepared(const options &o, const prepared &p)
{
	u64 period = o.irq ? boot::div_u64(1000000000, o.irq) : 0;

	prepared_now = p;
	handlers_run.store_release(1);
	if (period)
		boot::set_interrupt_handler(timer_vector, on_timer);
	run_watched(
		p.shown,
		[](unsigned cpu, void *of) {
			run_with_timer(cpu, *static_cast<const u64 *>(of));
		},
		&period);
	if (asks_for(seeded::no_exclusion))
		tallies[0].overlaps++;
	for (unsigned cpu = 0; cpu < p.shown.cpus; cpu++) {
		all_totals.interrupts += handlers[cpu].calls;
		handlers[cpu].calls = 0;
	}
}

template <typename Subject>
void measure_once(const options &o, const experiment &e)
{
	measured_lock<Subject>.prepare(e, tallies);
	run_prepared(
		o, prepare_for<measured_lock<Subject>>(Subject::name, e.cpus));
	measured_lock<Subject>.outcome(seen);
	add_sections(seen.acquisitions, Subject::capacity);
}

/* As long as one that is ahead takes, in pauses as long as they are then. */
template <typename Lock>
void set_base(Lock &lock, const options &o, const klock::calibration &c,
	      u32 cpus)
{
	if constexpr (requires { lock.set_base(1u); })
		lock.set_base(klock::proportional_base(
			relax_among(cpus), c.handoff, o.section->most));
}

template <typename Subject>
void measure_one(const options &o, u32 cpus, const klock::calibration &c)
{
	say_running(o, Subject::name);
	set_base(measured_lock<Subject>.measured(), o, c, cpus);
	const experiment e = experiment_for(o, participants<Subject>(cpus));

	measure_once<Subject>(o, e);
	print_figures(o, seen,
		      missing(o, e, seen.acquisitions, seen.in_handler));
}

template <typename Subject>
void measure_readers(const options &o, u32 cpus)
{
	auto &s = shared_measured<Subject>;

	say_running(o, Subject::name);
	experiment e = experiment_for(o, readers_of<Subject>(cpus));

	e.writers = o.writers;

	s.prepare(e, tallies, of_writes);
	run_prepared(o, prepare_for<shared_measured<Subject>>(Subject::name,
							      e.cpus));
	s.outcome(shared_seen);
	const tally &r = shared_seen.read, &w = shared_seen.write;
	const u64 made = r.acquisitions + w.acquisitions;

	add_sections(made, Subject::capacity);
	print_shared_figures(o, shared_seen,
			     missing(o, e, made, r.in_handler + w.in_handler));
}

/*
 * If several numbers of CPUs are asked for, a lock runs with those that it has
 * room for: the row for its capacity need not be repeated.
 */
template <typename Measure>
void measure_if_room(const options &o, const char *lock, u32 cpus, u32 room,
		     Measure measure)
{
	char why[48];

	if (o.counts == 1 || room == cpus) {
		measure();
		return;
	}
	boot::format_to(why, sizeof(why), "%u CPUs: room for %u only", cpus,
			room);
	print_skipped(o, lock, why);
}

using backoff_subjects = list<
	subject<"ticket_lock<u16>", klock::ticket_lock<klock::u16>,
		service::fifo>,
	subject<"exponential_ticket", exponential_ticket, service::fifo>,
	subject<"proportional_ticket_lock<u16>",
		klock::proportional_ticket_lock<klock::u16>, service::fifo>>;

int measure_shared(const options &o)
{
	begin_report(o, o.counts * shared_locks_asked_for(o));
	(void)measure_machine();
	print_shared_head(o);
	for (u32 i = 0; i < o.counts; i++)
		all_shared_locks<most_cpus>::for_each([&]<typename Subject>() {
			if (!asks_for(o, Subject::name))
				return;
			measure_if_room(o, Subject::name, o.cpus[i],
					readers_of<Subject>(o.cpus[i]), [&] {
						measure_readers<Subject>(
							o, o.cpus[i]);
					});
		});
	return end_report();
}

} // namespace

int run_measure(const options &o)
{
	using locks = all_locks<most_cpus>;

	if (o.writers < 100)
		return measure_shared(o);

	begin_report(o, o.counts * locks_asked_for(o));
	const klock::calibration c = measure_machine();

	print_figures_head(o);
	for (u32 i = 0; i < o.counts; i++)
		locks::for_each([&]<typename Subject>() {
			if (!asks_for(o, Subject::name))
				return;
			measure_if_room(
				o, Subject::name, o.cpus[i],
				participants<Subject>(o.cpus[i]),
				[&] { measure_one<Subject>(o, o.cpus[i], c); });
		});
	return end_report();
}

int run_backoff(const options &o)
{
	begin_report(o, o.counts * backoff_subjects::size);
	const klock::calibration c = measure_machine();

	print_figures_head(o);
	for (u32 i = 0; i < o.counts; i++)
		backoff_subjects::for_each([&]<typename Subject>() {
			measure_one<Subject>(o, o.cpus[i], c);
		});
	return end_report();
}

} // namespace lab
