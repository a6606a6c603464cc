# SPDX-License-Identifier: MIT
"""Starts QEMU with the lab kernel, watches it, and says how it ended.

Accelerator modes, each for its own purpose (all measured):
  single    many CPUs, quickly: vCPUs take turns on one host thread
  icount    the same, and reproducible to the byte
  parallel  two vCPUs that truly run at once, each pinned to a host core: the
            only mode in which a race between two instructions shows
  kvm       only when asked for (KLOCK_QEMU_ACCEL=kvm)
"""
import dataclasses
import enum
import os
import re
import shutil
import signal
import subprocess
import threading
import time

ACCELERATORS = {
    "single": ["-accel", "tcg,thread=single"],
    "parallel": ["-accel", "tcg,thread=multi"],
    "icount": ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"],
    "kvm": ["-accel", "kvm"],
}

# Another one than the system's: KLOCK_QEMU in the environment.
PROGRAM = os.environ.get("KLOCK_QEMU", "qemu-system-x86_64")

# boot/exit.hpp: QEMU's isa-debug-exit turns code v into status 2 * v + 1.
STATUS_PASS, STATUS_FAIL, STATUS_PANIC = 85, 87, 89

CPUS = re.compile(r"# boot: (\d+) CPUs?$")
PLAN = re.compile(r"1\.\.(\d+)$")
RESULT = re.compile(r"(ok|not ok) (\d+) \S+( # SKIP .*)?$")


class Outcome(enum.Enum):
    """How a run ended; the value is what a test asks for by --expect."""
    PASS = "pass"
    FAIL = "fail"
    PANIC = "panic"
    RESET = "reset"
    TIMEOUT = "timeout"
    QEMU = "qemu"


@dataclasses.dataclass
class Machine:
    image: str              # a kernel, or an ISO image, which has its own words
    cpus: int = 1
    accelerator: str = "single"
    append: str = ""
    timeout: float = 60.0
    qemu: str = PROGRAM
    extra: tuple = ()
    log: str = ""
    echo: object = None     # a binary file that gets the line as it comes
    boots: int = 0          # CPUs that the guest must find; 0: all

    def __post_init__(self):
        if (os.environ.get("KLOCK_QEMU_ACCEL") == "kvm"
                and self.accelerator == "single"):
            self.accelerator = "kvm"


@dataclasses.dataclass
class Run:
    outcome: Outcome
    message: str
    serial: str
    seconds: float


def missing(machine):
    """None, or why this machine cannot be started on this host."""
    if shutil.which(machine.qemu) is None:
        return f"{machine.qemu} not found"
    if machine.image.endswith(".iso") and not os.path.exists(machine.image):
        return f"{machine.image} was not made"
    if machine.accelerator == "kvm" and not os.access("/dev/kvm", os.W_OK):
        return "/dev/kvm cannot be opened"
    if machine.accelerator == "parallel" and len(host_cores()) < 2:
        return "one host core: two vCPUs cannot run at once"
    return None


def host_cores():
    return sorted(os.sched_getaffinity(0))


def command(machine):
    line = [machine.qemu, "-machine", "pc", "-m", "128",
            "-smp", str(machine.cpus), "-display", "none", "-nodefaults",
            "-no-user-config", "-no-reboot", "-serial", "stdio",
            "-monitor", "none",
            "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04",
            "-name", "klock,debug-threads=on"]
    line += ACCELERATORS[machine.accelerator]
    # All that there is: RDTSCP, for one, which klock/calibrate.hpp wants.
    line += ["-cpu", "host" if machine.accelerator == "kvm" else "max"]
    if machine.image.endswith(".iso"):
        line += ["-cdrom", machine.image]
    else:
        line += ["-kernel", machine.image, "-append", machine.append]
    return line + list(machine.extra)


