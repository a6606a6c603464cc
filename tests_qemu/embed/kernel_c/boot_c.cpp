/* SPDX-License-Identifier: MIT */
#include "boot_c.h"

#include <boot/kernel.hpp>

namespace {

constexpr boot::u8 timer_vector = boot::first_free_vector;

void (*timer_handler)();

void call_timer_handler(boot::interrupt_frame &) { timer_handler(); }

} // namespace

unsigned cpu_count() { return boot::cpu_count(); }
unsigned this_cpu() { return boot::this_cpu(); }

void run_on_cpus(unsigned count, void (*fn)(unsigned))
{
	boot::run_on_cpus(
		count,
		[](unsigned cpu, void *arg) {
			(*static_cast<void (**)(unsigned)>(arg))(cpu);
		},
		&fn);
}

void on_timer(void (*tick)())
{
	timer_handler = tick;
	boot::set_interrupt_handler(timer_vector, call_timer_handler);
}

void timer_start(unsigned long period_ns)
{
	boot::timer_start_periodic(timer_vector, period_ns);
}

void timer_stop() { boot::timer_stop(); }
void delay_us(unsigned long us) { boot::delay_us(us); }

void print_number(const char *a, const char *b, const char *c,
		  unsigned long long number)
{
	boot::print("%s%s%s%u\n", a, b, c, number);
}

int payload_main()
{
	if (kernel_main() != 0)
		return 1;
	boot::print("PASS\n");
	return 0;
}
