#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""klock.h for every C compiler; the same locks as in C++."""
import re

import cases
from cases import FREESTANDING, STRICT

BOTH = [("gcc", "g++"), ("clang", "clang++")]

USE = """\
#include <klock/klock.h>
_Static_assert(2 * 128 <= KLOCK_TICKET_U8_CONTENDERS, "too many CPUs");
static struct klock_ticket_u8 ticket = KLOCK_TICKET_INIT;
static struct klock_mcs mcs = KLOCK_MCS_INIT;
static struct klock_clh clh = KLOCK_CLH_INIT(clh);
static struct klock_clh_node nodes[2] = {KLOCK_CLH_NODE_INIT,
					 KLOCK_CLH_NODE_INIT};
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
    headers = sorted((case.root / "lib/c/klock").glob("*.h"))
    for cc, cxx in BOTH:
        for bits in ("-m64", "-m32"):
            for standard in ("c11", "c17"):
                case.must(cc, bits, f"-std={standard}", *STRICT,
                          *case.includes("x86", c=True), "-c", "use.c")
                for header in headers:
                    case.write("one.c", f"#include <klock/{header.name}>\n"
                               "extern int other;\n")
                    case.must(cc, bits, f"-std={standard}", *STRICT,
                              *case.includes("x86", c=True), "-c", "one.c")
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
        case.expect(re.match(r"#define (KLOCK|klock)_", line),
                    f"a macro: {line}")
    code = case.must("gcc", *include, "-E", "-P", "all.c")
    code = re.sub(r"__attribute__\(\(.*?\)\)+", "", code)
    words = set(re.findall(r"[A-Za-z_]\w*", code))
    words -= set("struct enum void int unsigned char short long const".split())
    # The names of parameters: of no name space that a kernel shares.
    words -= {"lock", "mine", "node", "nodes", "cpu", "cpu_id", "base",
              "before", "file", "line", "name", "index", "usage", "what",
              "lock_name", "lock_address", "sizeof", "count", "data", "from",
              "into", "bytes", "deadline", "cycles", "began", "once", "with",
              "barrier", "expected", "first", "second", "rank", "put", "text"}
    for word in sorted(words):
        case.expect(word.startswith("klock_"), f"a name: {word}")
    case.expect(len(words) > 400, f"only {len(words)} names: is it the header?")


def inlined_by_link_time_optimization(case):
    """C calls of C++ code vanish; structures that C wrote are read."""
    case.write("use.c", USE)
    sources = [case.root / f"lib/c/{name}.cpp"
               for name in ("tickets", "queue", "cpu")]
    for cc, cxx, linker in (("gcc", "g++", "bfd"), ("clang", "clang++", "lld")):
        case.must(cc, "-O2", "-flto", *case.includes(None, c=True), "-c",
                  "use.c", "-o", "use.o")
        objects = [f"{source.stem}.o" for source in sources]
        for source, name in zip(sources, objects):
            case.must(cxx, "-std=c++20", "-O2", "-flto", "-fno-exceptions",
                      *case.includes("hosted", c=True), "-c", source,
                      "-o", name)
        case.must(cxx, "-O2", "-flto", f"-fuse-ld={linker}", "use.o",
                  *objects, "-o", "program")
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
              case.root / "lib/c/cpu.cpp", "-o", "k.o")
    case.must("gcc", *case.includes(None, c=True), "v.c", "k.o", "-o", "v")
    said = case.must("./v").strip()
    case.expect(said == version, f"klock_version() is {said}, not {version}")
    changes = (case.root / "CHANGELOG.md").read_text()
    case.expect(f"## {version}" in changes, f"CHANGELOG.md has no {version}")


CASES = [header_in_c11_and_c17, public_names_are_prefixed,
         inlined_by_link_time_optimization,
         version_is_the_one]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
