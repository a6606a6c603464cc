/* SPDX-License-Identifier: MIT */
/*
 * experiment - how each lock serves its CPUs: figures, not verdicts
 */
#include "experiment.hpp"

#include "context.hpp"
#include "exponential_ticket.hpp"
#include "figures.hpp"
#include "machine.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "totals.hpp"

#include <klock/selftest/locks.hpp>
#include <klock/selftest/measure.hpp>

namespace lab {

namespace {

using namespace klock::selftest;

constexpr klock::u8 timer_vector = 0x44;

template <typename Subject>
inline constinit measurement<Subject, most_cpus> stand;

constinit tally tallies[most_cpus];
constinit figures seen = {};

/* A CPU's handler: its random numbers; those of the thread are in run(). */
struct alignas(klock::cache_line) handler_state {
	xorshift dice{7};
	u32 calls = 0;
};

constinit handler_state handlers[most_cpus];

/* Whether the timer's handler may still take the lock. */
constinit klock::atomic<u32> handlers_run{0};

template <typename Subject>
void on_timer(boot::interrupt_frame &)
{
	const unsigned cpu = boot::this_cpu();
	const in_handler here(cpu, klock::context::interrupt);

	handlers[cpu].calls++;
	if (handlers_run.load_acquire())
		stand<Subject>.visit_in_handler(cpu, handlers[cpu].dice);
}

template <typename Subject>
experiment experiment_for(const options &o, u32 cpus)
{
	return {.cpus = participants<Subject>(cpus),
		.section = o.section,
		.think = o.think,
		.acquisitions = o.acquisitions,
		.cycles = o.seconds * boot::tsc_hz(),
		.seed = o.seed,
		.irqs_off = o.irq != 0};
}

/* What was asked for and did not happen; null: nothing. */
const char *missing(const options &o, const experiment &e)
{
	if (!seen.acquisitions ||
	    (!e.cycles && seen.acquisitions < e.acquisitions))
		return "fewer acquisitions than were asked for";
	if (o.irq && !seen.in_handler)
		return "no interrupt handler took the lock: too short a run?";
	return nullptr;
}

template <typename Subject>
void measure_once(const options &o, const experiment &e)
{
	auto &s = stand<Subject>;
	const u64 period = o.irq ? boot::div_u64(1000000000, o.irq) : 0;

	s.prepare(e, tallies);
	handlers_run.store_release(1);
	if (period)
		boot::set_interrupt_handler(timer_vector, on_timer<Subject>);
	run_watched(s, Subject::name, e.cpus, stuck::is_a_bug,
		    [&](unsigned cpu) {
			    if (period)
				    boot::timer_start_periodic(timer_vector,
							       period);
			    s.run(cpu);
			    handlers_run.store_release(0);
			    if (period)
				    boot::timer_stop();
		    });
	s.outcome(seen);
	add_sections(seen.acquisitions, Subject::capacity);
	for (unsigned cpu = 0; cpu < e.cpus; cpu++) {
		all_totals.interrupts += handlers[cpu].calls;
		handlers[cpu].calls = 0;
	}
}

/* As long as one that is ahead takes, in pauses as long as they are then. */
template <typename Lock>
void set_base(Lock &lock, const options &o, const klock::calibration &c,
	      u32 cpus)
{
	if constexpr (requires { lock.set_base(1u); })
		lock.set_base(klock::proportional_base(
			relax_among(cpus), c.handoff, o.section.most));
}

template <typename Subject>
void measure_one(const options &o, u32 cpus, const klock::calibration &c)
{
	say_running(o, Subject::name);
	set_base(stand<Subject>.measured(), o, c, cpus);
	const experiment e = experiment_for<Subject>(o, cpus);

	measure_once<Subject>(o, e);
	print_figures(o, seen, missing(o, e));
}

/*
 * Of several numbers of CPUs a lock shows those that it has room for: its last
 * row need not come again and again.
 */
template <typename Subject>
void measure_if_room(const options &o, u32 cpus, const klock::calibration &c)
{
	char why[48];

	if (o.counts == 1 || participants<Subject>(cpus) == cpus) {
		measure_one<Subject>(o, cpus, c);
		return;
	}
	boot::format_to(why, sizeof(why), "%u CPUs: room for %u only", cpus,
			participants<Subject>(cpus));
	print_skipped(o, Subject::name, why);
}

using backoff_subjects = list<
	subject<"ticket_lock<u16>", klock::ticket_lock<klock::u16>,
		service::fifo>,
	subject<"exponential_ticket", exponential_ticket, service::fifo>,
	subject<"proportional_ticket_lock<u16>",
		klock::proportional_ticket_lock<klock::u16>, service::fifo>>;

} // namespace

int run_measure(const options &o)
{
	using locks = all_locks<most_cpus>;

	begin_report(o, o.counts * locks_asked_for(o));
	const klock::calibration c = measure_machine();

	print_figures_head(o);
	for (u32 i = 0; i < o.counts; i++)
		locks::for_each([&]<typename Subject>() {
			if (asks_for(o, Subject::name))
				measure_if_room<Subject>(o, o.cpus[i], c);
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
