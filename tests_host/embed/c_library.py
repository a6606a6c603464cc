#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""klock.h, libklock.a and lib/c/Makefile: what a kernel in C gets of them, and
that it works. By GCC; c_variants: by clang, for 32 bits and with -flto, each
source compiled alone."""
import functools
import re
import shutil
import tempfile
from pathlib import Path

import cases
import headers
from cases import FREESTANDING, STRICT

PROGRAMS = "tests_host/embed/c"


def library(case, name, flags="-O2", port="x86", **more):
    """Built by the Makefile, as a kernel does it: the archive's path.
    families="tas ...": these alone, where more would show no more."""
    build = case.scratch / name
    words = [f"{key}={value}" for key, value in more.items()]
    case.must("make", "-s", "-j2", "-C", case.root / "lib/c", f"BUILD={build}",
              f"PORT={port}", f"CXXFLAGS={flags}", *words)
    return build / "libklock.a"


KEPT = tempfile.TemporaryDirectory()


@functools.cache
def hosted(case_root, *flags, names=None):
    """All families, or these sources, for programs: one object, in half the
    time, and host_parking. What is not called is left out with what it asks
    for."""
    case = cases.Case(case_root, tempfile.mkdtemp(dir=KEPT.name))
    case.write_c(names)
    for source in ("c.cpp", case.root / "lib/c/host_parking.cpp"):
        case.must("g++", "-std=c++20", "-O0", "-fno-exceptions",
                  "-ffunction-sections", *flags,
                  *case.includes("hosted", c=True), "-c", source)
    case.must("ar", "rcs", "libklock.a", "c.o", "host_parking.o")
    assert not case.wrong, case.wrong
    return case.scratch / "libklock.a"


# -- The headers ---------------------------------------------------------------

def headers_alone(case, cc="gcc", cxx="g++", *flags):
    """Each header for C compiles alone, without a warning, in C and C++; the
    locks have their members in C++, too."""
    for header in sorted((case.root / "lib/c/klock").glob("*.h")):
        case.write("one.c", f"#include <klock/{header.name}>\n"
                   "extern int other;\n")
        case.must(cc, "-std=c11", *flags, *STRICT,
                  *case.includes("x86", c=True), "-fsyntax-only", "one.c")
        case.must(cxx, "-std=c++14", *flags, *STRICT, "-xc++",
                  *case.includes(None, c=True), "-fsyntax-only", "one.c")
    case.must(cxx, "-std=c++20", *flags, *FREESTANDING, *STRICT,
              *case.includes("x86", c=True), "-fno-access-control",
              "-fsyntax-only", case.root / PROGRAMS / "layout.cpp")


def preprocessed(case):
    case.write("all.c", "#include <klock/klock.h>\n")
    return case.must("gcc", *case.includes(None, c=True), "-E", "-P", "all.c")


def public_names_are_prefixed(case):
    """Checks every name that the header puts into C's name spaces, macros too.
    """
    code = preprocessed(case)
    defined = case.must("gcc", *case.includes(None, c=True), "-dM", "-E",
                        "all.c")
    known = case.must("gcc", "-dM", "-E", "-x", "c", "/dev/null")
    for line in set(defined.splitlines()) - set(known.splitlines()):
        case.expect(re.match(r"#define (KLOCK|klock)_", line),
                    f"a macro: {line}")
    code = re.sub(r"__attribute__\(\(.*?\)\)+", "", code)
    words = set(re.findall(r"[A-Za-z_]\w*", code))
    words -= set("struct enum void int unsigned char short long const static "
                 "inline return if sizeof typedef _Bool _Alignof".split())
    # The names of parameters: of no name space that a kernel shares.
    words -= {"lock", "mine", "node", "nodes", "cpu", "cpu_id", "base",
              "before", "file", "line", "name", "index", "usage", "what",
              "lock_name", "lock_address", "count", "data", "from", "into",
              "bytes", "deadline", "cycles", "began", "once", "with", "barrier",
              "expected", "first", "second", "rank", "put", "text", "entered",
              "kcycles", "now", "on", "sub_rank", "ready", "change", "me",
              "until", "units", "thread", "end", "had", "priority", "hands_over",
              "holds", "mutex", "link"}
    for word in sorted(words):
        case.expect(word.startswith("klock_"), f"a name: {word}")
    case.expect(len(words) > 400, f"only {len(words)} names: is it the header?")


WRONG = """\
#include <klock/klock.h>
extern struct klock_ticket_u8 ticket;
extern struct klock_padded_ticket_u8 padded;
extern struct klock_mcs mcs;
extern struct klock_bakery_4 bakery;
extern struct klock_reader_8 reader;
extern struct klock_counted_tas counted;
extern struct klock_mutex mutex;
extern struct klock_inheriting_mutex bus;
extern struct klock_condition changed;
extern struct klock_sleeper me;
extern int other;
void use(void);
void use(void) { LINE }
"""


def wrong_kinds_are_refused(case, cc="gcc"):
    """A verb that the kind has not, or with what another kind wants."""
    for line, wrong in (("klock_lock(&ticket);", False),
                        ("klock_lock(&other);", True),
                        ("klock_lock(&ticket, 0);", True),
                        ("klock_lock(&mcs);", True),
                        ("klock_lock(&bakery);", True),
                        ("klock_lock_shared(&reader);", True),
                        ("klock_lock_shared(&ticket);", True),
                        ("if (klock_try_lock(&padded)) {}", True),
                        ("klock_is_contended(&counted);", True),
                        ("klock_set_base(&ticket, 1);", True),
                        ("klock_downgrade(&ticket);", True),
                        ("klock_upgrade(&reader);", True),
                        ("klock_lock_preempt_off(&ticket);", False),
                        ("klock_lock_preempt_off(&mutex);", True),
                        ("klock_unlock_preempt_on(&mutex);", True),
                        ("klock_sleep(&changed, &me, 0);", False),
                        ("klock_wait_with(&changed, &mutex);", False),
                        ("klock_wait_with(&mutex, &mutex);", True),
                        ("if (klock_lock_irqsave(&mutex)) {}", True),
                        ("if (klock_lock_until(&bus, 0)) {}", False),
                        ("if (klock_lock_until(&mutex, 0)) {}", True),
                        ("if (klock_lock_irqsave(&bus)) {}", True),
                        ("klock_ticket_u8_lock(&padded);", True)):
        case.write("use.c", WRONG.replace("LINE", line))
        status, said = case.call(cc, "-std=c11", *STRICT, "-fsyntax-only",
                                 *case.includes(None, c=True), "use.c")
        case.expect((status != 0) == wrong, f"{cc}: {line}: {said}")


def version_is_the_one(case):
    text = (case.root / "lib/klock/version.hpp").read_text()
    version = ".".join(re.search(rf"version_{part} = (\d+)", text)[1]
                       for part in ("major", "minor", "patch"))
    case.write("v.c", "#include <klock/klock.h>\n#include <stdio.h>\n"
               "int main(void) { return puts(klock_version()) < 0; }\n")
    case.must("gcc", *case.includes(None, c=True), "v.c",
              "-Wl,--gc-sections", hosted(case.root), "-o", "v")
    said = case.must("./v").strip()
    case.expect(said == version, f"klock_version() is {said}, not {version}")
    changes = (case.root / "CHANGELOG.md").read_text()
    case.expect(f"## {version}" in changes, f"CHANGELOG.md has no {version}")


# -- Programs ------------------------------------------------------------------

def says(case, cc, built, source, what, *flags):
    """A test of tests_host/embed, run on the host."""
    case.must(cc, "-std=c11", "-O2", *STRICT, "-pthread", *flags,
              *case.includes(None, c=True), case.root / source, built,
              "-Wl,--gc-sections", "-o", "program")
    said = case.must("./program")
    case.expect(what in said, f"{cc} {source}: {said}")


def programs_in_c(case, cc="gcc", built=None, level="-O0"):
    built = built or hosted(case.root)
    for flags in ((level,), (level, "-DCHECKED")):
        says(case, cc, built, f"{PROGRAMS}/test_c.c",
             "readers meet, writers are alone", *flags)
        says(case, cc, built, f"{PROGRAMS}/test_threads.c",
             "loans are given back", *flags)
    for name, what in (("checked", "every misuse and every deadlock is named"),
                       ("rest", "every wait is counted, all is whole")):
        says(case, cc, built, f"{PROGRAMS}/test_{name}.c", what)
    says(case, cc, built, "tests_host/embed/c_pool/test_spinlock.c",
         "no visit is lost", case.root / "tests_host/embed/c_pool/spinlock.c")
    says(case, cc, built, "tests_host/embed/c_channels/test_channels.c",
         "none is lost", case.root / "tests_host/embed/c_channels/channels.c")


def own_functions_about_threads_win(case):
    """Over the archive's, which are weak and inlined nowhere. Its own are those
    for a host that is no Linux."""
    built = library(case, "sleep", "-O0", "hosted", families="sleep", CXX="g++")
    weak = re.findall(r"(\w+)\.o:\w+ W klock_os_",
                      case.must("nm", "-A", built))
    case.expect(weak == ["host_parking"] * 7, f"weak in {weak}")
    case.must("g++", "-std=c++20", "-O2", *STRICT, "-U__linux__",
              *case.includes("hosted"), "-include", "klock/host_parking.hpp",
              "-xc++", "-c", "/dev/null", "-o", "own.o")
    says(case, "gcc", hosted(case.root), f"{PROGRAMS}/test_c.c",
         "readers meet, writers are alone", "own.o")
    case.expect("syscall" not in case.must("nm", "-u", "program"),
                "the archive's futex is used, too")


def wakes_go_on_behind_the_lock(case):
    """In a library that is made with lib/unparked, and in no other."""
    for name, flags in (("behind", "-O0 -I../unparked"), ("inside", "-O0")):
        built = library(case, name, flags, families="sleep", CXX="g++")
        calls = "klock_os_unparked" in case.must("nm", "-u", built)
        case.expect(calls == (name == "behind"), f"{flags}: calls: {calls}")


# Declarations that the headers' examples use and do not show.
SCENE = """\
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
enum { NCPU = 4, cpu = 0, cpus = 1, one_second = 1000 };
unsigned klock_os_cpu_id(void) { return 0; }
int klock_os_context(void) { return 0; }
void klock_os_preempt_off(void) {}
void klock_os_preempt_on(void) {}
void klock_os_panic(const char *lock, const void *at, unsigned on,
		    const char *what)
{
	fprintf(stderr, "%s %p %u: %s\\n", lock, at, on, what);
	abort();
}
static void print_line(const char *text, void *with) { with || puts(text); }
static int made;
static int make_tables(void *with) { return ++made && !with; }
struct moment { long seconds; };
"""
SCENES = {
    "inheriting": "unsigned long long deadline = klock_deadline_in(1000);",
    "bakery": "static struct klock_timeout_8 lock = KLOCK_TIMEOUT_INIT;",
    "order": "static struct { struct klock_checked_ticket_u8 lock; } page, "
             "*child = &page;",
    "seq": "struct moment now = {1};",
    "sleep": "int is_there = 1;",
}


def header_examples(case):
    """Compiles and runs the examples in the headers for C (headers.py has those
    for C++). A lock's examples are one function, in which what the header says
    of lib/c's objects holds."""
    text, calls = SCENE, ""
    for path in sorted((case.root / "lib/c/klock").glob("*.h")):
        body = []
        for _, code in headers.paragraphs(path):
            code = "\n".join(line for line in code if line.strip() != "...")
            if re.match(r"struct klock_\w+ \*\w+\(void\)", code):
                text += code + "\n"
            else:
                body += [code]
        if body:
            text += "\n".join([f"static int {path.stem}(void)\n{{",
                               SCENES.get(path.stem, ""), *body,
                               "return 0;\n}\n"])
            calls += f" || {path.stem}()"
        text = f"#include <klock/{path.name}>\n" + text
    case.expect(calls.count("|") > 14, f"only {calls}")
    case.write("examples.c", f"{text}int main(void) {{ return 0{calls} || "
               "made != 1; }\n")
    case.must("gcc", "-std=gnu11", *STRICT, "-Wno-unused", "-Wno-pedantic",
              *case.includes(None, c=True), "examples.c",
              "-Wl,--gc-sections", hosted(case.root), "-o", "examples")
    if not case.wrong:
        case.must("./examples")


