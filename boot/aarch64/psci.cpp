/* SPDX-License-Identifier: MIT */
/*
 * psci - what the firmware does for boot: AArch64
 *
 * Source: Power State Coordination Interface (DEN 0022), 5.1.4 (CPU_ON), 5.1.11
 * (SYSTEM_RESET); SMC Calling Convention (DEN 0028): arguments and results in
 * X0 to X3, X4 to X17 may change.
 */
#include <boot/aarch64/machine_tree.hpp>
#include <boot/aarch64/psci.hpp>
#include <boot/aarch64/system.hpp>
#include <boot/interrupts.hpp>
#include <boot/machine.hpp>

namespace boot {

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

u64 address_of(const void *object) { return reinterpret_cast<u64>(object); }

} // namespace

bool has_psci() { return find_conduit() != conduit::none; }

i64 psci_cpu_on(u64 hardware_id, const void *entry, const void *context)
{
	/* Walking the tree for each CPU would take longer than the call. */
	static constinit conduit how = conduit::none;

	if (how == conduit::none)
		how = find_conduit();
	return static_cast<i64>(call(how, cpu_on, hardware_id,
				     address_of(entry), address_of(context)));
}

void machine_reset()
{
	const conduit how = find_conduit();

	if (how != conduit::none)
		(void)call(how, system_reset, 0, 0, 0);
	halt();
}

} // namespace boot
