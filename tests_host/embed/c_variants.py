#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""c_library.py's by clang, for 32 bits and with -flto, each by the Makefile:
every source is compiled alone."""
import cases
import c_library
from c_library import library
from cases import FREESTANDING, STRICT

LTO = """\
#include <klock/klock.h>
static struct klock_ticket_u8 ticket = KLOCK_TICKET_INIT;
static struct klock_mcs mcs = KLOCK_MCS_INIT;
static struct klock_clh clh = KLOCK_CLH_INIT(clh);
static struct klock_clh_node nodes[2] = {KLOCK_CLH_NODE_INIT,
					 KLOCK_CLH_NODE_INIT};
int main(void)
{
	struct klock_mcs_node mine;
	unsigned long flags = klock_lock_irqsave(&ticket);
	klock_unlock_irqrestore(&ticket, flags);
	klock_lock(&mcs, &mine);
	klock_unlock(&mcs, &mine);
	klock_lock(&clh, &nodes[1]);
	klock_unlock(&clh, &nodes[1]);
	return klock_try_lock(&ticket);
}
"""


def headers(case):
    for cc, cxx, *flags in (("clang", "clang++"), ("gcc", "g++", "-m32"),
                            ("clang", "clang++", "-m32")):
        c_library.headers_alone(case, cc, cxx, *flags)
    case.write("use.c", LTO)
    for cc in ("gcc", "clang"):
        case.must(cc, "-std=c17", *STRICT, *case.includes(None, c=True),
                  "-fsyntax-only", "use.c")
    c_library.wrong_kinds_are_refused(case, "clang")


def archives_ask_for_nothing(case):
    # Clang's for 32 bits: bare_toolchain.py, which links without a library.
    for cxx, bits in (("g++", "-m32"), ("clang++", "-m64")):
        built = library(case, cxx, " ".join([*FREESTANDING, *STRICT, bits]),
                        CXX=cxx)
        c_library.asks_for_nothing(case, built, f"{cxx} {bits}")


def programs_by_clang(case):
    built = library(case, "clang", f"-O2 {' '.join(STRICT)}", "hosted",
                    CXX="clang++")
    c_library.programs_in_c(case, "clang", built)
    c_library.c_and_cpp_share_one_lock(case, "clang", "clang++", built)


def with_link_time_optimization(case):
    """C calls of C++ code vanish; structures that C wrote are read."""
    case.write("use.c", LTO)
    for cc, cxx, linker, ar in (("gcc", "g++", "bfd", "gcc-ar"),
                                ("clang", "clang++", "lld", "ar")):
        # lld needs no index of what clang made.
        built = library(case, cc, "-O2 -flto", "hosted", CXX=cxx, AR=ar,
                        families="tickets queue")
        c_library.c_and_cpp_share_one_lock(case, cc, cxx, built,
                                           ("-O2", "-flto"))
        case.must(cc, "-O2", "-flto", *case.includes(None, c=True), "-c",
                  "use.c", "-o", "use.o")
        case.must(cxx, "-O2", "-flto", f"-fuse-ld={linker}", "use.o", built,
                  "-o", "program")
        code = case.must("objdump", "-d", "--no-show-raw-insn", "program")
        body = code.partition("<main>:\n")[2].partition("\n\n")[0]
        case.expect("xadd" in body, f"{cc}: no lock in main()")
        case.expect("<klock_" not in body, f"{cc}: main() calls klock_...")
        # The one try at the end succeeds: 1.
        status, _ = case.call("./program")
        case.expect(status == 1, f"{cc}: the program ended with {status}")


CASES = [headers, archives_ask_for_nothing, programs_by_clang,
         with_link_time_optimization]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
