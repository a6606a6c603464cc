/* SPDX-License-Identifier: MIT */
/*
 * segments - GDT, TSS and IDT: i686
 *
 * Each CPU has a GDT of its own: one entry is the base of GS, its block, and
 * two are its tasks. Tasks serve one purpose: a double fault changes to a task
 * with a stack of its own (Intel SDM volume 3A, Task Switching); on the stack
 * that caused it, it would be a triple fault, and the machine would reset
 * without a word.
 */
#include <boot/cpus.hpp>
#include <machine/cpu.hpp>
#include <boot/interrupts.hpp>
#include <boot/percpu.hpp>
#include <boot/x86/x86.hpp>
#include <boot/console.hpp>
#include <boot/panic.hpp>
#include <boot/machine.hpp>
#include <boot/x86/firmware.hpp>

namespace boot {

namespace {

struct [[gnu::packed]] table_pointer {
	u16 limit;
	u32 base;
};

/* Intel SDM volume 3A, IDT Descriptors */
struct idt_entry {
	u16 offset_low;
	u16 selector;
	u8 reserved;
	u8 type;
	u16 offset_high;
};

static_assert(sizeof(idt_entry) == 8);

constinit idt_entry idt[256] = {};

/* Intel SDM volume 3A, Segment Descriptors; limit in bytes, less one */
constexpr u64 descriptor(u32 base, u32 limit, u8 type)
{
	return limit | u64{base & 0xffffff} << 16 | u64{type} << 40 |
	       u64{base >> 24} << 56;
}

constexpr u64 flat = 0x00cf000000000000; /* limit in 4 KiB: 4 GiB; 32-bit */

/*
 * The entry of the double fault task. The task switch has saved the interrupted
 * state in the CPU's other TSS and pushed the error code.
 */
[[noreturn]] void double_fault()
{
	const task_state &saved = cpus[this_cpu()]->machine.segments.tss;
	interrupt_frame frame = {};

	frame.eax = saved.eax;
	frame.ebx = saved.ebx;
	frame.ecx = saved.ecx;
	frame.edx = saved.edx;
	frame.esi = saved.esi;
	frame.edi = saved.edi;
	frame.ebp = saved.ebp;
	frame.vector = vector_double_fault;
	frame.ip = saved.eip;
	frame.cs = saved.cs;
	frame.flags = saved.eflags;
	report_exception(frame, saved.esp);
}

void make_fault_task(task_state &task, cpu_stacks &own)
{
	task.eip = reinterpret_cast<u32>(double_fault);
	/* The error code goes where a return address would be. */
	task.esp = address_of(own.fault + sizeof(own.fault));
	task.eflags = 0x2; /* all off; bit 1 is always set */
	task.cs = SELECTOR_CODE32;
	task.ds = task.es = task.ss = task.fs = SELECTOR_DATA;
	task.gs = SELECTOR_PERCPU;
	task.io_map_base = sizeof(task);
}

void load_gdt(const u64 (&gdt)[6])
{
	const table_pointer pointer = {sizeof(gdt) - 1, address_of(gdt)};

	asm volatile("lgdt %0\n\t"
		     "ljmp %1, $1f\n"
		     "1:\n\t"
		     "movl %2, %%eax\n\t"
		     "movl %%eax, %%ds\n\t"
		     "movl %%eax, %%es\n\t"
		     "movl %%eax, %%ss\n\t"
		     "movl %%eax, %%fs\n\t"
		     "movl %3, %%eax\n\t"
		     "movl %%eax, %%gs\n\t"
		     "ltr %w4"
		     :
		     : "m"(pointer), "i"(SELECTOR_CODE32), "i"(SELECTOR_DATA),
		       "i"(SELECTOR_PERCPU), "r"(SELECTOR_TSS)
		     : "eax", "memory");
}

} // namespace

extern "C" const u8 interrupt_stubs[];

void load_segments(percpu &cpu, cpu_stacks &own)
{
	segment_tables &t = cpu.machine.segments;

	t.tss.io_map_base = sizeof(t.tss);
	make_fault_task(t.fault, own);

	t.gdt[SELECTOR_CODE32 / 8] = flat | descriptor(0, 0xffff, 0x9b);
	t.gdt[SELECTOR_DATA / 8] = flat | descriptor(0, 0xffff, 0x93);
	t.gdt[SELECTOR_PERCPU / 8] =
		1ull << 54 |
		descriptor(address_of(&cpu), sizeof(cpu) - 1, 0x93);
	t.gdt[SELECTOR_TSS / 8] =
		descriptor(address_of(&t.tss), sizeof(t.tss) - 1, 0x89);
	t.gdt[SELECTOR_FAULT_TSS / 8] =
		descriptor(address_of(&t.fault), sizeof(t.fault) - 1, 0x89);

	load_gdt(t.gdt);
}

void make_idt()
{
	for (unsigned v = 0; v < 256; v++) {
		const u32 stub =
			address_of(interrupt_stubs + v * INTERRUPT_STUB_SIZE);

		idt[v].offset_low = static_cast<u16>(stub);
		idt[v].offset_high = static_cast<u16>(stub >> 16);
		idt[v].selector = SELECTOR_CODE32;
		idt[v].type = 0x8e; /* interrupt gate: IF is cleared */
	}
	idt[vector_double_fault].offset_low = 0;
	idt[vector_double_fault].offset_high = 0;
	idt[vector_double_fault].selector = SELECTOR_FAULT_TSS;
	idt[vector_double_fault].type = 0x85; /* task gate */
}

void load_idt()
{
	const table_pointer pointer = {sizeof(idt) - 1, address_of(idt)};

	asm volatile("lidt %0" ::"m"(pointer) : "memory");
}

/* -- The interrupted code's registers in print -- */

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

/* -- Page permissions: off on i686 -------------- */

void memory_types_init() {}

const char *map_screen(u64 address, u64 size)
{
	if (size >> 31 || !is_mapped(address, static_cast<usize>(size)))
		return "it lies above 4 GiB";
	return nullptr;
}

void protect_memory() {}

} // namespace boot
