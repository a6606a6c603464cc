# SPDX-License-Identifier: MIT
"""The broken trees of selftest.py, one edit of fixture/ each."""

from typing import NamedTuple

LOCK = "lib/klock/good_lock.hpp"
ATOMIC = "lib/klock/atomic.hpp"
TYPES = "lib/klock/types.hpp"
LIST = "lib/klock/selftest/locks.hpp"
PORT = "lib/arch/toy/klock/arch/"
CONTRACT = "lib/arch/CONTRACT.md"
BOOT = "boot/main.cpp"


class Case(NamedTuple):
    lint: str
    title: str
    path: str     # the file that is broken
    old: str      # what is replaced; "": new goes to the front
    new: str
    where: str    # is in the line that the finding names; "": any line
    message: str  # is in the finding
    blames: str = ""  # the file that the finding names, if not path


FIELDS = [
    Case("fields", "a field is missing", LOCK, " * Assumes:     nothing\n", "",
         "good_lock - what", "'Assumes:' is missing"),
    Case("fields", "a field is out of order", LOCK,
         " * Context:     any\n * Assumes:     nothing\n",
         " * Assumes:     nothing\n * Context:     any\n",
         "Context:", "'Context:' comes after 'Assumes:'"),
    Case("fields", "a field is empty", LOCK, "Assumes:     nothing",
         "Assumes:", "Assumes:", "'Assumes:' is empty"),
    Case("fields", "a field is only its proof", LOCK, "none       Checked",
         "           Checked", "Fairness:", "'Fairness:' is empty"),
    Case("fields", "a field twice", LOCK, " * Assumes:",
         " * Context:     any\n * Assumes:", "Context:", "a second time"),
    Case("fields", "a field that the template has not", LOCK, " * Assumes:",
         " * Beware:      of it\n * Assumes:", "Beware:",
         "no field 'Beware:'"),
    Case("fields", "nothing said of zero bytes", LOCK,
         " * Zero bytes:  free                    Checked: unit/good_lock: size\n",
         "", "good_lock - what", "'Zero bytes:' is missing"),
    Case("fields", "nothing said of the lock's end", LOCK, " * Lifetime:  ",
         " *            ", "good_lock - what", "'Lifetime:' is missing"),
    Case("fields", "an end without a test", LOCK,
         "Second sentence.\n *                                      Checked: "
         "unit/good_lock: size\n", "Second sentence.\n", "Lifetime:",
         "'Lifetime:' names no test"),
    Case("fields", "a claim without a test", LOCK,
         "Checked: unit/good_lock: size", "", "Size:",
         "'Size:' names no test"),
    Case("fields", "another name in the title", LOCK, "good_lock - what",
         "bad_lock - what", "bad_lock - what", "does not begin"),
]

