# SPDX-License-Identifier: MIT
"""What QEMU is told of each architecture that the lab has a room for."""
import dataclasses
import os


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


# The exit device gives QEMU status 2 * v + 1 (boot/exit.hpp). RDTSCP, for one,
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

# Where memory begins: an image that begins elsewhere has the firmware there.
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
