/* SPDX-License-Identifier: MIT */
/*
 * registers - an interrupt leaves the interrupted code's registers alone
 *
 * CPU 0 sleeps with a value of its own in each register; CPU 1 sends it
 * interrupts, then NMIs where the machine has them. By turns the handler
 * destroys every register that the ABI lets it destroy: all must be as before;
 * and changes all of them in its frame: the interrupted code must go on with
 * the new values (boot/interrupts.hpp).
 */
#include <boot/kernel.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/selftest/parts.hpp>

/* registers.S */
extern "C" {
void hold_registers(klock::usize *values);
klock::usize clobber_registers();
extern const char held_begin[], held_end[];
}

namespace {

using boot::interrupt_frame;
using klock::u32;
using klock::usize;

constexpr boot::u8 vector = 0x40;
constexpr u32 rounds = 200;

/*
 * The registers are the first words of the frame, in this order; one that has
 * no name is not held. Of the flags those that hold_registers() may set.
 */
#if defined(__x86_64__)
constexpr const char *names[] = {"rax", "rbx", "rcx", "rdx", "rsi",
				 "rdi", "rbp", "r8",  "r9",  "r10",
				 "r11", "r12", "r13", "r14", "r15"};
constexpr usize flag_bits = 0xcd5;
usize &flags_of(interrupt_frame &frame) { return frame.flags; }
#elif defined(__i386__)
constexpr const char *names[] = {"eax", "ebx", "ecx", "edx",
				 "esi", "edi", "ebp"};
constexpr usize flag_bits = 0xcd5;
usize &flags_of(interrupt_frame &frame) { return frame.flags; }
#elif defined(__aarch64__)
constexpr const char *names[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",
	"x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
	"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "x30"};
constexpr usize flag_bits = 0xf0000000;
usize &flags_of(interrupt_frame &frame) { return frame.status; }
#elif defined(__riscv)
constexpr const char *names[] = {
	"ra", nullptr, "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0", "a1",
	"a2", "a3",    "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5", "s6",
	"s7", "s8",    "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr usize flag_bits = 0;
usize &flags_of(interrupt_frame &frame) { return frame.unused; }
#endif

constexpr u32 count = sizeof(names) / sizeof(names[0]);
constexpr u32 held_registers = [] {
	u32 held = 0;

	for (const char *name : names)
		held += name != nullptr;
	return held;
}();

/* All registers, and the flags behind them. */
struct values {
	usize of[count + 1];

	void fill(klock::selftest::xorshift &dice)
	{
		for (usize &value : of)
			value = static_cast<usize>(
				klock::u64{dice.next()} << 32 | dice.next());
		of[count] &= flag_bits;
	}
};

constinit values held = {};    /* what the interrupted code has */
constinit values changed = {}; /* what the handler gives it */
constinit volatile bool changes = false;
constinit volatile bool has_come = true;
constinit klock::atomic<u32> over;

usize *registers_of(interrupt_frame &frame)
{
	return reinterpret_cast<usize *>(&frame);
}

/* The first register that differs; count: the flags do; beyond: none. */
struct difference {
	u32 which = count + 1;
	usize found = 0, wanted = 0;
};

difference compare(const usize *registers, usize flags, const values &wanted)
{
	flags &= flag_bits;
	for (u32 i = 0; i < count; i++)
		if (names[i] && registers[i] != wanted.of[i])
			return {i, registers[i], wanted.of[i]};
	if (flags != wanted.of[count])
		return {count, flags, wanted.of[count]};
	return {};
}

constinit difference in_frame = {};
constinit usize direction = 0; /* of the handler: must be clear (x86) */

void change(interrupt_frame &frame)
{
	usize *const registers = registers_of(frame);
	usize &flags = flags_of(frame);

	for (u32 i = 0; i < count; i++)
		if (names[i])
			registers[i] = changed.of[i];
	flags = (flags & ~flag_bits) | changed.of[count];
}

/* Interrupts and NMIs that come elsewhere are not looked at. */
void on_interrupt(interrupt_frame &frame)
{
	if (has_come || frame.ip < reinterpret_cast<usize>(held_begin) ||
	    frame.ip >= reinterpret_cast<usize>(held_end))
		return;
	in_frame = compare(registers_of(frame), flags_of(frame), held);
	if (changes)
		change(frame);
	has_come = true;
	direction |= clobber_registers();
}

/* Returns whether all is right. */
bool check(const char *where, const difference &d)
{
	if (d.which > count)
		return true;
	boot::print("FAIL: %s: %s is 0x%x, and not 0x%x\n", where,
		    d.which == count ? "flags" : names[d.which], d.found,
		    d.wanted);
	return false;
}

bool hold_once(klock::selftest::xorshift &dice)
{
	values now;

	held.fill(dice);
	changed.fill(dice);
	now = held;
	has_come = false;
	while (!has_come)
		hold_registers(now.of);
	const difference after =
		compare(now.of, now.of[count], changes ? changed : held);

	if (direction)
		boot::print("FAIL: the direction flag is set in a handler\n");
	return !direction && check("the handler's frame", in_frame) &&
	       check(changes ? "after a handler that changed all"
			     : "after a handler that destroyed all",
		     after);
}

/* Each of the two sends until CPU 0 has had enough. */
void send_interrupts(bool nmis)
{
	while (!over.load_acquire()) {
		if (nmis)
			boot::send_nmi(0);
		else
			boot::send_ipi(0, vector);
		klock::relax_for(20);
	}
}

bool are_kept(bool nmis)
{
	static constinit bool right = true;

	over.store_relaxed(0);
	boot::run_on_cpus(
		2,
		[](unsigned cpu, void *of_nmis) {
			klock::selftest::xorshift dice(1);

			if (cpu == 1)
				return send_interrupts(
					*static_cast<bool *>(of_nmis));
			const boot::interrupts_off off;

			for (u32 i = 0; i < rounds && right; i++) {
				changes = i % 2;
				right = hold_once(dice);
			}
			over.store_release(1);
		},
		&nmis);
	return right;
}

} // namespace

int payload_main()
{
	boot::set_interrupt_handler(vector, on_interrupt);
	if (boot::has_nmi())
		boot::set_interrupt_handler(boot::vector_nmi, on_interrupt);
	if (!are_kept(false) || (boot::has_nmi() && !are_kept(true)))
		return 1;
	boot::print("# %u registers are kept, by %u interrupts%s\nPASS\n",
		    held_registers, rounds,
		    boot::has_nmi() ? " and as many NMIs" : "");
	return 0;
}
