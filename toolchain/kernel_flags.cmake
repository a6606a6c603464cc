# SPDX-License-Identifier: MIT
#
# The one list of what code for a kernel is compiled with. Why:
#   no statics guard a kernel has no __cxa_guard_acquire
#   no tables        nobody unwinds
set(KLOCK_KERNEL_FLAGS
	-ffreestanding -nostdinc++ -fno-exceptions -fno-rtti
	-fno-stack-protector -fno-threadsafe-statics -fno-pic -fno-pie
	-fno-asynchronous-unwind-tables -fno-omit-frame-pointer)

# Flags for x86 besides:
#   no red zone      an interrupt would overwrite it
#   general regs     the kernel neither saves nor sets up FPU and SSE
set(KLOCK_KERNEL_FLAGS_X86
	${KLOCK_KERNEL_FLAGS} -mno-red-zone -mgeneral-regs-only
	-fcf-protection=none)

# For AArch64 and RISC-V; which CPU (-march) is the kernel's to say.
#   no outline atomics	a kernel has no __aarch64_ldadd1_acq_rel
#   medany		a kernel lies above 2 GiB
set(KLOCK_KERNEL_FLAGS_AARCH64
	${KLOCK_KERNEL_FLAGS} -mgeneral-regs-only -mno-outline-atomics)
set(KLOCK_KERNEL_FLAGS_RISCV ${KLOCK_KERNEL_FLAGS} -mcmodel=medany)
