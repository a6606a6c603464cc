# SPDX-License-Identifier: MIT
"""Every lint finds what it is for: a lint that cannot fail is a defect.

The tree in fixture.txt is good: no lint says anything of it. Each case breaks
one copy of it in one place, and its lint must say so, in that file and that
line: a case a rule. Run: selftest.py
"""

import importlib
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import common
import format as clang_format

HERE = Path(__file__).resolve().parent
LINTS = ("fields", "orders", "includes", "bans", "ports", "style",
         "lock_table", "repeated", "members", "names", "figures",
         "proofs", "sentences")

LOCK = "lib/klock/good_lock.hpp"
ATOMIC = "lib/klock/atomic.hpp"
TYPES = "lib/klock/types.hpp"
CHECKS = "lib/klock/detail/checked.hpp"
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
    Case("fields", "a field twice", LOCK, " * Assumes:",
         " * Context:     any\n * Assumes:", "Context:", "a second time"),
    Case("fields", "a field that the template has not", LOCK, " * Assumes:",
         " * Beware:      of it\n * Assumes:", "Beware:",
         "no field 'Beware:'"),
    Case("fields", "a claim without a test", LOCK,
         "Checked: unit/good_lock: size", "", "Size:",
         "'Size:' names no test"),
    Case("fields", "another name in the title", LOCK, "good_lock - what",
         "bad_lock - what", "bad_lock - what", "does not begin"),
    Case("fields", "a Cost without a semicolon", LOCK, "1 line;", "1 line,",
         "Cost:", "no ';' between uncontended and handoff"),
    Case("fields", "a Cost without lines", LOCK, "1 store, 1 line;", "1 store;",
         "Cost:", "uncontended: no number of lines"),
    Case("fields", "a Cost without misses", LOCK, "w + 1 misses", "few misses",
         "Cost:", "uncontended: no misses or transfers"),
    Case("fields", "a Cost that says nothing of a read", LOCK,
         "	void unlock()", "	void lock_shared() {}\n	void unlock()",
         "Cost:", "nothing of '; a read:"),
    Case("fields", "a Cost that does not say how a read grows", LOCK,
         "w + 1 misses", "w misses; a read: 1 line; among r readers: w misses",
         "Cost:", "a read: no misses or transfers"),
    Case("fields", "a Cost that goes on behind its test", LOCK,
         "Checked: sim/costs\n", "Checked: sim/costs\n *  and 1 more\n",
         "Cost:", "no more of 'Cost:'"),
]

