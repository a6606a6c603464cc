#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.md's tables "C against C++" say what the headers declare, all of it."""
import re

import cases

COMMON = {"init", "lock", "unlock", "is_locked", "lock_irqsave",
          "unlock_irqrestore"}
# Functions of no lock.
REST = {"klock_version", "klock_irq_save", "klock_irq_restore",
        "klock_irqs_enabled", "klock_cycles"}
# Of all checked locks together, in order.h; those that know their call site
# are macros of the same name.
ORDER = {"declare_before", "declare_rank", "might_wait"}
REST |= {f"klock_{name}_at" for name in ORDER}
REST |= {f"klock_lock_order_{classes}" for classes in (8, 64, 256)}
REST |= {"klock_print_held", "klock_print_counts", "klock_reset_counts"}
# Of any checked lock, in checked.h.
USAGE = {"set_name", "set_element", "is_held_by_me", "assert_held"}
# The same, in order.h.
USAGE |= {"nest", "unnest"}


def rows(text, start):
    """The cells of the table behind that line."""
    table = text.partition(start)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")]
            for line in table.strip().splitlines()[2:]]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def declared(case):
    """{name of a lock: its verbs}, and the other functions."""
    case.write("all.c", "#include <klock/klock.h>\n")
    code = case.must("gcc", *case.includes(None, c=True), "-E", "-P", "all.c")
    names = set(re.findall(r"\b(klock_(?!os_)\w+)\(", code))
    locks = {name: set() for name in re.findall(r"struct \S*\(.*?\)\) "
             r"klock_(\w+) \{", re.sub(r"aligned\(\w+\)", "", code))}
    for extra in ("usage", "shared_usage", "mcs_node", "clh_node", "clh_cell",
                  "counts", "waits", "shared_counts", "readers_counts",
                  "reader_line", "timeout_slot", "timeout_record"):
        locks.pop(extra, None)
    rest = set()
    for name in names:
        fits = [lock for lock in locks if name.startswith(f"klock_{lock}_")]
        if fits:
            lock = max(fits, key=len)
            locks[lock].add(name.removeprefix(f"klock_{lock}_"))
        else:
            rest.add(name)
    return locks, rest


def only_locks(locks):
    """Without what has no lock(): sequences, once, barrier."""
    return {name: verbs for name, verbs in locks.items()
            if name.startswith("checked_") or "lock" in verbs}


def cpp_names(case):
    """What klock/c_lock.hpp and its like say that a C lock is."""
    text = "".join((case.root / f"lib/c/klock/{name}.hpp").read_text()
                   for name in ("c_lock", "c_counted_lock"))
    return dict(re.findall(r"KLOCK_C_IS\((\w+),\s+([\w<>]+)\);", text))


def table_is_the_header(case):
    guide = (case.root / "lib/docs/embed.md").read_text()
    locks, rest = declared(case)
    is_cpp, told, only_cpp = cpp_names(case), {}, set()
    for c, cpp, more in rows(guide, "locks in C: tests_host/embed/c_table.py "
                             "-->\n"):
        if c == "none":
            only_cpp |= set(quoted(cpp))
            continue
        case.expect(len(quoted(c)) == len(quoted(cpp)), f"not side by side: {c}")
        for name, other in zip(quoted(c), quoted(cpp)):
            told[name] = COMMON | set(quoted(more))
            case.expect(is_cpp.get(name) == other, f"{name} is no {other}, but "
                        f"{is_cpp.get(name)}")
    for c, cpp, verbs in rows(guide, "the rest in C: tests_host/embed/"
                              "c_table.py -->\n"):
        name, = quoted(c)
        told[name] = set(quoted(verbs))
        case.expect([is_cpp.get(name)] == quoted(cpp), f"{name} is no {cpp}, "
                    f"but {is_cpp.get(name)}")
    unchecked = {name: verbs for name, verbs in locks.items()
                 if not name.startswith("checked_")}
    for name in sorted(told.keys() | unchecked.keys()):
        case.expect(told.get(name) == unchecked.get(name), f"{name}: the guide "
                    f"says {sorted(told.get(name, ()))}, the header "
                    f"{sorted(unchecked.get(name, ()))}")
    every = {path.stem for path in (case.root / "lib/klock").glob("*_lock.hpp")}
    named = only_cpp | {re.sub(r"<.*", "", is_cpp.get(name, "")) for name in told}
    missing = every - named - {"checked_lock"}
    case.expect(not missing, f"in neither column: {sorted(missing)}")
    case.expect(rest == REST | {f"klock_usage_{name}" for name in USAGE},
                f"functions of no lock: {sorted(rest)}")


def verbs_of_the_other_table(case):
    """Each verb of a lock stands in the table of verbs, and no other."""
    guide = (case.root / "lib/docs/embed.md").read_text()
    said = set()
    for c, _ in rows(guide, "### C against C++\n\n"):
        said |= set(re.findall(r"(klock_\w+)\(", c))
    locks, _ = declared(case)
    verbs = set().union(*(verbs for name, verbs in only_locks(locks).items()
                          if not name.startswith("checked_"))) - {"node_init"}
    wanted = {f"klock_X_{verb}" for verb in verbs} | REST
    wanted |= {f"klock_{name}" for name in ORDER}
    case.expect(said == wanted, f"not in both: {sorted(said ^ wanted)}")


def checked_locks_have_the_same(case):
    """Each verb of a lock has a checked form; a macro hands on the caller."""
    locks, _ = declared(case)
    case.write("all.c", "#include <klock/klock.h>\n")
    macros = set(re.findall(r"#define (klock_\w+)\(", case.must(
        "gcc", *case.includes(None, c=True), "-dM", "-E", "all.c")))
    for name, verbs in only_locks(locks).items():
        if name.startswith(("checked_", "counted_")):
            continue
        plain = {"init", "is_locked", "is_contended", "set_base"} & verbs
        sites = verbs - plain - {"node_init"}
        checked = locks.get(f"checked_{name}", set())
        case.expect(checked == plain | {f"{verb}_at" for verb in sites},
                    f"checked_{name} has {sorted(checked)}")
        for verb in sites:
            macro = f"klock_checked_{name}_{verb}"
            case.expect(macro in macros, f"no macro {macro}")
            macros.discard(macro)
    macros -= {f"klock_checked_{name}" for name in USAGE}
    macros -= {f"klock_{name}" for name in ORDER}
    case.expect(not macros, f"macros of nothing: {sorted(macros)}")


CASES = [table_is_the_header, verbs_of_the_other_table,
         checked_locks_have_the_same]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