ORDERS = [
    Case("orders", "an acquire without a tag", LOCK, " /* O1 */", "",
         "exchange_acquire(1)", "exchange_acquire without a tag"),
    Case("orders", "a release without a tag", LOCK, " /* O5 */", "",
         "unlock()", "store_release without a tag"),
    Case("orders", "a fence without a tag", LOCK, " /* O4 */", "",
         "settle() {", "fence_seq_cst without a tag"),
    Case("orders", "a template call without a tag", LOCK, " /* O2 */", "",
         "turn_of(1).template await_acquire", "await_acquire without a tag"),
    Case("orders", "a new operation without a tag", LOCK, "		settle();\n",
         "		turn.template load_acquire<half::first>();\n",
         "load_acquire<half", "load_acquire without a tag"),
    Case("orders", "a tag that is not in the table", LOCK, "/* O5 */",
         "/* O6 */", "unlock()", "tag O6 has no row"),
    Case("orders", "a row without a tag", LOCK,
         " *	O5  unlock", " *	O6  unlock  turn.store_release  pairs with "
         "O6\n *	O5  unlock", "O6  unlock", "row O6: no operation"),
    Case("orders", "rows not numbered densely", LOCK, "O4  lock, try_lock",
         "O7  lock, try_lock", "O7  lock", "row O7 where O4 is due"),
    Case("orders", "another operation in the row", LOCK,
         "taken.exchange_acquire ", "taken.exchange_acq_rel ",
         "exchange_acquire(1)", "its row says exchange_acq_rel"),
    Case("orders", "another operation in the code", LOCK,
         "node.taken.store_release", "node.taken.store_seq_cst", "unlock()",
         "O5 is on store_seq_cst, but its row says store_release"),
    Case("orders", "another variable in the row", LOCK, "turn.await_acquire ",
         "node.await_acquire ", "turn_of(1).template await_acquire",
         "does not name node"),
    Case("orders", "another method in the row", LOCK, "O3  try_lock",
         "O3  unlock  ", "compare_exchange_acquire",
         "O3 is in try_lock(), which unlock()"),
    Case("orders", "one of two methods does not run it", LOCK,
         "O4  lock, try_lock", "O4  lock, unlock  ", "settle() {",
         "O4 is in settle(), which unlock()"),
    Case("orders", "a method that does not exist", LOCK, "O5  unlock",
         "O5  open  ", "unlock()", "which open()"),
    Case("orders", "pairs with what is not there", LOCK, "pairs with O1 to O3",
         "pairs with O8, O1 to O3", "O5  unlock", "O8, which is not in"),
    Case("orders", "pairs one way only", LOCK, "pairs with O1 to O3",
         "pairs with O1 to O2", "O3  try_lock", "O5 does not say"),
    Case("orders", "pairs with nothing", LOCK, "pairs with O4 of another",
         "pairs with that of another", "O4  lock", "pairs with no O<m>"),
    Case("orders", "a row without its columns", LOCK,
         "turn.await_acquire       pairs with O5", "turn, by O5", "O2  lock",
         "not a row"),
    Case("orders", "two tags on an operation", LOCK, "/* O5 */",
         "/* O5 */ /* O2 */", "unlock()", "carries O5, O2"),
    Case("orders", "one tag on two operations", LOCK, "/* O2 */", "/* O1 */",
         "turn_of(1).template", "O1 is on await_acquire and, in line"),
    Case("orders", "an order in a header that is no lock",
         "lib/klock/meter.hpp", "", "inline void f() { x.store_release(1); }\n",
         "store_release(1)", "store_release without a tag"),
    Case("orders", "a row of a header that is no lock", "lib/klock/meter.hpp",
         "", "/*\n * meter - x\n *\n * Ordering:\n"
         " *\tO1  f  x.store_release  pairs with O1\n */\n"
         "inline void f() { x.store_relaxed(1); }\n", "O1  f",
         "row O1: no operation"),
    Case("orders", "a tag on a relaxed operation", LOCK, "u8 expected = 0;",
         "u8 expected = turn.load_relaxed(); /* O3 */", "u8 expected",
         "on no operation stronger"),
]

INCLUDES = [
    Case("includes", "a lock includes its port", LOCK,
         "#include <klock/atomic.hpp>", "#include <klock/arch/cpu.hpp>",
         "arch/cpu", "must not include <klock/arch/cpu.hpp>"),
    Case("includes", "a lock includes a guard", LOCK,
         "#include <klock/atomic.hpp>", "#include <klock/guard.hpp>", "guard",
         "must not include <klock/guard.hpp>"),
    Case("includes", "a lock includes the self-test", LOCK,
         "#include <klock/atomic.hpp>", "#include <klock/selftest/locks.hpp>",
         "selftest", "must not include"),
    Case("includes", "a lock includes one that it does not use", TYPES,
         "#pragma once", "#pragma once\n#include <klock/good_lock.hpp>",
         "good_lock", "must not include"),
    Case("includes", "a lock that is not built from another",
         "lib/klock/new_lock.hpp", "", "#include <klock/good_lock.hpp>\n",
         "good_lock", "uses none of its types"),
    Case("includes", "a header that no row is for", "lib/klock/new.hpp", "",
         "#pragma once\n", "", "no row for this file"),
    Case("includes", "lib includes boot", LOCK, "#include <klock/atomic.hpp>",
         '#include "../../boot/x.hpp"', "boot", "by <klock/...> alone"),
    Case("includes", "a port includes a lock", PORT + "cpu.hpp",
         "klock/types", "klock/good_lock", "good_lock", "must not include"),
    Case("includes", "hosted code includes a test's header",
         "lib/model/checker.hpp", "", '#include "../../tests_host/x.hpp"\n',
         "x.hpp", "must not include"),
    Case("includes", "the model checker includes the simulator",
         "lib/model/checker.hpp", "", "#include <vector>\n"
         "#include <sim/sim.hpp>\n", "sim/sim", "of klock it may"),
    Case("includes", "boot includes a test", BOOT, "klock/good_lock.hpp",
         "klock/selftest/locks.hpp", "selftest", "boot knows no test"),
    Case("includes", "the host's tests include the lab's",
         "tests_host/unit/test_good_lock.cpp", "<klock/good_lock.hpp>",
         '"../../tests_qemu/x.hpp"', "tests_qemu", "must not include"),
]

