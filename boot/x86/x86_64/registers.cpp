/* SPDX-License-Identifier: MIT */
/*
 * registers - the interrupted code's registers in print: x86-64
 */
#include <boot/console.hpp>
#include <boot/report.hpp>
#include <boot/x86/exceptions.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

void print_registers(const interrupt_frame &f, usize stack_pointer)
{
	print_report("  rip %016x  rsp %016x  rflags %08x  cs %02x\n", f.ip,
		     stack_pointer, f.flags, f.cs);
	print_report("  rax %016x  rbx %016x  rcx %016x\n", f.rax, f.rbx,
		     f.rcx);
	print_report("  rdx %016x  rsi %016x  rdi %016x\n", f.rdx, f.rsi,
		     f.rdi);
	print_report("  rbp %016x  r8  %016x  r9  %016x\n", f.rbp, f.r8, f.r9);
	print_report("  r10 %016x  r11 %016x  r12 %016x\n", f.r10, f.r11,
		     f.r12);
	print_report("  r13 %016x  r14 %016x  r15 %016x\n", f.r13, f.r14,
		     f.r15);
	print_report("  cr0 %016x  cr2 %016x  cr3 %016x\n", read_cr0(),
		     read_cr2(), read_cr3());
	print_report("  cr4 %016x\n", read_cr4());
}

} // namespace boot
