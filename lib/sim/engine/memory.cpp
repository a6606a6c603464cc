/* SPDX-License-Identifier: MIT */
#include "memory.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace sim {

namespace {

/* Whether nothing but a guard page is between the two. */
bool adjacent(const fiber &a, const fiber &b)
{
	constexpr std::ptrdiff_t most = 64 * 1024; /* a page, on any host */
	const std::ptrdiff_t below = a.low() - b.high();
	const std::ptrdiff_t above = b.low() - a.high();

	return (below > 0 && below <= most) || (above > 0 && above <= most);
}

[[noreturn]] void fail(const char *what)
{
	std::fprintf(stderr, "sim: %s\n", what);
	std::abort();
}

} // namespace

/* A stack that fell into a gap elsewhere fills it: the next one does not. */
simulated_memory::simulated_memory()
{
	constexpr usize most_elsewhere = 4096;
	const fiber *before = &block;

	while (stacks.size() < max_cpus) {
		auto stack = std::make_unique<fiber>(stack_bytes);

		if (!adjacent(*before, *stack)) {
			elsewhere.push_back(std::move(stack));
			if (elsewhere.size() > most_elsewhere)
				fail("the kernel scatters mappings: no run "
				     "would be like another");
			continue;
		}
		before = stack.get();
		stacks.push_back(std::move(stack));
	}
}

simulated_memory &simulated_memory::the()
{
	static simulated_memory one;

	return one;
}

/* Below each piece lies where it began, so that it can be given back. */
void *simulated_memory::lend(usize bytes, usize alignment)
{
	char *const base = const_cast<char *>(block.low());
	const usize room =
		alignment > line_alignment ? alignment : line_alignment;
	const usize start = (used + sizeof(usize) + room - 1) / room * room;

	if (start + bytes > block_bytes)
		fail("a world is larger than the simulated memory");
	*reinterpret_cast<usize *>(base + start - sizeof(usize)) = used;
	used = start + bytes;
	return base + start;
}

void simulated_memory::take_back(void *at)
{
	used = *reinterpret_cast<usize *>(static_cast<char *>(at) -
					  sizeof(usize));
}

} // namespace sim
