/* SPDX-License-Identifier: MIT */
/*
 * firmware - timers, software interrupts and harts by SBI: supervisor mode
 */
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/mode.hpp>
#include <boot/riscv64/supervisor_mode/sbi.hpp>
#include <boot/machine.hpp>

namespace boot {

/* entry.S */
extern "C" void hart_entry();

namespace {

/* Function numbers, each in its extension */
constexpr usize get_implementation = 1;
constexpr usize probe_extension = 3;
constexpr usize send_ipi_to_mask = 0;
constexpr usize set_timer_to = 0;
constexpr usize hart_start = 0;

bool has(sbi_extension extension)
{
	const sbi_result r = sbi_call(sbi_base, probe_extension, extension);

	return r.error == 0 && r.value != 0;
}

} // namespace

const char *mode_name()
{
	constexpr usize open_sbi = 1;
	const bool is_open_sbi =
		sbi_call(sbi_base, get_implementation).value == open_sbi;

	return is_open_sbi ? "supervisor mode under OpenSBI"
			   : "supervisor mode under SBI firmware";
}

const char *mode_init(const device_tree &)
{
	return !has(sbi_timer)	 ? "the firmware has no SBI timer"
	       : !has(sbi_ipi)	 ? "the firmware has no SBI IPIs"
	       : !has(sbi_harts) ? "the firmware starts no harts"
				 : nullptr;
}

void mode_cpu_init(percpu &) {}

void call_cpus(unsigned slots)
{
	for (unsigned slot = 1; slot < slots; slot++)
		sbi_call(sbi_harts, hart_start, cpu_blocks[slot].hardware_id,
			 reinterpret_cast<usize>(hart_entry),
			 reinterpret_cast<usize>(&cpu_blocks[slot]));
}

/* Memory may be used for anything: without page tables nothing says other. */
void protect_memory() {}

/* A hart that waits in lab_relax() may miss the interrupt, not the word. */
void raise_software_interrupt(percpu &cpu)
{
	cpu.machine.raised.store_seq_cst(1);
	sbi_call(sbi_ipi, send_ipi_to_mask, 1, cpu.hardware_id);
}

void clear_software_interrupt()
{
	clear_csr_bits<CSR_PENDING>(software_bit);
	(void)cpus[this_cpu()]->machine.raised.exchange_seq_cst(0);
}

u64 timer_now()
{
	u64 now;

	asm volatile("rdtime %0" : "=r"(now)::"memory");
	return now;
}

void set_timer(u64 when) { sbi_call(sbi_timer, set_timer_to, when); }

} // namespace boot
