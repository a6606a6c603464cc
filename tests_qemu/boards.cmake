# SPDX-License-Identifier: MIT
#
# The lab's runs on QEMU's virt boards, AArch64's and RISC-V's: read behind
# boots.cmake. A tick of their clocks is longer than a PC's cycle, so their
# sections have fewer steps.

set(KLOCK_BOARD_DEMO_WORDS "run=measure section=30 think=0 acquisitions=2000")

# klock_note_coverage(<arch> <qemu>): what this host leaves out is one skipped
# test, which says what.
function(klock_note_coverage arch qemu)
	# As runner/qemu.py: another than the system's, by the environment.
	string(TOUPPER KLOCK_QEMU_${arch} variable)
	find_program(KLOCK_QEMU_${arch} NAMES "$ENV{${variable}}" ${qemu})
	set(left_out)
	if(NOT KLOCK_QEMU_${arch})
		list(APPEND left_out "${qemu} was not found: no lab kernel of ${arch} is booted")
	endif()
	if(NOT "gcc-${arch}" IN_LIST KLOCK_TOOLCHAINS)
		list(APPEND left_out "no g++ for ${arch} was found: clang alone builds its kernels")
	endif()
	set(command true)
	if(left_out)
		list(JOIN left_out "; " text)
		set(command "echo 'skipped: ${text}'; exit 77")
	endif()
	add_test(NAME qemu_${arch}_is_covered COMMAND sh -c "${command}")
	set_tests_properties(qemu_${arch}_is_covered PROPERTIES LABELS qemu
		SKIP_RETURN_CODE 77 TIMEOUT 60)
	klock_level(test TESTS qemu_${arch}_is_covered)
endfunction()

# klock_board(<arch> <image>): what all boards show. Level test has the traps
# alone: the lab's runs are variants of the PC's.
function(klock_board arch image)
	set(a ${arch}_)
	set(on IMAGE ${image})
	klock_boot(full ${a}4 4 single
		"${torture} acquisitions=5000 convoys=10" ${on})
	klock_boot(full ${a}4_long 4 single
		"${torture} acquisitions=20000 convoys=50" ${on})
	klock_boot(full ${a}1 1 single
		"${torture} acquisitions=20000 convoys=50" ${on})
	klock_boot(full ${a}64 64 single "${torture} acquisitions=4000 convoys=4"
		${on})
	klock_boot(full ${a}512 512 single
		"${torture} acquisitions=600 convoys=1" ${on})
	klock_boot(full ${a}parallel_2 2 parallel
		"${torture} parallel=1 acquisitions=20000 convoys=20" ${on})
	klock_boot(full ${a}shared_8 8 single
		"${shared} acquisitions=20000 convoys=50" ${on})
	klock_boot(full ${a}shared_storm_4 4 single
		"${shared_storm} acquisitions=10000" ${on})
	klock_boot(full ${a}sequences_4 4 single
		"run=sequences mode=tap acquisitions=20000" ${on})
	klock_boot(full ${a}deadline_64 64 single "run=deadline mode=tap" ${on})
	klock_boot(full ${a}sleep_4 4 single "${asleep} acquisitions=500" ${on})
	klock_boot(full ${a}sleep_parallel_2 2 parallel
		"${asleep} parallel=1 acquisitions=2000" ${on})

	klock_boot(full ${a}storm_4 4 single "${storm} acquisitions=200" ${on})
	klock_boot(full ${a}storm_64 64 single
		"${storm} acquisitions=200 convoys=1 lock=mcs_lock,ticket_lock<u16>"
		${on})
	klock_boot(full ${a}storm_parallel_2 2 parallel
		"${storm} parallel=1 acquisitions=1000 convoys=5" ${on})
	klock_boot(full ${a}storm_icount_4 4 icount
		"${storm} acquisitions=100 convoys=2 lock=ticket_lock<u8>,mcs_lock,queued_lock,timeout_lock"
		${on} RUN --repeat 2 --identical)

	klock_boot(full ${a}icount_4 4 icount
		"run=measure mode=csv section=30 think=0..100 acquisitions=500"
		${on} RUN --repeat 2 --identical)
	klock_boot(full ${a}instructions 1 icount "run=instructions mode=tap"
		"bakery_lock" ${on})
	klock_boot(full ${a}measure 4 single
		"irq=200 section=30 seconds=1 mode=csv lock=ticket_lock<u8>"
		"row,ticket_lock<u8>,4" ${on})

	klock_lab_script(full ${a}busted_matrix_single busted.py single ${on})
	# Not on RISC-V, which has no NMI to end it: in a storm late_by_less now
	# and then hangs with interrupts off, about once in ten runs beside load.
	if(NOT arch MATCHES "riscv")
		klock_lab_script(full ${a}busted_matrix busted.py turns ${table}
			${on})
	endif()
	klock_lab_script(full ${a}busted_matrix_parallel busted.py parallel
		${table} ${on})

	klock_shootdown(full ${a} ${image})
	klock_boot(full ${a}watchdog 3 single "${stuck}" panic ${stands} ${on})
	klock_silent(full ${a} ${image})
	klock_endings(full ${a} ${image} 512 "called from ")
	klock_misuses(full ${a} ${image})

	# The machine's own interrupts and mistakes, each of which must be
	# reported.
	string(REPLACE "lab-" "" toolchain ${image})
	klock_add_kernel(${arch}_traps TOOLCHAIN ${toolchain}
		SOURCES traps/main.cpp traps/lose_stack.S)
	foreach(line IN LISTS ARGN)
		string(REPLACE "|" ";" texts "${line}")
		list(POP_FRONT texts what cpus)
		# The second board's mistakes but two are variants.
		set(level full)
		if(arch STREQUAL "aarch64" OR what MATCHES "^(null|panic)$")
			set(level test)
		endif()
		klock_boot(${level} ${a}${what} ${cpus} single "do=${what}" panic
			ONCE "PANIC on CPU 0: " ${texts} IMAGE ${arch}_traps)
	endforeach()

	klock_add_watched(${arch}_watched ${toolchain})
	klock_watched(full ${arch}_watched)
