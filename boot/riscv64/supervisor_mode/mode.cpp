/* SPDX-License-Identifier: MIT */
/*
 * mode - timers, interrupts and harts by SBI: supervisor mode
 *
 * Source: RISC-V Supervisor Binary Interface Specification 1.0: chapter 3
 * (calling convention), 4 (Base), 6 (Timer), 7 (IPI), 9 (Hart State
 * Management).
 */
#include <boot/types.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/board.hpp>
#include <boot/machine.hpp>
#include <boot/interrupts.hpp>

namespace boot {

/* -- Calls of the firmware ------------------------- */

enum sbi_extension : u32 {
	sbi_base = 0x10,
	sbi_timer = 0x54494d45,
	sbi_ipi = 0x735049,
	sbi_harts = 0x48534d,
};

struct sbi_result {
	i64 error; /* 0: none */
	usize value;
};

inline sbi_result sbi_call(sbi_extension extension, usize function,
			   usize first = 0, usize second = 0, usize third = 0)
{
	register usize a0 asm("a0") = first;
	register usize a1 asm("a1") = second;
	register usize a2 asm("a2") = third;
	register usize a6 asm("a6") = function;
	register usize a7 asm("a7") = extension;

	asm volatile("ecall"
		     : "+r"(a0), "+r"(a1)
		     : "r"(a2), "r"(a6), "r"(a7)
		     : "memory");
	return {static_cast<i64>(a0), a1};
}

/* -- Timers, software interrupts and harts by SBI -- */

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

void sleep_until_pending() { asm volatile("wfi" ::: "memory"); }

void call_cpus(unsigned slots)
{
	for (unsigned slot = 1; slot < slots; slot++)
		sbi_call(sbi_harts, hart_start, cpu_blocks[slot].hardware_id,
			 reinterpret_cast<usize>(hart_entry),
			 reinterpret_cast<usize>(&cpu_blocks[slot]));
}

/* Memory may be used for anything: without page tables nothing says other. */
void protect_memory() {}

/* A hart that waits in boot_relax() may miss the interrupt, not the word. */
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

/*
 * -- Gives the host core to the next vCPU --
 *
 * Nothing can be pending without ever being taken here, as machine mode has it:
 * the software interrupt is made pending for one WFI, with interrupts off, and
 * taken back. That may take a real one back, too: raise_software_interrupt()
 * has left a word before, and then it is made pending again.
 *
 * Before cpu_init() is through, nothing is enabled, and there is nobody to
 * give the core to.
 */

namespace {

void give_core_away()
{
	const interrupts_off in_one_go;

	if (!(read_csr<CSR_ENABLE>() & software_bit))
		return;
	set_csr_bits<CSR_PENDING>(software_bit);
	asm volatile("wfi" ::: "memory");
	clear_csr_bits<CSR_PENDING>(software_bit);
	klock::fence_seq_cst();
	if (cpus[this_cpu()]->machine.raised.load_relaxed())
		set_csr_bits<CSR_PENDING>(software_bit);
}

} // namespace

extern "C" void boot_relax()
{
	if (pauses_yield())
		give_core_away();
	visit_pause(reinterpret_cast<usize>(__builtin_return_address(0)));
}

} // namespace boot
