/* SPDX-License-Identifier: MIT */
/*
 * exit - an emulator's or a debugger's semihosting, else sleep: AArch64
 *
 * Source: Semihosting for AArch32 and AArch64 2.0, SYS_EXIT. Where nobody
 * listens, the instruction is an exception: exception_dispatch() goes on behind
 * it then, and the machine stays on.
 */
#include <boot/aarch64/exceptions.hpp>
#include <boot/interrupts.hpp>
#include <boot/machine.hpp>

namespace boot {

extern "C" const u8 semihosting_exit_call[];

bool is_semihosting_call(usize ip)
{
	return ip == reinterpret_cast<usize>(semihosting_exit_call);
}

[[gnu::noinline]] void machine_exit(exit_code code)
{
	/* QEMU's status as on x86: see exit.hpp. */
	const u64 block[] = {SEMIHOSTING_APPLICATION_EXIT,
			     u64{static_cast<u8>(code)} * 2 + 1};
	register u64 operation asm("x0") = SEMIHOSTING_EXIT;
	register const u64 *parameter asm("x1") = block;

	asm volatile(".globl semihosting_exit_call\n"
		     "semihosting_exit_call:\n\t"
		     "hlt %2"
		     : "+r"(operation)
		     : "r"(parameter), "i"(SEMIHOSTING_HLT)
		     : "memory");
}

/* There is no screen. */
const char *after_exit_hint() { return ""; }

void after_exit() { halt(); }

} // namespace boot
