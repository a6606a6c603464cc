#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lib/docs/verbs.md's tables: what each type offers in C++, as a checked lock,
in C and as a checked lock of C.

What there is, is asked of the headers: in C++ by requires-expressions in a
program that is compiled here, in C of the functions that klock.h declares and
of its _Generic tables. What there is not needs a reason, in REASONS below. Each
public function of a type in the tables, of checked_lock and of a lock of C must
be a verb that they know, and each public type must be in one of them, or in
ELSEWHERE.

--check fails where a table is not what --write would write, a verb is missing
without a reason, or a reason is left over. --selftest: it does, of a copy of the
headers with a verb less or a verb more.
Run: verbs.py --root DIR --check | --write | --selftest
"""
import fnmatch
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lint"))
import c_library
import cases
import members
from cases import tool

PAGE = "lib/docs/verbs.md"
WORLDS = ("C++", "checked C++", "C", "checked C")
CPP, CHECKED_CPP, C, CHECKED_C = WORLDS

# -- The types -----------------------------------------------------------------

# Rows of the first two tables are the locks of klock/selftest/locks.hpp, and
# these. In C: klock/c_lock.hpp.
SLEEPING_LOCKS = ("mutex", "inheriting_mutex", "shared_mutex")
# Rows of the third.
EVENTS = {
    "semaphore": "semaphore",
    "completion": "completion",
    "condition": "condition",
    "wait_queue": "wait_queue",
    "seq_lock": "seq_lock<int>",
    "seq_latch": "seq_latch<int>",
    "seq_count": "seq_count",
    "once": "once",
    "lazy": "lazy<int>",
    "spin_barrier": "spin_barrier",
}
# Rows of the last: around a lock L, and around a checked one, or checked.
WRAPPERS = {
    "counted_lock": ("counted_lock<L>", "checked_lock<counted_lock<L>>"),
    "thread_lock": ("thread_lock<L>", "checked_lock<thread_lock<L>>"),
    "timed_lock": ("timed_lock<L, maxima>",
                   "timed_lock<checked_lock<L>, maxima>"),
    "recursive_lock": ("recursive_lock<L>", "checked_lock<recursive_lock<L>>"),
    "irq_lock": ("irq_lock<L>", "irq_lock<checked_lock<L>>"),
    "irq_shared_lock": ("irq_shared_lock<L>",
                        "irq_shared_lock<checked_lock<L>>"),
    "leveled": ("leveled<L, 1>", "leveled<checked_lock<L>, 1>"),
    "annotated_lock": ("annotated_lock<L>", "annotated_lock<checked_lock<L>>"),
}
# The locks that they are asked around, where they take them.
INSIDE = {"ticket_lock": "ticket_lock<u8>", "timeout_lock": "timeout_lock<8>",
          "queued_lock": "queued_lock<64>", "rw_ticket_lock":
          "rw_ticket_lock<u8>", "phase_fair_lock": "phase_fair_lock<u8>",
          "reader_lock": "reader_lock<8>", "mutex": "mutex",
          "inheriting_mutex": "inheriting_mutex",
          "shared_mutex": "shared_mutex"}

# The headers' own names, where they differ.
DEFINED_AS = {"patient_mutex": "mutex", "inheriting_mutex_in":
              "inheriting_mutex", "patient_shared_mutex": "shared_mutex",
              "bounded_semaphore": "semaphore", "completion_with": "completion",
              "condition_with": "condition", "wait_queue_with": "wait_queue"}

# Public types without a row, or patterns of them: where they are described.
ELSEWHERE = {
    "guards: take-a-lock.md": (
        "*guard", "*guard_of", "irqs_of_pair", "half_of_pair", "irqs_off",
        "irqs_counted", "to_read_in_handler"),
    "data: protect-your-data.md": ("synchronized", "asked_once"),
    "any lock's, with its verbs": ("checked_lock", "seq_writers"),
    "parts of types above": ("handler_gate", "gated", "reads_of", "seq_words"),
    "the order of locks: find-a-deadlock.md": (
        "order_keeper", "cpu_context", "handler_scope", "sub_rank"),
    "building blocks": ("atomic", "atomic_fields", "atomic_pair", "plain"),
    "measuring": ("handoff_meter", "section_maxima"),
}

# -- The verbs -----------------------------------------------------------------

# How a verb is called, where not by (), by a node n, or by a CPU's number.
CALLS = {
    "lock(serve)": ("lock(serve)",),
    "lock_paced": ("lock_paced(pace)",),
    "try_lock_until": ("try_lock_until(t)", "try_lock_until(cpu, t)"),
    "try_lock_for": ("try_lock_for(t)", "try_lock_for(cpu, t)"),
    "lock_until": ("lock_until(t)",),
    "try_lock_shared_until": ("try_lock_shared_until(t)",),
    "try_lock_shared_for": ("try_lock_shared_for(t)",),
    "set_base": ("set_base(u32{})",),
    "turns_for": ("turns_for(u8{}, u32{})",),
    "try_acquire_until": ("try_acquire_until(t)",),
    "try_acquire_for": ("try_acquire_for(t)",),
    "wait": ("wait()", "wait(m)", "wait(is)"),
    "wait_until": ("wait_until(t)", "wait_until(m, t)", "wait_until(is, t)"),
    "wait_for": ("wait_for(t)", "wait_for(m, t)", "wait_for(is, t)"),
    "prepare": ("prepare(s)",),
    "sleep": ("sleep(s, at)",),
    "wake_one": ("wake_one(serve)",),
    "wake_all": ("wake_all(serve)",),
    "read": ("read()",),
    "try_read": ("try_read(v)",),
    "write": ("write(v)",),
    "update": ("update(changes)",),
    "read_try_begin": ("read_try_begin(b)",),
    "read_retry": ("read_retry(b)",),
    "call": ("call(serve)",),
    "get": ("get(makes)",),
    "arrive_and_wait": ("arrive_and_wait(cpu)",),
    "set_name": ('set_name("")',),
}
EVERY = ("lock", "unlock", "is_locked")
TIMED = ("try_lock_until", "try_lock_for")
SHARED = ("lock_shared", "unlock_shared", "try_lock_shared")
TIMED_SHARED = ("try_lock_shared_until", "try_lock_shared_for")
UPGRADES = ("lock_upgradable", "try_lock_upgradable", "unlock_upgradable",
            "upgrade", "try_upgrade")
# With interrupts off, {verb: in C++}: a guard's, if the verb before _irq is the
# type's at all. With preemption off: guards of lib/preempted.
IRQ = {
    "lock_irqsave": "irq_guard", "unlock_irqrestore": "irq_guard",
    "try_lock_irqsave": "irq_try_guard",
    "lock_shared_irqsave": "irq_shared_guard",
    "unlock_shared_irqrestore": "irq_shared_guard",
    "try_lock_shared_irqsave": "irq_shared_try_guard",
    "lock_upgradable_irqsave": "irq_upgradable_guard",
    "unlock_upgradable_irqrestore": "irq_upgradable_guard",
}
PREEMPT = {
    "lock_preempt_off": "guard", "unlock_preempt_on": "guard",
    "try_lock_preempt_off": "try_guard",
    "lock_shared_preempt_off": "shared_guard",
    "unlock_shared_preempt_on": "shared_guard",
    "try_lock_shared_preempt_off": "shared_try_guard",
    "lock_upgradable_preempt_off": "upgradable_guard",
    "unlock_upgradable_preempt_on": "upgradable_guard",
}
BESIDE = ("lock(serve)", "lock_paced", "lock_from", "set_base", "is_queued",
          "await_left", "has_node", "is_clean", "forget_waits", "lock_until",
          "owner_died", "is_owned_by_me")
# Columns of the first table, and what the second has besides.
COLUMNS = {
    "`try_lock`": ("try_lock",),
    "by a deadline": TIMED,
    "`is_contended`": ("is_contended",),
    "interrupts off": tuple(IRQ),
    "preemption off": tuple(PREEMPT),
}
SHARED_COLUMNS = {
    "readers": SHARED,
    "readers by a deadline": TIMED_SHARED,
    "`downgrade`": ("downgrade",),
    "upgrade": UPGRADES,
}
OF_READERS = tuple(verb for verbs in SHARED_COLUMNS.values() for verb in verbs)
OF_LOCKS = (*EVERY, *(verb for verbs in COLUMNS.values() for verb in verbs),
            *OF_READERS, *BESIDE)
OF_EVENTS = {
    "semaphore": ("acquire", "try_acquire", "try_acquire_until",
                  "try_acquire_for", "release"),
    "completion": ("wait", "wait_until", "wait_for", "set", "reset", "is_set",
                   "is_contended"),
    "condition": ("wait", "wait_until", "wait_for", "prepare", "sleep",
                  "notify_one", "notify_all"),
    "wait_queue": ("wait", "wait_until", "wait_for", "wake_one", "wake_all"),
    "seq_lock": ("read", "try_read", "write", "update", "is_locked"),
    "seq_latch": ("read", "write"),
    "seq_count": ("write_begin", "write_end", "read_begin", "read_try_begin",
                  "read_retry", "is_written"),
    "once": ("call", "is_done"),
    "lazy": ("get", "peek"),
    "spin_barrier": ("arrive_and_wait",),
}
# Another name in C: functions, or macros of klock.h.
IN_C = {("spin_barrier", "arrive_and_wait"): "wait",
        ("condition", "wait"): "wait_with",
        ("condition", "wait_until"): "wait_with_until",
        ("condition", "wait_for"): "wait_with_for"}
# C alone: a whole copy, which C++ has as a type, seq_lock<T>.
C_ALONE = {"seq_count": ("read", "write", "try_read")}
# Forms of a verb that C has besides, of {kinds}, checked or not.
FORMS_IN_C = {
    "mcs clh": ("lock_irqsave_by", "unlock_irqrestore_by"),
    "phase_fair_u8 phase_fair_u16": ("try_lock_upgradable_preempt_off",),
    "inheriting_mutex": ("lock_until_links",),
    "condition": tuple(f"wait_with{held}{until}"
                       for held in ("_irqsave", "_preempt_off")
                       for until in ("", "_until", "_for")),
}
# Functions of one kind, without a macro for any.
NO_MACRO = {"node_init", "set_name", "set_element", "list_counts",
            "forget_counts"}
# Members that are no verbs of a user's.
NOT_TOLD = {
    "has": "for checks", "cancel": "for checks", "ask": "for try_lock_until.hpp",
    "depth": "for checks and tests", "waiting": "for tests", "turns_for": "arithmetic of set_base()",
    "check_irqs_off": "for guards", "after_lower": "for guards",
    "set_name": "any lock's, by klock::set_name()",
    "assert_held": "any lock's, by klock::assert_held()",
    "note_handed_over": "any lock's, by klock::handed_over()",
    "list_counts": "any lock's, by klock::list_counts()",
    "forget_counts": "any lock's, by klock::forget_counts()",
    "without_level": "the lock inside",
}
# checked_lock's own.
CHECKED_ALONE = {
    "is_held_by_me": "for rescue_guard.hpp and the like",
    "complain_of_guard": "for guards",
}

# -- Reasons: (name, text, (types, verbs, worlds)...) ---------------------------

REASONS = (
    ("recursive of C++", "For `recursive_lock`, which asks what it is around: in C that "
     "is a ticket lock.",
     ("inheriting_mutex", ("is_owned_by_me",), ("C", "checked C"))),
    ("no try", "No single operation takes it, or an arrival cannot be taken back: "
     "a try would have to wait.",
     ("padded_ticket_lock anderson_lock graunke_thakkar_lock clh_lock "
      "peterson_lock tournament_lock bakery_lock reader_lock",
      ("try_lock", "try_lock_until", "try_lock_for"), WORLDS)),
    ("no trace", "A waiter leaves no trace, or none that can be told from that "
     "of a holder.",
     ("tas_lock ttas_lock backoff_ttas_lock anderson_lock tournament_lock",
      ("is_contended",), WORLDS)),
    ("of whom", "Not built: whoever asks wants to know whether readers wait or "
     "writers.",
     ("rw_ticket_lock phase_fair_lock reader_lock", ("is_contended",),
      WORLDS)),
    ("not in C", "Not in C: its size depends on the number of CPUs, and another "
     "lock does better. A C++ file of the kernel has the two functions that are "
     "wanted.",
     ("anderson_lock graunke_thakkar_lock peterson_lock tournament_lock",
      ("*",), (C, CHECKED_C))),
    ("no queue", "A reader that waits cannot give up its place. A loop over "
     "`try_lock_shared()` and `klock::cycles()` has none.",
     ("rw_ticket_lock phase_fair_lock reader_lock", TIMED_SHARED, WORLDS)),
    ("unknown readers", "Two readers that upgrade would wait for each other, so "
     "that one must be known beforehand: `phase_fair_lock` has a place for it.",
     ("rw_ticket_lock reader_lock shared_mutex", UPGRADES, WORLDS)),
    ("readers' lines", "A reader is known by its CPU's number, and a writer "
     "gives none.", ("reader_lock", ("downgrade",), WORLDS)),
    ("sleeps", "A waiter sleeps, and must not with interrupts off: `irq_guard` "
     "and C refuse it. A handler may `try_lock()`.",
     ("mutex inheriting_mutex shared_mutex", tuple(IRQ), WORLDS)),
    ("switched", "A thread that sleeps is switched, and needs no preemption to be "
     "off: a guard leaves it on, and C refuses it.",
     ("mutex inheriting_mutex shared_mutex", tuple(PREEMPT), WORLDS)),
    ("no functions in C", "C has no local functions: ask by "
     "`klock_try_lock()`, and do between what has to be done.",
     ("ticket_lock preemptable_ticket_lock proportional_ticket_lock tas_lock "
      "ttas_lock backoff_ttas_lock", ("lock(serve)", "lock_paced"),
      (C, CHECKED_C))),
    ("for tests", "Questions of tests and of a kernel that restarts a CPU: "
     "a C++ file of the kernel asks them, by `klock::as_cpp()`.",
     ("timeout_lock bakery_lock queued_lock",
      ("is_queued", "has_node", "is_clean", "forget_waits"),
      (C, CHECKED_C))),
    ("own bytes", "Few bytes, with no place for who is in; `seq_count`: the "
     "checked lock of its writers names what two of them do. `once` and `lazy` "
     "name a recursion in every build, `spin_barrier` has no holder.",
     ("seq_latch seq_count once lazy spin_barrier", ("*",),
      (CHECKED_CPP, CHECKED_C))),
    ("template", "A template of the data: C has `seq_count`, `once` and a "
     "pointer.", ("seq_lock seq_latch lazy", ("*",), (C, CHECKED_C))),
    ("guards alone", "Guards alone take it, by the verbs of the lock inside but "
     "those with a deadline: there, `irq_try_guard` again and again.",
     ("irq_lock irq_shared_lock", ("*",), (CPP, CHECKED_CPP))),
    ("level guards", "`level_guard` takes it; `without_level()` is the lock "
     "itself, for all else.", ("leveled", ("*",), (CPP, CHECKED_CPP))),
    ("clang's words", "clang's analysis has words for a lock, a try and readers, "
     "and for nothing else.",
     ("annotated_lock", ("*",), (CPP, CHECKED_CPP))),
    ("most taken", "The kinds that a kernel takes most: `ticket`, "
     "`preemptable_ticket`, `tas`, `backoff_ttas`, `queued`, `rw_ticket`.",
     ("counted_lock", ("*",), (C,))),
    ("owner first", "The owner of a lock does not wait for it; whoever else "
     "waits does so by `lock()`.",
     ("recursive_lock", ("lock_paced",), (CPP, CHECKED_CPP))),
    ("ported", "What others' recursive locks are: `ticket`, "
     "`preemptable_ticket`.", ("recursive_lock", ("*",), (C,))),
    ("one at a time", "In C a lock is checked or counted.",
     ("counted_lock", ("*",), (CHECKED_C,))),
    ("a type", "A type that forbids, or that clang's analysis reads: in C a lock "
     "is taken as its caller says.",
     ("thread_lock irq_lock irq_shared_lock leveled annotated_lock",
      ("*",), (C, CHECKED_C))),
    ("an object", "Its figures are kept in a C++ object of the kernel's, as large "
     "as the number of CPUs.", ("timed_lock", ("*",), (C, CHECKED_C))),
)


class Reasons:
    """The letters of the reasons that were given so far, in their order."""

    def __init__(self):
        self.given, self.missing = [], []

    def letter(self, name, verb, world):
        for reason, _, *where in REASONS:
            for types, verbs, worlds in where:
                if name in types.split() and world in worlds and any(
                        fnmatch.fnmatchcase(verb, one) for one in verbs):
                    if reason not in self.given:
                        self.given.append(reason)
                    return chr(ord("a") + self.given.index(reason))
        self.missing.append(f"{name} has no {verb} in {world}: fill it, or say "
                            "why not, in REASONS")
        return "?"

    def text(self):
        texts = {reason: text for reason, text, *_ in REASONS}
        return "\n".join(f"- <sup>{chr(ord('a') + i)}</sup> {texts[reason]}"
                         for i, reason in enumerate(self.given))

    def left_over(self):
        return [f"REASONS: '{reason}' is a reason for nothing"
                for reason, *_ in REASONS if reason not in self.given]


# -- What there is in C++ ------------------------------------------------------

HEAD = """\
#include <cstdio>

