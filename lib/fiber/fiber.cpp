/* SPDX-License-Identifier: MIT */
#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

/* AddressSanitizer's, in a program that has it. */
extern "C" [[gnu::weak]] void
__asan_unpoison_memory_region(const volatile void *at, std::size_t bytes);

fiber *fiber::current = nullptr;

namespace {

[[noreturn]] void fail(const char *what)
{
	std::perror(what);
	std::abort();
}

} // namespace

#if defined(__x86_64__)

/*
 * Swaps stacks: what a called function must keep (System V ABI, 3.2.1), less
 * the FPU's control words, which nobody here changes. 2 ns against the 300 of
 * swapcontext(), which asks the kernel about signals each time.
 */
extern "C" void fiber_switch(void **leave, void *enter);

asm(R"(
	.text
	.p2align 4
	.type fiber_switch, @function
fiber_switch:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
	.size fiber_switch, . - fiber_switch
)");

struct fiber::machine {
	void *inside = nullptr;	 /* its stack pointer while it is left */
	void *outside = nullptr; /* its resumer's while it runs */

	void prepare(char *top, void (*first)())
	{
		auto *sp = reinterpret_cast<std::uint64_t *>(
			reinterpret_cast<std::uintptr_t>(top) & ~15ul);

		*--sp = 0; /* as if called: 16-aligned, less a return address */
		*--sp = reinterpret_cast<std::uintptr_t>(first);
		for (int saved = 0; saved < 6; saved++)
			*--sp = 0;
		inside = sp;
	}
	void enter() { fiber_switch(&outside, inside); }
	void leave() { fiber_switch(&inside, outside); }
};

#else

#include <ucontext.h>

struct fiber::machine {
	ucontext_t inside, outside;
	char *low = nullptr;

	void prepare(char *top, void (*first)())
	{
		getcontext(&inside);
		inside.uc_stack.ss_sp = low;
		inside.uc_stack.ss_size = static_cast<std::size_t>(top - low);
		inside.uc_link = nullptr;
		makecontext(&inside, first, 0);
	}
	void enter() { swapcontext(&outside, &inside); }
	void leave() { swapcontext(&inside, &outside); }
};

#endif

fiber::fiber(std::size_t stack_bytes)
{
	const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

	bytes = (stack_bytes + page - 1) / page * page;
	void *all = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED)
		fail("fiber: no stack");
	if (mprotect(all, page, PROT_NONE))
		fail("fiber: no guard page");
	stack = static_cast<char *>(all) + page;
	its = new machine;
#if !defined(__x86_64__)
	its->low = stack;
#endif
}

fiber::~fiber()
{
	const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

	munmap(stack - page, bytes + page);
	delete its;
}

void fiber::begin()
{
	current->entry(current->argument);
	current->live = false;
	current->its->leave();
	std::abort(); /* resume() does not come here again */
}

void fiber::start(void (*first)(void *), void *with)
{
	entry = first;
	argument = with;
	live = true;
	/* Frees the marks of frames that were left half-way. */
	if (__asan_unpoison_memory_region)
		__asan_unpoison_memory_region(stack, bytes);
	its->prepare(stack + bytes, begin);
}

bool fiber::resume()
{
	if (!live)
		return false;

	fiber *const before = current;
	current = this;
	its->enter();
	current = before;
	return live;
}

void fiber::suspend() { current->its->leave(); }
