# SPDX-License-Identifier: MIT
"""Starts QEMU with the lab kernel, watches it, and says how it ended.

Accelerator modes, each for its own purpose (all measured):
  single    many CPUs, quickly: vCPUs take turns on one host thread
  icount    the same, and reproducible to the byte
  parallel  two vCPUs that truly run at once, each pinned to a host core: the
            only mode in which a race between two instructions shows
  kvm       only when asked for (KLOCK_QEMU_ACCEL=kvm)
"""
import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import threading
import time

from arch import ARCHES, arch_of
from ends import Stopped
from output import Output
from patience import Watchdog, plan_of
from verdict import Outcome, judge

ACCELERATORS = {
    "single": ["-accel", "tcg,thread=single"],
    "parallel": ["-accel", "tcg,thread=multi"],
    "icount": ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"],
    "kvm": ["-accel", "kvm"],
}


@dataclasses.dataclass
class Machine:
    image: str              # a kernel, or an ISO image, which has its own words
    cpus: int = 1
    accelerator: str = "single"
    append: str = ""
    timeout: float = None   # seconds in all; None: by the plan, patience.py
    arch: str = ""          # empty: what the image says
    qemu: str = ""          # the program; empty: the architecture's
    cpu: str = ""           # QEMU's name of it; empty: all that there is
    extra: tuple = ()
    log: str = ""
    csv: str = ""           # a file that gets the rows of mode=csv
    echo: object = None     # a binary file that gets the lines as they come
    boots: int = 0          # CPUs that the guest must find; 0: all

    def __post_init__(self):
        self.arch = self.arch or arch_of(self.image)
        self.qemu = self.qemu or ARCHES[self.arch].program
        if (os.environ.get("KLOCK_QEMU_ACCEL") == "kvm"
                and ARCHES[self.arch].kvm and self.accelerator == "single"):
            self.accelerator = "kvm"


@dataclasses.dataclass
class Run:
    outcome: Outcome
    message: str
    serial: str
    seconds: float
    said: str = ""          # the line of the guest that the message repeats
    csv_rows: int = 0


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
    arch = ARCHES[machine.arch]
    line = [machine.qemu, *arch.machine, "-m", "128",
            "-smp", str(machine.cpus), "-display", "none", "-nodefaults",
            "-no-user-config", "-no-reboot", "-serial", "stdio",
            "-monitor", "none", "-name", "klock,debug-threads=on"]
    line += ACCELERATORS[machine.accelerator]
    line += ["-cpu", "host" if machine.accelerator == "kvm"
             else machine.cpu or arch.cpu]
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


def watch_serial(machine, process, output, watchdog):
    """Takes what comes, until the guest ends."""
    planned = False
    while chunk := process.stdout.read1(4096):
        watchdog.came()
        for line in output.take(chunk):
            plan = None if planned else plan_of(line)
            if plan:
                planned = True
                output.remark(watchdog.follow(plan, machine.accelerator,
                                              machine.cpus))


def take_rest(process, output):
    """Ends QEMU; what it has printed by then is not lost."""
    process.kill()
    with contextlib.suppress(OSError):  # nobody may be there to read it
        while chunk := process.stdout.read1(4096):
            output.take(chunk)
        output.end()
    process.wait()


def watched(machine, process, output):
    """The exit status, which time-out has come, what QEMU said."""
    errors = []
    drain = threading.Thread(
        target=lambda: errors.append(process.stderr.read()), daemon=True)
    drain.start()
    try:
        with Watchdog(process.kill, machine.timeout) as watchdog:
            if machine.accelerator == "parallel":
                pin_vcpus(process, machine.cpus)
            watch_serial(machine, process, output, watchdog)
            output.end()
            status = process.wait()
    except KeyboardInterrupt as why:
        take_rest(process, output)
        raise Stopped(getattr(why, "number", signal.SIGINT),
                      output.lines) from None
    except BaseException:
        process.kill()
        raise
    drain.join()
    stderr = b"".join(errors).decode("utf-8", "replace").strip()
    return status, watchdog.expired, stderr


def run(machine):
    """Boots, waits for the end, and says what it was."""
    begin = time.monotonic()
    output = Output(machine.log, machine.csv, machine.echo)
    with contextlib.closing(output):
        process = subprocess.Popen(command(machine),
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        status, expired, stderr = watched(machine, process, output)
        if stderr and output.log:
            output.log.write(f"# qemu: {stderr}\n")
    outcome, message, said = judge(machine, status, expired, output.lines,
                                   stderr)
    rows = output.csv.rows if output.csv else 0
    return Run(outcome, message, output.serial(), time.monotonic() - begin,
               said, rows)