template <typename L>
struct node_of { using type = decltype(nullptr); };
template <node_lock L>
struct node_of<L> { using type = typename L::node; };

/* What verbs are called with. */
using serves_ = void (*)();
using asks_ = bool (*)();
using paces_ = u32 (*)();
struct changes_of { void operator()(auto &) const {} };
struct makes_of { int operator()() const { return 1; } };

template <typename Guard>
concept is_guard = !same_as<typename Guard::lock_here, detail::anything>;
template <typename L>
concept unpreempted = same_as<detail::left_on<L>, detail::preempt_off>;
template <typename L>
using in = detail::inside<L>;
"""

# {guard: when it takes a lock L}
GUARDS = {
    "guard": "any_lock<in<L>>",
    "try_guard": "try_lockable<in<L>>",
    "shared_guard": "shared_lockable<in<L>>",
    "shared_try_guard": "try_shared_lockable<in<L>>",
    "upgradable_guard": "upgradable_lock<in<L>>",
}


def probe(verb):
    """A concept's expression: whether L has the verb."""
    if verb in IRQ:
        guard = IRQ[verb]
        return (f"!sleeping<in<L>> && is_guard<{guard}<L>> && "
                f"{GUARDS[guard.removeprefix('irq_')]}")
    if verb in PREEMPT:
        guard = PREEMPT[verb]
        return f"unpreempted<L> && is_guard<{guard}<L>> && {GUARDS[guard]}"
    calls = CALLS.get(verb, (f"{verb}()", f"{verb}(n)", f"{verb}(cpu)"))
    members_ = " || ".join(f"""requires(L &l, typename node_of<L>::type &n,
	unsigned cpu, u64 t, u32 &b, const u64 *at, mutex &m,
	detail::sleeper &s, int &v, serves_ serve, asks_ is, paces_ pace,
	changes_of changes, makes_of makes) {{ l.{call}; }}""" for call in calls)
    if verb in TIMED:       # try_lock_until.hpp
        for with_ in ("t", "n, t", "cpu, t"):
            members_ += f""" || requires(L &l, typename node_of<L>::type &n,
	unsigned cpu, u64 t) {{ klock::{verb}(l, {with_}); }}"""
    return members_


