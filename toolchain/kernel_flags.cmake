# SPDX-License-Identifier: MIT
#
# The one list of what code for an x86 kernel is compiled with. Why:
#   no red zone      an interrupt would overwrite it
#   general regs     the kernel neither saves nor sets up FPU and SSE
#   no statics guard a kernel has no __cxa_guard_acquire
#   no tables        nobody unwinds
set(KLOCK_KERNEL_FLAGS
	-ffreestanding -nostdinc++ -fno-exceptions -fno-rtti
	-fno-stack-protector -fno-threadsafe-statics
	-fno-pic -fno-pie -mno-red-zone -mgeneral-regs-only
	-fno-asynchronous-unwind-tables -fcf-protection=none
	-fno-omit-frame-pointer)
