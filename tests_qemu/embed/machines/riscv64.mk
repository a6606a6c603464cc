# SPDX-License-Identifier: MIT
#
# QEMU's virt board for RISC-V, in machine mode: no firmware.
port := riscv
# QEMU keeps a CPU's time slice where it pauses: a relax.hpp of the lab's own.
port_includes := $(BOOT)/boot/riscv64/relax $(KLOCK)/arch/riscv/machine
rooms := riscv64 riscv64/machine_mode board
room_includes := riscv64 riscv64/machine_mode
# clang 14 knows no zicsr, and has its instructions all the same.
machine := $(if $(CROSS),-march=rv64imac,-march=rv64imac_zicsr_zifencei) \
	-mabi=lp64 -mcmodel=medany
prefix := riscv64-linux-gnu-
triple := riscv64-none-elf -mno-relax
emulation := elf64lriscv
script := riscv64.ld
qemu := qemu-system-riscv64 -machine virt -bios none