def concept(verb):
    return "has_" + re.sub(r"\W", "_", verb)


def headers_of(root):
    """All that a user includes, but what is measured or printed."""
    names = sorted(path.name for path in (root / "lib/klock").glob("*.hpp"))
    return "".join(f"#include <klock/{name}>\n"
                   for name in (*names, "annotated.hpp"))


def takes(wrapper, lock):
    """Whether it is made for such a lock."""
    if wrapper == "irq_shared_lock":
        return lock in ("rw_ticket_lock", "phase_fair_lock")
    if wrapper == "recursive_lock":
        return lock in ("ticket_lock", "mutex")
    return not (lock in SLEEPING_LOCKS and wrapper == "irq_lock")


def questions():
    """(row, world, type, verbs)"""
    for name in SLEEPING_LOCKS:
        yield name, CPP, name, OF_LOCKS
        yield name, CHECKED_CPP, f"checked_lock<{name}>", OF_LOCKS
    for name, type_ in EVENTS.items():
        yield name, CPP, type_, OF_EVENTS[name]
        if name in ("seq_lock", "semaphore", "completion", "condition",
                    "wait_queue"):
            yield name, CHECKED_CPP, f"checked_lock<{type_}>", OF_EVENTS[name]
    by_name = [verb for verb in OF_LOCKS if verb not in {**IRQ, **PREEMPT}]
    for name, types in WRAPPERS.items():
        for lock in INSIDE:
            if not takes(name, lock):
                continue
            for world, type_ in zip((CPP, CHECKED_CPP), types):
                yield (f"{name}@{lock}", world,
                       re.sub(r"\bL\b", INSIDE[lock], type_), by_name)


