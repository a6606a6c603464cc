# SPDX-License-Identifier: MIT
#
# riscv64 runs in machine mode, riscv64s in supervisor mode.
set(common
	board.cpp controller.cpp traps.S traps.cpp)
set(KLOCK_MACHINE_SOURCES_riscv64 ${common}
	machine_mode/entry.S machine_mode/mode.cpp)
set(KLOCK_MACHINE_SOURCES_riscv64s ${common}
	supervisor_mode/entry.S supervisor_mode/mode.cpp)
foreach(target IN ITEMS riscv64 riscv64s)
	list(TRANSFORM KLOCK_MACHINE_SOURCES_${target} PREPEND riscv64/)
	list(APPEND KLOCK_MACHINE_SOURCES_${target}
		board/board.cpp board/device_tree.cpp board/memory.cpp)
endforeach()
