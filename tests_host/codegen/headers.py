# SPDX-License-Identifier: MIT
"""Each header compiles alone, with a kernel's flags, and twice in one file.

And it is a header: a file that only includes it defines nothing that a second
such file would define too, nor any data, and needs nothing from a library.

What klock asks of the program it is linked into: klock_os_*, and nothing to be
run before main. No library function, no C++ runtime.
"""

from pathlib import Path

import objects

# -- The symbols that objects may need ---------------------------------------

# start of a symbol    what it comes from
RUNTIME = [
    ("__cxa_", "the C++ runtime"),
    ("_Unwind_", "exceptions"),
    ("__gxx_personality", "exceptions"),
    ("DW.ref.__gxx_personality", "exceptions"),
    ("_ZGV", "the guard of a static variable with a constructor"),
    ("_ZTI", "RTTI"),
    ("_GLOBAL__sub_I", "a constructor to be run before main"),
    ("_Zn", "operator new"),
    ("_Zd", "operator delete"),
]
BEFORE_MAIN = (".init_array", ".ctors", ".preinit_array")
TABLES = (".gcc_except_table",)


def check_symbols(obj):
    """One line for each symbol or section that should not be there."""
    return judge(*objects.of_each([obj])[str(obj)])


def judge(undefined, defined, sections):
    """Returns the faults in an object's symbols and sections
    (objects.of_each())."""
    found = []
    defined = [name for name, _ in defined]
    for name in undefined + defined:
        for start, origin in RUNTIME:
            if name.startswith(start):
                found.append(f"symbol {name}: {origin}")
                break
        else:
            if name in undefined and not name.startswith("klock_os_"):
                found.append(f"undefined symbol {name}: a kernel that uses "
                             "klock supplies klock_os_* alone")
    for name in sections:
        if name.startswith(BEFORE_MAIN):
            found.append(f"section {name}: code to be run before main")
        if name.startswith(TABLES):
            found.append(f"section {name}: exceptions")
    return found


# -- Headers -----------------------------------------------------------------

# Letters of nm that two object files may both have: weak, unique, local.
SHARED = "VvWwutrbdn"
# The letters of variables: a file that uses none has none.
DATA = "Vurbd"
# Defined on purpose in every file, in groups that are kept once a port and once
# a version: a program of two is not linked (arch/<port>/klock/arch/port.hpp).
ONCE = ("klock_two_ports_in_one_program", "klock_two_versions_in_one_program",
        "klock_guards_with_and_without_preempted_in_one_program",
        "klock_locks_with_and_without_unparked_in_one_program")
# On 32 bits, position-independent code makes each function that is emitted need
# the global offset table.
FIXED_PLACE = ["-fno-pic"]


def all_headers(lib):
    """klock's headers and the x86 port's, as one includes them."""
    lib = Path(lib)
    found = []
    for top in (lib, lib / "arch/x86"):
        found += [path.relative_to(top).as_posix()
                  for path in sorted((top / "klock").rglob("*.hpp"))]
    return found


def _source(header, times):
    return f"#include <{header}>\n" * times


def compile_header(compiler, header, obj):
    """Twice in one file; what is wrong, or nothing."""
    source = obj.with_suffix(".cpp")
    source.write_text(_source(header, 2))
    try:
        compiler.compile(source, obj, FIXED_PLACE)
    except objects.Failed as twice:
        source.write_text(_source(header, 1))
        try:
            compiler.compile(source, obj, FIXED_PLACE)
        except objects.Failed as alone:
            return f"<{header}> does not compile alone:\n{alone}"
        return f"<{header}> compiles once, but not twice:\n{twice}"
    return None


def _judge(header, undefined, defined, sections):
    for text in judge(undefined, defined, sections):
        yield f"<{header}>: {text}"
    for name, letter in defined:
        if letter not in SHARED and name not in ONCE:
            yield (f"<{header}> defines {name}: make it inline, or two files "
                   "that include it cannot be linked")
        elif letter in DATA and not header.startswith("klock/selftest/"):
            yield f"<{header}> brings {name} along, which nobody has used"


def check(compiler, headers, scratch):
    """One line, or the compiler's words, for each header that is not fine."""
    if not headers:
        return ["no headers: is --lib the folder lib?"]
    found, made = [], {}
    for number, header in enumerate(headers):
        obj = Path(scratch) / f"header_{number}.o"
        if wrong := compile_header(compiler, header, obj):
            found.append(wrong)
        else:
            made[str(obj)] = header
    for obj, said in objects.of_each(made).items():
        found += _judge(made[obj], *said)
    return found
