#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The single header is lib/klock and the port, all of it, each once; and what
is linked with a cross toolchain with no library is klock alone: clang and lld,
for x86_64-elf, i686-elf, AArch64 and RISC-V, where no package for that CPU is.
"""
import re
import shutil
import sys

import cases
from cases import CLANG_ALONE, FREESTANDING, STRICT

# -- The single header ---------------------------------------------------------

PORTS = ("x86", "aarch64", "riscv", "hosted")

USE = """\
#include "klock.hpp"
klock::ticket_lock<klock::u8> ticket;
klock::clh_lock clh;
void f();
void f()
{
	static klock::clh_node node;
	klock::irq_guard held(ticket);
	klock::guard other(clh, node);
}
"""


def _make(case, port):
    out = case.scratch / port / "klock.hpp"
    out.parent.mkdir(exist_ok=True)
    case.must(sys.executable, "-B", case.root / "toolchain/single_header.py", port,
              out)
    return out.read_text()


def _code_lines(text):
    """Returns the lines that must not be lost: code that stands once in its
    header."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return {line for line in text.splitlines()
            if re.match(r"(struct|inline|constexpr|concept|using) \w", line)}


def holds_everything_once(case):
    for port in PORTS:
        text = _make(case, port)
        case.expect(text == _make(case, port), f"{port}: not the same twice")
        tops = (case.root / "lib/klock", case.root / f"lib/arch/{port}/klock")
        for top, path in [(t, p) for t in tops for p in t.rglob("*.hpp")]:
            name = path.relative_to(top).as_posix()
            if (name.startswith("selftest/") or
                    name == "host_parking.hpp"):
                continue
            for line in _code_lines(path.read_text()):
                case.expect(line in text, f"{port}: lost from {name}: "
                            f"{line}")
            case.expect(text.count(f"/* ---- klock/{name} ---- */") == 1,
                        f"{port}: {name} is not there once")
        left = set(re.findall(r"#include (<klock/[^>]+>)", text))
        case.expect(all("arch/error_" in name for name in left),
                    f"{port}: still includes {sorted(left)}")


def compiles_alone(case):
    for port in PORTS:
        _make(case, port)
    case.write("use.cpp", USE)
    for cxx in ("g++", "clang++"):
        for bits in ("-m64", "-m32"):
            case.must(cxx, bits, "-std=c++20", *FREESTANDING, *STRICT,
                      "-Ix86", "-c", "use.cpp", "-o", "use.o")
            undefined = case.must("nm", "-u", "use.o").split()
            case.expect(not undefined, f"{cxx} {bits} needs {undefined}")
        case.must(cxx, "-std=c++20", *STRICT, "-Ihosted", "-c", "use.cpp")
    # A target whose linker lacks the names that tell ports and versions apart.
    case.must("clang++", "--target=x86_64-apple-darwin", "-std=c++20",
              *FREESTANDING, "-Ix86", "-c", "use.cpp")
    for port, (triple, flags, _) in CLANG_ALONE.items():
        case.must("clang++", f"--target={triple}", "-std=c++20", *flags,
                  *STRICT, f"-I{port}", "-c", "use.cpp")


def says_what_it_is(case):
    top = _make(case, "x86").partition("*/\n#pragma once")[0]
    text = (case.root / "lib/klock/version.hpp").read_text()
    version = ".".join(re.findall(r"version_\w+ = (\d+)", text))
    case.expect(f"klock {version}" in top and "x86" in top, f"its top: {top}")
    status, said = case.call(sys.executable, case.root /
                             "toolchain/single_header.py", "vax", "klock.hpp")
    case.expect(status != 0 and "invalid choice: 'vax'" in said,
                f"a port that is none: {said}")


# -- Compiler Explorer ----------------------------------------------------------

_URL = re.compile(r"#include \"https://[^\"]*/klock-([\d.]+)/(\w+)\.hpp\"")
_SAYS = re.compile(r"^ \* (Compilers|Options|Shows|Prints): +(.+)$", re.M)


def _as_the_site_does(case, name, text):
    """The site puts a file where it is included by URL; what is not as said."""
    port = (_URL.search(text) or ["", "", "none"])[2]
    header = _make(case, port) if port in PORTS else ""
    case.write("site.cpp", _URL.sub(lambda _: header, text))
    says = dict(_SAYS.findall(text))
    for compiler in says["Compilers"].split(", "):
        cxx = [*compiler.split(), *says["Options"].split(), "site.cpp"]
        status, said = case.call(*cxx, "-S", "-o", "-")
        for word in says.get("Shows", "").split(", "):
            if word not in said or status:
                yield f"{name}: {compiler}: no {word}: {said[-400:]}"
        if wanted := says.get("Prints"):
            _, said = case.call("sh", "-c", f"{' '.join(cxx)} -o site && ./site")
            if wanted not in said:
                yield f"{name}: {compiler}: not {wanted}: {said[-400:]}"


