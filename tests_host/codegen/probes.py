# SPDX-License-Identifier: MIT
"""A function for each operation of the headers and each type, as a source.

Its name says what it must be: probe_fetch_or_acq_rel__u8.
"""

import re
from pathlib import Path

import objects

# The structs of klock/atomic.hpp; its fences are atomic's.
KINDS = ("atomic", "atomic_fields", "atomic_pair")

# name in the code       type                       numbers   bits
TYPES = {
    "bool": ("bool", False, True),
    "u8": ("klock::u8", True, True),
    "u16": ("klock::u16", True, True),
    "u32": ("klock::u32", True, True),
    "usize": ("klock::usize", True, True),
    "schar": ("signed char", True, True),
    "int": ("int", True, True),
    "word_enum": ("word_enum", False, True),
    "pointer": ("word_enum *", False, False),
}
PAIRS = {"u8": "klock::u8", "u16": "klock::u16", "u32": "klock::u32"}
# type, how many fields
FIELDS = (("u8", 3), ("u8", 4), ("u16", 3), ("u16", 4), ("u32", 2))

_CHANGES = ("exchange", "fetch_add", "fetch_sub", "fetch_or", "fetch_and",
            "fetch_xor")


class Probe:
    """A function of the source: its name, its code, what it must be."""

    def __init__(self, name, code, events, waits=False):
        self.name, self.code, self.events = name, code, events
        self.waits = waits


def names(lib):
    """{struct: [(operation, order)]} of all that atomic.hpp declares."""
    text = (Path(lib) / "klock/atomic.hpp").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {}
    for kind in KINDS:
        body = re.search(rf"^struct {kind}\b.*?^}};", text, re.S | re.M)[0]
        if kind == "atomic":
            body += "".join(re.findall(r"^inline void fence_\w+\(", text, re.M))
        found[kind] = list(dict.fromkeys(re.findall(
            r"\b(?:T|bool|void)\s+(\w+?)_(relaxed|acquire|release|acq_rel|"
            r"seq_cst)\(", body)))
    # A pair has its base's, but those of several fields at once.
    found["atomic_pair"] += [(name, order) for name, order in
                             found["atomic_fields"] if name not in
                             ("await", "compare_exchange", "advance")]
    return found


def weaker(order):
    """Returns the order of a failed compare_exchange: it has no store, so no
    release."""
    return {"release": "relaxed", "acq_rel": "acquire"}.get(order, order)


def _events(operation, order):
    if operation == "compare_exchange":
        return [("compare_exchange", order, weaker(order))]
    if operation == "await_exchange":
        return [("exchange", order)]
    if operation == "await_either":
        return [("load", order)] * 2
    if operation.startswith("await"):
        return [("load", order)]
    if operation == "advance":
        return [("fetch_add", order)]
    return [(operation, order)]


# -- The source ----------------------------------------------------------------

# operation          what follows the name in a call: of atomic<T> x, T v
_CALLS = {
    "load": ("T", "()"),
    "store": ("void", "(v)"),
    "compare_exchange": ("bool", "(e, v)"),
    "await": ("T", "(done)"),
    "await_eq": ("T", "(v)"),
    "await_ne": ("T", "(v)"),
    "await_paced": ("T", "(done, pace)"),
    "await_patient": ("T", "(pace)"),
    "await_until": ("T", "(done, 1)"),
    "await_exchange": ("T", "(v, done)"),
    "await_either": ("void", "(done, y, done)"),
    **{name: ("T", "(v)") for name in _CHANGES},
}

PACE = "klock_os_probe_pace"
PRELUDE = """
#include <klock/arch/irq.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

#define PROBE extern "C" [[gnu::flatten, gnu::used, gnu::noinline]]

enum class word_enum : klock::u32 { none, some };
using klock::half;
using klock::order;

extern "C" klock::u32 klock_os_probe_pace(klock::u64);

template <typename T>
struct done_when {
	T v;
	bool operator()(T now) const { return now == v; }
};

template <typename T>
struct pace_of {
	klock::u32 operator()(T) const { return klock_os_probe_pace(1); }
};
"""


def _atomic(operation, order, short, spelled, constant=None):
    result, call = _CALLS[operation]
    call = constant or call
    name = f"probe_{operation}_{order}__{short}"
    result = spelled if result == "T" else result
    code = (f"PROBE {result} {name}(klock::atomic<{spelled}> &x, {spelled} v, "
            f"{spelled} &e, klock::atomic<{spelled}> &y)\n{{\n"
            f"\t[[maybe_unused]] done_when<{spelled}> done{{v}};\n"
            f"\t[[maybe_unused]] pace_of<{spelled}> pace;\n"
            f"\t(void)e, (void)y, (void)v;\n"
            f"\treturn x.{operation}_{order}{call};\n}}\n")
    return Probe(name, code, _events(operation, order),
                 operation.startswith("await"))