ORDERS = [
    Case("orders", "an acquire without a tag", LOCK, " /* O1 */", "",
         "exchange_acquire(1)", "exchange_acquire without a tag"),
    Case("orders", "a template call without a tag", LOCK, " /* O2 */", "",
         "turn_of(1).template await_acquire", "await_acquire without a tag"),
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
    Case("orders", "another variable in the row", LOCK, "turn.await_acquire ",
         "node.await_acquire ", "turn_of(1).template await_acquire",
         "does not name node"),
    Case("orders", "another method in the row", LOCK, "O3  try_lock",
         "O3  unlock  ", "compare_exchange_acquire",
         "O3 is in try_lock(), which unlock()"),
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
    Case("orders", "a tag in other characters", LOCK, "/* O5 */", "/*O5*/",
         "unlock()", "write '/* O5 */'"),
    Case("orders", "two tags in a line", LOCK, "store_release(0); } /* O5 */",
         "store_release(0); /* O5 */ settle(); } /* O4 */", "unlock()",
         "two tags in one line"),
    Case("orders", "a tag far behind its operation", LOCK, "u8{1})) /* O3 */",
         "u8{1}" + "\n" * 5 + ")) /* O3 */", "/* O3 */",
         "O3 stands 6 lines behind"),
    Case("orders", "an order in a header that is no lock",
         "lib/klock/meter.hpp", "", "inline void f() { x.store_release(1); }\n",
         "store_release(1)", "store_release without a tag"),
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
    Case("includes", "a lock includes one that it does not use", TYPES,
         "#pragma once", "#pragma once\n#include <klock/good_lock.hpp>",
         "good_lock", "must not include"),
    Case("includes", "a folder of its own that no row is for",
         "lib/other/new.hpp", "", "#pragma once\n", "", "no row for this file"),
    Case("includes", "a header of detail/ includes a guard",
         "lib/klock/detail/new.hpp", "", "#include <klock/guard.hpp>\n",
         "guard", "must not include"),
    Case("includes", "a lock that is not built from another",
         "lib/klock/new_lock.hpp", "", "#include <klock/good_lock.hpp>\n",
         "good_lock", "uses none of its types"),
    Case("includes", "lib includes boot", LOCK, "#include <klock/atomic.hpp>",
         '#include "../../boot/x.hpp"', "boot", "by <klock/...> alone"),
    Case("includes", "a port includes a lock", PORT + "cpu.hpp",
         "klock/types", "klock/good_lock", "good_lock", "must not include"),
    Case("includes", "hosted code includes a test's header",
         "lib/model/checker.hpp", "", '#include "../../tests_host/x.hpp"\n',
         "x.hpp", "must not include"),
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
    Case("bans", "no pragma once", TYPES, "#pragma once\n", "", "",
         "no '#pragma once'"),
    Case("bans", "a standard header", LOCK, "<klock/atomic.hpp>", "<atomic>",
         "<atomic>", "of the standard library only"),
    Case("bans", "an order as an argument", LOCK, "wait();",
         "wait(memory_order_acquire);", "wait(mem", "memory_order_acquire"),
    Case("bans", "a builtin", LOCK, "wait();", "__atomic_clear(&x, 0);",
         "__atomic_clear", "only builtin_ops.hpp"),
    Case("bans", "namespace std", LOCK, "wait();", "std ::move(1);",
         "std ::", "no standard library"),
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
    Case("fields", "a test case that is not there", LOCK,
         "unit/good_lock: size", "unit/good_lock: sizes", "sizes",
         'begins with "good_lock: sizes"'),
    Case("fields", "another label's test case", LOCK,
         "unit/good_lock: size", "native/good_lock: size", "Checked: native/g",
         "of tests_host/native builds has a name"),
    Case("fields", "a test case in a file that no CMake list has",
         "tests_host/unit/CMakeLists.txt", "test_good_lock.cpp", "",
         "", 'begins with "good_lock: size"', LOCK),
    Case("fields", "no such label", LOCK, "sim/costs", "moon/costs", "moon",
         "write <label>/<test>"),
]

PORTS = [
    Case("ports", "lib uses a name that the contract has not", ATOMIC,
         "arch::load<", "arch::fetch<", "arch::fetch",
         "arch::fetch is not in lib/arch/CONTRACT.md"),
    Case("ports", "the contract demands what a port has not", CONTRACT,
         "`void cpu_relax()`", "`void cpu_snooze()`", "cpu_snooze",
         "'cpu_snooze' is not defined by the port lib/arch/toy"),
    Case("ports", "what a port has not is no default either", ATOMIC,
         "namespace arch_defaults {", "namespace own {", "",
         "'flag_word' is not defined by the port lib/arch/toy", CONTRACT),
    Case("ports", "the contract demands another header", CONTRACT,
         "## cpu.hpp", "## msr.hpp\n\n## cpu.hpp", "",
         "no klock/arch/msr.hpp", "lib/arch/toy"),
    Case("ports", "an overlay has not what the contract demands",
         "tests_host/overlays/slow/klock/arch/cpu.hpp",
         "inline void cpu_relax() {}\n", "", "",
         "'cpu_relax' is not here, which lib/arch/CONTRACT.md:"),
]

