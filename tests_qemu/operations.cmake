# SPDX-License-Identifier: MIT
#
# What the operations return and leave, on each port's own CPU: what the host's
# tests ask of x86. -O1: a third of the time to compile, the same instructions.

function(klock_add_operations_test name toolchain)
	if(NOT toolchain IN_LIST KLOCK_TOOLCHAINS)
		return()
	endif()
	klock_add_kernel(operations-${name} TOOLCHAIN ${toolchain}
		SOURCES operations/main.cpp
		FLAGS -O1 -I${PROJECT_SOURCE_DIR}/tests_host ${ARGN})
	klock_add_boot_test(qemu_operations_${name} IMAGE operations-${name}
		CPUS 1 MODE single APPEND "" RUN --expect-text ", 0 wrong")
endfunction()

klock_add_operations_test(aarch64 gcc-aarch64)
klock_add_operations_test(riscv64 gcc-riscv64)
# Level full: every type, and AArch64's other instructions.
klock_add_operations_test(aarch64_lse clang-aarch64 -march=armv8.1-a
	-DKLOCK_TYPES=every_type)
klock_add_operations_test(riscv64_types gcc-riscv64 -DKLOCK_TYPES=every_type)
