# SPDX-License-Identifier: MIT
#
# A PC, 64 bits. QEMU loads a 32-bit ELF file, and the kernel writes 0x2a to the
# exit device when all is well.
port := x86
rooms := x86 x86/x86_64
room_includes := x86
machine := -m64 -mno-red-zone -mgeneral-regs-only
triple := x86_64-elf
emulation := elf_x86_64
script := x86.ld
make_image = objcopy -O elf32-i386 $(image).debug $@
qemu := qemu-system-x86_64 -device isa-debug-exit,iobase=0xf4,iosize=0x04
