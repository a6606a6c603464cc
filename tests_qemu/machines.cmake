# SPDX-License-Identifier: MIT
#
# The demo on every machine that there is a room for: README's second table.

# A fifth of a microsecond inside: by clocks of some GHz, 62.5 MHz, 10 MHz.
set(KLOCK_MACHINE_WORDS "run=measure think=0 acquisitions=20000 \
lock=ticket_lock<u8>,\
preemptable_ticket_lock<u8>,tas_lock,mcs_lock,queued_lock,bakery_lock,\
rw_ticket_lock<u8>")
set(machines ${Python3_EXECUTABLE} -B ${scripts}/machines.py
	--readme ${PROJECT_SOURCE_DIR}/README.md
	--append "${KLOCK_MACHINE_WORDS}"
	--image x86-64=${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-64.elf=500
	--image AArch64=${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-aarch64.elf=12
	--image RISC-V=${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-riscv64.elf=2)

# Without the cross compilers an image is missing: skipped, as it says.
add_test(NAME qemu_demo_machines COMMAND ${machines}
	--log ${CMAKE_CURRENT_BINARY_DIR}/qemu_demo_machines.log)
set_tests_properties(qemu_demo_machines PROPERTIES LABELS qemu
	SKIP_RETURN_CODE 77 TIMEOUT 1800)
add_custom_target(machines_table COMMAND ${machines} --write
	--log ${CMAKE_CURRENT_BINARY_DIR}/machines_table.log
	DEPENDS lab-gcc-64 USES_TERMINAL VERBATIM
	COMMENT "Writing the machines' table into README.md")
foreach(toolchain IN ITEMS gcc-aarch64 gcc-riscv64)
	if(TARGET lab-${toolchain})
		add_dependencies(machines_table lab-${toolchain})
	endif()
endforeach()
