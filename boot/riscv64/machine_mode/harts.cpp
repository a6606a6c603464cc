/* SPDX-License-Identifier: MIT */
/*
 * harts - the others go on from where they sleep: machine mode
 */
#include <boot/percpu.hpp>
#include <boot/riscv64/machine_mode/called.h>
#include <boot/riscv64/mode.hpp>
#include <boot/machine.hpp>

namespace boot {

/* Which block a hart that sleeps in entry.S gets. */
struct called_hart {
	u64 hart;
	percpu *block;
};

static_assert(offsetof(called_hart, hart) == CALLED_HART);
static_assert(offsetof(called_hart, block) == CALLED_BLOCK);
static_assert(sizeof(called_hart) == CALLED_SIZE);

extern "C" {
called_hart called_harts[max_cpus];
klock::atomic<u32> harts_called; /* so many of them are valid */
}

void call_cpus(unsigned slots)
{
	for (unsigned slot = 1; slot < slots; slot++)
		called_harts[slot - 1] = {cpu_blocks[slot].hardware_id,
					  &cpu_blocks[slot]};
	harts_called.store_release(slots - 1);
	for (unsigned slot = 1; slot < slots; slot++)
		raise_software_interrupt(cpu_blocks[slot]);
}

} // namespace boot
