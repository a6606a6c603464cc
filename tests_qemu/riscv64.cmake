# SPDX-License-Identifier: MIT
#
# RISC-V: what all boards show (boards.cmake), and what is its own: two modes,
# no NMIs, memory protected without page tables.

klock_add_board_tests(riscv64 qemu-system-riscv64)

# The machine's own interrupts and mistakes, each of which must be reported.
if(KLOCK_BOARD_IMAGE)
	string(REPLACE "lab-" "" toolchain ${KLOCK_BOARD_IMAGE})
	klock_add_kernel(riscv64_traps TOOLCHAIN ${toolchain}
		SOURCES traps/main.cpp traps/riscv64.S)
	klock_add_boot_test(qemu_riscv64_timers IMAGE riscv64_traps
		CPUS 64 MODE single APPEND "do=timers"
		RUN --expect-text "# boot: RISC-V, machine mode"
			--expect-text "timers and IPIs: all came")
	foreach(line IN ITEMS
			"null|exception 7, store access fault, value 0x8"
			"code|exception 7, store access fault"
			"overflow|stack: OVERFLOW, it has 16384 bytes"
			"wild_stack|stack: none of this CPU's"
			"own_vector|vector 0x20 is not free"
			"no_handler|interrupt 0x4f has no handler"
			"nmi|an NMI to CPU 0: RISC-V has none")
		string(REGEX MATCH "^([^|]*)\\|(.*)$" both "${line}")
		klock_add_boot_test(qemu_riscv64_${CMAKE_MATCH_1}
			IMAGE riscv64_traps CPUS 1 MODE single
			APPEND "do=${CMAKE_MATCH_1}" RUN --expect panic
				--expect-once "PANIC on CPU 0: "
				--expect-text "${CMAKE_MATCH_2}")
	endforeach()
	# All wait with interrupts off; those that pause stand still all the same.
	klock_add_boot_test(qemu_riscv64_panic IMAGE riscv64_traps
		CPUS 8 MODE single APPEND "do=panic"
		RUN --expect panic --expect-once "PANIC on CPU 0: all stand still"
			--expect-once "(CPU 1 does not stop)"
			--expect-once "does not stop" --expect-once "called from")
endif()

# No NMIs: said, and not passed over.
if(KLOCK_BOARD_IMAGE)
	klock_add_boot_test(qemu_riscv64_no_nmis IMAGE ${KLOCK_BOARD_IMAGE}
		CPUS 2 MODE single
		APPEND "run=storm mode=tap acquisitions=200 lock=tas_lock"
		RUN --expect-once "# no NMIs here: none take a lock"
			--expect-once "# the watchdog sees CPUs that pause in a wait, no others"
			--expect-text "NMIs 0, stalls")
	foreach(what IN ITEMS nmi_lock nmi_crowd)
		klock_add_boot_test(qemu_riscv64_misuse_${what}
			IMAGE ${KLOCK_BOARD_IMAGE} CPUS 5 MODE single
			APPEND "run=misuse what=${what}" RUN --expect fail
			--expect-text "misuse ${what}: this machine has no NMIs")
	endforeach()
endif()

if(KLOCK_BOARD_IMAGE)
	klock_add_board_misuse(riscv64 ${KLOCK_BOARD_IMAGE}
		"recursion|PANIC on CPU 0: lock runqueue|recursion"
		"free_unlock|lock runqueue|unlock of a free lock"
		"foreign_unlock|PANIC on CPU 4: lock runqueue|held by CPU 0, taken at"
		"crowd|lock small|more contenders than its capacity"
		"number|lock bakery|a CPU number beyond capacity"
		"interrupts_on|CPU 0: lock r|waited for in an interrupt handler at"
		"interrupted_waiter|CPU 0: lock r|waited for in an interrupt handler at"
		"reading_handler|CPU 0: lock r|waited for in an interrupt handler at"
		"read_recursion|lock routes|read recursion: the caller"
		"upgrade|lock routes|upgrade: the caller reads it")
endif()

# In supervisor mode, under OpenSBI.
if(KLOCK_BOARD_IMAGE AND "gcc-riscv64s" IN_LIST KLOCK_TOOLCHAINS)
	klock_add_boot_test(qemu_riscv64s_locks IMAGE lab-gcc-riscv64s
		CPUS 8 MODE single
		APPEND "run=locks mode=tap acquisitions=5000 convoys=20"
		RUN --expect-text "supervisor mode under OpenSBI")
	klock_add_boot_test(qemu_riscv64s_storm IMAGE lab-gcc-riscv64s
		CPUS 4 MODE single
		APPEND "run=storm mode=tap acquisitions=500")
endif()