def pin_vcpus(process, cpus):
    """Binds each vCPU's thread to a host core of its own, round robin.

    Unpinned, the host often runs both on one core, and races are missed.
    """
    cores = host_cores()
    pinned = set()
    deadline = time.monotonic() + 10
    while (len(pinned) < cpus and process.poll() is None
           and time.monotonic() < deadline):
        folder = f"/proc/{process.pid}/task"
        try:
            threads = os.listdir(folder)
        except OSError:
            return
        for thread in threads:
            try:
                with open(f"{folder}/{thread}/comm", encoding="ascii") as f:
                    words = f.read().split()
                if words[:1] == ["CPU"] and thread not in pinned:
                    core = cores[int(words[1].split("/")[0]) % len(cores)]
                    os.sched_setaffinity(int(thread), {core})
                    pinned.add(thread)
            except (OSError, ValueError, IndexError):
                continue    # a thread that came and went
        time.sleep(0.002)


def read_serial(stream, echo):
    """All that comes, shown as it comes. A line that the guest wrote over
    (carriage return: progress on a terminal) is kept in its last form."""
    kept = b""
    while chunk := stream.read1(4096):
        kept += chunk
        if echo:
            echo.write(chunk)
            echo.flush()
    lines = kept.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r")[2] for line in lines)


def run(machine):
    """Boots, waits for the end, and says what it was."""
    begin = time.monotonic()
    process = subprocess.Popen(command(machine), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    expired = threading.Event()

    def expire():
        expired.set()
        process.send_signal(signal.SIGKILL)

    watchdog = threading.Timer(machine.timeout, expire)
    watchdog.start()
    errors = []
    drain = threading.Thread(
        target=lambda: errors.append(process.stderr.read()))
    drain.start()
    if machine.accelerator == "parallel":
        pin_vcpus(process, machine.cpus)
    serial = read_serial(process.stdout, machine.echo)
    status = process.wait()
    watchdog.cancel()
    drain.join()
    stderr = b"".join(errors).decode("utf-8", "replace").strip()
    lines = serial.splitlines()
    if machine.log:
        with open(machine.log, "w", encoding="utf-8") as f:
            f.write(serial)
            if stderr:
                f.write(f"# qemu: {stderr}\n")
    outcome, message = judge(machine, status, expired.is_set(), lines, stderr)
    return Run(outcome, message, serial, time.monotonic() - begin)


def not_earned(machine, lines):
    """What a guest that says it has passed does not show; None: nothing."""
    if "PASS" not in lines:
        return "there is no line PASS"
    found = next((int(m[1]) for m in map(CPUS.match, lines) if m), 0)
    wanted = machine.boots or machine.cpus
    if found != wanted:
        return f"it found {found} CPUs of {wanted}"
    if "KTAP version 1" in lines or "mode=tap" in machine.append.split():
        return wrong_rows(lines)
    return None


def wrong_rows(lines):
    """What is wrong with the rows of a KTAP report; None: nothing."""
    plans = [int(m[1]) for m in map(PLAN.match, lines) if m]
    rows = [m for m in map(RESULT.match, lines) if m]
    if len(plans) != 1:
        return f"there are {len(plans)} plans"
    if [int(row[2]) for row in rows] != list(range(1, plans[0] + 1)):
        return f"of {plans[0]} rows that were planned there are {len(rows)}"
    if any(row[1] == "not ok" for row in rows):
        return "a row is not ok"
    if all(row[3] for row in rows):
        return f"none of its {len(rows)} rows was run"
    return None


def judge(machine, status, expired, lines, stderr):
    """The outcome and one sentence: only an exact pass code with the PASS
    line is a pass."""
    last = next((line for line in reversed(lines) if line.strip()), "nothing")
    if expired:
        return Outcome.TIMEOUT, (
            f"host timeout: not done after {machine.timeout:g} s; the last "
            f"line was: {last}")
    if status == STATUS_PASS:
        why = not_earned(machine, lines)
        if why:
            return Outcome.FAIL, f"the guest passed, but {why}"
        return Outcome.PASS, "passed"
    if status == STATUS_FAIL:
        why = next((line for line in lines if line.startswith("FAIL")), last)
        return Outcome.FAIL, f"test failure: {why}"
    if status == STATUS_PANIC:
        why = next((line for line in lines if "panic" in line.lower()), last)
        return Outcome.PANIC, f"kernel panic: {why}"
    if status == 0:
        return Outcome.RESET, (
            "the guest reset or powered off without a verdict (triple "
            f"fault?); the last line was: {last}")
    how = f"signal {-status}" if status < 0 else f"status {status}"
    return Outcome.QEMU, f"QEMU failed with {how}: {stderr or last}"