endfunction()

# klock_add_board(<arch> <qemu> <mistake|CPUs|text>...): sets KLOCK_BOARD_IMAGE
# to the kernel that is booted; empty: this host cannot.
macro(klock_add_board arch qemu)
	klock_note_coverage(${arch} ${qemu})
	set(KLOCK_BOARD_IMAGE)
	foreach(compiler IN ITEMS clang gcc)
		if("${compiler}-${arch}" IN_LIST KLOCK_TOOLCHAINS)
			set(KLOCK_BOARD_IMAGE lab-${compiler}-${arch})
		endif()
	endforeach()
	if(KLOCK_BOARD_IMAGE)
		klock_add_demo(-${arch} ${KLOCK_BOARD_IMAGE}
			"${KLOCK_BOARD_DEMO_WORDS}")
	endif()
	if(NOT KLOCK_QEMU_${arch})
		set(KLOCK_BOARD_IMAGE)
	endif()
	if(KLOCK_BOARD_IMAGE)
		klock_board(${arch} ${KLOCK_BOARD_IMAGE} ${ARGN})
	endif()
	# The other compiler and linker.
	if(KLOCK_BOARD_IMAGE STREQUAL "lab-gcc-${arch}")
		klock_boot(full ${arch}_clang_4 4 single
			"${torture} acquisitions=10000 convoys=20"
			IMAGE lab-clang-${arch})
		klock_boot(full ${arch}_clang_storm_4 4 single
			"${storm} acquisitions=500" IMAGE lab-clang-${arch})
	endif()
endmacro()

# -- AArch64; NMIs are FIQs --

