/* SPDX-License-Identifier: MIT */
/*
 * relax - gives the host core to the next vCPU: supervisor mode
 *
 * Nothing can be pending without ever being taken here, as machine mode has it:
 * the software interrupt is made pending for one WFI, with interrupts off, and
 * taken back. That may take a real one back, too: raise_software_interrupt()
 * has left a word before, and then it is made pending again.
 *
 * Before cpu_init() is through, nothing is enabled, and there is nobody to
 * give the core to.
 */
#include <boot/cpus.hpp>
#include <boot/interrupts.hpp>
#include <boot/pause.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/csr.hpp>

namespace boot {

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
