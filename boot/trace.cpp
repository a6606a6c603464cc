/* SPDX-License-Identifier: MIT */
/*
 * trace - where a CPU stood, and who called whom
 *
 * By the chain of frame pointers: a frame pointer shows, FRAME_LINK_BELOW bytes
 * below itself, where the caller's is kept, and behind that the return address.
 * A chain that leaves the stack or goes back is none: the code was built
 * without it, or the stack is damaged. What is printed lies in the call, not
 * behind it, so that addr2line names the caller's line.
 */
#include <boot/cpus.hpp>
#include <boot/percpu.hpp>
#include <boot/report.hpp>
#include <boot/trace.hpp>

namespace boot {

namespace {

constexpr unsigned max_calls = 12;

struct frame_link {
	usize caller;
	usize return_address;
};

bool is_aligned(usize address) { return address % sizeof(usize) == 0; }

} // namespace

void print_stack(unsigned cpu, usize pointer)
{
	const cpu_stacks &own = stacks[cpus[cpu] - cpu_blocks];
	const usize end = reinterpret_cast<usize>(&own + 1);
	const usize top = reinterpret_cast<usize>(own.nmi);
	const usize bottom = reinterpret_cast<usize>(own.thread);
	const usize guard = reinterpret_cast<usize>(own.guard);

	if (pointer > top && pointer <= end)
		print_report("  stack: the one for NMIs and faults\n");
	else if (pointer > bottom && pointer <= top)
		print_report("  stack: %u of %u bytes in use\n", top - pointer,
			     sizeof(own.thread));
	else if (pointer >= guard && pointer <= top)
		print_report("  stack: OVERFLOW, it has %u bytes\n",
			     sizeof(own.thread));
	else
		print_report("  stack: none of this CPU's\n");
}

void print_calls(usize at)
{
	const cpu_stacks &own = stacks[cpus[this_cpu()] - cpu_blocks];
	usize low = reinterpret_cast<usize>(own.thread);
	const usize high = reinterpret_cast<usize>(own.nmi);
	unsigned n = 0;

	for (at -= FRAME_LINK_BELOW;
	     n < max_calls && at >= low && is_aligned(at) && at < high &&
	     high - at >= sizeof(frame_link);
	     n++) {
		const frame_link link =
			*reinterpret_cast<const frame_link *>(at);

		if (!link.return_address)
			break;
		print_report("%s %08x", n ? "" : "  called from",
			     link.return_address - 1);
		low = at + sizeof(frame_link);
		at = link.caller - FRAME_LINK_BELOW;
	}
	if (n)
		print_report("\n");
}

} // namespace boot