def _on(field, call):
    """The arguments of a call, and the field that it is on before them."""
    return f"({field})" if call == "()" else f"({field}, {call[1:]}"


def _pair(operation, order, short, spelled):
    pair = f"klock::pair<{spelled}>"
    if operation == "compare_exchange":
        name = f"probe_pair_{operation}_{order}__{short}"
        yield Probe(name,
                    f"PROBE bool {name}(klock::atomic_pair<{spelled}> &x, "
                    f"{pair} e, {pair} v)\n{{\n"
                    f"\treturn x.{operation}_{order}(e, v);\n}}\n",
                    _events(operation, order))
        return
    result, call = _CALLS[operation]
    result = spelled if result == "T" else result
    for half in ("first", "second"):
        name = f"probe_pair_{operation}_{order}__{short}_{half}"
        yield Probe(name,
                    f"PROBE {result} {name}(klock::atomic_pair<{spelled}> &x, "
                    f"{spelled} v)\n{{\n"
                    f"\t[[maybe_unused]] done_when<{spelled}> done{{v}};\n"
                    f"\t[[maybe_unused]] pace_of<{spelled}> pace;\n"
                    f"\t(void)v;\n"
                    f"\treturn x.{operation}_{order}"
                    f"{_on(f'half::{half}', call)};\n}}\n",
                    _events(operation, order), operation.startswith("await"))


def _fields(operation, order, short, count):
    spelled = PAIRS[short]
    word = f"klock::atomic_fields<{spelled}, {count}>"
    whole = f"klock::fields<{spelled}, {count}>"
    name = f"probe_fields_{operation}_{order}__{short}_{count}"
    if operation in ("compare_exchange", "advance"):
        result = "bool" if operation == "compare_exchange" else "void"
        return Probe(name, f"PROBE {result} {name}({word} &x, {whole} e, "
                     f"{whole} v)\n{{\n"
                     f"\treturn x.{operation}_{order}(e, v);\n}}\n",
                     _events(operation, order))
    result, call = _CALLS[operation]
    result = spelled if result == "T" else result
    return Probe(name, f"PROBE {result} {name}({word} &x, {spelled} v)\n{{\n"
                 f"\t[[maybe_unused]] done_when<{spelled}> done{{v}};\n"
                 f"\t(void)v;\n"
                 f"\treturn x.{operation}_{order}"
                 f"{_on(f'klock::field<{count - 1}>{{}}', call)};\n}}\n",
                 _events(operation, order), operation.startswith("await"))


def every(declared):
    """A Probe for each operation and type; Failed where one is not known."""
    found = []
    for operation, order in declared["atomic"]:
        if operation == "fence":
            name = f"probe_fence_{order}"
            found.append(Probe(name, f"PROBE void {name}()\n{{\n"
                               f"\tklock::fence_{order}();\n}}\n",
                               [("fence", order)]))
            continue
        if operation not in _CALLS:
            raise objects.Failed(f"probes.py knows no {operation}\n")
        for short, (spelled, numbers, bits) in TYPES.items():
            if operation in ("fetch_add", "fetch_sub") and not numbers or \
                    operation in ("fetch_or", "fetch_and", "fetch_xor") and \
                    not bits:
                continue
            found.append(_atomic(operation, order, short, spelled))
    for operation, order in declared["atomic_pair"]:
        for short, spelled in PAIRS.items():
            found += _pair(operation, order, short, spelled)
    for operation, order in declared["atomic_fields"]:
        found += [_fields(operation, order, *kind) for kind in FIELDS]
    found.append(_atomic("exchange", "acquire", "flag", "klock::flag_word"))
    found.append(_atomic("exchange", "acquire", "true", "bool", "(true)"))
    return found


# Functions that are no operation on memory: a port can be wrong there, too.
OTHERS = """
PROBE klock::arch::irq_state probe_irq_save()
{
	return klock::arch::irq_save();
}
PROBE void probe_irq_restore(klock::arch::irq_state s)
{
	klock::arch::irq_restore(s);
}
PROBE bool probe_irqs_enabled() { return klock::arch::irqs_enabled(); }
PROBE void probe_cpu_relax() { klock::cpu_relax(); }
PROBE klock::u64 probe_cycles()
{
	const klock::u64 first = klock::arch::cycles();

	return klock::arch::cycles() - first;
}
PROBE klock::u64 probe_cycles_begin() { return klock::arch::cycles_begin(); }
PROBE klock::u64 probe_cycles_end() { return klock::arch::cycles_end(); }
PROBE bool probe_cycles_usable() { return klock::arch::cycles_usable(); }
PROBE bool probe_cycles_steady() { return klock::arch::cycles_steady(); }
"""


def source(wanted):
    return PRELUDE + "\n".join(probe.code for probe in wanted) + OTHERS