RULES = [
    Case("style", "no licence", TYPES, "/* SPDX-License-Identifier: MIT */",
         "/* types */", "types", "no licence"),
    Case("style", "a margin that is lost", TYPES, "#pragma once",
         "/*\n * a line\n *that goes on\n */", "that goes on",
         "no blank behind"),
    Case("style", "work left undone", TYPES, "#pragma once",
         "/* " + "TO" + "DO */", "TO" + "DO", "do it, or say why"),
    *(Case("style", f"a document says {words}", "lib/README.md", "`In vain`:",
           f"It {words}:", words, f"'{words}': ") for words in (
               "in vain", "who comes", "draws a ticket", "times a second",
               "stays outside", "brought", "crowd", "floor", "rooms",
               "old place", "mended", "is to be an error")),
    Case("style", "a README that is too long", "README.md", "", "word " * 901,
         "", "words: at most 900"),
    Case("style", "a public comment says in vain", LOCK, "in prose", "in vain",
         "in vain", "'in vain': "),
    Case("style", "a public comment without a subject", TYPES, "#pragma once",
         "#pragma once\n/*\n * What is there.\n */", "What is", "'What ...'"),
    Case("style", "a path of a machine", "boot/x.cmake", "",
         "# SPDX-License-Identifier: MIT\nset(x /" + "home/me/x)\n", "me/x",
         "a path of one machine"),
]

TABLE = [
    Case("lock_table", "a stale table", "lib/README.md", "a lint is tested",
         "a lint is proved", "a lint is proved", "the table is stale"),
    Case("lock_table", "a lock whose header no test finds", LOCK,
         "struct good_lock {", "struct [[nodiscard]] good_lock {", "",
         "no line 'struct good_lock {'"),
    Case("lock_table", "no markers", "lib/README.md", "<!-- locks: end -->",
         "", "", "no lines '<!-- locks: begin"),
    Case("lock_table", "a header that is not in the list",
         "lib/klock/new_lock.hpp", "", "struct new_lock {\n};\n", "",
         "not in the list"),
    Case("lock_table", "a short table that says something else", "README.md",
         "to test |", "to prove |", "to prove", "the table is stale"),
    Case("lock_table", "a source that says something else", "lib/README.md",
         "| sleep | threads", "| sleep | waiters", "", "the table is stale",
         "lib/docs/sleep.md"),
    Case("lock_table", "a figure that is not the measured one",
         "tests_host/bench/README.md", "| 1.39 |", "| 1.49 |", "",
         "the table is stale", "README.md"),
    Case("lock_table", "a row of no topic", "lib/README.md", "| usual | a lint",
         "| often | a lint", "", "is no row of a topic"),
    Case("lock_table", "a lock that no header defines", LIST,
         'subject<"good_lock"', 'subject<"best_lock"', "",
         "'best_lock': no lib/klock/*_lock.hpp defines it"),
]

REPEATED = [
    Case("repeated", "a source that the list has not", "lib/c/new.cpp", "",
         "\n", "", "new.cpp is in the folder alone", "lib/c/sources"),
    Case("repeated", "a source that is gone", "lib/c/sources", "good",
         "good gone", "", "gone.cpp is in the list alone"),
    Case("repeated", "a header of no family", "lib/klock/new.hpp", "", "\n",
         "", "new.hpp stands 0 times", "lib/README.md"),
    Case("repeated", "no such section", "lib/README.md", "## The headers",
         "## Headers", "", "no section"),
    Case("lock_table", "a stale table", LOCK, "Source:      ",
         "Source:      another ", "", "the table is stale",
         "lib/docs/provenance.md"),
    Case("lock_table", "no markers", "lib/docs/provenance.md",
         "<!-- sources: end -->", "", "", "no lines '<!-- sources: begin"),
    Case("lock_table", "a lock that nobody looked up",
         "lib/docs/provenance.md", "| `good_lock` |", "| `other_lock` |", "",
         "'good_lock' has no row"),
    Case("repeated", "another version for Meson", "meson.build", "0.1.0",
         "0.1.1", "", "does not say 0.1.0"),
    Case("repeated", "another version to cite", "CITATION.cff", "0.1.0",
         "0.1.1", "", "does not say 0.1.0"),
    Case("repeated", "another version in C", "lib/c/klock/verbs.h", "0.1.0",
         "0.1.1", "", "does not say 0.1.0"),
    Case("repeated", "another licence for REUSE", "LICENSES/MIT.txt", "MIT",
         "BSD", "", "is not LICENSE"),
    Case("repeated", "a function that no test compares", LOCK,
         "	/* x.store_release()", "	bool is_new() const { return 1; }\n	/*",
         "is_new", "'is_new' is not in tests_host/unit"),
    Case("repeated", "a test that lists one less",
         "tests_host/unit/test_checked_lock.cpp", '"try_lock()", ', "",
         "", "'try_lock' is not in tests_host/unit", LOCK),
]

