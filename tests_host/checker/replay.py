#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a failing execution under gdb, as result.replay says: two stops, where
it begins and at the fault, on the stack of the code that is at fault. Or gdb
must see the text that --says has. 77: skipped, there is no gdb, or it may not
trace."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "toolchain"))
import tool

SKIPPED = 77


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--program", required=True, type=tool.existing,
                        help="that has the finding")
    parser.add_argument("--case", required=True, help="the test case's name")
    parser.add_argument("--says", help="a text")
    args = parser.parse_args()
    if not shutil.which("gdb"):
        print("no gdb")
        return SKIPPED
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", "run", "-ex", "bt 6", "-ex",
         "continue", "-ex", "bt 24", "--args", args.program, args.case],
        env=dict(os.environ, KLOCK_MODEL_REPLAY="1"), check=False,
        capture_output=True, text=True)
    if "ptrace: Operation not permitted" in done.stderr:
        print("gdb may not trace")
        return SKIPPED
    if args.says:
        said = args.says in done.stdout + done.stderr
        print("" if said else f"not said:\n{done.stdout}{done.stderr}")
        return 0 if said else 1
    _, begin, fault = (done.stdout.split("received signal SIGTRAP") + [""] * 3)[:3]
    wrong = [what for what, where in (("model_replay_begins", begin),
                                      ("model_replay_fault", fault),
                                      ("cpu_main", fault))
             if what not in where]
    if wrong:
        print(f"gdb does not show {', '.join(wrong)}:\n{done.stdout}"
              f"{done.stderr}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
