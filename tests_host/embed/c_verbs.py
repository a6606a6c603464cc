# SPDX-License-Identifier: MIT
"""Makes the C API of C++'s list of verbs, lib/klock/detail/verbs.hpp, and of
verbs.h's list of all kinds of lock: the functions of each kind, which is asked
of its C++ type and stands in verbs.h; klock.h's verbs for a lock of any kind;
and the members that c_functions.hpp calls by their names.
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
# C's parameter and argument of one of the list, and where a function is called
# with interrupts off. A verb with any other argument is not in C.
LOCK = ("struct klock_##x *lock", "lock")
GIVEN = {
    "cpu": ("unsigned cpu", "cpu"),
    "deadline": ("unsigned long long deadline", "deadline"),
    "how_long": ("unsigned long long cycles", "cycles"),
    "turns": ("unsigned int base", "base"),
    "mcs": ("struct klock_mcs_node *mine", "mine"),
    "clh": ("struct klock_clh_node *mine", "mine"),
}
ASKED = {
    "cpu": ("unsigned (*cpu_id)(void)", "cpu_id"),
    "mcs": GIVEN["mcs"],
    "clh": ("struct klock_clh_node *nodes, unsigned (*cpu_id)(void)",
            "nodes, cpu_id"),
}
NODE = "&&with"
# Functions of try_lock_until.hpp, which takes a node besides.
FOR_ANY = ("try_lock_until", "try_lock_for")
# How a verb's form with interrupts off is called, by effect: (the end of its
# name, its result, a parameter and its argument)
OFF_ALONE = ("_irqsave", "FLAGS", ())
ON_ALONE = ("_irqrestore", "NONE", (("unsigned long before", "before"),))
OFF_TRIED = ("_irqsave", "TRUTH", (("unsigned long *before", "before"),))
IRQ = {
    "takes": OFF_ALONE, "tries": OFF_TRIED, "releases": ON_ALONE,
    "reads": OFF_ALONE, "tries_to_read": OFF_TRIED, "stops_reading": ON_ALONE,
    "reads_to_upgrade": OFF_ALONE, "stops_reading_to_upgrade": ON_ALONE,
}
# Effects of verbs that note no caller.
NOT_NOTED = ("asks", "sets")
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


TYPES = f"{FOLDER}/c_lock.hpp"


def cpp_types(root):
    """{kind: its type in C++}"""
    text = (root / TYPES).read_text()
    return dict(re.findall(r"^KLOCK_C_IS\((\w+),\s*(.+?)\);", text,
                           re.M | re.S))


def unwrapped(type_):
    """Its name, or that of the lock inside of a recursive_lock."""
    return re.match(r"(?:recursive_lock<)?(\w+)", type_)[1]


# -- The functions of each kind ------------------------------------------------

ASK = """\
#include <klock/try_lock_until.hpp>
#include <cstdio>

using namespace klock;

template <typename L>
struct node_of { using type = decltype(nullptr); };
template <node_lock L>
struct node_of<L> { using type = typename L::node; };