BRANCHES = [
    Case("orders", "a method that does not exist", LOCK, "O5  unlock",
         "O5  open  ", "unlock()", "which open()"),
    Case("orders", "a row of a header that is no lock", "lib/klock/meter.hpp",
         "", "/*\n * meter - x\n *\n * Ordering:\n"
         " *\tO1  f  x.store_release  pairs with O1\n */\n"
         "inline void f() { x.store_relaxed(1); }\n", "O1  f",
         "row O1: no operation"),
    Case("includes", "a lock includes the self-test", LOCK,
         "#include <klock/atomic.hpp>", "#include <klock/selftest/locks.hpp>",
         "selftest", "must not include"),
    Case("includes", "the model checker includes the simulator",
         "lib/model/checker.hpp", "", "#include <vector>\n"
         "#include <sim/sim.hpp>\n", "sim/sim", "of klock it may"),
    Case("bans", "an exception", LOCK, "wait();", "throw 1;", "throw",
         "without exceptions"),
    Case("members", "a wait without a hook", CHECKS, "		note_wanted();\n", "",
         "{", "lock() waits without note_wanted()"),
    Case("members", "the lock inside is taken for a hook", CHECKS,
         "		before_wait();", "		inner.before_wait();", "{",
         "waits without before_wait()"),
    Case("members", "a wait that checked_lock has not", LOCK,
         "	void lock()", "	void lock_late() { wait(); }\n	void lock()",
         "lock_late", "good_lock::lock_late() may wait"),
    Case("fields", "no label at all", LOCK, "sim/costs", "everywhere",
         "everywhere", "write <label>/<test>"),
    Case("style", "no licence behind a #!", "boot/run", "",
         "#!/bin/sh\ntrue\n", "true", "no licence"),
    Case("repeated", "a version that CHANGELOG does not know",
         "lib/klock/version.hpp", "minor = 1", "minor = 9", "",
         "does not say 0.9.0", "CHANGELOG.md"),
    Case("repeated", "a constant that no test compares", LOCK,
         "	static_assert(", "	static constexpr u64 newest = 1;\n	static_assert(",
         "newest", "'newest' is not in tests_host/unit"),
    Case("repeated", "a type that no test compares", LOCK,
         "	static_assert(", "	using ticket = u8;\n	static_assert(",
         "ticket", "'ticket' is not in tests_host/unit"),
]

NAMES = [
    Case("names", "a notification that is named as a question", BOOT,
         "	void open()", "	void is_opened()", "is_opened",
         "is_opened() returns void"),
    Case("names", "a question that returns what it found", BOOT, "bool is_up",
         "gate *is_up", "is_up(const", "is_up() returns gate *"),
    Case("names", "a question that may change its object", BOOT,
         "is_open() const", "is_open()", "is_open()", "neither const nor"),
    Case("names", "a question behind a label and a template", BOOT,
         "with) const", "with)", "may_pass", "neither const nor"),
    Case("names", "a question that may change what it is given", BOOT,
         "const gate &one", "gate &one", "is_up(gate", "change 'gate &one'"),
    Case("names", "a question by a pointer", BOOT, "const void *at", "void *at",
         "is_gate", "change 'void *at"),
    Case("names", "a question outside of its struct", BOOT, "bool is_up",
         "u32 gate::has_all() const\n{\n}\nbool is_up", "has_all",
         "has_all() returns u32"),
]

