/* SPDX-License-Identifier: MIT */
/*
 * Interrupts go off before the lock is touched, and come back after it is free:
 * looked at in the moment in which they change (irq/klock/arch/irq.hpp).
 */
#include "readers.h"

#include <stdio.h>

static const struct kind *now;
static int failures, times_off, times_back;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("%s: not so: %s\n", now->name, what);
		failures++;
	}
}

void irqs_go_off(void);
void irqs_come_back(void);

void irqs_go_off(void)
{
	times_off++;
	expect(!now->is_locked(), "interrupts go off before it is taken");
}

void irqs_come_back(void)
{
	times_back++;
	expect(!now->is_locked(), "interrupts come back after it is free");
}

static void in_order(const struct kind *k)
{
	unsigned long flags;

	now = k;
	times_off = times_back = 0;
	flags = k->take_irqsave();
	expect(times_off == 1 && !times_back, "off once, to take it");
	k->give_irqrestore(flags);
	expect(times_off == 1 && times_back == 1, "back once, to give it up");
	if (k->try_irqsave && k->try_irqsave(&flags)) {
		expect(times_off == 2 && times_back == 1, "off for a try");
		k->give_irqrestore(flags);
		expect(times_back == 2, "and back");
	}
	expect(!asked_too_early, "asked with interrupts off");
}

int main(void)
{
	clh_by_init();
	for (unsigned i = 0; i < kinds_here; i++)
		in_order(&kinds[i]);
	for (unsigned i = 0; i < shared_kinds_here; i++)
		in_order(&shared_kinds[i].reader);
	if (!failures)
		printf("%u locks: interrupts off first, back last\n",
		       kinds_here);
	return failures != 0;
}