klock_add_board(aarch64 qemu-system-aarch64
	"null|1|writing to address 0x0000000000000008: its page is not present"
	"code|1|: its page forbids that"
	"overflow|1|stack: OVERFLOW, it has 16384 bytes"
	"wild_stack|1|stack: none of this CPU's"
	"wild_chain|1|1 of 3 calls returns to code"
	"own_vector|1|vector 0x20 is not free"
	"no_handler|1|interrupt 0x4f has no handler"
	"nmi|1|NMI 0x02 has no handler"
	# All wait with interrupts off, and stand still all the same: by FIQ.
	"panic|64|PANIC on CPU 0: all stand still|called from")
if(KLOCK_BOARD_IMAGE)
	set(on IMAGE ${KLOCK_BOARD_IMAGE})
	foreach(what IN ITEMS timers nmis)
		klock_boot(test aarch64_${what} 20 single "do=${what}"
			": all came" IMAGE aarch64_traps)
	endforeach()
	# The default is all that QEMU has (-cpu max); this is a core of 2012,
	# without LSE atomics.
	klock_boot(full aarch64_a57_4 4 single
		"${torture} acquisitions=5000 convoys=10" ${on}
		RUN --cpu cortex-a57)
	klock_boot(full aarch64_a57_storm_4 4 single
		"${storm} acquisitions=500" ${on} RUN --cpu cortex-a57)
	# In EL2, boot calls the firmware by SMC, and goes to EL1.
	klock_boot(full aarch64_el2 4 single
		"${storm} acquisitions=500 lock=mcs_lock" ${on}
		RUN ${with}=virt,gic-version=3,virtualization=on)
	klock_boot(full aarch64_el3 2 single "" panic ${on}
		RUN ${with}=virt,gic-version=3,secure=on)
	# With a controller that boot does not know there is one CPU; it says
	# so.
	klock_boot(full aarch64_gicv2 4 single
		"${torture} acquisitions=1000 lock=mcs_lock"
		"the device tree has no GICv3: no interrupts"
		"no IPIs: one CPU only" ${on}
		RUN ${with}=virt,gic-version=2 --boots 1)
	# The storm is one with FIQs.
	klock_boot(full aarch64_no_storm_nmis 2 single
		"${storm} acquisitions=200 lock=tas_lock without=nmis" fail
		"no NMI handler took the lock" ${on})
	klock_misuse_in_nmi(full aarch64_ ${KLOCK_BOARD_IMAGE})
endif()

# -- RISC-V: two modes, no NMIs, memory protected without page tables --

klock_add_board(riscv64 qemu-system-riscv64
	"null|1|exception 7, store access fault, value 0x8"
	"code|1|exception 7, store access fault"
	"overflow|1|stack: OVERFLOW, it has 16384 bytes"
	"wild_stack|1|stack: none of this CPU's"
	"wild_chain|1|1 of 3 calls returns to code"
	"own_vector|1|vector 0x20 is not free"
	"no_handler|1|interrupt 0x4f has no handler"
	"nmi|1|an NMI to CPU 0: RISC-V has none"
	# All wait with interrupts off; those that pause stand still all the same.
	"panic|8|PANIC on CPU 0: all stand still|(CPU 1 does not stop)|does not stop|called from")
if(KLOCK_BOARD_IMAGE)
	set(on IMAGE ${KLOCK_BOARD_IMAGE})
	klock_boot(test riscv64_timers 64 single "do=timers"
		"# boot: RISC-V, machine mode" "timers and IPIs: all came"
		IMAGE riscv64_traps)
	# No NMIs: said, and not passed over.
	klock_boot(full riscv64_no_nmis 2 single
		"${storm} acquisitions=200 lock=tas_lock" "NMIs 0, stalls" ONCE
		"# no NMIs here: none take a lock"
		"# the watchdog sees CPUs that pause in a wait, no others" ${on})
	klock_boot(full riscv64_misuse_nmi_lock 5 single
		"run=deadlock what=nmi_lock" fail
		"nmi_lock: this machine has no NMIs" ${on})
