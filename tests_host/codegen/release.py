# SPDX-License-Identifier: MIT
"""A release build is the same with klock's checks written down and without.

Two files do the same: one by locks, names, order and waits that are checked
where `debug` is true, one by the locks alone. With debug false their code and
data are the same, byte by byte; with it true they are not, or nothing would be
shown. Run: release.py --cxx g++ --bits 64 --lib lib
"""

from pathlib import Path

import driver
import objects

HERE = Path(__file__).resolve().parent
SECTIONS = (".text", ".data", ".bss", ".rodata")


def _bytes(compiler, scratch, *defines):
    obj = compiler.compile_as_kernel(
        HERE / "release.cpp", Path(scratch) / "release.o", defines)
    raw = Path(scratch) / "raw"
    found = {}
    for line in objects.call(["objdump", "-h", "-w", obj]).splitlines():
        words = line.split()
        if len(words) < 3 or not words[0].isdigit() or \
                not words[1].startswith(SECTIONS):
            continue
        raw.unlink(missing_ok=True)
        objects.call(["objcopy", "-O", "binary", "-j", words[1],
                      "--set-section-flags", f"{words[1]}=alloc", obj, raw])
        found[words[1]] = (int(words[2], 16),
                           raw.read_bytes() if raw.is_file() else b"")
    needs = sorted(objects.undefined(obj))
    return {name: one for name, one in found.items() if one[0]}, needs


def check(compiler, scratch):
    plain = _bytes(compiler, scratch, "-DPLAIN")
    release = _bytes(compiler, scratch, "-DDEBUG=false")
    debug = _bytes(compiler, scratch, "-DDEBUG=true")
    found = []
    if not plain[0].get(".text"):
        found.append(f"{compiler}: release.cpp has no code")
    if release != plain:
        found.append(f"{compiler}: a release build differs from one without "
                     f"checks: {release}\nis not {plain}")
    if debug[0].get(".text") == plain[0].get(".text"):
        found.append(f"{compiler}: a debug build is as one without checks: "
                     "nothing is shown")
    return found


if __name__ == "__main__":
    driver.main(__doc__, check)
