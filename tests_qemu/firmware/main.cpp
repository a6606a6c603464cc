/* SPDX-License-Identifier: MIT */
/*
 * main - what boot makes of the firmware: an IPI to this CPU, the NMI clock
 */
#include <boot/kernel.hpp>

namespace {

constexpr boot::u8 vector = 0x50;

constinit volatile bool ipi_came = false;
constinit volatile bool nmi_came = false;

/* For two seconds; nothing is wrong if it takes one. */
bool comes(const volatile bool &what)
{
	for (int i = 0; i < 2000 && !what; i++)
		boot::delay_us(1000);
	return what;
}

} // namespace

int payload_main()
{
	boot::set_interrupt_handler(
		vector, [](boot::interrupt_frame &) { ipi_came = true; });
	boot::set_interrupt_handler(
		boot::vector_nmi,
		[](boot::interrupt_frame &) { nmi_came = true; });

	boot::send_ipi(0, vector);
	boot::print("# own IPI: %s\n", comes(ipi_came) ? "came" : "lost");
	const char *const why_not = boot::nmi_clock_start(1000);

	boot::print("# NMI clock: %s\n", why_not	   ? why_not
					 : comes(nmi_came) ? "runs"
							   : "no NMI comes");
	/* A full row of the screen and its end are one line. */
	boot::print("%-80s\n", "# 80 columns");
	boot::print("PASS\n");
	return 0;
}
