/* SPDX-License-Identifier: MIT */
/*
 * smp - starts the other CPUs
 */
#include <boot/clock.hpp>
#include <boot/command_line.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/machine.hpp>
#include <boot/panic.hpp>
#include <boot/interrupts.hpp>
#include <boot/percpu.hpp>
#include <klock/cpu.hpp>

namespace boot {

namespace {

/* A CPU that has not come this long after the last one is not waited for. */
constexpr u64 patience_seconds = 5;

/* Too large for a stack. */
constinit cpu_list found = {};

/* Whether one of the first slots is already the CPU's. */
bool has_slot(u64 id, unsigned slots)
{
	for (unsigned slot = 0; slot < slots; slot++)
		if (cpu_blocks[slot].hardware_id == id)
			return true;
	return false;
}

/* Slots of the list's CPUs: its first one that is not this CPU has slot 1. */
unsigned prepare_all()
{
	unsigned slots = 1;

	for (unsigned i = 0; i < found.count && slots < max_cpus; i++) {
		if (has_slot(found.ids[i], slots))
			continue;
		prepare_cpu(slots, slots, found.ids[i]);
		cpu_blocks[slots].state.store_release(cpu_expected);
		slots++;
	}
	return slots;
}

/* This CPU's entry before the others, whose order stays: as they are numbered.
 */
void put_first_first()
{
	const u64 first = cpu_blocks[0].hardware_id;
	unsigned at = 0;

	while (at < found.count && found.ids[at] != first)
		at++;
	if (at == found.count)
		at = found.count < max_cpus ? found.count++ : max_cpus - 1;
	for (; at; at--)
		found.ids[at] = found.ids[at - 1];
	found.ids[0] = first;
}

unsigned count_online(unsigned slots)
{
	unsigned n = 0;

	for (unsigned slot = 0; slot < slots; slot++)
		n += cpu_blocks[slot].state.load_acquire() == cpu_online;
	return n;
}

void wait_for_all(unsigned slots)
{
	const u64 patience = patience_seconds * clock_hz();
	unsigned online = 0;
	u64 since = klock::cycles();

	while (online < slots && klock::cycles() - since < patience) {
		const unsigned now = count_online(slots);

		if (now != online)
			since = klock::cycles();
		online = now;
		klock::cpu_relax();
	}
}

/* Numbers without gaps; a CPU that comes from now on is too late. */
unsigned number_all(unsigned slots)
{
	unsigned n = 0;

	for (unsigned slot = 0; slot < slots; slot++) {
		percpu &cpu = cpu_blocks[slot];
		u32 expected = cpu_expected;

		if (cpu.state.compare_exchange_acq_rel(expected,
						       cpu_given_up)) {
			print("# boot: the CPU with %s %u did not start: "
			      "left out\n",
			      hardware_id_name, cpu.hardware_id);
			continue;
		}
		cpu.number = n;
		cpus[n++] = &cpu;
	}
	return n;
}

} // namespace

/* The first C++ function of the other CPUs, called by the machine's entry. */
extern "C" [[noreturn]] void ap_main(percpu *cpu)
{
	u32 expected = cpu_expected;

	cpu_init(*cpu, stacks[cpu - cpu_blocks]);
	controller_init_cpu();
	if (!cpu->state.compare_exchange_acq_rel(expected, cpu_online))
		halt();
	idle(*cpu);
}

void list_cpus(const boot_info &info)
{
	const char *const how = command_line().find("pin");

	found = find_cpus(info);
	if (!how)
		return;
	put_first_first();
	const char *const wrong = pin_cpus(
		found, how, topology_is_known() ? find_place : nullptr);
	if (!wrong)
		return;
	print("FAIL: wrong word pin=%s: %s\n", how, wrong);
	exit(exit_code::fail);
}

cpu_place place_of(unsigned cpu) { return find_place(hardware_id_of(cpu)); }

void start_cpus()
{
	if (found.count > 1) {
		const unsigned slots = prepare_all();

		call_cpus(slots);
		wait_for_all(slots);
		set_cpu_count(number_all(slots));
	}
	print("# boot: %u CPU%s\n", cpu_count(), cpu_count() == 1 ? "" : "s");
}

} // namespace boot