def interrupts_off_first_back_last(case):
    built = hosted(case.root, "-I", case.root / "tests_host/overlays/told_irqs", names=(
        "cpu", "tickets", "tas", "recursive", "queue", "queued", "bakery",
        "readers"))
    says(case, "gcc", built, f"{PROGRAMS}/test_c.c",
         "off first, back last", "-O0", "-DORDER")


def c_and_cpp_share_one_lock(case, cc="gcc", cxx="g++", built=None,
                             flags=("-O2",)):
    case.must(cc, "-std=c11", *flags, *STRICT, *case.includes(None, c=True),
              "-c", case.root / PROGRAMS / "shared.c", "-o", "c.o")
    case.must(cxx, "-std=c++20", *flags, *STRICT, "-pthread",
              *([] if cc == "gcc" else ["-fuse-ld=lld"]), "-Wl,--gc-sections",
              *case.includes("hosted", c=True), "c.o",
              "-xc++", case.root / PROGRAMS / "shared.c", "-xnone",
              built or hosted(case.root), "-o", "shared")
    said = case.must("./shared")
    case.expect("share one lock" in said, f"{cxx} {flags}: {said}")


# -- The archive ---------------------------------------------------------------

# The port's, the version's and the overlays' words, which a linker keeps once
# (klock/arch/port.hpp).
ONCE = {"klock_two_ports_in_one_program", "klock_two_versions_in_one_program",
        "klock_guards_with_and_without_preempted_in_one_program",
        "klock_locks_with_and_without_unparked_in_one_program"}