def program(root):
    verbs = list(dict.fromkeys(verb for *_, of in questions() for verb in of))
    text = [headers_of(root), "#include <klock/selftest/locks.hpp>\n",
            "using namespace klock;\n", HEAD,
            "static section_maxima<4> maxima;\n"]
    for verb in verbs:
        text.append(f"template <typename L>\nconcept {concept(verb)} =\n\t"
                    f"{probe(verb)};\n")
    text.append("template <typename L>\nvoid ask()\n{\n" + "".join(
        f'\tprintf({concept(verb)}<L> ? "{verb}," : "");\n'
        for verb in OF_LOCKS) + '\tprintf("\\n");\n}\n')
    text.append(f"""int main()
{{
	selftest::all_locks<8>::for_each([]<typename Subject>() {{
		using L = typename Subject::lock;

		printf("%s|{CPP}|", Subject::name);
		ask<L>();
		printf("%s|{CHECKED_CPP}|", Subject::name);
		ask<checked_lock<L>>();
	}});
""")
    for row, world, type_, of in questions():
        text.append(f'\tprintf("{row}|{world}|");\n')
        text += [f'\tprintf({concept(verb)}<{type_}> ? "{verb}," : "");\n'
                 for verb in of]
        text.append('\tprintf("\\n");\n')
    return "".join([*text, "}\n"])


