/* SPDX-License-Identifier: MIT */
/*
 * timer - the generic timer: AArch64
 *
 * Source: Arm ARM (DDI 0487), The Generic Timer. Each CPU has a virtual timer,
 * which is the payload's, and a physical one: CPU 0's is the NMI clock. Both
 * fire for as long as their time has come: they are set anew before the
 * interrupt ends.
 */
#include <boot/aarch64/system.hpp>
#include <boot/board/board.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/format.hpp>
#include <boot/interrupts.hpp>
#include <boot/panic.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>
#include <klock/cpu.hpp>

namespace boot {

namespace {

constexpr u64 enabled = 1;
constexpr u64 stopped = 0;

/* Private interrupts come behind the 16 software-generated ones. */
constexpr u32 first_private = 16;

/* The tree's interrupts of the timer: secure, physical, virtual, hypervisor. */
constexpr usize physical_timer = 1;
constexpr usize virtual_timer = 2;

/* The number if the tree states none: Base System Architecture (DEN 0094). */
constinit u32 virtual_interrupt = 27;
constinit u32 physical_interrupt = 30;

constinit u64 nmi_clock_period = 0;

/* Devicetree bindings, arm,gic-v3: three cells each: type, number, flags. */
void read_interrupt(const tree_walk &timer, usize which, u32 &interrupt)
{
	u64 number;

	if (timer.property("interrupts").number(which * 3 + 1, 1, number) &&
	    number < 16)
		interrupt = static_cast<u32>(number) + first_private;
}

/* After `last`, or after now, if that has passed already. */
u64 next_time(u64 last, u64 period, u64 now)
{
	return now - last < period ? last + period : now + period;
}

void start(u8 vector, u64 ns, bool again)
{
	check_free_vector(vector);
	if (!has_ipis())
		panic("a timer without an interrupt controller");
	percpu_part &own = cpus[this_cpu()]->machine;
	const interrupts_off in_one_go;
	const u64 ticks = timer_cycles(ns);

	own.timer_vector = vector;
	own.timer_period = again ? ticks : 0;
	write_cntv_cval(klock::cycles() + ticks);
	write_cntv_ctl(enabled);
	instruction_barrier();
}

} // namespace

void timer_init()
{
	tree_walk timer(machine_tree());

	if (!find_compatible(machine_tree(), "arm,armv8-timer", timer))
		return;
	read_interrupt(timer, virtual_timer, virtual_interrupt);
	read_interrupt(timer, physical_timer, physical_interrupt);
}

u32 timer_interrupt() { return virtual_interrupt; }

u32 nmi_clock_interrupt() { return physical_interrupt; }

clock_found find_clock()
{
	const u64 hz = read_cntfrq();

	if (!hz) {
		print("# boot: the clock is not known: CNTFRQ_EL0 is 0, time "
		      "is taken from a guess of 100 MHz\n");
		return {100'000'000, false};
	}
	print("# boot: clock %u kHz, by CNTFRQ_EL0\n", div_u64(hz, 1000));
	return {hz, true};
}

void timer_start_periodic(u8 vector, u64 period_ns)
{
	start(vector, period_ns, true);
}

void timer_start_one_shot(u8 vector, u64 delay_ns)
{
	start(vector, delay_ns, false);
}

void timer_stop()
{
	if (!has_ipis())
		panic("a timer without an interrupt controller");
	write_cntv_ctl(stopped);
	instruction_barrier();
}

u8 timer_fired()
{
	const percpu_part &own = cpus[this_cpu()]->machine;

	/* It was on its way when the timer was stopped. */
	if (!(read_cntv_ctl() & enabled))
		return own.timer_vector;
	if (own.timer_period)
		write_cntv_cval(next_time(read_cntv_cval(), own.timer_period,
					  klock::cycles()));
	else
		write_cntv_ctl(stopped);
	instruction_barrier();
	return own.timer_vector;
}

void nmi_clock_fired()
{
	write_cntp_cval(
		next_time(read_cntp_cval(), nmi_clock_period, read_cntpct()));
	instruction_barrier();
}

const char *nmi_clock_start(u32 period_us)
{
	if (!has_ipis())
		return "no interrupt controller";
	if (!has_nmi())
		return "group 0 of the GIC is the firmware's";
	nmi_clock_period = timer_cycles(u64{period_us} * 1000);
	write_cntp_cval(read_cntpct() + nmi_clock_period);
	write_cntp_ctl(enabled);
	instruction_barrier();
	enable_private_interrupt(physical_interrupt, true);
	return nullptr;
}

} // namespace boot