# The kernel's.
OS = {"klock_os_cpu_id", "klock_os_context", "klock_os_owner_id",
      "klock_os_panic", "klock_os_lock_order", "klock_os_note",
      "klock_os_thread", "klock_os_park", "klock_os_park_until",
      "klock_os_unpark", "klock_os_unparked", "klock_os_irq_depth",
      "klock_os_preempt_off", "klock_os_preempt_on",
      "klock_os_inheriting_thread", "klock_os_run_with_priority"}
# A host's port asks for these, and so does code that may lie anywhere.
HOST = {"sched_yield", "_GLOBAL_OFFSET_TABLE_"}
# The sources that may ask for what klock/os.hpp names.
ASK = {"once", "queued", "order", "recursive", "sleep", "inheriting",
       "irq_depth", "placed"}


def defined(case, built):
    return set(re.findall(r" T (\w+)", case.must("nm", built))) - ONCE


def declared(case):
    """The declared functions, without the inline functions of klock.h itself.
    """
    code = preprocessed(case)
    inline = set(re.findall(r"static inline [\w\s]+?\b(klock_\w+) ?\(", code))
    return set(re.findall(r"\b(klock_\w+) ?\(", code)) - inline - OS


def archive_is_the_header(case):
    """Each function that is declared is defined, and the reverse; and the
    sources are those of the folder."""
    names, said = defined(case, hosted(case.root)), declared(case)
    case.expect(names == said, "not both declared and defined: "
                f"{sorted(names ^ said)}")
    case.expect(len(names) > 1000, f"only {len(names)} functions")
    sources = set((case.root / "lib/c/sources").read_text().split())
    files = {path.stem for path in (case.root / "lib/c").glob("*.cpp")}
    files.remove("host_parking")
    objects = set(re.findall(r" -c (\w+)\.cpp", case.must(
        "make", "-n", "-C", case.root / "lib/c", f"BUILD={case.scratch}/b")))
    case.expect(sources == files == objects, "lib/c/sources, the folder and "
                f"the archive: {sorted((files ^ objects) | (files ^ sources))}")