def in_cpp(case, cxx):
    """{(row, world): its verbs}"""
    case.write("verbs.cpp", program(case.root))
    lib = case.root / "lib"
    case.must(cxx, "-std=c++20", "-O0", "-w", "-ffunction-sections",
              "-I", lib / "preempted", "-I", lib, "-I", lib / "analysis",
              "-I", lib / "arch/hosted", "verbs.cpp", "-Wl,--gc-sections",
              "-o", "verbs")
    found = {}
    for line in case.must("./verbs").splitlines() if not case.wrong else ():
        row, world, verbs = line.split("|")
        row = re.match(r"[\w@]+", row)[0]
        has = set(verbs.split(",")) - {""}
        # ticket_lock<u8>, ticket_lock<u16>, ...
        case.expect(found.setdefault((row, world), has) == has,
                    f"{row} has {sorted(found[row, world] ^ has)} in some of "
                    f"its widths, {world}")
    return found


# -- What there is in C --------------------------------------------------------

def in_c(case):
    """{kind: its verbs}: functions that klock.h declares, which its macros
    call for that kind. And {kind: functions that no macro calls}."""
    functions, _ = c_library.locks_of(case)
    macros = set(re.findall(r"#define klock_(\w+)\((?:.*,)?\.\.\.\)", case.must(
        "gcc", *case.includes(None, c=True), "-dM", "-E", "all.c")))
    case.write("each.c", "#include <klock/klock.h>\n" + "".join(
        f"@{name} klock_{name}(x, y, z, w)\n" for name in sorted(macros)))
    calls = {}
    for line in case.must("gcc", *case.includes(None, c=True), "-E", "-P",
                          "each.c").split("@")[1:]:
        name, _, text = line.partition(" ")
        inner = re.sub(r"_preempt_o(n|ff)(_until)?$", "", name)
        inner = "prepare" if inner.startswith("wait_with") else inner
        for kind in re.findall(r"struct klock_(\w+) \*\s*:\s*klock_\1_"
                               rf"{inner}(?:_at)?\b", text):
            calls.setdefault(kind, set()).add(name)
    has, bare = {}, {}
    for kind, verbs in functions.items():
        if kind in c_library.NO_VERBS:
            has[kind] = verbs
            continue
        any_kind = calls.get(kind, set())
        own = {verb for verb in verbs if not verb.endswith("_at")}
        macro_only = {verb for verb in any_kind
                      if "preempt_o" in verb or verb.startswith("wait_with")}
        has[kind] = own & any_kind | macro_only
        bare[kind] = own - any_kind
    return has, bare


def kinds_of(case):
    """{a type of C++: its kinds in C}"""
    text = (case.root / "lib/c/klock/c_lock.hpp").read_text()
    kinds = {}
    for kind, type_ in re.findall(r"KLOCK_C_IS\((\w+), (\w+)", text):
        kinds.setdefault(type_, []).append(kind)
    return kinds


# -- The tables ----------------------------------------------------------------

def base(verb):
    return re.sub(r"_(irqsave|irqrestore|preempt_off|preempt_on)$", "", verb)


def quoted(verbs):
    return ", ".join(f"`{verb}`" for verb in verbs)


