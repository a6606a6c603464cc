# SPDX-License-Identifier: MIT
set(KLOCK_MACHINE_SOURCES_aarch64
	board.cpp entry.S exceptions.cpp gic.cpp paging.cpp smp.cpp timer.cpp
	vectors.S)
list(TRANSFORM KLOCK_MACHINE_SOURCES_aarch64 PREPEND aarch64/)
list(APPEND KLOCK_MACHINE_SOURCES_aarch64
	board/board.cpp board/device_tree.cpp board/memory.cpp)
