# SPDX-License-Identifier: MIT
#
# The lab on AArch64, QEMU's virt board. NMIs are FIQs.

klock_add_board_tests(aarch64 qemu-system-aarch64)
if(NOT KLOCK_BOARD_IMAGE)
	return()
endif()

# The machine's own interrupts and mistakes, each of which must be reported.
string(REPLACE "lab-" "" toolchain ${KLOCK_BOARD_IMAGE})
klock_add_kernel(aarch64_traps TOOLCHAIN ${toolchain}
	SOURCES traps/main.cpp traps/aarch64.S)
foreach(what IN ITEMS timers nmis)
	klock_add_boot_test(qemu_aarch64_${what} IMAGE aarch64_traps
		CPUS 20 MODE single APPEND "do=${what}"
		RUN --expect-text ": all came")
endforeach()
foreach(line IN ITEMS
		"null|writing to address 0x0000000000000008: its page is not present"
		"code|: its page forbids that"
		"overflow|stack: OVERFLOW, it has 16384 bytes"
		"wild_stack|stack: none of this CPU's"
		"own_vector|vector 0x20 is not free"
		"no_handler|interrupt 0x4f has no handler"
		"nmi|NMI 0x02 has no handler")
	string(REGEX MATCH "^([^|]*)\\|(.*)$" both "${line}")
	klock_add_boot_test(qemu_aarch64_${CMAKE_MATCH_1}
		IMAGE aarch64_traps CPUS 1 MODE single
		APPEND "do=${CMAKE_MATCH_1}" RUN --expect panic
			--expect-once "PANIC on CPU 0: "
			--expect-text "${CMAKE_MATCH_2}")
endforeach()
# All wait with interrupts off, and stand still all the same: by FIQ.
klock_add_boot_test(qemu_aarch64_panic IMAGE aarch64_traps
	CPUS 64 MODE single APPEND "do=panic"
	RUN --expect panic --expect-once "PANIC on CPU 0: all stand still"
		--expect-once "called from")

# The default is all that QEMU has (-cpu max); this is a core of 2012, without
# LSE atomics.
klock_add_boot_test(qemu_aarch64_a57_4 IMAGE ${KLOCK_BOARD_IMAGE}
	CPUS 4 MODE single
	APPEND "run=locks mode=tap acquisitions=5000 convoys=10"
	RUN --cpu cortex-a57)
klock_add_boot_test(qemu_aarch64_a57_storm_4 IMAGE ${KLOCK_BOARD_IMAGE}
	CPUS 4 MODE single
	APPEND "run=storm mode=tap acquisitions=500" RUN --cpu cortex-a57)

# From EL2, the firmware is called by SMC, and boot goes to EL1.
set(virt --qemu-arg=-machine --qemu-arg)
klock_add_boot_test(qemu_aarch64_el2 IMAGE ${KLOCK_BOARD_IMAGE}
	CPUS 4 MODE single
	APPEND "run=storm mode=tap acquisitions=500 lock=mcs_lock"
	RUN ${virt}=virt,gic-version=3,virtualization=on)
klock_add_boot_test(qemu_aarch64_el3 IMAGE ${KLOCK_BOARD_IMAGE}
	CPUS 2 MODE single APPEND ""
	RUN ${virt}=virt,gic-version=3,secure=on --expect panic)
# Without a controller that boot knows there is one CPU, and it says so.
klock_add_boot_test(qemu_aarch64_gicv2 IMAGE ${KLOCK_BOARD_IMAGE}
	CPUS 4 MODE single
	APPEND "run=locks mode=tap acquisitions=1000 lock=mcs_lock"
	RUN ${virt}=virt,gic-version=2 --boots 1
		--expect-text "the device tree has no GICv3: no interrupts"
		--expect-text "no IPIs: one CPU only")
# The storm is one with FIQs.
klock_add_boot_test(qemu_aarch64_no_storm_nmis IMAGE ${KLOCK_BOARD_IMAGE}
	CPUS 2 MODE single
	APPEND "run=storm mode=tap acquisitions=200 lock=tas_lock without=nmis"
	RUN --expect fail --expect-text "no NMI handler took the lock")

klock_add_board_misuse(aarch64 ${KLOCK_BOARD_IMAGE}
	"recursion|PANIC on CPU 0: lock runqueue|recursion"
	"free_unlock|lock runqueue|unlock of a free lock"
	"foreign_unlock|PANIC on CPU 4: lock runqueue|held by CPU 0, taken at"
	"crowd|lock small|more contenders than its capacity"
	"nmi_crowd|lock small|more contenders than its capacity"
	"nmi_lock|lock runqueue|lock() in an NMI handler"
	"number|lock bakery|a CPU number beyond capacity"
	"interrupts_on|CPU 0: lock r|waited for in an interrupt handler at"
	"interrupted_waiter|CPU 0: lock r|waited for in an interrupt handler at"
	"reading_handler|CPU 0: lock r|waited for in an interrupt handler at"
	"read_recursion|lock routes|read recursion: the caller"
	"upgrade|lock routes|upgrade: the caller reads it")