def a_kernel_gets_what_it_calls(case):
    built = library(case, "x86", "-O0", families="tas", CXX="g++")
    case.write("use.c", "#include <klock/klock.h>\n"
               "static struct klock_tas lock;\n"
               "void _start(void) { klock_lock(&lock); }\n")
    case.must("gcc", "-O2", "-ffreestanding", *case.includes(None, c=True),
              "-c", "use.c", "-o", "use.o")
    case.must("ld", "--gc-sections", "use.o", built, "-o", "kernel")
    got = defined(case, "kernel") - {"_start"}
    case.expect(got == {"klock_tas_lock"},
                f"a kernel that calls one function got {got}")


def undefined(case, built):
    """[(a source, a name that it asks for)]"""
    lines = [line for line in case.must("nm", "-A", "-u", built).splitlines()
             if " U " in line or " w " in line]
    return [re.search(r":(\w+)[\w.]*\.o: *\w (\S+)", line).groups()
            for line in lines]


def asks_for_no_runtime(case):
    """A program in C needs no more than a host's functions and what
    klock/os.hpp names."""
    built = hosted(case.root)
    asked = {name for source, name in undefined(case, built) if source == "c"}
    case.expect(asked <= OS | HOST, f"undefined: {sorted(asked - OS - HOST)}")
    case.expect({"klock_os_panic", "klock_os_park"} <= asked,
                f"only {sorted(asked)}")
    has_no_start_up_code(case, built)


