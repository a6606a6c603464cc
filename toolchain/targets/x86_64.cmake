# SPDX-License-Identifier: MIT
#
# PC, 64 bits. What each variable is: toolchain/freestanding.cmake.
set(KLOCK_FLAGS_x86_64 -m64 ${KLOCK_KERNEL_FLAGS_X86})
set(KLOCK_PORT_x86_64 lib/arch/x86)
set(KLOCK_MACHINE_x86_64 boot/x86)
set(KLOCK_LINK_x86_64 -m elf_x86_64 -z max-page-size=0x1000)
set(KLOCK_SCRIPT_x86_64 linker/x86.ld)
# A Multiboot 1 loader takes 32-bit ELF only.
set(KLOCK_IMAGE_FORMAT_x86_64 elf32-i386)
find_program(KLOCK_GCC_x86_64 NAMES g++ REQUIRED)
find_program(KLOCK_LD_x86_64 NAMES ld.bfd ld REQUIRED)
