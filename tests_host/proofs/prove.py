# SPDX-License-Identifier: MIT
"""Runs z3 over a file of proof obligations.

Each obligation is a line of its own, "lock: step", and three questions: with
all hypotheses and the claim broken: unsat; the step alone: sat, so that the
hypotheses do not contradict each other; with a hypothesis left out: sat, so
that the obligation can fail. Anything else that z3 prints is a failure. So is a
header with other operations than the file lists (lint/proofs.py).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "toolchain"), str(ROOT / "tests_host/lint")]
import proofs
import tool

ANSWERS = ["unsat", "sat", "sat"]


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("file", type=tool.existing)
    parser.add_argument("obligations", type=tool.at_least_one)
    args = parser.parse_args()
    path, obligations = args.file, args.obligations
    if not shutil.which("z3"):
        print("no z3, nothing is proved: toolchain/setup --full")
        # Level full is run behind setup --full (CMakePresets.json).
        return 1 if os.environ.get("KLOCK_LEVEL") == "full" else 77
    done = subprocess.run(["z3", "-smt2", "-T:300", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = done.stdout.splitlines()
    names = lines[0::4]
    headers = proofs.proved(ROOT).get(path.stem, [])
    wrong = [str(finding) for finding in proofs.check_proof(path, headers)]
    wrong += [f"{name}: {lines[4 * i + 1:4 * i + 4]}, not {ANSWERS}"
              for i, name in enumerate(names)
              if lines[4 * i + 1:4 * i + 4] != ANSWERS]
    if len(names) != obligations:
        wrong.append(f"{len(names)} obligations, not {obligations}")
    if done.returncode:
        wrong.append(f"z3: exit status {done.returncode}")
    print("\n".join(wrong or [f"{len(names)} obligations hold, each can fail"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