class Page:
    def __init__(self, root, cxx):
        self.wrong, self.reasons = [], Reasons()
        with tempfile.TemporaryDirectory() as scratch:
            case = cases.Case(root, scratch)
            self.cpp = in_cpp(case, cxx)
            self.c, self.bare = in_c(case) if not case.wrong else ({}, {})
            self.kinds = kinds_of(case)
            self.wrong += case.wrong
        self.rows = [row for row, world in self.cpp
                     if world == CPP and "@" not in row and row not in EVENTS]

    def has(self, row, verb, world):
        """If a type is several kinds in C, all have it, or none."""
        if world in (CPP, CHECKED_CPP):
            return verb in self.cpp.get((row, world), ())
        kinds = self.kinds.get(row, [])
        name = IN_C.get((row, verb), verb)
        prefix = "checked_" if world == CHECKED_C else ""
        have = [kind for kind in kinds
                if name in self.c.get(prefix + kind, ())]
        if have and len(have) != len(kinds):
            self.wrong.append(f"{row}: only {have} have {name} in {world}")
        return bool(have)

    def exists(self, row, world):
        if world in (CPP, CHECKED_CPP):
            return (row, world) in self.cpp
        prefix = "checked_" if world == CHECKED_C else ""
        return any(prefix + kind in self.c for kind in self.kinds.get(row, ()))

    # -- Locks

    def cell(self, row, verbs, worlds, beside=False):
        """yes; or the worlds that have it, and why the others have not."""
        parts = {}
        for verb in verbs:
            if verb in IRQ or verb in PREEMPT:
                if not self.has(row, base(verb), CPP):
                    continue
            have = tuple(w for w in worlds if self.has(row, verb, w))
            if beside and not have:
                continue
            why = "".join(sorted({self.reasons.letter(row, verb, w)
                                  for w in worlds if w not in have}))
            parts.setdefault((have, why), []).append(verb)
        texts = []
        for (have, why), verbs_ in parts.items():
            text = "yes" if have == worlds else ", ".join(have) or "no"
            if beside:
                text = quoted(verbs_) + ("" if have == worlds else
                                         f": {', '.join(have)}")
            elif len(parts) > 1:
                text = f"{quoted(verbs_)}: {text}"
            texts.append(text + (f" <sup>{why}</sup>" if why else ""))
        return "; ".join(texts)

    def locks(self, names, columns):
        rows = {}
        for row in names:
            worlds = tuple(w for w in WORLDS if self.exists(row, w))
            for world in WORLDS[:2] if C not in worlds else WORLDS:
                for verb in EVERY:
                    if not self.has(row, verb, world):
                        self.wrong.append(f"{row}: no {verb} in {world}")
            where = "C++, C" if C in worlds else \
                f"C++ <sup>{self.reasons.letter(row, '*', C)}</sup>"
            cells = tuple([where] + [
                self.cell(row, verbs, worlds) for verbs in columns.values()])
            if columns is COLUMNS:
                cells += (self.cell(row, BESIDE, worlds, True),)
                self.wrong += [f"{row} has {verb} in {world}, and no "
                               "lock_shared" for verb in OF_READERS
                               for world in worlds
                               if self.has(row, verb, world)]
            rows.setdefault(cells, []).append(row)
        head = ("", "in", *columns) + (("besides",) if columns is COLUMNS
                                       else ())
        return table(head, [(quoted(names), *cells)
                            for cells, names in rows.items()])

    # -- Events

    def other_world(self, row, world):
        verbs = OF_EVENTS[row]
        if not self.exists(row, world):
            why = self.reasons.letter(row, "*", world)
            return f"no <sup>{why}</sup>"
        missing = [v for v in verbs if not self.has(row, v, world)]
        named = [f"`{v}` as `{IN_C[row, v]}`" for v in verbs
                 if (row, v) in IN_C and world in (C, CHECKED_C) and
                 v not in missing]
        text = "the same"
        if missing:
            why = "".join(sorted({self.reasons.letter(row, v, world)
                                  for v in missing}))
            text += f" but {quoted(missing)} <sup>{why}</sup>"
        if world == C and row in C_ALONE:
            kind, = self.kinds[row]
            if not set(C_ALONE[row]) <= self.c[kind]:
                self.wrong.append(f"{row}: not all of {C_ALONE[row]} in C")
            named.append("and " + quoted(C_ALONE[row]))
        return "; ".join([text, *named])

    def events(self):
        rows = []
        for row, verbs in OF_EVENTS.items():
            missing = [v for v in verbs if not self.has(row, v, CPP)]
            if missing:
                self.wrong.append(f"{row} has no {missing} in C++")
            rows.append((f"`{row}`", quoted(verbs),
                         *(self.other_world(row, world)
                           for world in WORLDS[1:])))
        return table(("", *WORLDS), rows)

    # -- Wrappers

    def around(self, wrapper, world):
        """What is left of the verbs of the locks inside, and what is not."""
        kept, lost = {}, {}
        for lock in INSIDE:
            if not takes(wrapper, lock):
                continue
            inside = self.cpp[lock, CPP] - IRQ.keys() - PREEMPT.keys()
            has = self.cpp[f"{wrapper}@{lock}", world]
            for verb in OF_LOCKS:
                if verb in inside:
                    (kept if verb in has else lost).setdefault(verb, []) \
                        .append(lock)
        for verb in kept.keys() & lost.keys():
            self.wrong.append(f"{wrapper}: {verb} of {kept[verb]}, not of "
                              f"{lost[verb]}")
        if not lost:
            return "L's"
        why = "".join(sorted({self.reasons.letter(wrapper, verb, world)
                              for verb in lost}))
        if len(kept) > len(lost):
            return f"L's but {quoted(lost)} <sup>{why}</sup>"
        return f"{quoted(kept) or 'none'} <sup>{why}</sup>"

    def around_in_c(self, wrapper):
        kinds = wrapper.removesuffix("lock")
        if not any(kind.startswith(kinds) for kind in self.c):
            return f"no <sup>{self.reasons.letter(wrapper, '*', C)}</sup>"
        lost = set()
        for kind in self.c:
            if kind.startswith(kinds):
                lost |= self.c[kind.removeprefix(kinds)] - self.c[kind]
        why = {self.reasons.letter(wrapper, verb, C) for verb in (*lost, "*")}
        but = f" but {quoted(sorted(lost))}" if lost else ""
        return f"L's{but} <sup>{''.join(sorted(why))}</sup>"

    def wrappers(self):
        return table(
            ("", *WORLDS),
            [(f"`{row}<L>`", self.around(row, CPP),
              self.around(row, CHECKED_CPP), self.around_in_c(row),
              self.around_checked_in_c(row))
             for row in WRAPPERS])

    def around_checked_in_c(self, wrapper):
        if wrapper == "recursive_lock":
            return self.around_in_c(wrapper)
        return f"no <sup>{self.reasons.letter(wrapper, '*', CHECKED_C)}</sup>"

    def parts(self):
        """{mark: its text}"""
        if self.wrong:
            return {}
        shared = [row for row in self.rows if self.has(row, "lock_shared", CPP)]
        made = {"locks": self.locks([row for row in self.rows
                                     if row not in shared], COLUMNS),
                "readers": self.locks(shared, COLUMNS | SHARED_COLUMNS),
                "events": self.events(),
                "wrappers": self.wrappers()}
        made["reasons"] = self.reasons.text()
        self.wrong += self.reasons.missing + self.reasons.left_over()
        return made


