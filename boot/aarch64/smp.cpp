/* SPDX-License-Identifier: MIT */
/*
 * smp - which CPUs there are, and how they are called, by the firmware: AArch64
 *
 * Source: Power State Coordination Interface (DEN 0022), 5.1.4 (CPU_ON), 5.1.11
 * (SYSTEM_RESET); SMC Calling Convention (DEN 0028): arguments and results in
 * X0 to X3, X4 to X17 may change.
 */
#include <boot/aarch64/system.hpp>
#include <boot/interrupts.hpp>
#include <boot/machine.hpp>
#include <boot/board/board.hpp>
#include <boot/console.hpp>
#include <boot/percpu.hpp>

namespace boot {

/* -- Calls of the firmware ------------ */

namespace {

constexpr u64 system_reset = 0x84000009;
constexpr u64 cpu_on = 0xc4000003;

/* How it is called: the tree's "method". */
enum class conduit { none, hvc, smc };

conduit find_conduit()
{
	tree_walk node(machine_tree());

	if (!find_compatible(machine_tree(), "arm,psci-1.0", node) &&
	    !find_compatible(machine_tree(), "arm,psci-0.2", node))
		return conduit::none;
	const tree_property method = node.property("method");

	return method.has_text("hvc")	? conduit::hvc
	       : method.has_text("smc") ? conduit::smc
					: conduit::none;
}

#define CLOBBERED                                                              \
	"x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", \
		"x15", "x16", "x17", "memory"

u64 call(conduit how, u64 function, u64 first, u64 second, u64 third)
{
	register u64 x0 asm("x0") = function;
	register u64 x1 asm("x1") = first;
	register u64 x2 asm("x2") = second;
	register u64 x3 asm("x3") = third;

	memory_barrier();
	if (how == conduit::hvc)
		asm volatile("hvc #0"
			     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
			     :
			     : CLOBBERED);
	else
		asm volatile("smc #0"
			     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
			     :
			     : CLOBBERED);
	return x0;
}

/* Whether the device tree says how to call it. */
bool has_psci() { return find_conduit() != conduit::none; }

/*
 * The CPU begins at `entry`, with `context` in X0. 0, or PSCI's error. What was
 * written before is seen there.
 */
i64 psci_cpu_on(u64 hardware_id, const void *entry, const void *context)
{
	/* Walking the tree for each CPU would take longer than the call. */
	static constinit conduit how = conduit::none;

	if (how == conduit::none)
		how = find_conduit();
	return static_cast<i64>(call(how, cpu_on, hardware_id,
				     address_of(entry), address_of(context)));
}

} // namespace

void machine_reset()
{
	const conduit how = find_conduit();

	if (how != conduit::none)
		(void)call(how, system_reset, 0, 0, 0);
	halt();
}

/* -- The CPUs of the machine, and how they are started -- */

extern "C" {
/* entry.S, vectors.S */
extern const u8 ap_entry[];
extern const u8 exception_vectors[];
}

namespace {

/* Null, or why there is one CPU only. */
const char *why_alone()
{
	if (!has_ipis())
		return "no IPIs";
	if (!has_psci())
		return "the device tree has no PSCI";
	return nullptr;
}

} // namespace

void cpu_init(percpu &cpu, cpu_stacks &)
{
	write_tpidr(reinterpret_cast<u64>(&cpu));
	write_vbar(reinterpret_cast<u64>(exception_vectors));
	instruction_barrier();
	asm volatile("msr daifclr, #4" ::: "memory"); /* SError: reported */
}

cpu_list find_cpus(const boot_info &)
{
	return tree_cpus(machine_tree(), why_alone());
}

void call_cpus(unsigned slots)
{
	for (unsigned slot = 1; slot < slots; slot++) {
		percpu &cpu = cpu_blocks[slot];
		const i64 error = psci_cpu_on(cpu.hardware_id, ap_entry, &cpu);

		if (error)
			print("# boot: PSCI does not start MPIDR 0x%x: %d\n",
			      cpu.hardware_id, error);
	}
}

} // namespace boot
