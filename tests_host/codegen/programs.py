# SPDX-License-Identifier: MIT
"""Programs that run: what object code alone does not show.

    values    every operation of every type computes what its name says
              (tests_host/operations), also where the host has no 32-bit library
    red_zone  a leaf function that turns interrupts off keeps its locals, with
              the red zone on, at every level of optimisation
"""

import platform
import resource
import signal
import subprocess
from pathlib import Path

import objects

HERE = Path(__file__).resolve().parent
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
BARE = ["-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-fno-exceptions",
        "-fno-rtti", "-fno-stack-protector"]
LIMIT = 20  # CPU seconds for a program that takes none: a wait without an end


def runs_here():
    return platform.machine() in ("x86_64", "amd64")


def build(compiler, source, program, flags):
    return objects.call(
        [compiler.cxx, f"-m{compiler.bits}", "-std=c++20", "-Wall", "-Wextra",
         "-Werror", *flags, *compiler.paths, "-I", HERE.parent, source, "-o",
         program])


def _end_in_time():
    """In the child. Of its own time, which no busy machine takes away."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))


def status_of(program):
    """Exit status and what was printed; None where it did not end."""
    done = subprocess.run([program], capture_output=True, text=True,
                          preexec_fn=_end_in_time)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None, ""
    return done.returncode, done.stdout.strip()


def values(compiler, scratch, types="every_type"):
    """types: which of tests_host/operations/table.hpp"""
    program = Path(scratch) / "values"
    build(compiler, HERE.parent / "operations/program.cpp", program,
          ["-O1", f"-DKLOCK_TYPES={types}", *BARE])
    status, said = status_of(program)
    if status:
        yield f"values: {said or status}"
    if status is None:
        yield f"values: a wait does not end within {LIMIT} CPU s"


def red_zone(compiler, scratch):
    """One line for each level at which a local is lost."""
    if compiler.bits != 64:
        return  # no red zone
    program = Path(scratch) / "red_zone"
    for level in LEVELS:
        build(compiler, HERE / "red_zone.cpp", program, [level, "-mred-zone"])
        status, _ = status_of(program)
        if status:
            yield f"red zone: {level}: " + (
                "a leaf function loses a local" if status == 1 else
                f"status {status}")


def check(compiler, scratch):
    if not runs_here():
        print("not run: programs for x86")
        return []
    return [*values(compiler, scratch), *red_zone(compiler, scratch)]
