/* SPDX-License-Identifier: MIT */
/*
 * sizes - what accesses of two sizes on one word cost this CPU
 *
 * Each loop is what a lock does, or might do, without its branches.
 */
#include "bench.hpp"

#include <thread>

namespace bench {

namespace {

struct loop {
	const char *name; /* of the accesses, as codegen's table has them */
	void (*run)(klock::u8 *word, u64 turns);
};

#define LOOP(code)                                                             \
	[](klock::u8 *word, u64 turns) {                                       \
		for (; turns; turns--)                                         \
			asm volatile(                                          \
				"mov $1, %%ecx\n\txor %%eax, %%eax\n\t" code   \
				:                                              \
				: "r"(word)                                    \
				: "eax", "ecx", "edx", "memory", "cc");        \
	}
#define XADD1 "lock xaddb %%cl, (%0)\n\t"
#define XADD4 "lock xaddl %%ecx, (%0)\n\t"

constexpr const char *yardstick = "X4@0: lock xadd";

const loop loops[] = {
	{yardstick, LOOP(XADD4)},
	{"X4@0 w4@0", LOOP(XADD4 "movl $0, (%0)")},
	{"X4@4 w4@0: ticket_lock<u32>",
	 LOOP("lock xaddl %%ecx, 4(%0)\n\tmovl $0, (%0)")},
	{"X1@0 w1@0: tas_lock", LOOP(XADD1 "movb $0, (%0)")},
	{"X1@1 w1@0: ticket_lock<u8>",
	 LOOP("lock xaddb %%cl, 1(%0)\n\tmovb $0, (%0)")},
	{"X1@0 w1@4", LOOP(XADD1 "movb $0, 4(%0)")},
	{"X4@0 w1@0: Linux's queued spin lock",
	 LOOP("lock cmpxchgl %%ecx, (%0)\n\tmovb $0, (%0)")},
	{"X4@0 w2@0", LOOP("lock cmpxchgl %%ecx, (%0)\n\tmovw $0, (%0)")},
	{"r2@2 X2@0 w2@0: queued_lock",
	 LOOP("movzwl 2(%0), %%eax\n\tlock cmpxchgw %%cx, (%0)\n\t"
	      "movw $0, (%0)")},
	{"r4@0 X2@0 w2@0", LOOP("movl (%0), %%eax\n\tlock cmpxchgw %%cx, (%0)"
				"\n\tmovw $0, (%0)")},
	{"X4@0 X4@0", LOOP("lock cmpxchgl %%ecx, (%0)\n\tlock subl $1, (%0)")},
	{"X8@0 w4@0", LOOP("lock cmpxchg8b (%0)\n\tmovl $0, (%0)")},
	{"r4@4 X4@0 w4@0",
	 LOOP("movl 4(%0), %%eax\n\tlock cmpxchgl %%ecx, (%0)\n\t"
	      "movl $0, (%0)")},
	{"X1@0 X4@0", LOOP(XADD1 XADD4)},
	{"X1@0 r4@0", LOOP(XADD1 "movl (%0), %%eax")},
	{"X4@0 r1@0", LOOP(XADD4 "movzbl (%0), %%eax")},
	{"X1@0 X1@1", LOOP(XADD1 "lock xaddb %%al, 1(%0)")},
	{"w4@0 X8@0", LOOP("movl $0, (%0)\n\tlock cmpxchg8b (%0)")},
	{"r1@0 X1@1 r1@1 w1@1",
	 LOOP("movzbl (%0), %%eax\n\tlea -1(%%eax), %%ecx\n\t"
	      "lock cmpxchgb %%cl, 1(%0)\n\tmovzbl 1(%0), %%eax\n\t"
	      "inc %%eax\n\tmovb %%al, 1(%0)")},
	{"r4@0 X4@4 r4@4 w4@4",
	 LOOP("movl (%0), %%eax\n\tlea -1(%%eax), %%ecx\n\t"
	      "lock cmpxchgl %%ecx, 4(%0)\n\tmovl 4(%0), %%eax\n\t"
	      "inc %%eax\n\tmovl %%eax, 4(%0)")},
};

#undef LOOP
#undef XADD1
#undef XADD4

} // namespace

void measure_sizes(context &c)
{
	const unsigned rounds = c.opts.smoke ? 2 : 40 * c.opts.rounds;
	constexpr u64 turns = 1000;
	alignas(64) klock::u8 word[64] = {};
	std::map<std::string, series> found;
	std::vector<timed> all;
	csv file(c.file("sizes.csv"), {"loop", "cycles_min", "ratio_min"});

	for (const loop &l : loops)
		all.push_back({&found[l.name],
			       [&word, run = l.run](u64 times) {
				       return cycles_each(times, [&](u64 n) {
					       run(word, n);
				       });
			       },
			       turns});
	run_alone("", rounds, all);
	for (const loop &l : loops)
		file.add(cells(l.name)
				 .of(least(found[l.name]), 1)
				 .of(least(found[l.name]) /
					     least(found[yardstick]),
				     2));
	c.out.heading("Accesses of one and of two sizes on one word: cycles. "
		      "X1@2: a locked instruction on 1 byte at offset 2, r a "
		      "load, w a store");
	c.out.say(file.text());
}

} // namespace bench
