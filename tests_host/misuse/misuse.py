#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A newcomer's mistake ends in one error that says what to do.

The C++ files beside say it of themselves: clang compares its messages with
those in comments (clang -verify), g++ must complain of the same lines, and both
take the rest without a word. What a linker or CMake finds is below. A part of
a file (WRONG) holds no two cases that are one instantiation to a compiler.
Run: misuse.py --root DIR [--only CASE...]
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "toolchain"))
import tool

HERE = Path(__file__).resolve().parent
COMPILERS = ("g++", "clang++")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
          "-Wsign-conversion", "-Wshadow", "-Wredundant-decls",
          "-Wctad-maybe-unsupported", "-Werror"]
# g++ or clang alone has these.
OWN = {"g++": ["-Wnull-dereference", "-Warith-conversion"],
       "clang++": ["-Wcomma"]}
FREESTANDING = ["-ffreestanding", "-nostdinc++", "-fno-exceptions",
                "-fno-rtti", "-fno-threadsafe-statics"]
VERIFY = ["-Xclang", "-verify-ignore-unexpected=note", "-ferror-limit=0"]
EACH_KIND = """#include <klock/irq_guard.hpp>
#include <klock/mutex.hpp>
#include <klock/ticket_lock.hpp>
"""

# file: folders of lib to include from, flags, flags of clang's alone
FILES = {
    "guards.cpp": (["arch/hosted"], [], []),
    "readers.cpp": (["arch/hosted"], [], []),
    "types.cpp": (["analysis", "arch/hosted"], [], []),
    "counts.cpp": (["arch/x86"], FREESTANDING, []),
    "model.cpp": (["model_std/include", "model/include", "arch/hooked"], [], []),
    "analysis.cpp": (["analysis", "arch/x86"], [], ["-Wthread-safety"]),
}

# case: compilers, port, flags
PORTS = [
    ("none", COMPILERS, [], ["-std=c++20"]),
    ("hosted", COMPILERS, ["arch/hosted"], ["-std=c++20", "-ffreestanding"]),
    ("x86", COMPILERS[1:], ["arch/x86"],
     ["-std=c++20", "-ffreestanding", "--target=aarch64-none-elf"]),
    ("packed", COMPILERS, ["arch/x86"],
     ["-std=c++20", "-fpack-struct=1", "-Wno-pragma-pack"]),
    ("small", COMPILERS[1:], ["arch/hooked"],
     ["-std=c++20", "-ffreestanding", "--target=avr"]),
    ("cxx17", COMPILERS, ["arch/x86"], ["-std=c++17"]),
    ("cxx17", COMPILERS, ["arch/hosted"], ["-std=c++17"]),
    ("cxx17", COMPILERS, ["arch/hooked"], ["-std=c++17"]),
]