FIGURES = [
    Case("figures", "a figure that is not the constant's", LOCK,
         "most_looks (9)", "most_looks (8)", "most_looks (8)",
         "most_looks is 9, not 8"),
    Case("figures", "a constant that its figure does not follow", LOCK,
         "most_looks = 9", "most_looks = 0x0b", "most_looks (9)",
         "most_looks is 11, not 9"),
    Case("figures", "a default argument that its figure does not follow",
         CHECKS, "Tries = 2'000", "Tries = 3'000", "Tries (2,000)",
         "Tries is 3000, not 2,000"),
    Case("figures", "another header's constant", TYPES, "#pragma once",
         "#pragma once\n/* good_lock::most_looks (8) */", "most_looks (8)",
         "most_looks is 9, not 8"),
    Case("figures", "a field has a figure alone", LOCK, "most_looks (9)", "9",
         "9 at once", "'most_looks (9)'"),
    Case("figures", "a sentence has a name and its figure apart", CHECKS,
         "Tries (2,000) are", "Tries is 2000, which is", "Tries is 2000",
         "'Tries (2000)'"),
]

PROVED = "tests_host/proofs/good.smt2"
OPERATIONS = [
    Case("proofs", "an operation that the proof has not", LOCK,
         "node.taken.store_release(0)", "node.taken.fetch_sub_release(1)",
         "", "unlock: fetch_sub_release", PROVED),
    Case("proofs", "a relaxed operation that the proof has not", LOCK,
         "settle();\n	}", "turn.store_relaxed(1);\n		settle();\n	}",
         "", "exchange_acquire, store_relaxed", PROVED),
    Case("proofs", "an operation in another function", PROVED, "unlock",
         "unlock_shared", "Operations of good_lock", "see that each is a step"),
    Case("proofs", "a header that the proof does not list", PROVED,
         "; Operations of good_lock.hpp:", "; Operations:", "",
         "good_lock.hpp has other operations"),
    Case("proofs", "an obligation that asks twice", PROVED,
         "(check-sat-assuming (range))\n", "", "good: step",
         "'good: step' asks 2 times"),
    Case("proofs", "an obligation more", PROVED, "(push)",
         '(echo "good: more")\n' + "(check-sat)\n" * 3 + "(push)", "",
         "klock_add_proof(good 2)", "tests_host/proofs/CMakeLists.txt"),
    Case("proofs", "a proof that no test runs",
         "tests_host/proofs/CMakeLists.txt", "good 1", "other 1", "",
         "klock_add_proof(good 1)"),
    Case("proofs", "a header that names no proof", LOCK, "proofs/good",
         "unit/good_lock", "", "does not say 'Checked: proofs/good'", PROVED),
]

SENTENCES = [
    Case("sentences", "a comment without a subject", BOOT, "struct gate {",
         "/*\n * Of a gate.\n */\nstruct gate {", "/*",
         "'Of ...': begin with a subject"),
    Case("sentences", "two words without a subject", TYPES, "#pragma once",
         "#pragma once\n/* The same, once more. */", "The same",
         "'The same ...'"),
    Case("sentences", "a heading without a subject", TYPES, "#pragma once",
         "#pragma once\n/* -- Who takes it -- */", "Who takes", "'Who ...'"),
    Case("sentences", "a comment behind code", BOOT, "bool is_up",
         "int n; // And another.\nbool is_up", "And another", "'And ...'"),
    Case("sentences", "the second of two comments of lines", BOOT, "bool is_up",
         "// A number.\n// Of two.\nint n;\n// Of n alone.\nbool is_up",
         "// Of n alone", "'Of ...'"),
    Case("sentences", "a comment in Python", "toolchain/x.py", "",
         "# SPDX-License-Identifier: MIT\nx = 1\n# A number.\n# Of x.\n"
         "y = 1  # Whoever adds.\n", "Whoever", "'Whoever ...'"),
    Case("sentences", "a docstring", "toolchain/x.py", "",
         "# SPDX-License-Identifier: MIT\ndef f():\n    \"\"\"Those that f.\"\"\"\n",
         "Those that", "'Those ...'"),
    Case("sentences", "a comment in CMake", "boot/x.cmake", "",
         "# SPDX-License-Identifier: MIT\n\n# Whose sources.\nset(x)\n",
         "Whose", "'Whose ...'"),
    Case("sentences", "a comment in a guide's code", "boot/x.md", "",
         "Text.\n```cpp\nint n;\nint of; // Of n.\n```\n", "// Of n",
         "'Of ...'"),
    Case("sentences", "a comment in a script", "boot/run", "",
         "#!/bin/sh\n# SPDX-License-Identifier: MIT\ntrue # Else.\n", "Else",
         "'Else ...'"),
]

