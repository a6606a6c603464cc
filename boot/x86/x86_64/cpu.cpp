/* SPDX-License-Identifier: MIT */
/*
 * segments - GDT, TSS and IDT: x86-64
 *
 * Each CPU has a GDT of its own, because each has a TSS of its own, because
 * each needs its own stacks for NMI and double fault (Intel SDM volume 3A,
 * Interrupt Stack Table). A double fault on the stack that caused it would be a
 * triple fault: the machine would reset without a word.
 */
#include <boot/interrupts.hpp>
#include <boot/percpu.hpp>
#include <boot/x86/x86.hpp>
#include <boot/console.hpp>
#include <boot/panic.hpp>

namespace boot {

namespace {

/* Intel SDM volume 4, IA32_GS_BASE */
constexpr u32 msr_gs_base = 0xc0000101;

/* Interrupt stack table entries: 0 is "stay on this stack". */
constexpr unsigned ist_nmi = 1;
constexpr unsigned ist_fault = 2;

struct [[gnu::packed]] table_pointer {
	u16 limit;
	u64 base;
};

/* Intel SDM volume 3A, 64-Bit Mode IDT */
struct idt_entry {
	u16 offset_low;
	u16 selector;
	u8 ist;
	u8 type;
	u16 offset_middle;
	u32 offset_high;
	u32 reserved;
};

static_assert(sizeof(idt_entry) == 16);

constinit idt_entry idt[256] = {};

/* Intel SDM volume 3A, TSS Descriptor in 64-bit mode: 16 bytes */
void set_tss_descriptor(u64 *entry, const task_state &tss)
{
	const u64 base = address_of(&tss);

	entry[0] = (sizeof(tss) - 1) | (base & 0xffffff) << 16 | 0x89ull << 40 |
		   (base >> 24 & 0xff) << 56;
	entry[1] = base >> 32;
}

void load_gdt(const u64 (&gdt)[6])
{
	const table_pointer pointer = {sizeof(gdt) - 1, address_of(gdt)};

	asm volatile("lgdt %0\n\t"
		     "pushq %1\n\t"
		     "leaq 1f(%%rip), %%rax\n\t"
		     "pushq %%rax\n\t"
		     "lretq\n"
		     "1:\n\t"
		     "movl %2, %%eax\n\t"
		     "movl %%eax, %%ds\n\t"
		     "movl %%eax, %%es\n\t"
		     "movl %%eax, %%ss\n\t"
		     "xorl %%eax, %%eax\n\t"
		     "movl %%eax, %%fs\n\t"
		     "movl %%eax, %%gs\n\t"
		     "ltr %w3"
		     :
		     : "m"(pointer), "i"(SELECTOR_CODE64), "i"(SELECTOR_DATA),
		       "r"(SELECTOR_TSS)
		     : "rax", "memory");
}

} // namespace

extern "C" const u8 interrupt_stubs[];

void load_segments(percpu &cpu, cpu_stacks &own)
{
	segment_tables &t = cpu.machine.segments;

	t.tss.io_map_base = sizeof(t.tss);
	t.tss.ist[ist_nmi - 1] = address_of(own.nmi + sizeof(own.nmi));
	t.tss.ist[ist_fault - 1] = address_of(own.fault + sizeof(own.fault));

	t.gdt[SELECTOR_CODE32 / 8] = 0x00cf9b000000ffff;
	t.gdt[SELECTOR_DATA / 8] = 0x00cf93000000ffff;
	t.gdt[SELECTOR_CODE64 / 8] = 0x00af9b000000ffff;
	set_tss_descriptor(&t.gdt[SELECTOR_TSS / 8], t.tss);

	load_gdt(t.gdt);
	write_msr(msr_gs_base, address_of(&cpu));
}

void make_idt()
{
	for (unsigned v = 0; v < 256; v++) {
		const u64 stub =
			address_of(interrupt_stubs + v * INTERRUPT_STUB_SIZE);

		idt[v].offset_low = static_cast<u16>(stub);
		idt[v].offset_middle = static_cast<u16>(stub >> 16);
		idt[v].offset_high = static_cast<u32>(stub >> 32);
		idt[v].selector = SELECTOR_CODE64;
		idt[v].type = 0x8e; /* interrupt gate: IF is cleared */
	}
	idt[vector_nmi].ist = ist_nmi;
	idt[vector_double_fault].ist = ist_fault;
	idt[vector_machine_check].ist = ist_fault;
}

void load_idt()
{
	const table_pointer pointer = {sizeof(idt) - 1, address_of(idt)};

	asm volatile("lidt %0" ::"m"(pointer) : "memory");
}

/* -- The interrupted code's registers in print -- */

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
