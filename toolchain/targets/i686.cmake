# SPDX-License-Identifier: MIT
#
# PC, 32 bits. What each variable is: toolchain/freestanding.cmake.
set(KLOCK_FLAGS_i686 -m32 ${KLOCK_KERNEL_FLAGS_X86})
set(KLOCK_PORT_i686 lib/arch/x86)
set(KLOCK_MACHINE_i686 boot/x86)
set(KLOCK_LINK_i686 -m elf_i386 -z max-page-size=0x1000)
set(KLOCK_SCRIPT_i686 linker/x86.ld)
set(KLOCK_IMAGE_FORMAT_i686 elf32-i386)
find_program(KLOCK_GCC_i686 NAMES g++ REQUIRED)
find_program(KLOCK_LD_i686 NAMES ld.bfd ld REQUIRED)
