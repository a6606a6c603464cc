# SPDX-License-Identifier: MIT
#
# What the lab shows on QEMU's virt boards, AArch64's and RISC-V's: read behind
# matrix.cmake, whose functions it uses. What the words and the modes are for:
# there. A tick of their clocks is longer than a PC's cycle: the sections are
# shorter in number.

set(KLOCK_BOARD_DEMO_WORDS "run=measure section=30 think=0 acquisitions=20000")

# klock_note_coverage(<arch> <qemu>): what this host leaves out is one skipped
# test, which says what.
function(klock_note_coverage arch qemu)
	# As runner/arch.py: another than the system's, by the environment.
	string(TOUPPER KLOCK_QEMU_${arch} variable)
	find_program(KLOCK_QEMU_${arch} NAMES "$ENV{${variable}}" ${qemu})
	set(left_out)
	if(NOT KLOCK_QEMU_${arch})
		list(APPEND left_out "${qemu} was not found: no lab kernel of ${arch} is booted")
	endif()
	if(NOT "gcc-${arch}" IN_LIST KLOCK_TOOLCHAINS)
		list(APPEND left_out "no g++ for ${arch} was found: clang alone builds its kernels")
	endif()
	if(left_out)
		list(JOIN left_out "; " text)
		add_test(NAME qemu_${arch}_is_covered
			COMMAND sh -c "echo 'skipped: ${text}'; exit 77")
	else()
		add_test(NAME qemu_${arch}_is_covered
			COMMAND ${KLOCK_QEMU_${arch}} --version)
	endif()
	set_tests_properties(qemu_${arch}_is_covered PROPERTIES LABELS qemu
		SKIP_RETURN_CODE 77 TIMEOUT 60)
endfunction()

# klock_add_board_locks(<arch> <image>): every lock, from one CPU to 512.
function(klock_add_board_locks arch image)
	foreach(cpus IN ITEMS 1 4)
		klock_add_boot_test(qemu_${arch}_${cpus} IMAGE ${image}
			CPUS ${cpus} MODE single
			APPEND "run=locks mode=tap acquisitions=20000 convoys=50")
	endforeach()
	klock_add_boot_test(qemu_${arch}_64 IMAGE ${image} CPUS 64 MODE single
		APPEND "run=locks mode=tap acquisitions=4000 convoys=4")
	klock_add_boot_test(qemu_${arch}_512 IMAGE ${image} CPUS 512 MODE single
		APPEND "run=locks mode=tap acquisitions=1200 convoys=1")
	klock_add_boot_test(qemu_${arch}_parallel_2 IMAGE ${image}
		CPUS 2 MODE parallel
		APPEND "run=locks mode=tap parallel=1 acquisitions=20000 convoys=20")
	klock_add_boot_test(qemu_${arch}_shared_8 IMAGE ${image}
		CPUS 8 MODE single
		APPEND "run=shared mode=tap acquisitions=20000 convoys=50")
	klock_add_boot_test(qemu_${arch}_deadline_64 IMAGE ${image}
		CPUS 64 MODE single APPEND "run=deadline mode=tap")
	klock_label_slow(qemu_${arch}_512 qemu_${arch}_parallel_2)
endfunction()

# klock_add_board_storms(<arch> <image>): under interrupts, and NMIs where the
# machine has some.
function(klock_add_board_storms arch image)
	klock_add_boot_test(qemu_${arch}_storm_4 IMAGE ${image}
		CPUS 4 MODE single
		APPEND "run=storm mode=tap acquisitions=2000")
	klock_add_boot_test(qemu_${arch}_storm_64 IMAGE ${image}
		CPUS 64 MODE single
		APPEND "run=storm mode=tap acquisitions=200 convoys=1 lock=mcs_lock,ticket_lock<u16>")
	klock_add_boot_test(qemu_${arch}_storm_parallel_2 IMAGE ${image}
		CPUS 2 MODE parallel
		APPEND "run=storm mode=tap parallel=1 acquisitions=1000 convoys=5")
	klock_add_boot_test(qemu_${arch}_storm_icount_4 IMAGE ${image}
		CPUS 4 MODE icount
		APPEND "run=storm mode=tap acquisitions=100 convoys=2 lock=ticket_lock<u8>,mcs_lock,queued_lock,timeout_lock"
		RUN --repeat 2 --identical)
	klock_add_boot_test(qemu_${arch}_shared_storm_4 IMAGE ${image}
		CPUS 4 MODE single
		APPEND "run=shared_storm mode=tap acquisitions=10000")
	klock_add_boot_test(qemu_${arch}_folder_4 IMAGE ${image}
		CPUS 4 MODE single
		APPEND "run=folder mode=tap acquisitions=100000")
endfunction()

# klock_add_board_figures(<arch> <image>): experiments.
function(klock_add_board_figures arch image)
	klock_add_boot_test(qemu_${arch}_icount_4 IMAGE ${image}
		CPUS 4 MODE icount
		APPEND "run=measure mode=csv section=30 think=0..100 acquisitions=500"
		RUN --repeat 2 --identical)
	klock_add_boot_test(qemu_${arch}_instructions IMAGE ${image}
		CPUS 1 MODE icount APPEND "run=instructions mode=tap"
		RUN --expect-text "bakery_lock")
	klock_add_boot_test(qemu_${arch}_measure IMAGE ${image}
		CPUS 4 MODE single
		APPEND "irq=200 section=30 seconds=1 mode=csv lock=ticket_lock<u8>"
		RUN --expect-text "row,ticket_lock<u8>,4")
	klock_add_busted_matrix(qemu_${arch}_busted_matrix ${image})