def explorer_shows_what_it_says(case):
    texts = {path.name: path.read_text() for path in sorted(
        (case.root / "tests_host/embed/explorer").glob("*.cpp"))}
    case.expect(len(texts) == 3, f"only {list(texts)}")
    for name, text in texts.items():
        urls = _URL.findall(text)
        case.expect(len(urls) == text.count("https:") == 1,
                    f"{name}: not one #include by URL")
        case.expect(f"klock {urls[0][0]}," in _make(case, urls[0][1]),
                    f"{name}: another version")
        case.wrong += _as_the_site_does(case, name, text)
    for name, old, new in (("ticket.cpp", "xadd", "xsub"),
                           ("ticket.cpp", "/x86.", "/vax."),
                           ("wait.cpp", "lock.lock()", "lock.unlock()"),
                           ("threads.cpp", "k < 10000", "k < 9999")):
        found = list(_as_the_site_does(case, name,
                                       texts[name].replace(old, new)))
        case.expect(found, f"missed: {name} with {new}")


def compiles_with_any_flags(case):
    """The headers compile without -ffreestanding, and on a host without
    -pthread, as users may leave them out."""
    for port, cxx in (("x86", "g++"), ("x86", "clang++"), ("hosted", "g++"),
                      ("hosted", "clang++"),
                      ("aarch64", "clang++ --target=aarch64-none-elf")):
        _make(case, port)
        case.write("use.cpp", USE)
        case.must(*cxx.split(), "-std=c++20", f"-I{port}", "-c", "use.cpp")


# -- A bare toolchain ----------------------------------------------------------

MACHINES = (("x86_64-elf", "elf_x86_64"), ("i686-elf", "elf_i386"))

# The functions that the kernel supplies (klock/os.hpp), and its entry.
KERNEL = """
extern "C" unsigned klock_os_cpu_id() { return 0; }
extern "C" int klock_os_context() { return 0; }
extern "C" [[noreturn]] void klock_os_panic(const char *, const void *, unsigned,
			       const char *)
{
	for (;;)
		;
}
extern "C" __SIZE_TYPE__ klock_os_thread() { return 1; }
extern "C" void klock_os_park() {}
extern "C" bool klock_os_park_until(klock::u64) { return false; }
extern "C" void klock_os_unpark(__SIZE_TYPE__) {}
static klock::inheriting_thread thread;
extern "C" klock::inheriting_thread *klock_os_inheriting_thread()
{
	return &thread;
}
extern "C" void klock_os_run_with_priority(klock::inheriting_thread *, unsigned)
{
}
static klock::irq_depth depth;
extern "C" klock::irq_depth *klock_os_irq_depth() { return &depth; }
extern "C" void _start() {}
"""

# Functions that a compiler may call in any program (GCC's manual, "Standards").
MEMORY = """
extern "C" void *memset(void *at, int, __SIZE_TYPE__) { return at; }
extern "C" void *memcpy(void *at, const void *, __SIZE_TYPE__) { return at; }
"""

# One template of each kind made real: nothing of it may be missing.
EACH_KIND = """
static klock::ticket_lock<klock::u32> ticket;
static klock::mcs_lock mcs;
static klock::bakery_lock<4> bakery;
void use() {
	klock::irq_guard a(ticket);
	klock::irq_guard b(mcs);
	klock::irq_guard c(bakery);
}
"""


def write_sources(case, more=""):
    """all.cpp: every header; c.cpp: the functions for C (c_library.py has one
    object a lock)."""
    lib = case.root / "lib"
    headers = [f"#include <klock/{path.name}>\n"
               for path in sorted((lib / "klock").glob("*.hpp"))]
    case.expect(len(headers) > 15, f"only {len(headers)} headers")
    case.write("all.cpp", "".join(headers) + EACH_KIND + KERNEL + more)
    names = (lib / "c/sources").read_text().split()
    case.expect(len(names) > 10, f"only {len(names)} sources")
    case.write_c()


