/* SPDX-License-Identifier: MIT */
/*
 * controller - interrupts from hart to hart, and each one's timer: RISC-V
 */
#include <boot/board/board.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/interrupts.hpp>
#include <boot/panic.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/board.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/machine.hpp>

namespace boot {

namespace {

constexpr u64 never = ~u64{0};

constinit bool works = false;

percpu_part &own() { return cpus[this_cpu()]->machine; }

void check(u8 vector)
{
	check_free_vector(vector);
	if (!has_ipis())
		panic("neither timers nor IPIs work");
}

void start_timer(u8 vector, u64 ticks, u64 period)
{
	interrupts_off in_one_go;
	percpu_part &mine = own();

	mine.timer_vector = vector;
	mine.timer_period = period;
	mine.timer_next = timer_now() + ticks;
	set_timer(mine.timer_next);
}

void post(unsigned cpu, u8 vector)
{
	cpus[cpu]->machine.mail.post(vector);
	raise_software_interrupt(*cpus[cpu]);
}

} // namespace

/* -- Timers -- */

void timer_start_periodic(u8 vector, u64 period_ns)
{
	check(vector);
	const u64 period = timer_cycles(period_ns);

	start_timer(vector, period, period);
}

void timer_start_one_shot(u8 vector, u64 delay_ns)
{
	check(vector);
	start_timer(vector, timer_cycles(delay_ns), 0);
}

void timer_stop()
{
	if (!has_ipis())
		panic("neither timers nor IPIs work");
	interrupts_off in_one_go;

	own().timer_vector = 0;
	set_timer(never);
}

/*
 * The interrupt stays pending for as long as the time lies in the past. What
 * comes too late for its period is left out.
 */
void timer_interrupt(interrupt_frame &frame)
{
	percpu_part &mine = own();
	const u8 vector = mine.timer_vector;
	const u64 now = timer_now();

	if (!mine.timer_period || !vector) {
		set_timer(never);
	} else {
		mine.timer_next += mine.timer_period;
		if (mine.timer_next <= now)
			mine.timer_next = now + mine.timer_period;
		set_timer(mine.timer_next);
	}
	if (vector)
		handle(vector, frame);
}

/* -- From hart to hart -- */

bool has_ipis() { return works; }

void software_interrupt(interrupt_frame &frame)
{
	vector_mail &mail = own().mail;

	clear_software_interrupt();
	if (mail.take_orders() & mail_stop)
		(void)give_way_to_report();
	mail.take_vectors([&frame](u8 vector) { handle(vector, frame); });
}

void send_ipi(unsigned cpu, u8 vector)
{
	check_free_vector(vector);
	check_ipi_target(cpu);
	post(cpu, vector);
}

void send_ipi_to_others(u8 vector)
{
	check(vector);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		if (cpu != this_cpu())
			post(cpu, vector);
	}
}

/* Its end is all that it is for: idle() looks for work. */
void wake_cpu(unsigned cpu) { raise_software_interrupt(*cpus[cpu]); }

void stop_cpu(unsigned cpu)
{
	cpus[cpu]->machine.mail.post(mail_stop);
	raise_software_interrupt(*cpus[cpu]);
}

/* -- Operations that this machine lacks  */

bool has_nmi() { return false; }

void send_nmi(unsigned cpu) { panic("an NMI to CPU %u: RISC-V has none", cpu); }

void send_nmi_from_nmi(unsigned cpu) { send_nmi(cpu); }

const char *nmi_clock_start(u32) { return "RISC-V has no NMI"; }

/* -- Their start -- */

void controller_init(const boot_info &)
{
	const char *missing = mode_init(board_tree);

	print("# boot: RISC-V, %s\n", mode_name());
	if (!missing && !timer_hz())
		missing = "the device tree has no timebase-frequency";
	if (missing)
		print("# boot: neither timers nor IPIs: %s\n", missing);
	works = !missing;
	controller_init_cpu();
}

void controller_init_cpu()
{
	if (!has_ipis())
		return;
	set_timer(never);
	clear_software_interrupt();
	set_csr_bits<CSR_ENABLE>(software_bit | timer_bit);
}

} // namespace boot
