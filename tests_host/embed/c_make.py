#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lib/c/Makefile and klock-c.pc do what a kernel's build wants of them, and a
library that does not fit is an error."""
import re
import shutil

import cases
from c_library import library


def make_notices_changed_flags(case):
    def machine():
        return re.findall(r"file format (\S+)", case.must(
            "objdump", "-a", case.scratch / "b" / "libklock.a"))

    library(case, "b", "-O2", families="tas")
    case.expect(set(machine()) == {"elf64-x86-64"}, "not 64 bits")
    built = case.scratch / "b" / "libklock.a"
    before = built.stat().st_mtime_ns
    library(case, "b", "-O2", families="tas")
    case.expect(built.stat().st_mtime_ns == before,
                "compiled again, and nothing had changed")
    library(case, "b", "-O2 -m32", families="tas")
    case.expect(set(machine()) == {"elf32-i386"},
                "-m32 was not noticed: the objects are still 64 bits")


def make_works_with_blanks(case):
    """In its own path, in BUILD, and in a flag."""
    shutil.copytree(case.root / "lib", case.scratch / "my klock" / "lib")
    make = ["make", "-s", "-C", case.scratch / "my klock/lib/c", "families=tas",
            'CXXFLAGS=-O2 -DTEXT="\\"a b\\""']
    for build in (case.scratch / "my build", "../../relative build"):
        for _ in range(2):
            case.must(*make, f"BUILD={build}")
    for path in ("my build", "my klock/relative build"):
        case.must("nm", case.scratch / path / "libklock.a")
    header = case.scratch / "my klock/lib/klock/tas_lock.hpp"
    header.write_text(header.read_text() + "#error it was looked at\n")
    status, said = case.call(*make, f"BUILD={case.scratch / 'my build'}")
    case.expect(status != 0 and "it was looked at" in said,
                f"a changed header was not noticed: {said}")


def pkg_config_works_with_blanks(case):
    """What it says is for a shell, which make and eval are."""
    if not shutil.which("pkg-config"):
        return
    prefix = case.scratch / "my klock"
    text = (case.root / "lib/klock-c.pc.in").read_text()
    for name, value in (("KLOCK_PREFIX", prefix), ("KLOCK_VERSION", "1"),
                        ("CMAKE_INSTALL_INCLUDEDIR", "include"),
                        ("CMAKE_INSTALL_LIBDIR", "lib"),
                        ("PROJECT_DESCRIPTION", "Locks")):
        text = text.replace(f"@{name}@", str(value))
    case.write("klock-c.pc", text)
    shutil.copytree(case.root / "lib/c", prefix / "include/klock/c")
    built = library(case, "built", "-O2", "hosted", families="tas")
    (prefix / "lib/klock/hosted").mkdir(parents=True)
    shutil.copy(built, prefix / "lib/klock/hosted")
    case.write("use.c", "#include <klock/klock.h>\n"
               "static struct klock_tas lock;\n"
               "int main(void) { return !klock_tas_try_lock(&lock); }\n")
    case.must("bash", "-c", "eval gcc use.c -o use $(PKG_CONFIG_PATH=. "
              "pkg-config --define-variable=port=hosted --cflags --libs "
              "klock-c) && ./use")


# -- Mistakes ------------------------------------------------------------------

def families_are_chosen(case):
    """With what they need; and nothing is made beside the sources."""
    def chosen(families):
        said = case.must("make", "-n", "-C", case.root / "lib/c",
                         f"BUILD={case.scratch}/b", f"families={families}")
        return set(re.findall(r" -c (\w+)\.cpp", said)) - {"cpu"}

    for families, sources in (
            ("tickets", "tickets"),
            ("tickets checked", "tickets order checked_tickets"),
            ("queue", "queue queued"), ("sequences", "sequences once"),
            ("tas counted", "tas counted queued")):
        case.expect(chosen(families) == set(sources.split()),
                    f"families={families}: {chosen(families)}")
    for words, what in (("families=ticket", "no families: ticket"),
                        ("BUILD=.", "BUILD is the folder of the sources")):
        status, said = case.call("make", "-n", "-C", case.root / "lib/c",
                                 f"BUILD={case.scratch}/b", words)
        case.expect(status != 0 and what in said, f"{words}: {said}")
    case.expect("families=" in case.must("make", "-s", "-C",
                                         case.root / "lib/c", "help"), "help")


LINE = """\
#include <klock/klock.h>
static struct klock_clh lock = KLOCK_CLH_INIT(lock);
static struct klock_clh_node node = KLOCK_CLH_NODE_INIT;
int main(void)
{
	klock_clh_lock(&lock, &node);
	klock_clh_unlock(&lock, &node);
	return 0;
}
"""


def another_cache_line_is_an_error(case):
    built = library(case, "hosted", "-O2", "hosted", families="queue")
    case.write("line.c", LINE)
    for cc in ("gcc", "clang"):
        use = [cc, *case.includes(None, c=True), "line.c", built, "-o", "line"]
        case.must(*use)
        case.must("./line")
        status, said = case.call(*use, "-DKLOCK_CACHE_LINE=128")
        case.expect(status != 0 and said.count(" error: ") == 1 and
                    "KLOCK_CACHE_LINE is no parameter" in said,
                    f"{cc}: another line than the library's: status {status}, "
                    f"{said}")


def another_line_of_the_port_is_an_error(case):
    port = case.scratch / "port/klock/arch"
    shutil.copytree(case.root / "lib/arch/x86/klock/arch", port)
    header = port / "cpu.hpp"
    header.write_text(header.read_text().replace("cache_line = 64",
                                                 "cache_line = 128"))
    status, said = case.call("g++", "-std=c++20", "-I", case.scratch / "port",
                             *case.includes(None, c=True), "-c",
                             case.root / "lib/c/queue.cpp", "-o", "queue.o")
    case.expect(status != 0 and "another cache line than the port's" in said,
                f"a port with lines of 128 bytes: {said}")


def flto_and_plain_ld(case):
    """embed.md says what is seen, and what helps."""
    case.write("use.c", "#include <klock/klock.h>\n"
               "static struct klock_tas lock;\n"
               "void _start(void) { klock_tas_lock(&lock); }\n")
    case.must("gcc", "-O2", "-ffreestanding", *case.includes(None, c=True),
              "-c", "use.c", "-o", "use.o")
    lto = library(case, "lto", "-O2 -flto", AR="gcc-ar", families="tas")
    status, said = case.call("ld", "use.o", lto, "-o", "kernel")
    words = "plugin needed to handle lto object"
    case.expect(status != 0 and words in said, f"plain ld says: {said}")
    guide = (case.root / "lib/docs/embed.md").read_text()
    case.expect(words in guide, f"embed.md does not know '{words}'")
    case.must("gcc", "-O2", "-flto", "-nostdlib", "-static", "use.o", lto,
              "-o", "kernel")
    fat = library(case, "fat", "-O2 -flto -ffat-lto-objects", AR="gcc-ar",
                  families="tas")
    case.must("ld", "use.o", fat, "-o", "kernel")


CASES = [families_are_chosen, make_notices_changed_flags,
         make_works_with_blanks, pkg_config_works_with_blanks,
         another_cache_line_is_an_error, another_line_of_the_port_is_an_error,
         flto_and_plain_ld]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