BANS = [
    Case("bans", "#if", LOCK, "namespace klock {", "#if 1\nnamespace klock {",
         "#if", "'#if 1'"),
    Case("bans", "a macro", LOCK, "namespace klock {", "# define A",
         "define A", "'#define A'"),
    Case("bans", "another pragma", LOCK, "namespace klock {",
         "#pragma GCC x", "GCC x", "'#pragma GCC x'"),
    Case("bans", "no pragma once", TYPES, "#pragma once\n", "", "",
         "no '#pragma once'"),
    Case("bans", "a standard header", LOCK, "<klock/atomic.hpp>", "<atomic>",
         "<atomic>", "of the standard library only"),
    Case("bans", "an order as an argument", LOCK, "wait();",
         "wait(memory_order_acquire);", "wait(mem", "memory_order_acquire"),
    Case("bans", "a builtin's order", LOCK, "wait();",
         "wait(__ATOMIC_ACQUIRE);", "wait(__", "__ATOMIC_ACQUIRE"),
    Case("bans", "a builtin", LOCK, "wait();", "__atomic_clear(&x, 0);",
         "__atomic_clear", "only builtin_ops.hpp"),
    Case("bans", "namespace std", LOCK, "wait();", "std ::move(1);",
         "std ::", "no standard library"),
    Case("bans", "an exception", LOCK, "wait();", "throw 1;", "throw",
         "without exceptions"),
    Case("bans", "a lock calls its port", LOCK, "wait();",
         "arch::cycles();", "cycles", "never knows its port"),
    Case("bans", "a lock has assembly", LOCK, "wait();", 'asm("");', "asm",
         "belongs into the port"),
    Case("bans", "a lock pauses by itself", LOCK, "wait();", "cpu_relax();",
         "cpu_relax", "its own wait loop"),
    Case("bans", "a lock loops around a load", LOCK, "wait();",
         "while (turn.load_relaxed())\n;", "while (turn", "its own wait loop"),
    Case("bans", "a source file", "lib/klock/good.cpp", "", "\n", "",
         "holds .hpp headers alone"),
]

PROOFS = [
    Case("proofs", "a test case that is not there", LOCK,
         "unit/good_lock: size", "unit/good_lock: sizes", "sizes",
         'begins with "good_lock: sizes"'),
    Case("proofs", "the other world's test case", LOCK,
         "unit/good_lock: size", "native/good_lock: size", "Checked: native/g",
         "no test in tests_host/native"),
    Case("proofs", "the second of two", LOCK, "unit/good_lock\n",
         "unit/bad_lock\n", "Fairness:", '"bad_lock"'),
    Case("proofs", "no such world", LOCK, "sim/costs", "moon/costs", "moon",
         "write <world>/<test>"),
    Case("proofs", "no world at all", LOCK, "sim/costs", "everywhere",
         "everywhere", "write <world>/<test>"),
]

PORTS = [
    Case("ports", "lib uses a name that the contract has not", ATOMIC,
         "arch::load<", "arch::fetch<", "arch::fetch",
         "arch::fetch is not in lib/arch/CONTRACT.md"),
    Case("ports", "the contract demands what a port has not", CONTRACT,
         "`void cpu_relax()`", "`void cpu_snooze()`", "cpu_snooze",
         "'cpu_snooze' is not defined by the port lib/arch/toy"),
    Case("ports", "a type of the contract that a port has not", CONTRACT,
         "`struct cell<T>`", "`struct pair_cell<T>`", "pair_cell",
         "'pair_cell' is not defined"),
    Case("ports", "the second name of a row", CONTRACT, "`peek<O>`",
         "`poke<O>`", "poke", "'poke' is not defined"),
    Case("ports", "the contract demands another header", CONTRACT,
         "## cpu.hpp", "## msr.hpp\n\n## cpu.hpp", "",
         "no klock/arch/msr.hpp", "lib/arch/toy"),
]

