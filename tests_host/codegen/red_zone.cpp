/* SPDX-License-Identifier: MIT */
/*
 * red_zone - leaf functions that turn interrupts off and keep their locals
 *
 * A program of user mode, where CLI and STI fault: a handler steps over them.
 * Built with the red zone on, which a leaf function fills before it pushes
 * anything. Exit status: 0 nothing is lost; 1 a local is; 2 nothing was tried.
 */
#include <klock/arch/irq.hpp>

#include <signal.h>
#include <ucontext.h>

using klock::u64;

namespace {

volatile int stepped_over;

void step_over(int, siginfo_t *, void *context)
{
	constexpr unsigned char cli = 0xfa, sti = 0xfb;
	auto &at =
		static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP];
	const auto code = *reinterpret_cast<const unsigned char *>(at);

	if (code != cli && code != sti) {
		signal(SIGSEGV, SIG_DFL);
		return;
	}
	at++;
	stepped_over = stepped_over + 1;
}

/*
 * The words of the red zone: the one that is hit is among them. At -O3 they
 * also take all registers, and the flags go to the stack.
 */
constexpr unsigned words = 15;

[[gnu::noinline]] bool saves_and_restores(u64 seed)
{
	volatile u64 kept[words];
	bool whole = true;

	for (unsigned i = 0; i < words; i++)
		kept[i] = seed + i;
	klock::arch::irq_restore(klock::arch::irq_save());
	for (unsigned i = 0; i < words; i++)
		whole &= kept[i] == seed + i;
	return whole;
}

[[gnu::noinline]] bool asks(u64 seed)
{
	volatile u64 kept[words];
	bool whole = true;

	for (unsigned i = 0; i < words; i++)
		kept[i] = seed + i;
	whole = klock::arch::irqs_enabled();
	for (unsigned i = 0; i < words; i++)
		whole &= kept[i] == seed + i;
	return whole;
}

/* One local, in a register until the asm wants it in memory. */
[[gnu::noinline]] bool one_local(u64 seed)
{
	u64 kept = seed;

	asm volatile("" : "+m"(kept));
	const klock::arch::irq_state before = klock::arch::irq_save();
	asm volatile("" : "+m"(kept));
	klock::arch::irq_restore(before);
	return kept == seed;
}

} // namespace

int main()
{
	struct sigaction action = {};

	action.sa_sigaction = step_over;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &action, nullptr);

	if (!saves_and_restores(0x1111111111111111) ||
	    !asks(0x2222222222222222) || !one_local(0x3333333333333333))
		return 1;
	return stepped_over == 4 ? 0 : 2;
}
