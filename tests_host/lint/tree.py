# SPDX-License-Identifier: MIT
"""All lints of the tree in one process: what costs is the start of each.

Exit status 0: nothing to say, or clang-format is not there (said).
Run: tree.py --root DIR
"""

import importlib

import common
import format as clang_format

LINTS = ("fields", "orders", "includes", "bans", "ports", "style",
         "lock_table", "repeated", "members", "names", "figures",
         "proofs", "reports", "sentences", "contracts")


def check(root):
    found = [finding for lint in LINTS
             for finding in importlib.import_module(lint).check(root)]
    return found + clang_format.check(root)


if __name__ == "__main__":
    common.main(check, __doc__)
