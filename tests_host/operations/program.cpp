/* SPDX-License-Identifier: MIT */
/*
 * program - the values of every operation, in a program without a library
 *
 * Exit status: 0 all right, 1 not, and the operation's name is printed. Linux
 * on x86: for 32 bits a host seldom has libraries. KLOCK_TYPES: which of
 * table.hpp's types, each_representation or those of a planted fault.
 */
#include <operations/values.hpp>

using namespace klock::tests;

namespace {

#if defined(__x86_64__)
constexpr long sys_write = 1, sys_exit = 60;

long call(long number, long a, long b, long c)
{
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(number), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory");
	return result;
}
#else
constexpr long sys_write = 4, sys_exit = 1;

long call(long number, long a, long b, long c)
{
	long result;

	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(number), "b"(a), "c"(b), "d"(c)
		     : "memory");
	return result;
}
#endif

void print(const char *text)
{
	long length = 0;

	while (text[length])
		length++;
	call(sys_write, 1, reinterpret_cast<long>(text), length);
}

} // namespace

extern "C" [[noreturn]] void klock_program()
{
	const report r = try_all_values<KLOCK_TYPES>();

	if (r.failed) {
		const char digit[] = {static_cast<char>('0' + r.bytes), 0};

		print(r.operation);
		print(" is wrong for a type of ");
		print(digit);
		print(" bytes\n");
	}
	for (;;)
		call(sys_exit, r.failed != 0 || r.checked == 0, 0, 0);
}

/* The stack as C expects it behind a call: 16 bytes aligned, and a return. */
#if defined(__x86_64__)
asm(".globl _start\n_start:\n\tand $-16, %rsp\n\tcall klock_program\n");
#else
asm(".globl _start\n_start:\n\tand $-16, %esp\n\tcall klock_program\n");
#endif
