# SPDX-License-Identifier: MIT
#
# The targets of freestanding code. What each variable is: freestanding.cmake.

# PC, 64 bits and 32. A Multiboot 1 loader takes 32-bit ELF only.
set(KLOCK_FLAGS_x86_64 -m64 ${KLOCK_KERNEL_FLAGS_X86})
set(KLOCK_FLAGS_i686 -m32 ${KLOCK_KERNEL_FLAGS_X86})
set(KLOCK_LINK_x86_64 -m elf_x86_64 -z max-page-size=0x1000)
set(KLOCK_LINK_i686 -m elf_i386 -z max-page-size=0x1000)
foreach(target IN ITEMS x86_64 i686)
	set(KLOCK_PORT_${target} lib/arch/x86)
	set(KLOCK_MACHINE_${target} boot/x86)
	set(KLOCK_SCRIPT_${target} linker/x86.ld)
	set(KLOCK_IMAGE_FORMAT_${target} elf32-i386)
	klock_need_program(KLOCK_GCC_${target} g++)
	klock_need_program(KLOCK_LD_${target} ld.bfd ld)
endforeach()

# AArch64, QEMU's virt board.
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

# RISC-V, 64 bits, QEMU's virt board; machine mode, and riscv64s for supervisor
# mode under OpenSBI. lld 14 cannot relax.
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
# The image lies behind the firmware.
set(KLOCK_LINK_riscv64s -z max-page-size=0x1000 --defsym image_base=0x80200000)