def has_no_start_up_code(case, built):
    sections = case.must("objdump", "-h", built)
    for name in (".init_array", ".ctors", ".gcc_except_table"):
        case.expect(name not in sections, f"{built.name}: {name}")


def asks_for_nothing(case, built, whose):
    """Checked locks, once, queued locks and what sleeps alone ask for what
    klock/os.hpp names, in sources of their own; none needs a C++ runtime."""
    asked = undefined(case, built)
    for source, name in asked:
        case.expect(name in OS and (source.startswith("checked_") or
                                    source in ASK),
                    f"{whose}: undefined symbol {source}: {name}")
    asking = {source for source, _ in asked}
    case.expect(ASK <= asking, f"{whose}: {asking} ask")
    case.expect(not re.search(r" [TWV] klock_os_", case.must("nm", built)),
                f"{whose}: has functions that are the kernel's")
    has_no_start_up_code(case, built)


# -- embed.md's tables "C against C++" -----------------------------------------

# Verbs that note no caller.
PLAIN = {"init", "is_locked", "is_contended", "set_base", "owner_died"}
# Macros without a function: their verbs differ for two locks; and those of a
# kernel that preempts its threads, which has functions of its own between.
WITH = {f"klock_wait_with{held}{until}" for held in ("", "_irqsave",
                                                     "_preempt_off")
        for until in ("", "_until", "_for")}
PREEMPTED = {f"klock_{verb}{shared}_preempt_{now}"
             for verb, now in (("lock", "off"), ("unlock", "on"),
                               ("try_lock", "off"))
             for shared in ("", "_shared", "_upgradable")}
# Types without verbs: C calls their functions by name.
NO_VERBS = {"seq_count", "once", "barrier"}
# Functions of no lock; those that know their call site are macros of the name.
SITED = {"declare_before", "declare_rank", "might_wait", "might_switch",
         "thread_ends", "none_held_in", "acquired", "released",
         "handler_end"}
REST = {"klock_version", "klock_irq_save", "klock_irq_restore",
        "klock_irqs_enabled", "klock_push_off", "klock_pop_off",
        "klock_push_depth", "klock_irqs_before_push",
        "klock_set_irqs_before_push", "klock_cycles", "klock_check_placed",
        "klock_print_held",
        "klock_print_counts", "klock_reset_counts",
        "klock_declare_harmless", "klock_handler_begin", "klock_set_checks",
        "klock_note_long_waits", "klock_order_is_checked",
        "klock_inheriting_thread_init", "klock_inheriting_thread_ends",
        "klock_priority_changed", "klock_lock_order_8_noted", "klock_lock_order_64_noted",
        *(f"klock_{name}_at" for name in SITED),
        *(f"klock_lock_order_{classes}" for classes in (8, 64, 256))}
# Verbs of every checked lock.
USAGE = {"set_name", "set_element", "is_held_by_me", "assert_held", "nest",
         "set_sub_rank", "unnest", "might_wait_with",
         "handed_over"}
# Structures that are no locks.
PARTS = {"usage", "shared_usage", "sleeper", "inheriting_thread", "mcs_node",
         "clh_node", "clh_cell", "counts",
         "waits", "shared_counts", "readers_counts", "reader_line",
         "timeout_slot", "timeout_record", "irq_depth"}


