/* SPDX-License-Identifier: MIT */
/*
 * board - what machines with a device tree have in common
 */
#include <boot/board/board.hpp>
#include <boot/console.hpp>
#include <boot/interrupts.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>

namespace boot {

cpu_list tree_cpus(const device_tree &tree, const char *why_alone)
{
	cpu_list found;
	const unsigned there = find_tree_cpus(tree, found.ids, max_cpus);

	if (!there)
		why_alone = "no CPU in the device tree";
	if (why_alone) {
		print("# boot: %s: one CPU only\n", why_alone);
		found.count = 1;
		found.ids[0] = cpu_blocks[0].hardware_id;
		return found;
	}
	found.count = there < max_cpus ? there : max_cpus;
	if (there > max_cpus)
		print("# boot: %u CPUs more than boot can use (%u): left "
		      "asleep\n",
		      there - max_cpus, max_cpus);
	return found;
}

/* Device trees have a node for it, which QEMU's do not fill in. */
bool topology_is_known() { return false; }

cpu_place find_place(u64) { return {}; }

const char *cpu_model() { return ""; }

u32 cpu_microcode() { return 0; }

const char *cpu_kind() { return ""; }

/* Arm's generic timer, RISC-V's time register: a clock of its own. */
bool clock_is_invariant() { return true; }

/* -- Functions that such a machine does not need -- */

/* cpu_init() has done it. */
void interrupts_init() {}

/* The timers count with the clock. */
void measure_timer() {}

/* There is no screen. */
void output_shown() {}

const char *after_exit_hint() { return ""; }

void after_exit() { halt(); }

} // namespace boot
