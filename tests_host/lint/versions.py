# SPDX-License-Identifier: MIT
"""Who repeats the version says that of lib/klock/version.hpp.

meson.build cannot read it, and CHANGELOG.md must have a heading for it. Run:
versions.py --root DIR
"""

import re

import common
from common import Finding

HOME = "lib/klock/version.hpp"
# file              what must stand in it, with the version
REPEATED = [
    ("meson.build",  r"\bversion: '{}'"),
    ("CHANGELOG.md", r"^## {}$"),
]


def check(root):
    home = root / HOME
    parts = re.findall(r"\bversion_\w+ = (\d+);",
                       home.read_text() if home.is_file() else "")
    if len(parts) != 3:
        return common.nothing_found(f"no version in {HOME}")
    version = ".".join(parts)
    found = []
    for name, pattern in REPEATED:
        path = root / name
        text = path.read_text() if path.is_file() else ""
        if not re.search(pattern.format(re.escape(version)), text, re.M):
            found.append(Finding(name, 0, f"does not say {version}, the "
                                 f"version of {HOME}"))
    return found


if __name__ == "__main__":
    common.main(check, __doc__)