"""


def asked(case, forms, types):
    """{kind: (whether its waiters sleep, the numbers of the forms that it
    has)}, of those types that are locks. Without c_lock.hpp itself, which needs
    the shapes that are made of this."""
    text = [*re.findall(r"^#include <klock/\w+\.hpp>\n",
                        (case.root / TYPES).read_text(), re.M), ASK]
    for number, (verb, form) in enumerate(forms):
        with_ = [{NODE: "node"}.get(name, name) for name in form]
        calls = f"l.{verb}({', '.join(with_)});"
        any_ = f"klock::{verb}({', '.join(['l', *with_])});"
        given = """(L &l, typename node_of<L>::type &node, unsigned cpu,
	u64 deadline, u64 how_long, u32 turns)"""
        text.append(f"template <typename L>\nconcept has_{number} =\n"
                    f"requires{given} {{ {calls} }}")
        if verb in FOR_ANY:
            text.append(f" ||\nrequires{given} {{ {any_} }}")
        text.append(";\n")
    text.append("template <typename L>\nvoid ask(const char *kind)\n{\n"
                "\tif (any_lock<L>)\n"
                '\t\tprintf("%s|%d|", kind, sleeping<L>);\n')
    text += [f'\tif (any_lock<L> && has_{number}<L>)\n\t\tprintf("{number},");\n'
             for number in range(len(forms))]
    text.append('\tprintf("\\n");\n}\n\nint main()\n{\n')
    text += [f'\task<{type_}>("{kind}");\n' for kind, type_ in types.items()]
    case.write("kinds.cpp", "".join([*text, "}\n"]))
    case.must("g++", "-std=c++20", "-O0", "-w", "-ffunction-sections",
              *case.includes("hosted"), "kinds.cpp",
              "-Wl,--gc-sections", "-o", "kinds")
    found = {}
    for line in case.must("./kinds").splitlines() if not case.wrong else ():
        if line:
            kind, sleeps, has = line.split("|")
            found[kind] = sleeps == "1", [int(one) for one in
                                          has.split(",") if one]
    return found


def function(how, result, verb, parameters):
    """A function of a shape."""
    of, call = (", ".join(part) for part in zip(*parameters))
    line = f"{how}(x, {result}, {verb}, ({of}), ({call})) \\"
    if len(line) > 88:
        line = f"{how}(x, {result}, {verb}, \\\n\t  ({of}), \\\n\t  ({call})) \\"
    return "\t" + line


def functions(verb, form, effect, result, kind, sleeps):
    """Yields the functions of a verb that a kind has in this form."""
    of = [kind if name == NODE else name for name in form]
    lock, given = LOCK, [GIVEN[name] for name in of]
    if effect == "asks":
        lock, *given = ((f"const {parameter}" if "struct" in parameter else
                         parameter, name) for parameter, name in (lock, *given))
    yield function("D" if effect in NOT_NOTED else "V", RESULTS[result], verb,
                   (lock, *given))
    if effect in IRQ and not sleeps and verb not in NOT_PREEMPTED:
        end, result, more = IRQ[effect]
        yield function("V", result, verb + end,
                       (lock, *(ASKED[name] for name in of), *more))


def shapes(case, left_out, wrong):
    """The text of all shapes of locks, each of another and what it has
    besides. left_out(type, verb): whether C has it not, though C++ has."""
    lists = Lists(case)
    rows, members_ = verb_list.rows(case.root), verb_list.members(case.root)
    forms = [(verb, names) for verb in rows if verb in members_
             for names in ([name for _, name in form]
                           for form in members_[verb][1])
             if set(names) <= {*GIVEN, NODE}]
    forms += [(verb, [NODE, *names]) for verb, names in forms
              if verb in FOR_ANY and len(names) == 1]
    types = cpp_types(case.root)
    kinds = {kind: shape for of in lists.kinds.values()
             for kind, shape in of.items()}
    made, of_shape = {}, {}
    asked_of = {kind: types[kind] for kind in kinds}
    for kind, (sleeps, numbers) in asked(case, forms, asked_of).items():
        lines = [function("D", "NONE", "init", (LOCK,))]
        for verb, form in (forms[number] for number in numbers):
            if not left_out(unwrapped(types[kind]), verb):
                lines += functions(verb, form, rows[verb], members_[verb][0],
                                   kind, sleeps)
        shape = kinds[kind]
        first = of_shape.setdefault(shape, kind)
        for line in sorted({*lines} ^ {*made.setdefault(shape, lines)}):
            wrong.append(f"{LIST}: {first} and {kind} are no kinds of one "
                         f"shape, {shape}: one alone has {line.strip()}")
    text = ""
    alone = re.findall(r"^#define KLOCK_ALONE_(\w+)\(V, x\)",
                       (case.root / LIST).read_text(), re.M)
    written = []
    for shape, lines in sorted(made.items(), key=lambda one: len(one[1])):
        inside = [one for one in written if {*made[one]} <= {*lines} and
                  one not in alone]
        body = lines
        if inside:
            most = max(inside, key=lambda one: len(made[one]))
            body = [f"\tKLOCK_SHAPE_{most}(V, D, x) \\"] + \
                [line for line in lines if line not in made[most]]
        if shape in alone:
            body = body + [f"\tKLOCK_ALONE_{shape}(V, x) \\"]
        written.append(shape)
        text += "\n".join([f"#define KLOCK_SHAPE_{shape}(V, D, x) \\",
                           *body])[:-2] + "\n"
    return text


# -- The rest, made of verbs.h ----------------------------------------------------

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
    """{(file, mark): the text that belongs there}, of verbs.h; what is wrong
    with that goes to wrong."""
    lists = Lists(case)
    rows = verb_list.rows(case.root)
    return {(ANY_KIND, "verbs"): any_kind(lists, wrong),
            (ANY_KIND, "preempt"): preempted(lists, rows, wrong),
            (FUNCTIONS, "members"): members(case.root, lists)}
