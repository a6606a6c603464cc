#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks what toolchain/setup would install where a pretended host lacks things,
and that it removes nothing. The apt-get that it calls is a script of this
test's; so is the debootstrap of toolchain/fresh_root, which leaves nothing
behind. And which skipped tests toolchain/skips.py lets pass."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from common import tool

# packages that are not there, options, those that must be named, and no other
CASES = [
    ("", [], ""),
    ("g++ qemu-system-arm", [], "g++ qemu-system-arm"),
    ("gdb", [], "gdb"),
    ("g++-riscv64-linux-gnu", [], "g++-riscv64-linux-gnu"),
    ("g++ qemu-system-arm qemu-system-misc g++-aarch64-linux-gnu", ["--x86"],
     "g++"),
    ("psf-unifont ovmf meson", [], "psf-unifont"),
    ("psf-unifont ovmf z3 clang-tidy", ["--full"],
     "psf-unifont ovmf z3 clang-tidy"),
    ("g++ qemu-system-arm g++-aarch64-linux-gnu", ["--clang"],
     "g++ qemu-system-arm"),
    ("python3-matplotlib", ["--full"], ""),
    ("python3-matplotlib ovmf", ["--all"], "python3-matplotlib ovmf"),
]


def named(script, absent, options):
    done = subprocess.run(
        [script, "--check", *options], capture_output=True, text=True,
        env={**os.environ, "KLOCK_SETUP_PRETEND_MISSING": absent})
    line = done.stdout.strip()
    found = line.partition("missing: ")[2].split()
    if bool(found) != bool(done.returncode):
        found.append(f"exit status {done.returncode}")
    return found


# It notes how it is called, and says what apt-get would do.
APT_GET = """\
echo "$*" >>"$CALLS"
case "$*" in
*--simulate*) echo "$WOULD" ;;
esac
case "$*" in
*"$FAILS"*) echo "E: Unable to locate package ninja-build"; exit 100 ;;
esac
"""
#  what apt-get would do, what it fails at, options: status, in its last line,
#  whether something is installed
RUNS = [
    ("Inst ninja-build (1.12)", "nothing", [], 0, "done", True),
    ("Remv gcc-multilib [4:12]\nRemv g++-multilib [4:12]\nInst ninja-build",
     "nothing", [], 1, "would remove: gcc-multilib g++-multilib (Try: --clang",
     False),
    ("Remv gcc-multilib [4:12]", "nothing", ["--x86"], 1,
     "would remove: gcc-multilib (Try: without", False),
    ("", "--simulate", [], 1, "Unable to locate package ninja-build", False),
    ("", "update", [], 1, "apt-get update failed", False),
    ("", "--no-remove", [], 1, "apt-get install failed", True),
]


def wrong_run(script, folder, would, fails, options, status, said, installs):
    """Returns the fault of a run for which ninja-build is missing."""
    calls = folder / "calls"
    calls.write_text("")
    done = subprocess.run(
        [script, *options], capture_output=True, text=True,
        env={**os.environ, "KLOCK_SETUP_PRETEND_MISSING": "ninja-build",
             "PATH": f"{folder}:{os.environ['PATH']}", "CALLS": str(calls),
             "WOULD": would, "FAILS": fails})
    last = (done.stderr or done.stdout).strip().splitlines()[-1]
    if done.returncode != status or said not in last:
        yield f"status {done.returncode}, says: {last}"
    real = [line for line in calls.read_text().splitlines()
            if "install" in line and "--simulate" not in line]
    if bool(real) != installs:
        yield f"installs by: {real}"
    if any("--no-remove" not in line for line in real):
        yield "installs without --no-remove"


def pretend(folder, programs):
    for program, text in programs.items():
        (folder / program).write_text("#!/bin/sh\n" + text)
        (folder / program).chmod(0o755)


def wrong_runs(script):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pretend(folder, {"apt-get": APT_GET, "apt-cache": "exit 100\n",
                         "sudo": 'exec "$@"\n'})
        for run in RUNS:
            for text in wrong_run(script, folder, *run):
                yield f"{run}: {text}"


