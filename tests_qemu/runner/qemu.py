# SPDX-License-Identifier: MIT
"""Starts QEMU with the lab kernel, watches it, and says how it ended.

Accelerator modes, each for its own purpose (all measured):
  single    many CPUs, quickly: vCPUs take turns on one host thread
  icount    the same, and reproducible to the byte
  parallel  two vCPUs that truly run at once, each pinned to a host core: the
            only mode in which a race between two instructions shows
  kvm       only when asked for (KLOCK_QEMU_ACCEL=kvm)

How long it waits for a guest that says nothing: by the guest's plan. The
guest's own watchdog ends a run that stands still. The host's is for a guest that
is gone; it must never end one that is slow. Each line that comes begins the time
anew, so that only the longest row counts and not how many there are.
"""
import contextlib
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from output import Outcome, Output, Stopped, Trouble, judge


@dataclasses.dataclass(frozen=True)
class Arch:
    variable: str           # of the environment: another QEMU than the system's
    system: str             # the system's
    machine: tuple          # the board, and the device that takes an exit code
    cpu: str                # all that there is, where QEMU has a name for it
    kvm: bool = False       # whether this host's KVM could run it

    @property
    def program(self):
        return os.environ.get(self.variable, self.system)


# The exit device gives QEMU status 2 * v + 1 (boot/panic.hpp). RDTSCP, for one,
# is not in QEMU's default CPU, and klock/calibrate.hpp wants it.
PC = Arch("KLOCK_QEMU", "qemu-system-x86_64",
          ("-machine", "pc",
           "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"),
          "max", kvm=True)

ARCHES = {
    "x86_64": PC,
    "i686": PC,
    # GICv2 has 8 CPUs at most. Semihosting is how a virt board exits.
    "aarch64": Arch("KLOCK_QEMU_AARCH64", "qemu-system-aarch64",
                    ("-machine", "virt,gic-version=3",
                     "-semihosting-config", "enable=on,target=native"),
                    "max"),
    # No firmware: all harts start in M-mode, at the image.
    "riscv64": Arch("KLOCK_QEMU_RISCV64", "qemu-system-riscv64",
                    ("-machine", "virt", "-bios", "none"), "rv64"),
    # S-mode, under the OpenSBI that comes with QEMU.
    "riscv64s": Arch("KLOCK_QEMU_RISCV64", "qemu-system-riscv64",
                     ("-machine", "virt", "-bios", "default"), "rv64"),
}

# The start of memory: an image that begins elsewhere has the firmware there.
RISCV_MEMORY = 0x80000000

