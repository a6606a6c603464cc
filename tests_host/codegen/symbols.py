# SPDX-License-Identifier: MIT
"""What klock asks of the program it is linked into: nothing but klock_os_*.

No library function, no C++ runtime (exceptions, guards of static variables),
and nothing to be run before main.
"""

import objects

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


def check(obj):
    """One line for each symbol or section that should not be there."""
    return judge(*objects.of_each([obj])[str(obj)])


def judge(undefined, defined, sections):
    """The same, of what objects.of_each() says of one."""
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
