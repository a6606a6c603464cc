# SPDX-License-Identifier: MIT
#
# A kernel whose CPUs must come up in half a second, all on one core: read
# behind matrix.cmake, whose functions it uses.

klock_add_kernel(startup TOOLCHAIN gcc-64
	SOURCES embed/kernel_startup/kernel.cpp)

# One core is the guest's own doing, by turns of 4 ms, and time is counted in
# instructions: nothing that this host does changes it. A FIFO lock takes four
# times as long as there is, or the others would prove nothing.
#
# klock_add_startup_test(<lock> [<runner's arguments>...])
function(klock_add_startup_test lock)
	klock_add_boot_test(qemu_startup_${lock} IMAGE startup CPUS 4
		MODE icount APPEND "lock=${lock} slice=4000"
		RUN --qemu-arg=-icount --qemu-arg=shift=5,sleep=off ${ARGN})
endfunction()

klock_add_startup_test(preemptable
	--expect-text "4 of 4 CPUs are up when the boot CPU goes on")
klock_add_startup_test(backoff
	--expect-text "4 of 4 CPUs are up when the boot CPU goes on")
klock_add_startup_test(ticket --expect fail
	--expect-text "not all CPUs came up in time")

add_custom_target(startup_boots
	COMMAND ${Python3_EXECUTABLE} ${scripts}/startup.py
	--image ${CMAKE_CURRENT_BINARY_DIR}/startup.elf
	--log ${CMAKE_CURRENT_BINARY_DIR}/startup_boots.log
	DEPENDS startup USES_TERMINAL VERBATIM
	COMMENT "Booting 4 vCPUs on one host core, 60 times: two minutes")
