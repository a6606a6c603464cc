# SPDX-License-Identifier: MIT
"""What a seeded fault changes is there, once.

Four tables have faults that tests must find, each as a text of lib and what is
there instead. A fault whose text was edited cannot be planted; the tests that
plant it are in levels test and full. Run: seeded.py --root DIR
"""

import importlib.util
import re
import sys

import common
from common import Finding


def _order(table):
    return [(m.name, [f"klock/{m.header}"], m.old) for m in table.MUTANTS]


def _front_end(table):
    return [(name, [file], old) for name, file, old, *_ in table.MUTANTS
            if file] # else the linker's options


def _sleep(table):
    return [(name, [f"model/include/{header}" if header == table.PARKING
                    else header], table.pattern(old.lstrip("+")))
            for name, header, old, _ in table.MUTANTS]


def _codegen(table):
    shared = [f"klock/**/{name}" for name in table._SHARED_NAMES]
    return [(fault.words, shared if fault.where == table.SHARED
             else [fault.where], fault.old)
            for faults in table.FAULTS.values() for fault in faults]


TABLES = {"tests_host/unit/mutants/mutant_list.py": _order,
          "tests_host/checker/front_end.py": _front_end,
          "tests_host/model/sleep_mutants.py": _sleep,
          "tests_host/codegen/faults.py": _codegen}


def _load(path):
    """A table, with the modules of its folder: a lint may have their names."""
    folder = str(path.parent)
    own = {file.stem for file in path.parent.glob("*.py")}
    kept = {name: sys.modules.pop(name) for name in own & {*sys.modules}}
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        table = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = table
        spec.loader.exec_module(table)
    finally:
        sys.path.remove(folder)
        for name in own & {*sys.modules}:
            del sys.modules[name]
        sys.modules.update(kept)
    return table


def _times(text, old):
    return len(old.findall(text)) if isinstance(old, re.Pattern) else \
        text.count(old)


def check_table(root, name, texts):
    for fault, globs, old in texts:
        paths = [path for glob in globs
                 for path in sorted((root / "lib").glob(glob))]
        times = {path.name: _times(path.read_text(), old) for path in paths}
        if {*times.values()} | {0} != {0, 1}:
            counts = ", ".join(f"{path}: {n}" for path, n in times.items())
            yield Finding(name, 0, f"'{fault}': its text is not there once, "
                          f"but in {counts or 'no file'}: change it as well")


def check(root):
    tables = [name for name in TABLES if (root / name).is_file()]
    if not tables:
        return common.nothing_found("no table of seeded faults")
    return [finding for name in tables for finding in check_table(
        root, name, TABLES[name](_load(root / name)))]


if __name__ == "__main__":
    common.main(check, __doc__)
