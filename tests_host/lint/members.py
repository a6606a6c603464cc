# SPDX-License-Identifier: MIT
"""Every public member function of every lock is called by a unit test, and
each that waits is known to the checks.

The functions are read from the headers; what is called is in the tests'
programs, as they are compiled without optimisation: a function that nobody
calls is not in them. Not of seq_lock, whose tests step through what is
optimised. Run: members.py --root DIR [--list] PROGRAM...

Whatever may wait, a public function from which one of the port's waits or
another lock's lock() is reached, is a function of checked_lock, too, and each
form of it there runs both hooks: what is known of the one lock, and of the
order of all. UNHOOKED says of the others why not. --list: all of them.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import common
import cxx
import verb_list
from common import Finding, tool

_STRUCT = re.compile(r"^struct\s+(?:\[\[.*?\]\]\s*|alignas\([^)]*\)\s*)*"
                     r"(\w+)(?:[^;{]*|\s*:[^;]*?)\{\n", re.M)
_ACCESS = re.compile(r"^ {6}(public|protected|private):", re.M)


def public_members(text):
    """(type, function, line) of what the types of a header offer."""
    code = cxx.code_only(text)
    for struct in _STRUCT.finditer(code):
        name, start = struct[1], struct.end() - 2
        end = cxx.closing(code, start)
        body = code[start:end]
        access = [(0, "public")] + [(m.start(), m[1])
                                    for m in _ACCESS.finditer(body)]
        for function in cxx.functions(body[1:]):
            at = function.start + 1
            inner = body[1:at]
            depth = inner.count("{") - inner.count("}")
            if depth or function.name.lstrip("~") in (name, "operator") or \
                    f"using {function.name} =" in body:
                continue
            if [a for offset, a in access if offset < at][-1] == "public":
                yield name, function.name, common.line_of(code, start + at)


_WAITS = re.compile(r"\bawait\w*\s*(?:<[^;(){}]*>)?\s*\(|[.>]\s*lock\w*\s*\(")
# A wrapper waits by the locks inside of it, and tells them who asks.
_PASSED_ON = re.compile(r"\w[.]lock\w*\(by\.\.\.\)")
_EVENTS = "detail/checked_event.hpp"
_CHECKED = ("checked_lock.hpp", "detail/checked.hpp", _EVENTS)
_HOOKS = {"before_wait", "note_wanted"}
# Headers that wait by definition, or that measure.
_NO_LOCK = ("atomic.hpp", "calibrate.hpp", "checked_lock.hpp")
UNHOOKED = {
    "mcs_lock::unlock": "for a successor that has swapped, to link itself",
    "phase_fair_lock::upgrade": "who upgrades holds it, as lock_upgradable() "
                                "has noted",
    "peterson_lock::await_left": "for who is in unlock()",
    "spin_barrier::arrive_and_wait": "for all, each once: nobody holds it",
    "once::call": "names who would wait for itself; one runs it, and goes on",
    "lazy::get": "once::call",
    "to_read_in_handler::take": "the gate that it reads is a checked lock",
    "seq_count::read_begin": "its writers have a lock of their own",
    **{f"{name}::{verb}": "sleeps, and holds nothing that others wait for"
       for name, verbs in (
           ("completion_with", ("wait", "wait_until", "wait_for")),
           ("condition_with", ("wait", "wait_until", "wait_for")),
           ("wait_queue_with", ("wait", "wait_until", "wait_for")))
       for verb in verbs},
}


class Waiting(NamedTuple):
    path: Path
    line: int
    type: str
    verb: str
    body: str

    @property
    def name(self):
        return f"{self.type}::{self.verb}"


def waiting_members(root):
    """Each public function that may wait."""
    for path in sorted((root / "lib/klock").glob("*.hpp")):
        if path.name in _NO_LOCK:
            continue
        text = path.read_text()
        code = cxx.code_only(text)
        functions = cxx.functions(code)
        for name, verb, line in public_members(text):
            reached = cxx.reached_from(code, functions, verb)
            if any(_WAITS.search(code[f.start:f.end]) for f in functions
                   if f.name in reached):
                body = "".join(code[f.start:f.end] for f in functions
                               if common.line_of(code, f.start) == line)
                yield Waiting(path, line, name, verb, body)


def checks_of(root):
    """{name: [(path, line, hooks that it does not run)]} of checked_lock's
    functions. What the lock inside calls does not count as a hook."""
    functions, bodies, offered, own = [], {}, [], []
    rows = verb_list.rows(root)
    for name in _CHECKED:
        path = root / "lib/klock" / name
        text = path.read_text() if path.exists() else ""
        code = cxx.code_only(text)
        passes = {one.start: one for one in verb_list.passes(code, rows)}
        offered += re.findall(r"^\tusing core::(\w+);$", code, re.M)
        own += [(path, line) for type_, _, line in public_members(text)
                if type_ == "checked_lock"]
        for function in cxx.functions(code):
            body = re.sub(r"\binner\.\w+", "",
                          code[function.start:function.end])
            body = re.sub(r"\bpass\([\w:]*verb::(\w+)", r"pass_\1(", body)
            line = common.line_of(code, function.start)
            if function.start in passes:
                for verb in passes[function.start].verbs:
                    bodies.setdefault(f"pass_{verb}", []).append(body)
                    functions.append((path, line, verb, body, True))
                continue
            bodies.setdefault(function.name, []).append(body)
            functions.append((path, line, function.name, body, False))
    checks = {}
    for path, line, name, body, passed in functions:
        if (path, line) not in own and name not in offered and not passed:
            continue
        reached, todo = set(), [body]
        while todo:
            called_ = set(re.findall(r"\b(\w+)\s*\(", todo.pop())) - reached
            reached |= called_
            todo += [b for callee in called_ for b in bodies.get(callee, [])]
        checks.setdefault(name, []).append((path, line, _HOOKS - reached))
    return checks


def check_hooks(root):
    checks, waiting = checks_of(root), list(waiting_members(root))
    if not checks or not waiting:
        return common.nothing_found("no function that waits")
    wrappers = {w.type for w in waiting if _PASSED_ON.search(w.body)}
    wrong = []
    for w in waiting:
        if w.name in UNHOOKED:
            continue
        if w.type in wrappers:
            if _WAITS.search(_PASSED_ON.sub("", w.body)):
                wrong.append((w.path, w.line, f"{w.name}() does not tell the "
                              "lock inside who asks"))
        elif w.verb not in checks:
            wrong.append((w.path, w.line, f"{w.name}() may wait, and checked_"
                          "lock has none: hook it, or list it in UNHOOKED"))
        wrong += [(path, line, f"{w.verb}() waits without "
                   f"{' and '.join(sorted(missing))}()")
                  for path, line, missing in checks.get(w.verb, []) if missing]
    return [Finding(common.relative(path, root), line, text)
            for path, line, text in sorted(set(wrong))]


def without_arguments(symbol):
    """A symbol without template arguments: klock::lock<4u>::look<int>(..)
    becomes klock::lock::look(..)."""
    while True:
        shorter = re.sub(r"<[^<>]*>", "", symbol)
        if shorter == symbol:
            return symbol
        symbol = shorter


def is_mangled_in(name, function, mangled):
    """Whether it is in a name that binutils 2.44 leaves mangled, as it does not
    know GCC 14's requires-expressions: 8wake_one is wake_one."""
    both = re.compile(f"{len(name)}{name}[IE].*{len(function)}{function}[IE]")
    return any(both.search(symbol) for symbol in mangled)


