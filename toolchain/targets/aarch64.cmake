# SPDX-License-Identifier: MIT
#
# AArch64, QEMU's virt board. What each variable is: toolchain/freestanding.cmake.
#   strict alignment	the first instructions run with the MMU off
#   no outline atomics	a kernel has no __aarch64_ldadd1_acq_rel
#   leaf frames		who called is told in any function
set(KLOCK_FLAGS_aarch64 ${KLOCK_KERNEL_FLAGS} -march=armv8-a
	-mgeneral-regs-only -mstrict-align -mno-outline-atomics
	-mno-omit-leaf-frame-pointer)
set(KLOCK_CLANG_FLAGS_aarch64 --target=aarch64-none-elf)
set(KLOCK_PORT_aarch64 lib/arch/aarch64)
set(KLOCK_MACHINE_aarch64 boot/aarch64)
set(KLOCK_MACHINE_INCLUDES_aarch64 boot/aarch64/relax)
set(KLOCK_LINK_aarch64 -z max-page-size=0x1000)
set(KLOCK_SCRIPT_aarch64 linker/aarch64.ld)
find_program(KLOCK_GCC_aarch64 NAMES aarch64-linux-gnu-g++)
find_program(KLOCK_LD_aarch64 NAMES aarch64-linux-gnu-ld)
