# SPDX-License-Identifier: MIT
"""Reads and makes lib/c/klock/verbs.h, which has each verb and each kind of
lock once: klock.h's verbs for a lock of any kind, and the members that
c_functions.hpp calls by their names. And what verbs.h must have of C++'s list,
lib/klock/detail/verbs.hpp.
"""
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lint"))
import verb_list

FOLDER = "lib/c/klock"
LIST = f"{FOLDER}/verbs.h"
ANY_KIND, FUNCTIONS = f"{FOLDER}/klock.h", f"{FOLDER}/c_functions.hpp"
# C's result of a verb, of C++'s.
RESULTS = {"void": "NONE", "bool": "TRUTH", "wait_result": "WHY"}
# The parts of verbs.h besides lists of all kinds of a verb.
NOT_KINDS = ("ALL_BUT_READERS",)
# The verb's name for what it does to preemption, by effect.
OFF, ON, IF_TAKEN = "_preempt_off", "_preempt_on", "_preempt_off if taken"
PREEMPT = {
    "takes": OFF, "tries": IF_TAKEN, "releases": ON,
    "reads": OFF, "tries_to_read": IF_TAKEN, "stops_reading": ON,
    "reads_to_upgrade": OFF, "tries_to_read_to_upgrade": IF_TAKEN,
    "stops_reading_to_upgrade": ON,
}
# Takes a CPU's number, which is asked with preemption off.
NOT_PREEMPTED = ("lock_from",)


class Lists:
    """Returns verbs.h, preprocessed."""

    def __init__(self, case):
        text = (case.root / LIST).read_text()
        lists = re.findall(r"^#define KLOCK_(\w+)\(K, v\)", text, re.M)
        shapes = re.findall(r"^#define KLOCK_SHAPE_(\w+)\(V, D, x\)", text, re.M)
        case.write("lists.c", "#include <klock/verbs.h>\n" + "".join(
            [f"@L {name} KLOCK_{name}(K_, )\n" for name in lists] +
            [f"@S {shape} KLOCK_SHAPE_{shape}(V_, D_, x)\n"
             for shape in shapes]))
        self.kinds, self.verbs, told = {}, {}, {}
        for part in case.must("gcc", *case.includes(None, c=True), "-E", "-P",
                              "lists.c").split("@")[1:]:
            what, name, text = part.split(" ", 2)
            if what == "L":
                self.kinds[name] = dict(
                    reversed(pair) for pair in
                    re.findall(r"\bK_\((\w+), (\w+), ?\)", text))
            else:
                told[name] = re.findall(r"\b([VD])_\(x, (\w+), (\w+),", text)
        # {verb: (V or D, result, {kind})}
        for shape, verbs in told.items():
            for form, result, verb in verbs:
                self.verbs.setdefault(verb, (form, result, set()))[2].update(
                    kind for kinds in self.kinds.values()
                    for kind, of in kinds.items() if of == shape)

    def name(self, kinds, counted, wrong, verb):
        """The list of these kinds; counted: of those that count."""
        if counted and not kinds:
            return "KLOCK_NO_COUNTED"
        names = [name for name, of in self.kinds.items()
                 if set(of) == kinds and name not in NOT_KINDS]
        names.sort(key=lambda name: name.startswith("COUNTED") != counted)
        if not names:
            wrong.append(f"{LIST}: no list has the kinds of {verb} and no "
                         f"others: {', '.join(sorted(kinds))}")
            return "KLOCK_NO_LIST"
        return f"KLOCK_{names[0]}"


def called(name, of, text, wrong, lists, kinds):
    counted = set(lists.kinds["COUNTED_ALL"]) & kinds
    return text.replace("OF", f"KLOCK_OF({lists.name(kinds, False, wrong, name)}"
                        f", {lists.name(counted, True, wrong, name)}, {of}, "
                        "__VA_ARGS__)")


def with_at(name, body):
    return (f"#define klock_{name}_at(...) \\\n{body}\n"
            f"#define klock_{name}(...) klock_{name}_at(__VA_ARGS__, "
            "KLOCK_HERE)\n")


def any_kind(lists, wrong):
    text = ""
    for verb, (form, _, kinds) in lists.verbs.items():
        if form == "D":
            body = called(verb, verb, "OF", wrong, lists, kinds)
            text += f"#define klock_{verb}(...) \\\n\t{body}\n"
        else:
            text += with_at(verb, "\t" + called(verb, f"{verb}_at", "OF", wrong,
                                                lists, kinds))
    return text


def preempted(lists, rows, wrong):
    """The forms with preemption off, for kinds whose waiters spin."""
    text = ""
    spins = set(lists.kinds["ALL"])
    for verb, effect in rows.items():
        if verb in NOT_PREEMPTED or verb not in lists.verbs or \
                effect not in PREEMPT:
            continue
        how = PREEMPT[effect]
        body = {OFF: "\t(klock_os_preempt_off(), \\\n\t OF)",
                ON: "\t(OF, \\\n\t klock_os_preempt_on())",
                IF_TAKEN: "\t(klock_os_preempt_off(), \\\n"
                          "\t klock_preempt_on_unless(OF))"}[how]
        text += with_at(verb + how.split()[0],
                        called(verb, f"{verb}_at", body, wrong, lists,
                               lists.verbs[verb][2] & spins))
    return text


def members(root, lists):
    """The verbs that have no function of their own in c_functions.hpp."""
    text = (root / FUNCTIONS).read_text()
    own = set(re.findall(r"^(?:inline )?(?:void|bool|int|klock_wait_result) "
                         r"(\w+)\(C \*lock", text, re.M))
    own |= set(re.findall(r"^KLOCK_C_(?:TRY_)?IRQ\w+\((\w+),", text, re.M))
    own |= set(re.findall(r"^KLOCK_C_CALLING\((\w+), void\)", text, re.M))
    return "".join(f"KLOCK_C_MEMBER({verb})\n" for verb in lists.verbs
                   if verb not in own)


def parts(case, wrong):
    """{(file, mark): the text that belongs there}; and what is wrong with
    verbs.h goes to wrong."""
    lists = Lists(case)
    rows = verb_list.rows(case.root)
    results = verb_list.results(case.root)
    for verb, (_, result, _) in lists.verbs.items():
        if verb in results and result != RESULTS.get(results[verb]):
            wrong.append(f"{LIST}: {verb} returns {results[verb]} in C++, "
                         f"which is not {result}")
    return {(ANY_KIND, "verbs"): any_kind(lists, wrong),
            (ANY_KIND, "preempt"): preempted(lists, rows, wrong),
            (FUNCTIONS, "members"): members(case.root, lists)}
