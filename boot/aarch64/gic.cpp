/* SPDX-License-Identifier: MIT */
/*
 * gic - interrupts of this CPU, and to other CPUs: AArch64, GICv3
 *
 * Source: GIC Architecture Specification, version 3 and 4 (IHI 0069): 12.9
 * (distributor), 12.11 (redistributors), 12.2 (CPU interface); 4.6 (groups): of
 * one security state, group 1 are IRQs, group 0 are FIQs, which DAIF.I does not
 * mask: boot's NMIs. They have the higher priority, so that they interrupt
 * handlers, too.
 *
 * One software-generated interrupt brings the mail of other CPUs, one is the
 * NMI.
 */
#include <boot/aarch64/system.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/interrupts.hpp>
#include <boot/panic.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>

namespace boot {

namespace {

/* Distributor */
constexpr usize gicd_ctlr = 0x0000;
constexpr u32 gicd_group0 = 1 << 0;
constexpr u32 gicd_group1 = 1 << 1;
constexpr u32 gicd_affinity_routing = 1 << 4;
constexpr u32 gicd_one_security_state = 1 << 6;
constexpr u32 gicd_write_pending = 1u << 31;

/* Redistributor: two frames of 64 KiB, or four; the private interrupts are in
 * the second. */
constexpr usize gicr_type = 0x0008; /* 64 bits, the affinity above */
constexpr u32 gicr_type_four_frames = 1 << 1;
constexpr u32 gicr_type_last = 1 << 4;
constexpr usize gicr_waker = 0x0014;
constexpr u32 gicr_sleeps = 1 << 1;
constexpr u32 gicr_children_asleep = 1 << 2;
constexpr usize gicr_group = 0x10080;
constexpr usize gicr_enable = 0x10100;
constexpr usize gicr_disable = 0x10180;
constexpr usize gicr_priority = 0x10400;

constexpr u32 interrupt_mail = 0;
constexpr u32 interrupt_nmi = 8;
constexpr u32 first_special_interrupt = 1020;

constexpr u8 priority_irq = 0xa0;
constexpr u8 priority_nmi = 0x20;

constexpr unsigned most_regions = 4;

constinit usize distributor = 0; /* 0: there is no controller */
constinit tree_region redistributors[most_regions];
constinit bool has_group0 = false;

/* Bounded: boot gets on whatever the controller does. */
bool wait_until_clear(usize address, u32 bits)
{
	for (int i = 0; i < 1'000'000; i++) {
		if (!(device_read(address) & bits))
			return true;
	}
	return false;
}

/* As GICR_TYPER has it: one byte each, Aff3 at the top. */
u32 packed_affinity(u64 mpidr)
{
	return static_cast<u32>((mpidr >> 32 & 0xff) << 24 |
				(mpidr & 0xff'ffff));
}

/* The redistributor of that CPU within the region; 0: it is not there. */
usize find_in(const tree_region &region, u32 affinity)
{
	const usize end = region.address + region.size;
	u32 type;

	for (usize at = region.address; at < end;
	     at += type & gicr_type_four_frames ? 0x40000 : 0x20000) {
		type = device_read(at + gicr_type);
		if (device_read(at + gicr_type + 4) == affinity)
			return at;
		if (type & gicr_type_last)
			break;
	}
	return 0;
}

usize find_redistributor(u64 mpidr)
{
	for (const tree_region &region : redistributors) {
		const usize at = find_in(region, packed_affinity(mpidr));

		if (at)
			return at;
	}
	return 0;
}

void set_priority(usize redistributor, u32 interrupt, u8 priority)
{
	*physical<volatile u8>(redistributor + gicr_priority + interrupt) =
		priority;
}

percpu_part &mine() { return cpus[this_cpu()]->machine; }

/* The register's fields: Aff3, Aff2, Aff1; one bit of 16 for Aff0. */
u64 target_of(u64 mpidr)
{
	const u64 aff0 = mpidr & 0xff;

	return (mpidr >> 32 & 0xff) << 48 | (mpidr >> 16 & 0xff) << 32 |
	       (mpidr >> 8 & 0xff) << 16 | (aff0 >> 4) << 44 |
	       u64{1} << (aff0 & 0xf);
}

constexpr u64 to_all_others = u64{1} << 40;

/* After what the receiver is to find in memory. */
void raise_interrupt(u64 targets)
{
	memory_barrier();
	write_icc_sgi1r(targets | u64{interrupt_mail} << 24);
	instruction_barrier();
}

void raise_nmi(u64 targets)
{
	memory_barrier();
	write_icc_sgi0r(targets | u64{interrupt_nmi} << 24);
	instruction_barrier();
}

u64 existing(unsigned cpu)
{
	check_ipi_target(cpu);
	return hardware_id_of(cpu);
}

/* Null, or why the controller cannot be used. */
const char *find_controller()
{
	tree_walk gic(machine_tree());
	tree_region registers;

	if (!find_compatible(machine_tree(), "arm,gic-v3", gic))
		return "the device tree has no GICv3";
	if (!gic.region(0, registers))
		return "the GICv3 has no registers";
	for (unsigned i = 0; i < most_regions; i++)
		(void)gic.region(i + 1, redistributors[i]);
	if (!find_redistributor(read_mpidr() & mpidr_affinity))
		return "the GICv3 has no redistributor for the first CPU";
	distributor = registers.address;
	return nullptr;
}

void call_handler(interrupt_frame &frame, u8 vector)
{
	const interrupt_handler handler = handler_of(vector);

	if (!handler)
		report_interrupt(frame,
				 vector == vector_nmi ? "NMI" : "interrupt",
				 vector);
	handler(frame);
}

/* A wake-up has done all it should when WFI has ended. */
void take_mail(interrupt_frame &frame)
{
	vector_mail &mail = mine().mail;

	if (mail.take_orders() & mail_stop)
		(void)give_way_to_report();
	mail.take_vectors([&](u8 vector) { call_handler(frame, vector); });
}

} // namespace

bool has_ipis() { return distributor != 0; }

bool has_nmi() { return has_group0; }

void controller_init(const boot_info &)
{
	const char *const why_not = find_controller();

	cpu_blocks[0].hardware_id = read_mpidr() & mpidr_affinity;
	if (why_not) {
		print("# boot: %s: no interrupts\n", why_not);
		return;
	}
	device_write(distributor + gicd_ctlr,
		     gicd_affinity_routing | gicd_group1 | gicd_group0);
	(void)wait_until_clear(distributor + gicd_ctlr, gicd_write_pending);
	has_group0 =
		device_read(distributor + gicd_ctlr) & gicd_one_security_state;
	if (!has_group0)
		print("# boot: group 0 of the GIC is the firmware's: no NMI\n");
	timer_init();
	controller_init_cpu();
}

void controller_init_cpu()
{
	if (!has_ipis())
		return;
	percpu_part &own = mine();

	own.redistributor = find_redistributor(cpus[this_cpu()]->hardware_id);
	if (!own.redistributor)
		panic("MPIDR 0x%x: no redistributor",
		      cpus[this_cpu()]->hardware_id);
	device_write(own.redistributor + gicr_waker,
		     device_read(own.redistributor + gicr_waker) &
			     ~gicr_sleeps);
	(void)wait_until_clear(own.redistributor + gicr_waker,
			       gicr_children_asleep);
	device_write(own.redistributor + gicr_disable, ~0u);
	device_write(own.redistributor + gicr_group, ~0u);

	write_icc_sre(read_icc_sre() | 1);
	instruction_barrier();
	write_icc_pmr(0xff);
	enable_private_interrupt(interrupt_mail, false);
	enable_private_interrupt(timer_interrupt(), false);
	write_icc_igrpen1(1);
	if (has_nmi()) {
		enable_private_interrupt(interrupt_nmi, true);
		write_icc_igrpen0(1);
	}
	instruction_barrier();
	asm volatile("msr daifclr, #1" ::: "memory"); /* FIQ: for good */
}

void enable_private_interrupt(u32 number, bool as_nmi)
{
	const usize registers = mine().redistributor;
	const u32 bit = u32{1} << number;
	const u32 group = device_read(registers + gicr_group);

	device_write(registers + gicr_group,
		     as_nmi ? group & ~bit : group | bit);
	set_priority(registers, number, as_nmi ? priority_nmi : priority_irq);
	device_write(registers + gicr_enable, bit);
}

void take_interrupt(interrupt_frame &frame)
{
	const u32 number = static_cast<u32>(read_icc_iar1());

	if (number >= first_special_interrupt)
		return;
	memory_barrier(); /* it is acknowledged before the mail is taken */
	if (number == interrupt_mail) {
		take_mail(frame);
	} else if (number == timer_interrupt()) {
		const u8 vector = timer_fired();

		if (vector)
			call_handler(frame, vector);
	} else {
		report_interrupt(frame, "the GIC's interrupt", number);
	}
	write_icc_eoir1(number);
}

/* An NMI is the way to stop a CPU that waits. */
void take_nmi(interrupt_frame &frame)
{
	const u32 number = static_cast<u32>(read_icc_iar0());

	if (number >= first_special_interrupt)
		return;
	memory_barrier();
	if (number == nmi_clock_interrupt())
		nmi_clock_fired();
	if (!give_way_to_report())
		call_handler(frame, vector_nmi);
	write_icc_eoir0(number);
}

void send_ipi(unsigned cpu, u8 vector)
{
	check_free_vector(vector);
	const u64 target = target_of(existing(cpu));

	cpus[cpu]->machine.mail.post(vector);
	raise_interrupt(target);
}

void send_ipi_to_others(u8 vector)
{
	check_free_vector(vector);
	(void)existing(0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		if (cpu != this_cpu())
			cpus[cpu]->machine.mail.post(vector);
	}
	raise_interrupt(to_all_others);
}

void send_nmi(unsigned cpu)
{
	const u64 target = target_of(existing(cpu));

	if (!has_nmi())
		panic("an NMI without group 0");
	raise_nmi(target);
}

/* One register, one write: nothing of what it interrupted is spoiled. */
void send_nmi_from_nmi(unsigned cpu) { send_nmi(cpu); }

void wake_cpu(unsigned cpu)
{
	cpus[cpu]->machine.mail.post(mail_wake);
	raise_interrupt(target_of(existing(cpu)));
}

void stop_cpu(unsigned cpu)
{
	cpus[cpu]->machine.mail.post(mail_stop);
	if (has_nmi())
		send_nmi(cpu);
	else
		raise_interrupt(target_of(existing(cpu)));
}

} // namespace boot