STYLE = [
    Case("style", "no licence", TYPES, "/* SPDX-License-Identifier: MIT */",
         "/* types */", "types", "no licence"),
    Case("style", "no licence behind a #!", "boot/run", "",
         "#!/bin/sh\ntrue\n", "true", "no licence"),
    Case("style", "another licence", TYPES, ": MIT", ": GPL-2.0", "GPL",
         "no licence"),
    Case("style", "a margin that is lost", TYPES, "#pragma once",
         "/*\n * a line\n *that goes on\n */", "that goes on",
         "no blank behind"),
    Case("style", "work left undone", TYPES, "#pragma once",
         "/* " + "TO" + "DO */", "TO" + "DO", "do it, or say why"),
    Case("style", "a path of a machine", "boot/x.cmake", "",
         "# SPDX-License-Identifier: MIT\nset(x /" + "home/me/x)\n", "me/x",
         "a path of one machine"),
]

TABLE = [
    Case("lock_table", "a stale table", "lib/README.md", "a lint is tested",
         "a lint is proved", "a lint is proved", "the table is stale"),
    Case("lock_table", "a stale lifetime", LOCK, "the next holder may free it",
         "nobody may free it", "", "the table is stale",
         "lib/README.md"),
    Case("lock_table", "no markers", "lib/README.md", "<!-- locks: end -->",
         "", "", "no lines '<!-- locks: begin"),
    Case("lock_table", "a header that is not in the list",
         "lib/klock/new_lock.hpp", "", "struct new_lock {\n};\n", "",
         "not in the list"),
    Case("lock_table", "a lock that no header defines", LIST,
         'subject<"good_lock"', 'subject<"best_lock"', "",
         "'best_lock': no lib/klock/*_lock.hpp defines it"),
]

REPEATED = [
    Case("families", "a header of no family", "lib/klock/new.hpp", "", "\n",
         "", "new.hpp stands 0 times", "lib/README.md"),
    Case("families", "a header of two", "lib/README.md",
         "[types](klock/types.hpp)",
         "[types](klock/types.hpp), [types](klock/types.hpp)", "",
         "types.hpp stands 2 times"),
    Case("families", "no such section", "lib/README.md", "## The headers",
         "## Headers", "", "no section"),
    Case("provenance", "a stale table", LOCK, "Source:      ",
         "Source:      another ", "", "the table is stale",
         "lib/docs/provenance.md"),
    Case("provenance", "no markers", "lib/docs/provenance.md",
         "<!-- sources: end -->", "", "", "no lines '<!-- sources: begin"),
    Case("provenance", "a lock that nobody looked up",
         "lib/docs/provenance.md", "| `good_lock` |", "| `other_lock` |", "",
         "'good_lock' has no row"),
    Case("versions", "another version for Meson", "meson.build", "0.1.0",
         "0.1.1", "", "does not say 0.1.0"),
    Case("versions", "a version that CHANGELOG does not know",
         "lib/klock/version.hpp", "minor = 1", "minor = 9", "",
         "does not say 0.9.0", "CHANGELOG.md"),
    Case("wrapped", "a function that no test compares", LOCK,
         "	/* x.store_release()", "	bool is_new() const { return 1; }\n	/*",
         "is_new", "'is_new' is not in tests_host/unit"),
    Case("wrapped", "a constant that no test compares", LOCK,
         "	static_assert(", "	static constexpr u64 newest = 1;\n	static_assert(",
         "newest", "'newest' is not in tests_host/unit"),
    Case("wrapped", "a type that no test compares", LOCK,
         "	static_assert(", "	using ticket = u8;\n	static_assert(",
         "ticket", "'ticket' is not in tests_host/unit"),
    Case("wrapped", "a test that lists one less",
         "tests_host/unit/test_checked_lock_drop_in.cpp", '"try_lock()", ', "",
         "", "'try_lock' is not in tests_host/unit", LOCK),
]

CASES = FIELDS + ORDERS + INCLUDES + BANS + PROOFS + PORTS + STYLE + TABLE \
    + REPEATED