def rows(case, start):
    """The cells of the table behind that line."""
    text = (case.root / "lib/docs/embed.md").read_text()
    table = text.partition(start)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")]
            for line in table.strip().splitlines()[2:]]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def locks_of(case):
    """{name of a lock: its verbs}, and the other functions."""
    locks = {name: set() for name in re.findall(
        r"struct \S*\(.*?\)\) klock_(\w+) \{",
        re.sub(r"aligned\(\w+\)", "", preprocessed(case)))
        if name not in PARTS}
    rest = set()
    for name in declared(case):
        fits = [lock for lock in locks if name.startswith(f"klock_{lock}_")]
        if fits:
            lock = max(fits, key=len)
            locks[lock].add(name.removeprefix(f"klock_{lock}_"))
        else:
            rest.add(name)
    return locks, rest


def table_is_the_header(case):
    """The table has each lock of the header, and its name in C++. verbs.py knows
    which verbs it has."""
    locks, rest = locks_of(case)
    text = "".join((case.root / f"lib/c/klock/{name}.hpp").read_text()
                   for name in ("c_lock", "c_counted_lock"))
    is_cpp = dict(re.findall(r"KLOCK_C_IS\((\w+),\s+([\w<>]+)\);", text))
    told = {}
    for c, cpp in rows(case, "<!-- locks in C: tests_host/embed/"
                       "c_library.py -->\n"):
        case.expect(len(quoted(c)) == len(quoted(cpp)),
                    f"not side by side: {c}")
        told |= zip(quoted(c), quoted(cpp))
    for name in sorted(told):
        case.expect(is_cpp.get(name) == told[name], f"{name} is no "
                    f"{told[name]}, but {is_cpp.get(name)}")
    there = {name for name in locks if not name.startswith("checked_")}
    case.expect(there == told.keys(), "not in both, the guide and the header: "
                f"{sorted(there ^ told.keys())}")
    case.expect(rest == REST | {f"klock_usage_{name}" for name in USAGE},
                f"functions of no lock: {sorted(rest)}")


def each_verb_has_every_form(case):
    """In the table of verbs, for any kind in klock.h, and checked: with the
    caller's file and line, and with the code address."""
    locks, _ = locks_of(case)
    locks = {name: verbs - {"node_init"} for name, verbs in locks.items()
             if name not in NO_VERBS}
    verbs = set().union(*(verbs for name, verbs in locks.items()
                          if not name.startswith("checked_")))
    said = set()
    for c, _ in rows(case, "### C against C++\n\n"):
        said |= set(re.findall(r"(klock_\w+)\(", c))
    wanted = REST | WITH | PREEMPTED | {f"klock_{name}" for name in SITED}
    counted = {"set_name", "set_element", "list_counts", "forget_counts"}
    wanted |= {f"klock_X_{verb}" for verb in counted}
    wanted |= {f"klock_{verb}" for verb in verbs - counted}
    case.expect(said == wanted, f"not in both: {sorted(said ^ wanted)}")
    macros = set(re.findall(r"#define (klock_\w+)\(", case.must(
        "gcc", *case.includes(None, c=True), "-dM", "-E", "all.c")))
    sited = {f"klock_{verb}{at}" for verb in verbs - counted - PLAIN
             for at in ("", "_at")}
    macros ^= sited | {f"klock_{verb}" for verb in PLAIN}
    macros ^= {f"klock_checked_{name}" for name in USAGE}
    macros ^= WITH | {f"klock_{name}" for name in SITED}
    macros ^= {f"{name}{at}" for name in PREEMPTED for at in ("", "_at")}
    macros ^= {"klock_why_ended"}  # it is a function, too
    case.expect(not macros, f"macros of nothing, or none: {sorted(macros)}")
    for name, has in locks.items():
        if not name.startswith(("checked_", "counted_")):
            checked = locks.get(f"checked_{name}", set())
            case.expect(checked == has | {f"{verb}_at" for verb in has - PLAIN},
                        f"checked_{name} has {sorted(checked)}")


