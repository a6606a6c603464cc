#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How each script of the tree ends when its user makes a mistake or the disk is
full: in one line and a status, without a traceback; --help is no mistake. With
programs: how those end, instead."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import common

# Beyond what all scripts are asked: the script, its words, what it must say.
MISTAKES = [
    ("toolchain/levels.py", ["missing"], "missing: no build tree"),
    ("toolchain/single_header.py", ["vax", "k.hpp"], "'vax'"),
    ("toolchain/single_header.py", ["x86", "/dev/full"],
     "/dev/full: No space left on device"),
    ("toolchain/single_header.py", ["x86", "/dev/null/a/k.hpp"],
     "Not a directory"),
    ("toolchain/single_header.py", ["x86", "unasked/k.hpp"],
     "unasked/k.hpp: No such file"),
    ("toolchain/skips.py", ["lib"], "lib/Testing/tests.xml: No such file"),
    ("tests_host/lint/tree.py", ["--root", "missing"],
     "missing: no such folder"),
    ("tests_host/lint/tree.py", ["--root", "lib"], "lib holds no lib/klock"),
    ("tests_host/embed/guide.py", ["--root", ".", "--check", "missing.md"],
     "missing.md: No such file"),
    ("tests_host/embed/guide.py", ["--root", ".", "--run", "x", "README.md"],
     "--work is missing"),
    ("tests_host/proofs/prove.py", ["missing", "1"], "missing: no such file"),
    ("tests_host/proofs/prove.py", ["README.md", "x"], "x: at least one"),
    ("tests_host/checker/replay.py", ["--program", "missing", "--case", "x"],
     "missing: no such file"),
    ("tests_qemu/runner/iso.py", ["--image", "missing", "--menu", "missing",
                                  "--out", "/dev/null/x.iso"],
     "Not a directory"),
    ("tests_qemu/runner/plots.py", ["/"], "/: Is a directory"),
    ("tests_qemu/runner/plots.py", [""], ".: Is a directory"),
]


WAIT = 120  # seconds, for what comes at once; never a verdict on speed
# {program: [(wrong words, what it must say)]}.
PROGRAMS = {
    "klock_bench": [
        (["--out", "/dev/full"], "/dev/full: Not a directory"),
        (["--cores", "x"], "x: not a number from 1 to 1024"),
        (["--rounds", "-1"], "-1: not a number"),
        (["--sizes", "--scaling"], "two words")],
    "klock_sim_report": [
        (["/dev/full", "readers"], "/dev/full: Not a directory"),
        ([".", "none"], "no machine 'none'")],
    "random_sections": [(["1", "x"], "x: not a number")],
}


def called(root, path, words, how='exec "$@"'):
    """Runs the program by a shell; (status, output, errors)."""
    python = [sys.executable, "-B"] if path.suffix == ".py" else []
    try:
        done = subprocess.run(["sh", "-c", how, "sh", *python, path, *words],
                              cwd=root, capture_output=True, text=True,
                              timeout=WAIT)
    except subprocess.TimeoutExpired:
        return 124, "", "it goes on for ever"
    return done.returncode, done.stdout, done.stderr


def one_line(ended, says):
    """Returns the fault in how a script ended that was made to fail."""
    status, out, err = ended
    if status != 2 or err.count("\n") != 1 or says not in err or out:
        yield f"status {status}: {out[-300:]}{err[-600:]}"


def help_and_mistakes(root, path):
    status, out, err = called(root, path, ["--help"])
    if status or err or not out.startswith("usage: "):
        yield f"--help: status {status}: {err}"
    for words, how, says in (
            (["--no-such-option"], 'exec "$@"', "error: "),
            (["--help"], 'exec "$@" >/dev/full', "No space left on device"),
            *[(["--help"], 'exec "$@" >&-', "standard output is closed")
              ] * (path.suffix != ".py")):
        for wrong in one_line(called(root, path, words, how), says):
            yield f"{how} {words[0]}: {wrong}"


def mistakes(root, path, words, says):
    yield from one_line(called(root, path, words), says)


def full_disk(root):
    """The header that was there stays, whole; nothing is beside it."""
    path = root / "toolchain/single_header.py"
    yield from one_line(called(root, path, ["--help"], 'exec "$@" >&-'),
                        "standard output is closed")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "klock.hpp"
        for kept in (None, "the old one"):
            if kept:
                out.write_text(kept)
            yield from one_line(called(root, path, ["x86", out],
                                       'ulimit -f 8; exec "$@"'),
                                "klock.hpp: File too large")
            left = {path.name: path.read_text() for path in
                    Path(folder).iterdir()}
            if left != ({out.name: kept} if kept else {}):
                yield f"left: {sorted(left)}"


def jobs_of(root):
    for path in (path for folder in common.FOLDERS
                 for path in common.files(root, folder, {".py"})):
        if '\nif __name__ == "__main__":' in path.read_text():
            yield path.name, help_and_mistakes, path
    for name, words, says in MISTAKES:
        yield f"{name} {' '.join(words)}", mistakes, root / name, words, says
    yield "a full disk", full_disk


def jobs_with(programs):
    for path in programs:
        yield path.name, help_and_mistakes, path
        for words, says in PROGRAMS.get(path.name, []):
            yield f"{path.name} {' '.join(words)}", mistakes, path, words, says


def check(root, programs):
    jobs = list(jobs_with(programs) if programs else jobs_of(root))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda job: list(job[1](root, *job[2:])), jobs)
    return [common.Finding(job[0], 0, text)
            for job, texts in zip(jobs, found) for text in texts]


def main():
    parser = common.tool.Parser(__doc__)
    parser.add_argument("--root", type=common.tool.tree, required=True)
    parser.add_argument("programs", type=common.tool.existing, nargs="*")
    args = parser.parse_args()
    return common.report(check(args.root, args.programs))


if __name__ == "__main__":
    sys.exit(common.tool.exit_status(main))
