# SPDX-License-Identifier: MIT
#
# riscv64 runs in machine mode, riscv64s in supervisor mode.
set(common
	board.cpp clock.cpp controller.cpp cpu.cpp exceptions.cpp traps.S
	traps.cpp uart.cpp)
set(KLOCK_MACHINE_SOURCES_riscv64 ${common}
	machine_mode/clint.cpp machine_mode/cpu.cpp machine_mode/entry.S
	machine_mode/harts.cpp machine_mode/relax.cpp)
set(KLOCK_MACHINE_SOURCES_riscv64s ${common}
	supervisor_mode/entry.S supervisor_mode/firmware.cpp
	supervisor_mode/relax.cpp)
foreach(target IN ITEMS riscv64 riscv64s)
	list(TRANSFORM KLOCK_MACHINE_SOURCES_${target} PREPEND riscv64/)
	list(APPEND KLOCK_MACHINE_SOURCES_${target}
		board/cpus.cpp board/device_tree.cpp board/memory.cpp)
endforeach()
