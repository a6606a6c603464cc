# SPDX-License-Identifier: MIT
#
# RISC-V, 64 bits, QEMU's virt board; machine mode, and riscv64s for supervisor
# mode under OpenSBI. What each variable is: toolchain/freestanding.cmake. lld 14
# cannot relax.
set(KLOCK_FLAGS_riscv64 ${KLOCK_KERNEL_FLAGS} -march=rv64imac_zicsr_zifencei
	-mabi=lp64 -mcmodel=medany)
set(KLOCK_CLANG_FLAGS_riscv64 --target=riscv64-none-elf -mno-relax
	-march=rv64imac)
set(KLOCK_PORT_riscv64 lib/arch/riscv)
set(KLOCK_MACHINE_riscv64 boot/riscv64)
set(KLOCK_MACHINE_INCLUDES_riscv64 boot/riscv64/machine_mode boot/riscv64/relax
	lib/arch/riscv/machine)
set(KLOCK_LINK_riscv64 -z max-page-size=0x1000)
set(KLOCK_SCRIPT_riscv64 linker/riscv64.ld)
find_program(KLOCK_GCC_riscv64 NAMES riscv64-linux-gnu-g++)
find_program(KLOCK_LD_riscv64 NAMES riscv64-linux-gnu-ld)

foreach(same IN ITEMS FLAGS CLANG_FLAGS PORT MACHINE SCRIPT GCC LD)
	set(KLOCK_${same}_riscv64s ${KLOCK_${same}_riscv64})
endforeach()
set(KLOCK_MACHINE_INCLUDES_riscv64s boot/riscv64/supervisor_mode
	boot/riscv64/relax)
# Behind the firmware.
set(KLOCK_LINK_riscv64s -z max-page-size=0x1000 --defsym image_base=0x80200000)
