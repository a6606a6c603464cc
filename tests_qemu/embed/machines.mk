# SPDX-License-Identifier: MIT
#
# The part that is not about locks: how to compile, link and start a machine.
# The Makefiles of kernel_cpp and kernel_c include it; ARCH picks the machine.

make_image = cp $(image).debug $@

# A PC, 64 or 32 bits. QEMU loads a 32-bit ELF file, and the kernel writes 0x2a
# to the exit device when all is well.
ifneq ($(filter x86_64 i686,$(ARCH)),)
port := x86
machine_includes := x86
script := x86.ld
make_image = objcopy -O elf32-i386 $(image).debug $@
qemu := qemu-system-x86_64 -device isa-debug-exit,iobase=0xf4,iosize=0x04
endif
ifeq ($(ARCH),x86_64)
machine_folders := x86 x86/x86_64
machine := -m64 -mno-red-zone -mgeneral-regs-only
triple := x86_64-elf
emulation := elf_x86_64
endif
ifeq ($(ARCH),i686)
machine_folders := x86 x86/i686
machine := -m32 -mno-red-zone -mgeneral-regs-only
triple := i686-elf
emulation := elf_i386
endif

# QEMU's virt board for AArch64, which exits by semihosting. Strict alignment:
# the first instructions run with the MMU off. QEMU keeps a CPU's time slice
# where it pauses: a relax.hpp of the lab's own.
ifeq ($(ARCH),aarch64)
port := aarch64
port_includes := $(BOOT)/boot/aarch64/relax
machine_folders := aarch64 board
machine_includes := aarch64
machine := -march=armv8-a -mgeneral-regs-only -mstrict-align -mno-outline-atomics
prefix := aarch64-linux-gnu-
triple := aarch64-none-elf
emulation := aarch64elf
script := aarch64.ld
qemu := qemu-system-aarch64 -machine virt,gic-version=3 -cpu max \
	-semihosting-config enable=on,target=native
endif

# QEMU's virt board for RISC-V, in machine mode: no firmware. As above, a
# relax.hpp of the lab's own. clang 14 knows no zicsr, and has its instructions
# all the same.
ifeq ($(ARCH),riscv64)
port := riscv
port_includes := $(BOOT)/boot/riscv64/relax $(KLOCK)/arch/riscv/machine
machine_folders := riscv64 riscv64/machine_mode board
machine_includes := riscv64 riscv64/machine_mode
machine := $(if $(CROSS),-march=rv64imac,-march=rv64imac_zicsr_zifencei) \
	-mabi=lp64 -mcmodel=medany
prefix := riscv64-linux-gnu-
triple := riscv64-none-elf -mno-relax
emulation := elf64lriscv
script := riscv64.ld
qemu := qemu-system-riscv64 -machine virt -bios none
endif

# boot/, a folder's sources in C++ at once: that takes a compiler half the time.
obj := obj/$(ARCH)
folders := boot $(machine_folders:%=boot/%)
assembly := $(foreach folder,$(folders),$(wildcard $(BOOT)/$(folder)/*.S))
boot_objects := $(folders:%=$(obj)/%/all.cpp.o) $(assembly:$(BOOT)/%=$(obj)/%.o)

.SECONDARY:
.SECONDEXPANSION:
$(obj)/%/all.cpp: $$(wildcard $(BOOT)/$$*/*.cpp)
	@mkdir -p $(@D); printf '#include "%s"\n' $^ > $@
