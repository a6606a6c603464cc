# SPDX-License-Identifier: MIT
#
# QEMU's virt board for AArch64, which exits by semihosting. Strict alignment:
# the first instructions run with the MMU off.
port := aarch64
# QEMU keeps a CPU's time slice where it pauses: a relax.hpp of the lab's own.
port_includes := $(BOOT)/boot/aarch64/relax
rooms := aarch64 board
room_includes := aarch64
machine := -march=armv8-a -mgeneral-regs-only -mstrict-align -mno-outline-atomics
prefix := aarch64-linux-gnu-
triple := aarch64-none-elf
emulation := aarch64elf
script := aarch64.ld
qemu := qemu-system-aarch64 -machine virt,gic-version=3 -cpu max \
	-semihosting-config enable=on,target=native