def table(head, rows):
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" if cells[0] != "---" else
                     "|---" * len(cells) + "|" for cells in lines)


# -- What the headers define ---------------------------------------------------

def untold(root, locks):
    """Public types in no row, and public functions that are no verb here."""
    elsewhere = {name for names in ELSEWHERE.values() for name in names}
    rows = set(locks) | EVENTS.keys() | WRAPPERS.keys()
    verbs = {*OF_LOCKS, *NOT_TOLD, *CHECKED_ALONE}
    for of in OF_EVENTS.values():
        verbs |= set(of)
    wrong, seen = [], set()
    for path in sorted((root / "lib/klock").glob("*.hpp")):
        for type_, function, line in members.public_members(path.read_text()):
            where = f"{path.relative_to(root)}:{line}"
            name = DEFINED_AS.get(type_, type_)
            seen.add(type_)
            if type_ == "checked_lock" and function not in verbs:
                wrong.append(f"{where}: {type_}::{function}() is no verb of "
                             "the tables, and not in CHECKED_ALONE")
            if any(fnmatch.fnmatchcase(type_, one) for one in elsewhere):
                continue
            if name not in rows:
                wrong.append(f"{where}: {type_} is in no table, and not in "
                             "ELSEWHERE")
            elif function not in OF_EVENTS.get(name, OF_LOCKS) and \
                    function not in NOT_TOLD:
                wrong.append(f"{where}: {type_}::{function}() is no verb of "
                             "the tables, and not in NOT_TOLD")
    told = {name for name in elsewhere if "*" not in name} | rows
    # lib/analysis has it; and these have no function of their own.
    gone = told - seen - {"annotated_lock", "thread_lock", "irq_shared_lock",
                          "timed_lock"} - set(DEFINED_AS.values())
    return wrong + [f"{name} is in no header, or has no function"
                    for name in sorted(gone)]


def untold_in_c(has, bare):
    """Verbs of C's locks that are no verb here, and forms that are gone.
    has, bare: of in_c()"""
    known = {*OF_LOCKS, *IN_C.values(), "init"}
    for verbs in (*OF_EVENTS.values(), *C_ALONE.values()):
        known |= set(verbs)
    wrong = []
    for kinds, forms in FORMS_IN_C.items():
        known |= set(forms)
        for kind in kinds.split():
            wrong += [f"klock_{one} has no {form} in C" for form in forms
                      for one in (kind, f"checked_{kind}")
                      if form not in has.get(one, ())]
    unknown = {}
    for kind, verbs in has.items():
        for verb in verbs - known:
            unknown.setdefault(verb, []).append(kind)
    for kind, functions in bare.items():
        wrong += [f"klock_{kind}_{function}() has no macro for any kind, and is "
                  "not in NO_MACRO" for function in functions - NO_MACRO]
    return wrong + [f"klock_{verb}() of {kinds[0]} is no verb of the tables, "
                    "and not in FORMS_IN_C"
                    for verb, kinds in sorted(unknown.items())]