CASES = BRANCHES + FIELDS + ORDERS + INCLUDES + BANS + PROOFS + PORTS + RULES + TABLE \
    + REPEATED + NAMES + FIGURES \
    + OPERATIONS + SENTENCES


def fixture():
    parts = re.split(r"^=== (.*)\n", (HERE / "fixture.txt").read_text(),
                     flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def write_tree(files, root):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(lint, root):
    return [finding for finding in importlib.import_module(lint).check(root)
            if not finding.note]


def matches(finding, case, text):
    """Whether a finding is the case's: its file, its line, its words."""
    if finding.path != (case.blames or case.path) or \
            case.message not in finding.text:
        return False
    if not case.where:
        return True
    lines = text.splitlines()
    return 0 < finding.line <= len(lines) and \
        case.where in lines[finding.line - 1]


def check_case(case, files, root):
    """Returns the fault of the lint, or None."""
    old = files.get(case.path, "")
    if case.old not in old:
        return f"the fixture's {case.path} has no {case.old!r}: mend the case"
    text = old.replace(case.old, case.new, 1) if case.old else case.new + old
    write_tree({**files, case.path: text}, root)
    findings = run(case.lint, root)
    if any(matches(finding, case, text) for finding in findings):
        return None
    said = "".join(f"\n    {finding}" for finding in findings) or " nothing"
    return (f"should say '{case.message}' of {case.blames or case.path}"
            f"{' at ' + repr(case.where) if case.where else ''}; said:{said}")


def check_good(lint, files, root):
    write_tree(files, root)
    return "".join(f"\n    {f}" for f in run(lint, root)) or None


def check_empty(lint, root):
    """A lint that finds nothing to look at fails."""
    write_tree({f"{folder}/.empty": "" for folder in common.FOLDERS}, root)
    for folder in common.FOLDERS:
        (root / folder / ".empty").unlink()
    return None if run(lint, root) else "passes on an empty tree"


def check_format(files, root):
    """clang-format is asked, and heard."""
    program, reason = clang_format.find_program(None)
    if not program:
        print(f"format not tried: {reason}")
        return None
    write_tree(files, root)
    shutil.copy(HERE.parent.parent / ".clang-format", root)
    paths = sorted(root.rglob("*.hpp"))
    if clang_format.misformatted(program, root, paths):
        return "the fixture is not formatted"
    paths[0].write_text(paths[0].read_text() + "int  x;\n")
    return None if clang_format.misformatted(program, root, paths) else \
        "an unformatted file passed"


def main():
    common.tool.Parser(__doc__).parse_args()
    files, failed = fixture(), 0
    tries = [(f"{lint}: the good tree", check_good, lint, files)
             for lint in LINTS]
    tries += [(f"{lint}: an empty tree", check_empty, lint) for lint in LINTS]
    tries += [(f"{case.lint}: {case.title}", check_case, case, files)
              for case in CASES]
    tries.append(("format", check_format, files))
    for title, check, *given in tries:
        with tempfile.TemporaryDirectory() as name:
            wrong = check(*given, Path(name))
        if wrong:
            failed += 1
            print(f"FAIL {title}: {wrong}")
    for lint in set(LINTS) - {case.lint for case in CASES}:
        failed += 1
        print(f"FAIL no case breaks {lint}")
    print(f"{len(tries)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(common.tool.exit_status(main))