# It takes its time to make a root, or makes none.
DEBOOTSTRAP = """\
echo $$ >"$PID"
mkdir -p "$4/made"
[ "$3" != bad ] || exit 1
for i in $(seq 100); do sleep 0.1; mkdir -p "$4/made"; done
"""
#  what fresh_root is told, its status, what it says
ROOTS = [
    (["bad"], 77, "debootstrap failed"),
    (["one", "two"], 2, "two releases: one two"),
    ([], 2, "The exit status"),
]


def wrong_roots(script):
    with tempfile.TemporaryDirectory() as name:
        folder, left = pathlib.Path(name), pathlib.Path(name) / "left"
        left.mkdir()
        pretend(folder, {
            "id": "echo 0\n", "debootstrap": DEBOOTSTRAP,
            "unshare": 'while case $1 in --*) ;; *) false ;; esac; do shift; '
                       'done\n"$@"\nexit $?\n'})
        env = {**os.environ, "TMPDIR": str(left), "PID": str(folder / "pid"),
               "PATH": f"{folder}:{os.environ['PATH']}"}
        for words, status, says in ROOTS:
            done = subprocess.run([script, *words], capture_output=True,
                                  text=True, env=env)
            if (done.returncode != status or says not in done.stderr
                    or list(left.iterdir())):
                yield (f"{words}: status {done.returncode}, left "
                       f"{list(left.iterdir())}: {done.stderr}")
        done = subprocess.run([script, "bad"], capture_output=True, text=True,
                              env={**env, "TMPDIR": "/dev/null"})
        if done.returncode != 77:
            yield f"no TMPDIR: {done.returncode}: {done.stderr}"
        yield from stopped_root(script, env, left)


def stopped_root(script, env, left):
    """SIGTERM ends what makes the root before the root is removed."""
    with subprocess.Popen([script, "one"], env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(left.glob("**/made")):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
    time.sleep(0.5)     # one that goes on makes it again
    if list(left.iterdir()):
        yield f"stopped, left: {list(left.iterdir())}"
        os.kill(int(pathlib.Path(env["PID"]).read_text()), signal.SIGKILL)


SKIPPED = '<skipped message=""/>'
# The report's one test, and the status of skips.py. None: the report is empty.
REPORTS = [
    (None, 2),
    ("<system-out>passed</system-out>", 0),
    (f"{SKIPPED}<system-out>gdb may not trace</system-out>", 0),
    (f"{SKIPPED}<system-out>gdb may not trace\nno gdb</system-out>", 1),
    (SKIPPED, 1),
]


def wrong_skips(script):
    for case, expected in REPORTS:
        text = f'<testcase name="one">{case}</testcase>' if case else ""
        with tempfile.TemporaryDirectory() as build:
            report = pathlib.Path(build, "Testing/tests.xml")
            report.parent.mkdir()
            report.write_text(f"<testsuite>{text}</testsuite>")
            done = subprocess.run([sys.executable, "-B", script, build],
                                  capture_output=True, text=True)
        if done.returncode != expected:
            yield f"{script.name}: {case}: {done.returncode}: {done.stdout}"


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("--root", type=tool.tree, required=True)
    script = parser.parse_args().root / "toolchain/setup"
    # Every case names the programs that this host really lacks.
    lacking = {options: named(script, "", list(options))
               for options in {tuple(case[1]) for case in CASES}}
    failed = 0
    for absent, options, expected in CASES:
        found = named(script, absent, options)
        right = set(expected.split()) | set(lacking[tuple(options)])
        if set(found) != right:
            print(f"without {absent or 'nothing'}, {options}: names {found}, "
                  f"not {sorted(right)}")
            failed = 1
    done = subprocess.run([script, "--no-such"], capture_output=True, text=True)
    if done.returncode == 0 or "the right ones" not in done.stderr:
        print(f"an unknown option: {done.returncode}: {done.stderr}")
        failed = 1
    done = subprocess.run([script, "--help"], capture_output=True, text=True)
    if done.returncode or "--clang" not in done.stdout:
        print(f"--help: {done.returncode}: {done.stdout}{done.stderr}")
        failed = 1
    for text in (*wrong_runs(script),
                 *wrong_roots(script.with_name("fresh_root")),
                 *wrong_skips(script.with_name("skips.py"))):
        print(text)
        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
