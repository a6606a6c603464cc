/* SPDX-License-Identifier: MIT */
/*
 * control - what finds the locks that are wrong must pass those that are right
 */
#include "control.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

/*
 * A right lock is never found out early: it takes its whole run, and where two
 * vCPUs share busy cores each handoff of a FIFO lock takes a time slice.
 */
options control_options(options o)
{
	o.acquisitions = o.acquisitions / 10 + 100;
	return o;
}

} // namespace

void run_control(const options &o,
		 const char *(*find)(const bench &b, const options &shorter))
{
	const options shorter = control_options(o);
	const char *wrong = nullptr;

	for (const bench &b : all_benches()) {
		const char *const found = find(b, shorter);

		if (!found)
			continue;
		boot::print("# %s is right, and was found out: %s\n", b.name(),
			    found);
		wrong = "a right lock was found out";
	}
	note_row("control", wrong);
	boot::print("# control: %u right locks; longest stand-still %u ms\n",
		    all_benches().size, longest_stand_still());
	if (o.output == mode::table)
		boot::print("%-28s %s\n", "control", wrong ? wrong : "passed");
	print_verdict(o, "control", wrong);
}

} // namespace lab
