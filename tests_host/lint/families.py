# SPDX-License-Identifier: MIT
"""lib/README.md's table of headers by family holds each header once.

So that a stranger sees in one look which are to include. Run:
families.py --root DIR
"""

import re

import common
from common import Finding

README = "lib/README.md"
SECTION = "## The headers"


def check(root):
    headers = sorted((root / "lib/klock").glob("*.hpp"))
    if not headers:
        return common.nothing_found("no headers in lib/klock")
    path = root / README
    text = path.read_text() if path.is_file() else ""
    begin = text.find(SECTION + "\n")
    if begin < 0:
        return [Finding(README, 0, f"no section '{SECTION}': the table of "
                        "headers by family")]
    section = text[begin:].split("\n## ")[0]
    listed = re.findall(r"\]\(klock/([\w.]+)\)", section)
    line = common.line_of(text, begin)
    return [Finding(README, line, f"{header.name} stands "
                    f"{listed.count(header.name)} times in '{SECTION}': once, "
                    "in its family")
            for header in headers if listed.count(header.name) != 1]


if __name__ == "__main__":
    common.main(check, __doc__)