def compile_and_link(case, target, flags, port, emulation):
    own = case.must("clang++", "--print-resource-dir").strip() + "/include"
    for name in ("all", "c"):
        case.must("clang++", f"--target={target}", "-nostdinc", "-isystem", own,
                  "-std=c++20", *STRICT, *flags, *case.includes(port, c=True),
                  "-c", f"{name}.cpp", "-o", f"{name}.o")
    case.must("ld.lld", "-m", emulation, "-nostdlib", "-static",
              "--no-undefined", "all.o", "c.o", "-o", "kernel")
    sections = case.must("readelf", "-SW", "c.o")
    for name in (".init_array", ".ctors", ".gcc_except_table"):
        case.expect(name not in sections, f"{target}: {name}")


def compiles_and_links(case):
    write_sources(case)
    for target, emulation in MACHINES:
        compile_and_link(case, target, FREESTANDING, "x86", emulation)


def needs_no_package_of_that_cpu(case):
    """As above, for other CPUs."""
    write_sources(case, MEMORY)
    for port, (target, flags, emulation) in CLANG_ALONE.items():
        flags = [flag for flag in flags if flag != "-nostdinc++"]
        compile_and_link(case, target, flags, port, emulation)


MISTAKE = """\
FIRST
#include <klock/checked_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>
klock::checked_lock<klock::ticket_lock<klock::u8>, "one"> one;
void use() { one.lock(); }
"""


def mistakes_say_what_embed_md_says(case):
    """Each of its last table's that a compiler of any host finds."""
    own = case.must("clang++", "--print-resource-dir").strip() + "/include"
    guide = (case.root / "lib/docs/embed.md").read_text()

    def said(first, *flags):
        case.write("mistake.cpp", MISTAKE.replace("FIRST", first))
        status, text = case.call(
            "clang++", "-std=c++20", "-ffreestanding", "-fno-exceptions",
            "-fno-rtti", *flags, *case.includes("x86", c=True),
            "-fsyntax-only", "mistake.cpp")
        return status != 0, text

    for first, flags, fails, what in (
            ("", (), False, ""),
            ("", ("-nostdinc",), True, "file not found"),
            ("", ("-nostdinc", "-isystem", own), False, ""),
            ("", ("--target=x86_64-unknown-windows",), False,
             "unknown attribute 'no_unique_address' ignored"),
            ("#include <klock/c_checked_lock.hpp>",
             ("--target=x86_64-unknown-windows",), True,
             "sizeof(klock_"),
            *((f"#define {name}(one) (one)", (), True, "error: ") for name in
              ("lock", "panic", "load", "next", "wait", "note"))):
        failed, text = said(first, *flags)
        case.expect(failed == fails and what in text,
                    f"{first} {flags}: {text[:300]}")
        case.expect(not what.endswith("ignored") or what in guide,
                    f"embed.md does not say {what}")


# -- The examples in headers ---------------------------------------------------

