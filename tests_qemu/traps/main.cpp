/* SPDX-License-Identifier: MIT */
/*
 * main - what a machine makes of mistakes, and of its interrupts
 *
 *	do=timers	each CPU's timer and IPIs from all others come
 *	do=nmis		NMIs come where no interrupt does: from another CPU,
 *			from the clock, into a handler
 *	do=null ...	one mistake, which must end in a report
 */
#include <boot/kernel.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

/* <machine>.S: SP at null: only a trap that changes stacks can be reported. */
extern "C" [[noreturn]] void lose_stack();

namespace {

using boot::same_text;
using klock::u32;
using klock::usize;

constexpr boot::u8 timer_vector = 0x40;
constexpr boot::u8 ipi_vector = 0x41;
constexpr u32 wanted_ticks = 20;

struct alignas(klock::cache_line) counts {
	klock::atomic<u32> ticks;
	klock::atomic<u32> ipis;
	klock::atomic<u32> nmis;
};

constinit counts came[boot::max_cpus];

/* A word that the compiler cannot see the address of. */
volatile usize &word_at(usize address)
{
	asm("" : "+r"(address));
	return *reinterpret_cast<volatile usize *>(address);
}

/* Waits for five seconds, by the clock. */
bool comes(const klock::atomic<u32> &what, u32 wanted)
{
	for (int i = 0; i < 50000 && what.load_relaxed() < wanted; i++)
		boot::delay_us(100);
	return what.load_relaxed() >= wanted;
}

/* Asleep for half of the time: the timer ends that. */
void take_interrupts(unsigned cpu, void *)
{
	boot::timer_start_periodic(timer_vector, 1000000);
	for (u32 i = 0; i < wanted_ticks / 2; i++) {
		boot::disable_interrupts();
		boot::wait_for_interrupt();
	}
	const bool ticked = comes(came[cpu].ticks, wanted_ticks);

	boot::timer_stop();
	for (unsigned other = 0; other < boot::cpu_count(); other++) {
		const u32 before = came[other].ipis.load_relaxed();

		boot::send_ipi(other, ipi_vector);
		if (!comes(came[other].ipis, before + 1))
			boot::panic("CPU %u's IPI to CPU %u is lost", cpu,
				    other);
	}
	if (!ticked)
		boot::panic("CPU %u's timer does not tick", cpu);
}

int show_timers()
{
	boot::set_interrupt_handler(timer_vector, [](boot::interrupt_frame &) {
		came[boot::this_cpu()].ticks.fetch_add_relaxed(1);
	});
	boot::set_interrupt_handler(ipi_vector, [](boot::interrupt_frame &) {
		came[boot::this_cpu()].ipis.fetch_add_relaxed(1);
	});
	boot::run_on_cpus(boot::cpu_count(), take_interrupts, nullptr);
	boot::print("# timers and IPIs: all came\nPASS\n");
	return 0;
}

/* Whether so many NMIs reach this CPU, which takes no interrupts. */
bool nmis_come(u32 wanted)
{
	const boot::interrupts_off off;

	return comes(came[boot::this_cpu()].nmis, wanted);
}

/* CPU 0's clock, then NMIs to all, which spin; then one into a handler. */
int show_nmis()
{
	boot::set_interrupt_handler(
		boot::vector_nmi, [](boot::interrupt_frame &) {
			came[boot::this_cpu()].nmis.fetch_add_relaxed(1);
		});
	boot::set_interrupt_handler(ipi_vector, [](boot::interrupt_frame &) {
		boot::send_nmi_to_others();
		if (!nmis_come(came[0].nmis.load_relaxed() + 1))
			boot::panic("no NMI in a handler");
		came[boot::this_cpu()].ipis.fetch_add_relaxed(1);
	});
	boot::run_on_cpus(
		boot::cpu_count(),
		[](unsigned cpu, void *) {
			if (cpu == 0)
				boot::send_nmi_to_others();
			else if (!nmis_come(1))
				boot::panic("CPU 0's NMI is lost");
		},
		nullptr);
	if (const char *const why_not = boot::nmi_clock_start(1000))
		boot::panic("%s", why_not);
	boot::send_ipi(0, ipi_vector);
	if (!comes(came[0].ipis, 1))
		boot::panic("no interrupt beside NMIs");
	boot::print("# NMIs: all came\nPASS\n");
	return 0;
}

/* Deeper than any stack: 256 MiB. */
[[gnu::noinline]] usize recurse(usize depth)
{
	volatile usize room[32] = {};

	room[depth % 32] = depth;
	return depth < 1 << 20 ? recurse(depth + 1) + room[0] : 0;
}

/*
 * The others wait with interrupts off: no interrupt stops them, but a pause
 * does. CPU 1 does not even pause.
 */
void stop_others()
{
	boot::run_on_cpus(
		boot::cpu_count(),
		[](unsigned cpu, void *) {
			if (cpu == 0) {
				boot::delay_us(1000);
				boot::panic("all stand still");
			}
			boot::disable_interrupts();
			while (cpu == 1)
				asm volatile("");
			for (;;)
				klock::cpu_relax();
		},
		nullptr);
}

/* A chain of three calls, the second of which returns to no code. */
[[noreturn]] void print_wild_chain()
{
	const usize code = reinterpret_cast<usize>(&stop_others) + 4;
	struct {
		usize caller, return_address;
	} chain[3];

	for (usize i = 0; i < 3; i++)
		chain[i] = {reinterpret_cast<usize>(&chain[i + 1]) +
				    FRAME_LINK_BELOW,
			    i == 1 ? usize{0x20676f6c} : code};
	boot::begin_report();
	const unsigned printed = boot::print_calls(
		reinterpret_cast<usize>(chain) + FRAME_LINK_BELOW);

	boot::print_report("PANIC on CPU 0: %u of 3 calls returns to code\n",
			   printed);
	boot::end_report();
}

void do_wrong(const char *what)
{
	if (same_text(what, "null"))
		word_at(8) = 1;
	else if (same_text(what, "code"))
		word_at(reinterpret_cast<usize>(&show_timers) & ~usize{7}) = 1;
	else if (same_text(what, "overflow"))
		(void)recurse(0);
	else if (same_text(what, "wild_stack"))
		lose_stack();
	else if (same_text(what, "panic"))
		stop_others();
	else if (same_text(what, "wild_chain"))
		print_wild_chain();
	else if (same_text(what, "own_vector"))
		boot::send_ipi(0, 0x20);
	else if (same_text(what, "no_handler"))
		boot::send_ipi(0, 0x4f);
	else if (same_text(what, "nmi"))
		boot::send_nmi(0);
}

} // namespace

int payload_main()
{
	const char *const what = boot::command_line().find("do");

	if (!what || same_text(what, "timers"))
		return show_timers();
	if (same_text(what, "nmis"))
		return show_nmis();
	do_wrong(what);
	boot::delay_us(10000);
	boot::print("FAIL: %s was not noticed\n", what);
	return 1;
}
