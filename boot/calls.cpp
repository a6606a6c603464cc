/* SPDX-License-Identifier: MIT */
/*
 * calls - who called whom, by the chain of frame pointers
 *
 * Source: System V ABI, AMD64 supplement, The Stack Frame; i386 supplement, the
 * same: a frame pointer shows where the caller's is kept, and behind that lies
 * the return address. A chain that leaves the stack or goes back is none: the
 * code was built without it, or the stack is damaged. What is printed lies in
 * the call, not behind it, so that addr2line names the caller's line.
 */
#include <boot/cpus.hpp>
#include <boot/exceptions.hpp>
#include <boot/percpu.hpp>
#include <boot/report.hpp>
#include <boot/x86.hpp>

namespace boot {

namespace {

constexpr unsigned max_calls = 12;

struct frame_link {
	usize caller;
	usize return_address;
};

bool is_aligned(usize address) { return address % sizeof(usize) == 0; }

} // namespace

void print_calls(usize at)
{
	const cpu_stacks &own = stacks[cpus[this_cpu()] - cpu_blocks];
	usize low = reinterpret_cast<usize>(own.thread);
	const usize high = reinterpret_cast<usize>(own.nmi);
	unsigned n = 0;

	for (; n < max_calls && at >= low && is_aligned(at) &&
	       at + sizeof(frame_link) <= high;
	     n++) {
		const frame_link link = *physical<const frame_link>(at);

		if (!link.return_address)
			break;
		print_report("%s %08x", n ? "" : "  called from",
			     link.return_address - 1);
		low = at + sizeof(frame_link);
		at = link.caller;
	}
	if (n)
		print_report("\n");
}

} // namespace boot
