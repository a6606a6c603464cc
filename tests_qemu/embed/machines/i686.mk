# SPDX-License-Identifier: MIT
#
# A PC, 32 bits.
include $(machines)/x86_64.mk
rooms := x86 x86/i686
machine := -m32 -mno-red-zone -mgeneral-regs-only
triple := i686-elf
emulation := elf_i386