def update(root, parts, write):
    path = root / PAGE
    text = new = path.read_text()
    wrong = []
    for mark, part in parts.items():
        begin = f"<!-- {mark}: begin (generated by tests_host/embed/verbs.py) -->"
        end = f"<!-- {mark}: end -->"
        if new.count(begin) != 1 or new.count(end) != 1:
            wrong.append(f"{PAGE}: no lines '{begin}' and '{end}'")
            continue
        before, _, rest = new.partition(begin)
        old, _, after = rest.partition(end)
        made = f"\n{part}\n"
        if old != made and not write:
            stale = next((line for line in made.splitlines()
                          if line not in old.splitlines()),
                         "a row is too much")
            wrong.append(f"{PAGE}: the table is stale, run tests_host/embed/"
                         f"verbs.py --root . --write; the headers say\n{stale}")
        new = before + begin + made + end + after
    if write and new != text:
        tool.write(path, new)
    return wrong


def findings(root, cxx, write=False):
    page = Page(root, cxx)
    parts = page.parts()
    return (page.wrong + untold(root, page.rows) +
            (untold_in_c(page.c, page.bare) if page.c else []) +
            update(root, parts, write))


# (header, a text, what is there instead, a finding)
FAULTS = (
    ("klock/mutex.hpp", "is_contended() const", "is_wanted() const",
     "mutex has no is_contended in C++: fill it"),
    ("klock/mutex.hpp", "is_contended() const", "is_wanted() const",
     "patient_mutex::is_wanted() is no verb"),
    ("klock/checked_lock.hpp", "void downgrade(call_site", "void down(call_site",
     "phase_fair_lock has no downgrade in checked C++: fill it"),
    ("klock/anderson_lock.hpp", "[[nodiscard]] bool is_locked() const",
     "void downgrade() {}\n\t[[nodiscard]] bool is_locked() const",
     "anderson_lock has downgrade in C++, and no lock_shared"),
    ("klock/anderson_lock.hpp", "[[nodiscard]] bool is_locked() const",
     "bool is_contended() const { return false; }\n"
     "\t[[nodiscard]] bool is_locked() const", "the table is stale"),
    ("klock/tas_lock.hpp", "[[nodiscard]] bool is_locked() const",
     "void shout() {}\n\t[[nodiscard]] bool is_locked() const",
     "tas_lock::shout() is no verb"),
    ("klock/plain.hpp", "struct plain {", "struct one {\n\tvoid lock() {}\n};\n"
     "template <typename T>\nstruct plain {", "one is in no table"),
    ("c/klock/verbs.h", "K(UPGRADABLE, phase_fair_u16, v)",
     "K(READERS, phase_fair_u16, v)",
     "only ['phase_fair_u8'] have upgrade in C"),
    ("c/klock/klock.h", "KLOCK_OF(KLOCK_DOWNGRADED,",
     "KLOCK_OF(KLOCK_SHARED_MUTEXES,",
     "rw_ticket_lock has no downgrade in C: fill it"),
    ("c/klock/verbs.h", "KLOCK_SHAPE_PLAIN(V, D, x)                                "
     "             \\\n\tKLOCK_CONTENDED_VERB(D, x)",
     "KLOCK_SHAPE_PLAIN(V, D, x)", "padded_ticket_lock has no is_contended in C"),
    ("c/klock/verbs.h", "D(x, TRUTH, is_locked, (const struct klock_##x *lock), "
     "(lock))\n", "D(x, TRUTH, is_locked, (const struct klock_##x *lock), "
     "(lock)) \\\n\tD(x, NONE, shout, (struct klock_##x *lock), (lock))\n",
     "klock_tas_shout() has no macro"),
    ("c/klock/verbs.h", "D(x, TRUTH, is_contended, (const struct klock_##x *lock), "
     "(lock))\n", "D(x, TRUTH, is_contended, (const struct klock_##x *lock), "
     "(lock)) \\\n\tD(x, TRUTH, is_shouted, (const struct klock_##x *lock), "
     "(lock))\n#define klock_is_shouted(...) "
     "KLOCK_OF(KLOCK_CONTENDED, KLOCK_COUNTED_CONTENDED, is_shouted, "
     "__VA_ARGS__)\n", "klock_is_shouted() of"),
    ("c/klock/klock.h", "#define klock_wait_with_irqsave(",
     "#define klock_waits_with_irqsave(",
     "klock_condition has no wait_with_irqsave in C"),
    ("klock/checked_lock.hpp", "void note_handed_over(call_site by)",
     "void shout() {}\n\tvoid note_handed_over(call_site by)",
     "checked_lock::shout() is no verb"),
)


def selftest(root, cxx):
    """What is not found of FAULTS."""
    missed = findings(root, cxx)
    for header, text, instead, finding in FAULTS:
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch)
            shutil.copytree(root / "lib", copy / "lib")
            path = copy / "lib" / header
            before = path.read_text()
            if before.count(text) != 1:
                missed.append(f"{header}: not once: {text}")
                continue
            path.write_text(before.replace(text, instead))
            found = findings(copy, cxx)
            if not any(finding in line for line in found):
                missed.append(f"{header}, {instead}: not '{finding}', but "
                              f"{found}")
    return missed


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--root", type=tool.tree, required=True)
    parser.add_argument("--cxx", default="g++")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    what.add_argument("--selftest", action="store_true")
    args = parser.parse_args()
    wrong = (selftest(args.root, args.cxx) if args.selftest else
             findings(args.root, args.cxx, args.write))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