def called(programs):
    """(type, function) of each function of klock's that is in a program, and
    the names that stay mangled."""
    found = set()
    mangled = set()
    for program in programs:
        symbols = subprocess.run(["nm", "-C", program], check=True,
                                 capture_output=True, text=True).stdout
        for symbol in set(symbols.splitlines()):
            if symbol[19:].startswith(("_ZN5klock", "_ZNK5klock")):
                mangled.add(symbol[19:])
            if "klock::" in symbol:
                short = without_arguments(symbol[19:])
                found |= set(re.findall(
                    r"\bklock::(?:\w+::)*(\w+)::(\w+)\(", short))
                found |= set(re.findall(
                    r"\bklock::(?:\w+::)*(\w+)::pass\(klock::detail::verb::"
                    r"(\w+)", short))
    return found, mangled


def check(root, programs=()):
    if not programs:
        return check_hooks(root)
    seen, mangled = called(programs)
    members = [(path, *member)
               for path in (*common.lock_headers(root),
                            root / "lib/klock" / _EVENTS)
               if path.name not in common.UNLISTED
               for member in public_members(path.read_text())]
    if len(members) < 150 or len(seen) < 100:
        return common.nothing_found("too few functions")
    rows = verb_list.rows(root)
    handed_on = [(path, one.type, verb, one.line)
                 for path in common.lock_headers(root)
                 for one in verb_list.passes(cxx.code_only(path.read_text()),
                                             rows)
                 for verb in one.verbs if not one.forwards]
    if len(handed_on) < 30:
        return common.nothing_found("too few verbs that a wrapper hands on")
    return [Finding(common.relative(path, root), line, f"{name}::{function}() "
                    "is called by no unit test")
            for path, name, function, line in members + handed_on
            if (name, function) not in seen and
            not is_mangled_in(name, function, mangled)]


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--root", type=tool.tree, required=True)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    if args.list:
        for w in waiting_members(args.root):
            print(w.name, UNHOOKED.get(w.name, "checked"), sep="\t")
        return 0
    return common.report(check(args.root, args.programs))


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
