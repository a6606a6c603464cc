#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""klock.h for every C compiler, and libklock.a for every kernel."""
import re

import cases
from cases import FREESTANDING, STRICT

BOTH = [("gcc", "g++", "ar"), ("clang", "clang++", "ar")]

USE = """\
#include <klock/klock.h>
_Static_assert(2 * 128 <= KLOCK_TICKET_U8_CONTENDERS, "too many CPUs");
static struct klock_ticket_u8 ticket = KLOCK_TICKET_INIT;
static struct klock_mcs mcs = KLOCK_MCS_INIT;
static struct klock_clh clh = KLOCK_CLH_INIT(clh);
static struct klock_clh_node nodes[2] = {KLOCK_CLH_NODE_INIT(nodes[0]),
					 KLOCK_CLH_NODE_INIT(nodes[1])};
int main(void);
int main(void)
{
	struct klock_mcs_node mine;
	unsigned long flags = klock_ticket_u8_lock_irqsave(&ticket);
	klock_ticket_u8_unlock_irqrestore(&ticket, flags);
	klock_mcs_lock(&mcs, &mine);
	klock_mcs_unlock(&mcs, &mine);
	klock_clh_lock(&clh, &nodes[1]);
	klock_clh_unlock(&clh, &nodes[1]);
	return klock_ticket_u8_try_lock(&ticket);
}
"""


def header_in_c11_and_c17(case):
    case.write("use.c", USE)
    for cc, cxx, _ in BOTH:
        for bits in ("-m64", "-m32"):
            for standard in ("c11", "c17"):
                case.must(cc, bits, f"-std={standard}", *STRICT,
                          *case.includes("x86", c=True), "-c", "use.c")
            case.must(cxx, bits, "-std=c++20", *FREESTANDING, *STRICT,
                      *case.includes("x86", c=True), "-fno-access-control",
                      "-c", case.root / "tests_host/embed/c/layout.cpp")


def public_names_are_prefixed(case):
    """What the header puts into C's name spaces, macros and all."""
    case.write("all.c", "#include <klock/klock.h>\n")
    include = case.includes(None, c=True)
    defined = case.must("gcc", *include, "-dM", "-E", "all.c")
    known = case.must("gcc", "-dM", "-E", "-x", "c", "/dev/null")
    for line in set(defined.splitlines()) - set(known.splitlines()):
        case.expect(line.startswith("#define KLOCK_"), f"a macro: {line}")
    code = case.must("gcc", *include, "-E", "-P", "all.c")
    code = re.sub(r"__attribute__\(\(.*?\)\)+", "", code)
    words = set(re.findall(r"[A-Za-z_]\w*", code))
    words -= set("struct void int unsigned char short long const".split())
    # The names of parameters: of no name space that a kernel shares.
    words -= {"lock", "mine", "node", "before"}
    for word in sorted(words):
        case.expect(word.startswith("klock_"), f"a name: {word}")
    case.expect(len(words) > 60, f"only {len(words)} names: is it the header?")


def archive_asks_for_nothing(case):
    for cc, cxx, ar in BOTH:
        for bits in ("-m64", "-m32"):
            build = case.scratch / f"{cc}{bits}"
            case.must("make", "-s", "-C", case.root / "lib/c",
                      f"BUILD={build}", f"CXX={cxx}", f"AR={ar}",
                      f"CXXFLAGS=-O2 {bits} -Wall -Wextra -Werror")
            library = build / "libklock.a"
            for line in case.must("nm", "-u", library).splitlines():
                name = line.split()[-1] if line.startswith(" ") else ""
                case.expect(not name or name.startswith("klock_os_"),
                            f"{cc} {bits}: undefined symbol {name}")
            sections = case.must("objdump", "-h", library)
            for name in (".init_array", ".ctors", ".gcc_except_table"):
                case.expect(name not in sections, f"{cc} {bits}: {name}")
            names = set(re.findall(r" T (\w+)", case.must("nm", library)))
            names.discard("klock_two_ports_in_one_program")
            header = (case.root / "lib/c/klock/klock.h").read_text()
            declared = set(re.findall(r"\b(klock_\w+)\(", header))
            declared -= {"klock_X_" + v for v in (
                "lock", "try_lock", "unlock", "is_locked", "lock_irqsave",
                "unlock_irqrestore")}
            case.expect(names == declared, "not both declared and defined: "
                        f"{sorted(names ^ declared)}")


def inlined_by_link_time_optimization(case):
    """C calls of C++ code vanish; structures that C wrote are read."""
    case.write("use.c", USE)
    source = case.root / "lib/c/klock_c.cpp"
    for cc, cxx, linker in (("gcc", "g++", "bfd"), ("clang", "clang++", "lld")):
        case.must(cc, "-O2", "-flto", *case.includes(None, c=True), "-c",
                  "use.c", "-o", "use.o")
        case.must(cxx, "-std=c++20", "-O2", "-flto", "-fno-exceptions",
                  *case.includes("hosted", c=True), "-c", source, "-o", "k.o")
        case.must(cxx, "-O2", "-flto", f"-fuse-ld={linker}", "use.o", "k.o",
                  "-o", "program")
        code = case.must("objdump", "-d", "--no-show-raw-insn", "program")
        body = code.partition("<main>:\n")[2].partition("\n\n")[0]
        case.expect("xadd" in body, f"{cc}: no lock in main()")
        case.expect("<klock_" not in body, f"{cc}: main() calls klock_...")
        # The one try at the end succeeds: 1.
        status, _ = case.call("./program")
        case.expect(status == 1, f"{cc}: the program ended with {status}")


def version_is_the_one(case):
    text = (case.root / "lib/klock/version.hpp").read_text()
    version = ".".join(re.search(rf"version_{part} = (\d+)", text)[1]
                       for part in ("major", "minor", "patch"))
    case.write("v.c", "#include <klock/klock.h>\n#include <stdio.h>\n"
               "int main(void) { return puts(klock_version()) < 0; }\n")
    case.must("g++", "-std=c++20", *case.includes("hosted", c=True), "-c",
              case.root / "lib/c/klock_c.cpp", "-o", "k.o")
    case.must("gcc", *case.includes(None, c=True), "v.c", "k.o", "-o", "v")
    said = case.must("./v").strip()
    case.expect(said == version, f"klock_version() is {said}, not {version}")
    changes = (case.root / "CHANGELOG.md").read_text()
    case.expect(f"## {version}" in changes, f"CHANGELOG.md has no {version}")


CASES = [header_in_c11_and_c17, public_names_are_prefixed,
         archive_asks_for_nothing, inlined_by_link_time_optimization,
         version_is_the_one]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