# Declarations that examples use and do not show, by header.
HELD = """\
#include <klock/guard.hpp>
#include <cassert>
template <typename L> void inside(const L &lock)
{
	if constexpr (requires { lock.is_locked(); })
		assert(lock.is_locked());
}
template <typename L, typename With>
void inside(const klock::lock_with<L, With> &) {}
template <typename L> void must_be_free(L &lock)
{
	if (!lock.try_lock())
		assert(!"an example leaves its lock held");
	lock.unlock();
}
"""
SCENE = HELD + """\
#include <klock/host_parking.hpp>
#include <cstdio>
#include <thread>
using klock::u8, klock::u16, klock::u32, klock::u64;
extern "C" unsigned klock_os_cpu_id() { return 0; }
extern "C" int klock_os_context() { return 0; }
extern "C" void klock_os_panic(const char *lock, const void *, unsigned,
			       const char *what)
{
	std::fprintf(stderr, "%s: %s\\n", lock, what);
	std::abort();
}
constexpr bool debug = true, counts = true;
constexpr unsigned cpus = 1, cpu = 0, max_cpus = 4, patience = 3;
constexpr u64 one_second = 1, deadline = 0;
constexpr int busy = 1, timed_out = 2;
void put(const char *text) { assert(text); }
struct table {
	int next_hop;
	void add(int) {}
	void sort() {}
	void look_up(int) {}
};
void make_tables() {}
int p, x;
using klock::atomic, klock::guard, klock::clh_node;
"""
# Declarations for the examples of the model checker and the simulator.
ENGINES = HELD + """\
#include <klock/mcs_lock.hpp>
#include <klock/plain.hpp>
#include <klock/ticket_lock.hpp>
#define INFO(text) (void)(text)
#define CHECK(holds) assert(holds)
using my_lock = klock::ticket_lock<klock::u8>;
struct point {
	int x, y;
};
constexpr int i = 0;
"""
PLAIN = "static klock::ticket_lock<u8> lock; "
PROLOGUES = {
    "guard.hpp": PLAIN + "static klock::ticket_lock<u8> ticket; "
    "static klock::shared_mutex names; "
    "struct place { klock::ticket_lock<u8> lock; }; static place from, to; "
    "static klock::mcs_lock mcs; static klock::clh_lock clh; "
    "static klock::bakery_lock<4> bakery; static klock::mcs_node node; "
    "static klock::clh_node my_node;",
    "irq_guard.hpp": PLAIN + "static klock::ticket_lock<u8> a, b; "
    "static klock::clh_lock clh; static klock::bakery_lock<4> bakery; "
    "static unsigned my_number() { return 0; }",
    "shared_guard.hpp": "static klock::phase_fair_lock<u16> lock;",
    "rescue_guard.hpp": PLAIN + "static klock::ticket_lock<u8> console_lock;",
    "timeout_lock.hpp": "static klock::timeout_lock<4> lock;",
    "try_lock_until.hpp": PLAIN,
    "calibrate.hpp": "static klock::proportional_ticket_lock<u8> lock;",
    "seq_count.hpp": PLAIN + "static klock::seq_count count; "
    "static atomic<u32> a, b; static u32 began, x, y;",
    "completion.hpp": "static klock::completion done; "
    "static struct { klock::completion *done; } request; "
    "static void start(auto &r, klock::completion &d) "
    "{ r.done = &d; d.set(); }",
    "condition.hpp": "template <typename L> struct items { L lock; "
    "bool empty() { return false; } }; static items<klock::mutex> queue; "
    "static items<klock::ticket_lock<u8>> ring; "
    "static klock::condition not_empty;",
    "shared_mutex.hpp": "static klock::shared_mutex names;",
    "futex.hpp": "static klock::usize space, address; static u32 expected; "
    "static klock::futex_key key; "
    "static klock::futex_look compare(klock::usize, u32) "
    "{ return klock::futex_look::changed; } "
    "static klock::futex_look look() { return compare(address, expected); }",
    "placed.hpp": 'extern "C" char end[];',
    "wait_queue.hpp": "static bool take_packet() { return true; } "
    "static void put_packet() {}",
    "synchronized.hpp":
    "static klock::synchronized<table, klock::phase_fair_lock<u16>> routes;",
    "order_calls.hpp": "struct part { klock::checked_lock<"
    'klock::ticket_lock<u8>, "part"> lock; }; static part parent, child; '
    "static char page[64]; constexpr unsigned page_size = 64; "
    "static struct { int lock; } inode, *ip = &inode; "
    "static void acquiresleep(int *) {} static void releasesleep(int *) {} "
    "struct cpu_data { klock::cpu_context context; }; "
    "static cpu_data &my_cpu() { static cpu_data mine; return mine; }",
}
# Locks that are free after the examples of a header.
FREE_AFTER = {"guard.hpp": ("lock", "names"), "shared_guard.hpp": ("lock",),
              "shared_mutex.hpp": ("names",)}
_GUARD = re.compile(r"klock::\w*guard (\w+)[({](.*?)[)}]")


def paragraphs(path):
    """Yields each piece of code in a header's comments, with its prose and
    without. An empty line ends a piece, unless a brace is open."""
    for comment in re.findall(r"/\*\n.*?\*/", path.read_text(), re.S):
        lines, code = [], []
        comment = re.split(r"\n \* (?:State|Ordering)\b", comment)[0]
        for line in comment.splitlines():
            text = re.match(r"\s*\*\t(.*)", line)
            opened = "".join(code)
            if text:
                lines.append(text[1])
                code.append(re.sub(r"(?<=[;{})])\t+.*[^;{}]$|(?<=\.\.\.)\t+.*$",
                                   "", text[1]))
            elif opened.count("{") == opened.count("}") or \
                    line.strip() not in ("*", ""):
                if any(re.search(r"[;{}]$", line) for line in code):
                    yield lines, code
                lines, code = [], []