# -- The Makefile --------------------------------------------------------------

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
    """The output of pkg-config is quoted for a shell, as make and eval expect.
    """
    if not shutil.which("pkg-config"):
        return
    prefix = case.scratch / "my klock"
    text = (case.root / "lib/klock-c.pc.in").read_text()
    for name, value in (("KLOCK_PREFIX", prefix), ("KLOCK_VERSION", "1"),
                        ("KLOCK_PC_INCLUDES", "${prefix}/include"),
                        ("KLOCK_PC_LIBRARIES", "${prefix}/lib"),
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


def families_are_chosen(case):
    """`families` builds those that are chosen, with all that they need, and no
    file beside the sources."""
    def chosen(families):
        said = case.must("make", "-n", "-C", case.root / "lib/c",
                         f"BUILD={case.scratch}/b", f"families={families}")
        return set(re.findall(r" -c (\w+)\.cpp", said))

    for families, sources in (
            ("tickets", "tickets"),
            ("tickets checked", "tickets order checked_tickets"),
            ("queue", "queue queued"), ("sequences", "sequences once"),
            ("inheriting checked", "inheriting order checked_inheriting"),
            ("tas counted", "tas counted queued")):
        case.expect(chosen(families) ==
                    {"cpu", "irq_depth", "placed", *sources.split()},
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


HIGHER_HALF = """\
#include <klock/klock.h>
#include <klock/checked.h>
#include <klock/counted.h>
static struct klock_checked_ticket_u8 log =
	KLOCK_CHECKED_INIT("log", KLOCK_TICKET_INIT);
static struct klock_counted_ticket_u8 counted;
static struct klock_checked_queued_64 queued;
unsigned klock_os_cpu_id(void) { return 0; }
int klock_os_context(void) { return 0; }
void klock_os_panic(const char *a, const void *b, unsigned c, const char *d)
{
	for (;;)
		;
}
void *memset(void *at, int value, unsigned long size)
{
	for (volatile char *to = at; size > 0; size--)
		*to++ = value;
	return at;
}
void _start(void)
{
	klock_lock(&log);
	klock_lock(&counted);
	klock_lock(&queued);
}
"""
# Prefix, port, where it is linked, the kernel's flags
HALVES = (
    ("", "x86", 0xffffffff80100000, "-mcmodel=kernel"),
    ("", "x86", 0xffff800000100000, "-mcmodel=large"),
    ("aarch64-linux-gnu-", "aarch64", 0xffff000040200000, "-mcmodel=small"),
    ("riscv64-linux-gnu-", "riscv", 0xffffffc080200000, "-mcmodel=medany"))


def kernels_of_each_port(case):
    """In higher halves; functions that the kernel has not are weak, and out of
    reach there. (RISC-V's machine mode: first-debug-build.md boots it.)"""
    for prefix, port, base, flags in HALVES:
        if not shutil.which(f"{prefix}g++"):
            continue
        built = library(case, f"{port}{base:x}", f"-O0 {flags}", port,
                        families="tickets queue checked counted",
                        CXX=f"{prefix}g++", AR=f"{prefix}ar")
        case.write("half.c", HIGHER_HALF)
        case.must(f"{prefix}gcc", "-O1", "-ffreestanding", "-fno-pic",
                  "-fno-stack-protector", *flags.split(),
                  *case.includes(None, c=True), "-c", "half.c", "-o", "half.o")
        case.must(f"{prefix}ld", "-static", "-nostdlib", "--gc-sections",
                  "-e", "_start", f"-Ttext={base:#x}", "half.o", built, "-o",
                  "half")
        header = case.must("readelf", "-h", "half")
        case.expect("UNIX - System V" in header,
                    f"{port}: the kernel's OS/ABI: {header}")
    status, said = case.call("make", "-s", "-C", case.root / "lib/c",
                             f"BUILD={case.scratch}/none", "PORT=risc")
    case.expect(status != 0 and "no port: risc; make help" in said,
                f"PORT=risc: {said}")


def riscv_turns_off_its_modes_interrupts(case):
    if not shutil.which("riscv64-linux-gnu-g++"):
        return
    for port, own, other in (("riscv", "sstatus", "mstatus"),
                             ("riscv_machine", "mstatus", "sstatus")):
        built = library(case, port, "-O1", port, families="tas",
                        CXX="riscv64-linux-gnu-g++", AR="riscv64-linux-gnu-ar")
        code = case.must("riscv64-linux-gnu-objdump", "-d", built)
        case.expect(own in code and other not in code,
                    f"{port}: not {own} alone")


LINE_128 = """\
#include <klock/padded_ticket_lock.hpp>
static_assert(klock::cache_line == 128);
static_assert(alignof(klock::padded_ticket_lock<klock::u8>) == 128);
"""


def aarch64_has_lines_of_128(case):
    case.write("line.cpp", LINE_128)
    case.must("clang++", "--target=aarch64-none-elf", "-std=c++20",
              "-ffreestanding", "-nostdinc++", "-fsyntax-only", "-I",
              case.root / "lib/arch/aarch64/line_128",
              *case.includes("aarch64"), "line.cpp")


# -- Level full: by clang, for 32 bits, with -flto -----------------------------

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


def headers_of_each(case):
    for cc, cxx, *flags in (("clang", "clang++"), ("gcc", "g++", "-m32"),
                            ("clang", "clang++", "-m32")):
        headers_alone(case, cc, cxx, *flags)
    case.write("use.c", LTO)
    for cc in ("gcc", "clang"):
        case.must(cc, "-std=c17", *STRICT, *case.includes(None, c=True),
                  "-fsyntax-only", "use.c")
    wrong_kinds_are_refused(case, "clang")


def members_on_each_machine(case):
    """A port may give a lock's flags another size: RISC-V's does."""
    for machine, own in (("riscv64", "riscv"), ("aarch64", "aarch64")):
        cxx = f"{machine}-linux-gnu-g++"
        if not shutil.which(cxx):
            continue
        for port in (own, "hosted"):
            case.must(cxx, "-std=c++20", *STRICT,
                      *case.includes(port, c=True), "-fno-access-control",
                      "-fsyntax-only", case.root / PROGRAMS / "layout.cpp")


def archive_of_32_bits_asks_for_nothing(case):
    """Clang's: bare_toolchain, links without a library."""
    built = library(case, "x86", " ".join([*FREESTANDING, *STRICT, "-m32"]),
                    CXX="g++")
    asks_for_nothing(case, built, "g++ -m32")


def programs_by_clang(case):
    built = library(case, "clang", f"-O2 {' '.join(STRICT)}", "hosted",
                    CXX="clang++")
    programs_in_c(case, "clang", built, "-O2")
    c_and_cpp_share_one_lock(case, "clang", "clang++", built)


def with_link_time_optimization(case):
    """C calls of C++ code vanish; structures that C wrote are read."""
    case.write("use.c", LTO)
    for cc, cxx, linker, ar in (("gcc", "g++", "bfd", "gcc-ar"),
                                ("clang", "clang++", "lld", "ar")):
        # lld needs no index of what clang made.
        built = library(case, cc, "-O2 -flto", "hosted", CXX=cxx, AR=ar,
                        families="tickets queue")
        c_and_cpp_share_one_lock(case, cc, cxx, built,
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


CASES = {
    "c_library": [
        headers_alone, public_names_are_prefixed, wrong_kinds_are_refused,
        version_is_the_one, programs_in_c, header_examples,
        c_and_cpp_share_one_lock,
        archive_is_the_header, a_kernel_gets_what_it_calls, asks_for_no_runtime,
        table_is_the_header, each_verb_has_every_form],
    "c_make": [
        families_are_chosen, make_notices_changed_flags,
        make_works_with_blanks, pkg_config_works_with_blanks,
        another_cache_line_is_an_error, another_line_of_the_port_is_an_error,
        flto_and_plain_ld, aarch64_has_lines_of_128],
    "c_variants": [
        own_functions_about_threads_win, wakes_go_on_behind_the_lock,
        interrupts_off_first_back_last,
        headers_of_each, members_on_each_machine,
        archive_of_32_bits_asks_for_nothing, programs_by_clang,
        with_link_time_optimization, kernels_of_each_port,
        riscv_turns_off_its_modes_interrupts],
}

if __name__ == "__main__":
    cases.main(CASES, __doc__)
