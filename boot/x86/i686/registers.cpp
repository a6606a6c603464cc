/* SPDX-License-Identifier: MIT */
/*
 * registers - the interrupted code's registers in print: i686
 */
#include <boot/console.hpp>
#include <boot/report.hpp>
#include <boot/x86/exceptions.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

void print_registers(const interrupt_frame &f, usize stack_pointer)
{
	print_report("  eip %08x  esp %08x  eflags %08x  cs %02x\n", f.ip,
		     stack_pointer, f.flags, f.cs);
	print_report("  eax %08x  ebx %08x  ecx %08x  edx %08x\n", f.eax, f.ebx,
		     f.ecx, f.edx);
	print_report("  esi %08x  edi %08x  ebp %08x\n", f.esi, f.edi, f.ebp);
	print_report("  cr0 %08x  cr2 %08x  cr3 %08x  cr4 %08x\n", read_cr0(),
		     read_cr2(), read_cr3(), read_cr4());
}

} // namespace boot