# e_machine of an ELF file (System V ABI, and the processors' supplements). A
# Multiboot image of x86-64 is made a 32-bit one; QEMU is the same.
ELF_MACHINES = {3: "i686", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


def arch_of(image):
    """The architecture that an image says it is for; a disk's is a PC."""
    try:
        with open(image, "rb") as file:
            header = file.read(32)
    except OSError:
        header = b""        # whoever starts QEMU says it better
    if header[:4] != b"\x7fELF":
        return "x86_64"
    number = int.from_bytes(header[18:20], "little")
    found = ELF_MACHINES.get(number, "x86_64")
    entry = int.from_bytes(header[24:32], "little")
    if found == "riscv64" and entry > RISCV_MEMORY:
        return "riscv64s"
    return found

# ISO 9660: the name of the standard, in the first volume descriptor.
ISO_MARK = 16 * 2048 + 1

# lab/report.cpp: what a row is at most
PLAN = re.compile(r"# plan: rows=(\d+) acquisitions=(\d+) seconds=(\d+) "
                  r"patience=(\d+)$")

BOOT = 120          # seconds: until the plan comes, and in each row besides
ICOUNT = 60         # of the host, for one of a guest that counts instructions
TURNS = 0.001       # an acquisition where vCPUs take turns: 1 us when idle
TIME_SLICES = 0.25  # where they share cores, each handoff waits for the host
SLOW = 10           # a second of others; the guest's watchdog asks 8 times


@dataclasses.dataclass
class Plan:
    rows: int
    acquisitions: int   # of a row, at most
    seconds: int        # of a row
    patience: int       # ms; the guest's own watchdog's


def plan_of(line):
    match = PLAN.match(line)
    return Plan(*map(int, match.groups())) if match else None


def shares_cores(accelerator, cpus):
    """Whether vCPUs are host threads, more of them than can run at once."""
    return (accelerator in ("parallel", "kvm")
            and cpus > len(os.sched_getaffinity(0)))


def silence_for(plan, accelerator, cpus):
    """Seconds without a line, and why so many: the work at its slowest, the
    guest's own watchdog, and what a busy host takes."""
    each = TIME_SLICES if shares_cores(accelerator, cpus) else TURNS
    times = ICOUNT if accelerator == "icount" else SLOW
    inside = plan.seconds + plan.patience / 1000
    limit = BOOT + plan.acquisitions * each + inside * times
    work = [f"{plan.acquisitions} acquisitions"] * bool(plan.acquisitions)
    work += [f"{plan.seconds} s"] * bool(plan.seconds)
    return limit, (f"{limit:.0f} s without a line, because a row is "
                   + " or ".join(work or ["short"]))


class Watchdog:
    """Calls kill() once when the time is over; a with statement ends it."""

    def __init__(self, kill, total=None):
        self.kill = kill
        self.total = total
        self.limit = total or BOOT
        self.why = (f"{total:g} s in all, by --timeout" if total else
                    f"{BOOT} s without a line, before a plan came")
        self.expired = ""
        self.ended = threading.Event()
        self.last = time.monotonic()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def watch(self):
        while True:
            left = self.last + self.limit - time.monotonic()
            if left <= 0:
                self.expired = self.why
                self.kill()
                return
            if self.ended.wait(min(left, 1)):
                return

    def came(self):
        """Something came from the guest."""
        if not self.total:
            self.last = time.monotonic()

    def follow(self, plan, accelerator, cpus):
        """Returns what it will wait for now, in words."""
        if not self.total:
            self.limit, self.why = silence_for(plan, accelerator, cpus)
        return f"host time-out: {self.why}"


LACKS_MSR = "failed to set MSR"     # QEMU's words
OTHER_HOST = "host,-arch-capabilities"
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
        asked = os.environ.get("KLOCK_QEMU_ACCEL")
        if asked not in (None, "", "kvm"):
            raise Trouble(f"KLOCK_QEMU_ACCEL={asked}: kvm is all that it may "
                          "ask for; each run has its --mode")
        if (asked and ARCHES[self.arch].kvm and self.accelerator == "single"):
            self.accelerator = "kvm"


@dataclasses.dataclass
class Run:
    outcome: Outcome
    message: str
    serial: str
    seconds: float
    said: str = ""          # the line of the guest that the message repeats
    csv_rows: int = 0


def check_image(image):
    """QEMU would say it in words of its own, or start what is no kernel."""
    try:
        with open(image, "rb") as file:
            head = file.read(32)
            file.seek(ISO_MARK)
            mark = file.read(5)
    except OSError as error:
        raise Trouble(f"--image {image}: {error.strerror}") from None
    if image.endswith(".iso"):
        if mark != b"CD001":
            raise Trouble(f"--image {image}: no ISO image")
    elif (head[:4] != b"\x7fELF" or
          int.from_bytes(head[18:20], "little") not in ELF_MACHINES):
        raise Trouble(f"--image {image}: no ELF file of "
                      + ", ".join(ELF_MACHINES.values()))


def missing(machine):
    """None, or why this machine cannot be started on this host. Trouble: no host
    can, there is no such kernel."""
    if shutil.which(machine.qemu) is None:
        return f"{machine.qemu} not found"
    if machine.image.endswith(".iso") and not os.path.exists(machine.image):
        return f"{machine.image} was not made"
    if not os.path.isfile(machine.image):
        raise Trouble(f"--image {machine.image}: no such file")
    check_image(machine.image)
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
    line += ["-cpu", machine.cpu or ("host" if machine.accelerator == "kvm"
                                     else arch.cpu)]
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
    """Boots, waits for the end, and says what it was. A host under a hypervisor
    may lack an MSR that -cpu host announces: once more then, without it."""
    ended = boot(machine)
    if (machine.accelerator != "kvm" or machine.cpu
            or ended.outcome is not Outcome.QEMU
            or LACKS_MSR not in ended.message):
        return ended
    why = f"-cpu {OTHER_HOST}, because with -cpu host {ended.message}"
    ended = boot(dataclasses.replace(machine, cpu=OTHER_HOST), why)
    ended.message += f"; {why}"
    return ended


def boot(machine, remark=""):
    """Once. remark: what the log is to say first."""
    begin = time.monotonic()
    with Output(machine.log, machine.csv, machine.echo) as output:
        if remark:
            output.remark(remark)
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