endfunction()

# klock_add_board_misuse(<arch> <image> <what>|<text>...)
function(klock_add_board_misuse arch image)
	foreach(line IN LISTS ARGN)
		string(REPLACE "|" ";" texts "${line}")
		list(POP_FRONT texts what)
		set(expected)
		foreach(text IN LISTS texts)
			list(APPEND expected --expect-text ${text})
		endforeach()
		klock_add_boot_test(qemu_${arch}_misuse_${what} IMAGE ${image}
			CPUS 5 MODE single APPEND "run=misuse what=${what}"
			RUN --expect panic ${expected}
				--expect-text "at tests_qemu/lab/misuse.cpp:")
	endforeach()
endfunction()

# klock_add_board_endings(<arch> <image>): how a run ends is told apart.
function(klock_add_board_endings arch image)
	klock_add_boot_test(qemu_${arch}_ends_by_failure IMAGE ${image}
		CPUS 2 MODE single APPEND "run=fail" RUN --expect fail)
	klock_add_boot_test(qemu_${arch}_ends_by_panic IMAGE ${image}
		CPUS 512 MODE single APPEND "run=panic"
		RUN --expect panic --expect-text "a_lock"
			--expect-text "called from ")
	klock_add_boot_test(qemu_${arch}_ends_by_exception IMAGE ${image}
		CPUS 2 MODE single APPEND "run=fault"
		RUN --expect panic --expect-text "PANIC on CPU 0: exception "
			--expect-text "called from ")
	# The console's lock is held by the CPU that then reports.
	klock_add_boot_test(qemu_${arch}_ends_by_print_fault IMAGE ${image}
		CPUS 2 MODE single APPEND "run=print_fault"
		RUN --expect panic --expect-text "PANIC on CPU 0: exception ")
	klock_add_boot_test(qemu_${arch}_ends_by_reset IMAGE ${image}
		CPUS 2 MODE single APPEND "run=reset" RUN --expect reset)
	klock_add_boot_test(qemu_${arch}_ends_by_timeout IMAGE ${image}
		CPUS 2 MODE single TIMEOUT 3 APPEND "run=hang"
		RUN --expect timeout)
	klock_add_boot_test(qemu_${arch}_watchdog IMAGE ${image}
		CPUS 3 MODE single APPEND "run=stuck patience=1000"
		RUN --expect panic --expect-text "no progress for"
			--expect-text "next ticket"
			--expect-text "waits for kept_lock, which CPU"
			--expect-text "holds kept_lock; at 0x")
endfunction()

# klock_add_board_demo(<arch> <image>): the target demo-<arch>.
function(klock_add_board_demo arch image)
	add_custom_target(demo-${arch}
		COMMAND ${run} --image ${CMAKE_CURRENT_BINARY_DIR}/${image}.elf
			--log ${CMAKE_CURRENT_BINARY_DIR}/demo-${arch}.log
			--echo --cpus 4 --mode single
			--append "${KLOCK_BOARD_DEMO_WORDS}"
		DEPENDS ${image} USES_TERMINAL VERBATIM
		COMMENT "Booting the lab kernel of ${arch} with 4 vCPUs")
endfunction()

# klock_add_board_tests(<arch> <qemu>): sets KLOCK_BOARD_IMAGE to the kernel
# that is booted; empty: this host cannot.
macro(klock_add_board_tests arch qemu)
	klock_note_coverage(${arch} ${qemu})
	set(KLOCK_BOARD_IMAGE)
	if("gcc-${arch}" IN_LIST KLOCK_TOOLCHAINS)
		set(KLOCK_BOARD_IMAGE lab-gcc-${arch})
		# The other compiler and linker.
		if(KLOCK_QEMU_${arch})
			klock_add_boot_test(qemu_${arch}_clang_4
				IMAGE lab-clang-${arch} CPUS 4 MODE single
				APPEND "run=locks mode=tap acquisitions=10000 convoys=20")
			klock_add_boot_test(qemu_${arch}_clang_storm_4
				IMAGE lab-clang-${arch} CPUS 4 MODE single
				APPEND "run=storm mode=tap acquisitions=500")
		endif()
	elseif("clang-${arch}" IN_LIST KLOCK_TOOLCHAINS)
		set(KLOCK_BOARD_IMAGE lab-clang-${arch})
	endif()
	if(KLOCK_BOARD_IMAGE)
		klock_add_board_demo(${arch} ${KLOCK_BOARD_IMAGE})
	endif()
	if(KLOCK_BOARD_IMAGE AND KLOCK_QEMU_${arch})
		klock_add_board_locks(${arch} ${KLOCK_BOARD_IMAGE})
		klock_add_board_storms(${arch} ${KLOCK_BOARD_IMAGE})
		klock_add_board_figures(${arch} ${KLOCK_BOARD_IMAGE})
		klock_add_board_endings(${arch} ${KLOCK_BOARD_IMAGE})
		string(REPLACE "lab-" "" toolchain ${KLOCK_BOARD_IMAGE})
		klock_add_watched(${arch}_watched ${toolchain})
	else()
		set(KLOCK_BOARD_IMAGE)
	endif()
endmacro()