endif()
# From machine mode to supervisor mode by itself, without a clock. Time is
# counted in instructions, for its start-up: nothing that this host does changes
# it, and no compiler but by a turn.
if(KLOCK_BOARD_IMAGE AND "gcc-riscv64" IN_LIST KLOCK_TOOLCHAINS)
	klock_boot(test riscv64_unix 2 icount "" "PASS" IMAGE unix
		RUN --qemu-arg=-icount --qemu-arg=shift=5,sleep=off
		--expect-number "start-up, preemptable: both harts are up after"
		80000 140000)
endif()
# In supervisor mode, under OpenSBI.
if(KLOCK_BOARD_IMAGE AND "gcc-riscv64s" IN_LIST KLOCK_TOOLCHAINS)
	klock_boot(full riscv64s_locks 8 single
		"${torture} acquisitions=5000 convoys=20"
		"supervisor mode under OpenSBI" IMAGE lab-gcc-riscv64s)
	klock_boot(full riscv64s_storm 4 single "${storm} acquisitions=500"
		IMAGE lab-gcc-riscv64s)
endif()

# -- The operations' results, on each port's own CPU: what the
# host's tests ask of x86. -O1: a third of the time to compile, the same
# instructions. --

foreach(line IN ITEMS "full|aarch64|gcc-aarch64" "full|riscv64|gcc-riscv64"
		"full|aarch64_lse|clang-aarch64|-march=armv8.1-a|-DKLOCK_TYPES=every_type"
		"full|riscv64_types|gcc-riscv64|-DKLOCK_TYPES=every_type")
	string(REPLACE "|" ";" flags "${line}")
	list(POP_FRONT flags level name toolchain)
	if(toolchain IN_LIST KLOCK_TOOLCHAINS)
		klock_add_kernel(operations-${name} TOOLCHAIN ${toolchain}
			SOURCES operations/main.cpp
			FLAGS -O1 -I${PROJECT_SOURCE_DIR}/tests_host ${flags})
		klock_boot(${level} operations_${name} 1 single "" ", 0 wrong"
			IMAGE operations-${name})
	endif()
endforeach()

# -- The demo on every machine: the table of this folder's README --

# A fifth of a microsecond inside: by clocks of some GHz, 62.5 MHz, 10 MHz.
set(KLOCK_MACHINE_WORDS "run=measure think=0 acquisitions=2000 \
lock=ticket_lock<u8>,\
preemptable_ticket_lock<u8>,tas_lock,mcs_lock,queued_lock,bakery_lock,\
rw_ticket_lock<u8>")
set(machines ${Python3_EXECUTABLE} -B ${scripts}/machines.py
	--readme ${CMAKE_CURRENT_SOURCE_DIR}/README.md
	--append "${KLOCK_MACHINE_WORDS}"
	--image x86-64=${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-64.elf=500
	--image AArch64=${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-aarch64.elf=12
	--image RISC-V=${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-riscv64.elf=2)
# Without the cross compilers an image is missing: skipped, as it says.
foreach(line IN ITEMS demo_machines "table_machines;--exact")
	list(POP_FRONT line name)
	add_test(NAME qemu_${name} COMMAND ${machines} ${line}
		--log ${CMAKE_CURRENT_BINARY_DIR}/qemu_${name}.log)
	set_tests_properties(qemu_${name} PROPERTIES LABELS qemu
		SKIP_RETURN_CODE 77 TIMEOUT 1800)
	klock_level(full TESTS qemu_${name})
endforeach()

# -- Interrupts leave the interrupted code's registers alone --

foreach(toolchain IN ITEMS gcc-64 gcc-32 gcc-aarch64 gcc-riscv64 gcc-riscv64s)
	if(toolchain IN_LIST KLOCK_TOOLCHAINS)
		klock_add_kernel(registers-${toolchain} TOOLCHAIN ${toolchain}
			SOURCES traps/registers.cpp traps/registers.S)
		klock_boot(test registers_${toolchain} 2 single ""
			"registers are kept, by 200 interrupts"
			IMAGE registers-${toolchain})
	endif()
endforeach()
