/* SPDX-License-Identifier: MIT */
/*
 * boot_c - what this kernel uses of boot/, which is C++, for C
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel: 0 if all is well. */
int kernel_main(void);

unsigned cpu_count(void);
unsigned this_cpu(void);
void run_on_cpus(unsigned count, void (*fn)(unsigned cpu));

/* Each CPU has a timer; all call the same handler, with interrupts off. */
void on_timer(void (*tick)(void));
void timer_start(unsigned long period_ns);
void timer_stop(void);
void delay_us(unsigned long us);

/* One line: three texts and a number. */
void print_number(const char *a, const char *b, const char *c,
		  unsigned long long number);

#ifdef __cplusplus
}
#endif