def _statements(lines, code):
    """The statements of an example, with a call inside(lock) after each guard.
    A second guard of one name is put into a block of its own."""
    seen, depth, out = {}, 0, []
    for line, text in zip(code, lines):
        line = line.replace(", ...", ",").replace("{...}", "{}").replace("...", "(void)0;")
        guard = _GUARD.search(line)
        if guard and seen.get(guard[1]) == depth:
            out += ["} {"]
        if "on CPU 1" in text:
            line = f"static std::jthread other([] {{ {line} }});"
        out += [line]
        depth += line.count("{") - line.count("}")
        for name in [n for n, at in seen.items() if at > depth]:
            del seen[name]
        if guard:
            if not line.strip().startswith("if"):
                seen[guard[1]] = depth
            if line[-1] in ";{":
                locks = guard[2].split(", ")[:2 if "pair" in line else 1]
                out += [f"inside({lock});" for lock in locks
                        if "(" not in lock]
    return out


_AT_FILE_SCOPE = re.compile(r"constinit|klock::lock_order \*|void print_|"
                            r"\w+_node \w+\[|struct world \{|sim::world<|"
                            r"klock::annotated_lock")


def _program(case, paths, at_least=1):
    """The examples of each header as a function, and main() that calls them."""
    text, calls = "", ""
    for path in paths:
        name = path.stem
        scope, body = [PROLOGUES.get(path.name, "")], []
        for lines, code in paragraphs(path):
            if _AT_FILE_SCOPE.match(code[0]):
                scope += _statements(lines, code)
            else:
                body += ["{", *_statements(lines, code), "}"]
        if scope == [""] and not body:
            continue
        if "klock_os" in "".join(scope):
            text += 'extern "C" ' + "\n".join(scope) + "\n"
        else:
            text += "\n".join([f"namespace {name}_has {{", *scope,
                               "int run() {", *body, "return 0; } }\n"])
            calls += f"{name}_has::run();\n"
            calls += "".join(f"must_be_free({name}_has::{lock});"
                             for lock in FREE_AFTER.get(path.name, ()))
    case.expect(calls.count("\n") >= at_least, f"only {calls}")
    return text + "int main() {\n" + calls + "}\n"


def _run(case, paths, scene, *flags, at_least=1):
    headers = "".join(f"#include <{path.parent.name}/{path.name}>\n"
                      for path in paths)
    case.write("examples.cpp", headers + scene +
               _program(case, paths, at_least))
    case.must("g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror",
              "-Wno-unused", "-Wno-attributes",
              "-Wno-missing-field-initializers", "examples.cpp", *flags,
              "-pthread", "-o", "examples")
    if not case.wrong:
        case.must("timeout", "60", case.scratch / "examples")


def examples_run(case):
    """Compiles and runs the examples in the headers for C++ (c_library.py has
    those for C). Only clang knows annotated.hpp's attributes, which embed.md's
    recipe tests."""
    lib = case.root / "lib"
    _run(case, sorted((lib / "klock").glob("*.hpp")) +
         [lib / "analysis/klock/annotated.hpp"], SCENE,
         *case.includes("hosted"), "-I", lib / "analysis", at_least=17)
    for engine in ("model", "sim"):
        _run(case, sorted((lib / engine / f"include/{engine}").glob("*.hpp")),
             ENGINES, *case.includes("hooked"), "-I",
             lib / engine / "include", *case.libraries, at_least=2)


EXPLORES = """\
#include <model/model.hpp>
struct world {};
int main()
{
	return !model::explore<world>({}, [](world &, unsigned) {}).proved();
}
"""


def other_headers_are_refused(case):
    """Headers whose structures have other sizes than the checker's library has:
    by the linker, and by a name that says so."""
    headers = case.scratch / "include"
    shutil.copytree(case.root / "lib/model/include", headers)
    options = headers / "model/options.hpp"
    case.write("use.cpp", EXPLORES)
    link = ["g++", "-std=c++20", "use.cpp", *case.includes("hooked"), "-I",
            headers, *case.libraries, "-o", "use"]
    case.must(*link)
    for struct in ("options", "result"):
        text = options.read_text()
        options.write_text(text.replace(f"struct {struct} {{", f"struct {struct} "
                                        "{ klock::u64 more[8];"))
        status, said = case.call(*link)
        case.expect(status and "explore_of_sizes<" in said,
                    f"{struct}: {status}: {said}")
        options.write_text(text)


CASES = {
    "single_header_is_whole": [holds_everything_once, compiles_alone,
                               says_what_it_is],
    "compiler_explorer": [explorer_shows_what_it_says,
                          compiles_with_any_flags],
    "header_examples": [examples_run, other_headers_are_refused],
    "bare_toolchain": [compiles_and_links, needs_no_package_of_that_cpu,
                       mistakes_say_what_embed_md_says],
}

if __name__ == "__main__":
    cases.main(CASES, __doc__)