class Case:
    """A folder of its own, and what was not as it should be."""

    def __init__(self, root, scratch):
        self.root, self.scratch, self.wrong = root, Path(scratch), []

    def call(self, *command):
        done = subprocess.run([str(word) for word in command],
                              cwd=self.scratch, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def must(self, *command):
        status, said = self.call(*command)
        self.expect(status == 0, f"{command[0]} {command[-1]}: {said}")
        return said

    def expect(self, holds, text):
        if not holds:
            self.wrong.append(text)

    def includes(self, *folders):
        lib = self.root / "lib"
        return [word for folder in (*folders, ".")
                for word in ("-I", lib / folder)]


def _complained_of(said, file):
    """The lines of a file that g++ names, itself or as what it comes from."""
    return {int(line) for line in re.findall(
        rf"{file}:(\d+):\d+: (?:fatal )?(?:error:|warning:|  required from)",
        said)}


def _marked(text, part):
    """The lines of one part, and of those its cases: the ones with a mark, or
    with one in a comment above."""
    within, above, lines, marked = False, False, set(), set()
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(("#if", "#endif")):
            within = line.startswith(f"#if WRONG == {part}")
        elif within:
            lines.add(number)
            is_comment = line.lstrip().startswith("//")
            if not is_comment and ("says-" in line or above):
                marked.add(number)
            above = is_comment and "says-" in line and (
                "@+1" in line or "says-error@*" in line or above)
    return lines, marked


def _is_one_error(status, said):
    return status != 0 and len(re.findall(r"\berror: ?", said)) == 1


def _difference(said, file, text, part):
    """Empty if g++ complains of the marked lines of a part, and no others."""
    lines, marked = _marked(text, part)
    found = _complained_of(said, file) & lines
    return "" if marked and found == marked else (
        f"complains of {sorted(found)}, not of {sorted(marked)}")


def _by_clang(case, file, part):
    """Compares clang's messages. Returns the command, without its compiler."""
    folders, flags, clangs = FILES[file]
    source = HERE / file
    command = ["-std=c++20", "-Wall", "-Wextra", "-Wno-unused-variable",
               "-fsyntax-only", f"-DWRONG={part}", *flags,
               *case.includes(*folders), source]
    if f"#if WRONG == {part} /* -m32 */" in source.read_text():
        command.insert(0, "-m32")
    case.must("clang++", "-Xclang", "-verify=says", *VERIFY, *clangs, *command)
    return command


def _wrong(case, file, part):
    """One part of a file: clang's messages, and the lines of g++'s."""
    command = _by_clang(case, file, part)
    if FILES[file][2]:
        # It compiles without that warning, and with g++.
        for compiler in COMPILERS:
            case.must(compiler, "-Werror", *command)
        return
    _, said = case.call("g++", *command)
    wrong = _difference(said, file, (HERE / file).read_text(), part)
    case.expect(not wrong, f"g++: {file}, part {part}: {wrong}:\n{said}")


MARKED = """#if WRONG == 1
	first(); // says-error {{no}}
	second();
	third(); // says-error {{no}}
#endif
	fourth();
"""
# The lines of MARKED that a compiler complains of, and whether that is right.
JUDGED = [((2, 4), True), ((2, 4, 6), True), ((2,), False), ((), False),
          ((2, 3, 4), False), ((3,), False)]


def judge_is_right(case):
    """A line less, a line more, an error more: none passes."""
    for lines, right in JUDGED:
        said = "".join(f"a.cpp:{line}:1: error: no\n" for line in lines)
        case.expect(right != bool(_difference(said, "a.cpp", MARKED, 1)),
                    f"judged wrong: {lines} of {MARKED}")
    case.expect(_difference("", "a.cpp", "#if WRONG == 1\n#endif\n", 1),
                "judged wrong: a part without a mark")
    for status, errors, right in ((1, 1, True), (0, 1, False), (1, 0, False),
                                  (1, 2, False)):
        case.expect(right == _is_one_error(status, "a.cpp:1:1: error: no\n" *
                                           errors),
                    f"judged wrong: status {status}, {errors} errors")


def first_wrong_is_found(case):
    """In level test: the first part of each file has most of it."""
    for file in FILES:
        _by_clang(case, file, 1)


def wrong_is_found(case):
    for file in FILES:
        parts = (HERE / file).read_text().count("\n#if WRONG == ")
        case.expect(parts, f"{file}: nothing wrong in it")
        for part in range(1, parts + 1):
            _wrong(case, file, part)


MISTAKES = """#include <klock/bakery_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/condition.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/leveled.hpp>
#include <klock/mutex.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/semaphore.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/annotated.hpp>
using namespace klock;
ticket_lock<u8> lock;
const ticket_lock<u8> fixed;
clh_lock clh;
bakery_lock<4> bakery;
irq_lock<ticket_lock<u8>> irq;
const irq_lock<ticket_lock<u8>> fixed_irq;
leveled<ticket_lock<u8>, 2> level;
annotated_lock<ticket_lock<u8>> read;
const leveled<ticket_lock<u8>, 2> fixed_level;
leveled<phase_fair_lock<u8>, 2> files;
phase_fair_lock<u8> tables;
mutex door;
semaphore units;
condition changed;
int number;
"""
NOT_HELD = "nobody holds it, so it has no guard: acquire() and release() a "
CONST = "a const lock, or a temporary one, cannot be taken"

# A typical mistake, and what the first error says.
TYPICAL = [
    ("guard held(changed);", NOT_HELD),
    ("irq_guard held(units);", NOT_HELD),
    ("guard held(fixed);", CONST),
    ("guard held(ticket_lock<u8>{});", CONST),
    ("irq_guard held(fixed_irq);", CONST),
    ("guard held(fixed_level);", CONST),
    ("try_guard held(ticket_lock<u8>{});", CONST),
    ("shared_guard held(phase_fair_lock<u8>{});", CONST),
    ("rescue_guard held(fixed);", CONST),
    ("rescue_guard held(units);", NOT_HELD),
    ("rescue_guard held(level);", "held(lock.without_level())"),
    ("guard held(&lock);", "a pointer: a guard takes the lock itself"),
    ("guard held(number); changed.wait(held);", "not a lock"),
    ("upgradable_guard held(files); held.upgrade();", "by level_guard"),
    ("level_guard held(nothing_held{}, lock);", "a leveled lock"),
    ("level_guard held(nothing_held{}, fixed_level);", "that is not const"),
    ("auto copy = lock; (void)copy;", "deleted"),
    ("mutex copy(door); (void)copy;", "deleted"),
    ("level_guard held(level);", "level_guard takes a token first"),
    ("guard held(clh);", "bring one: guard held(lock, node)"),
    ("guard held(read);", "an annotated_lock is taken by annotated_guard"),
    ("irq_guard held(read);", "taken by annotated_guard"),
    ("shared_try_guard held(read);", "taken by annotated_guard"),
    ("rescue_guard held(read);", "taken by annotated_guard"),
    ("guard held(irq);", "an irq_lock is taken by irq_guard"),
    ("irq_guard held(door);", "is taken with interrupts on: guard"),
    ("guard held(lock, 1);", "neither a node nor a number: guard held(lock)"),
    ("shared_guard held(lock);", "this lock has no lock_shared()"),
    ("try_guard held(bakery);", "this lock has no try_lock()"),
    ("guard held(lock); held.downgrade();", "this lock has no downgrade()"),
    ("shared_guard held(tables); held.downgrade();", "a reader has nothing"),
]


def _without_excerpts(lines):
    """Leaves out the source that GCC 13 and later show below each "required
    from", which GCC 12 and clang do not."""
    called = False
    for line in lines:
        is_excerpt = re.match(r"\s+\d* \|", line)
        if not (called and is_excerpt):
            yield line
        called = "required from" in line or (called and is_excerpt)


def errors_are_short(case):
    """A typical mistake is one error of at most 15 lines, which names it. In
    level test, g++'s."""
    _errors_are_short(case, COMPILERS[:1])


def errors_of_others_are_short(case):
    _errors_are_short(case, COMPILERS[1:])


def _errors_are_short(case, compilers):
    for number, (statement, says) in enumerate(TYPICAL):
        source = case.scratch / f"mistake{number}.cpp"
        source.write_text(f"{MISTAKES}void f()\n{{\n\t{statement}\n}}\n")
        for compiler in compilers:
            status, said = case.call(
                compiler, "-std=c++20", "-Wall", "-Wextra", "-fsyntax-only",
                *case.includes("analysis", "arch/hosted"), source)
            lines = [*_without_excerpts(said.splitlines())]
            errors = [line for line in lines if "error: " in line]
            case.expect(status and len(lines) <= 15 and len(errors) == 1 and
                        says in errors[0],
                        f"{compiler}: {statement} {len(lines)} lines, "
                        f"{len(errors)} errors:\n{said}")


def right_is_silent(case):
    for file, (folders, flags, clangs) in FILES.items():
        for compiler in COMPILERS:
            said = case.must(compiler, "-std=c++20", *STRICT, "-fsyntax-only",
                             *flags, *(clangs if compiler != "g++" else []),
                             *case.includes(*folders), HERE / file)
            case.expect(not said, f"{compiler}: {file}: {said}")


def _write_library(case):
    """The library for C as one file."""
    (case.scratch / "library.cpp").write_text("".join(
        f'#include "{case.root}/lib/c/{name}.cpp"\n'
        for name in (case.root / "lib/c/sources").read_text().split()))


# Makes each class of the list of locks: g++ compares the names in a class
# template with globals no sooner.
EACH_LOCK = """#include <klock/selftest/locks.hpp>
static_assert([] {
	bool made = true;
	klock::selftest::all_locks<4>::for_each([&]<typename Subject>() {
		made = made && sizeof(typename Subject::lock);
	});
	return made;
}());
"""


def _enumerators(headers):
    """The names of all enumerators in these headers."""
    for header in headers:
        code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for names in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", code):
            yield from re.findall(r"[a-z]\w*(?=\s*(?:[=,]|$))", names)


def headers_are_silent(case):
    """All of them, in both orders: one's names hide no other's, and no global of
    the kernel's. The library for C, which makes code of them, is optimised: some
    warnings come no sooner."""
    folder = case.root / "lib/klock"
    headers = sorted(path.name for path in folder.glob("*.hpp"))
    names = {"v", "b", *_enumerators(folder.rglob("*.hpp"))}
    case.expect("abandoned" in names, "timeout_lock's enumerators are not found")
    globals_ = f"extern int {', '.join(sorted(names))};\n"
    _write_library(case)
    for cxx in COMPILERS:
        command = [cxx, "-std=c++20", *STRICT, *OWN[cxx], "-O2"]
        for order in (headers, headers[::-1]):
            (case.scratch / "all.cpp").write_text(globals_ + "".join(
                f"#include <klock/{name}>\n" for name in order) + EACH_LOCK)
            case.must(*command, "-fsyntax-only", *case.includes("arch/x86"),
                      "all.cpp")
        case.must(*command, "-c", *case.includes("c", "arch/hosted"),
                  "library.cpp")


def in_c(case):
    command = ["-x", "c", "-std=c11", "-fsyntax-only", *case.includes("c"),
               HERE / "counts.c"]
    case.must("gcc", *command)
    for part in (1, 2, 3):
        case.must("clang", f"-DWRONG={part}", "-Wno-pragma-pack", "-Xclang",
                  "-verify=says", *VERIFY, *command)
    for target in ("avr", "msp430"):
        status, said = case.call("clang", f"--target={target}", "-ffreestanding",
                                 *command)
        case.expect(_is_one_error(status, said) and
                    '"klock is for CPUs of 32 and 64 bits"' in said,
                    f"{target}: {said}")
    # A kernel whose C++ files have lib/preempted links the library as it is.
    _write_library(case)
    said = case.must("g++", "-std=c++20", "-E", *case.includes("c", "arch/x86"),
                     "library.cpp")
    case.expect("klock_irq_depth" in said and "klock_guards_with" not in said,
                "the library for C has guards, which lib/preempted changes")


def port_and_language(case):
    for name, compilers, folders, flags in PORTS:
        for first in ([], ["-DFIRST=<klock/irq_guard.hpp>"]):
            for compiler in compilers:
                command = [*flags, *first, "-fsyntax-only",
                           *case.includes(*folders), HERE / "port.cpp"]
                if compiler != "g++":
                    case.must(compiler, "-Xclang", f"-verify={name}", *VERIFY,
                              *command)
                    continue
                status, said = case.call(compiler, *command)
                case.expect(_is_one_error(status, said),
                            f"g++: {name}: not one error: {said}")


def _host_links(cxx):
    """Yields flags of a compiler, and the commands that link what they made.
    """
    own = "bfd" if cxx == "g++" else "lld"
    yield [], [[cxx, f"-fuse-ld={name}"] for name in ("bfd", "lld", "gold")
               if shutil.which(f"ld.{name}")]
    yield ["-flto"], [[cxx, "-flto", f"-fuse-ld={own}"]]


def _two_in_one_program(case, compiler, links, port, other, symbols):
    """Two files that are compiled with the include paths `port` link; with a
    third, compiled with `other`, no linker links them, and names `symbols`."""
    text = EACH_KIND + ("static klock::ticket_lock<klock::u8> lock;\n"
                     "int NAME() { lock.lock(); lock.unlock(); return 0; }\n")
    for name in ("one", "same", "other"):
        (case.scratch / f"{name}.cpp").write_text(text.replace("NAME", name))
    (case.scratch / "main.cpp").write_text(
        "int one();\nint main() { return one(); }\n")
    for name in ("one", "same", "other", "main"):
        case.must(*compiler, "-std=c++20",
                  *(other if name == "other" else port),
                  "-c", f"{name}.cpp", "-o", f"{name}.o")
    for link in links:
        link = [*link, "-o", "program", "main.o", "one.o"]
        case.must(*link, "same.o")
        status, said = case.call(*link, "other.o")
        found = [line for line in said.splitlines()
                 if re.search(r"\b[Ee]rror: (?!ld ret)|multiple def", line)
                 and not re.search("linker command|lto-wrapper", line)]
        files = all(name in said for name in ("one.o", "other.o"))
        case.expect(status and len(found) == 1 and
                    all(symbol in found[0] for symbol in symbols) and
                    (files or "-flto" in compiler),
                    f"{compiler} {link}: not one error that names {symbols} "
                    f"and both files: {said}")


def _two_on_the_host(case, port, other, symbols):
    for cxx in COMPILERS:
        for flags, links in _host_links(cxx):
            _two_in_one_program(case, [cxx, *flags], links, port, other,
                                symbols)


def two_ports_in_one_program(case):
    _two_on_the_host(case, case.includes("arch/hosted"),
                     case.includes("arch/x86"),
                     ["klock_two_ports_in_one_program"])


def two_versions_in_one_program(case):
    """The version stands in two headers: changing it in one alone is an error.
    """
    later = Case(case.scratch, case.scratch)
    shutil.copytree(case.root / "lib", case.scratch / "lib")
    for header, before in (
            ("version.hpp", r"(patch = )"),
            ("detail/one_version.hpp", r"(klock_version_\d+_\d+_)")):
        status, said = case.call("g++", "-std=c++20", *later.includes(
            "arch/hosted"), "-fsyntax-only", HERE / "port.cpp")
        case.expect((status == 0) == (header == "version.hpp"), said)
        path = case.scratch / "lib/klock" / header
        path.write_text(re.sub(before, r"\g<1>1", path.read_text()))
    _two_on_the_host(case, case.includes("arch/hosted"),
                     later.includes("arch/hosted"),
                     ["klock_two_versions_in_one_program"])


# The linker's line names the overlay, and what it replaces.
OVERLAYS = {
    "arch/aarch64/line_128": ["cache_lines_of_64", "128"],
    "arch/riscv/machine": ["machine", "supervisor_mode"],
    "preempted": ["with_and_without_preempted"],
    "unparked": ["with_and_without_unparked"],
}
# A port's CPU, and what its compilers need so that any linker links.
CPUS = {
    "arch/aarch64": ("aarch64", "-mno-outline-atomics"),
    "arch/riscv": ("riscv64", "-mno-relax"),
}


def _overlays(lib):
    """The folders that have a header of lib's or of their port's once more."""
    for path in lib.rglob("klock/**/*.hpp"):
        folder = path.relative_to(lib).as_posix().partition("klock/")[0]
        name = path.relative_to(lib / folder)
        port = Path(*Path(folder).parts[:2])
        behind = {lib, lib / port} - {lib / folder}
        if any((other / name).is_file() for other in behind):
            yield folder.rstrip("/")


def two_overlays_in_one_program(case):
    """Each overlay is refused in one file of a program alone, by the compilers
    and linkers of its port's CPU."""
    found = {*_overlays(case.root / "lib")}
    case.expect(found == {*OVERLAYS}, f"not in the table: "
                f"{sorted(found ^ {*OVERLAYS})}")
    for overlay in sorted(found & {*OVERLAYS}):
        says = OVERLAYS[overlay]
        if not overlay.startswith("arch/"):
            for port in ("arch/hosted", "arch/x86"):
                _two_on_the_host(case, case.includes(port),
                                 case.includes(overlay, port), says)
            continue
        port = "/".join(overlay.split("/")[:2])
        cpu, flag = CPUS[port]
        prefix = f"{cpu}-linux-gnu-"
        links = [[linker] for linker in (f"{prefix}ld", f"{prefix}ld.gold",
                                         "ld.lld") if shutil.which(linker)]
        for compiler in ([f"{prefix}g++"],
                         ["clang++", f"--target={cpu}-none-elf"]):
            if shutil.which(compiler[0]):
                _two_in_one_program(
                    case, [*compiler, *FREESTANDING, flag], links,
                    case.includes(port), case.includes(overlay, port), says)


def two_ports_in_cmake(case):
    """Also: the folder lib can be added alone."""
    (case.scratch / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
add_subdirectory({case.root}/lib klock)
file(WRITE user.cpp "int main() {{}}")
add_library(part INTERFACE)
target_link_libraries(part INTERFACE klock::x86)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE part klock::hosted)
""")
    status, said = case.call("cmake", "-S", ".", "-B", "build")
    words = " ".join(said.split())
    case.expect(status and said.count("CMake Error") == 1 and
                "KLOCK_PORT" in words and '"klock_hosted"' in words,
                f"not one error that names the port: {said}")


def wrong_version(case):
    case.must("cmake", "-S", case.root, "-B", "build", "-D", "KLOCK_TESTS=OFF",
              "-D", "KLOCK_ENGINES=OFF")
    version = next(case.scratch.rglob("klockConfigVersion.cmake"))
    major, minor, _ = map(int, re.findall(
        r"version_\w+ = (\d+)",
        (case.root / "lib/klock/version.hpp").read_text()))
    for major, minor, fits in ((major, minor, "TRUE"),
                               (major, minor + 1, "FALSE"),
                               (major + 1, 0, "FALSE")):
        (case.scratch / "ask.cmake").write_text(f"""
set(PACKAGE_FIND_VERSION {major}.{minor})
set(PACKAGE_FIND_VERSION_MAJOR {major})
set(PACKAGE_FIND_VERSION_MINOR {minor})
include({version})
message(STATUS "fits: ${{PACKAGE_VERSION_COMPATIBLE}}")
""")
        said = case.must("cmake", "-P", "ask.cmake")
        case.expect(f"fits: {fits}" in said, f"{major}.{minor}: {said}")


def exceptions_are_fine(case):
    """With exceptions on, a guard unlocks as one passes. The kernel must have
    the personality function that a destructor may need, and nothing else."""
    for cxx in COMPILERS:
        case.must(cxx, "-std=c++20", *STRICT, *case.includes("arch/hosted"),
                  HERE / "run.cpp", "-o", "user")
        case.must("./user")
        case.must(cxx, "-std=c++20", "-O2", *FREESTANDING, "-fexceptions",
                  "-frtti", "-DKERNEL", "-fno-stack-protector",
                  *case.includes("arch/x86"), "-c",
                  HERE / "run.cpp", "-o", "kernel.o")
        undefined = set(case.must("nm", "-u", "kernel.o").split())
        undefined -= {"U", "__gxx_personality_v0", "_GLOBAL_OFFSET_TABLE_"}
        case.expect(not undefined, f"{cxx} needs {undefined}")


def stray_unlock_is_the_guards_line(case):
    """The report of a lock that was released under its guard names the guard's
    line."""
    source = HERE / "run.cpp"
    line = 1 + source.read_text().partition("the line to be named")[0].count(
        "\n")
    for cxx in COMPILERS:
        for guard in ("guard", "irq_guard"):
            case.must(cxx, "-std=c++20", f"-DGUARD={guard}",
                      *case.includes("arch/hosted"), source, "-o", "stray")
            said = case.must("./stray")
            case.expect(f"run.cpp:{line}" in said and
                        "guard.hpp" not in said,
                        f"{cxx}: {guard}: not line {line}: {said}")


ABOVE = """all:
	+$(MAKE) -n -C '{}' BUILD='$(CURDIR)/build' families=tas $(more)
"""


def typing_errors_of_make(case):
    """A name that means nothing is said; of a make above it may be another's."""
    folder, no = case.root / "lib/c", "no such variable: "
    make = ["make", "-n", "-C", folder, f"BUILD={case.scratch}/build"]
    (case.scratch / "above").write_text(ABOVE.format(folder))
    above = ["make", "-f", "above"]
    for command, says in (
            ([*make, "family=tas"], f"{no}family;"),
            ([*make, "families=tas", "port=hosted"], f"{no}port;"),
            ([*make, "families=tas", "V=1"], f"{no}V;"),
            ([*make, "PORT=vax"], "no port: vax"),
            ([*make, "families=tsa"], "no families: tsa"),
            (["make", "-n", "-C", folder, "BUILD=/dev/null/x"],
             "BUILD=/dev/null/x: no such folder"),
            ([*above, "more=FAMILIES=tas"], f"{no}FAMILIES;")):
        status, said = case.call(*command)
        errors = [line for line in said.splitlines() if "***" in line]
        case.expect(status == 2 and says in errors[0],
                    f"{command[-1]}: {status}: {said}")
    case.must(*make, "families=tas", "PORT=hosted", "CXX=g++", "AR=ar")
    said = case.must(*above, "V=1", "out=elsewhere", "names=none")
    case.expect("tas.o" in said and "elsewhere" not in said, said)


def missing_program_in_cmake(case):
    """The message says what to install, and what can be left out."""
    for program in ("clang++", "ld.lld", "objcopy"):
        tools = case.scratch / program
        tools.mkdir()
        for path in Path("/usr/bin").iterdir():
            if path.name != program:
                (tools / path.name).symlink_to(path)
        status, said = case.call(
            "env", f"PATH={tools}", "cmake", "-S", case.root, "-B",
            case.scratch / "build" / program, "-G", "Ninja",
            "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCatch2_ROOT=/usr",
            "-DCMAKE_CXX_COMPILER=/usr/bin/g++")
        said = " ".join(said.split())
        case.expect(status == 1 and f"{program} was not found: run ./toolchain"
                    "/setup, or leave out the lab and the tests: "
                    "-DKLOCK_TESTS=OFF" in said, f"{program}: {said}")


def one_python_in_cmake(case):
    """Another python3 in front on the PATH runs nothing, and the configuration
    says which one does."""
    front = case.scratch / "front"
    front.mkdir()
    (front / "python3").write_text("#!/bin/sh\nexit 3\n")
    (front / "python3").chmod(0o755)
    said = case.must("sh", "-c", 'PATH="$1:$PATH" exec cmake -S "$2" -B build '
                     "-G Ninja", "sh", front, case.root)
    case.expect("Python: /usr/bin/python3" in said, said)
    build = case.scratch / "build"
    for path in (build / "build.ninja", *build.rglob("CTestTestfile.cmake")):
        lines = [line for line in path.read_text().splitlines()
                 if str(front / "python3") in line]
        case.expect(not lines, f"{path.name}: {lines[:1]}")


# The tests of the lab's seeded faults are rows of a table.
READ_BY_SCRIPT = ["mutants.py boots"]


def few_scripts_in_cmake(case):
    """The configuration runs no script but those whose answer it needs."""
    python, calls = case.scratch / "python", case.scratch / "calls"
    python.write_text(f"#!/bin/sh\necho \"$*\" >>'{calls}'\n"
                      'exec /usr/bin/python3 "$@"\n')
    python.chmod(0o755)
    case.must("cmake", "-S", case.root, "-B", "build", "-G", "Ninja",
              f"-DPython3_EXECUTABLE={python}")
    scripts = re.findall(r"(\w+\.py \w+).* --|(\w+\.py.*)", calls.read_text())
    scripts = [first or other for first, other in scripts]
    case.expect(scripts == READ_BY_SCRIPT, f"runs {scripts}")


CASES = [judge_is_right, first_wrong_is_found, wrong_is_found, errors_are_short,
         errors_of_others_are_short, right_is_silent, headers_are_silent, in_c, port_and_language,
         typing_errors_of_make,
         two_ports_in_one_program, two_versions_in_one_program,
         two_overlays_in_one_program, two_ports_in_cmake,
         missing_program_in_cmake, one_python_in_cmake,
         few_scripts_in_cmake, wrong_version, exceptions_are_fine,
         stray_unlock_is_the_guards_line]


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--root", type=tool.tree, required=True)
    parser.add_argument("--only", nargs="+", help="these cases, by name",
                        default=[function.__name__ for function in CASES])
    args = parser.parse_args()
    failed = 0
    for function in CASES:
        if function.__name__ not in args.only:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            case = Case(args.root, scratch)
            function(case)
        failed += bool(case.wrong)
        print(f"{'not ok' if case.wrong else 'ok'} {function.__name__}")
        for text in case.wrong:
            print("    " + text.replace("\n", "\n    "))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
