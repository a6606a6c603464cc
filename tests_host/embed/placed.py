#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""klock/placed.hpp and klock_check_placed(): a linker script that names *(.bss)
and *(.data) alone leaves klock's variables behind the kernel's end, and that is
reported. The kernels here are static programs of x86-64 Linux."""
import platform
import re
import shutil

import cases
from cases import FREESTANDING, STRICT

SCRIPT = """\
ENTRY(_start)
SECTIONS {
	. = 0x400000;
	.text : { *(.text .text.*) }
	. = ALIGN(0x1000);
	.rodata : { *(.rodata .rodata.*) }
	. = ALIGN(0x1000);
	BEFORE
	AFTER
	end = .;
	/DISCARD/ : { *(.eh_frame .note.* .comment) }
}
"""
DATA, BSS = ".data : { *(.data) }", ".bss : { *(.bss) }"
ALL_DATA = ".data : { *(.data .data.*) }"
ALL_BSS = ".bss : { *(.bss .bss.*) }"

# Variables of its own in .bss and .data, as every kernel has.
KERNEL = """\
extern char end[];
int own_cleared, own_data = 1;

static long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}
static void say(const char *text)
{
	long size = 0;

	while (text[size])
		size++;
	call(1, 1, (long)text, size);
}
__attribute__((noreturn)) static void leave(int status)
{
	for (;;)
		call(231, status, 0, 0);
}
__attribute__((noreturn)) void klock_os_panic(const char *lock_name,
	const void *at, unsigned cpu, const char *what)
{
	char digits[] = " 0000000000000000: ";
	int i;

	(void)cpu;
	for (i = 0; i < 16; i++)
		digits[i + 1] = "0123456789abcdef"[(long)at >> (60 - 4 * i) & 15];
	say(lock_name);
	say(digits);
	say(what);
	leave(1);
}
void _start(void)
{
	own_cleared += own_data;
	CHECK(end);
	say("all is placed");
	leave(0);
}
"""


def objects(case, cxx="g++"):
    """One kernel, in C++ and in C."""
    case.write("kernel.cpp", "#include <klock/placed.hpp>\n"
               'extern "C" {\n' +
               KERNEL.replace("CHECK", "klock::check_placed") + "}\n")
    case.write("kernel.c", "#include <klock/klock.h>\n" +
               KERNEL.replace("CHECK", "klock_check_placed"))
    cpp = ["-std=c++20", *FREESTANDING, *STRICT, "-Wno-pedantic"]
    for source in ("kernel.cpp", case.root / "lib/c/placed.cpp"):
        case.must(cxx, *cpp, *case.includes("x86", c=True), "-c", source)
    case.must(cxx.replace("++", "cc").replace("clangcc", "clang"), "-std=c11",
              "-O2", "-ffreestanding", "-fno-stack-protector", "-fno-pic",
              "-mgeneral-regs-only", "-fcf-protection=none", *case.includes(None, c=True), "-c", "kernel.c", "-o", "c.o")
    return [("C++", ["kernel.o"]), ("C", ["c.o", "placed.o"])]


def linked(case, linker, made, first, last):
    case.write("kernel.ld", SCRIPT.replace("BEFORE", first)
               .replace("AFTER", last))
    case.must(f"ld.{linker}", "-z", "noexecstack", "-T", "kernel.ld", *made,
              "-o", "kernel")
    return case.call("./kernel")


def variable_at(case, address):
    for line in case.must("nm", "kernel").splitlines():
        at, _, name = line.split(maxsplit=2)
        if int(at, 16) == address and "klock" in name:
            return name
    return None


def what_lies_behind_the_end_is_reported(case):
    if platform.machine() != "x86_64":
        return
    for cxx in ("g++", "clang++"):
        if not shutil.which(cxx):
            continue
        for whose, made in objects(case, cxx):
            for linker, _ in cases.linkers():
                each_script(case, f"{cxx}, {whose}, {linker}", linker, made)


def each_script(case, which, linker, made):
    for first, last, wrong in ((DATA, BSS, "cleared"),
                               (ALL_DATA, BSS, "cleared"),
                               (BSS, DATA, "(cleared|data)"),
                               (ALL_BSS, DATA, "data"),
                               (ALL_DATA, ALL_BSS, None),
                               (ALL_BSS, ALL_DATA, None)):
        status, said = linked(case, linker, made, first, last)
        text = f"{which}: {first} {last}: status {status}, {said}"
        if not wrong:
            case.expect(status == 0 and said == "all is placed", text)
            continue
        found = re.match(r"klock ([0-9a-f]{16}): klock's variables lie behind "
                         "the kernel's end: .*name .bss", said)
        name = found and variable_at(case, int(found[1], 16))
        case.expect(status == 1 and name and re.search(f"_{wrong}E$", name),
                    f"{text}, at {name}")


# Whatever has variables: an order and its locks, counted and queued locks.
USER = """\
#include <klock/checked_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/placed.hpp>
#include <klock/queued_lock.hpp>
#include <klock/ticket_lock.hpp>
extern "C" char end[];
constinit klock::checked_lock<klock::mcs_lock, "queue"> queue;
constinit klock::queued_lock<8> queued;
constinit klock::counted_lock<klock::ticket_lock<klock::u8>> counted;
klock::lock_order *klock_os_lock_order()
{
	return klock::lock_order_of<16, 2>();
}
void use()
{
	klock::mcs_lock::node mine;

	klock::check_placed(end);
	queue.lock(mine);
	queued.lock_from(0);
	counted.lock();
}
"""


def kinds_of_sections(said):
    """{a variable of klock's: .bss, .data, .sbss or .sdata}"""
    sections = dict(re.findall(r"\[ *(\d+)\] (\S+)", said))
    kinds = {}
    for number, name in re.findall(r" OBJECT .* (\d+) (_Z\S*klock\S*)", said):
        if kind := re.match(r"\.s?(bss|data)\b", sections[number]):
            kinds[name] = kind[0]
    return kinds


def each_kind_of_section_is_checked(case):
    """placed.hpp looks at a variable in each kind of section that klock's
    variables lie in."""
    case.write("user.cpp", USER)
    targets = [(f"clang++ --target={target}", flags, port) for
               port, (target, flags, _) in cases.CLANG_ALONE.items()]
    targets += [("g++", FREESTANDING, "x86"), ("clang++", FREESTANDING, "x86")]
    targets += [("riscv64-linux-gnu-g++",
                 ["-O2", "-ffreestanding", "-fno-exceptions", "-fno-rtti",
                  "-mcmodel=medany"], "riscv")]
    for compiler, flags, port in targets:
        if not shutil.which(compiler.split()[0]):
            continue
        case.must(*compiler.split(), "-std=c++20", *flags,
                  *case.includes(port), "-c", "user.cpp", "-o", "user.o")
        kinds = kinds_of_sections(case.must("readelf", "-SsW", "user.o"))
        used = set(kinds.values())
        checked = {kinds[name] for name in kinds if
                   re.search("(small|large)_(cleared|data)E$", name)}
        case.expect(used == checked and len(used) >= 2,
                    f"{compiler}: variables in {sorted(used)}, of which "
                    f"{sorted(checked)} are checked")


if __name__ == "__main__":
    cases.main([what_lies_behind_the_end_is_reported,
                each_kind_of_section_is_checked], __doc__)
